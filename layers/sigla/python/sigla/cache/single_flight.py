"""One of all instances of a zone that want a body at the same moment reads it behind the ring; the others wait for it.

`fetch` is the protocol, as steps without I/O: whoever drives it asks a ring and a clock, real ones here, simulated ones
where a hundred thousand instances are to be looked at. What stands under a key, and what becomes of it:

| stands | whoever wants the body | then stands |
|---|---|---|
| nothing | takes the lease, in the same round trip; reads the body behind the ring | a lease |
| a lease | waits and looks again; reads behind the ring when its patience ends | then the body, if still that lease |
| a body | has it | the same |
| closed, or the member is silent | reads behind the ring | the same |
| garbage | reads behind the ring | the body, if it is still that garbage |
| its own lease, the body read | | the body, if it is still its lease |
| its own lease, and there is no such body, or no answer | | closed for a moment: those who wait ask themselves |
| anything, when the body changes for good | | closed for a moment |

A slow reader cannot bring back what was closed meanwhile: it has lost its lease. A lease whose holder died ends by
itself.
"""

import secrets
from collections.abc import Callable, Collection, Generator, Iterator, Mapping, Sequence
from dataclasses import dataclass
from random import Random
from typing import Any

from sigla import keys, records
from sigla.cache import entries
from sigla.cache.counts import Counts
from sigla.cache.entries import CLOSED, Closed, Garbage, Kept, Leased
from sigla.cache.member import Swap
from sigla.cache.ring import Found, Ring
from sigla.errors import BodyDamaged, FormTooNew
from sigla.model import Body, BodyKey
from sigla.ports.clock import Clock
from sigla.rules.bodies import believed

LEASE_MS = 5_000
"""Longer than S3 takes but for one read in many thousands; whoever waits for a holder that died waits so long."""

PATIENCE_MS = LEASE_MS + 1_000
"""So that of those who wait for a dead holder one takes its place and the others have its body."""

CLOSED_MS = 1_000

FIRST_PAUSE_MS, LONGEST_PAUSE_MS = 4, 128
"""Between two looks at a lease; each pause is twice the one before, less up to its half."""

Behind = Callable[[Sequence[BodyKey]], Sequence[Body]]
"""Reads bodies behind the ring, in the order asked."""


@dataclass(frozen=True, slots=True)
class Claim:
    """Answered as by `Ring.claim`."""

    keys: Sequence[str]
    value: bytes
    lasts_ms: int = LEASE_MS


@dataclass(frozen=True, slots=True)
class Load:
    """Answered with the bytes of every body, by key; or what went wrong is thrown in."""

    keys: Sequence[str]


@dataclass(frozen=True, slots=True)
class Settle:
    """What is to be swapped; it has no answer."""

    swaps: Sequence[Swap]
    lasts_ms: int


@dataclass(frozen=True, slots=True)
class Pause:
    """No answer."""

    ms: float


Step = Claim | Load | Settle | Pause
Flight = Generator[Step, Any, dict[str, bytes]]


def fetch(wanted: Sequence[str], token: bytes, *, presence_ms: int, draw: Callable[[], float]) -> Flight:
    """The steps by which the bodies of all these keys are had.

    token: of this reader alone. presence_ms: how long a body stands in the ring. draw: yields a number from 0 to 1.
    """
    lease = entries.lease(token)
    had: dict[str, bytes] = {}
    leased = dict.fromkeys(wanted, b"")
    for pause in _pauses(draw):
        stood: Mapping[str, Found] = yield Claim(list(leased), lease)
        # Our own lease: a claim whose answer was lost has been sent again.
        entry = {key: None if value == lease else _entry_of(key, value) for key, value in stood.items()}
        had |= {key: each.content for key, each in entry.items() if isinstance(each, Kept)}
        to_load = [key for key, each in entry.items() if not isinstance(each, Kept | Leased)]
        if to_load:
            replaceable = {key: lease for key in to_load if entry[key] is None}
            replaceable |= {key: each.value for key, each in entry.items() if isinstance(each, Garbage)}
            had |= yield from _load(to_load, replaceable, presence_ms)
        leased = {key: each.value for key, each in entry.items() if isinstance(each, Leased)}
        if not leased:
            return had
        yield Pause(pause)
    # As long as the lease that was seen stands, the key was not closed.
    had |= yield from _load(list(leased), leased, presence_ms)
    return had


def _entry_of(key: str, value: Found) -> entries.Entry | None:
    """None: nothing stood there, and now our lease does. A silent owner is as good as a closed key."""
    if value is None:
        return None
    return entries.read(key, value) if isinstance(value, bytes) else Closed()


def _load(wanted: Sequence[str], replaceable: Mapping[str, bytes], presence_ms: int) -> Flight:
    """replaceable: what stands under those keys that are to have their bodies."""
    try:
        loaded: dict[str, bytes] = yield Load(wanted)
    except Exception:
        yield Settle([Swap(key, stands, CLOSED) for key, stands in replaceable.items()], CLOSED_MS)
        raise
    bodies = [Swap(key, stands, entries.body(key, loaded[key])) for key, stands in replaceable.items()]
    if bodies:
        yield Settle(bodies, presence_ms)
    return loaded


def _pauses(draw: Callable[[], float]) -> Iterator[float]:
    """In ms; patience ends with the last."""
    longest, waited = FIRST_PAUSE_MS, 0.0
    while waited < PATIENCE_MS:
        pause = longest * (1 - draw() / 2)
        yield pause
        waited += pause
        longest = min(2 * longest, LONGEST_PAUSE_MS)


class SingleFlight:
    """Reads bodies through a ring; one without members only passes on. Any thread may use it.

    namespace: `keys.ring_namespace` of whose bodies are read. presence_ms: how long a body stands in the ring; so long
    may one that was deleted for good in another zone be told.
    """

    def __init__(
        self,
        ring: Ring,
        clock: Clock,
        *,
        namespace: str = "default",
        presence_ms: int = 3_600_000,
        draw: Callable[[], float] | None = None,
        counts: Counts | None = None,
    ) -> None:
        self._ring = ring
        self._clock = clock
        self._namespace = namespace
        self._presence_ms = presence_ms
        self._draw = draw or Random().random  # noqa: S311 - how long a reader waits need not be secret
        self.counts = counts or Counts()

    def get_many(self, wanted: Sequence[BodyKey], behind: Behind) -> list[Body]:
        """Each in the order asked. Raises what `behind` raises, and nothing because of the ring."""
        if not self._ring:
            self.counts.behind += len(wanted)
            return list(behind(wanted))
        named = {keys.ring_key(self._namespace, key): key for key in wanted}
        read: dict[str, Body] = {}

        def load(names: Sequence[str]) -> dict[str, bytes]:
            self.counts.behind += len(names)
            read.update(zip(names, behind([named[name] for name in names]), strict=True))
            return {name: records.body_bytes(named[name], read[name]) for name in names}

        flight = fetch(list(named), secrets.token_bytes(8), presence_ms=self._presence_ms, draw=self._draw)
        had = self._drive(flight, load)
        self.counts.ring += len(had) - len(read)
        bodies = {key: read.get(name) or self._believed(key, had[name], behind) for name, key in named.items()}
        return [bodies[key] for key in wanted]

    def close(self, wanted: Collection[BodyKey]) -> None:
        """These bodies changed: what the ring has of them is not told any more, nor what others read before."""
        for key in wanted:
            self._ring.put(keys.ring_key(self._namespace, key), CLOSED, lasts_ms=CLOSED_MS)

    def _believed(self, key: BodyKey, content: bytes, behind: Behind) -> Body:
        """What the ring had, if it is the body of its key. If not, the key is closed, and the next one fills it anew.

        Another release may have put it there in a form of its own, and whoever writes to a ring may write anything.
        """
        try:
            return believed(key, content)
        except (BodyDamaged, FormTooNew):
            self.close([key])
            return behind([key])[0]

    def _drive(self, flight: Flight, load: Callable[[Sequence[str]], dict[str, bytes]]) -> dict[str, bytes]:
        answer: Any = None
        try:
            step = next(flight)
            while True:
                try:
                    answer = self._take(step, load)
                except Exception as failure:  # noqa: BLE001 - it comes out of the flight again, after its last step
                    step = flight.throw(failure)
                else:
                    step = flight.send(answer)
        except StopIteration as landed:
            return landed.value  # type: ignore[no-any-return]  # what a Flight returns

    def _take(self, step: Step, load: Callable[[Sequence[str]], dict[str, bytes]]) -> object:
        match step:
            case Claim():
                return self._ring.claim(step.keys, step.value, lasts_ms=step.lasts_ms)
            case Load():
                return load(step.keys)
            case Settle():
                self._ring.swap(step.swaps, lasts_ms=step.lasts_ms)
            case Pause():
                self.counts.waits += 1
                self._clock.sleep(step.ms / 1000)
        return None
