"""One of all instances of a zone reads a body behind the ring, and no answer is ever wrong."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import pytest

from sigla import keys, records
from sigla.cache import entries
from sigla.cache.member import Member
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import CLOSED_MS, LEASE_MS, PATIENCE_MS, Load, Pause, SingleFlight
from sigla.cache.tiers import Tiers
from sigla.errors import BodyMissing, StoreError
from sigla.model import Body, BodyKey
from tests.build import a_body, in_the_former_form
from tests.unit.cache.zone import HOUR_MS, Behind, Stepped, Zone, a_zone, key, text


@dataclass
class Twice:
    """A member that does what it is asked twice, and answers for the second time."""

    behind: Member

    def __getattr__(self, name: str) -> Any:
        def ask(*arguments: object, **more: object) -> object:
            getattr(self.behind, name)(*arguments, **more)
            return getattr(self.behind, name)(*arguments, **more)

        return ask


@pytest.fixture
def zone() -> Zone:
    return a_zone()


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
        with pytest.raises(BodyMissing):
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
    with pytest.raises(BodyMissing):
        zone.read(9)
    for each in waiting:
        each.go()
        each.go()
        assert isinstance(each.step, Load)


def test_a_silent_store_is_told_to_everybody_at_once(zone: Zone) -> None:
    """No reader waits for the lease of one that was told no."""
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
    """The reader asks the ring again and again, ever less often, and nothing else."""
    zone.stands(1, entries.lease(b"another"), lasts_ms=LEASE_MS)
    content = records.body_bytes(key(1), zone.behind.bodies[key(1)])
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
    """A lease that does not end, and is never filled, holds up one reader, which puts the body in its place."""
    zone.stands(1, entries.lease(b"for ever"))
    assert zone.read(1) == [text(1)]
    assert PATIENCE_MS <= 1000 * sum(zone.clock.slept) < PATIENCE_MS + 200
    zone.clock.slept.clear()
    assert zone.read(1) == [text(1)]
    assert zone.clock.slept == []
    assert zone.behind.read[key(1)] == 1


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


@pytest.mark.parametrize("content", [b'{"form":"of tomorrow"}', b'{"form":99}'])
def test_a_body_of_a_release_that_writes_another_form_is_read_behind_the_ring(zone: Zone, content: bytes) -> None:
    """Two releases share a ring while one replaces the other."""
    zone.stands(1, entries.body(keys.ring_key("default", key(1)), content))
    assert zone.read(1) == [text(1)]


@pytest.mark.parametrize(
    "content",
    [
        records.body_bytes(key(2), a_body(text(2))),
        records.body_bytes(key(1), replace(a_body("forged"), guid=a_body(text(1)).guid)),
        records.body_bytes(key(1), a_body(text(1))).replace(b"text 1", b"text 9"),
        in_the_former_form(a_body(text(1))).replace(b"text 1", b"text 9"),
    ],
    ids=["of another id", "with another guid", "changed", "changed in the former form"],
)
def test_a_ring_is_not_believed_beyond_what_a_body_says_of_itself(zone: Zone, content: bytes) -> None:
    """Whoever can write to a member can make its digest as well: S3 is asked, and the next one fills the ring anew."""
    zone.stands(1, entries.body(keys.ring_key("default", key(1)), content))
    assert zone.read(1) == [text(1)]
    zone.clock.sleep(CLOSED_MS / 1000)
    before = zone.behind.read[key(1)]
    assert zone.read(1) == zone.read(1) == [text(1)]
    assert zone.behind.read[key(1)] == before + 1


def test_registries_that_share_a_ring_do_not_meet(zone: Zone) -> None:
    """Ids are of a registry and a context."""
    zone.read(1)
    other = Behind({key(1): a_body("another's")})
    flight = SingleFlight(Ring(zone.members, zone.clock), zone.clock, namespace="other")
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
    """The reader had it before, and comes to put it into the ring after."""

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
