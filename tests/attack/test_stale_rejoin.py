"""What slept while a second run of `sigla rejoin` came to its end takes nothing away: a first run, or a sweep."""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, suppress
from dataclasses import replace
from typing import Any

import orjson
import pytest

from sigla.model import OfferedReference, Version
from sigla.regions import promotion
from sigla.regions.giving import carried_out
from sigla.regions.nouns import Role
from sigla.regions.refusals import RoleChanged
from sigla.regions.rejoining import rejoined
from sigla.regions.shipping import NotAllowed
from sigla.registry import Registry, Resources
from sigla.stores.dynamodb import commits, fence, ids, replaying
from sigla.stores.dynamodb.actions import Action, delete
from sigla.stores.dynamodb.journal import time_of
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.upkeep.rejoining import merge
from tests.attack.test_rejoin_tables import THERE, Regions
from tests.build import a_draft, a_text
from tests.contract.engines import in_process
from tests.contract.tables import Tables
from tests.unit.registry.tell import s

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


def close(store: AwsStore) -> None:
    role = role_of(store)
    assert store.region.set_role(role, replace(role, open=False))


def test_commits_of_a_region_that_takes_writes_again_are_not_marked_as_brought(regions: Regions) -> None:
    """The new primary was lost, and the old one was opened by force, while the command slept behind what it brought."""
    a, b = regions.a, regions.b
    close(a)
    pair = TablePair(b, a)
    missing = [*pair.missing()]
    carried_out(promotion.forced(a.region, now=regions.clock.now()))
    assert missing
    assert role_of(a).writes
    with pytest.raises(RoleChanged):
        pair.mark_brought(missing)
    assert [*a.journal.rows(0, brought=False)] == [*a.journal.rows(0)]
    assert {row["nonce"] for _, row, _ in a.journal.rows(0)} > {orjson.loads(each.form)["nonce"] for each in missing}


def test_a_row_that_has_expired_meanwhile_is_not_there_again_as_a_mark(regions: Regions) -> None:
    a, b = regions.a, regions.b
    close(a)
    pair = TablePair(b, a)
    missing = [*pair.missing()]
    (gone,) = missing
    row = orjson.loads(gone.form)
    a.tools.table.write_all([delete(a.tools.places.journal(time_of(gone.position), row["nonce"]))])
    pair.mark_brought(missing)
    assert row["nonce"] not in {each["nonce"] for _, each, _ in a.journal.rows(0)}


def test_a_sweep_that_sleeps_takes_nothing_of_what_the_region_was_filled_with(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The purge was lost with the region: what it left behind there is what the subject has in the other one."""
    a, b = regions.a, regions.b
    purged = Registry(a.catalog, a.bodies, regions.clock)
    settle, others = ids.Ledger.settle, list[bool]()

    def slept(ledger: ids.Ledger) -> Any:
        found = settle(ledger)
        if not others:
            others.append(True)
            Rejoin(regions, b, a).end()
            for _ in range(2):
                regions.turn(a, b)
        return found

    monkeypatch.setattr(ids.Ledger, "settle", slept)
    purged.delete_subject(s("orders"))
    purged.delete_subject(s("orders"), permanent=True)
    assert others
    assert role_of(a).kind.value == "follower"
    assert regions.picture(a) == regions.picture(b)
    assert set(regions.picture(a)[0]) == {"orders", "late"}


def test_a_version_that_is_purged_says_no_more_of_what_it_referenced_in_the_same_transaction(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Afterwards the region may have been filled with what the other one has, where the version stands."""
    a, b = regions.a, regions.b
    at_a = Registry(a.catalog, a.bodies, regions.clock)
    text = '{"type":"record","name":"Using","fields":[{"name":"o","type":"Orders"}]}'
    Registry(b.catalog, b.bodies, regions.clock).register(
        s("using"), replace(a_draft(text), references=(OfferedReference("Orders", "orders", Version(1)),))
    )
    Rejoin(regions, b, a).end()
    for _ in range(2):
        regions.turn(a, b)
    carried_out(promotion.forced(a.region, now=regions.clock.now()))
    write, others = Table.write_all, list[bool]()

    def slept(table: Table, actions: Sequence[Action]) -> None:
        if table.name == a.tools.table.name and not others and any("#r#" in each.key[0] for each in actions):
            others.append(True)
            Rejoin(regions, b, a).end()
        write(table, actions)

    monkeypatch.setattr(Table, "write_all", slept)
    at_a.delete_version(s("using"), Version(1))
    at_a.delete_version(s("using"), Version(1), permanent=True)
    assert not others
    assert [*a.catalog.referrers(s("orders"))] == []


REFERENCED = [f"r{number}" for number in range(9)]
"""More than a transaction takes that has a dozen of actions."""


def used(regions: Regions) -> None:
    """A follows B, where a version references them all."""
    a, b = regions.a, regions.b
    for name in REFERENCED:
        regions.register(b, name, name)
    offered = tuple(OfferedReference(name, name, Version(1)) for name in REFERENCED)
    at_b = Registry(b.catalog, b.bodies, regions.clock)
    at_b.register(s("using"), replace(a_draft(a_text("Using")), references=offered))
    Rejoin(regions, b, a).end()
    for _ in range(2):
        regions.turn(a, b)


def purge(regions: Regions, at: AwsStore) -> None:
    registry = Registry(at.catalog, at.bodies, regions.clock)
    registry.delete_version(s("using"), Version(1))
    registry.delete_version(s("using"), Version(1), permanent=True)


def referred(at: AwsStore) -> list[int]:
    return [len([*at.catalog.referrers(s(name))]) for name in REFERENCED]


def forgets(table: Table, actions: Sequence[Action], of: AwsStore) -> bool:
    """Whether they take away what a version has referenced there."""
    return table.name == of.tools.table.name and any("#r#" in each.key[0] and each.kind == "Delete" for each in actions)


@pytest.mark.parametrize("is_answered", [True, False])
def test_what_has_no_room_in_the_transaction_is_not_taken_away_later(
    regions: Regions, monkeypatch: pytest.MonkeyPatch, *, is_answered: bool
) -> None:
    """A purged version that referenced more than goes into one transaction; the other region has it still.

    is_answered: otherwise the next try finds that the commit is made.
    """
    a, b = regions.a, regions.b
    used(regions)
    carried_out(promotion.forced(a.region, now=regions.clock.now()))
    others, lost = list[bool](), list[bool]()
    transact = Table.transact

    def sleep(table: Table, actions: Sequence[Action]) -> None:
        if forgets(table, actions, a) and not others:
            others.append(True)
            close(b)
            carried_out(promotion.forced(b.region, now=regions.clock.now()))
            Rejoin(regions, b, a).end()
            for _ in range(2):
                regions.turn(a, b)

    def unheard(table: Table, actions: Sequence[Action]) -> None:
        transact(table, actions)
        if forgets(table, actions, a) and not is_answered and not lost:
            lost.append(True)
            head = a.tools.table.get(a.tools.places.head(s("using")))
            raise Cancelled([head] if head else [], repeated=True)

    monkeypatch.setattr(commits, "MOST_ACTIONS", 12)
    monkeypatch.setattr(Table, "transact", unheard)
    for method in (Table.write_all, Table.write_checked):
        monkeypatch.setattr(Table, method.__name__, slept(method, sleep))
    purge(regions, a)
    assert others
    assert bool(lost) != is_answered
    assert referred(a) == referred(b) == [1] * len(REFERENCED)


def test_a_replay_that_slept_behind_its_commit_takes_nothing_away_in_a_region_that_leads(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What it leaves means nothing to readers."""
    a, b = regions.a, regions.b
    used(regions)
    purge(regions, b)
    left = list[int]()

    def sleep(table: Table, actions: Sequence[Action]) -> None:
        if forgets(table, actions, a) and not left:
            carried_out(promotion.forced(a.region, now=regions.clock.now()))
            left.append(rows_of_referrers(a))

    monkeypatch.setattr(replaying, "MOST_ACTIONS", 12)
    for method in (Table.write_all, Table.write_checked):
        monkeypatch.setattr(Table, method.__name__, slept(method, sleep))
    with suppress(NotAllowed):
        regions.turn(a, b)
    assert left == [rows_of_referrers(a)] != [0]
    assert referred(a) == [0] * len(REFERENCED)


def rows_of_referrers(at: AwsStore) -> int:
    """Also of those that no reader believes."""
    found, _ = at.tools.table.scan()
    return sum("#r#" in item["pk"] for item in found)


def slept(method: Callable[..., None], sleep: Callable[[Table, Sequence[Action]], None]) -> Callable[..., None]:
    def run(table: Table, actions: Sequence[Action], *more: Any) -> None:
        sleep(table, actions)
        method(table, actions, *more)

    return run
