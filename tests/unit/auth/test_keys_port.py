"""What every place for keys promises (`sigla.auth.api_keys.Keys`). A new adapter is a row of ADAPTERS."""

import os
from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager, closing, contextmanager
from pathlib import Path

import pytest

from sigla.auth.api_keys import Keys, KeyTaken
from sigla.errors import StoreError
from sigla.stores.clock import SystemClock
from sigla.stores.s3.api_keys import AwsKeys
from sigla.stores.s3.objects import Objects
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.contract.engines import BUCKET, in_process


@contextmanager
def in_a_directory(folder: Path) -> Iterator[Keys]:
    yield EmbeddedKeys(folder)


@contextmanager
def in_a_bucket(_folder: Path) -> Iterator[Keys]:
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=SystemClock())) as objects:
        yield AwsKeys(objects)


ADAPTERS: Mapping[str, Callable[[Path], AbstractContextManager[Keys]]] = {
    "embedded": in_a_directory,
    "s3": in_a_bucket,
}


@pytest.fixture(params=ADAPTERS)
def keys(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Keys]:
    with ADAPTERS[request.param](tmp_path) as keys:
        yield keys


def test_a_key_is_kept_as_it_was_put(keys: Keys) -> None:
    keys.put("orders", b"one")
    assert keys.get("orders") == b"one"


def test_a_key_that_is_not_there_is_none(keys: Keys) -> None:
    """And one that was never anywhere, where no key was ever put."""
    assert keys.get("orders") is None
    assert list(keys.list()) == []
    assert keys.names() == frozenset()
    assert keys.remove("orders") is False


def test_a_name_is_given_once(keys: Keys) -> None:
    """Otherwise a second key would lock out who has the first."""
    keys.put("orders", b"one")
    with pytest.raises(KeyTaken):
        keys.put("orders", b"two")
    assert keys.get("orders") == b"one"


def test_a_removed_key_is_gone_and_its_name_free(keys: Keys) -> None:
    keys.put("orders", b"one")
    assert keys.remove("orders") is True
    assert keys.get("orders") is None
    keys.put("orders", b"two")
    assert keys.get("orders") == b"two"


def test_a_key_is_replaced_by_those_who_have_seen_it(keys: Keys) -> None:
    """Two who rotate a key at a time would each lock out the clients of the other."""
    keys.put("orders", b"one")
    assert keys.replace("orders", b"one", b"two") is True
    assert keys.replace("orders", b"one", b"three") is False
    assert keys.get("orders") == b"two"


def test_a_key_that_was_revoked_meanwhile_is_not_replaced(keys: Keys) -> None:
    """It would open the registry again."""
    assert keys.replace("orders", b"one", b"two") is False
    keys.put("orders", b"one")
    keys.remove("orders")
    assert keys.replace("orders", b"one", b"two") is False
    assert keys.get("orders") is None


def test_the_day_of_a_use_is_kept_and_only_a_later_one_changes_it(keys: Keys) -> None:
    """Instances whose clocks differ note the same key."""
    assert keys.last_uses() == {}
    for day in ("2026-11-30", "2026-12-01", "2026-11-30"):
        keys.note_use("orders", day)
    assert keys.last_uses() == {"orders": "2026-12-01"}
    assert list(keys.list()) == []
    assert keys.names() == frozenset()


def test_a_note_that_cannot_be_understood_is_none(keys: Keys) -> None:
    """It is for people; the next day writes it anew."""
    for day in ("tomorrow", "2026-13-01", "20261130"):
        keys.note_use(f"key-{day}", day)
        assert f"key-{day}" not in keys.last_uses()
        keys.note_use(f"key-{day}", "2026-11-30")
        assert keys.last_uses()[f"key-{day}"] == "2026-11-30"


def test_what_changes_keys_changes_their_state(tmp_path: Path) -> None:
    """By it a guess is answered without a look at a file. A note about a use changes no key."""
    keys = EmbeddedKeys(tmp_path)
    keys.put("first", b"one")
    folder = tmp_path / "default" / "keys"

    def state_before() -> object:
        """The folder is made old first: clocks of file systems tick, and changes of one tick look alike."""
        os.utime(folder, (0, 0))
        return keys.state()

    for change in (
        lambda: keys.put("orders", b"one"),
        lambda: keys.replace("orders", b"one", b"two"),
        lambda: keys.remove("orders"),
    ):
        before = state_before()
        change()
        assert keys.state() != before
    before = state_before()
    keys.note_use("first", "2026-11-30")
    keys.replace("first", b"another", b"two")
    assert keys.state() == before


def test_keys_are_listed_by_name(keys: Keys) -> None:
    """Names that differ in case alone are two, on any file system."""
    for name in ("b", "a.b", "B", "a-1", "0"):
        keys.put(name, name.encode())
    assert list(keys.list()) == [(name, name.encode()) for name in ("0", "B", "a-1", "a.b", "b")]
    assert keys.names() == {"0", "B", "a-1", "a.b", "b"}


def test_registries_that_share_a_directory_do_not_share_keys(tmp_path: Path) -> None:
    EmbeddedKeys(tmp_path, registry="one").put("orders", b"one")
    assert EmbeddedKeys(tmp_path, registry="two").get("orders") is None


def test_nothing_but_keys_is_left_behind(tmp_path: Path) -> None:
    """Also of a key that could not be put."""
    keys = EmbeddedKeys(tmp_path)
    keys.put("orders", b"one")
    with pytest.raises(KeyTaken):
        keys.put("orders", b"two")
    assert [path.name for path in tmp_path.rglob("*") if path.is_file()] == ["orders.json"]


def test_what_cannot_be_read_is_a_failure_and_no_absence(tmp_path: Path) -> None:
    """A wrong secret and a broken disk are two things."""
    keys = EmbeddedKeys(tmp_path)
    keys.put("orders", b"one")
    folder = tmp_path / "default" / "keys"
    (folder / "broken.json").mkdir()
    with pytest.raises(StoreError):
        keys.get("broken")
    with pytest.raises(StoreError):
        keys.remove("broken")
    with pytest.raises(StoreError):
        list(keys.list())
    folder.rename(tmp_path / "elsewhere")
    folder.write_text("a file")
    with pytest.raises(StoreError):
        keys.put("more", b"one")


def test_a_key_in_s3_is_never_deleted_and_its_name_can_be_given_again() -> None:
    """The bucket's policy lets no principal delete; what was removed is an empty object."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=SystemClock())) as objects:
        keys = AwsKeys(objects, registry="one")
        keys.put("orders", b"one")
        keys.put("orders", b"one")  # the answer of the first was lost
        keys.remove("orders")
        assert list(objects.names("one/keys/")) == ["one/keys/orders"]
        assert list(keys.list()) == []
        assert keys.remove("orders") is False
        keys.put("orders", b"two")
        assert list(keys.list()) == [("orders", b"two")]
        assert AwsKeys(objects, registry="two").get("orders") is None
        assert clients.calls.read()["DeleteObject"] == 0


@pytest.mark.parametrize("stray", [b"\xff.json", b"%ff.json", b"%zz.json", b"a b.json", b".json"])
def test_a_file_that_is_no_key_keeps_nobody_out(tmp_path: Path, stray: bytes) -> None:
    """File systems know names that are not UTF-8; the list still comes."""
    keys = EmbeddedKeys(tmp_path)
    keys.put("orders", b"one")
    folder = tmp_path / "default" / "keys"
    try:
        (folder / os.fsdecode(stray)).touch()
    except OSError:
        pytest.skip("this file system has no such names")
    assert "orders" in keys.names()
    assert dict(keys.list())["orders"] == b"one"


def test_nobody_waits_for_a_pipe_among_the_keys(tmp_path: Path) -> None:
    """It would be read until a process writes into it."""
    keys = EmbeddedKeys(tmp_path)
    keys.put("orders", b"one")
    os.mkfifo(tmp_path / "default" / "keys" / "pipe.json")
    assert dict(keys.list()) == {"orders": b"one"}
