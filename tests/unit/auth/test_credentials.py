import base64
import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from sigla.auth import api_keys, credentials
from sigla.auth.api_keys import NotAKey
from sigla.auth.credentials import BasicKeys
from sigla.auth.permissions import READ, WRITE
from sigla.embedded.keys import EmbeddedKeys
from sigla.errors import StoreError
from tests.build import NOW, FixedClock


class Kept:
    """Keys in memory, which count how often one was asked for, and may fall silent."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}
        self.asked = 0
        self.silent = False

    def put(self, name: str, record: bytes) -> None:
        self.records[name] = record

    def get(self, name: str) -> bytes | None:
        self.asked += 1
        if self.silent:
            raise StoreError("silent")
        return self.records.get(name)

    def list(self) -> Iterator[bytes]:
        return iter(self.records.values())

    def remove(self, name: str) -> bool:
        return self.records.pop(name, None) is not None


@pytest.fixture
def keys() -> Kept:
    return Kept()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def who(keys: Kept, clock: FixedClock) -> BasicKeys:
    return BasicKeys(keys, clock)


def basic(name: str, secret: str) -> bytes:
    return b"Basic " + base64.b64encode(f"{name}:{secret}".encode())


def a_key(keys: Kept, name: str = "orders", role: str = "writer", *subjects: str) -> bytes:
    """The header of somebody who has a new key."""
    return basic(name, api_keys.create(keys, name, role, subjects, now=NOW)[1])


def test_a_key_opens_the_door_to_what_it_may(keys: Kept, who: BasicKeys) -> None:
    principal = who(a_key(keys, "orders", "writer", "orders-"))
    assert principal is not None
    assert (principal.name, principal.may) == ("orders", (READ, WRITE))
    assert principal.reach is not None


def test_the_scheme_is_read_in_any_case_and_blanks_do_not_matter(keys: Kept, who: BasicKeys) -> None:
    header = a_key(keys)
    assert who(header.replace(b"Basic ", b"basic  ")) is not None


@pytest.mark.parametrize(
    "header",
    [
        None,
        b"",
        b"Basic",
        b"Basic ",
        b"Basic !!!",
        b"Basic b3JkZXJz",  # no colon
        b"Basic " + base64.b64encode(b"\xff:\xff"),
        b"Bearer eyJhbGciOiJub25lIn0.e30.",
        basic("orders", ""),
        basic("orders", "wrong"),
        basic("nobody", "wrong"),
        basic("../orders", "wrong"),
        basic("", ""),
        basic("a" * 65, "wrong"),
    ],
    ids=str,
)
def test_nothing_else_opens_it(keys: Kept, who: BasicKeys, header: bytes | None) -> None:
    a_key(keys)
    assert who(header) is None


def test_the_secret_is_not_kept(keys: Kept) -> None:
    """Who steals the keys' directory has nothing to log in with; two secrets are never the same."""
    key, secret = api_keys.create(keys, "one", "reader", (), now=NOW)
    _, other = api_keys.create(keys, "two", "reader", (), now=NOW)
    assert secret.encode() not in keys.records["one"]
    assert json.loads(keys.records["one"])["verifier"] == key.verifier
    assert secret != other
    assert len(base64.urlsafe_b64decode(secret + "=")) == 32


def test_an_accepted_key_is_remembered_for_a_minute(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """A read by id must not cost a read of the key; a revoked key is good for a minute at most."""
    header = a_key(keys)
    assert who(header)
    keys.remove("orders")
    clock.time += 59_999
    assert who(header)
    assert keys.asked == 1
    clock.time += 1
    assert who(header) is None
    assert who(header) is None


def test_a_refused_key_is_never_remembered(keys: Kept, who: BasicKeys) -> None:
    """Whoever makes the missing key can use it at once."""
    secret = "s" * 43
    assert who(basic("orders", secret)) is None
    keys.records["orders"] = json.dumps(
        {
            "name": "orders",
            "role": "reader",
            "subjects": [],
            "verifier": api_keys.verifier_of(secret),
            "created": NOW,
        }
    ).encode()
    assert who(basic("orders", secret))


def test_an_accepted_key_is_honoured_while_the_store_is_silent(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """Readers go on; and the store is not asked for each of their requests."""
    header = a_key(keys)
    assert who(header)
    keys.silent = True
    clock.time += 3_600_000
    assert who(header)
    assert who(header)
    assert keys.asked == 2
    keys.silent = False
    keys.remove("orders")
    clock.time += credentials.PATIENCE_MS
    assert who(header) is None, "once the store speaks again, it decides"


def test_a_key_nobody_knows_yet_is_not_refused_by_a_silent_store(keys: Kept, who: BasicKeys) -> None:
    """401 would tell its owner to look for a mistake of his own."""
    header = a_key(keys)
    keys.silent = True
    with pytest.raises(StoreError):
        who(header)


def test_another_secret_is_not_believed_because_the_right_one_was(keys: Kept, who: BasicKeys) -> None:
    header = a_key(keys)
    assert who(header)
    assert who(basic("orders", "wrong")) is None


def test_a_header_that_is_mostly_blanks_opens_nothing(keys: Kept, who: BasicKeys) -> None:
    """Otherwise one key could be remembered under any number of long spellings."""
    assert who(a_key(keys) + b" " * credentials.LONGEST_HEADER) is None


def test_what_is_remembered_has_a_bound(keys: Kept, who: BasicKeys, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(credentials, "MOST_REMEMBERED", 2)
    headers = [a_key(keys, name) for name in ("a", "b", "c")]
    assert all(map(who, headers))
    assert len(who._accepted) == 2
    assert all(map(who, headers))


@pytest.mark.parametrize(
    "record", [b"", b"{}", b'{"name": 1}', b'"text"', b"\xff", b'{"name":"orders","role":"king","subjects":[]}']
)
def test_a_damaged_key_opens_nothing_and_is_no_wrong_secret(keys: Kept, who: BasicKeys, record: bytes) -> None:
    keys.records["orders"] = record
    with pytest.raises(StoreError):
        who(basic("orders", "x"))


@pytest.mark.parametrize(
    "name, role, subjects, word",
    [
        ("", "reader", (), "name"),
        ("a:b", "reader", (), "name"),
        (".hidden", "reader", (), "name"),
        ("a" * 65, "reader", (), "name"),
        ("a\n", "reader", (), "name"),
        ("orders", "king", (), "reader, writer, admin"),
        ("orders", "reader", ("orders-*",), "star"),
    ],
)
def test_what_can_be_no_key_is_refused_in_a_sentence(
    keys: Kept, name: str, role: str, subjects: tuple[str, ...], word: str
) -> None:
    with pytest.raises(NotAKey, match=word):
        api_keys.create(keys, name, role, subjects, now=NOW)
    assert keys.records == {}


def test_a_key_made_while_a_server_runs_is_good_at_once(tmp_path: Path, clock: FixedClock) -> None:
    """The place is looked at anew each time, by another process or by the same."""
    who = BasicKeys(EmbeddedKeys(tmp_path), clock)
    assert who(basic("orders", "x")) is None
    _, secret = api_keys.create(EmbeddedKeys(tmp_path), "orders", "reader", (), now=NOW)
    assert who(basic("orders", secret))
