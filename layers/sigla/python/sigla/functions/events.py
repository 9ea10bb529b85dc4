"""Events: each commit that a segment of the journal tells is handed to a bus of EventBridge.

Two rows of the table say what is still to be handed over: LAST, the last segment, and DELIVERED, the last one of which
the bus has taken every event. What is between them is read from the bucket and handed over in its order, and DELIVERED
moves on with each segment:

    a crash      between a segment and its events, or in the middle of them: DELIVERED has not moved. What the bus had
                 taken already comes once more, under the same id
    a refusal    is told, and tried again by every later invocation; the clock comes each quarter of an hour. No row
                 waits for it: segments are there before the bus is asked, and the invocation ends as the journal's
                 part of it did
    a crowd      several invocations may hand over the same segment: what comes twice is known by its id

Segments stay for ever, so there is no time after which an event would be lost. An event that the bus refuses for what
it says (a client chooses the names in it) is handed over without that, so that it holds up no other.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Any, Final

from sigla import keys, observe
from sigla.functions.event_bus import EventBus
from sigla.functions.journal import time_of
from sigla.functions.lifecycle import Handler
from sigla.functions.segments import Segment
from sigla.journal.cloud_events import cloud_event
from sigla.observe import Facts, Teller
from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import ABSENT, Condition, equals, update
from sigla.stores.dynamodb.log import rows_told, segment_number
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.stores.s3.objects import Objects

WORK_MS: Final = 60_000
"""For so long an invocation hands events over; what is left waits for the next one, and rows for neither."""
LEFT_MS: Final = 30_000
"""So long before its end it begins no further segment."""

SCHEDULE: Final[Mapping[str, Any]] = {"source": "aws.events"}


@dataclass
class Delivery:
    """What one invocation handed over. waits_since: the number of the first segment that is not; None: all are."""

    counted: Counter[str] = field(default_factory=Counter)
    waits_since: int | None = None


class DeliveryProgress:
    """How far the events of a registry are delivered: the row DELIVERED. All raise StoreError where AWS is silent."""

    def __init__(self, dynamodb: Any, table: str, clock: Clock, *, registry: str) -> None:
        self._table = Table(dynamodb, table, clock)
        self._last, self._place = Places(registry).last_segment(), Places(registry).delivered()

    def read(self) -> tuple[Segment, int | None]:
        """The last segment, and the number of the last one whose events are delivered; None before it has begun."""
        found = self._table.get_many([self._last, self._place])
        delivered = found.get(self._place)
        return Segment.of(found.get(self._last)), delivered["through"] if delivered else None

    def begin(self) -> None:
        """Where it has not begun: nothing of what was told before is delivered, and all that is told from now on."""
        last, delivered = self.read()
        if delivered is None:
            self._set(_closed(last), ABSENT)

    def go_to(self, time: int) -> None:
        """The events from a time on, in milliseconds, are to be delivered, whether or not they have been."""
        last, _ = self.read()
        self._set(min(time - 1, _closed(last)))

    def move(self, seen: int, number: int) -> bool:
        """False if it is not as it was seen: another invocation has moved it, or a person."""
        return self._set(number, equals(through=seen))

    def _set(self, number: int, when: Condition | None = None) -> bool:
        try:
            self._table.update(update(self._place, {"through": number}, when=when))
        except Cancelled:
            return False
        return True


class EventDelivery:
    """A `Handler` of one registry's journal that hands events over after it. What fails of that is told, not raised.

    progress: of that registry. identity: of the deployment. tell: takes a line of each invocation that had events.
    """

    def __init__(
        self,
        follow: Handler,
        progress: DeliveryProgress,
        objects: Objects,
        bus: EventBus,
        clock: Clock,
        *,
        registry: str,
        identity: str = "",
        tell: Teller = observe.tell,
    ) -> None:
        self._follow = follow
        self._progress = progress
        self._objects = objects
        self._bus = bus
        self._clock = clock
        self._registry = registry
        self._identity = identity
        self._tell = tell

    def __call__(self, event: Any, context: Any = None) -> dict[str, Any]:
        """What the journal did. Raises what it raises; ValueError where a person says no time to go to."""
        self._progress.begin()  # before the journal's part, so that none of its segments can come in between
        if "events" in event:
            self._go_to(event["events"])
            event = SCHEDULE
        try:
            done = self._follow(event, context)
        except Exception:
            self._deliver(context)
            raise
        self._deliver(context)
        return done

    def _go_to(self, asked: Mapping[str, Any]) -> None:
        """What a person wants: the events from a time on, once more or for the first time, or none from before it."""
        if asked.get("registry", self._registry) != self._registry:
            return
        try:
            since = time_of(asked["since"])
        except (LookupError, TypeError, ValueError):
            raise ValueError('events needs a time, as {"events": {"since": "2026-11-30T09:00:00Z"}}') from None
        self._progress.go_to(since)

    # --- delivering ---------------------------------------------------------------------------------------------------

    def _deliver(self, context: Any) -> None:
        delivery, begun = Delivery(), self._clock.elapsed()
        try:
            while not self._hand_over(delivery, begun + _time_ms(context)):
                continue
        except Exception as failure:  # noqa: BLE001 - whatever it is: a batch that failed for it would hold up rows
            request_id = getattr(context, "aws_request_id", "")
            self._tell(observe.failure(failure, request_id=request_id) | {"registry": self._registry})
        if delivery.counted or delivery.waits_since is not None:
            self._tell(self._line(delivery, self._clock.elapsed() - begun))

    def _hand_over(self, delivery: Delivery, deadline: int) -> bool:
        """False if it is to be begun anew from where DELIVERED is now. Raises StoreError, FormTooNew."""
        last, delivered = self._progress.read()
        after = delivered or 0
        for number in self._numbers(after, last):
            delivery.waits_since = number
            if self._clock.elapsed() >= deadline:
                return True
            if not delivery.counted:
                self._bus.check()
            self._hand_over_segment(number, delivery)
            has_moved = self._progress.move(after, number)
            delivery.waits_since = None
            if not has_moved:
                return False
            after = number
        return True

    def _hand_over_segment(self, number: int, delivery: Delivery) -> None:
        name = keys.segment_object(self._registry, number)
        stored = self._objects.read(name)
        whose = {"registry": self._registry, "identity": self._identity}
        events = [cloud_event(lines, **whose) for lines in rows_told(name, stored.content)] if stored else []
        delivery.counted["bare"] += self._bus.put(events)
        delivery.counted["sent"] += len(events)

    def _numbers(self, after: int, last: Segment) -> Iterator[int]:
        """Those of closed segments behind another one, in order. Mostly it is the last one, which needs no list."""
        if last.number <= after:
            return iter(())
        if not last.open and 0 < last.follows <= after:
            return iter([last.number])
        registry = self._registry
        names = self._objects.names(keys.journal_prefix(registry), after=keys.segment_object(registry, after))
        closed = _closed(last)
        return takewhile(lambda number: number <= closed, map(segment_number, names))

    def _line(self, delivery: Delivery, took_ms: int) -> Facts:
        """waiting_ms: how long ago that was told which waits longest to be handed over; 0: nothing does."""
        now, since = self._clock.now(), delivery.waits_since
        return {
            "event": "events",
            "ts": now,
            "registry": self._registry,
            "sent": delivery.counted["sent"],
            "bare": delivery.counted["bare"],
            "took_ms": took_ms,
            "waiting_ms": 0 if since is None else max(1, now - since),
        }


def _closed(last: Segment) -> int:
    """All segments up to this number are closed."""
    return last.number - 1 if last.open else last.number


def _time_ms(context: Any) -> int:
    """How long an invocation may begin something."""
    if context is None:
        return WORK_MS
    left: int = context.get_remaining_time_in_millis()
    return min(WORK_MS, left - LEFT_MS)
