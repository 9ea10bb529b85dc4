"""A zone on a virtual clock: the real ring, the real leases, the real member in this process, and no time but events.

What takes time in the world is drawn from seeds here: a member's answer, S3's. So a run of a thousand instances is the
same each time, takes as long as its events are many, and nothing in it waits for this machine.
"""

import itertools
import math
from collections.abc import Callable, Generator, Mapping, Sequence
from dataclasses import dataclass
from heapq import heappop, heappush
from random import Random

from sigla.cache.member import MemberFailed, Swap
from sigla.cache.members.local import LocalMember
from sigla.cache.members.transport import CONNECT_S, OPERATION_S
from sigla.cache.ring import Found, Ring
from sigla.cache.single_flight import Claim, Load, Pause, Settle, fetch

Process = Generator[float, None, None]
"""Something that goes on in the world: yields the milliseconds until it goes on. Who closes it has killed it."""

TIMEOUT_MS, CONNECT_MS = 1000 * OPERATION_S, 900 * CONNECT_S
"""What a member is given to answer, and to take a connection: the mean of what is drawn."""

_QUICK, _SLOW_SHARE, _SLOW_MEAN_MS = (20.0, 60.0), 0.03, 90 / math.log(3)


def s3_ms(draw: Random) -> float:
    """How long S3 takes for a small object: mostly 20 to 60 ms, in three of a hundred reads more; p99 is 150 ms."""
    if draw.random() < _SLOW_SHARE:
        return _QUICK[1] + draw.expovariate(1 / _SLOW_MEAN_MS)
    return draw.uniform(*_QUICK)


def member_ms(draw: Random) -> float:
    """A round trip to a member in the same zone, without what it waits for others."""
    return draw.uniform(0.3, 0.8)


class World:
    """A `ports.Clock` that its processes move: each goes on when its time has come, in the order of their times."""

    def __init__(self) -> None:
        self.ms = 0.0
        self._order = itertools.count()
        self._waiting: list[tuple[float, int, Process]] = []

    def now(self) -> int:
        return int(self.ms)

    def elapsed(self) -> int:
        return int(self.ms)

    def sleep(self, seconds: float) -> None:
        """Raises RuntimeError: processes yield instead."""
        raise RuntimeError(f"a caller sleeps for {seconds} s in a world without time")

    def start(self, process: Process, *, after_ms: float = 0.0) -> None:
        heappush(self._waiting, (self.ms + after_ms, next(self._order), process))

    def run(self, until_ms: float = math.inf) -> None:
        """Until nothing is left to happen, or to happen before a moment."""
        while self._waiting and self._waiting[0][0] < until_ms:
            self.ms, _, process = heappop(self._waiting)
            wait = next(process, None)
            if wait is not None:
                heappush(self._waiting, (self.ms + wait, next(self._order), process))


class Served:
    """One member: works on one thing after the other, and may be lost: hung, without an answer.

    key_ms, handshake_ms: what a key, and a new connection, take of its one thread. connect_ms: how long whoever
    connects waits for that. Between two commands it takes one new connection (Valkey's `max-new-tls-connections-
    per-cycle`), so that commands wait for one at most, and connections for each other.
    """

    def __init__(
        self,
        world: World,
        *,
        capacity: int = 2**30,
        key_ms: float = 0.0,
        handshake_ms: float = 0.0,
        connect_ms: float = CONNECT_MS,
    ) -> None:
        self.kept = LocalMember(world, capacity=capacity)
        self.lost = False
        self.keys = self.bytes_in = self.bytes_out = self.open = 0
        self.busiest = self.most_open = 0
        """The most keys in one second; the most connections at a time."""
        self._world = world
        self._key_ms, self._handshake_ms, self._connect_ms = key_ms, handshake_ms, connect_ms
        self._commands_until = self._connections_until = self._took_ms = 0.0
        self._second, self._in_second = -1, 0

    def took_ms(self) -> float:
        """What the last commands took, from when they came to their answers or to their time-outs; told once."""
        took, self._took_ms = self._took_ms, 0.0
        return took

    def connect(self) -> None:
        """Raises MemberFailed."""
        if not self.lost:
            self._connections_until = max(self._world.ms, self._connections_until) + self._handshake_ms
        self._answer(self._connections_until, patience_ms=self._connect_ms)
        self.open += 1
        self.most_open = max(self.most_open, self.open)

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        self._serve(len(keys))
        found = self.kept.claim(keys, value, lasts_ms=lasts_ms)
        self.bytes_in += sum(len(key) + len(value) for key in keys)
        self.bytes_out += sum(len(each) for each in found if each)
        return found

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        self._serve(len(swaps))
        self.bytes_in += sum(len(each.key) + len(each.expected) + len(each.value) for each in swaps)
        self.kept.swap(swaps, lasts_ms=lasts_ms)

    def _serve(self, keys: int) -> None:
        second = int(self._world.ms / 1000)
        if second != self._second:
            self._second, self._in_second = second, 0
        self._in_second += keys
        self.busiest = max(self.busiest, self._in_second)
        self.keys += keys
        takes, now = keys * self._key_ms, self._world.ms
        busy = self._connections_until > now
        self._commands_until = max(now, self._commands_until) + takes
        self._connections_until += takes if busy else 0.0
        self._answer(self._commands_until + (self._handshake_ms if busy else 0.0), patience_ms=TIMEOUT_MS)

    def _answer(self, at_ms: float, *, patience_ms: float) -> None:
        """Raises MemberFailed where it would come too late; the work is done all the same."""
        wait = at_ms - self._world.ms
        late = self.lost or wait > patience_ms
        self._took_ms += patience_ms if late else wait
        if late:
            raise MemberFailed("it hangs, or is too busy")


class Connected:
    """A `Member`: one environment's way to one that others share."""

    def __init__(self, served: Served) -> None:
        self._served = served
        self._open = False

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        return self._asked().claim(keys, value, lasts_ms=lasts_ms)

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        self._asked().swap(swaps, lasts_ms=lasts_ms)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        self._asked().kept.put(key, value, lasts_ms=lasts_ms)

    def ping(self) -> None:
        self._asked()

    def close(self) -> None:
        self._served.open -= self._open
        self._open = False

    def _asked(self) -> Served:
        if not self._open:
            self._served.connect()
            self._open = True
        return self._served


@dataclass(slots=True)
class Tally:
    """The tally of one zone.

    reads: those that memory had no answer to. gets: from S3. again: of those, what the zone had read before. waits:
    looks at a lease. lost_ms: by time-outs. longest_ms: of all reads.
    """

    reads: int = 0
    gets: int = 0
    again: int = 0
    from_ring: int = 0
    waits: int = 0
    failures: int = 0
    lost_ms: float = 0.0
    longest_ms: float = 0.0


class Zone:
    """Members, what stands behind them, and what was counted.

    body: what an id means, as bytes. presence_ms: in the ring.
    """

    def __init__(
        self,
        world: World,
        members: Mapping[str, Served],
        draw: Random,
        *,
        body: Callable[[str], bytes],
        presence_ms: int = 3_600_000,
    ) -> None:
        self.world = world
        self.members = members
        self.tally = Tally()
        self.body = body
        self.presence_ms = presence_ms
        self.draw = draw
        self.tokens = itertools.count()
        self.loaded: set[str] = set()

    def instance(self) -> "Instance":
        return Instance(self)

    def herd(self, instances: int, keys: Sequence[str]) -> list[Process]:
        """So many instances that start at this moment, each reading all of these in an order of its own."""
        sessions = [self.instance().session(self.draw.sample(keys, len(keys))) for _ in range(instances)]
        for session in sessions:
            self.world.start(session)
        return sessions


class Instance:
    """An environment of a zone's function, with a ring of its own."""

    def __init__(self, zone: Zone) -> None:
        members = {name: Connected(member) for name, member in zone.members.items()}
        self.ring = Ring(members, zone.world, draw=zone.draw.random)
        self._zone = zone

    def session(self, keys: Sequence[str]) -> Process:
        """Reads these, one after the other, as a function does; what it has read it keeps."""
        remembered: set[str] = set()
        for key in keys:
            if key not in remembered:
                remembered.add(key)
                yield from self.read(key)

    def close(self) -> None:
        self.ring.close()

    def read(self, key: str) -> Process:
        """One body by the product's own steps. Raises RuntimeError if it was told anything else than the body."""
        zone, tally, draw = self._zone, self._zone.tally, self._zone.draw
        content, begun = zone.body(key), zone.world.ms
        token = next(zone.tokens).to_bytes(8, "big")
        flight = fetch([key], token, presence_ms=zone.presence_ms, draw=draw.random)
        tally.reads += 1
        loaded = False
        answer: Mapping[str, Found] | None = None
        while True:
            try:
                step = flight.send(answer)
            except StopIteration as landed:
                tally.from_ring += not loaded
                tally.longest_ms = max(tally.longest_ms, zone.world.ms - begun)
                if landed.value != {key: content}:
                    raise RuntimeError(f"the answer for {key} was wrong") from None
                return
            answer = None
            match step:
                case Load():
                    tally.gets += 1
                    tally.again += key in zone.loaded
                    zone.loaded.add(key)
                    loaded, answer = True, {key: content}
                    yield s3_ms(draw)
                case Pause():
                    tally.waits += 1
                    yield step.ms
                case Claim() | Settle():
                    there = member_ms(draw) / 2
                    yield there
                    failed = self.ring.failures
                    if isinstance(step, Claim):
                        answer = self.ring.claim(step.keys, step.value, lasts_ms=step.lasts_ms)
                    else:
                        self.ring.swap(step.swaps, lasts_ms=step.lasts_ms)
                    yield there + self._cost(self.ring.failures - failed)

    def _cost(self, failures: int) -> float:
        """Milliseconds that the members took, their time-outs included."""
        took = sum(member.took_ms() for member in self._zone.members.values())
        if failures:
            self._zone.tally.failures += failures
            self._zone.tally.lost_ms += took
        return took
