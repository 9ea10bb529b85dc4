"""`GET /console/api/regions`: who takes writes, what a forced promotion would lose, how many ids are left."""

from collections.abc import Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path

import pytest

from sigla.auth.guesses import Guesses
from sigla.model import SchemaId
from sigla.regions.nouns import Counter, KnownBy, RegionKind, Role, Trace
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock, a_text
from tests.protocol.clients.server import Server, serving
from tests.served_region import region_alone
from tests.unit.web.conftest import Client
from tests.waiting import eventually

HERE, OTHER = "/console/api/regions", "/console/api/regions/other"


@pytest.fixture
def store() -> Iterator[EmbeddedStore]:
    with EmbeddedStore() as store:
        yield store


@pytest.fixture
def client(store: EmbeddedStore) -> Iterator[Client]:
    with ExitStack() as until:
        views = region_alone(store, None, Guesses(FixedClock()), until).views
        registry = Registry(store.catalog, store.bodies, FixedClock(), region_views=views)
        yield Client(app.build(registry))


def test_a_registry_without_a_second_region_tells_of_none(client: Client) -> None:
    assert client("GET", HERE).status == 404
    assert client("GET", OTHER).status == 404
    assert "regions" not in client("GET", "/console/api/caller").json["has"]


def test_a_primary_tells_how_many_ids_are_left_before_the_first_one_is_drawn(
    client: Client, store: EmbeddedStore
) -> None:
    """Ids that were given before the registry had a role count as given; the block of the epoch begins above them."""
    assert client("POST", "/subjects/a/versions", {"schema": a_text("A")}).status == 200
    assert client("POST", "/subjects/:.eu:a/versions", {"schema": a_text("A")}).status == 200
    store.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="p"))
    told = client("GET", HERE).json
    assert (told["role"], told["epoch"], told["writes"], told["waiting"]) == ("primary", 1, True, [])
    assert told["ids"] == [
        {"context": ".", "given": 1, "ceiling": 100_000},
        {"context": ".eu", "given": 1, "ceiling": 100_000},
    ]
    assert "regions" in client("GET", "/console/api/caller").json["has"]
    assert client("GET", OTHER).json == {"why": "None follows yet."}


def test_of_many_contexts_some_are_told_and_that_there_are_more(client: Client, store: EmbeddedStore) -> None:
    store.region.set_role(None, Role(1, RegionKind.PRIMARY))
    for at in range(20):
        store.region.set_counter(f".c{at:02}", None, Counter(SchemaId(at), SchemaId(100_000), 1, SchemaId(1)))
    told = client("GET", HERE).json
    assert [each["given"] for each in told["ids"]] == [0, *range(15)]
    assert told["moreContexts"]


@pytest.mark.parametrize(
    "role, why",
    [
        (Role(1, RegionKind.PRIMARY, peer=KnownBy("b-1")), "It has not said yet where it is served."),
        (Role(1, RegionKind.FOLLOWER, peer=KnownBy(url="http://127.0.0.1:1"), pair="p"), "127.0.0.1:1"),
    ],
)
def test_a_region_that_is_not_reached_is_told_as_such(
    client: Client, store: EmbeddedStore, role: Role, why: str
) -> None:
    store.region.set_role(None, role)
    told = client("GET", OTHER).json
    assert why in told["why"]
    assert "region" not in told


def test_what_was_given_up_is_told_with_its_url_where_that_is_known(client: Client, store: EmbeddedStore) -> None:
    lost = Role(3, RegionKind.PRIMARY, reconciled=False, lost="b-1, b-2").with_trace(Trace("b-1", "http://b", 0))
    store.region.set_role(None, lost)
    told = client("GET", HERE).json
    assert (told["reconciled"], told["out"]) == (False, [{"name": "b-1", "url": "http://b"}, {"name": "b-2"}])


@pytest.mark.parametrize("site, status", [(None, 200), ("same-origin", 200), ("cross-site", 403), ("none", 403)])
def test_the_console_may_ask_and_pages_of_other_sites_may_not(
    client: Client, store: EmbeddedStore, site: str | None, status: int
) -> None:
    store.region.set_role(None, Role(1, RegionKind.PRIMARY))
    headers = {"sec-fetch-site": site} if site else {}
    assert client("GET", HERE, headers=headers).status == status
    assert client("GET", OTHER, headers=headers).status == status


def test_changes_of_regions_are_for_no_page_at_all(client: Client, store: EmbeddedStore) -> None:
    store.region.set_role(None, Role(1, RegionKind.PRIMARY))
    answer = client("POST", "/regions/promote", {}, headers={"sec-fetch-site": "same-origin"})
    assert answer.status == 403


# --- two servers -------------------------------------------------------------------------------------------------


@pytest.mark.process
def test_either_of_two_servers_tells_of_both(tmp_path: Path) -> None:
    with serving(tmp_path / "a") as first, serving(tmp_path / "b", "--follow", first.url) as second:
        assert first.ask("POST", "/subjects/a/versions", {"schema": a_text("A")}).status == 200
        for here, other, kinds in ((first, second, ("primary", "follower")), (second, first, ("follower", "primary"))):
            eventually(partial(_are_in_step, here))
            told = here.ask("GET", OTHER).json
            assert (here.ask("GET", HERE).json["role"], told["region"]["role"]) == kinds
            assert (told["url"], told["lacking"]) == (other.url, [])


def _are_in_step(here: Server) -> bool:
    return not here.ask("GET", OTHER).json.get("lacking", True)
