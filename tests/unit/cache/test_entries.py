"""What members answer is not believed until it is looked at."""

from hypothesis import given
from hypothesis import strategies as st

from sigla.cache import entries
from sigla.cache.entries import CLOSED, Closed, Garbage, Kept, Leased

CONTENTS = st.binary(max_size=300)
NAMES = st.text(max_size=20)


@given(NAMES, CONTENTS)
def test_a_body_is_read_as_it_was_put(key: str, content: bytes) -> None:
    """Whatever its bytes are."""
    assert entries.read(key, entries.body(key, content)) == Kept(content)


@given(NAMES, NAMES, CONTENTS)
def test_the_body_of_another_key_is_garbage(key: str, other: str, content: bytes) -> None:
    """Members are caches of many."""
    value = entries.body(other, content)
    assert entries.read(key, value) == (Kept(content) if key == other else Garbage(value))


@given(CONTENTS, st.integers(min_value=0), st.integers(1, 255))
def test_a_changed_bit_makes_garbage_of_a_body(content: bytes, at: int, change: int) -> None:
    """If its first byte changes, also a lease or a closed key, which do not answer either."""
    value = bytearray(entries.body("a", content))
    value[at % len(value)] ^= change
    assert not isinstance(entries.read("a", bytes(value)), Kept)


@given(CONTENTS, st.integers(min_value=1))
def test_a_body_that_was_cut_is_garbage(content: bytes, less: int) -> None:
    """And so is nothing at all."""
    value = entries.body("a", content)
    cut = value[: len(value) - 1 - less % len(value)]
    assert entries.read("a", cut) == Garbage(cut)


@given(st.binary(max_size=40))
def test_anything_else_is_told_apart(value: bytes) -> None:
    """A lease by its first byte, closed by all of it."""
    expected = Leased(value) if value[:1] == b"L" else Closed() if value == CLOSED else Garbage(value)
    assert entries.read("a", value) == expected


def test_a_lease_is_of_whoever_has_its_token() -> None:
    """It cannot be taken for a body."""
    assert entries.read("a", entries.lease(b"1")) == Leased(entries.lease(b"1"))
    assert entries.lease(b"1") != entries.lease(b"2")
