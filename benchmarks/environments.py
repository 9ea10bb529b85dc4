"""Environments of a zone's function on this machine: thousands, each with its own application, memory and ring.

What they share is what environments share: the catalog, S3, the members of the ring. They are threads of a few
processes; S3 and the catalog take their time without this machine's processors. A few of a process's threads compute at
a time, and one that waits lets another go on: else thousands would wait for the interpreter in the middle of a question
to a member, and its time-outs would tell of this machine and not of the ring.
"""

import asyncio
import io
import json
import os
import threading
import time
from collections import Counter, deque
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import astuple, dataclass, field
from functools import partial
from multiprocessing.connection import Connection
from multiprocessing.synchronize import Barrier
from operator import add
from random import Random
from typing import Any, cast

from benchmarks import filled
from benchmarks.simulation import s3_ms
from benchmarks.warm_get import CONTEXT, FUNCTION_URL
from sigla import keys, records
from sigla.cache.counts import Counts
from sigla.cache.member import Member, MemberFailed, Swap
from sigla.cache.members import member
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import SingleFlight
from sigla.cache.speakers import Speakers
from sigla.cache.tiers import Tiers
from sigla.model import DEFAULT_CONTEXT, BodyKey, Draft, Holder, SchemaId, Subject
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.registry import Registry
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import gateway

COMPUTE_AT_A_TIME = 4
CATALOG_S = 0.003
MEMORY_BYTES = 16 * 2**20
Meanwhile = Callable[[], AbstractContextManager[None]]

STARTS_WITHIN_S, ENDS_WITHIN_S = 300.0, 1_800.0


@dataclass(frozen=True, slots=True)
class Job:
    """What one process does.

    rings: of each zone the addresses of its members, perhaps none. environments: of each zone, in this process. rounds:
    how often each environment reads every schema. hung: S3 never answers here, and each begins with another schema.
    silent: names of members that do not answer; who waits for one of them lets others compute.
    """

    rings: Mapping[str, Sequence[str]]
    environments: int
    schemas: int
    rounds: int = 1
    memory_bytes: int = MEMORY_BYTES
    hung: bool = False
    seed: int = 0
    silent: frozenset[str] = frozenset()


@dataclass(slots=True)
class Seen:
    """What happened in one process, or in all. Times in seconds; began and ended by the clock of the whole machine.

    gets: reads from S3 by zone and object. reads: how long each request took. round_trips: how long members took that
    answered. failed: of each environment, how long each failure of a member kept it. wrong: answers that were not 200
    with the right schema; there may not be any.
    """

    gets: Counter[tuple[str, str]] = field(default_factory=Counter)
    reads: list[float] = field(default_factory=list)
    round_trips: list[float] = field(default_factory=list)
    failed: list[list[float]] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)
    counts: Counts = field(default_factory=Counts)
    began: float = 0.0
    ended: float = 0.0
    cpu: float = 0.0

    def add(self, other: "Seen") -> None:
        self.gets += other.gets
        self.reads += other.reads
        self.round_trips += other.round_trips
        self.failed += other.failed
        self.wrong += other.wrong
        self.count(other.counts)
        self.began = min(filter(None, (self.began, other.began)))
        self.ended = max(self.ended, other.ended)
        self.cpu += other.cpu

    def count(self, counts: Counts) -> None:
        self.counts = Counts(*map(add, astuple(self.counts), astuple(counts)))


# --- what they share -------------------------------------------------------------------------------------------------


class Processors:
    """Turns to compute. Who comes back from waiting goes on before those who have not begun."""

    def __init__(self, count: int = COMPUTE_AT_A_TIME) -> None:
        self._free = count
        self._waiting: deque[threading.Lock] = deque()
        self._lock = threading.Lock()

    def take(self, *, again: bool = False) -> None:
        with self._lock:
            if self._free:
                self._free -= 1
                return
            gate = threading.Lock()
            gate.acquire()
            (self._waiting.appendleft if again else self._waiting.append)(gate)
        gate.acquire()

    def give(self) -> None:
        with self._lock:
            if self._waiting:
                self._waiting.popleft().release()
            else:
                self._free += 1

    @contextmanager
    def others_compute(self) -> Iterator[None]:
        self.give()
        try:
            yield
        finally:
            self.take(again=True)


class Waiting:
    """A `ports.Clock`: whoever sleeps lets others compute."""

    def __init__(self, processors: Processors) -> None:
        self._processors = processors

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def elapsed(self) -> int:
        return time.monotonic_ns() // 1_000_000

    def sleep(self, seconds: float) -> None:
        with self._processors.others_compute():
            time.sleep(seconds)


class S3:
    """As much of boto3's client as reading a body takes, in S3's time; tells what it is asked.

    hung: it never answers.
    """

    def __init__(
        self, objects: Mapping[str, bytes], clock: Clock, asked: Callable[[str], None], draw: Random, *, hung: bool
    ) -> None:
        self._objects, self._clock, self._asked, self._draw, self._hung = objects, clock, asked, draw, hung
        self._lock = threading.Lock()

    def get_object(self, **asked: str) -> dict[str, Any]:
        """asked: `Bucket` and `Key`."""
        with self._lock:
            self._asked(asked["Key"])
            takes_ms = s3_ms(self._draw)
        self._clock.sleep(ENDS_WITHIN_S if self._hung else takes_ms / 1000)
        return {"Body": io.BytesIO(self._objects[asked["Key"]]), "ETag": '"1"'}


class Holders:
    """A catalog as far as reads by id ask it: who speaks for an id, from memory, in a few milliseconds."""

    def __init__(self, catalog: Catalog, held: Sequence[BodyKey]) -> None:
        self._catalog = catalog
        self._speakers: dict[BodyKey, Holder | None] = {key: catalog.speaker(key) for key in held}

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:  # noqa: ARG002 - the port's
        time.sleep(CATALOG_S)
        return self._speakers[key]

    def __getattr__(self, name: str) -> Any:
        return getattr(self._catalog, name)


class Watched:
    """A `Member` that notes how long it took, and how long it kept a caller that got nothing.

    meanwhile: what is done while it is asked.
    """

    def __init__(
        self, member: Member, took: list[float], failed: list[float], meanwhile: Meanwhile = nullcontext
    ) -> None:
        self._member, self._took, self._failed, self._meanwhile = member, took, failed, meanwhile

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        with self._noted():
            return self._member.claim(keys, value, lasts_ms=lasts_ms)

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        with self._noted():
            self._member.swap(swaps, lasts_ms=lasts_ms)

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        with self._noted():
            self._member.put(key, value, lasts_ms=lasts_ms)

    def ping(self) -> None:
        self._member.ping()

    def close(self) -> None:
        self._member.close()

    @contextmanager
    def _noted(self) -> Iterator[None]:
        with self._meanwhile():
            begun = time.perf_counter()
            try:
                yield
            except MemberFailed:
                self._failed.append(time.perf_counter() - begun)
                raise
            self._took.append(time.perf_counter() - begun)


@dataclass(frozen=True, slots=True)
class Around:
    """What the environments of a process have about them. texts: the right ones, by id."""

    processors: Processors
    clock: Clock
    texts: Mapping[int, str]
    seen: Seen


# --- an environment --------------------------------------------------------------------------------------------------


class Environment:
    """Built as `wiring` builds it for AWS, over members of its own and what all share."""

    def __init__(self, ring: Sequence[str], s3: S3, catalog: Holders, job: Job, around: Around) -> None:
        failed: list[float] = []
        around.seen.failed.append(failed)
        clock = around.clock
        made = dict(member(address, token=lambda _user, _group: "") for address in ring)
        others: Mapping[bool, Meanwhile] = {True: around.processors.others_compute, False: nullcontext}
        members = {
            name: Watched(each, around.seen.round_trips, failed, others[name in job.silent])
            for name, each in made.items()
        }
        self._ring = Ring(members, clock)
        self.counts = Counts()
        self._objects = Objects(s3, "bodies", clock=clock)
        flight = SingleFlight(self._ring, clock, counts=self.counts)
        bodies = Tiers(Memory(job.memory_bytes, clock), flight, AwsBodies(self._objects))
        self._speakers = Speakers(cast("Catalog", catalog), bodies, clock, remembered_ms=60_000)
        self._handler = gateway.handler(Registry(self._speakers, bodies, clock))

    def read(self, id: int) -> Mapping[str, Any]:
        """The answer to `GET /schemas/ids/{id}`, as API Gateway would get it."""
        return self._handler(FUNCTION_URL | {"rawPath": f"/schemas/ids/{id}"}, CONTEXT)

    def close(self) -> None:
        self._speakers.close()
        self._objects.close()
        self._ring.close()


# --- a process of them -----------------------------------------------------------------------------------------------


def work(job: Job, start: Barrier, to: Connection) -> None:
    """Builds its environments, waits for all other processes, lets them read, and tells what happened: a `Seen`.

    Where S3 hangs it tells which objects it was asked for, and goes on until it is killed.
    """
    os.nice(5)  # the members are other machines: they are not to wait for this one's processors
    seen, processors = Seen(), Processors()
    with EmbeddedStore(None) as store:
        registry = filled.registry_over(store)
        for number in range(job.schemas):
            registry.register(filled.subject(number), Draft(filled.text(number)))
        held = [BodyKey(DEFAULT_CONTEXT, SchemaId(number + 1)) for number in range(job.schemas)]
        bodies = {key: store.bodies.get(key) for key in held}
        objects = {keys.body_object("default", key): records.body_bytes(key, body) for key, body in bodies.items()}
        texts = {int(key.id): body.schema.text for key, body in bodies.items()}
        around = Around(processors, Waiting(processors), texts, seen)
        catalog = Holders(store.catalog, held)
        made = []
        for zone, ring in job.rings.items():
            asked = to.send if job.hung else partial(_counted, seen, zone)
            s3 = S3(objects, around.clock, asked, Random(f"{job.seed} {zone}"), hung=job.hung)
            made += [Environment(ring, s3, catalog, job, around) for _ in range(job.environments)]
        _let_read(made, job, around, start)
        for each in made:
            seen.count(each.counts)
            each.close()
    to.send(seen)


def _counted(seen: Seen, zone: str, name: str) -> None:
    seen.gets[zone, name] += 1


def _let_read(made: Sequence[Environment], job: Job, around: Around, start: Barrier) -> None:
    go, seen = threading.Event(), around.seen
    threads = [
        threading.Thread(target=_session, args=(each, _order(number, job), around, go), daemon=True)
        for number, each in enumerate(made)
    ]
    for thread in threads:
        thread.start()
    start.wait(STARTS_WITHIN_S)
    seen.began, cpu = time.monotonic(), time.process_time()
    go.set()
    for thread in threads:
        thread.join()
    seen.ended, seen.cpu = time.monotonic(), time.process_time() - cpu


def _order(number: int, job: Job) -> list[int]:
    """The order in which one environment reads the ids."""
    ids = list(range(1, job.schemas + 1))
    if job.hung:
        return ids[number:] + ids[:number]
    return Random(f"{job.seed} {number}").sample(ids * job.rounds, job.schemas * job.rounds)


def _session(environment: Environment, order: Sequence[int], around: Around, go: threading.Event) -> None:
    loop = asyncio.new_event_loop()  # each thread is a process of Lambda's, which has one
    asyncio.set_event_loop(loop)
    go.wait()
    for id in order:
        around.processors.take()
        try:
            _ask(environment, id, around)
        finally:
            around.processors.give()
    loop.close()


def _ask(environment: Environment, id: int, around: Around) -> None:
    seen, begun = around.seen, time.perf_counter()
    try:
        answer = environment.read(id)
        seen.reads.append(time.perf_counter() - begun)
        if answer["statusCode"] != 200 or json.loads(answer["body"])["schema"] != around.texts[id]:
            seen.wrong.append(f"id {id}: {answer['statusCode']} {answer['body'][:200]}")
    except Exception as failure:  # noqa: BLE001 - an answer that never came is a wrong one
        seen.wrong.append(f"id {id}: {failure!r}")
