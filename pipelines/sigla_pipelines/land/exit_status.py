"""What keeps landing from going on without a fault of its own, beside silent stores."""

from typing import Final

from sigla.terminal.statuses import MISUSED, NOT_DONE
from sigla_pipelines.connectors.maven import Unavailable
from sigla_pipelines.exit_status import Kinds
from sigla_pipelines.land.hash_key import NoHashKey
from sigla_pipelines.land.manifest import Stopped
from sigla_pipelines.land.reader_schemas import Misbound, NoHead
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.transform import Unbound
from sigla_pipelines.land.upsert import StateMismatch


class SourceFailed(Exception):
    """Where records come from is not what the job can go on from; the sentence says why."""


class Undelivered(Exception):
    """Dead letters are waiting; the sentence says why, and when they are sent."""


OWN: Final[Kinds] = {
    InvalidLanding: MISUSED,
    Misbound: MISUSED,
    NoHashKey: MISUSED,
    NoHead: NOT_DONE,
    SourceFailed: NOT_DONE,
    StateMismatch: MISUSED,
    Stopped: NOT_DONE,
    Unavailable: MISUSED,
    Unbound: NOT_DONE,
    Undelivered: NOT_DONE,
}

AGAIN: Final = "Start the job again when it does: it lands what is missing, and nothing twice."
