"""What a client hears of a region that takes no writes."""

from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock, a_text
from tests.unit.web.conftest import Client

VERSIONS = "/subjects/a/versions"


def test_a_follower_reads_and_says_that_it_does_not_write() -> None:
    """In the words of Confluent's servers, with the number by which their clients try another URL."""
    with EmbeddedStore() as store:
        client = Client(app.build(Registry(store.catalog, store.bodies, FixedClock())))
        assert client("POST", VERSIONS, {"schema": a_text("A")}).json["id"] == 1
        assert store.region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy("A")))
        assert client("GET", f"{VERSIONS}/latest").status == 200
        assert client("POST", VERSIONS, {"schema": a_text("A")}).json["id"] == 1, "it is registered already"
        for method, target, body, operation in (
            ("POST", "/subjects/b/versions", {"schema": a_text("B")}, "register"),
            ("DELETE", "/subjects/a", None, "delete subject"),
            ("PUT", "/config", {"compatibility": "FULL"}, "update config"),
            ("PUT", "/mode/a", {"mode": "READONLY"}, "update mode"),
        ):
            sentence = f"Error while forwarding {operation} request to the leader"
            assert client(method, target, body).refusal == (500, 50003, sentence)
        assert client("GET", "/subjects").json == ["a"]
