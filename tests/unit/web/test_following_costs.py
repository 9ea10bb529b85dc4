"""What reads cost where there are two regions: what the stores of a follower are asked, call by call."""

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import pytest

from sigla.model import Draft
from sigla.ports.primary import Forwarded
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from sigla.web.local.following import Following, FollowingTable, LeadingTable
from sigla.web.local.forwarding import Forwarding
from sigla.web.local.news import News
from tests.attack.ports import Call, watched
from tests.build import FixedClock
from tests.unit.registry.tell import s
from tests.unit.web.conftest import Client

READS = (
    "/schemas/ids/1",
    "/schemas/ids/1?subject=orders",
    "/schemas/ids/1/versions",
    "/subjects",
    "/subjects/orders/versions",
    "/subjects/orders/versions/1",
    "/subjects/orders/versions/latest",
    "/config/orders?defaultToGlobal=true",
    "/mode",
    "/contexts",
)


class NotAsked:
    """A `ports.primary.Forwards` that nothing is sent on to."""

    def forward(self, *asked: Any) -> Forwarded:
        raise AssertionError(asked)

    def answers(self) -> bool:
        return True


@pytest.mark.parametrize("path", READS)
def test_a_read_asks_of_a_follower_and_of_a_primary_what_it_asks_of_a_registry_that_is_alone(path: str) -> None:
    clock = SystemClock()
    following = Following(Forwarding(NotAsked(), clock), clock.elapsed, lambda _: True, News(), clock)
    with EmbeddedStore() as store:
        Registry(store.catalog, store.bodies, FixedClock()).register(s("orders"), Draft('"string"'))
        asked = list[list[str]]()
        tables: Mapping[str, Any] = {
            "alone": None,
            "primary": partial(LeadingTable, store.journal.end, ""),
            "follower": partial(FollowingTable, following),
        }
        for table in tables.values():
            calls = list[str]()

            def note(call: Call, carry_out: Callable[[], Any], calls: list[str] = calls) -> Any:
                calls.append(call.name)
                return carry_out()

            catalog, bodies = watched(store.catalog, store.bodies, note)
            client = Client(app.build(Registry(catalog, bodies, FixedClock()), table=table), "203.0.113.9")
            assert client("GET", path).status == 200
            asked.append(calls)
    alone, primary, follower = asked
    assert alone == primary == follower
    assert alone
