"""The nouns of exporters, frozen: they are known wherever changes and records are."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import Enum
from typing import Final, NamedTuple


class ContextType(Enum):
    """Into which contexts of the destination an exporter writes (EXP-1)."""

    AUTO = "AUTO"
    """A context that bears the name of the source, in front of the source's own."""
    CUSTOM = "CUSTOM"
    """The exporter's `context`, in front of the source's own."""
    NONE = "NONE"
    """The same contexts as at the source."""
    DEFAULT = "DEFAULT"
    """The default context, for whatever context it comes from."""


class ExporterState(Enum):
    """What an exporter does (EXP-2)."""

    STARTING = "STARTING"
    """It has not written anything since it was created, resumed or reset."""
    RUNNING = "RUNNING"
    PAUSED = "PAUSED"


EVERY_SUBJECT: Final = ("*",)
"""All subjects of the default context; `:*:*` is all there are."""


@dataclass(frozen=True, slots=True)
class Exporter:
    """subjects: names, or beginnings with a `*` behind them (`rules.takes`).

    context: of CUSTOM alone, as `.name`. subject_rename_format, kek_rename_format: empty where names stay.
    config: the settings that may be shown. hidden: the names of those that are; credentials: the nonce under which
    `ports.secrets` keeps them, empty where nothing is kept.
    ts: when it was last changed, in milliseconds since the epoch. revision: the nonce of that change, which may also be
    a pause, a resume or a reset: whoever has seen another one has seen another exporter.
    """

    name: str
    subjects: tuple[str, ...] = EVERY_SUBJECT
    context_type: ContextType = ContextType.AUTO
    context: str = ""
    subject_rename_format: str = ""
    kek_rename_format: str = ""
    config: Mapping[str, str] = field(default_factory=dict)
    hidden: tuple[str, ...] = ()
    credentials: str = ""
    ts: int = 0
    revision: str = ""


BEGIN: Final = "begin"
"""The place of a walk that has not come to anything yet."""


class Position(NamedTuple):
    """How far an exporter has come. A follower may do a part again: what it writes is the same the second time.

    offset: of the journal (`ports.Journal`); 0 at the start, before everything. seen: nonces of rows at or after it
        that are written as well: rows of a shared store may come a little late, so that a reader goes back a little.
    walked: where the first walk goes on, through what stood there before it began; empty: at its start, or it is over.
    waiting: what the destination refused, and was passed by: subjects and keys that are tried again.
    """

    offset: int = 0
    seen: tuple[str, ...] = ()
    walked: str = ""
    waiting: tuple[str, ...] = ()

    def restarted(self) -> "Position":
        """That of the start, which forgets nothing: a walk finds what is there, and not what has gone meanwhile.

        So what the journal tells after the offset is looked at behind the walk, and so is what waits.
        """
        return Position(self.offset, walked=BEGIN, waiting=self.waiting) if self.offset else START


START: Final = Position()


class ExporterProgress(NamedTuple):
    """What an exporter has done. ts: when it said so, in milliseconds since the epoch; trace: of the last failure."""

    state: ExporterState = ExporterState.STARTING
    position: Position = START
    ts: int = 0
    trace: str = ""


@dataclass(frozen=True, slots=True)
class Credentials:
    """Secret settings of an exporter, by their names. No text of it tells them."""

    settings: Mapping[str, str] = field(repr=False)


# --- what clients send -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ExporterDraft:
    """An exporter as a client offers it: nothing in it has been checked yet. None: the client did not say."""

    name: str | None = None
    subjects: tuple[str, ...] | None = None
    context_type: ContextType | None = None
    context: str | None = None
    subject_rename_format: str | None = None
    kek_rename_format: str | None = None
    config: Mapping[str, str] | None = field(default=None, repr=False)
