"""A key that was revoked: it opens nothing, and says who did it."""

from dataclasses import replace

import pytest

from sigla.auth import api_keys
from sigla.auth.credentials import BasicKeys
from tests.build import NOW, FixedClock
from tests.unit.auth.test_credentials import Kept, a_key


@pytest.fixture
def keys() -> Kept:
    return Kept()


def test_a_revoked_key_opens_nothing_and_says_who_revoked_it(keys: Kept) -> None:
    """Its record stays, without anything that a secret could be verified by: an earlier release refuses it as well."""
    header = a_key(keys)
    before = api_keys.read_key("orders", keys.records["orders"])
    assert api_keys.revoke(keys, "orders", now=NOW, by="cli:bob")
    assert not api_keys.revoke(keys, "orders", now=NOW, by="cli:eve")
    assert BasicKeys(keys, FixedClock())(header) is None
    record = keys.records["orders"]
    after = api_keys.read_key("orders", record)
    assert after == replace(before, verifier="0" * 64, revoked=api_keys.Revocation(NOW, "cli:bob"))
    assert before.verifier.encode() not in record
    assert BasicKeys(keys, FixedClock())(a_key(keys)) is not None, "the name may be used again"


def test_a_key_that_changes_while_it_is_revoked_is_not_revoked_unseen(keys: Kept) -> None:
    """Else a rotation at the same moment would bring it back."""
    a_key(keys)
    rotated = keys.records["orders"].replace(b"writer", b"reader")

    class Rotating(Kept):
        def get(self, name: str) -> bytes | None:
            found = keys.records[name]
            self.records = {name: rotated}
            return found

    with pytest.raises(api_keys.KeyChanged):
        api_keys.revoke(Rotating(), "orders", now=NOW, by="cli:bob")


def test_what_is_no_key_is_taken_away(keys: Kept) -> None:
    """A damaged record opens nothing, and has no place to say who revoked it."""
    keys.records["orders"] = b"{"
    assert api_keys.revoke(keys, "orders", now=NOW, by="cli:bob")
    assert not keys.records
