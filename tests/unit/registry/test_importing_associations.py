"""Associations, brought from another registry: from its topic, beside their subjects."""

from collections.abc import Iterator

import orjson
import pytest

from sigla import journal
from sigla.associations import records as forms
from sigla.associations.nouns import STRONG, WEAK, Association, Resource
from sigla.journal.replay import State, TopicRecord, replayed
from sigla.model import Draft, Subject
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.exporting import standing
from sigla.upkeep.importing import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, import_state, rehearsal
from sigla.upkeep.importing import associations as importing
from tests.attack.associations import GONE_WITH_TOPIC, STRONG_ORDERS, WEAK_ORDERS
from tests.attack.stories import ONE
from tests.build import FixedClock
from tests.unit.journal.topic import schema, topic

ORDERS, OWN = Subject(".", "orders"), Subject(".lkc", "t-value")


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


def over(store: EmbeddedStore) -> Registry:
    return Registry(store.catalog, store.bodies, FixedClock())


def an_association(subject: Subject = ORDERS, lifecycle: str = WEAK, id: str = "id-1", name: str = "t") -> Association:
    return Association(subject, "guid", Resource(name, "lkc", id), "value", lifecycle, 5, 5)


def state(*associations: Association | None, of: Association | None = None) -> State:
    """After the schemas of both subjects, of which one is in its context. None: `of` goes."""
    told = [schema("orders", 1, 1), schema(":.lkc:t-value", 1, 1)]
    pairs = [(forms.key(one or of or an_association()), forms.value(one) if one else None) for one in associations]
    written = [(orjson.dumps(key), None if value is None else orjson.dumps(value)) for key, value in pairs]
    more = [TopicRecord(key, value, 100 + at, 100 + at) for at, (key, value) in enumerate(written)]
    return replayed([*topic(*told), *more])


def test_an_association_comes_with_its_times(store: EmbeddedStore) -> None:
    """As the topic tells them: created when it was written first, whatever was written over it (ASC-14)."""
    report = import_state(over(store), state(an_association(), an_association()))
    assert (report.of(IMPORTED)["association"], report.is_complete) == (1, True)
    (one,) = store.catalog.associations_of_subject(ORDERS)
    assert (one.guid, one.resource.id, one.created, one.updated) == ("guid", "id-1", 100, 101)
    assert import_state(over(store), state(an_association())).of(IDENTICAL)["association"] == 1


def test_an_association_that_is_gone_does_not_come(store: EmbeddedStore) -> None:
    """A null under its key takes it away."""
    import_state(over(store), state(an_association(), None))
    assert list(store.catalog.associations_named()) == []


def test_no_strong_association_comes_without_its_subject(store: EmbeddedStore) -> None:
    """Nothing would ever take it away with its topic; in a rehearsal its subject counts as come."""
    lonely = an_association(Subject(".lkc", "u-value"), STRONG, name="u")
    whole = an_association(OWN, STRONG, id="id-2")
    registry = over(store)
    with EmbeddedStore() as imagined:
        rehearsed = import_state(rehearsal(registry, imagined.bodies), state(lonely, whole))
    report = import_state(registry, state(lonely, whole))
    assert rehearsed.of(IMPORTED)["association"] == report.of(IMPORTED)["association"] == 1
    assert report.of(SKIPPED) == rehearsed.of(SKIPPED) == {"association": 1}
    assert report.lost == {importing.NO_SUBJECT: 1}
    assert list(store.catalog.associations_named()) == [*store.catalog.associations_of_subject(OWN)]


def test_an_association_does_not_come_to_a_subject_that_is_soft_deleted(store: EmbeddedStore) -> None:
    """Its versions could be purged one by one, and the association would stay without a subject."""
    registry = over(store)
    registry.register(ORDERS, Draft(ONE))
    registry.delete_subject(ORDERS)
    report = import_state(registry, State(associations=(an_association(),)))
    assert report.of(SKIPPED) == {"association": 1}
    assert list(store.catalog.associations_named()) == []


@pytest.mark.parametrize(
    "other, why",
    [
        (an_association(OWN), importing.OTHER_ASSOCIATION),
        (an_association(id="id-2"), importing.OWNED),
        (an_association(ORDERS, STRONG, id="id-3", name="u"), importing.OWNED),
    ],
)
def test_what_contradicts_what_stands_is_told(store: EmbeddedStore, other: Association, why: str) -> None:
    """Nothing that stands is overwritten, and no subject is owned that others use."""
    import_state(over(store), state(an_association()))
    report = import_state(over(store), state(other))
    assert report.of(CONFLICTING) == {"association": 1}
    assert [why for _, why in report.reasons] == [why]


@pytest.mark.parametrize("compacted", [True, False])
def test_what_is_exported_comes_to_the_same_state(store: EmbeddedStore, *, compacted: bool) -> None:
    """From the journal and from what stands; a topic that is gone takes its subject along."""
    registry = over(store)
    for verb in (*WEAK_ORDERS, *STRONG_ORDERS, *GONE_WITH_TOPIC):
        verb(registry)
    rows = (row for _, row in store.journal.read())
    told = standing(store.catalog, store.bodies) if compacted else journal.records(rows, store.bodies)
    records = [TopicRecord(key, value, ts, offset) for offset, (key, value, ts) in enumerate(told)]
    with EmbeddedStore() as copy:
        assert import_state(over(copy), replayed(records)).is_complete
        assert list(copy.catalog.associations_named()) == list(store.catalog.associations_named())
        assert len(list(copy.catalog.associations_named())) == 2
