"""Who holds an id: one partition, in the order of names; what a row says is checked against its subject's head."""

from collections.abc import Iterable, Iterator, Sequence
from itertools import groupby, islice
from operator import attrgetter

from sigla import keys
from sigla.aws import items, reading
from sigla.aws.actions import Condition
from sigla.aws.plans import Tools
from sigla.aws.values import Item
from sigla.model import BodyKey, Holder, Subject

FIRST_PAGE = 16
"""Rows: nearly always enough to tell who speaks for an id."""
LARGEST_PAGE = 1000


def holders(tools: Tools, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
    """By subject, then version."""
    begins = keys.HOLDER if by is None else keys.holder_prefix(by)
    return tuple(_believed(tools, list(_rows(tools, key, begins))))


def speaker(tools: Tools, key: BodyKey, by: Subject | None = None) -> Holder | None:
    """The smallest subject in which the id is active, or else the smallest; of it the version written last.

    Reads on, in ever larger pages, only while all it has met is deleted or gone. by: only this subject, if it has no
    alias.
    """
    if by is not None:
        return _own(tools, key, by)
    rows = _rows(tools, key, keys.HOLDER, page=FIRST_PAGE)
    size, smallest = FIRST_PAGE, None
    while page := list(islice(rows, size)):
        cut_off = items.subject_of(page[-1]) if len(page) == size else None
        for subject, versions in groupby(_believed(tools, page), attrgetter("subject")):
            told = tuple(versions)
            if smallest is not None and all(holder.deleted for holder in told):
                continue
            whole = holders(tools, key, subject) if subject == cut_off else told
            if (active := _last(holder for holder in whole if not holder.deleted)) is not None:
                return active
            smallest = smallest or _last(whole)
        size = min(size * 4, LARGEST_PAGE)
    return smallest


def _own(tools: Tools, key: BodyKey, by: Subject) -> Holder | None:
    """Whether the subject has an alias stands beside its head: it costs no trip more."""
    rows = list(_rows(tools, key, keys.holder_prefix(by)))
    if not rows:
        return None
    head, settings = tools.places.head(by), tools.places.settings(by)
    found = tools.table.get_many([head, settings])
    config, state = items.settings(found.get(settings)).config, items.state(by, found.get(head))
    if config is not None and config.alias:
        return None
    return _last(holder for row in rows if (holder := items.holder(row, state)) is not None)


def _rows(tools: Tools, key: BodyKey, begins: str, page: int | None = None) -> Iterator[Item]:
    pk, _ = tools.places.holders(key)
    return tools.table.query(pk, Condition("begins_with(#sk, :sk)", {"sk": begins}), page=page)


def _believed(tools: Tools, rows: Sequence[Item]) -> Iterator[Holder]:
    subjects = [items.subject_of(row) for row in rows]
    states = reading.states(tools.table, tools.places, subjects) if rows else {}
    told = (items.holder(row, states[subject]) for row, subject in zip(rows, subjects, strict=True))
    return (holder for holder in told if holder is not None)


def _last(found: Iterable[Holder]) -> Holder | None:
    return max(found, key=attrgetter("written"), default=None)
