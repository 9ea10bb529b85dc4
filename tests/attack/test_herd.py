"""A thousand instances start in three zones at the same moment, and each schema is read from S3 once per zone.

Exactly so on a virtual clock, where nothing but the protocol can be late. With real members and whole applications it
is `benchmarks/herd.py`, of which the last stories here run a small one.
"""

import json
from contextlib import redirect_stderr, redirect_stdout
from io import StringIO
from random import Random
from typing import Any

import pytest

from benchmarks import herd
from benchmarks.environments import Job
from benchmarks.herd import EXPIRED, Herd, ring_servers, together
from benchmarks.members import address
from benchmarks.simulation import CONNECT_MS, Process, Served, Tally, World, Zone
from sigla.cache.breaker import REST_MS
from sigla.cache.single_flight import LEASE_MS
from tests.caches import needs_valkey

ZONES, SCHEMAS, MEMBERS = 3, 50, 2
KEYS = [f"schema-{number}" for number in range(SCHEMAS)]
SEEDS = pytest.mark.parametrize("seed", [0, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(1, 20))])
"""Each a herd of ten thousand reads or more that meet in another order; the others wait for the long attacks."""


def a_zone(seed: str, *, key_ms: float = 0.005) -> Zone:
    """Cold, with a clock of its own."""
    world = World()
    members = {f"member-{number}": Served(world, key_ms=key_ms) for number in range(MEMBERS)}
    return Zone(world, members, Random(seed), body=lambda key: key.encode() * 60)


def gone_through(zone: Zone, instances: int) -> Tally:
    zone.herd(instances, KEYS)
    zone.world.run()
    assert zone.tally.reads == instances * SCHEMAS
    return zone.tally


def killing(zone: Zone, sessions: list[Process], deaths: int, within_ms: float) -> Process:
    """So many of them end in the midst of what they do."""
    for victim in zone.draw.sample(sessions, deaths):
        yield within_ms / deaths
        victim.close()


def exactly_once(instances: int, seed: int, zones: int = ZONES) -> None:
    tallies = [gone_through(a_zone(f"{seed} {number}"), instances) for number in range(zones)]
    assert [tally.gets for tally in tallies] == [SCHEMAS] * zones
    assert all(tally.failures == 0 for tally in tallies)
    assert all(tally.waits > instances for tally in tallies), "nobody had to wait: this was no herd"


@SEEDS
def test_each_schema_is_read_once_per_zone(seed: int) -> None:
    """200 cold instances in each of three zones, 50 schemas each, in random order: 150 reads from S3."""
    exactly_once(200, seed)


def test_a_thousand_instances_of_a_zone_read_no_more() -> None:
    """Zones share nothing here: three of them, with any seed, are a matter for long runs."""
    exactly_once(1_000, seed=0, zones=1)


@pytest.mark.soak
@pytest.mark.parametrize("seed", range(20))
def test_a_thousand_instances_per_zone_read_no_more_with_any_seed(seed: int) -> None:
    exactly_once(1_000, seed)


@SEEDS
def test_an_instance_that_dies_costs_one_read_at_most(seed: int) -> None:
    """What it was reading is read once more, by one of those who waited, when its lease has ended."""
    zone, deaths = a_zone(f"dying {seed}"), 20
    sessions = zone.herd(200, KEYS)
    zone.world.start(killing(zone, sessions, deaths, within_ms=60))
    zone.world.run()
    assert SCHEMAS <= zone.tally.gets <= SCHEMAS + deaths
    assert zone.world.ms < 2 * LEASE_MS


def test_a_dead_holder_is_waited_for_no_longer_than_its_lease() -> None:
    """One of all that waited for it reads, and the others have that."""
    zone = a_zone("a dead holder")
    holder = zone.herd(1, KEYS[:1])[0]
    zone.world.run(until_ms=5)
    assert zone.tally.gets == 1
    holder.close()
    zone.herd(300, KEYS[:1])
    zone.world.run()
    assert zone.tally.gets == 2
    assert LEASE_MS < zone.world.ms < LEASE_MS + 1_000


@SEEDS
def test_a_lost_member_costs_each_instance_one_time_out_and_its_own_share_of_reads(seed: int) -> None:
    """Who finds it silent leaves it alone, and reads its keys himself; the other member's keys are read once."""
    instances, zone = 200, a_zone(f"lost {seed}")
    zone.members["member-0"].lost = True
    tally = gone_through(zone, instances)
    assert zone.world.ms < REST_MS, "else it would have been tried again"
    assert tally.failures == instances
    assert tally.lost_ms == instances * CONNECT_MS
    of_the_other = tally.gets % instances
    theirs = (tally.gets - of_the_other) // instances
    assert theirs + of_the_other == SCHEMAS
    assert 15 <= theirs <= 35


@SEEDS
def test_a_member_that_hangs_in_the_middle_loses_nobody(seed: int) -> None:
    """No reader waits for leases that it took with it: it is silent, so its keys are read behind it."""
    instances, zone = 200, a_zone(f"hanging {seed}")

    def hangs() -> Process:
        yield 30
        zone.members["member-1"].lost = True

    zone.world.start(hangs())
    tally = gone_through(zone, instances)
    assert tally.failures <= instances
    assert SCHEMAS < tally.gets <= SCHEMAS + instances * SCHEMAS
    assert zone.world.ms < LEASE_MS


@SEEDS
def test_a_member_that_is_too_busy_is_a_member_that_is_silent(seed: int) -> None:
    """Ten times slower than its herd is fast: a reader that waits too long for it reads by itself, and all have all."""
    instances, zone = 200, a_zone(f"busy {seed}", key_ms=1.0)
    tally = gone_through(zone, instances)
    assert tally.failures > 0
    assert tally.gets <= SCHEMAS * instances


# --- with real members and whole applications ------------------------------------------------------------------------


def told_by(*arguments: str) -> dict[str, Any]:
    """What the benchmark says at its end; it fails if an answer was wrong, or S3 read more than the bound."""
    with redirect_stdout(StringIO()) as said, redirect_stderr(said):
        status = herd.main([*arguments, "--json"])
    if status == 2:
        pytest.skip(said.getvalue())
    assert status == 0, said.getvalue()
    facts: dict[str, Any] = json.loads(said.getvalue().splitlines()[-1])
    return facts


@needs_valkey
@pytest.mark.parametrize("instances", [12, pytest.param(34, marks=pytest.mark.soak)])
def test_whole_instances_read_each_schema_once_per_zone(instances: int) -> None:
    """Each an application of its own, over six real members; a hundred of them in the long attacks."""
    facts = told_by("--instances", str(instances))
    assert facts["requests"] == ZONES * instances * SCHEMAS
    assert facts["wrong"] == 0
    # On a machine so busy that a member does not come to answer, environments read for themselves: that is the bound.
    assert 150 <= facts["s3_gets"] <= facts["s3_gets_bound"] + EXPIRED
    assert facts["s3_gets"] <= 150 + EXPIRED or facts["ring_failures"]
    assert facts["from_ring"] == facts["requests"] - facts["s3_gets"]


@needs_valkey
@pytest.mark.parametrize("trouble", ["dead", "hung", "killed-holder"])
def test_trouble_in_a_zone_leaves_nobody_without_an_answer(trouble: str) -> None:
    """One of real members is killed or stopped, or those who hold leases are killed; S3 is read within the bound."""
    facts = told_by("--instances", "12", "--schemas", "24", f"--{trouble}")
    assert facts["requests"] == 3 * 12 * 24
    assert facts["wrong"] == 0
    assert 3 * 24 < facts["s3_gets"] <= facts["s3_gets_bound"] + EXPIRED
    assert facts["most_failures_in_one_environment"] <= facts["failures_allowed"]


@needs_valkey
def test_a_new_instance_in_a_warm_zone_reads_nothing_from_s3() -> None:
    """Fifty schemas that another instance had read: it answers its first fifty requests out of the ring."""
    with ring_servers(Herd(zones=1)) as rings:
        ring = {zone: [address(each) for each in servers] for zone, servers in rings.items()}
        first, second = (together(Job(ring, 1, SCHEMAS, seed=seed), processes=1) for seed in (1, 2))
    assert first.gets.total() == SCHEMAS
    assert second.gets.total() == 0
    assert second.counts.ring == len(second.reads) == SCHEMAS
