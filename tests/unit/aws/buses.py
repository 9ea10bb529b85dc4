"""EventBridge in this process, and what can be the matter with it: of ten entries it may take some."""

import json
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest
from botocore.exceptions import ClientError
from moto.events.models import EventPattern, EventsBackend

from sigla.functions.event_bus import EventBus
from sigla.functions.events import DeliveryProgress, EventDelivery
from sigla.observe import Facts
from sigla.ports.clock import Clock
from sigla.stores.s3.objects import Objects
from tests.attack.ports import Between, client
from tests.build import FixedClock
from tests.contract.aws import AwsStores
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import refusal
from tests.unit.aws.journaling import as_streamed, event_of, follower, journal_rows, rows_of, untouched

Event = dict[str, Any]

IDENTITY = "0123456789abcdef" * 2


def nothing(_: Event) -> str:
    return ""


@dataclass
class Bus:
    """Stands before a client of EventBridge. refuse: the code for an event; empty: it is taken, and its detail kept.

    refuse_call: the code for a call that has such an event. denied: whether all calls are refused. sizes: how many
    entries each call had, and how many bytes.
    """

    events: Any
    refuse: Callable[[Event], str] = nothing
    refuse_call: Callable[[Event], str] = nothing
    is_denied: bool = False
    taken: list[Event] = field(default_factory=list)
    entries: list[Event] = field(default_factory=list)
    sizes: list[tuple[int, int]] = field(default_factory=list)

    def describe_event_bus(self, **asked: Any) -> Any:
        return self.events.describe_event_bus(**asked)

    def put_events(self, Entries: list[Event]) -> Any:  # noqa: N803 - as the client calls it
        if self.is_denied:
            raise ClientError(refusal(400, "AccessDeniedException"), "PutEvents")
        self.sizes.append((len(Entries), sum(len(each["Detail"].encode()) for each in Entries)))
        for each in Entries:
            if code := self.refuse_call(json.loads(each["Detail"])):
                raise ClientError(refusal(400, code), "PutEvents")
        codes = [self.refuse(json.loads(each["Detail"])) for each in Entries]
        fine = [each for each, code in zip(Entries, codes, strict=True) if not code]
        answers = iter(self.events.put_events(Entries=fine)["Entries"] if fine else ())
        self.entries += fine
        self.taken += [json.loads(each["Detail"]) for each in fine]
        told = [{"ErrorCode": code, "ErrorMessage": "planned"} if code else next(answers) for code in codes]
        return {"FailedEntryCount": len(Entries) - len(fine), "Entries": told}

    @property
    def ids(self) -> list[str]:
        return [each["id"] for each in self.taken]

    def of_type(self, type: str) -> list[Event]:
        return [each for each in self.taken if each["type"] == f"sigla.{type}"]


@contextmanager
def delivery(
    stores: AwsStores,
    bus: Any,
    *,
    clock: Clock | None = None,
    between: Between = untouched,
    told: list[Facts] | None = None,
    name: str = "default",
) -> Iterator[EventDelivery]:
    """A fresh instance of the journal's function with events. between: stands before all its clients."""
    clock = clock or FixedClock()
    heard: list[Facts] = [] if told is None else told
    s3, dynamodb = client("s3", stores.s3, between), client("dynamodb", stores.dynamodb, between)
    with follower(stores, clock, between=between, told=heard) as follow:
        objects = Objects(s3, BUCKET, clock=clock)
        progress = DeliveryProgress(dynamodb, stores.table, clock, registry=stores.registry)
        reached = EventBus(client("events", bus, between), name, clock)
        yield EventDelivery(
            follow,
            progress,
            objects,
            reached,
            clock,
            registry=stores.registry,
            identity=IDENTITY,
            tell=heard.append,
        )
        objects.close()


def deliver(stores: AwsStores, bus: Any, event: Any = None, context: Any = None, **options: Any) -> dict[str, Any]:
    """One invocation by a fresh instance; without an event with every journal row of the table in its batch."""
    batch = event_of(rows_of(as_streamed(stores))) if event is None else event
    with delivery(stores, bus, **options) as one:
        return one(batch, context)


def commits(stores: AwsStores) -> list[str]:
    """The ids that events of all commits of the registry have, in order."""
    return [f"{at}-{nonce}" for at, nonce in sorted(journal_rows(stores))]


@contextmanager
def received() -> Iterator[list[Event]]:
    """The details of all events that come to EventBridge in this process, as they are read there."""
    come: list[Event] = []
    put = EventsBackend.put_events

    def noting(self: EventsBackend, events: list[Event]) -> Any:
        come.extend(json.loads(each["Detail"]) for each in events)
        return put(self, events)

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(EventsBackend, "put_events", noting)
        yield come


def matches(pattern: Event, entry: Event) -> bool:
    """Whether a rule of EventBridge hands an entry on, as moto reads its pattern."""
    outside = {"source": entry["Source"], "detail-type": entry["DetailType"], "detail": json.loads(entry["Detail"])}
    return bool(EventPattern(json.dumps(pattern), pattern).matches_event(outside))
