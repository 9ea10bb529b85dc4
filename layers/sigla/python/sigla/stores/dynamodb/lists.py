"""The lists: shards read side by side and merged, each a range of sort keys; pages are asked for when they are wanted.

A name stands in one shard, so a list costs one call for each shard at least, however short it is.
"""

from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import Executor
from functools import partial
from heapq import merge
from itertools import islice
from operator import itemgetter

from sigla import keys
from sigla.contract import HIGHEST
from sigla.model import DEFAULT_CONTEXT, Referrer, Row, Search, Settings, Show, Subject, Version
from sigla.ports.glances import ReferrerPlace
from sigla.ports.lists import Looked
from sigla.stores.dynamodb import items, looking, reading
from sigla.stores.dynamodb.actions import Condition
from sigla.stores.dynamodb.changes import is_marked
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

AT_ONCE = 64
"""Subjects whose versions are read side by side."""
SPARE = 9
"""A glance reads so many more names of each shard than its share: hashes do not share them out evenly."""

_NAMED, _BEYOND_NAMED = ":.", ":/"
"""Names in named contexts begin with `:.`; the default context lies around them."""


class Lists:
    """executor: where calls run that do not wait for each other."""

    def __init__(self, tools: Tools, executor: Executor) -> None:
        self._tools = tools
        self._executor = executor

    def close(self) -> None:
        self._executor.shutdown()

    # --- subjects ----------------------------------------------------------------------------------------------------

    def subjects(self, search: Search, show: Show) -> Iterator[Subject]:
        for subject, active in self.listed(search):
            if show is Show.ALL or active == (show is Show.ACTIVE):
                yield subject

    def listed(self, search: Search) -> Iterator[tuple[Subject, bool]]:
        """Subjects with a stored version, and whether one is active."""
        share = search.glance // keys.LIST_SHARDS + SPARE if search.glance else None
        for low, high in _of_subjects(_after(search.after, _ranges(search))):
            where = Condition("#sk BETWEEN :low AND :high", {"low": low, "high": high})
            shards = [self._items(shard, where, share) for shard in range(keys.LIST_SHARDS)]
            firsts = self._executor.map(lambda shard: next(shard, None), shards)
            found = [_followed(first, shard) for first, shard in zip(firsts, shards, strict=True) if first is not None]
            for item in merge(*found, key=itemgetter("sk")):
                subject = items.subject_of(item)
                if search.matches(subject) and subject != search.after:
                    yield subject, item["active"]

    def look(self, search: Search, *, deleted: bool, most: int) -> Looked:
        ranges = list(_of_subjects(_after(search.after, _ranges(search))))
        return looking.look(self._tools, self._executor, ranges, search, deleted=deleted, most=most)

    def _items(self, shard: int, where: Condition, share: int | None) -> Iterator[Item]:
        """share: of a glance."""
        pk = keys.list_pk(self._tools.places.registry, shard)
        return self._tools.table.query(pk, where, page=share, consistent=share is None)

    # --- versions ----------------------------------------------------------------------------------------------------

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        subjects = self.subjects(search, Show.ALL if deleted else Show.ACTIVE)
        wanted = max(0, search.glance - skip)
        if latest_only:  # each has one
            subjects, skip = islice(subjects, skip, None), 0
        return islice(self._versions(subjects, deleted=deleted, latest_only=latest_only, glance=wanted), skip, None)

    def _versions(
        self, subjects: Iterator[Subject], *, deleted: bool, latest_only: bool, glance: int
    ) -> Iterator[tuple[Subject, Row]]:
        while part := list(islice(subjects, min(glance or AT_ONCE, AT_ONCE))):
            if latest_only and not deleted:
                states = reading.states(self._tools.table, self._tools.places, part, consistent=not glance)
                heads = [states[subject].head for subject in part]
                yield from ((head.subject, head.newest) for head in heads if head.newest)
                continue
            for subject, rows in zip(
                part, self._executor.map(partial(self._history, consistent=not glance), part), strict=True
            ):
                shown = [row for row in rows if deleted or not row.deleted]
                yield from ((subject, row) for row in (shown[-1:] if latest_only else shown))

    def versions_below(self, subject: Subject, version: Version | None, glance: int, generation: int) -> Iterator[Row]:
        """Descending. One trip for the first glance; one more where the subject has another generation by now."""
        table, places = self._tools.table, self._tools.places
        asked = self._executor.submit(reading.states, table, places, [subject])
        found = self._stored_below(subject, version, generation, glance)
        first = next(found, None)
        state = asked.result()[subject]
        if state.head.generation != generation:
            found = self._stored_below(subject, version, state.head.generation, glance)
            first = next(found, None)
        if first is None:
            return
        for item in _followed(first, found):
            row = items.version(item).row
            if row.version <= state.head.highest:
                yield state.shown(row)

    def _stored_below(self, subject: Subject, version: Version | None, generation: int, glance: int) -> Iterator[Item]:
        highest = HIGHEST if version is None else min(version - 1, HIGHEST)
        pk, low = self._tools.places.version(subject, generation, Version(0))
        _, high = self._tools.places.version(subject, generation, Version(highest))
        if high <= low:
            return iter(())
        where = Condition("#sk BETWEEN :low AND :high", {"low": low, "high": high})
        return self._tools.table.query(pk, where, descending=True, page=glance)

    def _history(self, subject: Subject, *, consistent: bool) -> tuple[Row, ...]:
        return reading.life(self._tools.table, self._tools.places, subject, consistent=consistent).rows

    def lives(self, subjects: Iterable[Subject]) -> Iterator[reading.Life]:
        """All that is stored of each of these subjects."""
        return self._executor.map(lambda each: reading.life(self._tools.table, self._tools.places, each), subjects)

    # --- settings and contexts ---------------------------------------------------------------------------------------

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        """Reads no scope of other contexts: they may be very many."""
        pk, glance = keys.settings_pk(self._tools.places.registry), search.glance or None
        for low, high in _after(search.after, _ranges(search)):
            where = Condition(
                "#sk BETWEEN :low AND :high", {"low": keys.settings_key(low), "high": keys.settings_key(high)}
            )
            for item in self._tools.table.query(pk, where, page=glance, consistent=glance is None):
                scope, settings = items.subject_of(item), items.settings(item)
                is_set = settings.config is not None or settings.mode is not None
                if is_set and search.matches(scope) and scope != search.after:
                    yield scope, settings

    def marked(self) -> Iterator[tuple[Subject, Settings, int, str]]:
        """Scopes that are being cleared for an import, with the time of their marks, and the token of who asked for it.

        The token is empty in marks of earlier releases.
        """
        for item in self._tools.table.query(keys.settings_pk(self._tools.places.registry)):
            if is_marked(item["revision"]):
                yield items.subject_of(item), items.settings(item), item["at"], item.get("asker", "")

    def contexts(self) -> tuple[str, ...]:
        found = self._tools.table.query(keys.contexts_pk(self._tools.places.registry))
        return tuple(item["context"] for item in found if items.is_listed(item))

    def contexts_after(self, context: str, glance: int) -> Iterator[str]:
        behind = Condition("#sk > :sk", {"sk": keys.context_sk(context)}) if context else None
        pk = keys.contexts_pk(self._tools.places.registry)
        found = self._tools.table.query(pk, behind, page=glance, consistent=False)
        return (item["context"] for item in found if items.is_listed(item))

    def contexts_of(self, name: str) -> tuple[str, ...]:
        found = self._tools.table.query(keys.name_pk(self._tools.places.registry, name))
        return tuple(item["context"] for item in found)

    # --- references --------------------------------------------------------------------------------------------------

    def referrers(self, subject: Subject, version: Version | None) -> Iterator[tuple[Version, Referrer]]:
        """Read whole before the first is told: the table knows them by version, the order is that of ids."""
        where = None
        if version is not None:
            where = Condition("begins_with(#sk, :sk)", {"sk": keys.referrer_prefix(version)})
        claims = list(self._tools.table.query(keys.referrers_pk(self._tools.places.registry, subject), where))
        yield from sorted(self._committed(claims), key=_referrer_order)

    def referrers_after(
        self, subject: Subject, version: Version | None, place: ReferrerPlace | None, glance: int
    ) -> Iterator[tuple[Version, Referrer]]:
        """Two trips for each glance: the claims, then the rows and heads of those who made them."""
        low = keys.referrer_prefix(version) if version is not None else "0"
        if place is not None:
            low = keys.referrer_sk(*place, nonce="") + keys.HIGHEST
        high = (keys.referrer_prefix(version) if version is not None else "") + keys.HIGHEST
        where = Condition("#sk BETWEEN :low AND :high", {"low": low, "high": high})
        pk = keys.referrers_pk(self._tools.places.registry, subject)
        claims = self._tools.table.query(pk, where, page=glance, consistent=False)
        while page := list(islice(claims, glance)):
            yield from self._committed(page, consistent=False)

    def _committed(self, claims: Sequence[Item], *, consistent: bool = True) -> Iterator[tuple[Version, Referrer]]:
        """Those who claimed to refer and whose versions are there."""
        table, places = self._tools.table, self._tools.places
        of = {claim["sk"]: items.subject_of(claim) for claim in claims}
        rows = {
            claim["sk"]: places.version(of[claim["sk"]], claim["generation"], Version(claim["version"]))
            for claim in claims
        }
        heads = {referrer: places.head(referrer) for referrer in of.values()}
        found = table.get_many([*heads.values(), *rows.values()], consistent=consistent) if claims else {}
        states = {referrer: items.state(referrer, found.get(place)) for referrer, place in heads.items()}
        told = (items.referrer(claim, states[of[claim["sk"]]], found.get(rows[claim["sk"]])) for claim in claims)
        return (each for each in told if each is not None)


def _referrer_order(each: tuple[Version, Referrer]) -> tuple[bool, bytes, int, bytes, int, int]:
    referenced, referrer = each
    context = referrer.subject.context
    name = keys.utf16(referrer.subject.name)
    return context != DEFAULT_CONTEXT, keys.utf16(context), referrer.id, name, referrer.version, referenced


def _followed(first: Item, rest: Iterator[Item]) -> Iterator[Item]:
    yield first
    yield from rest


def _after(subject: Subject | None, ranges: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """What of the ranges does not lie before a subject."""
    least = keys.list_sk(subject) if subject else ""
    return [(max(low, least), high) for low, high in ranges if high >= least]


def _ranges(search: Search) -> Iterable[tuple[str, str]]:
    """Ranges of sort keys that hold all that the search finds, ascending; the name counts in one context only."""
    if search.context and search.exact:
        only = keys.list_sk(Subject(search.context, search.name_prefix))
        return [(only, only)]
    if search.context:
        low = keys.list_sk(Subject(search.context, search.name_prefix))
    else:
        low = keys.sortable(":" + search.context_prefix) if search.context_prefix.strip(".") else ""
    if search.context == DEFAULT_CONTEXT and _NAMED.startswith(low):
        return [(low, _NAMED), (_BEYOND_NAMED, low + keys.HIGHEST)]
    return [(low, low + keys.HIGHEST)]


def _of_subjects(ranges: Iterable[tuple[str, str]]) -> Iterable[tuple[str, str]]:
    """An empty key does not count as one; nothing that can be registered begins below the space."""
    return ((low or " ", high) for low, high in ranges)
