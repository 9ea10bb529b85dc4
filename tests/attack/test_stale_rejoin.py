"""`sigla rejoin` of tables that slept while a second run of it came to its end: the first one takes nothing away."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sigla.regions import promotion
from sigla.regions.giving import carried_out
from sigla.regions.nouns import Role
from sigla.regions.refusals import RoleChanged
from sigla.regions.rejoining import rejoined
from sigla.registry import Resources
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.store import AwsStore
from sigla.upkeep.rejoining import merge
from tests.attack.test_rejoin_tables import THERE, Regions
from tests.contract.engines import in_process
from tests.contract.tables import Tables

Request = Callable[[], Any]


@pytest.fixture
def regions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Regions]:
    """B was promoted by force, and A is back."""
    monkeypatch.setattr(fence, "COPIES", 2)
    with in_process(tables=Tables()) as clients, ExitStack() as opened:
        clients.s3.create_bucket(Bucket=THERE)
        made = Regions(clients, opened)
        carried_out(promotion.forced(made.b.region, now=made.clock.now()))
        made.register(made.a, "late", "Late")
        yield made


class Rejoin:
    """One run of the command, request by request."""

    def __init__(self, regions: Regions, new: AwsStore, old: AwsStore) -> None:
        pair = TablePair(new, old)

        def bring() -> None:
            missing = [*pair.missing()]
            pair.make_way(missing)
            merge(missing, old.bodies, Resources(new.catalog, new.bodies, regions.clock))
            pair.mark_brought(missing)

        self._bring, self._forget = bring, pair.forget
        self._course = rejoined(new.region, old.region, bring=bring, forget=self._forget, tables=pair.urls)
        self._next: Request | None = next(self._course)

    def before(self, name: str) -> Request:
        """Sleeps before this request."""
        wanted = {"bring": self._bring, "forget": self._forget}[name]
        while self._next is not wanted:
            self.step()
        return wanted

    def step(self) -> None:
        assert self._next
        try:
            self._next = self._course.send(self._next())
        except StopIteration:
            self._next = None

    def end(self) -> None:
        while self._next:
            self.step()


def role_of(store: AwsStore) -> Role:
    role = store.region.role()
    assert role
    return role


def test_a_region_that_was_filled_meanwhile_forgets_nothing(regions: Regions) -> None:
    a, b = regions.a, regions.b
    slow = Rejoin(regions, b, a)
    slow.before("forget")
    Rejoin(regions, b, a).end()
    for _ in range(2):
        regions.turn(a, b)
    assert role_of(a).kind.value == "follower"
    filled = regions.picture(a)
    assert set(filled[0]) == {"orders", "late"}
    with pytest.raises(RoleChanged):
        slow.end()
    assert regions.picture(a) == filled


def test_one_that_sleeps_between_two_deletes_takes_none_away_afterwards(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    a, b = regions.a, regions.b
    slow = Rejoin(regions, b, a)
    slow.before("forget")
    scan, others = type(a.tools.table).scan, list[bool]()

    def slept(*arguments: Any, **named: Any) -> Any:
        found = scan(*arguments, **named)
        if not others:
            others.append(True)
            Rejoin(regions, b, a).end()
            for _ in range(2):
                regions.turn(a, b)
        return found

    monkeypatch.setattr(type(a.tools.table), "scan", slept)
    with pytest.raises(RoleChanged):
        slow.end()
    assert set(regions.picture(a)[0]) == {"orders", "late"}


def test_a_primary_that_was_passed_over_meanwhile_is_reconciled_by_none_of_before(regions: Regions) -> None:
    """It has rejoined, was promoted by plan, and the other one by force since: that one is waited for."""
    a, b = regions.a, regions.b
    slow = Rejoin(regions, b, a)
    slow.before("bring")
    slow.step()
    Rejoin(regions, b, a).end()
    for _ in range(2):
        regions.turn(a, b)
    pair, now = TablePair(a, b), regions.clock.now()
    url, at = pair.urls
    carried_out(promotion.planned(a.region, b.region, pair.drain, rehearse=tuple, token="t", now=now, url=url, at=at))
    regions.turn(b, a)
    carried_out(promotion.forced(b.region, now=regions.clock.now()))
    before = role_of(b)
    assert not before.reconciled
    with pytest.raises(RoleChanged):
        slow.end()
    assert role_of(b) == before
    Rejoin(regions, b, a).end()
    assert role_of(b).reconciled
