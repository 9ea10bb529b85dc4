import threading
from pathlib import Path

import pytest

from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from sigla.auth.uses import KeyUses, read_day
from sigla.errors import StoreError
from sigla.ports.clock import day_of
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.build import NOW, FixedClock
from tests.unit.auth.test_credentials import basic


class Notes(EmbeddedKeys):
    """Keys in a directory. open: notes wait until it is set. failing: they cannot be written."""

    def __init__(self, root: Path) -> None:
        super().__init__(root)
        self.noted: list[tuple[str, str]] = []
        self.open = threading.Event()
        self.open.set()
        self.failing = False

    def note_use(self, name: str, day: str) -> None:
        self.open.wait(10)
        if self.failing:
            raise StoreError("the disk is full")
        self.noted.append((name, day))
        super().note_use(name, day)


@pytest.fixture
def keys(tmp_path: Path) -> Notes:
    return Notes(tmp_path)


def test_a_use_is_noted_once_a_day(keys: Notes) -> None:
    """An owner wants to know which keys may go, and not to pay for each request."""
    clock = FixedClock()
    uses = KeyUses(keys, clock)
    for _ in range(3):
        for _ in range(100):
            uses("orders")
        clock.time += 86_400_000
    uses._thread.shutdown()
    assert keys.noted == [("orders", day_of(NOW + day * 86_400_000)) for day in range(3)]


def test_no_request_waits_for_a_note(keys: Notes) -> None:
    """A slow or silent store delays no answer."""
    clock = FixedClock()
    uses = KeyUses(keys, clock)
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW)
    keys.open.clear()
    assert BasicKeys(keys, clock, used=uses)(basic("orders", secret))
    assert keys.noted == []
    keys.open.set()
    uses.close()
    assert keys.last_uses() == {"orders": day_of(NOW)}


def test_a_note_that_fails_is_told_once_a_day_and_fails_no_request(keys: Notes) -> None:
    clock = FixedClock()
    told: list[dict[str, object]] = []
    uses = KeyUses(keys, clock, told.append)
    keys.failing = True
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW)
    who = BasicKeys(keys, clock, used=uses)
    for _ in range(5):
        assert who(basic("orders", secret))
        clock.time += 60_000
    uses._thread.shutdown()
    message = "That the key orders was used today is not noted, because the disk is full."
    assert told == [{"event": "key-use", "key": "orders", "message": message}]


def test_what_ends_does_not_wait_for_notes_that_have_not_begun(keys: Notes) -> None:
    clock = FixedClock()
    uses = KeyUses(keys, clock)
    keys.open.clear()
    for each in range(1000):
        uses(f"key-{each}")
    threading.Timer(0.05, keys.open.set).start()
    uses.close()
    assert len(keys.noted) <= 1


@pytest.mark.parametrize(
    "note",
    [b"", b"{", b"[]", b"[" * 100_000, b'{"form": 1}', b'{"form": 1, "day": 5}', b'{"form": 2, "day": "2026-11-30"}'],
)
def test_what_is_no_note_says_no_day(note: bytes) -> None:
    assert read_day(note) == ""
