"""What can keep a job from going on and is no fault of its own: its sentence is enough for whoever runs it."""

import re
from typing import Final

from pipelines.land.heads import NoHead
from pipelines.land.manifest import Stopped
from pipelines.land.transform import Unbound
from sigla.errors import StoreError
from sigla.opening import DataNotOpened


class SourceFailed(Exception):
    """Where records come from is not what the job can go on from; the sentence says why."""


TOLD: Final = (DataNotOpened, NoHead, SourceFailed, Stopped, StoreError, Unbound)

# Spark tells what a task raised as a text, with the trace.
_BY_A_TASK: Final = re.compile(rf"^[\w.]*\b(?:{'|'.join(kind.__name__ for kind in TOLD)}): (.+)$", re.MULTILINE)


def told(failure: BaseException) -> str | None:
    """The sentence of what kept a job from going on, also where a task said it; None if it was something else."""
    if isinstance(failure, TOLD):
        return str(failure)
    found = _BY_A_TASK.search(str(failure))
    return found[1] if found else None
