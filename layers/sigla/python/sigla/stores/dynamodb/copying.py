"""A table that joins: it copies another one, while that goes on as ever, until it can be told the rest.

No copy of a table is of one moment. What makes one of it are the numbers that commits move (`numbers`, of a subject its
revision): they tell of each part of the copy which commits are in it.

    copy      all rows, page by page; a subject as it stands between two commits, with what follows from its rows
    bodies    objects that are missing here, and then pointers to them
    chase     the commits of the last hour. One that is in a part and not in another one has the latter copied again,
              until each is in all of its parts, or in none (`copied_commits`)
    shared    which ids are displaced, and in which order those of a content come, is read only now: no number tells
    settle    what several subjects share is counted from their rows here (`settling`)
    bodies    those that have come meanwhile. One whose id was buried since it was copied gets its tombstone as ever, by
              the row that counts the holders of the id (`functions.journal`)
    mend      what imports that were refused here have left under an id gives way to what that means there
    mark      the journal has the rows of the commits that the copy has, and not those of the others: these are told

Each step may be cut off and be done again, or go on in the next turn (`copy_steps`); whoever comes takes over, and the
one before is refused from then on. From the end of the chase on nothing of a commit is copied, however long the rest
takes. What each side has for itself is not copied: counters of ids, segments, names behind tokens, zones, the role.
"""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from sigla import keys
from sigla.errors import Conflict, StoreError
from sigla.model import REGISTRY_WIDE, Subject
from sigla.ports.clock import Clock
from sigla.regions import rules
from sigla.regions.nouns import RegionKind
from sigla.stores.dynamodb import copied_subjects, keks
from sigla.stores.dynamodb.actions import Action, Condition, Key, delete, put, update
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.copied_commits import CopiedCommits, journal_row, place_of, time_in
from sigla.stores.dynamodb.copied_pages import CopiedPage, heads_of, read_page
from sigla.stores.dynamodb.copied_subjects import attributes
from sigla.stores.dynamodb.copy_steps import CopyStep, take_steps
from sigla.stores.dynamodb.copy_writing import CopyWriter
from sigla.stores.dynamodb.fence import ROLE_ATTRIBUTES
from sigla.stores.dynamodb.ids import KNOWN
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.settling import Settling
from sigla.stores.dynamodb.table import MOST_READ
from sigla.stores.dynamodb.values import Item
from sigla.stores.s3.bodies import AwsBodies, mend_all
from sigla.stores.s3.copied_objects import copy_objects
from sigla.stores.s3.objects import Objects
from sigla.windowed import windowed

SINCE_MS: Final = 3_600_000
"""What was committed so long before the copy began is in every part of it: clocks differ, commits are tried again."""
AT_ONCE: Final = 16
"""Questions that are asked side by side."""
AHEAD: Final = True
"""Whether a page is read while the one before is written."""

_RAW: Final = frozenset({"c", "exporters", "carried"})
"""Partitions of which rows are copied as they are."""
_SCOPES: Final = ("s", "x", "g")
"""Those with settings."""


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
        self._writer = CopyWriter(target)
        self._readers = ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copying")
        self._since = 0
        self._epoch = 0
        self._has = Counter[str]()

    def close(self) -> None:
        """Waits for what is under way."""
        self._readers.shutdown()
        self._writer.close()

    @property
    def has(self) -> Mapping[str, int]:
        """How many `subjects` and `objects` were copied, by this process and those before it; empty before it began."""
        return self._has

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
        state = self._writer.take_over(self._clock.now() - SINCE_MS)
        self._since = state["since"]
        if self._since < self._clock.now() - JOURNAL_KEPT_S * 1000:
            raise StoreError("a copy was begun too long ago to go on: take the rows of this registry away first")
        self._has.update({each: state.get(each, 0) for each in ("subjects", "objects")})
        if "complete" in state:
            return True
        if not ("copied" in state or self._copy_pages(tuple(state["after"]) if "after" in state else None, until)):
            return False
        if not take_steps(self._steps(), state, self._writer.note, self._clock, until):
            return False
        self._writer.note({"complete": True})
        return True

    def _steps(self) -> Mapping[str, Callable[[CopyStep], None]]:
        """Behind the rows. Bodies come before pointers: each of these leads to one."""
        registry = self._source.places.registry
        bodies = partial(self._copy_objects, keys.schemas_prefix(registry))
        pointers = partial(self._copy_objects, keys.guids_prefix(registry), are_empty=True)
        commits = CopiedCommits(self._source, self._target, self._since, self._writer.write)
        settling = Settling(self._target, self._writer.write, self._readers)
        return {
            "bodies": bodies,
            "pointers": pointers,
            "chase": partial(commits.chase, copy_rows=self._copy_rows),
            "shared": self._copy_shared,
            "counts": settling.settle_counts,
            "order": settling.settle_order,
            "contexts": settling.settle_contexts,
            "later bodies": bodies,
            "later pointers": pointers,
            "mend": self._mend,
            "mark": commits.mark,
        }

    # --- copying -----------------------------------------------------------------------------------------------------

    def _copy_pages(self, after: Key | None, until: float) -> bool:
        """Whether all rows are copied."""
        with ThreadPoolExecutor(1, thread_name_prefix="page") as reader:
            coming = reader.submit(read_page, self._source, self._readers, after)
            while self._clock.elapsed() < until:
                page = coming.result()
                if page.last and AHEAD:
                    coming = reader.submit(read_page, self._source, self._readers, page.last)
                self._copy_page(page)
                self._has["subjects"] += len(page.subjects)
                how_far = {"after": list(page.last)} if page.last else {"after": None, "copied": True}
                self._writer.note({**how_far, "subjects": self._has["subjects"]})
                if page.last is None:
                    return True
                if not AHEAD:
                    coming = reader.submit(read_page, self._source, self._readers, page.last)
        return False

    def _copy_page(self, page: CopiedPage) -> None:
        own = f"{keys.component(self._source.places.registry)}#"
        of_kind: dict[str, list[Item]] = {}
        for item in page.rows:
            of_kind.setdefault(item["pk"].removeprefix(own).partition("#")[0], []).append(item)
        self._copy_raw(item for kind in _RAW for item in of_kind.get(kind, ()))
        self._writer.write([journal_row(item)] for item in of_kind.get("j", ()) if time_in(item) < self._since)
        self._copy_subjects(page.subjects)
        self._copy_settings(
            [place_of(item) for kind in _SCOPES for item in of_kind.get(kind, ()) if item["sk"] == keys.SETTINGS]
        )
        self._writer.write(map(self._kek, map(place_of, of_kind.get("keks", ()))))
        for item in of_kind.get("x", ()):
            if item["sk"] == keys.NEXT:
                self._copy_ceiling(keys.context_of(item["pk"]))

    def _copy_shared(self, step: CopyStep) -> None:
        own = keys.component(self._source.places.registry)
        is_shared = Condition(
            "(begins_with(#pk, :contents) OR begins_with(#pk, :ids)) AND NOT begins_with(#sk, :holder)",
            {"contents": f"{own}#f#", "ids": f"{own}#i#", "holder": keys.HOLDER},
        )
        for page in step.pages(self._source.table, is_shared):
            self._copy_raw(page)

    def _copy_raw(self, rows: Iterable[Item]) -> None:
        self._writer.write([put(place_of(item), attributes(item))] for item in rows)

    def _copy_ceiling(self, context: str) -> None:
        """How far ids may have been given there. It is raised no further while this region joins."""
        given = AwsRegion(self._source).look(context).counter
        for _ in range(copied_subjects.TRIES):
            seen = AwsRegion(self._target).look(context).counter
            ceiling = rules.raised(rules.ceiling_of(given, self._epoch), seen, self._epoch)
            if AwsRegion(self._target).copy_ceiling(context, self._epoch, seen, ceiling):
                return
        raise Conflict("a ceiling was not copied: it has too many writers")

    def _copy_subjects(self, subjects: Mapping[Subject, copied_subjects.Rows | None]) -> None:
        """None: it is to be read first."""
        places = {subject: self._target.places.head(subject)[0] for subject in subjects}
        heads = heads_of(self._target, self._readers, places.values())

        def unit(subject: Subject) -> list[Action]:
            rows = subjects[subject]
            wanted = copied_subjects.partition(self._source, subject) if rows is None else rows
            is_absent = copied_subjects.is_absent(wanted, heads.get(places[subject]))
            found = {} if is_absent else copied_subjects.standing_rows(self._target, subject)
            return copied_subjects.unit(self._target.places, subject, wanted, found)

        self._writer.write(windowed(self._readers, unit, subjects, 2 * AT_ONCE if AT_ONCE > 1 else 1))

    def _copy_rows(self, places: Iterable[Key]) -> None:
        """Rows that have a number, each with what goes with it."""
        own = f"{keys.component(self._source.places.registry)}#"
        of_kind: dict[str, list[Key]] = {}
        for place in places:
            kind = place[1] if place[1] in (keys.HEAD, keys.SETTINGS) else place[0].removeprefix(own).partition("#")[0]
            of_kind.setdefault(kind, []).append(place)
        self._copy_subjects(dict.fromkeys(keys.subject_of(pk) for pk, _ in of_kind.pop(keys.HEAD, ())))
        self._copy_settings(of_kind.pop(keys.SETTINGS, []))
        self._writer.write(map(self._kek, of_kind.pop("keks", ())))
        found = self._source.table.get_many([place for some in of_kind.values() for place in some])
        self._copy_raw(found.values())

    def _copy_settings(self, places: Sequence[Key]) -> None:
        """And their copies in the list. Those that others write at this moment are looked at again."""
        for _ in range(copied_subjects.TRIES):
            left: list[Key] = []
            asked = [places[at : at + MOST_READ // 2] for at in range(0, len(places), MOST_READ // 2)]
            for some in asked:
                left += self._copy_still_settings({place: self._listed_settings(place) for place in some})
            if not left:
                return
            places = left
        raise Conflict("settings were not copied: they have too many writers")

    def _copy_still_settings(self, listed: Mapping[Key, Key]) -> list[Key]:
        """Which of them were not copied: their copy in the list is of another moment. listed: where that stands."""
        found = self._source.table.get_many([*listed, *listed.values()])
        still = [place for place in listed if place in found and _is_still(found[place], found.get(listed[place]))]
        standing = self._target.table.get_many(still)
        self._writer.write(
            _settings_unit(place, found[place], standing.get(place, {}), listed[place], found.get(listed[place]))
            for place in still
        )
        return [place for place in listed if place in found and place not in still]

    def _listed_settings(self, place: Key) -> Key:
        own = f"{keys.component(self._source.places.registry)}#"
        kind = place[0].removeprefix(own).partition("#")[0]
        return self._source.places.listed_settings(_scope_of(place[0], kind))

    def _kek(self, place: Key) -> list[Action]:
        """With its DEKs, before which it does not come: each commit of these moves the time of the KEK."""
        for _ in range(copied_subjects.TRIES):
            item = self._source.table.get(place)
            wanted = self._deks(self._source, item)
            if self._source.table.get(place) == item:
                break
        else:
            raise Conflict("a KEK was not copied: it has too many writers")
        standing = self._deks(self._target, self._target.table.get(place))
        actions: list[Action] = []
        for key, each in standing.items():
            if key not in wanted:
                actions += [delete(self._listed(each)), delete(key)]
        for key, each in wanted.items():
            if standing.get(key) != each:
                dek = keks.dek_in(self._target.places, each)
                actions += [put(self._listed(each), keks.listed_item(dek)), put(key, attributes(each))]
        return [*actions, put(place, attributes(item))] if item is not None else actions

    def _deks(self, tools: Tools, item: Item | None) -> dict[Key, Item]:
        """The rows of the DEKs under a KEK; a KEK goes where none is left."""
        kek = keks.kek_in(tools.places, item)
        found = tools.table.query(keys.deks_pk(tools.places.registry, kek.name)) if kek else ()
        return {place_of(each): each for each in found}

    def _listed(self, item: Item) -> Key:
        return self._target.places.listed_dek(keks.dek_in(self._target.places, item))

    # --- bodies ------------------------------------------------------------------------------------------------------

    def _copy_objects(self, prefix: str, step: CopyStep, *, are_empty: bool = False) -> None:
        def note(last: str, more: int) -> None:
            self._has["objects"] += more
            step.go_on_behind((prefix, last), objects=self._has["objects"])

        _, after = step.after or (prefix, "")
        copy_objects(self._there, self._here, prefix, after=after, are_empty=are_empty, note=note)

    def _mend(self, step: CopyStep) -> None:
        registry = self._source.places.registry
        here, there = (AwsBodies(each, registry=registry) for each in (self._here, self._there))
        brought = Condition(
            f"begins_with(#pk, :ids) AND attribute_exists({KNOWN})", {"ids": f"{keys.component(registry)}#i#"}
        )
        for page in step.pages(self._target.table, brought):
            mend_all(here, there, [keys.id_of(item["pk"]) for item in page])


def _is_still(item: Item, copy: Item | None) -> bool:
    return copy is None or copy.get("revision") == item.get("revision")


def _settings_unit(place: Key, item: Item, standing: Item, listed: Key, copy: Item | None) -> list[Action]:
    """The row of the whole registry keeps what the region is."""
    kept = {*ROLE_ATTRIBUTES, "pk", "sk"}
    form = {name: item.get(name) for name in {*item, *standing} - kept}
    # The form of a row with a role stays as it is.
    if "role" in standing:
        form.pop("form", None)
    return [update(place, form), put(listed, attributes(copy)) if copy else delete(listed)]


def _scope_of(pk: str, kind: str) -> Subject:
    if kind == "s":
        return keys.subject_of(pk)
    return Subject(keys.context_of(pk), "") if kind == "x" else REGISTRY_WIDE
