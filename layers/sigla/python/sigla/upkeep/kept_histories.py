"""Histories of subjects in a scrub: each commit that the journal tells is in those of its subjects, and no other is."""

from collections.abc import Iterator, Mapping
from typing import Any, NamedTuple

from sigla.journal.subject_histories import subjects_of
from sigla.model import Subject
from sigla.ports.journal import Journal
from sigla.ports.store import Store
from sigla.upkeep.flaws import Flaw
from sigla.upkeep.told_rows import told_rows

Facts = tuple[Any, ...]

# --- gathering -------------------------------------------------------------------------------------------------------


def told_commit_facts(store: Store) -> Iterator[Facts]:
    """Rows of `told_commit`."""
    since = store.inventory.journal_kept_since()
    for position, row in _readable_rows(store.journal):
        for subject in subjects_of(row) if row["ts"] >= since else ():
            yield subject.context, subject.name, str(position)


def history_facts(store: Store) -> Iterator[Facts]:
    """Rows of `history`. A journal may know subjects that are in no list any more."""
    for subject in store.inventory.with_history(_told_subjects(store.journal)):
        for position in store.inventory.history_positions(subject):
            yield subject.context, subject.name, str(position)


def _told_subjects(journal: Journal) -> Iterator[Subject]:
    return (subject for _, row in _readable_rows(journal) for subject in subjects_of(row))


def _readable_rows(journal: Journal) -> Iterator[tuple[int, Mapping[str, Any]]]:
    return ((position, row) for position, row in told_rows(journal) if row is not None)


# --- looking again ---------------------------------------------------------------------------------------------------


def is_missing(store: Store, flaw: Flaw) -> bool:
    """Whether the journal tells the commit, and the history does not."""
    subject, position = _commit_of(flaw)
    return _told(store, subject, position).is_told and not store.inventory.is_in_history(subject, position)


def is_ahead(store: Store, flaw: Flaw) -> bool:
    """Whether the history tells a commit that the journal does not; False where its row cannot be read."""
    subject, position = _commit_of(flaw)
    told = _told(store, subject, position)
    return told.is_known and not told.is_told and store.inventory.is_in_history(subject, position)


def _commit_of(flaw: Flaw) -> tuple[Subject, int]:
    """The subject, and where the journal has the commit, or would have it."""
    return flaw.owner, int(flaw.record or 0)


class _ToldCommit(NamedTuple):
    """What the journal has at a position. row: None for nothing. is_told: whether it is about the subject."""

    row: Mapping[str, Any] | None
    is_known: bool
    is_told: bool


def _told(store: Store, subject: Subject, position: int) -> _ToldCommit:
    found, row = next(told_rows(store.journal, position - 1), (0, None))
    if found != position:
        return _ToldCommit(None, is_known=True, is_told=False)
    is_told = row is not None and subject.qualified in {each.qualified for each in subjects_of(row)}
    return _ToldCommit(row, row is not None, is_told)


# --- putting right ---------------------------------------------------------------------------------------------------


def mend(store: Store, flaw: Flaw) -> bool:
    """The history says what the journal says; False where that is not known."""
    subject, position = _commit_of(flaw)
    told = _told(store, subject, position)
    if told.is_known:
        store.inventory.mend_history(subject, position, told.row if told.is_told else None)
    return told.is_known
