"""A deployment beside another one's data: ids keep their meaning, nothing is written, and no half truth is told."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla.cache.speakers import Speakers
from sigla.errors import ForeignData, StoreError
from sigla.model import LATEST, BodyKey, Draft, SchemaId, Search, Show, Version
from sigla.observe import Facts
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.marks import Marks
from sigla.ports.zones import Zone, Zones
from sigla.registry import Registry
from sigla.stores.ownership import AGAIN_MS, OwnBodies, OwnCatalog, Ownership, OwnZones
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, MemoryMark
from tests.unit.registry.tell import ALL, ONE, TWO, register, s
from tests.waiting import PATIENCE_S

OURS, THEIRS = "a" * 32, "b" * 32
ZONE = Zone("use1-az1", "us-east-1a", "https://use1-az1.example", healthy=True, checked=1)


@dataclass
class Deployment:
    """Another instance over the registry's stores, whose data bears what its marks say."""

    registry: Registry
    table: MemoryMark
    bucket: MemoryMark
    ownership: Ownership
    told: list[Facts] = field(default_factory=list)

    @property
    def looks(self) -> int:
        return self.table.looks + self.bucket.looks

    def bear(self, table: str, bucket: str) -> None:
        self.table.identity, self.bucket.identity = table, bucket


@pytest.fixture
def deployment(store: EmbeddedStore, clock: FixedClock) -> Iterator[Deployment]:
    """Id 1 is of `orders`; table and bucket bear the identity of the deployment.

    A store in memory that takes a second is well, on a machine that is busy: callers do not give up waiting for it.
    """
    register(Registry(store.catalog, store.bodies, clock), "orders", ONE)
    table, bucket = MemoryMark("table", identity=OURS), MemoryMark("bucket", identity=OURS)
    told: list[Facts] = []
    with closing(Ownership(OURS, Marks(table, bucket), clock, tell=told.append, patience_s=PATIENCE_S)) as ownership:
        catalog, bodies = OwnCatalog(store.catalog, ownership), OwnBodies(store.bodies, ownership)
        with closing(Speakers(catalog, bodies, clock, patience_s=PATIENCE_S)) as speakers:
            yield Deployment(Registry(speakers, bodies, clock), table, bucket, ownership, told)


WRITES: list[Callable[[Registry], object]] = [
    lambda registry: register(registry, "orders", TWO),
    lambda registry: register(registry, "new"),
    lambda registry: registry.delete_subject(s("orders")),
    lambda registry: registry.delete_version(s("orders"), Version(1)),
    lambda registry: registry.change_mode(s("orders"), "READONLY"),
]
OF_THE_CATALOG: list[Callable[[Registry], object]] = [
    lambda registry: registry.subjects(Search(), show=Show.ACTIVE, page=ALL),
    lambda registry: registry.versions(s("orders"), page=ALL),
    lambda registry: registry.config(s("orders"), default_to_global=True),
    lambda registry: registry.contexts(page=ALL),
    lambda registry: registry.lookup(s("orders"), Draft(ONE)),
]
"""Reads for which no body is wanted."""
OF_BOTH: list[Callable[[Registry], object]] = [
    lambda registry: registry.version(s("orders"), LATEST),
    lambda registry: registry.check(s("orders"), Draft(TWO)),
    lambda registry: registry.schemas(Search(), page=ALL),
]
READS = [*OF_THE_CATALOG, *OF_BOTH, lambda registry: registry.version(s("nobody"), LATEST)]


def refused(act: Callable[[Registry], object], registry: Registry) -> ForeignData:
    with pytest.raises(ForeignData) as told:
        act(registry)
    return told.value


def test_what_is_ours_is_looked_at_once(deployment: Deployment) -> None:
    """Warm requests cost what they did."""
    registry = deployment.registry
    assert registry.schema_by_id(SchemaId(1)).subject == s("orders")
    assert deployment.looks == 2
    for act in (*READS[:3], *WRITES[:2]):
        act(registry)
    assert (deployment.looks, deployment.told, deployment.ownership.is_foreign) == (2, [], False)


@pytest.mark.parametrize("borne", ["", THEIRS], ids=["none", "another"])
def test_nothing_is_written_to_a_foreign_table_and_its_ids_go_on(
    deployment: Deployment, store: EmbeddedStore, borne: str
) -> None:
    """An empty table would give their ids to other schemas."""
    before = list(store.journal.read())
    deployment.bear(borne, OURS)
    for act in WRITES:
        assert refused(act, deployment.registry).found == borne
    assert list(store.journal.read()) == before
    told = deployment.registry.schema_by_id(SchemaId(1))
    assert (told.subject, told.schema.text, told.deleted) == (s("orders"), ONE, None)
    assert deployment.ownership.is_foreign


def test_an_empty_list_of_a_foreign_table_is_not_told(deployment: Deployment) -> None:
    """Whoever believes that a subject is unknown registers it; whoever believes that none is there begins anew."""
    deployment.bear("", OURS)
    for act in READS:
        assert "the table orders has no identity" in str(refused(act, deployment.registry))


def test_an_id_that_no_body_means_is_not_called_unknown(deployment: Deployment) -> None:
    """404 would have readers give up records that can be read again tomorrow."""
    deployment.bear(THEIRS, OURS)
    for act in (
        lambda registry: registry.schema_by_id(SchemaId(9)),
        lambda registry: registry.schema_by_id(SchemaId(1), subject=s("payments")),
    ):
        assert refused(act, deployment.registry).found == THEIRS


def test_a_bucket_that_bears_nothing_is_believed_and_not_written_to(deployment: Deployment) -> None:
    """So a registry from before there were identities is read on until a person has claimed it."""
    deployment.bear("", "")
    assert deployment.registry.schema_by_id(SchemaId(1)).schema.text == ONE
    assert refused(WRITES[0], deployment.registry).kind == "table"


def test_a_bucket_without_an_identity_is_not_read_beside_a_table_that_is_ours(deployment: Deployment) -> None:
    """Both are claimed together, so this one is a wrong bucket: under our ids it has other schemas."""
    deployment.bear(OURS, "")
    OF_THE_CATALOG[0](deployment.registry)
    for act in (lambda registry: registry.schema_by_id(SchemaId(1)), *OF_BOTH, *WRITES):
        foreign = refused(act, deployment.registry)
        assert (foreign.kind, foreign.found) == ("bucket", "")


def test_the_first_read_of_all_is_not_told_by_a_bucket_without_an_identity(
    deployment: Deployment, store: EmbeddedStore
) -> None:
    """The table has not been asked yet: an instance that gets the wrong schema fills the zone's ring with it."""
    deployment.bear(OURS, "")
    with pytest.raises(ForeignData, match="the bucket orders has no identity"):
        OwnBodies(store.bodies, deployment.ownership).get(BodyKey(".", SchemaId(1)))


@pytest.mark.parametrize("silence", ["refuses", "waits"])
def test_a_registry_that_nobody_claimed_is_read_while_its_table_is_silent(
    deployment: Deployment, store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, silence: str
) -> None:
    """What an id means needs no table, and a client does not wait for it for long."""
    deployment.bear("", "")
    deployment.table.failure = StoreError("DynamoDB did not answer")
    ready = threading.Event()
    if silence == "waits":
        monkeypatch.setattr(deployment.table, "read", lambda: "" if ready.wait(10) else "late")
    marks = Marks(deployment.table, deployment.bucket)
    with closing(Ownership(OURS, marks, deployment.registry.clock, patience_s=0.01)) as impatient:
        told = OwnBodies(store.bodies, impatient).get(BodyKey(".", SchemaId(1)))
        assert (told.schema.text, ready.is_set()) == (ONE, False)
        ready.set()


def test_a_foreign_bucket_is_not_believed(deployment: Deployment) -> None:
    """What it has under an id is what another registry's records mean."""
    deployment.bear(OURS, THEIRS)
    for act in (lambda registry: registry.schema_by_id(SchemaId(1)), *OF_BOTH, *WRITES):
        assert refused(act, deployment.registry).kind == "bucket"


@pytest.mark.parametrize("borne", ["", THEIRS], ids=["none", "another"])
@pytest.mark.parametrize("act", OF_THE_CATALOG)
def test_what_the_catalog_alone_tells_needs_no_bucket(
    deployment: Deployment, act: Callable[[Registry], object], borne: str
) -> None:
    """The table is ours, so what it lists is true; and the alarm rings all the same, before a client writes."""
    deployment.bear(OURS, borne)
    assert act(deployment.registry)
    deployment.ownership.close()
    assert deployment.ownership.is_foreign


@pytest.mark.parametrize("act", OF_THE_CATALOG)
def test_no_list_waits_for_a_bucket(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch, act: Callable[[Registry], object]
) -> None:
    """In an environment that has just begun, and S3 takes its time or says nothing: DynamoDB answers by itself."""
    ready = threading.Event()

    def wait() -> str:
        ready.wait(10)
        raise StoreError("S3 did not answer")

    monkeypatch.setattr(deployment.bucket, "read", wait)
    try:
        assert act(deployment.registry)
        assert not ready.is_set()
    finally:
        ready.set()


def test_a_person_cures_it_without_a_deployment(deployment: Deployment, clock: FixedClock) -> None:
    """It is looked at again now and then, not with every request; each look that finds it foreign is told."""
    deployment.bear("", OURS)
    for _ in range(3):
        refused(WRITES[0], deployment.registry)
    assert deployment.looks == 2
    (told,) = deployment.told
    assert (told["event"], told["store"], told["found"]) == ("foreign-data", "table", "")
    assert "sigla init" in str(told["message"])
    clock.sleep(AGAIN_MS / 1000)
    refused(WRITES[0], deployment.registry)
    assert (deployment.table.looks, deployment.bucket.looks, len(deployment.told)) == (2, 1, 2)
    deployment.bear(OURS, OURS)
    refused(WRITES[0], deployment.registry)
    clock.sleep(AGAIN_MS / 1000)
    WRITES[0](deployment.registry)
    assert not deployment.ownership.is_foreign
    assert deployment.table.looks == 3


@pytest.mark.parametrize("moved_ms", [AGAIN_MS, -AGAIN_MS], ids=["frozen", "set back"])
def test_an_environment_that_was_frozen_looks_again(deployment: Deployment, clock: FixedClock, moved_ms: int) -> None:
    """If a process was stopped for an hour one clock has not moved: a caller that claimed meanwhile need not wait."""
    deployment.bear("", OURS)
    refused(WRITES[0], deployment.registry)
    deployment.bear(OURS, OURS)
    clock.set_by = moved_ms
    WRITES[0](deployment.registry)
    assert not deployment.ownership.is_foreign


def test_silence_is_not_taken_for_another_identity(deployment: Deployment) -> None:
    """It passes by itself, and no operator is to be woken about whose the data is; the next request asks again."""
    deployment.table.failure = StoreError("DynamoDB did not answer")
    for act in (WRITES[0], READS[0]):
        with pytest.raises(StoreError, match="did not answer") as told:
            act(deployment.registry)
        assert not isinstance(told.value, ForeignData)
    assert deployment.registry.schema_by_id(SchemaId(1)).schema.text == ONE
    assert (deployment.told, deployment.ownership.is_foreign) == ([], False)
    deployment.table.failure = None
    WRITES[0](deployment.registry)


def test_ids_need_no_table_to_say_whose_they_are(deployment: Deployment) -> None:
    """While DynamoDB is silent the bucket alone tells that it is ours."""
    deployment.table.failure = StoreError("DynamoDB did not answer")
    assert deployment.registry.schema_by_id(SchemaId(1)).schema.text == ONE
    deployment.bucket.identity = THEIRS
    assert deployment.registry.schema_by_id(SchemaId(1)).schema.text == ONE, "what was ours stays ours"


def test_a_crowd_that_begins_at_once_looks_once(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each waits for the same answer, and hears none of the catalog's before it."""
    ready, read = threading.Event(), deployment.table.read

    def wait() -> str:
        ready.wait(10)
        return read()

    monkeypatch.setattr(deployment.table, "read", wait)
    with ThreadPoolExecutor(8) as crowd:
        begun = [crowd.submit(deployment.registry.version, s("orders"), LATEST) for _ in range(8)]
        assert not any(each.done() for each in begun)
        ready.set()
        assert {each.result().id for each in begun} == {1}
    assert deployment.looks == 2


class Directory:
    """A directory with one zone in it, and what its heartbeats said."""

    def __init__(self) -> None:
        self.beats: list[Zone] = []

    def beat(self, zone: Zone) -> None:
        self.beats.append(zone)

    def list(self) -> tuple[Zone, ...]:
        return (ZONE,)


def test_nobody_is_sent_to_the_zones_of_another_deployment(deployment: Deployment, clock: FixedClock) -> None:
    """Ids mean something else there. Nor is a heartbeat of ours written where others look; silence is told as such."""
    behind = Directory()
    zones = OwnZones(behind, deployment.ownership)
    deployment.bear(THEIRS, OURS)
    assert zones.list() == ()
    with pytest.raises(ForeignData):
        zones.beat(ZONE)
    deployment.table.failure = StoreError("DynamoDB did not answer")
    clock.sleep(AGAIN_MS / 1000)
    with pytest.raises(StoreError, match="did not answer"):
        zones.list()
    assert behind.beats == []
    deployment.table.failure = None
    deployment.bear(OURS, OURS)
    zones.beat(ZONE)
    assert (zones.list(), behind.beats) == ((ZONE,), [ZONE])


def test_nothing_is_remembered_of_a_catalog_that_may_turn_out_to_be_anothers(
    deployment: Deployment, store: EmbeddedStore
) -> None:
    """What was found before a table was mixed up must not be told again, whatever stands behind."""
    assert store.catalog.state is not None
    assert deployment.registry.catalog.state is None
    assert OwnCatalog(store.catalog, deployment.ownership).state is None


class Recorder:
    """Takes whatever it is asked or told, and remembers by which name."""

    def __init__(self) -> None:
        self.called: set[str] = set()

    def __getattr__(self, name: str) -> Callable[[], None]:
        return lambda: self.called.add(name)


@pytest.mark.parametrize(
    "port, own, changes",
    [
        (Catalog, OwnCatalog, {"commit", "next_id", "raise_counter"}),
        (Bodies, OwnBodies, {"put", "bury", "revive", "mend"}),
        (Zones, OwnZones, {"beat"}),
    ],
)
def test_whatever_a_port_promises_is_looked_after(
    clock: FixedClock, port: type, own: Callable[[Any, Ownership], object], changes: set[str]
) -> None:
    """Also by an environment that has just begun: it may ask before it knows, and changes nothing before that."""
    asked = {name for name, promise in vars(port).items() if callable(promise) and not name.startswith("_")}
    behind = Recorder()
    for name in asked:
        marks = Marks(MemoryMark("table", identity=THEIRS), MemoryMark("bucket", identity=THEIRS))
        with closing(Ownership(OURS, marks, clock, tell=lambda _: None)) as ownership:
            ask = getattr(own(behind, ownership), name)
            if (port, name) == (Zones, "list"):
                assert ask() == ()
            else:
                with pytest.raises(ForeignData):
                    ask()
    assert behind.called <= asked - changes
