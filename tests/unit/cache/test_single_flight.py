"""Of all instances of a zone one reads a body behind the ring, and none is ever told anything wrong."""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, invariant, rule

from sigla import keys, records
from sigla.cache import entries
from sigla.cache.breaker import REST_MS
from sigla.cache.member import Member, MemberFailed, Swap
from sigla.cache.members.local import LocalMember
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import (
    CLOSED_MS,
    LEASE_MS,
    PATIENCE_MS,
    Claim,
    Load,
    Pause,
    Settle,
    SingleFlight,
    Step,
    fetch,
)
from sigla.cache.tiers import Tiers
from sigla.errors import SchemaNamedNotFound, StoreError
from sigla.model import Body, BodyKey, Guid, SchemaId
from tests.build import FixedClock, a_body

HOUR_MS = 3_600_000
IDS = range(1, 5)


def key(id: int) -> BodyKey:
    return BodyKey(".", SchemaId(id))


def text(id: int) -> str:
    return f"text {id}"


@dataclass
class Behind:
    """Bodies as S3 has them; counts what is read, and may be silent."""

    bodies: dict[BodyKey, Body] = field(default_factory=dict)
    read: Counter[BodyKey] = field(default_factory=Counter)
    silent: bool = False
    before: Callable[[], object] = lambda: None

    def put(self, key: BodyKey, body: Body) -> None:
        self.bodies[key] = body

    def get(self, key: BodyKey) -> Body:
        return self.get_many([key])[0]

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        self.read.update(keys)
        self.before()
        if self.silent:
            raise StoreError("silent")
        for key in keys:
            if key not in self.bodies:
                raise SchemaNamedNotFound(key=key.id)
        return [self.bodies[key] for key in keys]

    def named(self, guid: Guid) -> tuple[BodyKey, ...]:
        return tuple(key for key, body in self.bodies.items() if body.guid == guid)

    def last(self, context: str) -> SchemaId:
        return max((key.id for key in self.bodies if key.context == context), default=SchemaId(0))

    def bury(self, key: BodyKey) -> None:
        self.bodies[key] = replace(self.bodies[key], gone=True)

    def revive(self, key: BodyKey, body: Body) -> None:
        self.bodies[key] = replace(body, gone=False)


@pytest.fixture
def behind() -> Behind:
    return Behind({key(id): a_body(text(id)) for id in IDS})


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def members(clock: FixedClock) -> dict[str, LocalMember]:
    return {name: LocalMember(clock) for name in ("one", "two")}


@dataclass
class Twice:
    """A member that does what it is asked twice, and answers for the second time."""

    behind: Member

    def __getattr__(self, name: str) -> Any:
        def ask(*arguments: object, **more: object) -> object:
            getattr(self.behind, name)(*arguments, **more)
            return getattr(self.behind, name)(*arguments, **more)

        return ask


@dataclass
class Zone:
    """One zone's ring, and instances made in front of it."""

    behind: Behind
    clock: FixedClock
    members: dict[str, LocalMember]

    def instance(self) -> SingleFlight:
        """A cold one: nothing at hand, connections of its own."""
        return SingleFlight(Ring(self.members, self.clock), self.clock, draw=lambda: 0.5)

    def tiers(self) -> Tiers:
        return Tiers(Memory(10**6, self.clock), self.instance(), self.behind)

    def read(self, *ids: int) -> list[str]:
        """By an instance that has nothing at hand."""
        bodies = self.instance().get_many([key(id) for id in ids], self.behind.get_many)
        return [body.schema.text for body in bodies]

    def stands(self, id: int, value: bytes, *, lasts_ms: int = HOUR_MS) -> None:
        Ring(self.members, self.clock).put(keys.ring_key("default", key(id)), value, lasts_ms=lasts_ms)


class Stepped:
    """A flight taken step by step, so that others get between."""

    def __init__(self, zone: Zone, ids: Sequence[int]) -> None:
        self.zone = zone
        self.ring = Ring(zone.members, zone.clock)
        self.ids = {keys.ring_key("default", key(id)): id for id in ids}
        self.flight = fetch(list(self.ids), Random().randbytes(8), presence_ms=HOUR_MS, draw=lambda: 0.5)
        self.step: Step = next(self.flight)
        self.loaded: dict[str, bytes] | None = None
        self.had: dict[int, Body] = {}
        self.landed = False

    def go(self) -> None:
        """One step; S3 is asked in one and answers in the next."""
        if isinstance(self.step, Load) and self.loaded is None:
            bodies = self.zone.behind.get_many([key(self.ids[name]) for name in self.step.keys])
            self.loaded = {name: records.body_bytes(body) for name, body in zip(self.step.keys, bodies, strict=True)}
            return
        try:
            self.step = self.flight.send(self._answer())
        except StopIteration as landed:
            self.landed = True
            self.had = {self.ids[name]: records.body(content) for name, content in landed.value.items()}

    def _answer(self) -> object:
        match self.step:
            case Claim():
                return self.ring.claim(self.step.keys, self.step.value, lasts_ms=self.step.lasts_ms)
            case Load():
                loaded, self.loaded = self.loaded, None
                return loaded
            case Settle():
                self.ring.swap(self.step.swaps, lasts_ms=self.step.lasts_ms)
            case Pause():
                pass
        return None


@pytest.fixture
def zone(behind: Behind, clock: FixedClock, members: dict[str, LocalMember]) -> Zone:
    return Zone(behind, clock, members)


def test_each_body_is_read_once_however_many_instances_begin(zone: Zone) -> None:
    """And each gets all that it asked for, in its order."""
    for _ in range(20):
        assert zone.read(3, 1, 2, 3) == [text(3), text(1), text(2), text(3)]
    assert zone.behind.read == {key(1): 1, key(2): 1, key(3): 1}


def test_a_body_is_read_again_after_its_presence(zone: Zone) -> None:
    """So long may what was deleted for good elsewhere be told."""
    zone.read(1)
    zone.clock.sleep(HOUR_MS / 1000 - 0.001)
    zone.read(1)
    assert zone.behind.read[key(1)] == 1
    zone.clock.sleep(0.001)
    zone.read(1)
    assert zone.behind.read[key(1)] == 2


def test_what_is_not_there_yet_is_read_as_soon_as_it_is(zone: Zone) -> None:
    """Absence is never kept, not even for a moment."""
    for _ in range(3):
        with pytest.raises(SchemaNamedNotFound):
            zone.read(9)
    zone.behind.put(key(9), a_body(text(9)))
    assert zone.read(9) == [text(9)]
    assert zone.clock.slept == []


def test_whoever_waits_for_a_missing_body_asks_himself(zone: Zone) -> None:
    """The lease is given back at once, and not to the next, for whom the others would wait again."""
    waiting = [Stepped(zone, [9]) for _ in range(5)]

    def meanwhile() -> None:
        zone.behind.before = lambda: None
        for each in waiting:
            each.go()
            assert isinstance(each.step, Pause)

    zone.behind.before = meanwhile
    with pytest.raises(SchemaNamedNotFound):
        zone.read(9)
    for each in waiting:
        each.go()
        each.go()
        assert isinstance(each.step, Load)


def test_a_silent_store_is_told_to_everybody_at_once(zone: Zone) -> None:
    """Nobody waits for the lease of one who was told no."""
    zone.behind.silent = True
    for _ in range(3):
        with pytest.raises(StoreError):
            zone.read(1, 2)
    assert zone.clock.slept == []
    zone.behind.silent = False
    zone.clock.sleep(CLOSED_MS / 1000)
    assert zone.read(1, 2) == zone.read(1, 2) == [text(1), text(2)]
    assert zone.behind.read[key(1)] == 4


def test_one_who_waits_has_the_body_when_it_comes(zone: Zone) -> None:
    """He asks the ring again and again, ever less often, and nobody else."""
    zone.stands(1, entries.lease(b"another"), lasts_ms=LEASE_MS)
    content = records.body_bytes(zone.behind.bodies[key(1)])
    name = keys.ring_key("default", key(1))
    step = zone.clock.sleep

    def sleep(seconds: float) -> None:
        step(seconds)
        if len(zone.clock.slept) == 6:
            zone.stands(1, entries.body(name, content))

    zone.clock.sleep = sleep  # type: ignore[method-assign]  # what happens meanwhile
    assert zone.read(1) == [text(1)]
    assert [round(1000 * each) for each in zone.clock.slept] == [3, 6, 12, 24, 48, 96]
    assert zone.behind.read[key(1)] == 0


def test_nobody_waits_for_himself(zone: Zone) -> None:
    """A member may carry a claim out twice: its answer was lost, and the connection sent it again."""
    again = {name: Twice(member) for name, member in zone.members.items()}
    flight = SingleFlight(Ring(again, zone.clock), zone.clock)
    assert flight.get_many([key(1)], zone.behind.get_many)[0].schema.text == text(1)
    assert zone.clock.slept == []
    assert zone.read(1) == [text(1)]
    assert zone.behind.read[key(1)] == 1


def test_the_place_of_a_holder_that_died_is_taken(zone: Zone) -> None:
    """When its lease ends; one read more, not one each."""
    zone.stands(1, entries.lease(b"dead"), lasts_ms=LEASE_MS)
    assert zone.read(1) == [text(1)]
    assert LEASE_MS <= 1000 * sum(zone.clock.slept) < PATIENCE_MS
    assert zone.read(1) == [text(1)]
    assert zone.behind.read[key(1)] == 1


def test_patience_ends(zone: Zone) -> None:
    """A lease that is taken again and again, and never filled, holds up nobody for ever."""
    zone.stands(1, entries.lease(b"for ever"))
    assert zone.read(1) == [text(1)]
    assert PATIENCE_MS <= 1000 * sum(zone.clock.slept) < PATIENCE_MS + 200


def test_what_one_has_to_read_himself_he_reads_before_he_waits(zone: Zone) -> None:
    """Two who want the same two bodies in another order do not wait for each other."""
    zone.stands(1, entries.lease(b"another"), lasts_ms=LEASE_MS)
    zone.behind.before = lambda: zone.clock.slept.append(-1.0)
    assert zone.read(1, 2) == [text(1), text(2)]
    assert zone.clock.slept[0] == -1.0


def test_garbage_is_replaced(zone: Zone) -> None:
    """By the first who meets it."""
    for value in (b"", b"B", b"B" + bytes(8) + b"{}", b"?", entries.body("another key", b"{}")):
        zone.stands(1, value)
        before = zone.behind.read[key(1)]
        assert zone.read(1) == zone.read(1) == [text(1)]
        assert zone.behind.read[key(1)] == before + 1


def test_a_body_of_a_release_that_writes_another_form_is_read_behind_the_ring(zone: Zone) -> None:
    """Two releases share a ring while one replaces the other."""
    zone.stands(1, entries.body(keys.ring_key("default", key(1)), b'{"form":"of tomorrow"}'))
    assert zone.read(1) == [text(1)]


def test_registries_that_share_a_ring_do_not_meet(zone: Zone) -> None:
    """Ids are of a registry and a context."""
    zone.read(1)
    other = Behind({key(1): a_body("another's")})
    flight = SingleFlight(Ring(zone.members, zone.clock), zone.clock, registry="other")
    assert flight.get_many([key(1)], other.get_many)[0].schema.text == "another's"


def test_a_permanent_delete_is_seen_at_once_in_its_zone(zone: Zone) -> None:
    """Whoever has nothing at hand is told of the tombstone, and the ring is filled again a moment later."""
    zone.read(1)
    zone.tiers().bury(key(1))
    assert zone.tiers().get(key(1)).gone
    zone.clock.sleep(CLOSED_MS / 1000)
    before = zone.behind.read[key(1)]
    assert all(zone.tiers().get(key(1)).gone for _ in range(5))
    assert zone.behind.read[key(1)] == before + 1
    zone.tiers().revive(key(1), a_body(text(1)))
    assert not zone.tiers().get(key(1)).gone


def test_a_slow_reader_does_not_bring_back_what_was_deleted(zone: Zone) -> None:
    """He read it before, and comes to put it into the ring after."""

    def meanwhile() -> None:
        zone.behind.before = lambda: None
        late.append(zone.behind.bodies[key(1)])
        zone.tiers().bury(key(1))

    late: list[Body] = []
    zone.behind.before = meanwhile

    def slow(wanted: Sequence[BodyKey]) -> list[Body]:
        zone.behind.get_many(wanted)
        return late

    assert not zone.instance().get_many([key(1)], slow)[0].gone
    for seconds in (0.0, CLOSED_MS / 1000, HOUR_MS / 1000):
        zone.clock.sleep(seconds)
        assert zone.tiers().get(key(1)).gone


def test_a_body_at_hand_outlives_a_silent_store(zone: Zone) -> None:
    """Its presence in memory is over, and it cannot be read again: it still means what it meant."""
    tiers = zone.tiers()
    one, two = tiers.get_many([key(1), key(2)])
    zone.behind.silent = True
    zone.clock.sleep(2 * HOUR_MS / 1000)
    assert tiers.get(key(1)) is one
    assert tiers.get_many([key(2), key(1)]) == [two, one]
    with pytest.raises(StoreError):
        tiers.get_many([key(1), key(3)])


def test_it_is_counted_where_bodies_came_from(zone: Zone) -> None:
    """By each instance for itself."""
    first, second = zone.instance(), zone.instance()
    tiers = Tiers(Memory(10**6, zone.clock), first, zone.behind)
    tiers.get_many([key(1), key(2)])
    tiers.get(key(1))
    second.get_many([key(1), key(3)], zone.behind.get_many)
    assert (first.counts.memory, first.counts.ring, first.counts.behind) == (1, 0, 2)
    assert (second.counts.memory, second.counts.ring, second.counts.behind) == (0, 1, 1)
    assert first.counts.waits == second.counts.waits == 0


# --- any interleaving ------------------------------------------------------------------------------------------------


def a_zone() -> Zone:
    clock = FixedClock()
    behind = Behind({key(id): a_body(text(id)) for id in IDS})
    return Zone(behind, clock, {name: LocalMember(clock) for name in ("one", "two")})


WANTED = st.lists(st.sampled_from(IDS), min_size=1, max_size=4, unique=True)


@given(st.lists(WANTED, min_size=1, max_size=6), st.randoms(use_true_random=False))
def test_in_any_order_of_steps_each_body_is_read_once(wanted: list[list[int]], order: Random) -> None:
    """As long as no lease ends."""
    zone = a_zone()
    flights = [Stepped(zone, ids) for ids in wanted]
    while flying := [flight for flight in flights if not flight.landed]:
        order.choice(flying).go()
    assert [sorted(flight.had) for flight in flights] == [sorted(ids) for ids in wanted]
    assert all(body.schema.text == text(id) for flight in flights for id, body in flight.had.items())
    assert set(zone.behind.read.values()) == {1}


@given(
    st.lists(WANTED, min_size=1, max_size=5),
    st.integers(0, 40),
    st.randoms(use_true_random=False),
    st.lists(st.sampled_from(["lease ends", "evicted", "closed ends"]), max_size=6),
)
def test_in_any_order_of_steps_what_was_deleted_does_not_come_back(
    wanted: list[list[int]], deleted_after: int, order: Random, events: list[str]
) -> None:
    """Whoever begins after the delete is told of it, whatever those who began before it still do."""
    zone = a_zone()
    flights = [Stepped(zone, ids) for ids in wanted]
    for number in range(400):
        if number == deleted_after:
            zone.tiers().bury(key(1))
        elif number > deleted_after:
            assert told(zone, 1).gone
        if events and order.random() < 0.1:
            happen(zone, events.pop())
        flying = [flight for flight in flights if not flight.landed]
        if not flying and number > deleted_after:
            break
        if flying:
            order.choice(flying).go()
    for _ in range(3):
        zone.clock.sleep(LEASE_MS / 1000)
        assert zone.tiers().get(key(1)).gone


def told(zone: Zone, id: int) -> Body:
    """By the ring as it stands, or else by what is behind it."""
    name = keys.ring_key("default", key(id))
    ring, nothing = Ring(zone.members, zone.clock), b""
    stands = ring.claim([name], nothing, lasts_ms=0)[name]
    entry = entries.read(name, stands) if isinstance(stands, bytes) else None
    return records.body(entry.content) if isinstance(entry, entries.Kept) else zone.behind.bodies[key(id)]


def happen(zone: Zone, event: str) -> None:
    match event:
        case "lease ends":
            zone.clock.sleep(LEASE_MS / 1000)
        case "closed ends":
            zone.clock.sleep(CLOSED_MS / 1000)
        case "evicted":
            for id in IDS:
                zone.stands(id, b"", lasts_ms=0)


# --- any trouble -----------------------------------------------------------------------------------------------------


@dataclass
class Faulty:
    """A member that fails as it is told: before it did what it was asked, or after; or answers with anything at all."""

    behind: Member
    fault: str = ""
    garbage: bytes = b""

    def claim(self, keys: Sequence[str], value: bytes, *, lasts_ms: int) -> list[bytes | None]:
        self._fail("before")
        found = self.behind.claim(keys, value, lasts_ms=lasts_ms)
        self._fail("after")
        return [self.garbage] * len(keys) if self.fault == "garbage" else found

    def swap(self, swaps: Sequence[Swap], *, lasts_ms: int) -> None:
        self._fail("before")
        self.behind.swap(swaps, lasts_ms=lasts_ms)
        self._fail("after")

    def put(self, key: str, value: bytes, *, lasts_ms: int) -> None:
        self._fail("before")
        self.behind.put(key, value, lasts_ms=lasts_ms)
        self._fail("after")

    def ping(self) -> None:
        self._fail("before")

    def close(self) -> None: ...

    def _fail(self, when: str) -> None:
        if self.fault == when:
            raise MemberFailed(when)


MEMORY_MS = 300_000
MEMBERS = st.sampled_from(["one", "two"])


class AnyTrouble(RuleBasedStateMachine):
    """Three instances of one zone on a ring with every kind of trouble; a model that knows what is true."""

    def __init__(self) -> None:
        super().__init__()
        self.clock = FixedClock()
        self.behind = Behind()
        self.members = {name: Faulty(LocalMember(self.clock, capacity=4_000)) for name in ("one", "two")}
        self.tiers = [self.cold() for _ in range(3)]
        self.deleted: dict[int, int] = {}
        """When it was acknowledged."""

    def cold(self) -> Tiers:
        flight = SingleFlight(Ring(self.members, self.clock), self.clock, presence_ms=HOUR_MS)
        return Tiers(Memory(10**6, self.clock, presence_ms=MEMORY_MS), flight, self.behind)

    @rule(id=st.sampled_from(IDS), size=st.sampled_from([1, 100, 3_000]))
    def register(self, id: int, size: int) -> None:
        self.behind.bodies.setdefault(key(id), a_body(f"{text(id)} {'x' * size}"))

    @rule(instance=st.integers(0, 2), ids=st.lists(st.sampled_from(IDS), min_size=1, max_size=4))
    def read(self, instance: int, ids: list[int]) -> None:
        wanted = [key(id) for id in ids]
        try:
            bodies = self.tiers[instance].get_many(wanted)
        except SchemaNamedNotFound:
            assert any(each not in self.behind.bodies for each in wanted)
            return
        for id, body in zip(ids, bodies, strict=True):
            self.check(id, body)

    @rule(instance=st.integers(0, 2), id=st.sampled_from(IDS))
    def delete(self, instance: int, id: int) -> None:
        if key(id) in self.behind.bodies:
            self.tiers[instance].bury(key(id))
            self.deleted[id] = self.clock.now()

    @rule(instance=st.integers(0, 2))
    def start_anew(self, instance: int) -> None:
        self.tiers[instance] = self.cold()

    @rule(member=MEMBERS, fault=st.sampled_from(["", "", "before", "after", "garbage"]), garbage=st.binary(max_size=12))
    def fail(self, member: str, fault: str, garbage: bytes) -> None:
        self.members[member].fault, self.members[member].garbage = fault, garbage

    @rule(member=MEMBERS, id=st.sampled_from(IDS), value=st.binary(max_size=12))
    def corrupt(self, member: str, id: int, value: bytes) -> None:
        self.members[member].behind.put(keys.ring_key("default", key(id)), value, lasts_ms=HOUR_MS)

    @rule(ms=st.sampled_from([1, CLOSED_MS, LEASE_MS, REST_MS, 2 * REST_MS, MEMORY_MS, HOUR_MS]))
    def wait(self, ms: int) -> None:
        self.clock.sleep(ms / 1000)

    def check(self, id: int, body: Body) -> None:
        true = self.behind.bodies[key(id)]
        assert replace(body, gone=true.gone) == true
        assert body.gone == true.gone or self.clock.now() - self.deleted[id] <= HOUR_MS + MEMORY_MS

    @invariant()
    def a_cold_instance_reads_whatever_there_is(self) -> None:
        wanted = list(self.behind.bodies)
        for each, body in zip(wanted, self.cold().get_many(wanted), strict=True):
            self.check(each.id, body)


AnyTrouble.TestCase.settings = settings(max_examples=60, stateful_step_count=25, deadline=None)
test_no_read_fails_or_is_told_wrong_because_of_the_ring = AnyTrouble.TestCase
