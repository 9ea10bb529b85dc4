import base64
import json
from collections.abc import Iterator, Mapping
from collections.abc import Set as AbstractSet
from datetime import UTC, datetime
from pathlib import Path

import pytest

from sigla.auth import api_keys, credentials
from sigla.auth.api_keys import NotAKey
from sigla.auth.credentials import BasicKeys
from sigla.auth.key_members import LAST_MOMENT
from sigla.auth.permissions import READ, WRITE
from sigla.errors import StoreError
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.build import NOW, FixedClock


class Kept:
    """Keys in memory, which count how often one was asked for, and may fall silent."""

    def __init__(self) -> None:
        self.records: dict[str, bytes] = {}
        self.asked = 0
        self.listed = 0
        self.silent = False

    def put(self, name: str, record: bytes) -> None:
        self.records[name] = record

    def get(self, name: str) -> bytes | None:
        self.asked += 1
        if self.silent:
            raise StoreError("silent")
        return self.records.get(name)

    def names(self) -> AbstractSet[str]:
        self.listed += 1
        return frozenset(self.records)

    def list(self) -> Iterator[tuple[str, bytes]]:
        return iter(sorted(self.records.items()))

    def state(self) -> object:
        return None

    def replace(self, name: str, seen: bytes, record: bytes) -> bool:
        if self.records.get(name) != seen:
            return False
        self.records[name] = record
        return True

    def remove(self, name: str) -> bool:
        return self.records.pop(name, None) is not None

    def note_use(self, name: str, day: str) -> None:
        raise NotImplementedError

    def last_uses(self) -> Mapping[str, str]:
        raise NotImplementedError


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
    """The header of a principal with a new key."""
    return basic(name, api_keys.create(keys, name, role, subjects, now=NOW)[1])


def test_a_key_opens_the_door_to_what_it_may(keys: Kept, who: BasicKeys) -> None:
    principal = who(a_key(keys, "orders", "writer", "orders-"))
    assert principal is not None
    assert (principal.name, principal.may) == ("orders", (READ, WRITE))
    assert who(a_key(keys, "chief", "admin")) is not None
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


@pytest.mark.parametrize("set_by", [-3_600_000, -30_000, 3_600_000])
def test_a_clock_that_is_set_gives_a_revoked_key_no_more_time(
    keys: Kept, who: BasicKeys, clock: FixedClock, set_by: int
) -> None:
    """Whoever revokes a key counts a minute, whatever the time of day becomes meanwhile."""
    header = a_key(keys)
    assert who(header)
    keys.remove("orders")
    clock.set_by = set_by
    clock.time += 60_000
    assert who(header) is None


def test_a_machine_that_slept_gives_a_revoked_key_no_more_time(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """A function may be frozen between two requests, and its steady clock with it; the time of day goes on."""
    header = a_key(keys)
    assert who(header)
    keys.remove("orders")
    clock.set_by = 60_000
    assert who(header) is None


def test_a_refused_key_is_not_remembered_for_long(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """Whoever makes the missing key can use it within five seconds, also where it was asked for in vain before."""
    secret = "s" * 43
    assert who(basic("orders", secret)) is None
    clock.time += 5_000
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
    """401 would tell its owner to look for a mistake of the owner's."""
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


def test_what_is_remembered_has_a_bound(keys: Kept) -> None:
    who = BasicKeys(keys, FixedClock(), remembered=2)
    headers = [a_key(keys, name) for name in ("a", "b", "c")]
    assert all(map(who, headers))
    assert len(who._accepted) == 2
    assert all(map(who, headers))


def test_guesses_are_not_looked_up_one_by_one(keys: Kept, who: BasicKeys) -> None:
    """Each look is a request to S3 that the owner pays for; and the right key opens the door all the same."""
    header = a_key(keys)
    for guess in range(1000):
        assert who(basic("orders", f"{guess}")) is None
        assert who(basic(f"name-{guess}", "x")) is None
    assert who(header)
    assert (keys.asked, keys.listed) == (1, 1)


def test_a_name_that_was_taken_away_is_not_looked_up_each_time(keys: Kept, who: BasicKeys) -> None:
    """In S3 its object stays, and so does its name in the list."""
    a_key(keys)
    keys.names = lambda: frozenset({"orders", "removed"})  # type: ignore[method-assign]  # as a bucket has it
    for _ in range(1000):
        assert who(basic("removed", "x")) is None
    assert keys.asked == 1


def test_guesses_leave_the_door_open_for_the_right_key_of_the_same_name(keys: Kept, who: BasicKeys) -> None:
    """Otherwise every caller could lock out a principal whose name is known."""
    header = a_key(keys)
    assert all(who(basic("orders", f"{guess}")) is None for guess in range(1000))
    assert who(header)


def test_a_key_read_for_a_guess_is_not_good_for_longer_than_a_minute(
    keys: Kept, who: BasicKeys, clock: FixedClock
) -> None:
    """Its minute begins when it was read, not when its secret came."""
    header = a_key(keys)
    assert who(basic("orders", "wrong")) is None
    keys.remove("orders")
    clock.time += 4_999
    assert who(header)
    clock.time += 55_001
    assert who(header) is None


WHOLE = {"name": "orders", "role": "reader", "subjects": ["a"], "verifier": api_keys.verifier_of("x"), "created": NOW}


@pytest.mark.parametrize(
    "record, why",
    [
        (b"", "not JSON"),
        (b"\xff", "not JSON"),
        (b"[" * 100_000, "not JSON"),
        (b'"text"', "not a JSON object"),
        (b"{}", "name"),
        ({"name": 1}, "name"),
        ({"name": "other"}, "the record of a key 'other'"),
        ({"name": "Orders"}, "the record of a key 'Orders'"),
        ({"role": "king"}, "king"),
        ({"role": ["admin"]}, "role"),
        ({"subjects": "abc"}, "its subjects is not a list of texts"),
        ({"subjects": {"a": 1}}, "subjects"),
        ({"subjects": None}, "subjects"),
        ({"subjects": [1]}, "subjects"),
        ({"subjects": [""]}, "every subject"),
        ({"subjects": ["a*"]}, "star"),
        ({"verifier": "abc"}, "SHA-256"),
        ({"verifier": api_keys.verifier_of("x").upper()}, "SHA-256"),
        ({"verifier": "ü" * 64}, "SHA-256"),
        ({"verifier": None}, "verifier"),
        ({"created": "today"}, "created"),
        ({"created": True}, "created"),
        ({"created": -1}, "created"),
        ({"created": 10**23}, "its created is not a time in milliseconds since 1970"),
        ({"subjects": ["a\nb"]}, "control characters"),
        ({"form": "2"}, "its form is not a number"),
        ({"form": 2, "role": "writer"}, "its delete is not true or false"),
        ({"role": "writer", "delete": "no"}, "its delete is not true or false"),
        ({"expires": "never"}, "its expires is not a time"),
        ({"former": {}}, "its former is not a list"),
        ({"former": [{"verifier": "x", "until": NOW}]}, "its former is not a list"),
        ({"former": [{"verifier": api_keys.verifier_of("y")}]}, "its former is not a list"),
        ({"former": [{"verifier": api_keys.verifier_of("y"), "until": NOW}] * 4}, "its former is not a list"),
    ],
    ids=str,
)
def test_a_damaged_key_opens_nothing_and_says_why(
    keys: Kept, clock: FixedClock, record: bytes | dict[str, object], why: str
) -> None:
    """A text where a list belongs would open every subject that begins with one of its letters."""
    told: list[tuple[str, str]] = []
    who = BasicKeys(keys, clock, lambda name, why: told.append((name, str(why))))
    keys.records["orders"] = record if isinstance(record, bytes) else json.dumps(WHOLE | record).encode()
    other = a_key(keys, "other")
    assert who(basic("orders", "x")) is None
    assert who(other), "and it breaks no other"
    ((name, said),) = told
    assert name == "orders"
    assert why in said


def test_a_key_of_a_newer_release_opens_nothing_and_says_what_to_install(keys: Kept, clock: FixedClock) -> None:
    """What this one does not know of may be what it must not do. To make a new one would be the wrong advice."""
    told: list[str] = []
    keys.records["orders"] = json.dumps(WHOLE | {"form": 99}).encode()
    assert BasicKeys(keys, clock, lambda _, why: told.append(why.advice))(basic("orders", "x")) is None
    assert told == ["it has form 99, written by a newer release of Sigla: install that release or a later one"]


def test_a_whole_record_is_a_key(keys: Kept, who: BasicKeys) -> None:
    """What the damaged ones are made of."""
    keys.records["orders"] = json.dumps(WHOLE).encode()
    assert who(basic("orders", "x"))


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
        ("orders", "reader", ("orders-", ""), "every subject"),
        ("orders", "reader", ("\x1b[31m",), "control characters"),
        ("orders", "reader", ("\udcff",), "UTF-8"),
    ],
)
def test_what_can_be_no_key_is_refused_in_a_sentence(
    keys: Kept, name: str, role: str, subjects: tuple[str, ...], word: str
) -> None:
    with pytest.raises(NotAKey, match=word):
        api_keys.create(keys, name, role, subjects, now=NOW)
    assert keys.records == {}


def test_a_key_made_while_a_server_runs_is_good_at_once(tmp_path: Path, clock: FixedClock) -> None:
    """By another process or by the same, and also where guesses asked for its name just before."""
    who = BasicKeys(EmbeddedKeys(tmp_path), clock)
    for name in ("orders", "payments"):
        clock.time += 10_000
        assert who(basic(name, "x")) is None
        clock.time += credentials.SETTLED_MS
        assert who(basic(name, "x")) is None
        _, secret = api_keys.create(EmbeddedKeys(tmp_path), name, "reader", (), now=NOW)
        assert who(basic(name, secret))


def test_a_key_made_in_a_bucket_while_names_are_guessed_is_good_within_five_seconds(
    keys: Kept, who: BasicKeys, clock: FixedClock
) -> None:
    """A guess must not cost a look at the bucket each time, so what was seen just before answers for a moment."""
    assert who(basic("payments", "x")) is None
    _, secret = api_keys.create(keys, "payments", "reader", (), now=NOW)
    clock.time += credentials.FRESH_MS
    assert who(basic("payments", secret))


def test_every_moment_of_a_key_can_be_shown() -> None:
    """`sigla keys list` shows when a key was made."""
    shown = datetime.fromtimestamp(LAST_MOMENT / 1000, UTC)
    assert shown.year == 9999
