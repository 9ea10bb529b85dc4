"""`sigla init` at its core: what is new gets an identity, what may be foreign does not, unless it is meant."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import Any, cast

import pytest

from sigla.errors import BodyMissing, StoreError
from sigla.model import Body, BodyKey, SchemaId
from sigla.ports.bodies import Bodies
from sigla.ports.inventory import Inventory
from sigla.ports.marks import Marks
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.claiming import InTheWay, NotClaimed, claim, differing
from tests.build import FixedClock, MemoryMark, StoreOf
from tests.unit.registry.tell import ONE, THREE, TWO, register, s

Held = dict[str, list[str]]
"""Schemas by the subject that they are registered under."""

OURS, THEIRS = "a" * 32, "b" * 32


@dataclass
class Pair:
    """A table and a bucket, in use or new."""

    held: StoreOf
    table: MemoryMark
    bucket: MemoryMark

    @property
    def borne(self) -> tuple[str, str]:
        return self.table.identity, self.bucket.identity


@dataclass
class Apart:
    """An `Inventory`: what the table of one store knows, and the bodies of another."""

    table: Inventory
    bucket: Inventory

    def __getattr__(self, name: str) -> Any:
        return getattr(self.bucket if name in ("bodies", "pointers") else self.table, name)


@dataclass
class Without:
    """Bodies without one of them."""

    lost: BodyKey
    behind: Bodies

    def get(self, key: BodyKey) -> Body:
        if key == self.lost:
            raise BodyMissing(key)
        return self.behind.get(key)


@dataclass
class Shelf:
    opened: ExitStack = field(default_factory=ExitStack)

    def store(self, *schemas: str, subject: str = "orders") -> EmbeddedStore:
        """One in which these were registered."""
        store = self.opened.enter_context(EmbeddedStore())
        registry = Registry(store.catalog, store.bodies, FixedClock())
        for number, schema in enumerate(schemas):
            register(registry, f"{subject}{number or ''}", schema)
        return store

    def pair(self, *, table_used: bool, bucket_used: bool, table: str = "", bucket: str = "") -> Pair:
        """Two that were used were used together."""
        behind = self.store(*[ONE] * bucket_used)
        other = behind if table_used == bucket_used else self.store(*[ONE] * table_used)
        return self.together(other, behind, table, bucket)

    def together(self, first: EmbeddedStore, second: EmbeddedStore, table: str = "", bucket: str = "") -> Pair:
        """The table of the first and the bucket of the second."""
        marks = MemoryMark("table", "t", table), MemoryMark("bucket", "b", bucket)
        inventory = cast("Inventory", Apart(first.inventory, second.inventory))
        held = StoreOf(first.catalog, second.bodies, first.journal, inventory, FixedClock(), Marks(*marks))
        return Pair(held, *marks)


@pytest.fixture
def shelf() -> Iterator[Shelf]:
    made = Shelf()
    with made.opened:
        yield made


@pytest.mark.parametrize("used", [False, True], ids=["new", "of a release without identities"])
def test_both_are_given_one_and_once(shelf: Shelf, *, used: bool) -> None:
    """A registry that is in use is claimed without a fuss; repeating it changes nothing."""
    pair = shelf.pair(table_used=used, bucket_used=used)
    assert claim(pair.held, OURS)
    assert pair.borne == (OURS, OURS)
    assert not claim(pair.held, OURS)
    assert pair.borne == (OURS, OURS)


@pytest.mark.parametrize("used", [False, True], ids=["new", "in use together"])
@pytest.mark.parametrize("table, bucket", [(OURS, ""), ("", OURS)])
def test_what_was_cut_off_is_finished(shelf: Shelf, table: str, bucket: str, *, used: bool) -> None:
    """By saying it again: no operator has to insist."""
    pair = shelf.pair(table_used=used, bucket_used=used, table=table, bucket=bucket)
    assert claim(pair.held, OURS)
    assert pair.borne == (OURS, OURS)


def test_what_is_cut_off_leaves_ids_that_can_be_read(shelf: Shelf) -> None:
    """The bucket comes first: one that bears nothing is not believed beside a table of ours."""
    pair = shelf.pair(table_used=True, bucket_used=True)

    class Silent(MemoryMark):
        def write(self, identity: str, seen: str) -> bool:
            del identity, seen
            raise StoreError("DynamoDB did not answer")

    table = Silent("table", "t")
    with pytest.raises(StoreError, match="did not answer"):
        claim(replace(pair.held, marks=Marks(table, pair.bucket)), OURS)
    assert (table.identity, pair.bucket.identity) == ("", OURS)


@pytest.mark.parametrize("borne", [("", ""), (OURS, ""), ("", OURS)])
@pytest.mark.parametrize(
    "in_the_table, in_the_bucket, why",
    [
        ({"orders": [ONE]}, {"orders": [TWO]}, "Version 1 of orders has id 1, and the body of that id is another"),
        ({"orders": [TWO, ONE]}, {"orders": [TWO, THREE]}, "Version 1 of orders1 has id 2, and the body"),
        ({":.c:orders": [ONE]}, {"orders": [ONE]}, "There are bodies, and none of the newest versions has its own"),
    ],
    ids=["another schema", "the same only at first", "other ids"],
)
def test_two_in_use_that_do_not_belong_together_are_not_claimed(
    shelf: Shelf, in_the_table: Held, in_the_bucket: Held, why: str, borne: tuple[str, str]
) -> None:
    """Ids of the one would be told with schemas of the other, and readers would decode with them."""
    one, other = (
        shelf.store(*schemas, subject=subject)
        for held in (in_the_table, in_the_bucket)
        for subject, schemas in held.items()
    )
    pair = shelf.together(one, other, *borne)
    with pytest.raises(NotClaimed, match=why):
        claim(pair.held, OURS)
    assert pair.borne == borne
    assert claim(pair.held, OURS, meant=True)
    assert pair.borne == (OURS, OURS)


def test_a_body_that_was_lost_is_no_reason_to_doubt_the_others(shelf: Shelf) -> None:
    """A scrub puts it right; operators should not learn to insist because of it."""
    store = shelf.store(ONE, TWO)
    held = shelf.together(store, store).held
    assert claim(replace(held, bodies=cast("Bodies", Without(BodyKey(".", SchemaId(1)), store.bodies))), OURS)


def test_what_its_owner_emptied_is_claimed(shelf: Shelf) -> None:
    """All was deleted for good: the table has no version, and remembers which ids it had."""
    store = shelf.store(ONE)
    registry = Registry(store.catalog, store.bodies, FixedClock())
    for permanent in (False, True):
        registry.delete_subject(s("orders"), permanent=permanent)
    assert claim(shelf.together(store, store).held, OURS)


def test_a_table_that_only_counted_so_far_is_not_that_of_any_bucket(shelf: Shelf) -> None:
    """It gave out numbers, and no version ever had one of them."""
    pair = shelf.together(shelf.store(), shelf.store(ONE))
    pair.held.catalog.raise_counter(".", SchemaId(9))
    with pytest.raises(NotClaimed, match="the catalog never had a version of theirs"):
        claim(pair.held, OURS)


@pytest.mark.parametrize("table, bucket", [(THEIRS, ""), ("", THEIRS), (THEIRS, THEIRS), (OURS, THEIRS)])
@pytest.mark.parametrize("used", [False, True])
def test_what_is_anothers_is_left_to_it(shelf: Shelf, table: str, bucket: str, *, used: bool) -> None:
    """The sentence names both identities; whoever means it may insist."""
    pair = shelf.pair(table_used=used, bucket_used=used, table=table, bucket=bucket)
    with pytest.raises(NotClaimed, match=f"has the identity {THEIRS}.*and not {OURS}"):
        claim(pair.held, OURS)
    assert pair.borne == (table, bucket)
    assert claim(pair.held, OURS, meant=True)
    assert pair.borne == (OURS, OURS)


@pytest.mark.parametrize(
    "table_used, bucket_used, table, bucket",
    [
        pytest.param(False, True, "", OURS, id="a new table beside the old bucket"),
        pytest.param(False, True, "", "", id="the same, of a release without identities"),
        pytest.param(True, False, OURS, "", id="a new bucket beside the old table"),
        pytest.param(True, False, "", "", id="the same, of a release without identities"),
    ],
)
def test_what_may_be_a_mistake_is_not_blessed(
    shelf: Shelf, table_used: bool, bucket_used: bool, table: str, bucket: str
) -> None:
    """From an empty table ids would be given out from 1 again; records in Kafka bear them already."""
    pair = shelf.pair(table_used=table_used, bucket_used=bucket_used, table=table, bucket=bucket)
    with pytest.raises(NotClaimed):
        claim(pair.held, OURS)
    assert pair.borne == (table, bucket)
    assert claim(pair.held, OURS, meant=True)
    assert pair.borne == (OURS, OURS)


def test_a_table_restored_from_its_backup_needs_nothing(shelf: Shelf) -> None:
    """Its identity comes along."""
    pair = shelf.pair(table_used=True, bucket_used=True, table=OURS, bucket=OURS)
    assert not claim(pair.held, OURS)


def test_of_two_who_claim_at_once_one_is_told(shelf: Shelf) -> None:
    """Neither writes over the other."""
    pair = shelf.pair(table_used=False, bucket_used=False)

    class Overtaken(MemoryMark):
        def write(self, identity: str, seen: str) -> bool:
            self.identity = self.identity or THEIRS
            return super().write(identity, seen)

    marks = Marks(pair.table, Overtaken("bucket", "b"))
    with pytest.raises(InTheWay, match="bucket b"):
        claim(replace(pair.held, marks=marks), OURS)
    assert (pair.table.identity, marks.bodies.read()) == ("", THEIRS)


def test_a_table_and_a_bucket_of_two_deployments_are_told_apart(shelf: Shelf) -> None:
    """Whoever names them for an import has mixed them up. One that bears nothing may be new."""
    for table, bucket in ((OURS, OURS), ("", OURS), (OURS, ""), ("", "")):
        assert differing(Marks(MemoryMark("table", "t", table), MemoryMark("bucket", "b", bucket))) == ""
    told = differing(Marks(MemoryMark("table", "t", OURS), MemoryMark("bucket", "b", THEIRS)))
    assert told == (
        f"The table t has the identity {OURS} and the bucket b has the identity {THEIRS}: "
        "they are of different deployments."
    )
