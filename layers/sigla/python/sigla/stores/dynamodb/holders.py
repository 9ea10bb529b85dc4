"""Who holds an id: one partition, in the order of names; what a row says is checked against its subject's head."""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import groupby, islice
from operator import attrgetter

from sigla import keys
from sigla.model import BodyKey, Holder, Subject
from sigla.stores.dynamodb import items, reading
from sigla.stores.dynamodb.actions import Condition
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

FIRST_PAGE = 8
"""Rows: nearly always enough to tell who speaks for an id."""
LARGEST_PAGE = 1000


def holders(tools: Tools, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
    """The holders, sorted by subject, then version."""
    begins = keys.HOLDER if by is None else keys.holder_prefix(by)
    return tuple(_believed(tools, list(_rows(tools, key, begins))))


def holders_after(tools: Tools, key: BodyKey, subject: Subject | None, glance: int) -> Iterator[Holder]:
    """Two trips for each glance: the rows, then the heads of their subjects."""
    low = keys.HOLDER if subject is None else keys.holder_prefix(subject) + ":"  # beyond every number of a version
    where = Condition("#sk BETWEEN :low AND :high", {"low": low, "high": keys.HOLDER + keys.HIGHEST})
    pk, _ = tools.places.holders(key)
    rows = tools.table.query(pk, where, page=glance, consistent=False)
    while page := list(islice(rows, glance)):
        yield from _believed(tools, page, consistent=False)


def speaker(tools: Tools, key: BodyKey, by: Subject | None = None) -> Holder | None:
    """The smallest subject in which the id is active, or else the smallest; of it the version written last.

    Reads on, in ever larger pages, only while all it has met is deleted or gone. by: only this subject, if it has no
    alias.
    """
    if by is not None:
        return _own(tools, key, by)
    pk, _ = tools.places.holders(key)
    rows = tools.table.query(pk, Condition("#sk >= :sk", {"sk": keys.HOLDER}), page=FIRST_PAGE)
    size, smallest = FIRST_PAGE, None
    counts: Item | None = None
    while page := list(islice(rows, size)):
        if page[-1]["sk"] == keys.HOLDERS:
            counts = page.pop()
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
    if smallest is None and (last := _last_holder(tools, key, counts)) is not None:
        return replace(last, deleted=False)
    return smallest


def displaced(tools: Tools, key: BodyKey) -> Holder | None:
    """The version that was the last to hold the id, if an import wrote another one over it that is still stored."""
    return _last_holder(tools, key, tools.table.get(tools.places.holders(key)))


def _last_holder(tools: Tools, key: BodyKey, counts: Item | None) -> Holder | None:
    last = items.last_holder(counts)
    if last is None:
        return None
    subject = Subject(key.context, last.name)
    head, place = tools.places.head(subject), tools.places.version(subject, last.generation, last.version)
    found = tools.table.get_many([head, place])
    state = items.state(subject, found.get(head))
    if place not in found or state.head.generation != last.generation:
        return None
    deleted = state.shown(items.version(found[place]).row).deleted
    return Holder(subject, last.version, deleted, last.ts, last.revision, displaced=True)


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


def _rows(tools: Tools, key: BodyKey, begins: str) -> Iterator[Item]:
    pk, _ = tools.places.holders(key)
    return tools.table.query(pk, Condition("begins_with(#sk, :sk)", {"sk": begins}))


def _believed(tools: Tools, rows: Sequence[Item], *, consistent: bool = True) -> Iterator[Holder]:
    subjects = [items.subject_of(row) for row in rows]
    states = reading.states(tools.table, tools.places, subjects, consistent=consistent) if rows else {}
    told = (items.holder(row, states[subject]) for row, subject in zip(rows, subjects, strict=True))
    return (holder for holder in told if holder is not None)


def _last(found: Iterable[Holder]) -> Holder | None:
    return max(found, key=attrgetter("written"), default=None)
