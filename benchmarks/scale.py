"""What a ring takes and saves where there are 100,000 environments, 10 zones and a million schemas; docs/scale.md.

    python -m benchmarks.scale                 the whole fleet: some minutes, and 2 GB for each processor
    python -m benchmarks.scale --members 1     the same with another number of members in each zone
    python -m benchmarks.scale --handshakes    1,000 environments that connect in the same moment

Zones share nothing, so each is simulated for itself (`benchmarks/simulation.py`): the product's own ring, leases and
circuit breakers, on a virtual clock. It begins cold; environments come as fast as Lambda makes them, each reads some 50
schemas, the popular ones far more often (Zipf), stays for a while, and another takes its place.

It may mislead: how long members and S3 take is drawn, not measured there; how popular schemas are, and how long an
environment lives, is assumed. Both decide how often S3 is read.
"""

import argparse
import itertools
import json
import math
import os
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import asdict, dataclass, replace
from multiprocessing import get_context
from random import Random
from zlib import crc32

from benchmarks.simulation import CONNECT_MS, Process, Served, World, Zone
from infra.prices import CHEAPER, HOURS, NODE_HOUR
from infra.usage import S3, SECONDS_A_MONTH
from sigla import keys
from sigla.cache.members.transport import CONNECT_S
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId

# --- what is assumed -------------------------------------------------------------------------------------------------

KEY_MS, HANDSHAKE_MS = 0.03, 1.5
"""What one key, and one TLS connection, take of a member's only thread; docs/scale.md says whence."""

USABLE = {"cache.t4g.micro": 0.375 * 2**30, "cache.t4g.small": 1.0 * 2**30, "cache.t4g.medium": 2.3 * 2**30}
"""Bytes of a node for what it keeps: three quarters of its memory."""
OVERHEAD = 150
"""Bytes that an entry takes beside its value: its key, its place in two tables."""
MEDIAN_BYTES, SPREAD = 800, 0.8
"""How large bodies are: log-normal."""
BLOBS = 4_096
"""So many different ones are drawn."""

AT_ONCE, EVERY_MS = 1_000, 10_000
"""Environments that Lambda adds to one function, and how often."""
LIFE_S = 600
"""How long an environment is there, on average; exponential."""
READS = (25, 75)
"""When in the life of an environment, evenly."""
ZIPF = 1.0

PRESENCE_MS = 3_600_000


@dataclass(frozen=True, slots=True)
class Fleet:
    """minutes: how long it is looked at, from when it begins cold."""

    environments: int = 100_000
    zones: int = 10
    schemas: int = 1_000_000
    members: int = 2
    node: str = "cache.t4g.micro"
    minutes: float = 10.0
    presence_ms: int = PRESENCE_MS
    handshake_ms: float = HANDSHAKE_MS

    @property
    def in_a_zone(self) -> int:
        return self.environments // self.zones


@dataclass(frozen=True, slots=True)
class Figures:
    """The figures of one zone, or of all together. again: reads from S3 of what the zone had read before.

    busiest, connections, bytes_in, bytes_out: of the member that had most of it. settled_reads: per second, once all
    environments were there.
    """

    zones: int
    reads: int
    gets: int
    again: int
    waits: int
    failures: int
    busiest: int
    connections: int
    bytes_in: int
    bytes_out: int
    settled_reads: float
    longest_s: float

    def __add__(self, other: "Figures") -> "Figures":
        largest = {name: max(getattr(self, name), getattr(other, name)) for name in _LARGEST}
        summed = {name: value + getattr(other, name) for name, value in asdict(self).items() if name not in largest}
        return Figures(**summed, **largest)


_LARGEST = ("busiest", "connections", "bytes_in", "bytes_out", "longest_s")


class Popularity:
    """Draws ids as clients ask for them: the n-th most popular 1/n as often as the first."""

    def __init__(self, schemas: int) -> None:
        weights: list[float] = [1 / rank**ZIPF for rank in range(1, schemas + 1)]
        self.shares = weights
        self._ids = range(1, schemas + 1)
        self._sums = list(itertools.accumulate(weights))

    def keys(self, draw: Random, count: int) -> list[str]:
        """The keys as a ring knows them."""
        drawn = draw.choices(self._ids, cum_weights=self._sums, k=count)
        return [keys.ring_key("default", BodyKey(DEFAULT_CONTEXT, SchemaId(id))) for id in drawn]

    def renewed(self, environments: float, presence_s: float) -> float:
        """Reads from S3 per second of a zone with so many new environments per second, where nothing is evicted.

        Each schema is read again by the first request after its presence: where that happens at random times, r in a
        second, it is one in every 1/r + presence seconds.
        """
        total, draws = self._sums[-1], sum(READS) / 2
        rates = (environments * (1 - (1 - share / total) ** draws) for share in self.shares)
        return sum((rate / (1 + rate * presence_s) for rate in rates), start=0.0)


# --- one zone --------------------------------------------------------------------------------------------------------


def simulated(fleet: Fleet, number: int) -> Figures:
    """One zone of it, the same each time."""
    world, draw, popularity = World(), Random(f"zone {number}"), Popularity(fleet.schemas)
    blobs = _blobs(Random("bodies"))
    mean = sum(map(len, blobs)) / len(blobs)
    capacity = int(USABLE[fleet.node] * mean / (mean + OVERHEAD))
    members = {
        f"zone-{number}-member-{name}": Served(world, capacity=capacity, key_ms=KEY_MS, handshake_ms=fleet.handshake_ms)
        for name in range(fleet.members)
    }
    zone = Zone(
        world,
        members,
        draw,
        body=lambda key: blobs[crc32(key.encode()) % len(blobs)],
        presence_ms=fleet.presence_ms,
    )
    for at in range(fleet.in_a_zone):
        world.start(_place(zone, popularity), after_ms=at // AT_ONCE * EVERY_MS)
    there_ms = math.ceil(fleet.in_a_zone / AT_ONCE) * EVERY_MS
    world.run(until_ms=there_ms)
    before = zone.tally.reads
    world.run(until_ms=max(there_ms + 1, fleet.minutes * 60_000))
    settled_s = (world.ms - there_ms) / 1000
    tally, served = zone.tally, members.values()
    return Figures(
        zones=1,
        reads=tally.reads,
        gets=tally.gets,
        again=tally.again,
        waits=tally.waits,
        failures=tally.failures,
        busiest=max(each.busiest for each in served),
        connections=max(each.most_open for each in served),
        bytes_in=max(each.bytes_in for each in served),
        bytes_out=max(each.bytes_out for each in served),
        settled_reads=(tally.reads - before) / max(settled_s, 1e-9),
        longest_s=tally.longest_ms / 1000,
    )


def _place(zone: Zone, popularity: Popularity) -> Process:
    """One of the fleet's: an environment, and when it ends the next."""
    while True:
        environment = zone.instance()
        ends_ms = zone.world.ms + 1000 * zone.draw.expovariate(1 / LIFE_S)
        yield from environment.session(popularity.keys(zone.draw, zone.draw.randint(*READS)))
        yield max(0.0, ends_ms - zone.world.ms)
        environment.close()


def _blobs(draw: Random) -> list[bytes]:
    sizes = [int(min(2**20, MEDIAN_BYTES * math.exp(SPREAD * draw.gauss(0, 1)))) for _ in range(BLOBS)]
    return [bytes(size) for size in sizes]


# --- the fleet -------------------------------------------------------------------------------------------------------


def fleet_of(fleet: Fleet, processes: int | None = None) -> Figures:
    """All its zones, some at a time."""
    context = get_context("spawn")
    with ProcessPoolExecutor(processes or os.cpu_count(), mp_context=context) as pool:
        found = pool.map(simulated, [fleet] * fleet.zones, range(fleet.zones))
        first = next(found)
        return sum(found, start=first)


def shown(fleet: Fleet, found: Figures) -> Iterator[tuple[str, str]]:
    """What, and how much."""
    reads_month = found.settled_reads * SECONDS_A_MONTH
    popularity = Popularity(fleet.schemas)
    a_zone = popularity.renewed(fleet.in_a_zone / LIFE_S, fleet.presence_ms / 1000)
    gets_month = a_zone * fleet.zones * SECONDS_A_MONTH
    ring = fleet.zones * fleet.members * NODE_HOUR[fleet.node] * CHEAPER["valkey"] * HOURS
    mean = sum(map(len, _blobs(Random("bodies")))) / BLOBS
    entries = a_zone * fleet.presence_ms / 1000
    minutes = f"in {fleet.minutes:g} minutes from cold"
    yield f"reads that no memory answers, {minutes}", f"{found.reads:,}"
    yield f"reads from S3, {minutes}", f"{found.gets:,}"
    yield "  of those, what the zone had read before (evicted, or a member was not heard of)", f"{found.again:,}"
    yield "  of 1,000 reads", f"{1000 * found.gets / found.reads:.1f}"
    yield "longest read", f"{found.longest_s:.2f} s"
    yield "time-outs of members, all environments", f"{found.failures:,}"
    yield "busiest member: keys in its busiest second", f"{found.busiest:,}"
    yield "  of its only thread", f"{found.busiest * KEY_MS / 1000:.0%}"
    yield "  connections", f"{found.connections:,}"
    yield "  bytes out, per second", f"{found.bytes_out / fleet.minutes / 60:,.0f}"
    yield "  bytes in, per second", f"{found.bytes_in / fleet.minutes / 60:,.0f}"
    yield "schemas in the ring of a zone, in the long run", f"{entries:,.0f}"
    yield "  bytes of them in each member", f"{entries * (mean + OVERHEAD) / fleet.members:,.0f}"
    yield "bytes billed from one zone to another, by rings", "0"
    yield "a month: reads from S3 without a ring", f"{reads_month:,.0f} (${reads_month * S3['GetObject']:,.2f})"
    yield "a month: reads from S3 with it", f"{gets_month:,.0f} (${gets_month * S3['GetObject']:,.2f})"
    yield "a month: the ring's members", f"${ring:,.2f}"


def handshakes(*, environments: int, schemas: int = 50) -> Iterator[tuple[str, str]]:
    """A zone's herd that connects in one moment: by what a connection takes of a member, and how long it is given."""
    for ms, seconds in itertools.product((0.05, 0.75, 1.5, 3.0), (0.5, 1.0, CONNECT_S)):
        world = World()
        connect_ms = CONNECT_MS * seconds / CONNECT_S
        members = {
            f"member-{name}": Served(world, key_ms=KEY_MS, handshake_ms=ms, connect_ms=connect_ms) for name in range(2)
        }
        zone = Zone(world, members, Random(0), body=lambda key: key.encode() * 60)
        zone.herd(environments, [f"schema-{number}" for number in range(schemas)])
        world.run()
        told = f"{zone.tally.gets:,} reads from S3, {zone.tally.failures:,} time-outs"
        what = f"{environments:,} at once, {ms:g} ms for a connection, {seconds:g} s of patience"
        yield what, f"{told}, all through after {world.ms / 1000:.1f} s"


def main(argv: Sequence[str] | None = None) -> int:
    usual = Fleet()
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--handshakes", action="store_true", help="how a herd connects, instead of the fleet")
    parser.add_argument("--environments", type=int, default=usual.environments, help="of the fleet, at a time")
    parser.add_argument("--zones", type=int, default=usual.zones)
    parser.add_argument("--schemas", type=int, default=usual.schemas)
    parser.add_argument("--members", type=int, default=usual.members, help="in each zone")
    parser.add_argument("--node", choices=USABLE, default=usual.node)
    parser.add_argument("--presence", type=int, default=usual.presence_ms // 1000, help="in the ring, in seconds")
    parser.add_argument("--minutes", type=float, default=usual.minutes)
    parser.add_argument("--json", action="store_true", help="one object")
    args = parser.parse_args(argv)
    chosen = {name: getattr(args, name) for name in ("environments", "zones", "schemas", "members", "node", "minutes")}
    if args.handshakes:
        rows = list(handshakes(environments=min(args.environments, AT_ONCE)))
    else:
        fleet = replace(usual, **chosen, presence_ms=1000 * args.presence)
        rows = list(shown(fleet, fleet_of(fleet)))
    if args.json:
        print(json.dumps({what.strip(): figure for what, figure in rows}))
    else:
        for what, figure in rows:
            print(f"{what:<82} {figure}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
