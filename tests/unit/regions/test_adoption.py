"""After a promotion by force an id without a version means what its body says, and nothing else is known of it."""

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

import pytest

from sigla.errors import SchemaNamedNotFound
from sigla.model import BodyKey, SchemaId
from sigla.regions.adoption import AdoptedIds, adopted, given_before, out_since
from sigla.regions.nouns import Counter, KnownBy, RegionKind, Role
from sigla.regions.refusals import MayBeElsewhere
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_body, a_draft, a_text
from tests.unit.registry.tell import s

BEFORE, LATER = BodyKey(".", SchemaId(7)), BodyKey(".", SchemaId(150_001))
ROLE = Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a"), reconciled=False, adopts=True)


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        assert store.region.set_role(None, ROLE)
        store.bodies.put(BEFORE, a_body(a_text("Before")))
        yield store


def registry_of(store: EmbeddedStore) -> Registry:
    look = store.region.look
    is_before = given_before(look)
    catalog = AdoptedIds(store.catalog, store.bodies, is_before, is_out=out_since(look), buried=store.inventory.buried)
    return Registry(catalog, store.bodies, FixedClock())


def test_an_id_of_before_is_read_and_given_again_for_the_same_text(store: EmbeddedStore) -> None:
    registry = registry_of(store)
    assert registry.schema_by_id(BEFORE.id).schema.text == a_text("Before")
    assert registry.register(s("later"), a_draft(a_text("Before"))).id == BEFORE.id
    assert registry.register(s("other"), a_draft(a_text("Other"))).id == 100_001


def test_the_body_of_an_adopted_id_stays_as_the_region_that_follows_has_it(store: EmbeddedStore) -> None:
    """No replay of a server sleeps that could replace it."""
    before = store.bodies.get(BEFORE)
    assert registry_of(store).register(s("later"), a_draft(a_text("Before"))).id == BEFORE.id
    assert store.bodies.get(BEFORE) == before


def test_an_id_of_before_is_read_where_the_other_region_was_opened_by_force_as_well(store: EmbeddedStore) -> None:
    """The later epoch of both gives ids. Its ceiling here is not that of this region."""
    assert store.region.raise_for(".", ROLE.epoch + 1, None, SchemaId(300_000))
    assert registry_of(store).schema_by_id(BEFORE.id).schema.text == a_text("Before")


@pytest.mark.parametrize("is_handed", [False, True])
def test_an_id_that_an_import_has_brought_means_something_only_where_it_was_handed_over(
    store: EmbeddedStore, *, is_handed: bool
) -> None:
    """Else it may be of an import that was refused here, and mean something else in the other region."""
    brought, body = BodyKey(".", SchemaId(8)), a_body(a_text("Brought"), brought=True)
    store.bodies.put(brought, body)
    marks = {(brought, body.guid, "")} if is_handed else set()
    is_before = given_before(store.region.look)
    catalog = AdoptedIds(store.catalog, store.bodies, is_before, is_marked=lambda *one: one in marks)
    registry = Registry(catalog, store.bodies, FixedClock())
    if is_handed:
        assert registry.schema_by_id(brought.id).schema == body.schema
    else:
        with pytest.raises(SchemaNamedNotFound):
            registry.schema_by_id(brought.id)
    assert (registry.register(s("later"), a_draft(a_text("Brought"))).id == brought.id) == is_handed
    assert registry.schema_by_id(BEFORE.id).id == BEFORE.id, "one that was drawn"


@pytest.mark.parametrize("id, is_back, told", [(1, False, ""), (1, True, ".a"), (100_001, False, ".a"), (9, False, "")])
def test_what_an_id_means_in_another_context_is_not_told_where_the_lost_region_may_have_given_it(
    store: EmbeddedStore, id: int, told: str, *, is_back: bool
) -> None:
    """The last commits of a subject were lost: a namesake's schema would decode its records wrongly."""
    registry = registry_of(store)
    store.region.set_role(store.region.role(), replace(ROLE, reconciled=True))
    registry.change_mode(s(":.a:orders"), "IMPORT")
    for each in (1, 100_001):
        registry.register(s(":.a:orders"), a_draft(a_text(f"A{each}"), id=each, version=each))
    store.region.set_role(store.region.role(), replace(ROLE, reconciled=is_back))
    ask = partial(registry.schema_by_id, SchemaId(id), subject=s("orders"))
    if told:
        assert ask().subject == s(":.a:orders")
    else:
        with pytest.raises(MayBeElsewhere):
            ask()
    assert registry.schema_by_id(SchemaId(1), subject=s(":.a:orders")).schema.text == a_text("A1")
    store.bodies.put(BodyKey(".", SchemaId(1)), a_body(a_text("Lost"), subject=s("orders")))
    if not is_back:
        assert registry.schema_by_id(SchemaId(1), subject=s("orders")).schema.text == a_text("Lost")


def test_what_was_not_committed_since_means_nothing(store: EmbeddedStore) -> None:
    """Its counter has begun: ids from there on are those of this epoch."""
    assert store.region.set_counter(".", None, Counter(SchemaId(150_000), SchemaId(200_000), 2, SchemaId(100_001)))
    store.bodies.put(LATER, a_body(a_text("Later")))
    with pytest.raises(SchemaNamedNotFound):
        registry_of(store).schema_by_id(LATER.id)
    assert registry_of(store).schema_by_id(BEFORE.id).id == BEFORE.id


@pytest.mark.parametrize("why", ["a tombstone", "promoted by plan"])
def test_other_ids_without_a_version_mean_nothing(store: EmbeddedStore, why: str) -> None:
    """A tombstone of which the catalog knows nothing is of what was refused here: the lost region may have that id."""
    if why == "a tombstone":
        store.bodies.bury(BEFORE)
    else:
        role = store.region.role()
        assert store.region.set_role(role, Role(2, RegionKind.PRIMARY, peer=KnownBy(url="http://a")))
    with pytest.raises(MayBeElsewhere if why == "a tombstone" else SchemaNamedNotFound):
        registry_of(store).schema_by_id(BEFORE.id)


def test_what_was_deleted_for_good_is_given_no_more_and_means_what_it_did_before_its_tombstone_came(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its body would stand just so where an import brought it back. The same text gets an id of its own, at once."""
    registry = registry_of(store)
    assert registry.register(s("later"), a_draft(a_text("Before"))).id == BEFORE.id
    with monkeypatch.context() as silent:
        silent.setattr(store.bodies, "bury", lambda _: None)
        registry.delete_subject(s("later"))
        registry.delete_subject(s("later"), permanent=True)
    assert registry.schema_by_id(BEFORE.id).schema.text == a_text("Before")
    assert registry.register(s("later"), a_draft(a_text("Before"))).id == 100_001


def test_people_are_told_which_ids_have_no_version(store: EmbeddedStore) -> None:
    gone = BodyKey(".", SchemaId(8))
    store.bodies.put(gone, a_body(a_text("Gone")))
    store.bodies.bury(gone)
    registry = registry_of(store)
    registry.register(s("held"), a_draft(a_text("Held")))
    (told,) = adopted(store.inventory.unheld(), store.bodies)
    assert told.startswith("Id 7 was registered for ")
    registry.register(s("later"), a_draft(a_text("Before")))
    assert not [*adopted(store.inventory.unheld(), store.bodies)]
