"""What belongs together becomes durable together, or not at all."""

import sqlite3
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import BodyMissing, OutcomeUnknown, StoreError, Taken
from sigla.model import BodyKey, Guid, SchemaId, Search, Subject
from sigla.stores.sqlite import links
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import a_body, a_guid, a_subject, registered

ORDERS, PAYMENTS = a_subject(), a_subject("payments-value")
EVERYWHERE = Search(context=None)


class Refused(Exception):
    pass


@pytest.fixture
def store(tmp_path: Path) -> Iterator[EmbeddedStore]:
    with EmbeddedStore(tmp_path) as store:
        yield store


def register(store: EmbeddedStore, subject: Subject = ORDERS, text: str | None = None) -> SchemaId:
    """As a verb does for a new content: an id, a body, a commit."""
    id = store.catalog.next_id(subject.context)
    text = text or f"text {id}"
    store.bodies.put(BodyKey(subject.context, id), a_body(text, subject=subject))
    registered(store.catalog, subject, id=id, text=text)
    return id


def seen(store: EmbeddedStore) -> tuple[object, ...]:
    """What this thread sees of the first two ids."""
    keys = [BodyKey(".", SchemaId(id)) for id in (1, 2)]
    return (
        list(store.catalog.versions(EVERYWHERE, deleted=True, latest_only=False)),
        [store.catalog.holders(key) for key in keys],
        [store.bodies.named(a_guid(f"text {key.id}")) for key in keys],
        store.catalog.max_id("."),
        store.bodies.last("."),
        len(list(store.journal.read())),
    )


def seen_by_others(store: EmbeddedStore) -> tuple[object, ...]:
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(seen, store).result()


def test_others_see_a_group_when_it_ends(store: EmbeddedStore) -> None:
    """Its own thread sees it at once."""
    nothing = seen(store)
    with store.group():
        register(store)
        inside = seen(store)
        assert store.bodies.get(BodyKey(".", SchemaId(1))).schema.text == "text 1"
        assert inside != nothing
        assert seen_by_others(store) == nothing
    assert seen(store) == seen_by_others(store) == inside


def test_a_body_of_a_group_is_not_found_by_others_before_its_end(store: EmbeddedStore) -> None:
    """It may yet be undone."""
    with store.group(), ThreadPoolExecutor(1) as pool:
        register(store)
        with pytest.raises(BodyMissing):
            pool.submit(store.bodies.get, BodyKey(".", SchemaId(1))).result()
        assert pool.submit(store.bodies.unsettled, BodyKey(".", SchemaId(1))).result() is False
        assert store.bodies.unsettled(BodyKey(".", SchemaId(1)))


def test_a_group_that_raises_leaves_nothing(store: EmbeddedStore) -> None:
    """Bodies and drawn ids included: the next id is the same again."""
    before = seen(store)

    def fail() -> None:
        with store.group():
            register(store)
            raise Refused

    with pytest.raises(Refused):
        fail()
    assert seen(store) == before
    assert register(store, text="another") == 1


def test_a_step_is_undone_alone(store: EmbeddedStore) -> None:
    """The verbs before and after it in the group stay, and ids have no gap."""

    def fail() -> None:
        with store.step():
            register(store, PAYMENTS, "undone")
            raise Refused

    with store.group():
        with store.step():
            register(store)
        with pytest.raises(Refused):
            fail()
        assert store.bodies.named(a_guid("undone")) == ()
        with store.step():
            assert register(store, text="text 2") == 2
    assert [row.id for row in store.catalog.history(ORDERS)] == [1, 2]
    assert store.catalog.history(PAYMENTS) == ()
    assert store.bodies.get(BodyKey(".", SchemaId(2))).schema.text == "text 2"


def test_a_step_in_a_step_is_undone_with_it(store: EmbeddedStore) -> None:
    """Or alone."""

    def fail() -> None:
        with store.step():
            register(store)
            with store.step():
                register(store)
            raise Refused

    with store.group(), pytest.raises(Refused):
        fail()
    assert store.catalog.max_id(".") == 0


def test_a_step_without_a_group_is_durable_at_its_end(store: EmbeddedStore) -> None:
    """A verb need not know whether it runs in a group."""
    with store.step():
        register(store)
    assert seen_by_others(store) == seen(store)


def test_an_undone_tombstone_is_no_tombstone(store: EmbeddedStore) -> None:
    """Burying is part of the group."""
    register(store)
    key = BodyKey(".", SchemaId(1))

    def fail() -> None:
        with store.step():
            store.bodies.bury(key)
            raise Refused

    with store.group():
        with pytest.raises(Refused):
            fail()
        assert not store.bodies.get(key).gone
        store.bodies.bury(key)
        store.bodies.revive(key, a_body("text 1", nonce="first"))
        with pytest.raises(Refused):
            fail()
        assert store.bodies.get(key).nonce == "first"
        store.bodies.bury(key)
        store.bodies.revive(key, a_body("text 1", nonce="again"))
    assert store.bodies.get(key).nonce == "again"


def test_a_cache_is_told_which_bodies_were_replaced(store: EmbeddedStore) -> None:
    """After the flush, so that it cannot read the old one again."""
    register(store)
    told: list[set[BodyKey]] = []
    store.on_replaced(told.append)
    key = BodyKey(".", SchemaId(1))
    with store.group():
        register(store)
        store.bodies.bury(key)
        assert told == []
    assert told == [{key}]


@pytest.mark.parametrize("failing", ["write", "sync"])
def test_a_failing_disk_undoes_the_group(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, failing: str) -> None:
    """Everybody in the group is told; the store goes on when the disk does."""
    register(store)
    before = seen(store)

    def group() -> None:
        with store.group():
            register(store)
            store.bodies.bury(BodyKey(".", SchemaId(1)))

    with monkeypatch.context() as patch:

        def fail(*_: object) -> None:
            patch.undo()
            raise OSError(28, "No space left on device")

        patch.setattr(links.Disk, failing, fail)
        with pytest.raises(StoreError, match="No space"):
            group()
    assert seen(store) == before
    assert not store.bodies.get(BodyKey(".", SchemaId(1))).gone
    assert register(store) == 2


def test_a_flush_that_cannot_be_undone_closes_the_store_for_writing(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Reading goes on; the next opening puts the directory right."""
    register(store)

    def fail(*_: object) -> None:
        raise OSError(5, "Input/output error")

    monkeypatch.setattr(links.Disk, "sync", fail)
    with pytest.raises(StoreError, match="Input/output"), store.group():
        register(store)
    monkeypatch.undo()
    with pytest.raises(StoreError, match="open the store again"):
        register(store)
    assert len(store.catalog.history(ORDERS)) == 1
    store.close()
    with EmbeddedStore(store.path) as reopened:
        assert register(reopened, text="text 2") == 2


class TakesNothing:
    """A region that follows, to which bodies were handed over, and which has not said that it has them."""

    hands = True

    def begin(self) -> None: ...

    def end_step(self, since: int) -> None: ...

    def end_group(self) -> None:
        raise StoreError("the other region is silent")


def test_ids_that_were_handed_over_are_used_up_once_a_full_disk_has_room(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Their tombstones take room: until there is some nothing is written, and then all goes on."""
    make = links.Links.make

    def make_and_fill(*of_links: Any) -> None:
        make(*of_links)
        monkeypatch.setattr(links.Disk, "write", full)

    def full(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(store._unit, "handing", TakesNothing())
        patch.setattr(links.Links, "make", make_and_fill)
        for _ in range(2):
            with pytest.raises(StoreError, match="cannot be taken back yet"), store.group():
                register(store)
    monkeypatch.undo()
    with pytest.raises(Taken):
        register(store)
    assert store.bodies.get(BodyKey(".", SchemaId(1))).gone
    assert register(store) == 2


def test_writers_take_turns_and_readers_do_not_wait(store: EmbeddedStore) -> None:
    """A slow group does not hold up reads."""
    entered, leave = threading.Event(), threading.Event()

    def slow() -> None:
        with store.group():
            register(store)
            entered.set()
            leave.wait(10)

    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(slow)
        entered.wait(10)
        second = pool.submit(register, store)
        assert store.catalog.history(ORDERS) == ()
        assert not second.done()
        leave.set()
        first.result(10)
        assert second.result(10) == 2


def test_a_taken_body_is_seen_within_the_group_too(store: EmbeddedStore) -> None:
    """Two verbs of one group act like any two verbs."""
    with store.group():
        store.bodies.put(BodyKey(".", SchemaId(1)), a_body("a"))
        with pytest.raises(Taken):
            store.bodies.put(BodyKey(".", SchemaId(1)), a_body("b"))
    assert store.bodies.named(Guid("none")) == ()


class FailingCommit:
    """A connection whose next COMMIT fails as SQLite's would."""

    def __init__(self, connection: sqlite3.Connection, name: str) -> None:
        self.connection, self.name = connection, name

    def __getattr__(self, name: str) -> object:
        return getattr(self.connection, name)

    def execute(self, sql: str, *parameters: Any) -> sqlite3.Cursor:
        if sql == "COMMIT":
            failure = sqlite3.OperationalError("injected")
            failure.sqlite_errorname = self.name
            raise StoreError("the catalog failed: injected") from failure
        return self.connection.execute(sql, *parameters)


def failing_commit(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch, name: str) -> type[Exception]:
    """The error of a group whose commit fails."""
    database = store._unit._database
    with monkeypatch.context() as patch:
        patch.setattr(database, "writer", FailingCommit(database.writer, name))
        with pytest.raises(StoreError) as failure, store.group():
            register(store)
    return failure.type


def test_a_commit_refused_by_a_full_disk_is_undone(store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing was written, so the store goes on."""
    assert failing_commit(store, monkeypatch, "SQLITE_FULL") is StoreError
    assert register(store) == 1


def test_a_commit_of_which_nothing_is_known_is_said_to_be_unknown(
    store: EmbeddedStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The writer looks again; the store has to be opened again."""
    assert failing_commit(store, monkeypatch, "SQLITE_IOERR_FSYNC") is OutcomeUnknown
    with pytest.raises(StoreError, match="open the store again"):
        register(store)
    store.close()
    with EmbeddedStore(store.path) as reopened:
        assert register(reopened) == 1


def test_a_transaction_lost_midway_fails_the_group(store: EmbeddedStore) -> None:
    """SQLite gives up everything when it cannot write; nothing may be written on its own afterwards."""

    def lose() -> None:
        with store.step():
            store.catalog.next_id(".")
            store._unit._database.writer.execute("ROLLBACK")
            raise Refused

    def group() -> None:
        with store.group():
            with suppress(Refused):
                lose()
            register(store)

    with pytest.raises(StoreError, match="abandoned"):
        group()
    assert register(store) == 1


def test_a_closed_store_says_so_as_a_store(store: EmbeddedStore) -> None:
    """Failures of SQLite are failures of the store."""
    connection = store._unit.connection
    store.close()
    with pytest.raises(StoreError, match="closed"):
        store.catalog.history(ORDERS)
    with pytest.raises(StoreError, match="closed"):
        connection.executemany("SELECT ?", [])
