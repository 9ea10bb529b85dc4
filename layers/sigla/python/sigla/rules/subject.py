"""One subject's life: what may become of a version, and which number comes next."""

from collections.abc import Mapping
from enum import Enum

from sigla.contract import HIGHEST, READWRITE
from sigla.errors import (
    NotInImportMode,
    NotInReadWriteMode,
    ReadOnly,
    Refusal,
    VersionNotSoftDeleted,
    VersionOutOfOrder,
    VersionSoftDeleted,
)
from sigla.model import Subject, Version
from sigla.rules import names
from sigla.rules.settings import IMPORTING_MODES, READ_ONLY_MODES


class State(Enum):
    LIVE = "live"
    SOFT_DELETED = "soft-deleted"
    GONE = "gone"


class Act(Enum):
    DELETE = "delete"
    PURGE = "permanent delete"


LIFE: Mapping[tuple[State, Act], State | type[Refusal]] = {
    (State.LIVE, Act.DELETE): State.SOFT_DELETED,
    (State.LIVE, Act.PURGE): VersionNotSoftDeleted,
    (State.SOFT_DELETED, Act.DELETE): VersionSoftDeleted,
    (State.SOFT_DELETED, Act.PURGE): State.GONE,
}


def next_version(highest: int, requested: int | None, *, importing: bool) -> Version:
    """One past the highest stored version, soft-deleted ones included; a number asked for must be exactly that.

    An import is taken at its word. Raises VersionOutOfOrder.
    """
    if importing and requested is not None and requested > 0:
        return Version(requested)
    if requested is not None and requested > 0 and requested != highest + 1:
        raise VersionOutOfOrder
    if highest >= HIGHEST:
        raise VersionOutOfOrder
    return Version(highest + 1)


def check_writable(subject: Subject, mode: str, *, shown: str | None = None) -> None:
    """Refuses any write in a read-only scope. `shown` replaces the subject in the sentence."""
    if mode in READ_ONLY_MODES:
        name = subject.qualified if shown is None else shown
        raise ReadOnly(subject=name, context=names.delimited(subject.context))


def check_registrable(subject: Subject, mode: str, *, with_id: bool) -> None:
    """Ids may be brought along only in IMPORT and FORWARD, and are given out only in READWRITE (REG-2)."""
    check_writable(subject, mode)
    if with_id and mode not in IMPORTING_MODES:
        raise NotInImportMode(subject=subject.qualified, context=names.delimited(subject.context))
    if not with_id and mode != READWRITE:
        raise NotInReadWriteMode(subject=subject.qualified, context=names.delimited(subject.context))
