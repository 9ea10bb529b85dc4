"""Events of a journal's function that is cut off, or that AWS does not answer, at any call that it makes."""

from collections.abc import Callable
from contextlib import suppress
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.functions.journal import Unfinished
from tests.attack.aws import Store, failing
from tests.attack.ports import At, Call
from tests.attack.stories import config, register
from tests.attack.world import World
from tests.build import NOW, FixedClock
from tests.contract.aws import Account
from tests.unit.aws.buses import Bus, Event, commits, deliver
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import at_any_call, check_told_once, do, stores_of

SCHEDULE = {"source": "aws.events"}
LATER = NOW + 10_000


@pytest.mark.parametrize("fault", at_any_call(Fault.KILLED, Fault.LOST))
def test_a_failure_at_any_call_loses_no_event(moto: Account, fault: Fault) -> None:
    """From the first look at how far events are to the last note of it, the first time and later; then the clock comes.

    What comes twice is the same twice.
    """
    number, met = 0, True
    calls: list[str] = []
    while met:
        with World(register("a"), store=Store(moto)) as world:
            stores, bus, disturbed = stores_of(world), Bus(moto.clients.events), At(number, failing(fault))
            for step, clock in enumerate((FixedClock(), FixedClock(LATER))):
                with suppress(Unfinished, StoreError, Killed):
                    deliver(stores, bus, clock=clock, between=disturbed)
                do(world, register(f"b{step}"), config(f"b{step}", level="FULL"))
            for time in (LATER + 10_000, LATER + 20_000):  # the first finds a claim that was left open, and finishes it
                deliver(stores, bus, clock=FixedClock(time))
            met = disturbed.acted
            calls += [disturbed.call.name] if disturbed.call else []
            check_told_once(stores)
            check_complete(bus, commits(stores))
        number += 1
    assert {"events.describe_event_bus", "events.put_events", "s3.get_object", "dynamodb.update_item"} <= set(calls)


def test_an_event_that_was_taken_without_an_answer_comes_once_more_and_the_others_once(moto: Account) -> None:
    """The answer of the second call is lost; nothing of the segment counts as delivered, and all of it comes again."""
    with World(*(register(f"s{number}") for number in range(12)), store=Store(moto)) as world:
        stores, bus = stores_of(world), Bus(moto.clients.events)
        asked = 0

        def second_is_lost(call: Call, carry_out: Callable[[], Any]) -> Any:
            nonlocal asked
            asked += call.name == "events.put_events"
            is_meant = call.name == "events.put_events" and asked == 2
            return failing(Fault.LOST)(call, carry_out) if is_meant else carry_out()

        deliver(stores, bus, between=second_is_lost)
        assert len(bus.taken) == 12
        deliver(stores, bus, SCHEDULE, clock=FixedClock(LATER))
        assert len(bus.taken) == 24
        check_complete(bus, commits(stores))


def check_complete(bus: Bus, wanted: list[str]) -> None:
    told: dict[str, Event] = {}
    for event in bus.taken:
        assert told.setdefault(event["id"], event) == event
    assert sorted(told) == sorted(wanted)
