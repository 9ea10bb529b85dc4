"""`sigla init` at its core: what is new gets an identity, what may be somebody else's does not, unless it is meant."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field, replace

import pytest

from sigla.embedded.store import EmbeddedStore
from sigla.ports import Marks
from sigla.registry import Registry
from sigla.registry.claiming import InTheWay, NotClaimed, claim, differing
from sigla.registry.holdings import Holdings
from tests.build import FixedClock, MemoryMark
from tests.unit.registry.tell import register

OURS, THEIRS = "a" * 32, "b" * 32


@dataclass
class Pair:
    """A table and a bucket, in use or new."""

    held: Holdings
    table: MemoryMark
    bucket: MemoryMark

    @property
    def borne(self) -> tuple[str, str]:
        return self.table.identity, self.bucket.identity


@dataclass
class Shelf:
    opened: ExitStack = field(default_factory=ExitStack)

    def store(self, *, used: bool) -> EmbeddedStore:
        store = self.opened.enter_context(EmbeddedStore())
        if used:
            register(Registry(store.catalog, store.bodies, FixedClock()), "orders")
        return store

    def pair(self, *, table_used: bool, bucket_used: bool, table: str = "", bucket: str = "") -> Pair:
        """Two that were used were used together."""
        behind = self.store(used=bucket_used)
        catalog = (behind if table_used == bucket_used else self.store(used=table_used)).catalog
        marks = MemoryMark("table", "t", table), MemoryMark("bucket", "b", bucket)
        held = Holdings(catalog, behind.bodies, behind.journal, behind.inventory, FixedClock(), Marks(*marks))
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


@pytest.mark.parametrize("table, bucket", [(OURS, ""), ("", OURS)])
def test_what_was_cut_off_is_finished(shelf: Shelf, table: str, bucket: str) -> None:
    pair = shelf.pair(table_used=False, bucket_used=False, table=table, bucket=bucket)
    assert claim(pair.held, OURS)
    assert pair.borne == (OURS, OURS)


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
        pytest.param(True, True, "", OURS, id="a table that is in use and bears nothing"),
        pytest.param(True, True, OURS, "", id="a bucket that is in use and bears nothing"),
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

    marks = Marks(Overtaken("table", "t"), pair.bucket)
    with pytest.raises(InTheWay, match="table t"):
        claim(replace(pair.held, marks=marks), OURS)
    assert (marks.catalog.read(), pair.bucket.identity) == (THEIRS, "")


def test_a_table_and_a_bucket_of_two_deployments_are_told_apart(shelf: Shelf) -> None:
    """Whoever names them for an import has mixed them up. One that bears nothing may be new."""
    for table, bucket in ((OURS, OURS), ("", OURS), (OURS, ""), ("", "")):
        assert differing(Marks(MemoryMark("table", "t", table), MemoryMark("bucket", "b", bucket))) == ""
    told = differing(Marks(MemoryMark("table", "t", OURS), MemoryMark("bucket", "b", THEIRS)))
    assert told == (
        f"The table t has the identity {OURS} and the bucket b has the identity {THEIRS}: "
        "they are of different deployments."
    )
