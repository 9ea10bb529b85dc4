"""The stack of a primary names a table that was restored: until it has rejoined, it answers nothing by itself."""

from collections.abc import Callable
from contextlib import closing
from typing import Any

import pytest

from sigla.aws.clients import Clients
from sigla.regions import promotion
from sigla.regions.giving import carried_out
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore
from tests.contract.aws import make_table
from tests.functions.test_two_regions import Region, Two, pair, two

__all__ = ["pair", "two"]


@pytest.fixture
def goes_back(pair: Two, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Region]:
    """Makes A's stack one of a table with what A's had before; B's stack names it, too."""
    clients = pair.a.opened.enter_context(closing(Clients(region=pair.a.name)))
    moment: list[Any] = clients.dynamodb.scan(TableName=pair.a.variables["SIGLA_TABLE"])["Items"]

    def restored() -> Region:
        table = make_table(clients.dynamodb)
        for item in moment:
            clients.dynamodb.put_item(TableName=table, Item=item)
        variables = pair.a.variables | {"SIGLA_TABLE": table}
        store = AwsStore(clients, table, variables["SIGLA_BUCKET"], SystemClock())
        region = Region(pair.a.name, pair.a.opened.enter_context(closing(store)), variables, pair.a.opened)
        region.begin(monkeypatch, pair.b)
        pair.b.begin(monkeypatch, region)
        return region

    return restored


def test_what_a_restored_table_forgot_is_told_by_the_region_that_knows_it(
    pair: Two, goes_back: Callable[[], Region]
) -> None:
    since = pair.register(pair.a, "since", "Since")
    pair.b.turn()
    a = goes_back()
    assert pair.ask(a, "GET", f"/schemas/ids/{since}").status == 200
    assert pair.ask(a, "GET", "/subjects").body == ["orders", "since"]
    bodies = sorted(a.store.objects.names("default/schemas/"))
    for region in (a, pair.b):
        refused = pair.ask(region, "POST", "/subjects/new/versions", {"schema": '"long"'})
        assert (refused.status, refused.body["error_code"]) == (500, 50003), "no region takes writes"
    assert sorted(a.store.objects.names("default/schemas/")) == bodies
    for region in (a, pair.b):
        told = region.turn()
        assert (told["restored"], told["stopped"]) == (1, 1)
    carried_out(promotion.forced(pair.b.store.region, now=pair.b.store.clock.now()))
    assert pair.register(pair.b, "new", "New") > since
    assert pair.ask(a, "GET", "/subjects").body == ["new", "orders", "since"]
