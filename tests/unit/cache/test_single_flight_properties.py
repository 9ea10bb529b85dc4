"""In any order of steps, and with any trouble, each body is read once at best and never told wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from random import Random

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
from sigla.cache.single_flight import CLOSED_MS, LEASE_MS, SingleFlight
from sigla.cache.tiers import Tiers
from sigla.errors import BodyMissing
from sigla.model import Body
from tests.build import FixedClock, a_body
from tests.unit.cache.zone import HOUR_MS, IDS, Behind, Stepped, Zone, a_zone, key, text

# --- any order ------------------------------------------------------------------------------------------------


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
    return records.body(key(id), entry.content) if isinstance(entry, entries.Kept) else zone.behind.bodies[key(id)]


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
        except BodyMissing:
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


AnyTrouble.TestCase.settings = settings(max_examples=2 * settings().max_examples, stateful_step_count=25, deadline=None)
test_no_read_fails_or_is_told_wrong_because_of_the_ring = AnyTrouble.TestCase
