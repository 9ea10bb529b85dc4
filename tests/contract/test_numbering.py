"""Where the ids of a context go on, on every store."""

from concurrent.futures import ThreadPoolExecutor

import pytest

from sigla.changes import ContextListed, NumberingSet
from sigla.contract import HIGHEST
from sigla.errors import IdsExhausted
from sigla.model import BodyKey, SchemaId
from sigla.regions.nouns import Counter, RegionKind, Role
from sigla.registry import Registry
from sigla.registry.steps import numbering
from sigla.stores.clock import SystemClock
from tests.build import NOW, FixedClock, a_body, a_draft, a_nonce, a_text
from tests.contract.conftest import Stores
from tests.contract.observing import refused
from tests.unit.registry.tell import s

LAST = HIGHEST
FAR = SchemaId(LAST)


@pytest.fixture
def registry(stores: Stores) -> Registry:
    return Registry(stores.catalog, stores.bodies, FixedClock())


def register(registry: Registry, name: str, subject: str = "o") -> SchemaId:
    return registry.register(s(f"{subject}-{name}"), a_draft(a_text(name))).id or SchemaId(0)


def import_far(registry: Registry, name: str = "Far", id: SchemaId = FAR, scope: str = ":.:far") -> None:
    registry.change_mode(s(scope), "IMPORT")
    registry.register(s(scope), a_draft(a_text(name), id=id, version=1))


def free(stores: Stores, after: int, context: str = ".") -> None:
    numbering.check_clear(stores.catalog, stores.bodies, BodyKey(context, SchemaId(after)))


def test_ids_go_on_elsewhere_before_an_epoch_has_given_one(stores: Stores, registry: Registry) -> None:
    """The counter of the epoch before is taken over meanwhile: that is another one than was seen."""
    assert register(registry, "A") == 1
    assert stores.region.set_role(None, Role(2, RegionKind.PRIMARY))
    numbering.continue_after(registry, ".", SchemaId(1_000_000))
    assert register(registry, "B") == 1_000_001


def test_a_context_whose_ids_are_used_up_goes_on_where_an_operator_says(stores: Stores, registry: Registry) -> None:
    """One import of the highest id must not be the end of a context."""
    assert register(registry, "A") == 1
    import_far(registry)
    with pytest.raises(IdsExhausted):
        register(registry, "B")
    assert numbering.continue_after(registry, ".", SchemaId(1)) == LAST
    assert [register(registry, name) for name in ("B", "C")] == [2, 3]
    assert registry.schema_by_id(FAR).schema.text == a_text("Far")


def test_ids_in_the_way_are_skipped_later(stores: Stores, registry: Registry) -> None:
    """A run of them, what is gone, and what stands at the very end: each keeps its meaning."""
    import_far(registry)
    numbering.continue_after(registry, ".", SchemaId(0))
    taken = [2, 3, 4, 5, 6, 9]
    for id in taken:
        body = a_body(text=a_text(f"T{id}"))
        stores.bodies.put(BodyKey(".", SchemaId(id)), body)
    stores.bodies.bury(BodyKey(".", SchemaId(3)))
    drawn = [register(registry, name) for name in "ABCDE"]
    assert drawn[0] == 1
    assert len(set(drawn)) == 5
    assert not set(drawn) & {*taken, LAST}
    assert max(drawn) < 100, "numbering does not leap to the end"


def test_bodies_of_a_table_that_was_restored_are_passed_in_one_leap(stores: Stores, registry: Registry) -> None:
    """They come in one run; whoever registers must not meet each of them."""
    for id in range(1, 40):
        stores.bodies.put(BodyKey(".", SchemaId(id)), a_body(text=a_text(f"T{id}")))
    assert register(registry, "A") == 40


def test_the_next_id_with_a_body_is_known(stores: Stores) -> None:
    """Living or gone, in its own context alone."""
    for context, id in ((".", 0), (".", 7), (".", 12), (".eu", 9)):
        stores.bodies.put(BodyKey(context, SchemaId(id)), a_body(text=a_text(f"T{id}")))
    stores.bodies.bury(BodyKey(".", SchemaId(7)))
    found = [stores.bodies.next_above(BodyKey(".", SchemaId(id))) for id in (0, 6, 7, 11, 12)]
    assert found == [7, 7, 12, 12, None]
    assert stores.bodies.next_above(BodyKey(".none", SchemaId(0))) is None


def test_numbering_goes_on_only_where_there_is_room(stores: Stores, registry: Registry) -> None:
    """Bodies in any state count, and ids of versions whose body is lost."""
    stores.bodies.put(BodyKey(".", SchemaId(200_000)), a_body(text=a_text("Gone")))
    stores.bodies.bury(BodyKey(".", SchemaId(200_000)))
    free(stores, 200_000)
    free(stores, 99_999)
    with pytest.raises(numbering.Occupied) as found:
        free(stores, 100_000)
    assert found.value.id == 200_000
    free(stores, 100_000, ".eu")


def test_numbering_rests_on_what_was_given_out_last(stores: Stores) -> None:
    """A number drawn meanwhile must not be given out again unseen."""
    stores.catalog.next_id(".")
    refused(stores, NumberingSet(".", SchemaId(0), SchemaId(7), NOW, a_nonce()))
    stores.catalog.commit(NumberingSet(".", SchemaId(1), SchemaId(7), NOW, a_nonce()))
    assert stores.catalog.max_id(".") == 7
    stores.catalog.commit(NumberingSet(".", SchemaId(7), SchemaId(0), NOW, a_nonce()))
    assert stores.catalog.max_id(".") == 0
    stores.catalog.commit(NumberingSet(".", SchemaId(0), SchemaId(3), NOW, a_nonce()))
    assert stores.catalog.next_id(".") == 4
    stores.catalog.commit(NumberingSet(".never", SchemaId(0), SchemaId(3), NOW, a_nonce()))
    assert stores.catalog.next_id(".never") == 4
    assert ".never" not in stores.catalog.contexts()


def test_where_numbering_goes_on_is_in_the_journal(stores: Stores, registry: Registry) -> None:
    """A registry that is built from it goes on in the same place."""
    import_far(registry, scope=":.eu:far")
    numbering.continue_after(registry, ".eu", SchemaId(41))
    entries = [entry for _, row in stores.journal.read() for entry in row["entries"]]  # type: ignore[attr-defined]  # JSON
    assert entries[-1] == {"type": "NUMBERING", "context": ".eu", "after": 41}


def test_no_id_is_given_twice_while_numbering_is_set(stores: Stores) -> None:
    """Registrations that drew a number before and after meet at the bodies, which are written once."""
    registry = Registry(stores.catalog, stores.bodies, SystemClock())
    import_far(registry)
    numbering.continue_after(registry, ".", SchemaId(0))
    names = [f"R{number}" for number in range(24)]
    with ThreadPoolExecutor(4) as pool:
        drawn = [pool.submit(register, registry, name) for name in names]
        for _ in range(6):
            pool.submit(numbering.continue_after, registry, ".", SchemaId(0)).result()
        ids = [each.result() for each in drawn]
    assert len(set(ids)) == len(names)
    for name, id in zip(names, ids, strict=True):
        assert registry.schema_by_id(id).schema.text == a_text(name)


def test_counters_are_told_of_all_contexts(stores: Stores) -> None:
    assert [*stores.region.counters()] == []
    stores.catalog.commit(ContextListed(".c", NOW, a_nonce()))
    wanted = {context: Counter(SchemaId(1), SchemaId(6), 1, SchemaId(1)) for context in (".", ".c")}
    for context, counter in wanted.items():
        assert stores.region.set_counter(context, None, counter)
    assert dict(stores.region.counters()) == wanted
