"""Keys for field encryption in two regions, as functions are wired: what was acknowledged is in the survivor."""

from typing import Any

import pytest

from sigla.regions.nouns import RegionKind
from tests.contract.engines import REGION
from tests.functions.test_two_regions import Two, pair, two

__all__ = ["pair", "two"]

KEKS = "/dek-registry/v1/keks"
KEK = {"name": "k", "kmsType": "local-kms", "kmsKeyId": "key"}
ORDERS = f"{KEKS}/k/deks/orders"
FIRST = f"{ORDERS}/versions/1"


@pytest.fixture
def in_step(pair: Two, monkeypatch: pytest.MonkeyPatch) -> Two:
    """A minute later, when the primary knows that there are two regions."""
    pair.a.begin(monkeypatch, pair.b)
    return pair


def done(pair: Two, method: str, target: str, body: Any = None, *, at: str = "a") -> Any:
    told = pair.ask(getattr(pair, at), method, target, body)
    assert told.status in (200, 204), told
    return told.body


def promoted_by_force(pair: Two) -> None:
    pair.b.become(kind=RegionKind.PRIMARY, epoch=2, reconciled=False, adopts=True)


def lost(pair: Two) -> None:
    pair.servers[REGION].shutdown()
    pair.servers[REGION].server_close()


def material(pair: Two, region: str = "b", version: int = 1) -> str:
    return str(done(pair, "GET", f"{ORDERS}/versions/{version}", at=region)["encryptedKeyMaterial"])


def test_what_was_acknowledged_is_in_the_survivor(in_step: Two) -> None:
    pair = in_step
    done(pair, "POST", KEKS, KEK)
    done(pair, "POST", ORDERS, {"encryptedKeyMaterial": "first"})
    done(pair, "POST", ORDERS, {"encryptedKeyMaterial": "second", "version": 2})
    lost(pair)
    promoted_by_force(pair)
    assert material(pair) == "first"
    assert material(pair, version=2) == "second"
    assert done(pair, "GET", KEKS, at="b") == ["k"]
    again = pair.ask(pair.b, "POST", ORDERS, {"encryptedKeyMaterial": "another"})
    assert again.code == 40971, "it is not made anew with another material"


def test_a_key_that_was_made_anew_is_the_new_one_in_the_survivor(in_step: Two) -> None:
    """Under the same number, and before its follower heard that the one before is gone."""
    pair = in_step
    done(pair, "POST", KEKS, KEK)
    done(pair, "POST", ORDERS, {"encryptedKeyMaterial": "old"})
    pair.b.turn()
    assert material(pair) == "old"
    done(pair, "DELETE", FIRST)
    done(pair, "DELETE", f"{FIRST}?permanent=true")
    done(pair, "POST", ORDERS, {"encryptedKeyMaterial": "new"})
    lost(pair)
    promoted_by_force(pair)
    assert material(pair) == "new"


def test_what_was_deleted_for_good_does_not_come_back(in_step: Two) -> None:
    pair = in_step
    done(pair, "POST", KEKS, KEK)
    done(pair, "POST", ORDERS, {"encryptedKeyMaterial": "old"})
    pair.b.turn()
    done(pair, "DELETE", FIRST)
    done(pair, "DELETE", f"{FIRST}?permanent=true")
    done(pair, "DELETE", f"{KEKS}/k")
    lost(pair)
    promoted_by_force(pair)
    assert pair.ask(pair.b, "GET", f"{KEKS}/k").code == 40470
    assert done(pair, "GET", f"{KEKS}/k?deleted=true", at="b")["deleted"]
    assert pair.ask(pair.b, "GET", f"{FIRST}?deleted=true").code == 40470
