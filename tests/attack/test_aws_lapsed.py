"""A region in AWS that was not kept in step for long, or is told the time by a clock that is wrong.

Rows of the journal are kept for 35 days: what a region lacks of before cannot be told any more, and is told to be so.
"""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from pathlib import Path

import pytest

from sigla import keys
from sigla.regions import promotion
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind
from sigla.regions.replay import Verdict
from sigla.stores.dynamodb import comparing
from sigla.stores.dynamodb.actions import Key, delete, put
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.comparing import JournalComparison
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.table import Table
from tests.attack.replay import ask
from tests.attack.stories import ONE, TWO, register
from tests.attack.test_aws_copying import account
from tests.attack.test_aws_region_turns import Regions, regions
from tests.attack.test_rejoin_tables import Regions as Stores
from tests.attack.test_rejoin_tables import begun

__all__ = ["account", "regions"]

DAY_MS = 24 * 3_600_000
KEPT_MS = JOURNAL_KEPT_S * 1000


def expire(table: Table, now: int) -> None:
    """As DynamoDB does some time after a row has expired."""
    after: Key | None = None
    while True:
        found, after = table.scan(after)
        rows = [(item["pk"], item["sk"]) for item in found if "#j#" in item["pk"]]
        table.write_all([delete(row) for row in rows if keys.journal_at(row[1]) < now - KEPT_MS])
        if after is None:
            return


def pass_days(regions: Regions, days: int) -> None:
    regions.clock.time += days * DAY_MS
    for world in (regions.a, regions.b):
        with closing(regions.store(world)) as store:
            expire(store.tools.table, regions.clock.time)


def test_who_may_lack_what_has_expired_never_says_that_it_has_all(regions: Regions) -> None:
    regions.join()
    regions.turn(regions.b)
    register("lost", ONE)(regions.a.registry)
    pass_days(regions, 36)
    for _ in range(2):
        register("later", TWO)(regions.a.registry)
        told = regions.turn(regions.b)
        assert told["lapsed"]
        assert told["behind_ms"] > 35 * DAY_MS


def test_who_has_waited_for_less_goes_on_as_ever(regions: Regions) -> None:
    regions.join()
    regions.turn(regions.b)
    register("late", ONE)(regions.a.registry)
    pass_days(regions, 34)
    told = regions.turn(regions.b)
    assert (told["carry_out"], told["behind_ms"], "lapsed" in told) == (1, 0, False)


def test_who_was_the_primary_meanwhile_has_missed_nothing(regions: Regions) -> None:
    """When it followed last is long ago."""
    regions.join()
    regions.turn(regions.b)
    for epoch, one, other in ((2, regions.b, regions.a), (3, regions.a, regions.b)):
        regions.become(one, replace(regions.role(one), kind=RegionKind.PRIMARY, epoch=epoch))
        regions.become(other, replace(regions.role(other), kind=RegionKind.FOLLOWER, epoch=epoch))
        pass_days(regions, 40)
        told = regions.turn(other)
        assert (told["behind_ms"], "lapsed" in told) == (0, False)


@pytest.mark.parametrize("is_spoiled", [False, True])
def test_a_long_way_is_gone_in_several_turns_each_of_which_goes_on_where_the_last_one_came(
    regions: Regions, monkeypatch: pytest.MonkeyPatch, *, is_spoiled: bool
) -> None:
    """One that looked at all that is here by now would come no further one day. What cannot be read stays in view."""
    monkeypatch.setattr(comparing, "MOST_READ", 3)
    regions.join()
    regions.turn(regions.b)
    with closing(regions.store(regions.b)) as here, closing(regions.store(regions.a)) as there:
        if is_spoiled:
            row = there.tools.places.journal(regions.clock.time + 1, "spoiled")
            there.tools.table.write_all([put(row, {"form": "{"})])
        ask(regions.a, [register(f"s{number}", ONE) for number in range(9)])
        times = list[int]()
        for _ in range(3):
            comparison = JournalComparison(here, there, regions.role(regions.b))
            times.append(comparison.complete_up_to())
            assert comparison.catch_up(0)[Verdict.CARRY_OUT] == 3
        assert times == sorted(times)
        assert len({*times}) == (1 if is_spoiled else 3)
        assert max(times) < regions.clock.time


def test_a_person_s_clock_that_is_wrong_hides_nothing(regions: Regions) -> None:
    """A follower that took that time for its own would look for nothing before it, and a rejoin bring nothing."""
    regions.join()
    regions.turn(regions.b)
    regions.clock.set_by = 3 * 3_600_000
    with closing(regions.store(regions.b)) as here, closing(regions.store(regions.a)) as there:
        assert TablePair(here, there).rehearse() == []
    regions.clock.set_by = 0
    register("late", ONE)(regions.a.registry)
    with closing(regions.store(regions.b)) as here, closing(regions.store(regions.a)) as there:
        assert [*TablePair(here, there).missing()]
    assert regions.turn(regions.b)["carry_out"] == 1


def test_a_clock_that_was_ahead_for_a_moment_is_made_good_by_the_next_turn(regions: Regions) -> None:
    regions.join()
    regions.clock.set_by = 3 * 3_600_000
    regions.turn(regions.b)
    regions.clock.set_by = 0
    register("late", ONE)(regions.a.registry)
    assert regions.turn(regions.b)["carry_out"] == 1
    register("later", TWO)(regions.a.registry)
    with closing(regions.store(regions.b)) as here:
        assert here.region.state().complete_at <= regions.clock.time


@pytest.fixture
def tables(monkeypatch: pytest.MonkeyPatch) -> Iterator[Stores]:
    with begun(monkeypatch) as stores:
        yield stores


@pytest.mark.parametrize("days, is_told", [(34, False), (36, True)])
def test_who_rejoins_too_late_is_told_that_commits_may_have_gone(
    tables: Stores, tmp_path: Path, days: int, *, is_told: bool
) -> None:
    """What it had acknowledged before it was closed would be lost in silence."""
    tables.turn(tables.b, tables.a)
    tables.register(tables.a, "alone", "Alone")
    carried_out(promotion.forced(tables.b.region, now=tables.clock.now()))
    tables.clock.time += days * DAY_MS
    expire(tables.a.tools.table, tables.clock.time)
    report = tmp_path / "rejoin.jsonl"
    assert tables.rejoin(tables.a, tables.b, report) == int(is_told)
    assert any("35 days" in line for line in json.loads(report.read_text())["left"]) == is_told
