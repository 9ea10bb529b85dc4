"""A zone of instances in front of a store that counts what is read, and a flight that is taken step by step."""

from collections import Counter
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from random import Random

from sigla import keys, records
from sigla.cache.members.local import LocalMember
from sigla.cache.memory import Memory
from sigla.cache.ring import Ring
from sigla.cache.single_flight import Claim, Load, Pause, Settle, SingleFlight, Step, fetch
from sigla.cache.tiers import Tiers
from sigla.errors import BodyMissing, StoreError
from sigla.model import Body, BodyKey, Guid, SchemaId
from sigla.rules.bodies import believed
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
                raise BodyMissing(key)
        return [self.bodies[key] for key in keys]

    def named(self, guid: Guid, *, known: Collection[BodyKey] = ()) -> tuple[BodyKey, ...]:  # noqa: ARG002 - no trip to save
        return tuple(key for key, body in self.bodies.items() if body.guid == guid)

    def last(self, context: str) -> SchemaId:
        return max((key.id for key in self.bodies if key.context == context), default=SchemaId(0))

    def next_above(self, key: BodyKey) -> SchemaId | None:
        above = [each.id for each in self.bodies if each.context == key.context and each.id > key.id]
        return min(above, default=None)

    def bury(self, key: BodyKey) -> None:
        self.bodies[key] = replace(self.bodies[key], gone=True)

    def revive(self, key: BodyKey, body: Body) -> None:
        self.bodies[key] = replace(body, gone=False)

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:  # noqa: ARG002 - as `Bodies`
        self.bodies[key] = body


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
            read = zip(self.step.keys, bodies, strict=True)
            self.loaded = {name: records.body_bytes(key(self.ids[name]), body) for name, body in read}
            return
        try:
            self.step = self.flight.send(self._answer())
        except StopIteration as landed:
            self.landed = True
            had = {self.ids[name]: content for name, content in landed.value.items()}
            self.had = {id: believed(key(id), content) for id, content in had.items()}

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


def a_zone() -> Zone:
    clock = FixedClock()
    behind = Behind({key(id): a_body(text(id)) for id in IDS})
    return Zone(behind, clock, {name: LocalMember(clock) for name in ("one", "two")})
