"""A table that joins: it copies another one, while that goes on as ever, until it can be told the rest.

No copy of a table is of one moment. What makes one of it are the numbers that commits move (`numbers`, of a subject its
revision): they tell of each part of the copy which commits are in it.

    copy      all rows, page by page; a subject as it stands between two commits, with what follows from its rows
    chase     the commits of the last hour. One that is in a part and not in another one has the latter copied again,
              until each is in all of its parts, or in none
    settle    what several subjects share is counted from their rows here (`settling`); which ids are displaced, and in
              which order those of a content come, is read only now: no number tells of it
    bodies    objects that are missing here
    mark      the journal has the rows of the commits that the copy has, and not those of the others: these are told

Each step may be cut off and be done again; whoever comes takes over, and the one before is refused from then on. What
each side has for itself is not copied: counters of ids, segments, names behind tokens, zones, the role.
"""

import secrets
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from itertools import islice
from typing import Final

from sigla import keys
from sigla.errors import Conflict, StoreError
from sigla.model import REGISTRY_WIDE, BodyKey, Subject
from sigla.ports.clock import Clock
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from sigla.stores.dynamodb import copied_subjects, histories, keks
from sigla.stores.dynamodb.actions import ABSENT, Action, Condition, Key, condition_check, delete, equals, put, update
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.copied_subjects import attributes
from sigla.stores.dynamodb.fence import ROLE_ATTRIBUTES
from sigla.stores.dynamodb.ids import KNOWN
from sigla.stores.dynamodb.journal import BROUGHT
from sigla.stores.dynamodb.numbers import MOVES, named_key
from sigla.stores.dynamodb.places import JOURNAL_SHARDS
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.settling import Settling
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.told_commits import ToldCommit
from sigla.stores.dynamodb.values import Item, unpacked
from sigla.stores.s3.bodies import AwsBodies, mend_all
from sigla.stores.s3.objects import SIDE_BY_SIDE, Objects

SINCE_MS: Final = 3_600_000
"""What was committed so long before the copy began is in every part of it: clocks differ, commits are tried again."""
MOST_ACTIONS: Final = 90
MOST_BYTES: Final = 2 * 2**20
"""The most of a transaction, which ends at 100 actions and 4 MB."""
AT_ONCE: Final = 8
"""Subjects that are read side by side."""

_RAW: Final = frozenset({"c", "exporters", "carried"})
"""Partitions of which rows are copied as they are."""
_SHARED: Final = frozenset({"f", "i"})
"""Those of what several subjects share; in `i` that is what counts the holders of an id."""
_SCOPES: Final = ("s", "x", "g")
"""Those with settings."""


class CopyTakenOver(StoreError):
    """Another process goes on with the copy."""


@dataclass(frozen=True, slots=True)
class _CommitPart:
    """A part of a commit, and whether the copy has it. key: of the row that tells."""

    key: Key
    is_copied: bool


class TableCopy:
    """source, target: one registry in two tables, with its objects in two buckets; the target has the role `joining`.

    For one thread.
    """

    def __init__(self, source: Tools, target: Tools, there: Objects, here: Objects, clock: Clock) -> None:
        self._source = source
        self._target = target
        self._there = there
        self._here = here
        self._clock = clock
        self._owner = secrets.token_hex(8)
        self._since = 0
        self._brought: set[BodyKey] = set()
        self._epoch = 0

    def go_on(self, until: float) -> bool:
        """Whether the copy is complete. until: when to leave the rest to the next call, by `Clock.elapsed`.

        It waits until each commit tells what another region needs. Raises CopyTakenOver, StoreError.
        """
        role = AwsRegion(self._source).role()
        if role is None or role.kind is not RegionKind.PRIMARY:
            raise StoreError("the region to be copied is not the primary")
        if self._clock.now() < role.armed + rules.KNOWN_MS:
            return False
        self._epoch = role.epoch
        state = self._take_over()
        after = tuple(state["after"]) if "after" in state else None
        is_copied = "copied" in state
        while not is_copied:
            if self._clock.elapsed() >= until:
                return False
            after = self._copy_page(after)
            is_copied = after is None
            self._note({"after": list(after)} if after else {"after": None, "copied": True})
        if "complete" not in state:
            told = self._chase()
            self._copy_shared()
            Settling(self._target, self._write).settle()
            self._copy_objects()
            here, there = (AwsBodies(each, registry=self._source.places.registry) for each in (self._here, self._there))
            mend_all(here, there, self._brought)
            self._mark(told)
            self._note({"complete": True})
        return True

    # --- whose it is -------------------------------------------------------------------------------------------------

    def _take_over(self) -> Item:
        place = self._target.places.copying()
        seen = self._target.table.get(place)
        since = seen["since"] if seen else self._clock.now() - SINCE_MS
        if since < self._clock.now() - JOURNAL_KEPT_S * 1000:
            raise StoreError("a copy was begun too long ago to go on: take the rows of this registry away first")
        when = equals(owner=seen["owner"]) if seen else ABSENT
        try:
            self._target.table.update(update(place, {"owner": self._owner, "since": since}, when=when))
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused
        self._since = since
        return seen or {}

    @property
    def _check(self) -> Action:
        return condition_check(self._target.places.copying(), equals(owner=self._owner))

    def _note(self, form: Item) -> None:
        try:
            self._target.table.update(update(self._target.places.copying(), form, when=equals(owner=self._owner)))
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused

    def _write(self, groups: Iterable[Iterable[Action]]) -> None:
        """In this order, in as few transactions as that takes."""
        some: dict[Key, Action] = {}
        size = 0
        for action in (each for group in groups for each in group):
            more = len(str(action.arguments))
            if action.key in some or len(some) == MOST_ACTIONS or size + more > MOST_BYTES:
                self._transact(list(some.values()))
                some, size = {}, 0
            some[action.key] = action
            size += more
        if some:
            self._transact(list(some.values()))

    def _transact(self, actions: list[Action]) -> None:
        try:
            self._target.table.transact([self._check, *actions])
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused

    # --- copying -----------------------------------------------------------------------------------------------------

    def _copy_page(self, after: Key | None) -> Key | None:
        """Copies what some items of the source tell of; after which the next ones come."""
        found, last = self._source.table.scan(after)
        own = f"{keys.component(self._source.places.registry)}#"
        rows = [item for item in found if item["pk"].startswith(own)]
        of_kind: dict[str, list[Item]] = {}
        for item in rows:
            of_kind.setdefault(item["pk"].removeprefix(own).partition("#")[0], []).append(item)
        self._copy_raw(item for kind in _RAW for item in of_kind.get(kind, ()))
        self._write([self._journal_row(item)] for item in of_kind.get("j", ()) if _time_in(item) < self._since)
        self._copy_subjects(dict.fromkeys(keys.subject_of(item["pk"]) for item in of_kind.get("s", ())))
        self._copy_rows(
            _place_of(item) for kind in _SCOPES for item in of_kind.get(kind, ()) if item["sk"] == keys.SETTINGS
        )
        self._copy_rows(map(_place_of, of_kind.get("keks", ())))
        for item in of_kind.get("x", ()):
            if item["sk"] == keys.NEXT:
                self._copy_ceiling(keys.context_of(item["pk"]))
        return last

    def _copy_shared(self) -> None:
        own = tuple(f"{keys.component(self._source.places.registry)}#{kind}#" for kind in _SHARED)
        after: Key | None = None
        while True:
            found, after = self._source.table.scan(after)
            shared = [item for item in found if item["pk"].startswith(own)]
            self._brought |= {keys.id_of(item["pk"]) for item in shared if KNOWN in item}
            self._copy_raw(item for item in shared if not item["sk"].startswith(keys.HOLDER))
            if after is None:
                return

    def _copy_raw(self, rows: Iterable[Item]) -> None:
        self._write([put(_place_of(item), attributes(item))] for item in rows)

    def _copy_ceiling(self, context: str) -> None:
        """How far ids may have been given there. It is raised no further while this region joins."""
        given = AwsRegion(self._source).look(context).counter
        for _ in range(copied_subjects.TRIES):
            seen = AwsRegion(self._target).look(context).counter
            ceiling = rules.raised(rules.ceiling_of(given, self._epoch), seen, self._epoch)
            if AwsRegion(self._target).copy_ceiling(context, self._epoch, seen, ceiling):
                return
        raise Conflict("a ceiling was not copied: it has too many writers")

    def _copy_subjects(self, subjects: Iterable[Subject]) -> None:
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copying") as readers:
            self._write(self._subject_differences(subjects, readers))

    def _subject_differences(self, subjects: Iterable[Subject], readers: Executor) -> Iterator[list[Action]]:
        waiting = iter(subjects)
        while some := list(islice(waiting, AT_ONCE)):
            wanted = list(readers.map(partial(copied_subjects.partition, self._source), some))
            standing = list(readers.map(partial(copied_subjects.standing_rows, self._target), some))
            for subject, rows, before in zip(some, wanted, standing, strict=True):
                yield from copied_subjects.differences(self._target.places, subject, rows, before)

    def _copy_rows(self, places: Iterable[Key]) -> None:
        for place in places:
            self._copy_row(place)

    def _copy_row(self, place: Key) -> None:
        """A row that has a number, with what goes with it."""
        own = f"{keys.component(self._source.places.registry)}#"
        kind = place[0].removeprefix(own).partition("#")[0]
        if place[1] == keys.HEAD:
            self._copy_subjects([keys.subject_of(place[0])])
        elif place[1] == keys.SETTINGS:
            self._copy_settings(place, _scope_of(place[0], kind))
        elif kind == "keks":
            self._copy_kek(place)
        elif (item := self._source.table.get(place)) is not None:
            self._write([[put(place, attributes(item))]])

    def _copy_settings(self, place: Key, scope: Subject) -> None:
        """And their copy in the list. The row of the whole registry keeps what the region is."""
        listed = self._source.places.listed_settings(scope)
        for _ in range(copied_subjects.TRIES):
            found = self._source.table.get_many([place, listed])
            item, copy = found.get(place), found.get(listed)
            if item is None:
                return
            if copy is None or copy.get("revision") == item.get("revision"):
                break
        else:
            raise Conflict("settings were not copied: they have too many writers")
        standing = self._target.table.get(place) or {}
        kept = {*ROLE_ATTRIBUTES, "pk", "sk"}
        form = {name: item.get(name) for name in {*item, *standing} - kept}
        # The form of a row with a role stays as it is.
        if "role" in standing:
            form.pop("form", None)
        self._write([[update(place, form)], [put(listed, attributes(copy)) if copy else delete(listed)]])

    def _copy_kek(self, place: Key) -> None:
        """With its DEKs: each commit of these moves the time of the KEK."""
        for _ in range(copied_subjects.TRIES):
            item = self._source.table.get(place)
            wanted = self._deks(self._source, item)
            if self._source.table.get(place) == item:
                break
        else:
            raise Conflict("a KEK was not copied: it has too many writers")
        standing = self._deks(self._target, self._target.table.get(place))
        for key, each in standing.items():
            if key not in wanted:
                self._write([[delete(self._listed(each))], [delete(key)]])
        for key, each in wanted.items():
            if standing.get(key) != each:
                dek = keks.dek_in(self._target.places, each)
                self._write([[put(self._listed(each), keks.listed_item(dek))], [put(key, attributes(each))]])
        if item is not None:
            self._write([[put(place, attributes(item))]])

    def _deks(self, tools: Tools, item: Item | None) -> dict[Key, Item]:
        """The rows of the DEKs under a KEK; a KEK goes where none is left."""
        kek = keks.kek_in(tools.places, item)
        found = tools.table.query(keys.deks_pk(tools.places.registry, kek.name)) if kek else ()
        return {_place_of(each): each for each in found}

    def _listed(self, item: Item) -> Key:
        return self._target.places.listed_dek(keks.dek_in(self._target.places, item))

    # --- which commits it has ----------------------------------------------------------------------------------------

    def _chase(self) -> list[Item]:
        """The rows of the last commits that the copy has, each of them in all of its parts."""
        while True:
            rows = list(self._recent())
            has: list[Item] = []
            behind: dict[Key, None] = {}
            parts = self._parts(rows)
            for row in rows:
                found = parts[_place_of(row)]
                if found is None or (found and all(part.is_copied for part in found)):
                    has.append(row)
                elif any(part.is_copied for part in found):
                    behind |= dict.fromkeys(part.key for part in found if not part.is_copied)
            if not behind:
                return has
            self._copy_rows(behind)

    def _recent(self) -> Iterator[Item]:
        where = Condition("#sk >= :sk", {"sk": keys.journal_sk(self._since, "")})
        for shard in range(JOURNAL_SHARDS):
            rows = self._source.table.query(keys.journal_pk(self._source.places.registry, shard), where)
            # A commit of a region that rejoined was carried out nowhere else: what came of it came as another one.
            yield from (row for row in rows if BROUGHT not in row)

    def _parts(self, rows: Iterable[Item]) -> Mapping[Key, list[_CommitPart] | None]:
        """Those of each row; None where it was written before the registry had a role, and so before the copy began."""
        told = {_place_of(row): _commit_in(row) for row in rows}
        needs = {key: _numbers_of(self._target, commit) for key, commit in told.items() if commit}
        wanted = {key for each in needs.values() for key, _, _ in each}
        standing = self._target.table.get_many(list(wanted))
        return {
            key: None
            if commit is None
            else [_CommitPart(row, standing.get(row, {}).get(name, 0) >= least) for row, name, least in needs[key]]
            for key, commit in told.items()
        }

    def _mark(self, rows: Sequence[Item]) -> None:
        """Commits that the copy has are known from now on, and stand in the history of each subject."""
        self._write(
            [*histories.items_of(self._target.places, unpacked(row["form"]), _time_in(row)), self._journal_row(row)]
            for row in rows
        )

    def _journal_row(self, item: Item) -> Action:
        """As another one: which segment tells it is of each side."""
        form = {name: value for name, value in attributes(item).items() if name not in ("segment", "aside")}
        return put(_place_of(item), form)

    # --- bodies ------------------------------------------------------------------------------------------------------

    def _copy_objects(self) -> None:
        """Bodies come first: a pointer leads to one."""
        for prefix in (keys.schemas_prefix, keys.guids_prefix):
            named = prefix(self._source.places.registry)
            standing = self._here.names(named)
            missing = _missing(self._there.names(named), standing)
            while some := list(islice(missing, SIDE_BY_SIDE)):
                stored = zip(some, self._there.read_many(some), strict=True)
                self._here.create_all({name: found.content for name, found in stored if found is not None})


def _missing(wanted: Iterator[str], standing: Iterator[str]) -> Iterator[str]:
    """What the second of two lists in one order lacks."""
    here = next(standing, None)
    for name in wanted:
        while here is not None and here.encode() < name.encode():
            here = next(standing, None)
        if here != name:
            yield name


def _commit_in(row: Item) -> ToldCommit | None:
    form = unpacked(row["form"])
    return ToldCommit.of_row(_time_in(row), form) if "commit" in form else None


def _numbers_of(target: Tools, told: ToldCommit) -> list[tuple[Key, str, int]]:
    """What a commit moves: the row, the name of its number, and what that is at least once the commit is in it."""
    places = target.places
    moved = [(places.head(subject), "revision", revision + 1) for subject, revision, _ in told.heads]
    moved += [(named_key(places, name), MOVES, number) for name, number in told.effects.moved.items()]
    # Whoever is referenced has the time of that; nothing of its own has moved.
    own = {subject for subject, _, _ in told.heads}
    return moved + [(places.head(each), "at", told.at) for each in told.targets if each not in own]


def _scope_of(pk: str, kind: str) -> Subject:
    if kind == "s":
        return keys.subject_of(pk)
    return Subject(keys.context_of(pk), "") if kind == "x" else REGISTRY_WIDE


def _place_of(item: Item) -> Key:
    return item["pk"], item["sk"]


def _time_in(row: Item) -> int:
    return keys.journal_at(row["sk"])
