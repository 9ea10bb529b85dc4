"""A region in AWS is lost for good: it is given up, the stage file names another one, and that follows."""

from contextlib import closing
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.aws.clients import Clients
from sigla.errors import BodyMissing
from sigla.functions.replay import SOURCE
from sigla.model import BodyKey, SchemaId
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.regions.nouns import Role
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.functions.test_two_regions import Region, Two, pair, two
from tests.unit.aws.journaling import as_streamed, event_of

__all__ = ["pair", "two"]

ELSEWHERE = "eu-west-3"


@pytest.fixture
def third(pair: Two) -> Region:
    """The stack of another region, which is empty."""
    opened = pair.a.opened
    clients = opened.enter_context(closing(Clients(region=ELSEWHERE)))
    bucket = f"registry-in-{ELSEWHERE}"
    clients.s3.create_bucket(Bucket=bucket, CreateBucketConfiguration={"LocationConstraint": ELSEWHERE})
    table = make_table(clients.dynamodb)
    store = opened.enter_context(closing(AwsStore(clients, table, bucket, SystemClock())))
    variables = pair.b.variables | {"AWS_DEFAULT_REGION": ELSEWHERE, "SIGLA_TABLE": table, "SIGLA_BUCKET": bucket}
    return Region(ELSEWHERE, store, variables, opened, url="http://127.0.0.1:1")


def give_up(region: Region) -> None:
    """As `sigla regions dismiss` does it."""
    seen = role(region)
    assert carried_out(promotion.dismissed(region.store.region, str(seen.peer))).changed


def role(region: Region) -> Role:
    found = region.store.region.role()
    assert found is not None
    return found


def all_of(region: Region) -> tuple[list[Any], list[str]]:
    """The rows and the objects there."""
    rows, after = region.store.tools.table.scan(None)
    assert after is None
    return sorted(rows, key=str), sorted(region.store.objects.names(""))


def has_body(region: Region, id: int) -> bool:
    try:
        return not region.store.bodies.get(BodyKey(".", SchemaId(id))).gone
    except BodyMissing:
        return False


def stream_of(region: Region) -> dict[str, Any]:
    """Each row of its table, as if it had been written now."""
    with closing(Clients(region=region.name)) as clients:
        account: Any = SimpleNamespace(clients=clients, table=region.variables["SIGLA_TABLE"])
        return event_of(as_streamed(account))


def required(pair: Two, monkeypatch: pytest.MonkeyPatch, other: Region) -> None:
    pair.a.variables["SIGLA_REGION_BODIES"] = "required"
    pair.a.begin(monkeypatch, other)


def test_settings_that_name_a_region_which_was_given_up_write_nothing_there_and_hinder_nothing(
    pair: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    required(pair, monkeypatch, pair.b)
    give_up(pair.a)
    required(pair, monkeypatch, pair.b)
    before = all_of(pair.b)
    id = pair.register(pair.a, "news", "News")
    assert id == 2 * rules.BLOCK + 1
    pair.a.store.catalog.raise_counter(".", SchemaId(9 * rules.BLOCK))
    assert pair.register(pair.a, "later", "Later") == 9 * rules.BLOCK + 1
    told = pair.a.turn()
    assert (told["role"], told["stopped"]) == ("primary", 1), "the stage file is to be changed"
    assert pair.a.replay(stream_of(pair.a), None)["named"] == 0
    assert all_of(pair.b) == before


def test_a_region_that_was_given_up_stops_when_it_is_back(pair: Two) -> None:
    """It rings, and carries nothing out any more."""
    give_up(pair.a)
    pair.register(pair.a, "news", "News")
    told = pair.b.turn()
    assert (told["role"], told["given_up"], told["stopped"]) == ("follower", 1, 1)
    commits = [[1, "no one's"]]
    heard = {"epoch": role(pair.a).epoch, "commits": commits}
    assert pair.b.replay({"source": SOURCE, "detail": heard}, None)["passed_by"] == 1
    assert pair.ask(pair.b, "GET", "/subjects/news/versions").body == [1], "the primary has answered"
    assert "GET /subjects/news/versions" in pair.a.asked


def test_an_environment_that_remembers_the_lost_region_hinders_nothing_either(
    pair: Two, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It believes for a minute that the region follows, and asks anew before it refuses what that does not take."""
    required(pair, monkeypatch, pair.b)
    pair.register(pair.a, "before", "Before")
    clients = Clients(region=pair.b.name)
    with closing(clients):
        bucket = pair.b.variables["SIGLA_BUCKET"]
        for name in pair.b.store.objects.names(""):
            clients.s3.delete_object(Bucket=bucket, Key=name)
        clients.s3.delete_bucket(Bucket=bucket)
    refused = pair.ask(pair.a, "POST", "/subjects/news/versions", {"schema": '"string"'})
    assert refused.body["error_code"] == 50002
    give_up(pair.a)
    assert pair.register(pair.a, "news", "News") > 2 * rules.BLOCK


def test_the_region_that_the_settings_name_then_follows_and_gets_every_new_schema(
    pair: Two, third: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_up(pair.a)
    alone = pair.register(pair.a, "alone", "Alone")
    third.begin(monkeypatch, pair.a)
    assert third.turn()["role"] == "none", "the primary says so"
    required(pair, monkeypatch, third)
    assert pair.a.turn()["armed"] == 1
    assert (role(pair.a).peer.name, role(pair.a).at) == (role(third).name, third.store.url)
    assert third.turn()["follows"]
    required(pair, monkeypatch, third)
    id = pair.register(pair.a, "news", "News")
    assert has_body(third, id)
    assert third.turn()["carry_out"] == 1
    assert pair.a.turn()["ceilings"] == 1
    for each in (alone, id):
        assert has_body(third, each)
        assert not has_body(pair.b, each)
    assert pair.b.turn()["given_up"] == 1


def test_settings_that_were_not_changed_beside_a_new_region_ring(
    pair: Two, third: Region, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`sigla regions follow` has given the registry one that the function does not know: it writes to neither."""
    give_up(pair.a)
    third.begin(monkeypatch, pair.a)
    required(pair, monkeypatch, third)
    assert pair.a.turn()["armed"] == 1
    assert third.turn()["follows"]
    required(pair, monkeypatch, pair.b)
    before = all_of(pair.b)
    pair.register(pair.a, "news", "News")
    told = pair.a.turn()
    assert (told["elsewhere"], told["stopped"]) == (1, 1)
    assert all_of(pair.b) == before
    assert third.turn()["carry_out"] == 1, "it comes with its commit"
