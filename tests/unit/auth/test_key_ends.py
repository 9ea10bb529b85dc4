"""What a key may and until when, its secrets, and how long a refusal takes."""

import base64
import json
import sys
from dataclasses import replace
from pathlib import Path
from types import FrameType
from typing import Any

import pytest

from sigla.auth import api_keys, credentials, rotation
from sigla.auth.api_keys import NotAKey
from sigla.auth.credentials import Authenticator, BasicKeys
from sigla.auth.key_members import MOST_SECRETS
from sigla.auth.permissions import DELETE, READ, WRITE
from sigla.stores.sqlite.keys import EmbeddedKeys
from sigla.web.registries import OfRegistry, Unchosen
from tests.build import NOW, FixedClock
from tests.unit.auth.test_credentials import WHOLE, Kept, a_key, basic


@pytest.fixture
def keys() -> Kept:
    return Kept()


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def who(keys: Kept, clock: FixedClock) -> BasicKeys:
    return BasicKeys(keys, clock)


DAY_MS = 86_400_000


@pytest.mark.parametrize(
    "role, deletes, expires, form",
    [
        ("reader", False, None, 1),
        ("writer", True, None, 1),
        ("admin", False, None, 1),
        ("writer", False, None, 2),
        ("reader", False, NOW + 1, 2),
        ("admin", False, NOW + 1, 2),
    ],
)
def test_a_release_that_does_not_know_of_a_restriction_opens_nothing(
    keys: Kept, role: str, deletes: bool, expires: int | None, form: int
) -> None:
    """0.2.0 reads form 1: it would let a writer delete, and a key go on after its end. Any other key it still opens."""
    key, _ = api_keys.create(keys, "orders", role, (), now=NOW, deletes=deletes, expires=expires)
    assert json.loads(keys.records["orders"])["form"] == form
    assert api_keys.read_key("orders", keys.records["orders"]) == key


def test_a_writer_of_an_older_release_goes_on_deleting(keys: Kept, who: BasicKeys) -> None:
    """An upgrade takes no right away: it would fail the pipelines of those who delete today."""
    for form in ({}, {"form": 1}):
        keys.records["orders"] = json.dumps(WHOLE | form | {"role": "writer"}).encode()
        principal = who(basic("orders", "x"))
        assert principal is not None
        assert principal.may == (READ, WRITE, DELETE)


@pytest.mark.parametrize("deletes", [True, False])
def test_a_new_writer_deletes_if_its_key_says_so(keys: Kept, who: BasicKeys, deletes: bool) -> None:
    _, secret = api_keys.create(keys, "orders", "writer", (), now=NOW, deletes=deletes)
    principal = who(basic("orders", secret))
    assert principal is not None
    assert (DELETE in principal.may) is deletes


def test_a_reader_cannot_be_made_to_delete(keys: Kept) -> None:
    with pytest.raises(NotAKey, match="A reader cannot delete"):
        api_keys.create(keys, "orders", "reader", (), now=NOW, deletes=True)


class Told:
    """What was reported: the name, what logs call it, and why."""

    def __init__(self) -> None:
        self.lines: list[tuple[str, str, str]] = []

    def __call__(self, name: str, why: api_keys.OpensNothing) -> None:
        self.lines.append((name, why.event, str(why)))


def test_an_expired_key_opens_nothing_and_the_log_says_why(keys: Kept, clock: FixedClock) -> None:
    """The client is told what a wrong secret is told. Its owner looks into the log, which a loop must not fill."""
    told = Told()
    who = BasicKeys(keys, clock, told)
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW, expires=NOW + DAY_MS)
    header = basic("orders", secret)
    assert who(header)
    clock.time += DAY_MS
    assert [who(header) for _ in range(100)] == [None] * 100
    assert told.lines == [("orders", "expired-key", f"it expired at {api_keys.shown_moment(NOW + DAY_MS)}")]
    assert who(basic("orders", "wrong")) is None
    clock.time += credentials.TOLD_MS
    assert who(header) is None
    assert len(told.lines) == 2


def test_a_remembered_key_ends_to_the_millisecond(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """An accepted key is remembered for a minute, which must not be a minute more than it has."""
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW, expires=NOW + 10_000)
    header = basic("orders", secret)
    assert who(header)
    clock.time += 9_999
    assert who(header)
    clock.time += 1
    assert who(header) is None


def test_a_silent_store_makes_no_key_last_longer(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW, expires=NOW + 62_000)
    header = basic("orders", secret)
    assert who(header)
    keys.silent = True
    clock.time += 60_000
    assert who(header)
    clock.time += 2_000
    assert who(header) is None


def test_both_secrets_of_a_rotated_key_open_it_for_a_while(keys: Kept, clock: FixedClock) -> None:
    """Clients are moved one by one, and none is refused meanwhile."""
    told = Told()
    who = BasicKeys(keys, clock, told)
    old = a_key(keys, "orders", "writer", "orders-")
    before = who(old)
    rotated = rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS)
    new = basic("orders", rotated.secret)
    assert who(new) is None, "in a bucket what was read a moment ago answers for it"
    clock.time += credentials.FRESH_MS
    assert who(new) == before
    clock.time += DAY_MS - credentials.FRESH_MS - 1
    assert (who(old), who(new)) == (before, before)
    clock.time += 1
    assert (who(old), who(new)) == (None, before)
    ended = api_keys.shown_moment(NOW + DAY_MS)
    assert told.lines == [("orders", "expired-key", f"its secret was replaced, and ended at {ended}")]


def test_a_rotation_ends_all_secrets_before(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    """A secret that leaked ends with `--for 0`, also if it is not the last one; a later rotation prolongs none."""
    first = a_key(keys)
    second = rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS)
    third = rotation.rotate(keys, "orders", now=NOW, lasts_ms=7 * DAY_MS)
    assert [each.until - NOW for each in third.key.former] == [7 * DAY_MS, DAY_MS]
    assert all(who(each) for each in (first, basic("orders", second.secret), basic("orders", third.secret)))
    fourth = rotation.rotate(keys, "orders", now=NOW, lasts_ms=0)
    clock.time += 60_000
    assert [who(each) for each in (first, basic("orders", second.secret), basic("orders", third.secret))] == [None] * 3
    assert who(basic("orders", fourth.secret))


def test_a_key_has_only_so_many_secrets(keys: Kept) -> None:
    """Each is compared with each guess; who rotates every hour and keeps all for a year has made a mistake."""
    a_key(keys)
    for _ in range(MOST_SECRETS - 1):
        rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS)
    with pytest.raises(rotation.NotRotated, match=f"wait until {api_keys.shown_moment(NOW + DAY_MS)}, or .* --for 0"):
        rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS)
    rotation.rotate(keys, "orders", now=NOW + DAY_MS, lasts_ms=DAY_MS)


def test_a_rotation_changes_nothing_but_secrets(keys: Kept) -> None:
    """Not what the key may, nor until when, nor what a later release has written beside."""
    keys.records["orders"] = json.dumps(WHOLE | {"role": "writer", "made_by": "ada"}).encode()
    before = api_keys.read_key("orders", keys.records["orders"])
    after = rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS).key
    assert replace(after, verifier=before.verifier, former=()) == before
    assert json.loads(keys.records["orders"])["made_by"] == "ada"
    assert json.loads(keys.records["orders"])["form"] == 1


def test_an_expired_key_and_one_that_is_not_there_are_not_rotated(keys: Kept) -> None:
    """To rotate must not be a way around the end that was set."""
    api_keys.create(keys, "orders", "reader", (), now=NOW, expires=NOW + DAY_MS)
    with pytest.raises(rotation.NotRotated, match="expired at"):
        rotation.rotate(keys, "orders", now=NOW + DAY_MS, lasts_ms=DAY_MS)
    with pytest.raises(rotation.UnknownKey):
        rotation.rotate(keys, "payments", now=NOW, lasts_ms=DAY_MS)


def test_a_secret_before_ends_with_its_key(keys: Kept, who: BasicKeys, clock: FixedClock) -> None:
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW, expires=NOW + 70_000)
    rotation.rotate(keys, "orders", now=NOW, lasts_ms=DAY_MS)
    assert who(basic("orders", secret))
    clock.time += 70_000
    assert who(basic("orders", secret)) is None


def test_a_use_is_told_when_a_key_is_looked_at_and_not_with_each_request(keys: Kept, clock: FixedClock) -> None:
    used: list[str] = []
    who = BasicKeys(keys, clock, used=used.append)
    header = a_key(keys)
    assert all(who(header) for _ in range(1000))
    assert who(basic("orders", "wrong")) is None
    assert used == ["orders"]


# --- how long a refusal takes ----------------------------------------------------------------------------------------


def steps(who: Authenticator, header: bytes) -> list[str]:
    """Every call that a judgement makes, in order."""
    made: list[str] = []

    def note(frame: FrameType, event: str, called: Any) -> None:
        if event in ("call", "c_call"):
            made.append(frame.f_code.co_qualname if event == "call" else called.__qualname__)

    sys.setprofile(note)
    try:
        assert who(header) is None
    finally:
        sys.setprofile(None)
    return made


@pytest.mark.parametrize("where", ["bucket", "directory"])
def test_a_wrong_secret_takes_the_same_steps_as_an_unknown_name(
    keys: Kept, clock: FixedClock, tmp_path: Path, where: str
) -> None:
    """Otherwise the time of a refusal would tell which names there are. Also for a key that is being rotated."""
    kept: Any = keys if where == "bucket" else EmbeddedKeys(tmp_path)
    for name in ("orders", "rotated"):
        api_keys.create(kept, name, "reader", (), now=NOW)
    rotation.rotate(kept, "rotated", now=NOW, lasts_ms=DAY_MS)
    who = BasicKeys(kept, clock)
    headers = [basic(name, "s" * 43) for name in ("orders", "rotated", "nobody")]
    for _ in range(2):  # the names are listed, each record is read
        assert [who(header) for header in headers] == [None] * 3
        clock.time += credentials.SETTLED_MS
    for header in headers:
        assert who(header) is None
    orders, rotated, unknown = (steps(who, header) for header in headers)
    assert orders == rotated == unknown


def test_a_registry_that_is_not_there_refuses_in_the_steps_of_one_that_is(keys: Kept, clock: FixedClock) -> None:
    """Which registries there are is not to be found out by asking. A right secret opens none of them."""
    right = a_key(keys)
    secret = base64.b64decode(right.removeprefix(b"Basic ")).decode().partition(":")[2]
    here = OfRegistry("payments", BasicKeys(keys, clock))
    nowhere = Unchosen(here)
    for _ in range(2):
        assert here(basic("orders@payments", "guessed")) is None
        clock.time += credentials.SETTLED_MS
    known = steps(here, basic("orders@payments", "guessed"))
    for name in ("orders@paymentz", "nobody@paymentz"):
        assert steps(nowhere, basic(name, "guessed"))[2:] == known[2:]
    assert nowhere(basic("orders@paymentz", secret)) is None
    assert here(basic("orders@payments", secret)), "it was right"


def test_a_guess_at_an_unknown_name_reads_no_more_objects_than_there_are_keys(keys: Kept, clock: FixedClock) -> None:
    """In a bucket each is paid for. And it reads one when a guess at a known name would."""
    for number in range(3):
        a_key(keys, f"key-{number}")
    who = BasicKeys(keys, clock)
    assert who(basic("nobody", "guessed")) is None
    keys.asked = 0
    for guess in range(1000):
        assert who(basic(f"name-{guess}", "guessed")) is None
    assert keys.asked == 3
    asked = []
    for name in ("key-1", "nobody"):
        clock.time += credentials.FRESH_MS
        assert who(basic("another", "guessed")) is None, "the names are listed anew"
        who._found.forget(["key-0", "key-1", "key-2"])
        keys.asked = 0
        assert who(basic(name, "guessed")) is None
        asked.append(keys.asked)
    assert asked == [1, 1]


def test_another_keys_secret_opens_no_name_without_a_key(keys: Kept, clock: FixedClock) -> None:
    """It is judged by the record of a key that is there, and must not be let in by it."""
    right = a_key(keys)
    secret = base64.b64decode(right.removeprefix(b"Basic ")).decode().partition(":")[2]
    who = BasicKeys(keys, clock)
    assert [who(basic(f"name-{number}", secret)) for number in range(50)] == [None] * 50
    assert who(right)


def test_guesses_in_a_directory_are_not_read_one_by_one(tmp_path: Path, clock: FixedClock) -> None:
    """A guess looks at the folder's time alone, as long as nothing in it changes."""
    asked: list[str] = []

    class Counting(EmbeddedKeys):
        def get(self, name: str) -> bytes | None:
            asked.append(name)
            return super().get(name)

    keys = Counting(tmp_path)
    _, secret = api_keys.create(keys, "orders", "reader", (), now=NOW)
    who = BasicKeys(keys, clock)
    assert who(basic("orders", "0")) is None
    clock.time += credentials.SETTLED_MS
    for guess in range(100):
        assert who(basic("orders", f"{guess}")) is None
        assert who(basic(f"name-{guess}", "x")) is None
    assert asked == ["orders", "orders"]
    assert who(basic("orders", secret))
