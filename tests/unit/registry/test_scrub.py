"""Each way in which bodies, catalog and journal can disagree is found, and nothing else ever is."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sigla import records
from sigla.model import DEFAULT_CONTEXT, Draft, Subject, Version
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.scratch import ScratchDatabase
from sigla.upkeep import scrub
from sigla.upkeep.flaws import FIXABLE, KINDS, RELATIONS, Flaw, Severity
from sigla.upkeep.mending import fix
from sigla.upkeep.scrub import GRACE_MS
from tests.build import NOW, FixedClock, a_text
from tests.contract.aws import Account, moto
from tests.unit.registry.scrubbing import (
    ADDRESS,
    GONE,
    ORDER,
    TEAM,
    Broken,
    an_orphan,
    in_a_directory,
    in_aws,
    of_id,
    registry_of,
)

__all__ = ["moto"]

NO_ID = of_id(9_999_999_999)
OF_EXPORTERS = {"CREDENTIALS_MISSING", "CREDENTIALS_LEFT", "CREDENTIALS_UNLISTED", "PROGRESS_WITHOUT_EXPORTER"}


@pytest.fixture(params=["directory", "aws-moto"])
def broken(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Broken]:
    if request.param == "directory":
        with in_a_directory(tmp_path / "data") as made:
            yield made
        return
    account: Account = request.getfixturevalue("moto")
    with in_aws(account) as made:
        yield made


@pytest.fixture
def directory(tmp_path: Path) -> Iterator[Broken]:
    """For what the stores do not differ in."""
    with in_a_directory(tmp_path / "data") as made:
        yield made


def found_in(store: Store) -> list[Flaw]:
    with closing(ScratchDatabase(RELATIONS)) as scratch:
        scrub.gather(store, scratch)
        return list(scrub.confirmed(store, scrub.suspects(scratch)))


def _rewritten(broken: Broken, id: int, **changes: object) -> None:
    body = broken.store.bodies.get(of_id(id))
    broken.write_object(of_id(id), records.body_bytes(of_id(id), replace(body, **changes)))  # type: ignore[arg-type]  # by name


def _changed_text(broken: Broken) -> None:
    schema = broken.store.bodies.get(of_id(4)).schema
    _rewritten(broken, 4, schema=replace(schema, text=a_text("Changed")))


def _with_the_guid_of_another(broken: Broken) -> None:
    _rewritten(broken, 2, guid=broken.store.bodies.get(of_id(1)).guid)


def _remove_pointer(broken: Broken) -> None:
    broken.remove_pointer(of_id(4), broken.store.bodies.get(of_id(4)).guid)


def _two_versions_less_one(registry: Registry) -> None:
    for name in ("First", "Second"):
        registry.register(GONE, Draft(a_text(name)), force=True)
    registry.delete_version(GONE, Version(1))
    registry.delete_version(GONE, Version(1), permanent=True)


def _take_from_history(broken: Broken) -> None:
    inventory = broken.store.inventory
    inventory.mend_history(ORDER, next(inventory.history_positions(ORDER)), None)


def _tell_another(broken: Broken) -> None:
    """One subject's commit is told to another."""
    inventory = broken.store.inventory
    position = next(inventory.history_positions(ORDER))
    row = next(row for found, row in broken.store.journal.read() if found == position)
    inventory.mend_history(GONE, position, row)


def _claim_one(broken: Broken) -> None:
    assert broken.store.marks
    assert broken.store.marks.catalog.write("a" * 32, "")


BREAKS: dict[str, tuple[Callable[[Broken], object], set[tuple[str, int | None, str | None]]]] = {
    "IDENTITY_MISMATCH": (_claim_one, {("IDENTITY_MISMATCH", None, None)}),
    "SECOND_NAME": (
        lambda broken: registry_of(broken.store).register(Subject(DEFAULT_CONTEXT, ":.:order"), Draft(a_text("Gone"))),
        {("SECOND_NAME", None, ":.:order")},
    ),
    "META_NO_OBJECT": (lambda broken: broken.remove_object(of_id(2)), {("META_NO_OBJECT", 2, "order")}),
    "UNREADABLE_OBJECT": (lambda broken: broken.write_object(of_id(4), b"{"), {("UNREADABLE_OBJECT", 4, None)}),
    "UNREADABLE_OBJECT of another shape": (
        lambda broken: broken.write_object(of_id(4), b'{"references": 5}'),
        {("UNREADABLE_OBJECT", 4, None)},
    ),
    "UNREADABLE_OBJECT of a number that is no id": (
        lambda broken: broken.write_object(NO_ID, records.body_bytes(NO_ID, broken.store.bodies.get(of_id(1)))),
        {("UNREADABLE_OBJECT", NO_ID.id, None)},
    ),
    "HASH_MISMATCH": (_changed_text, {("HASH_MISMATCH", 4, None)}),
    "HASH_MISMATCH of a guid": (_with_the_guid_of_another, {("HASH_MISMATCH", 2, None)}),
    "HASH_MISMATCH of a row": (
        lambda broken: broken.change_version(ADDRESS, 2, guid="0" * 8),
        {("HASH_MISMATCH", 4, "address")},
    ),
    "REFERENCE_MISSING": (
        lambda broken: broken.remove_object(of_id(1)),
        {("META_NO_OBJECT", 1, "address"), ("REFERENCE_MISSING", 2, None)},
    ),
    "POINTER_ASTRAY": (
        lambda broken: broken.store.inventory.point(of_id(2), broken.store.bodies.get(of_id(1)).guid),
        {("POINTER_ASTRAY", 2, None)},
    ),
    "COUNTER_BEHIND": (lambda broken: broken.set_counter(DEFAULT_CONTEXT, 2), {("COUNTER_BEHIND", 4, None)}),
    "JOURNAL_AHEAD": (
        lambda broken: broken.remove_version(TEAM, 1),
        {("JOURNAL_AHEAD", 1, "address")},
    ),
    "TOMBSTONE_HELD": (lambda broken: _rewritten(broken, 4, gone=True), {("TOMBSTONE_HELD", 4, None)}),
    "TOMBSTONE_MISSING": (lambda broken: _rewritten(broken, 3, gone=False), {("TOMBSTONE_MISSING", 3, None)}),
    "POINTER_MISSING": (_remove_pointer, {("POINTER_MISSING", 4, None)}),
    "JOURNAL_GAP": (
        lambda broken: broken.forget(ORDER, 1),
        {("JOURNAL_GAP", 2, "order"), ("HISTORY_AHEAD", None, "order")},
    ),
    "HISTORY_GAP": (_take_from_history, {("HISTORY_GAP", None, "order")}),
    "HISTORY_AHEAD": (_tell_another, {("HISTORY_AHEAD", None, "gone")}),
    "DELETED_BUT_REFERENCED": (
        lambda broken: broken.change_version(ADDRESS, 1, deleted=True),
        {("DELETED_BUT_REFERENCED", 2, "order")},
    ),
    "OBJECT_NO_META": (
        lambda broken: an_orphan(broken, ts=NOW - GRACE_MS - 1),
        {("OBJECT_NO_META", 5, None)},
    ),
    "VERSION_GAP": (
        lambda broken: _two_versions_less_one(registry_of(broken.store)),
        {("VERSION_GAP", None, "gone")},
    ),
}


RESTORED = {"META_NO_OBJECT", "UNREADABLE_OBJECT", "HASH_MISMATCH"}
"""By what a bucket keeps of a body; a directory keeps nothing."""


def test_a_healthy_registry_has_no_flaws(broken: Broken) -> None:
    """Deleted ids, references, named contexts and two versions of one subject are all as they should be."""
    assert found_in(broken.store) == []


# What both stores are asked alike, AWS shows in long runs: moto takes a second for each registry.
OF_THE_STORE = {"COUNTER_BEHIND", "JOURNAL_AHEAD", "JOURNAL_GAP", "META_NO_OBJECT", "OBJECT_NO_META", "POINTER_MISSING"}
OF_THE_STORE |= {"TOMBSTONE_HELD", "TOMBSTONE_MISSING", "UNREADABLE_OBJECT", "HASH_MISMATCH"}
OF_THE_STORE |= {"IDENTITY_MISMATCH", "HISTORY_GAP", "HISTORY_AHEAD"}
CASES = [
    # A directory is one whole, of one deployment.
    *(pytest.param("directory", name) for name in BREAKS if name != "IDENTITY_MISMATCH"),
    *(
        pytest.param("aws-moto", name, marks=[] if name in OF_THE_STORE else pytest.mark.soak)
        for name in BREAKS
        if name != "POINTER_ASTRAY"
    ),
]


def test_every_kind_of_flaw_is_tried() -> None:
    """Those of keys and associations are tried in test_scrub_keys.py, those of exporters in test_scrub_exporters.py."""
    elsewhere = {name for name, kind in KINDS.items() if "{about}" in kind.sentence}
    assert {name.split()[0] for name in BREAKS} == set(KINDS) - elsewhere - OF_EXPORTERS


def test_every_kind_of_flaw_is_explained() -> None:
    """In docs/scrub.md, in the order in which they are told."""
    page = (Path(__file__).parents[3] / "docs" / "scrub.md").read_text(encoding="utf-8")
    explained = re.findall(r"^\| `([A-Z_]+)` \| (\w+) \|", page, re.MULTILINE)
    assert explained == [(name, kind.severity.value) for name, kind in KINDS.items()]


@pytest.mark.parametrize("broken,name", CASES, indirect=["broken"])
def test_a_broken_registry_is_found_out_and_put_right(broken: Broken, name: str) -> None:
    """That, and what follows from it, and nothing else; what can be put right is told no more afterwards."""
    act, expected = BREAKS[name]
    act(broken)
    found = found_in(broken.store)
    # What the registry does with a version that a hand removed from its list depends on the store.
    assert {(flaw.kind, flaw.id, flaw.subject) for flaw in found} - {("OBJECT_NO_META", 1, None)} == expected
    assert all(flaw.sentence and "{" not in flaw.sentence for flaw in found)
    assert len({flaw.sentence for flaw in found}) == len(found)
    if name in FIXABLE:
        right = [fix(broken.store, flaw) for flaw in [*found, *found]]
        assert all(right) or (name.split(maxsplit=1)[0] in RESTORED and not any(right)), "where earlier bodies are kept"
        assert found_in(broken.store) == ([] if all(right) else found)


def test_a_context_is_found_again_whatever_it_is_called(broken: Broken) -> None:
    """Names that no file system takes as they are, longer ones than a file name may be."""
    contexts = [".UPPER.lower", ".ü/#%", "." + "long" * 70]
    for context in contexts:
        registry_of(broken.store).register(Subject(context, "s"), Draft(a_text()))
    assert {key.context for key in broken.store.inventory.bodies()} == {DEFAULT_CONTEXT, TEAM.context, *contexts}
    assert found_in(broken.store) == []


def test_after_the_counter_was_raised_no_id_is_given_twice(broken: Broken) -> None:
    """And none is lost: a file whose number cannot be an id does not raise a counter to where all ids end."""
    broken.set_counter(DEFAULT_CONTEXT, 1)
    broken.write_object(NO_ID, b"somebody's")
    for flaw in found_in(broken.store):
        if flaw.kind in FIXABLE:
            fix(broken.store, flaw)
    assert broken.store.catalog.next_id(DEFAULT_CONTEXT) == 5


def test_files_of_somebody_else_are_no_bodies(directory: Broken, tmp_path: Path) -> None:
    """Whatever they are called."""
    for name in ("notes.json", "5.json", "²²²²²²²²²².json", f"{'9' * 40}.json", "0000000005.txt"):
        (tmp_path / "data" / "default" / "schemas" / "_" / name).write_bytes(b"somebody's")
    assert found_in(directory.store) == []
    assert directory.store.bodies.last(DEFAULT_CONTEXT) == 4


def test_a_damaged_guid_is_nothing_to_be_found_by(directory: Broken) -> None:
    """Else, when the body is restored, the guid of one schema would answer with the other for good."""
    first, damaged = (directory.store.bodies.get(of_id(id)) for id in (1, 2))
    _with_the_guid_of_another(directory)
    fix(directory.store, Flaw("POINTER_MISSING", *of_id(2)))
    directory.write_object(of_id(2), records.body_bytes(of_id(2), damaged))
    assert found_in(directory.store) == []
    assert directory.store.bodies.named(first.guid) == (of_id(1),)


@pytest.mark.parametrize("broken", ["aws-moto"], indirect=True)
def test_a_pointer_of_who_lost_an_id_leads_nobody_astray(broken: Broken) -> None:
    """In a bucket it stays beside the body of who won, and is never believed."""
    guid = broken.store.bodies.get(of_id(1)).guid
    broken.store.inventory.point(of_id(2), guid)
    assert broken.store.bodies.named(guid) == (of_id(1),)
    assert found_in(broken.store) == []


def test_a_registration_under_way_is_no_orphan(directory: Broken) -> None:
    """Its body is written before its version; only after the grace it belongs to no version."""
    an_orphan(directory, ts=NOW - GRACE_MS + 1)
    assert found_in(directory.store) == []


def test_what_only_looks_wrong_for_a_moment_is_not_told(directory: Broken) -> None:
    """A tombstone comes after its commit: while it is on the way, scrub waits for it."""
    _rewritten(directory, 3, gone=False)
    clock = directory.store.clock
    assert isinstance(clock, FixedClock)

    class Arriving(FixedClock):
        def sleep(self, seconds: float) -> None:
            super().sleep(seconds)
            directory.store.bodies.bury(of_id(3))

    assert found_in(replace(directory.store, clock=Arriving())) == []


def test_a_version_that_is_purged_while_we_look_is_not_missed(directory: Broken) -> None:
    """The journal told of it when it was read; by the time its row is looked for, it is rightly gone."""
    with closing(ScratchDatabase(RELATIONS)) as scratch:
        scrub.gather(directory.store, scratch)
        scratch.fill("told", [(99, "address", "nobody", 1, 1), (98, TEAM.context, "later", 1, 1)])
        registry = registry_of(directory.store)
        later = Subject(TEAM.context, "later")
        registry.register(later, Draft(a_text("Team")))
        registry.delete_subject(later)
        registry.delete_subject(later, permanent=True)
        assert list(scrub.confirmed(directory.store, scrub.suspects(scratch, ["JOURNAL_AHEAD"]))) == []


@pytest.mark.parametrize("ids", [20, pytest.param(200, marks=pytest.mark.soak)])
def test_nothing_false_is_told_while_others_write(tmp_path: Path, ids: int) -> None:
    """Registrations, soft and hard deletes in a second thread, scrub in this one, again and again."""
    with in_a_directory(tmp_path / "data") as busy:
        stop = threading.Event()
        failures: list[BaseException] = []
        writer = threading.Thread(target=_write_until, args=(busy, stop, failures))
        writer.start()
        try:
            store = replace(busy.store, clock=SystemClock())
            told: list[Flaw] = []
            while writer.is_alive() and store.catalog.max_id(DEFAULT_CONTEXT) < ids:
                told += found_in(store)
        finally:
            stop.set()
            writer.join()
        assert not failures
        assert [flaw for flaw in told if KINDS[flaw.kind].severity is not Severity.INFO] == []


def _write_until(busy: Broken, stop: threading.Event, failures: list[BaseException]) -> None:
    registry, number = registry_of(busy.store), 0
    try:
        while not stop.is_set():
            number += 1
            subject = Subject(DEFAULT_CONTEXT, f"busy-{number % 7}")
            registry.register(subject, Draft(a_text(f"Busy{number}")), force=True)
            if number % 3 == 0:
                registry.delete_subject(subject)
                registry.delete_subject(subject, permanent=True)
    except BaseException as failure:
        failures.append(failure)
        raise


def test_ids_that_no_version_holds_are_listed(broken: Broken) -> None:
    """For who was promoted by force: what was deleted for good is one of them, and a registration that was cut off."""
    inventory = broken.store.inventory
    assert [key.id for key in inventory.unheld()] == [3]
    orphan = an_orphan(broken, ts=NOW)
    looked_at: list[int] = []
    assert [*inventory.unheld(lambda _, done, __=0, /: looked_at.append(done))] == [of_id(3), orphan]
    assert looked_at in ([], [len([*inventory.bodies()])])
