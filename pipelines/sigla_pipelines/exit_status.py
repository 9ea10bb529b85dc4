"""How a job ends that cannot go on: one sentence on standard error, and a status.

0 is for a job that came to its end and found all in order; what else it may find there is 1, too, and on its own page.
"""

import errno
import re
import sys
from collections.abc import Callable, Mapping
from typing import Final, NamedTuple

from botocore.exceptions import BotoCoreError, ClientError

from sigla.errors import FormTooNew, StoreError, Unusable
from sigla.settings import InvalidSetting
from sigla.stores.not_opened import DataNotOpened
from sigla.terminal.statuses import MISUSED, NOT_DONE

Kinds = Mapping[type[Exception], int]
"""Exceptions whose message is the whole story, with their status."""

ALWAYS: Final[Kinds] = {
    DataNotOpened: MISUSED,
    FormTooNew: MISUSED,
    InvalidSetting: MISUSED,
    Unusable: MISUSED,
}

# Errors about a folder or a file that the user named; an OSError of another kind may be over at the next attempt.
_UNUSABLE: Final = (FileExistsError, FileNotFoundError, IsADirectoryError, NotADirectoryError, PermissionError)
_UNUSABLE_TOO: Final = (errno.ELOOP, errno.ENAMETOOLONG, errno.EROFS)
"""Those for which Python has no kind of its own."""
_REFUSED: Final = re.compile("AWS Error (?:ACCESS_DENIED|NO_SUCH_BUCKET)")
"""How pyarrow tells what `sigla.errors.Unusable` is for."""
_SILENT: Final = (StoreError, OSError, BotoCoreError, ClientError)

# Spark tells what a task raised as a text, with the trace. Among exceptions that led to each other the last one counts.
_NUMBERED: Final = rf": \[Errno (?:{'|'.join(map(str, _UNUSABLE_TOO))})\]"
_OF_SILENCE: Final = (
    r"sigla\.errors\.(?:StoreError|OutcomeUnknown)",
    r"botocore\.(?:errorfactory|exceptions)\.\w+",
    rf"OSError(?!{_NUMBERED})|TimeoutError|Connection\w*Error",
)
_IN_A_TASK: Final = (
    rf"^[ \t]*(?:(?P<silent>{'|'.join(_OF_SILENCE)})|(?:\w+\.)*(?P<own>{{}})|(?P<unusable>{{}})): (?P<what>.+)$"
)


class Ending(NamedTuple):
    sentence: str
    status: int


def exit_status_of(
    work: Callable[[], int],
    own: Kinds,
    *,
    again: str,
    spark: Callable[[BaseException], str | None] = lambda _: None,
) -> int:
    """The work's own status, or that of what kept it from its end.

    own: beside ALWAYS, what this job tells by itself. again: what to do after a silence. spark: why Spark gave up.
    """
    try:
        return work()
    except Exception as failure:
        ending = ending_of(failure, own, again)
        if ending is None:
            sentence = spark(failure)
            if sentence is None:
                raise
            ending = Ending(sentence, NOT_DONE)
        print(ending.sentence, file=sys.stderr)
        return ending.status


def ending_of(failure: BaseException, own: Kinds, again: str) -> Ending | None:
    """Also where a task said it; None of a fault of the job's."""
    kinds = {**ALWAYS, **own}
    for kind, status in kinds.items():
        if isinstance(failure, kind):
            return Ending(str(failure), status)
    if isinstance(failure, OSError) and _is_unusable(failure):
        return Ending(_unusable(failure), MISUSED)
    if isinstance(failure, _SILENT):
        return _silent(_with_cause(failure), again)
    return _by_a_task(str(failure), kinds, again)


def _by_a_task(trace: str, kinds: Kinds, again: str) -> Ending | None:
    by_name = {kind.__name__: status for kind, status in kinds.items()}
    unusable = "|".join([*(kind.__name__ for kind in _UNUSABLE), f"OSError(?={_NUMBERED})"])
    every = [*re.finditer(_IN_A_TASK.format("|".join(by_name), unusable), trace, re.MULTILINE)]
    if not every:
        return None
    found = every[-1]
    if found["own"]:
        return Ending(found["what"], by_name[found["own"]])
    if found["unusable"] or _REFUSED.search(found["what"]):
        return Ending(f"{found['what']}.", MISUSED)
    return _silent(found["what"], again)


def _silent(what: str, again: str) -> Ending:
    return Ending(f"A store does not answer: {' '.join(what.split()).rstrip('.')}. {again}", NOT_DONE)


def _with_cause(failure: BaseException) -> str:
    cause = str(failure.__cause__ or "")
    return f"{failure} ({cause})" if cause and cause not in str(failure) else str(failure)


def _is_unusable(failure: OSError) -> bool:
    return isinstance(failure, _UNUSABLE) or failure.errno in _UNUSABLE_TOO or bool(_REFUSED.search(str(failure)))


def _unusable(failure: OSError) -> str:
    if failure.filename is None:  # pyarrow's tell it in their message
        return f"{failure}."
    return f"{failure.filename} cannot be used ({failure.strerror})."
