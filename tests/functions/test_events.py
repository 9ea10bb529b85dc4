"""The journal's function with a bus of EventBridge: what comes there, how often, and what becomes of what does not."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Any

import pytest

from sigla.errors import Refusal
from sigla.functions import events as module
from sigla.functions.event_bus import AS_A_WHOLE, MOST_BYTES, MOST_ENTRIES, TRIES
from sigla.functions.journal import Unfinished
from sigla.observe import Facts
from sigla.stores.clock import SystemClock
from tests.attack.aws import Store
from tests.attack.keys import KEYS
from tests.attack.stories import DELETED, HISTORY, ONE, config, register
from tests.attack.test_aws_crowd import anything
from tests.attack.world import World
from tests.build import NOW, FixedClock
from tests.contract.aws import Account, AwsStores, moto
from tests.functions.test_journal import batches
from tests.unit.aws.buses import IDENTITY, Bus, Event, commits, deliver, delivery, matches
from tests.unit.aws.journaling import (
    as_streamed,
    check_told_once,
    do,
    event_of,
    rows_of,
    stores_of,
)

__all__ = ["moto"]

SCHEDULE = {"source": "aws.events"}
AFTER_A_WHILE = NOW + 3_600_000


@pytest.fixture
def world(moto: Account) -> Iterator[World]:
    with World(store=Store(moto)) as world:
        yield world


@pytest.fixture
def stores(world: World) -> AwsStores:
    return stores_of(world)


@pytest.fixture
def bus(moto: Account) -> Bus:
    return Bus(moto.clients.events)


def begun(stores: AwsStores, bus: Bus) -> None:
    """The function was deployed with the setting, and its clock has come once."""
    deliver(stores, bus, SCHEDULE)


# --- what comes ------------------------------------------------------------------------------------------------------


def test_each_commit_is_one_event_as_soon_as_a_segment_tells_it(world: World, stores: AwsStores, bus: Bus) -> None:
    """Whoever follows the registry misses nothing and asks nothing: id, version and GUID are in the event."""
    begun(stores, bus)
    do(world, *DELETED, config("orders", level="FULL"), *KEYS)
    done = deliver(stores, bus)
    assert done["rows"] == len(bus.taken) == len(commits(stores))
    assert bus.ids == commits(stores)
    first, second = bus.of_type("schema.registered")
    assert first["subject"] == first["data"]["subject"] == "orders"
    assert (second["data"]["version"], second["data"]["id"], second["data"]["revision"]) == (2, 2, 2)
    assert first["data"]["guid"] == second["data"]["was"]
    assert [each["type"] for each in bus.taken[2:4]] == ["sigla.subject.deleted", "sigla.config.changed"]
    assert {each["type"] for each in bus.taken[4:]} == {"sigla.kek.changed", "sigla.dek.changed"}
    assert {each["source"] for each in bus.taken} == {f"/sigla/{IDENTITY}/{stores.registry}"}
    assert deliver(stores, bus)["rows"] == 0
    assert len(bus.taken) == len(commits(stores)), "what is delivered comes no more"


def test_an_event_has_no_text_no_name_of_a_person_and_no_address(world: World, stores: AwsStores, bus: Bus) -> None:
    """A bus leads to other teams and other accounts; names can be forgotten in the registry, and not over there."""
    begun(stores, bus)
    do(world, register("orders", ONE), config("orders", group="secret-group"), *KEYS)
    deliver(stores, bus)
    told = json.dumps(bus.taken)
    names = [each.name for each in stores.principals.names(NOW)]
    assert names
    for never in (*names, "192.0.2.1", "secret-group", '\\"fields\\"', '"encryptedKeyMaterial', "local-kms", "m1"):
        assert never not in told
    assert {each["data"]["by"] for each in bus.taken} == {each.token for each in stores.principals.names(NOW)}
    assert bus.taken[0]["data"]["via"] == {"way": "api", "request": "request-1"}


def test_what_was_changed_before_the_setting_is_not_told(world: World, stores: AwsStores, bus: Bus) -> None:
    """A registry of three years must not flood the bus on the day that a team turns events on."""
    do(world, *HISTORY)
    deliver(stores, Bus(bus.events), SCHEDULE)
    with delivery(stores, bus) as one:
        one(SCHEDULE)
    assert not bus.taken
    do(world, register("later"))
    deliver(stores, bus)
    assert [each["subject"] for each in bus.taken] == ["later"]


def test_rows_that_wait_when_events_are_turned_on_are_told(world: World, stores: AwsStores, bus: Bus) -> None:
    """The first invocation with the setting brings them: they are in no segment before it."""
    do(world, *HISTORY)
    deliver(stores, bus)
    assert bus.ids == commits(stores)


def test_a_rule_gets_what_it_asks_for(world: World, stores: AwsStores, bus: Bus) -> None:
    """By source, detail-type and what the CloudEvent says."""
    begun(stores, bus)
    do(world, register("orders-value"), register("payments-value"), config("orders-value", level="FULL"))
    deliver(stores, bus)
    pattern = {
        "source": ["sigla"],
        "detail-type": ["sigla.schema.registered"],
        "detail": {"data": {"registry": [stores.registry], "subject": [{"prefix": "orders-"}]}},
    }
    assert [each for each in bus.entries if matches(pattern, each)] == bus.entries[:1]
    assert bus.taken[0]["data"]["subject"] == "orders-value"


def test_a_call_has_ten_entries_and_no_more_bytes_than_every_region_takes(
    world: World, stores: AwsStores, bus: Bus
) -> None:
    """A call with an eleventh is refused as a whole, and so is one that is too long."""
    begun(stores, bus)
    do(world, *(register(f"s{number}") for number in range(MOST_ENTRIES * 2 + 3)))
    deliver(stores, bus)
    assert [count for count, _ in bus.sizes] == [MOST_ENTRIES, MOST_ENTRIES, 3]
    assert max(size for _, size in bus.sizes) <= MOST_BYTES
    assert bus.ids == commits(stores)


# --- what the bus does not take --------------------------------------------------------------------------------------


def test_entries_that_were_too_fast_come_again_alone(world: World, stores: AwsStores, bus: Bus) -> None:
    """FailedEntryCount: the others are delivered already, and need not come twice."""
    begun(stores, bus)
    do(world, *(register(f"s{number}") for number in range(5)))
    late = {"s1": 2, "s3": 1}

    def refuse(event: Event) -> str:
        late[event["subject"]] = late.get(event["subject"], 0) - 1
        return "ThrottlingException" if late[event["subject"]] >= 0 else ""

    bus.refuse = refuse
    deliver(stores, bus)
    assert [count for count, _ in bus.sizes] == [5, 2, 1]
    assert Counter(bus.ids) == Counter(commits(stores))


def test_an_event_that_is_refused_for_what_it_says_is_told_without_names(
    world: World, stores: AwsStores, bus: Bus
) -> None:
    """A writer may choose a subject that a bus cannot take; that must not silence all other events for ever."""
    begun(stores, bus)
    do(world, register("before"), register("bad\uffff"), register("after"))
    bus.refuse = lambda event: "MalformedDetail" if "\uffff" in event.get("subject", "") else ""
    told: list[Facts] = []
    deliver(stores, bus, told=told)
    assert sorted(bus.ids) == commits(stores)
    assert told[-1]["bare"] == 1
    (stripped,) = [each for each in bus.taken if "subject" not in each]
    assert stripped["type"] == "sigla.schema.registered"
    assert stripped["data"].keys() == {"registry", "revision", "change", "commit", "by"}
    assert [each["subject"] for each in bus.taken if "subject" in each] == ["before", "after"]


@pytest.mark.parametrize("code", sorted(AS_A_WHOLE))
def test_an_event_for_which_its_whole_call_is_refused_silences_no_other(
    world: World, stores: AwsStores, bus: Bus, code: str
) -> None:
    """The answer does not say which one it is: each comes alone then, and the one that is refused again is bare."""
    begun(stores, bus)
    do(world, *(register(subject) for subject in ("a", "bad", "b")))
    bus.refuse_call = lambda event: code if event.get("subject") == "bad" else ""
    told: list[Facts] = []
    deliver(stores, bus, told=told)
    assert sorted(bus.ids) == commits(stores)
    assert (told[-1]["bare"], told[-1]["sent"], told[-1]["waiting_ms"]) == (1, 3, 0)
    assert [each.get("subject") for each in bus.taken] == ["a", "b", None]


@pytest.mark.parametrize("code", ["AccessDeniedException", "ThrottlingException", "MalformedDetail"])
def test_a_bus_that_refuses_holds_up_no_row_and_loses_no_event(
    world: World, stores: AwsStores, bus: Bus, code: str
) -> None:
    """The journal goes on; the log has the reason, the alarm how long the oldest event waits; then all come."""
    begun(stores, bus)
    told: list[Facts] = []
    bus.refuse = lambda _: code
    for subject in ("a", "b"):
        do(world, register(subject))
        done = deliver(stores, bus, told=told)
        assert (done["rows"], done["segments"]) == (1, 1)
    check_told_once(stores)
    deliver(stores, bus, SCHEDULE, clock=FixedClock(AFTER_A_WHILE), told=told)
    failures = [line for line in told if line["event"] == "failure"]
    assert {line["reason"] for line in failures} == {f"handing events to the bus default: {code}: planned"}
    assert {line["registry"] for line in failures} == {stores.registry}
    waiting = [int(str(line["waiting_ms"])) for line in told if line["event"] == "events"]
    assert len(waiting) == len(failures) == 3
    assert waiting[0] >= 1
    assert 3_500_000 < waiting[-1] < 3_700_000
    bus.refuse = lambda _: ""
    deliver(stores, bus, SCHEDULE, told=told)
    assert bus.ids == commits(stores)
    assert (told[-1]["event"], told[-1]["sent"], told[-1]["waiting_ms"]) == ("events", 2, 0)


def test_a_bus_that_is_never_ready_is_asked_a_few_times_and_costs_seconds(
    world: World, stores: AwsStores, bus: Bus
) -> None:
    begun(stores, bus)
    do(world, register("a"))
    bus.refuse = lambda _: "InternalFailure"
    clock = FixedClock()
    deliver(stores, bus, clock=clock)
    assert len(bus.sizes) == TRIES
    assert sum(clock.slept) < 5


def test_a_bus_that_is_not_there_keeps_the_events_waiting(world: World, stores: AwsStores, bus: Bus) -> None:
    """EventBridge answers that it took events for a bus that does not exist, and drops them: so it is looked for."""
    deliver(stores, bus, SCHEDULE, name="registries")
    do(world, *HISTORY)
    told: list[Facts] = []
    deliver(stores, bus, name="registries", told=told)
    assert not bus.sizes
    assert [line["event"] for line in told] == ["journal", "failure", "events"]
    assert "registries does not exist" in str(told[1]["reason"])
    bus.events.create_event_bus(Name="registries")
    deliver(stores, bus, SCHEDULE, name="registries")
    assert bus.ids == commits(stores)
    assert {each["EventBusName"] for each in bus.entries} == {"registries"}


def test_a_bus_of_another_account_that_may_not_be_looked_at_gets_events(
    world: World, stores: AwsStores, bus: Bus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its owner lets us put events; whether it is there its refusal says."""
    begun(stores, bus)
    do(world, register("a"))
    denied = {"Error": {"Code": "AccessDeniedException", "Message": "no"}, "ResponseMetadata": {}}

    def hidden(**_: Any) -> Any:
        raise bus.events.exceptions.ClientError(denied, "DescribeEventBus")

    monkeypatch.setattr(bus, "describe_event_bus", hidden)
    deliver(stores, bus)
    assert bus.ids == commits(stores)


def test_an_invocation_ends_before_lambda_ends_it_and_the_next_one_goes_on(
    world: World, stores: AwsStores, bus: Bus
) -> None:
    """What waited for months comes in turns, and the stream's rows do not wait for it."""
    begun(stores, bus)
    bus.is_denied = True
    for number in range(4):
        do(world, register(f"s{number}"))
        deliver(stores, bus)
    bus.is_denied = False
    clock = FixedClock(NOW + 10_000)

    def slow(_: Event) -> str:
        clock.time += module.WORK_MS // 2
        return ""

    bus.refuse = slow
    told: list[Facts] = []
    deliver(stores, bus, SCHEDULE, clock=clock, told=told)
    assert (told[-1]["sent"], int(str(told[-1]["waiting_ms"])) > 0) == (2, True)
    deliver(stores, bus, SCHEDULE, clock=clock, told=told)
    assert (told[-1]["sent"], told[-1]["waiting_ms"]) == (2, 0)
    assert bus.ids == commits(stores)


def test_a_journal_that_fails_delivers_what_it_has_told(world: World, stores: AwsStores, bus: Bus) -> None:
    """A tombstone that cannot be written holds up its own row, and no event of another one."""
    begun(stores, bus)
    do(world, register("a"))

    def broken(event: Any, context: Any) -> Any:
        deliver(stores, Bus(bus.events, refuse=lambda _: "InternalFailure"))
        raise Unfinished("1 of its tasks failed")

    with delivery(stores, bus) as one:
        one._follow = broken
        with pytest.raises(Unfinished):
            one(SCHEDULE)
    assert bus.ids == commits(stores)


# --- repeats ---------------------------------------------------------------------------------------------------------


def check_repeats(bus: Bus, stores: AwsStores) -> None:
    """Every commit came, nothing else did, and what came again is what it was the first time."""
    assert set(bus.ids) == set(commits(stores))
    told: dict[str, Event] = {}
    for event in bus.taken:
        assert told.setdefault(event["id"], event) == event


def test_several_invocations_at_once_leave_nothing_out(world: World, stores: AwsStores, bus: Bus) -> None:
    """A shard of the stream each, and the clock."""
    begun(stores, bus)
    do(world, *(register(f"s{number}") for number in range(24)))
    rows = rows_of(as_streamed(stores))
    with ThreadPoolExecutor(4) as pool:
        shares = [event_of(rows[at::4]) for at in range(4)]
        # A clock of its own would make no pauses between tries, of which each has eight.
        list(pool.map(lambda share: deliver(stores, bus, share, clock=SystemClock()), shares))
    deliver(stores, bus, SCHEDULE, clock=SystemClock())
    check_repeats(bus, stores)


@pytest.mark.parametrize("seed", [1, *(pytest.param(seed, marks=pytest.mark.soak) for seed in range(2, 12))])
def test_of_any_traffic_and_any_trouble_each_commit_is_told(moto: Account, seed: int) -> None:
    """Batches cut anyhow and brought twice, a bus that refuses some and that is away: none too few or too many."""
    draw = random.Random(seed)
    with World(store=Store(moto)) as world:
        stores, bus = stores_of(world), Bus(moto.clients.events)
        begun(stores, bus)
        bus.refuse = lambda _: draw.choice(
            [""] * 9 + ["ThrottlingException", "InternalFailure", "AccessDeniedException"]
        )
        for _ in range(4):
            for verb in [anything(draw) for _ in range(20)]:
                with suppress(Refusal):
                    verb(world.registry)
            bus.is_denied = draw.random() < 0.3
            with delivery(stores, bus) as one:
                for batch in batches(rows_of(as_streamed(stores)), draw):
                    one(batch)
        bus.is_denied, bus.refuse = False, lambda _: ""
        deliver(stores, bus, SCHEDULE)
        assert len(commits(stores)) > 20
        check_repeats(bus, stores)


# --- what a person asks for ------------------------------------------------------------------------------------------


def test_a_person_has_events_told_again_from_a_time_on(world: World, stores: AwsStores, bus: Bus) -> None:
    """A new follower wants what it has missed: the very same events, from the segments, however old they are."""
    for day, subject in enumerate(("a", "b", "c")):
        do(world, register(subject))
        deliver(stores, bus, clock=FixedClock(NOW + day * 86_400_000))
    first = list(bus.taken)
    since = {"events": {"since": "2023-11-15T12:00:00Z"}}  # NOW is the evening before
    assert deliver(stores, bus, since)["event"] == "journal"
    assert bus.taken == first + first[1:]
    deliver(stores, bus, {"events": {"since": "2023-11-15T12:00:00", "registry": "another"}})
    assert len(bus.taken) == 5


def test_a_person_has_what_waits_told_never(world: World, stores: AwsStores, bus: Bus) -> None:
    """A bus was away for weeks, and its followers have looked at the registry themselves. What comes then is told."""
    begun(stores, bus)
    bus.is_denied = True
    do(world, *HISTORY)
    deliver(stores, bus)
    bus.is_denied = False
    deliver(stores, bus, {"events": {"since": "2099-01-01T00:00:00Z"}})
    assert not bus.taken
    do(world, register("later"))
    deliver(stores, bus)
    assert [each["subject"] for each in bus.taken] == ["later"]


@pytest.mark.parametrize("asked", [{}, {"since": 7}, {"since": "yesterday"}, {"since": None}])
def test_a_person_who_says_no_time_is_told_how(stores: AwsStores, bus: Bus, asked: Any) -> None:
    with pytest.raises(ValueError, match=r'^events needs a time, as \{"events": \{"since": "2026-'):
        deliver(stores, bus, {"events": asked})
