"""An import that was cut off while its scope was being cleared: what is seen of it, and how it ends."""

from collections.abc import Iterator

import pytest

from sigla import keys
from sigla.errors import ImportIntoExisting, Refusal
from sigla.journal import SIGLA
from sigla.model import Search, Subject
from sigla.stores.dynamodb import imports
from sigla.stores.dynamodb.catalog import AwsCatalog
from tests.attack.aws import Store
from tests.attack.stories import config, delete, mode, register
from tests.attack.test_threads import order
from tests.attack.world import Verb, World
from tests.contract.aws import Account
from tests.unit.aws.checking import check, settle
from tests.unit.aws.faults import Fault, Faults, Killed, no_fault

EU = ":.eu:"
BEGIN = mode(EU, "IMPORT")
AT_ONCE, MANY = 2, 3
"""Subjects of one part and of all."""

LATE = 2**62


@pytest.fixture(scope="module")
def faults(moto: Account) -> Faults:
    return Faults(moto.clients.dynamodb)


@pytest.fixture
def world(moto: Account, monkeypatch: pytest.MonkeyPatch) -> Iterator[World]:
    """A context with nothing but soft-deleted subjects, which was READWRITE by its own setting."""
    monkeypatch.setattr(imports, "AT_ONCE", AT_ONCE)
    subjects = [f":.eu:s{number:02}" for number in range(MANY)]
    before = [verb for subject in subjects for verb in (register(subject, order(0)), delete(subject))]
    with World(*before, mode(EU, "READWRITE"), store=Store(moto)) as world:
        yield world
        settle(stores_of(world).stores)
        world.check_sound()
        check(stores_of(world).stores)


def stores_of(world: World) -> Store:
    assert isinstance(world.store, Store)
    return world.store


def catalog_of(world: World) -> AwsCatalog:
    return stores_of(world).stores.catalog


def cut_off(world: World, faults: Faults, *, after: int) -> None:
    """The process ends with the commit of this number; the first is the mark, the others purge."""
    commits = (number for number, _ in enumerate(iter(int, 1), start=1))

    def plan(call: object) -> Fault | None:
        wanted = getattr(call, "operation", "") == "TransactWriteItems" and next(commits) == after
        return Fault.KILLED_AFTER if wanted else None

    faults.plan = plan
    with pytest.raises(Killed):
        BEGIN(world.registry)
    faults.plan = no_fault


def stored(world: World) -> list[Subject]:
    return list(world.store.catalog.subjects(Search(context=".eu")))


def mode_of(world: World) -> str:
    return world.registry.mode(Subject(".eu", ""))


@pytest.mark.parametrize("after, left", [(1, MANY), (2, MANY - AT_ONCE)])
def test_whoever_asks_for_import_again_finishes_it(world: World, faults: Faults, after: int, left: int) -> None:
    cut_off(world, faults, after=after)
    assert (mode_of(world), len(stored(world))) == ("IMPORT", left)
    BEGIN(world.registry)
    assert (mode_of(world), stored(world)) == ("IMPORT", [])


def test_what_is_finished_without_being_asked_for_says_who_had_asked(world: World, faults: Faults) -> None:
    """Through any number of attempts: what was deleted for good, a principal had asked for."""
    cut_off(world, faults, after=1)
    (kept,) = world.store.principals.names(world.clock.now())
    catalog_of(world).resume_imports(before=LATE)
    own = [row for _, row in world.store.journal.read() if row["by"] == SIGLA]
    assert {row["change"] for row in own} == {"ImportBegun"}
    assert [row["via"] for row in own] == [{"way": "resumed", "asker": kept.token}] * len(own)
    settings = catalog_of(world)._tools.table.query(keys.settings_pk(stores_of(world).stores.registry))
    assert all("asker" not in item for item in settings), "it goes with the mark"


def test_nobody_needs_to_ask(world: World, faults: Faults) -> None:
    cut_off(world, faults, after=2)
    begun = world.clock.now()
    catalog_of(world).resume_imports(before=begun)
    assert stored(world), "it may still be under way"
    catalog_of(world).resume_imports(before=LATE)
    assert (mode_of(world), stored(world)) == ("IMPORT", [])


@pytest.mark.parametrize(
    "change, mode_after",
    [(config(EU, level="FULL"), "READWRITE"), (mode(EU, "READONLY"), "READONLY"), (mode(EU, "READWRITE"), "READWRITE")],
)
def test_whoever_changes_the_settings_ends_it(world: World, faults: Faults, change: Verb, mode_after: str) -> None:
    cut_off(world, faults, after=1)
    change(world.registry)
    assert mode_of(world) == mode_after
    assert len(stored(world)) == MANY
    catalog_of(world).resume_imports(before=LATE)
    assert mode_of(world) == mode_after


def test_what_came_to_life_meanwhile_is_kept_and_the_mode_taken_back(world: World, faults: Faults) -> None:
    """A registration that had looked before the mark."""
    cut_off(world, faults, after=1)
    mode(EU, "READWRITE", force=True)(world.registry)
    register(":.eu:alive", order(1))(world.registry)
    with pytest.raises(ImportIntoExisting):
        BEGIN(world.registry)
    assert mode_of(world) == "READWRITE"
    assert len(stored(world)) == MANY + 1


def test_an_import_taken_over_finds_what_is_alive(world: World, faults: Faults) -> None:
    """The mark stands, and an import has brought a schema since: the mode goes back to what it was."""
    cut_off(world, faults, after=1)
    register(":.eu:brought", order(2), id=77, version=1)(world.registry)
    with pytest.raises(Refusal):
        BEGIN(world.registry)
    assert mode_of(world) == "READWRITE"
