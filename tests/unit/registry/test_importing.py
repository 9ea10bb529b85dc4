"""What another registry had, written as it had it; and again; and after a fall at every step."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, cast

import pytest

from sigla.changes import Change
from sigla.errors import SchemaNamedNotFound, StoreError
from sigla.journal.replay import State, TopicRecord, replayed
from sigla.model import BodyKey, Metadata, SchemaId, Version
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.registry import Registry, Resources
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep import importing
from sigla.upkeep.exporting import standing
from sigla.upkeep.importing import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Report, import_state, rehearsal
from sigla.upkeep.importing.versions import (
    NOT_UNDERSTOOD,
    OTHER_LIFE,
    OTHER_MEANING,
    OTHER_VERSION,
    TOO_LONG,
    TOO_MANY,
    UNRESOLVED,
)
from tests.build import FixedClock
from tests.unit.journal.topic import (
    OTHER,
    TEXT,
    THIRD,
    cleared,
    mode,
    s,
    schema,
    state,
)
from tests.unit.registry.lives import A_LIFE, BASE, TO_BASE, USING, contents
from tests.unit.registry.tell import ALL, register


def imported(registry: Resources, wanted: State, **options: Any) -> Report:
    return import_state(registry, wanted, **options)


def whys(report: Report) -> dict[str, list[str]]:
    """Every reason with its examples."""
    return {why: cases.examples for (_, why), cases in report.reasons.items()} | {
        why: cases.examples for why, cases in report.remarks.items()
    }


@contextmanager
def another() -> Iterator[Registry]:
    with EmbeddedStore() as store:
        yield Registry(store.catalog, store.bodies, FixedClock())


# --- what comes -------------------------------------------------------------------------------------------------------


def test_everything_comes_with_its_numbers_and_times(registry: Registry) -> None:
    report = imported(registry, state(*A_LIFE))
    assert report.of(IMPORTED) == {"version": 9, "id": 1, "config": 2, "mode": 1, "context": 2}
    assert (report.of(CONFLICTING), report.of(SKIPPED), report.remarks) == ({}, {}, {})
    assert [registry.versions(s("o"), deleted=shown, page=ALL) for shown in (False, True)] == [[5], [1, 2, 5]]
    record = registry.version(s("using"), Version(1), deleted=True)
    assert (record.id, record.ts, record.deleted) == (2, 3000, True)
    assert registry.contexts(page=ALL) == [".", ".c", ".empty"]
    assert registry.config(s("p")).alias == "q"
    assert [found[1].id for found in registry.catalog.referrers(s("base"))] == [2]
    assert registry.bodies.get(BodyKey(".", SchemaId(2))).targets[0].id == 1


def test_no_id_is_given_out_again_that_was_ever_used(registry: Registry) -> None:
    """Id 9 was deleted for good; what it meant can still be read, by who has records that bear it."""
    imported(registry, state(*A_LIFE))
    assert registry.catalog.max_id(".") == 9
    gone = registry.bodies.get(BodyKey(".", SchemaId(9)))
    assert (gone.gone, gone.schema.text) == (True, THIRD)
    with pytest.raises(SchemaNamedNotFound):
        registry.schema_by_id(SchemaId(9))
    assert register(registry, "new", '"int"').id == 10


def test_id_zero_uses_up_one_as_well(registry: Registry) -> None:
    """REG-11."""
    imported(registry, state(schema("o", 1, 0)))
    assert registry.catalog.max_id(".") == 1


def test_who_was_written_last_speaks_for_an_id(registry: Registry) -> None:
    """Whatever its number is: version 2 here was written before version 1."""
    imported(registry, state(schema("o", 2, 1), schema("o", 1, 1)))
    assert registry.schema_by_id(SchemaId(1)).version == 1


def test_a_content_is_known_by_the_id_it_had_last(registry: Registry) -> None:
    """Whichever subject comes first."""
    imported(registry, state(schema("z", 1, 1), schema("a", 1, 2), schema("z", 2, 1)))
    guid = str(registry.version(s("a"), Version(1)).guid)
    assert [key.id for key in registry.ids_of(guid)] == [1]
    assert register(registry, "new", TEXT).id == 1


def test_a_subject_of_many_versions_takes_few_commits(store: EmbeddedStore, registry: Registry) -> None:
    many = state(*(schema("o", n, n, f'{{"type":"enum","name":"E{n}","symbols":[]}}') for n in range(1, 51)))
    imported(registry, many)
    rows: list[Any] = [row["entries"] for _, row in store.journal.read()]
    assert [len(entries) for entries in rows] == [8] * 6 + [2]


def test_progress_is_told_to_who_asks(registry: Registry) -> None:
    told: list[tuple[str, int, int]] = []
    imported(registry, state(*A_LIFE), progress=lambda *step: told.append(step))
    assert [*dict.fromkeys(what for what, _, _ in told)] == [
        "comparing",
        "bodies",
        "versions",
        "settings",
        "contexts",
        "counters",
    ]
    assert {what: done for what, done, _ in told} == {what: total for what, _, total in told}


# --- what does not come, and what comes with a remark -----------------------------------------------------------------


def test_nothing_that_stands_here_is_overwritten(registry: Registry) -> None:
    """A number, an id, a setting: each conflict is told by name, and all the rest comes."""
    register(registry, "o", OTHER)
    registry.change_mode(s("o"), "READONLY")
    before = registry.version(s("o"), Version(1))
    report = imported(
        registry, state(schema("o", 1, 7), schema("o", 2, 1, THIRD), schema("o", 3, 3), mode("o", "IMPORT"))
    )
    assert whys(report) == {
        OTHER_VERSION: ["o version 1 id 7"],
        OTHER_MEANING: ["o version 2 id 1"],
        importing.settings.OTHER_SETTINGS: ["o"],
    }
    assert registry.version(s("o"), Version(1)) == before
    assert registry.mode(s("o")) == "READONLY"
    assert registry.versions(s("o"), page=ALL) == [1, 3]
    assert report.of(CONFLICTING) == {"version": 2, "mode": 1}


def test_a_version_with_another_life_is_told_apart(registry: Registry) -> None:
    imported(registry, state(schema("o", 1, 1), schema("o", 2, 2, OTHER)))
    report = imported(registry, state(schema("o", 1, 1, deleted=True), schema("o", 2, 2, OTHER)))
    assert whys(report) == {OTHER_LIFE: ["o version 1 id 1"]}
    assert report.of(IDENTICAL) == {"version": 1}


def test_an_id_that_means_two_things_in_the_source_is_imported_once(registry: Registry) -> None:
    """JRN-4 compares texts alone: a registry of the reference may have an id with two descriptions."""
    described = schema("p", 1, 1, metadata={"properties": {"owner": "me"}})
    report = imported(registry, state(schema("o", 1, 1), described))
    assert whys(report) == {OTHER_MEANING: ["p version 1 id 1"]}
    assert registry.schema_by_id(SchemaId(1)).schema.metadata is None


def test_an_id_means_what_it_meant_first_in_the_source(registry: Registry) -> None:
    """Whichever subject comes first."""
    mine, yours = ({"properties": {"owner": owner}} for owner in ("me", "you"))
    first, then = schema("a", 1, 1, metadata=mine), schema("b", 2, 1, metadata=yours)
    report = imported(registry, state(schema("b", 1, 9, OTHER), first, then))
    assert whys(report) == {OTHER_MEANING: ["b version 2 id 1"]}
    assert registry.schema_by_id(SchemaId(1)).schema.metadata == Metadata(properties={"owner": "me"})


def test_a_text_nobody_here_understands_is_kept_as_it_is(registry: Registry) -> None:
    """The source answered it: blank, of another language, broken. What is compared with it is refused, not this."""
    odd = state(schema("a", 1, 1, None), schema("b", 1, 2, "{"), schema("c", 1, 3, "namespace", schemaType="THRIFT"))
    report = imported(registry, odd)
    assert whys(report) == {NOT_UNDERSTOOD: ["a version 1 id 1", "b version 1 id 2", "c version 1 id 3"]}
    assert [registry.schema_by_id(SchemaId(n)).schema.text for n in (1, 2, 3)] == ["", "{", "namespace"]
    assert imported(registry, odd).of(IDENTICAL) == {"version": 3}


def test_a_reference_to_what_nobody_knows_is_kept_as_it_is(registry: Registry) -> None:
    report = imported(registry, state(schema("using", 1, 2, USING, references=TO_BASE)))
    assert set(whys(report)) == {UNRESOLVED, NOT_UNDERSTOOD}
    assert registry.version(s("using"), Version(1)).schema.references[0].subject == "base"


def test_a_reference_may_be_to_what_this_registry_has(registry: Registry) -> None:
    register(registry, "base", BASE)
    report = imported(registry, state(schema("using", 1, 2, USING, references=TO_BASE)))
    assert not report.remarks
    assert registry.bodies.get(BodyKey(".", SchemaId(2))).targets[0].id == 1


def test_references_in_a_circle_come_to_an_end(registry: Registry) -> None:
    """Numbers are given anew after a purge, so that two schemas may end up referring to each other."""
    to_using = [{"name": "Using", "subject": "using", "version": 1}]
    circle = state(schema("using", 1, 2, USING, references=TO_BASE), schema("base", 1, 1, BASE, references=to_using))
    assert imported(registry, circle).of(IMPORTED) == {"version": 2}


def test_what_this_registry_could_never_hold_is_skipped(registry: Registry) -> None:
    """By its own limits, which the sentence names."""
    many = [{"name": f"N{n}", "subject": f"s{n}", "version": 1} for n in range(81)]
    small = replace(registry.options, schema_bytes=100)
    registry = Registry(registry.catalog, registry.bodies, registry.clock, small)
    report = imported(registry, state(schema("o", 1, 1, '"' + "x" * 100 + '"'), schema("o", 2, 2, references=many)))
    assert whys(report) == {TOO_LONG: ["o version 1 id 1"], TOO_MANY: ["o version 2 id 2"]}
    assert report.of(SKIPPED) == {"version": 2}


def test_records_nobody_can_follow_are_told(registry: Registry) -> None:
    report = imported(registry, state(({"keytype": "ODD"}, {}), ({"keytype": "ASSOC"}, {}), cleared()))
    assert report.of(SKIPPED) == {"record": 2}
    assert len(whys(report)) == 2


def test_only_the_first_of_many_cases_are_told_by_name(registry: Registry) -> None:
    report = imported(registry, state(*(schema(f"s{n}", 1, n, "{") for n in range(1, 9))))
    (remark,) = report.form()["remarks"]
    assert (remark["count"], len(remark["examples"])) == (8, 5)


def test_bodies_that_stand_here_are_adopted_or_brought_back_to_life(registry: Registry) -> None:
    """An orphan of a crash; and the tombstone of a version that was deleted for good."""
    record = register(registry, "o", TEXT)
    registry.delete_subject(s("o"))
    registry.delete_subject(s("o"), permanent=True)
    assert registry.bodies.get(BodyKey(".", SchemaId(1))).gone
    schemas = state(schema("o", 1, 1), schema("o", 2, 2, OTHER))
    with pytest.raises(_Cut):
        imported(_cut(registry, 1), schemas)
    imported(registry, schemas)
    assert not registry.bodies.get(BodyKey(".", SchemaId(1))).gone
    assert registry.ids_of(str(record.guid)) == [BodyKey(".", SchemaId(1))]


def test_what_somebody_else_stores_meanwhile_is_found(registry: Registry) -> None:
    """Between the look and the commit: the same version, another one, nothing lost."""
    wanted = state(schema("o", 1, 1), schema("o", 2, 2, OTHER), schema("o", 3, 3, THIRD))
    rushed = _Rushed(registry.catalog, lambda: imported(registry, state(schema("o", 1, 1), schema("o", 2, 8, '"int"'))))
    report = imported(replace_catalog(registry, rushed), wanted)
    assert report.of(IDENTICAL) == {"version": 1}
    assert whys(report) == {OTHER_VERSION: ["o version 2 id 2"]}
    assert registry.versions(s("o"), page=ALL) == [1, 2, 3]


# --- again, and cut off -----------------------------------------------------------------------------------------------


def test_imported_twice_changes_nothing(store: EmbeddedStore, registry: Registry) -> None:
    """Not one row of the journal."""
    wanted = state(*A_LIFE)
    imported(registry, wanted)
    before, rows = contents(registry), list(store.journal.read())
    report = imported(registry, wanted)
    assert (report.of(IMPORTED), report.of(CONFLICTING)) == ({}, {})
    assert contents(registry) == before
    assert list(store.journal.read()) == rows


@pytest.mark.parametrize("steps", range(40))
def test_cut_off_anywhere_and_begun_again_it_ends_the_same(registry: Registry, steps: int) -> None:
    """After so many writes the store falls silent; all writes of a whole import are fewer than forty."""
    wanted = state(*A_LIFE)
    with another() as whole:
        imported(whole, wanted)
        expected = contents(whole)
    cut = _cut(registry, steps)
    try:
        imported(cut, wanted)
    except _Cut:
        assert steps < 39
    imported(registry, wanted)
    assert contents(registry) == expected


def test_a_rehearsal_tells_the_same_and_writes_nothing(store: EmbeddedStore, registry: Registry) -> None:
    register(registry, "o", OTHER)
    before, rows = contents(registry), list(store.journal.read())
    with EmbeddedStore() as imagined:
        rehearsed = imported(rehearsal(registry, imagined.bodies), state(*A_LIFE))
        kept = {*imagined.inventory.bodies()}
    assert contents(registry) == before
    assert list(store.journal.read()) == rows
    assert kept, "what would be put lies there and not in memory"
    assert not kept & {*store.inventory.bodies()}
    assert imported(registry, state(*A_LIFE)).form() == rehearsed.form()


def test_what_was_exported_comes_to_the_same(store: EmbeddedStore, registry: Registry) -> None:
    """Only what stands, with the ids without a holder: a third registry answers as the first."""
    imported(registry, state(*A_LIFE))
    exported = standing(store.catalog, store.bodies, store.inventory.bodies())
    with another() as third:
        report = imported(third, replayed(TopicRecord(*record, offset) for offset, record in enumerate(exported)))
        assert not report.remarks
        assert contents(third) == contents(registry)
        assert third.bodies.get(BodyKey(".", SchemaId(9))).gone


def test_in_compacted_records_what_is_referenced_comes_first(store: EmbeddedStore, registry: Registry) -> None:
    """Whatever their times are; the soft-deleted say so themselves."""
    imported(registry, state(*A_LIFE))
    keys = [key for key, _, _ in standing(store.catalog, store.bodies)]
    subjects = [name for key in keys for name in (b'"base"', b'"using"') if name in key]
    assert subjects == [b'"base"', b'"using"']


class _Cut(StoreError):
    """The moment at which an import is cut off."""


class _Writes:
    """Lets so many writes through, to whatever part of a store."""

    def __init__(self, left: int) -> None:
        self.left = left

    def __call__(self) -> None:
        if self.left == 0:
            raise _Cut
        self.left -= 1


class _Counted:
    """Part of a store whose writes are counted."""

    def __init__(self, part: object, writes: _Writes) -> None:
        self._part, self._writes = part, writes

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._part, name)
        if name not in ("put", "revive", "commit", "raise_counter"):
            return found

        def counted(*arguments: Any) -> Any:
            self._writes()
            return found(*arguments)

        return counted


class _Rushed:
    """A catalog before whose first commit another writer is quicker."""

    def __init__(self, catalog: Catalog, rush: Callable[[], object]) -> None:
        self._catalog, self._rush = catalog, [rush]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        while self._rush:
            self._rush.pop()()
        return self._catalog.commit(change)


def replace_catalog(registry: Registry, catalog: object) -> Registry:
    return Registry(cast("Catalog", catalog), registry.bodies, registry.clock, registry.options)


def _cut(registry: Registry, after: int) -> Registry:
    writes = _Writes(after)
    catalog, bodies = _Counted(registry.catalog, writes), _Counted(registry.bodies, writes)
    return Registry(cast("Catalog", catalog), cast("Bodies", bodies), registry.clock, registry.options)
