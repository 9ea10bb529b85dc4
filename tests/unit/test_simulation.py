"""The virtual clock, and what docs/scale.md computes with it, in small."""

import json
from pathlib import Path
from random import Random

import pytest

from benchmarks import compared, scale
from benchmarks.compared import MEMORY, NO_CACHE, RING, Figures
from benchmarks.harness import NotHere
from benchmarks.scale import LIFE_S, Fleet, Popularity, fleet_of, simulated
from benchmarks.simulation import CONNECT_MS, Connected, Process, Served, World, s3_ms
from sigla.cache.member import MemberFailed

SMALL = Fleet(environments=200, zones=2, schemas=1_000, minutes=2)


def test_things_happen_in_the_order_of_their_times() -> None:
    world, seen = World(), []

    def every(ms: float, times: int) -> Process:
        for _ in range(times):
            yield ms
            seen.append((world.now(), ms))

    world.start(every(10, 3))
    world.start(every(7, 2), after_ms=1)
    world.run()
    assert seen == [(8, 7), (10, 10), (15, 7), (20, 10), (30, 10)]


def test_who_is_killed_does_nothing_more() -> None:
    world, seen = World(), []

    def living() -> Process:
        while True:
            yield 1
            seen.append(world.now())

    victim = living()
    world.start(victim)
    world.run(until_ms=4)
    victim.close()
    world.run()
    assert seen == [1, 2, 3]


def test_nobody_sleeps_in_a_world_without_time() -> None:
    with pytest.raises(RuntimeError):
        World().sleep(1)


def test_s3_takes_what_it_is_said_to_take() -> None:
    """Mostly 20 to 60 ms, 150 ms at the 99th percentile."""
    draw = Random(0)
    took = sorted(s3_ms(draw) for _ in range(100_000))
    assert took[0] >= 20
    assert 38 < took[50_000] < 43
    assert 140 < took[99_000] < 160


def test_a_member_takes_connections_one_after_the_other_and_commands_between_them() -> None:
    """In a crowd that comes at once, those get in whose turn comes in time."""
    served = Served(World(), key_ms=0.01, handshake_ms=10)
    crowd = [Connected(served) for _ in range(200)]
    inside = []
    for each in crowd:
        try:
            each.claim(["key"], b"lease", lasts_ms=1)
        except MemberFailed:
            continue
        inside.append(each)
    assert CONNECT_MS / 10 - 2 <= len(inside) <= CONNECT_MS / 10
    assert served.most_open == len(inside)
    for each in inside:
        each.close()
    assert served.open == 0


@pytest.mark.process  # a pool simulates the zones beside each other
def test_a_simulated_fleet_is_the_same_each_time_and_in_any_number_of_processes() -> None:
    both = fleet_of(SMALL, processes=1)
    assert both == simulated(SMALL, 0) + simulated(SMALL, 1)
    assert both.zones == 2
    assert both.reads > 200 * 25
    assert 0 < both.gets < both.reads / 3
    assert both.again == both.failures == 0
    assert 0 < both.connections <= 100


def test_a_ring_too_small_for_what_is_asked_reads_again(monkeypatch: pytest.MonkeyPatch) -> None:
    """What was evicted is read from S3 once more, and no answer changes."""
    monkeypatch.setitem(scale.USABLE, "cache.t4g.micro", 200_000)
    assert simulated(SMALL, 0).again > 100


def test_reads_from_s3_in_the_long_run_are_those_of_the_formula() -> None:
    """So that a month need not be simulated."""
    fleet = Fleet(environments=150, zones=1, schemas=500, minutes=20, presence_ms=30_000)
    found = simulated(fleet, 0)
    expected = Popularity(500).renewed(150 / LIFE_S, fleet.presence_ms / 1000) * 20 * 60
    assert found.gets == pytest.approx(expected, rel=0.1)


@pytest.mark.process  # a pool simulates the zones beside each other
def test_the_fleet_is_told_as_a_table_and_as_an_object(capsys: pytest.CaptureFixture[str]) -> None:
    small = ["--environments", "200", "--zones", "2", "--schemas", "1000", "--minutes", "1"]
    assert scale.main(small) == 0
    rows = capsys.readouterr().out.splitlines()
    assert scale.main([*small, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["bytes billed from one zone to another, by rings"] == "0"
    assert len(told) == len(rows)


def test_a_herd_that_connects_is_told_for_each_cost_of_a_connection(capsys: pytest.CaptureFixture[str]) -> None:
    assert scale.main(["--handshakes", "--environments", "40"]) == 0
    rows = capsys.readouterr().out.splitlines()
    assert rows[0].startswith("40 at once, 0.05 ms for a connection")
    assert " 50 reads from S3, 0 time-outs" in rows[0]


# --- what is compared ------------------------------------------------------------------------------------------------

FIGURES = (Figures(NO_CACHE, 1_000, 1_100, 0), Figures(MEMORY, 1_000, 250, 0), Figures(RING, 1_000, 5, 56))


def test_a_ring_costs_less_per_request_the_more_there_are() -> None:
    """S3's price follows the requests, the ring's does not."""
    none, _, ring = FIGURES
    assert none.per_million(1) == none.per_million(1_000) == pytest.approx(0.44)
    assert ring.per_million(1) == pytest.approx(56.002)
    assert ring.per_million(1_000) < none.per_million(1_000)


@pytest.mark.process  # Matplotlib asks fc-list for the machine's fonts where no run before has noted them
def test_the_comparison_is_written_as_a_table_and_a_plot(tmp_path: Path) -> None:
    folder = tmp_path / "made"
    compared.write(FIGURES, folder)
    rows = (folder / "cost.md").read_text().splitlines()
    assert [row.split(" | ")[0] for row in rows[2:]] == ["| no cache", "| memory alone", "| memory and ring"]
    first = (folder / "cost.svg").read_bytes()
    assert b"memory and ring" in first
    compared.write(FIGURES, folder)
    assert (folder / "cost.svg").read_bytes() == first, "the same figures draw another picture"


@pytest.fixture
def without_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "")


@pytest.mark.usefixtures("without_servers")
def test_without_servers_there_is_nothing_to_compare() -> None:
    with pytest.raises(NotHere):
        compared.compare(environments=1, run=lambda _: pytest.fail("nobody should begin"))


def test_the_page_says_what_todays_prices_make_of_it() -> None:
    """docs/scale.md has the table as it is written, but for the heads of its columns."""
    idle = compared.ZONES * compared.MEMBERS * compared.MEMBER_MONTH
    found = [Figures(NO_CACHE, 30_000, 37_500, 0), Figures(MEMORY, 30_000, 7_500, 0), Figures(RING, 30_000, 150, idle)]
    page = (Path(__file__).parents[2] / "docs" / "scale.md").read_text(encoding="utf-8")
    for row in compared.table(found).splitlines()[2:]:
        assert row in page
