"""The function of two regions, on both sides: roles from settings, turns by the clock, and what is told at once."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.errors import Closed
from sigla.functions.replay import ALONE_MS, COMMITTED, SELDOM_MS, SOURCE, OtherRegionTold, Replaying
from sigla.regions import rules
from sigla.regions.installed import Installed
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.stores.dynamodb import copying
from sigla.stores.dynamodb.places import Places
from tests.attack.aws import failing
from tests.attack.aws_replay import check_equal, stores
from tests.attack.ports import At, Between, client
from tests.attack.replay import TRAFFIC, ask
from tests.attack.stories import HISTORY, config, register
from tests.attack.test_aws_copying import account, two
from tests.attack.test_aws_region_turns import MINUTE_MS, Regions
from tests.attack.world import World
from tests.contract.aws import Account
from tests.unit.aws.buses import Bus
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import as_streamed, event_of

__all__ = ["account"]

CLOCK = {"source": "aws.events"}
NEWS = (register("news"), config("news", level="FULL"))


class Two(Regions):
    """The same two regions, each with its function. told: their lines. bus: of EventBridge, in both regions.

    installed: what A and B run.
    """

    def __init__(self, a: World, b: World) -> None:
        super().__init__(a, b)
        self.told = list[Any]()
        self.installed = [Installed("1.0", {"SIGLA_AUTH": "keys"})] * 2
        self.bus = Bus(SimpleNamespace(put_events=lambda **asked: {"Entries": [{} for _ in asked["Entries"]]}))

    def invoke(
        self, world: World, event: Any, between: Between | None = None, there: Between | None = None
    ) -> dict[str, Any]:
        """By an environment of its own."""
        with self.function(world, between, there) as function:
            return dict(function(event))

    @contextmanager
    def function(
        self, world: World, between: Between | None = None, there: Between | None = None
    ) -> Iterator[Replaying]:
        other = self.b if world is self.a else self.a
        pass_on: Between = there or between or (lambda _, carry_out: carry_out())
        with (
            closing(self.store(world, between)) as here,
            closing(self.store(other, there or between)) as other_store,
        ):
            yield Replaying(
                here,
                other_store,
                OtherRegionTold(client("events", self.bus, pass_on), stores(other).table, "r"),
                registry=stores(world).registry,
                becomes=RegionKind.PRIMARY if world is self.a else RegionKind.FOLLOWER,
                installed=self.installed[world is self.b],
                tell=self.told.append,
            )

    def tick(self, world: World, between: Between | None = None, there: Between | None = None) -> dict[str, Any]:
        self.clock.time += MINUTE_MS
        return self.invoke(world, CLOCK, between, there)

    def stream(self, world: World, **options: Any) -> list[Any]:
        """The stream's batch of all rows; the events that the other region has got of it."""
        before = len(self.bus.entries)
        self.invoke(world, event_of(as_streamed(stores(world))), **options)
        return [heard(each) for each in self.bus.entries[before:]]

    def begin(self) -> None:
        """As two stacks do that were deployed a moment ago."""
        assert self.tick(self.b) | {"took_ms": 0, "ts": 0} == line(self.b, role="none")
        assert self.tick(self.a)["armed"]
        self.clock.time += rules.KNOWN_MS
        assert self.tick(self.b)["follows"]


def line(world: World, **facts: Any) -> dict[str, Any]:
    return {"event": "region", "registry": stores(world).registry, "ts": 0, "took_ms": 0, **facts}


def heard(entry: Any) -> dict[str, Any]:
    """An entry as EventBridge hands it to a function."""
    return {"source": entry["Source"], "detail-type": entry["DetailType"], "detail": json.loads(entry["Detail"])}


@pytest.fixture
def regions(account: Account) -> Iterator[Two]:
    with two(account) as (a, b):
        ask(a, HISTORY)
        yield Two(a, b)


# --- roles ------------------------------------------------------------------------------------------------------------


def test_two_stacks_make_two_regions_and_the_registry_goes_on_meanwhile(regions: Two) -> None:
    """Whichever is deployed first; and what the settings say changes nothing from then on."""
    regions.begin()
    ask(regions.a, TRAFFIC[:8])
    told = regions.tick(regions.b)
    assert (told["role"], told["waiting"], told["apart"], told["stopped"], told["behind_ms"]) == (
        *("follower", 0, 0, 0),
        0,
    )
    check_equal(regions.a, regions.b)
    assert regions.tick(regions.a)["role"] == "primary"
    register("goes-on")(regions.a.registry)


def test_a_registry_that_has_schemas_follows_none(regions: Two) -> None:
    """Nothing is written in either region, and both functions ring."""
    ask(regions.b, NEWS)
    before = regions.a.rows(), regions.b.rows()
    assert regions.tick(regions.b)["stopped"] == 1
    told = regions.tick(regions.a)
    assert (told["stopped"], told["why"]) == (1, "the other region has schemas of its own")
    assert (regions.a.rows(), regions.b.rows()) == before


def test_a_region_that_is_one_of_another_two_is_left_alone(regions: Two) -> None:
    regions.become(regions.b, Role(3, RegionKind.PRIMARY, peer=KnownBy("C")))
    before = regions.a.rows(), regions.b.rows()
    assert regions.tick(regions.a)["stopped"] == 1
    assert (regions.a.rows(), regions.b.rows()) == before


def test_a_region_whose_stack_is_not_there_yet_hinders_nothing(regions: Two) -> None:
    """Each stack can be deployed alone; the other one's silence is told."""
    told = regions.tick(regions.a, there=failing(Fault.SILENT))
    assert told["silent"] == 1
    assert regions.store(regions.a).region.role() is None
    register("goes-on")(regions.a.registry)
    regions.begin()


@pytest.mark.parametrize(
    "fault", [Fault.KILLED_AFTER, Fault.SILENT, pytest.param(Fault.KILLED, marks=pytest.mark.soak)]
)
def test_the_beginning_is_made_up_for_wherever_it_was_cut_off(regions: Two, fault: Fault) -> None:
    for number in count():
        trap = At(number, failing(fault))
        with suppress(Killed):
            regions.tick(regions.a, trap)
        if not trap.acted:
            break
        register(f"subject-{number}")(regions.a.registry)
    regions.clock.time += rules.KNOWN_MS
    assert regions.tick(regions.b)["follows"]
    regions.tick(regions.b)
    check_equal(regions.a, regions.b)


def test_no_deployment_is_part_of_a_promotion(regions: Two) -> None:
    """The same functions with the same settings: the old primary follows from then on, and is told at once."""
    regions.begin()
    a, b = regions.role(regions.a), regions.role(regions.b)
    regions.become(regions.a, replace(a, kind=RegionKind.FOLLOWER, epoch=2, open=True))
    regions.become(regions.b, replace(b, kind=RegionKind.PRIMARY, epoch=2))
    ask(regions.b, NEWS)
    assert regions.tick(regions.b)["role"] == "primary"
    (event,) = regions.stream(regions.b)
    assert regions.invoke(regions.a, event)["carry_out"] == 2
    assert regions.tick(regions.a)["carry_out"] == 0
    check_equal(regions.a, regions.b)


def test_whoever_was_passed_over_is_closed_and_rings(regions: Two) -> None:
    regions.begin()
    regions.become(regions.b, replace(regions.role(regions.b), epoch=2, kind=RegionKind.PRIMARY))
    told = regions.tick(regions.a)
    assert (told["closed"], told["stopped"]) == (1, 1)
    with pytest.raises(Closed):
        register("late")(regions.a.registry)


def test_a_primary_tells_that_the_other_region_was_made_anew(regions: Two) -> None:
    """Its table is an empty one of the same name: nothing is kept in step any more, and nothing fails by itself."""
    regions.begin()
    assert regions.tick(regions.a)["stopped"] == 0
    of = stores(regions.b)
    pk, sk = Places(of.registry).role()
    of.dynamodb.delete_item(TableName=of.table, Key={"pk": {"S": pk}, "sk": {"S": sk}})
    told = regions.tick(regions.a)
    assert (told["forgotten"], told["stopped"]) == (1, 1)
    register("goes-on")(regions.a.registry)


def test_a_copy_is_left_to_the_instance_that_is_at_it(regions: Two, monkeypatch: pytest.MonkeyPatch) -> None:
    """It takes longer than a minute, and the clock comes each minute: one that took over each time would never end."""
    regions.tick(regions.a)
    regions.clock.time += rules.KNOWN_MS
    beside = list[dict[str, Any]]()
    copy = copying.TableCopy.go_on

    def go_on(self: Any, until: float) -> bool:
        beside.append(regions.invoke(regions.b, CLOCK))
        return copy(self, until)

    monkeypatch.setattr(copying.TableCopy, "go_on", go_on)
    assert regions.tick(regions.b)["follows"]
    assert [each["copied"] for each in beside] == [0]
    monkeypatch.undo()
    check_equal(regions.a, regions.b)


def test_a_copy_whose_instance_was_killed_is_taken_over(regions: Two) -> None:
    """After the time that Lambda gives an instance."""
    regions.tick(regions.a)
    regions.clock.time += rules.KNOWN_MS
    calls = count()

    def dead(call: Any, carry_out: Callable[[], Any]) -> Any:
        return carry_out() if next(calls) < 12 else failing(Fault.KILLED)(call, carry_out)

    with suppress(Killed):
        regions.tick(regions.b, dead)
    assert regions.tick(regions.b)["copied"] == 0
    regions.clock.time += ALONE_MS
    assert regions.tick(regions.b)["follows"]


def test_now_and_then_a_turn_looks_back_for_an_hour(regions: Two) -> None:
    """A row that comes late, by a clock that goes wrong, is met by that."""
    regions.begin()
    regions.clock.time += 10 * MINUTE_MS
    regions.tick(regions.b)
    regions.clock.time -= 9 * MINUTE_MS
    ask(regions.a, NEWS)
    regions.clock.time += 10 * MINUTE_MS
    brought = 0
    for _ in range(SELDOM_MS // MINUTE_MS):
        brought += regions.tick(regions.b)["carry_out"]
    assert brought == 2
    check_equal(regions.a, regions.b)


# --- told at once -----------------------------------------------------------------------------------------------------


def test_what_was_committed_is_told_at_once_and_carried_out_there(regions: Two) -> None:
    """Once more is as good as once; the minute's comparison then finds nothing."""
    regions.begin()
    ask(regions.a, TRAFFIC[:8])
    (event,) = regions.stream(regions.a)
    assert (event["source"], event["detail-type"]) == (SOURCE, COMMITTED)
    assert event["detail"]["table"] == stores(regions.b).table
    told = regions.invoke(regions.b, event)
    assert told["carry_out"] > 0
    assert (told["early"], told["diverges"], told["unknown"]) == (0, 0, 0)
    check_equal(regions.a, regions.b)
    assert regions.invoke(regions.b, event)["carry_out"] == 0
    assert regions.tick(regions.b)["carry_out"] == 0


def test_an_event_names_commits_and_says_nothing_of_them(regions: Two) -> None:
    """Whoever sees the events of an account sees no schema, and no name of a subject."""
    regions.begin()
    ask(regions.a, NEWS)
    (event,) = regions.stream(regions.a)
    assert event["detail"].keys() == {"table", "registry", "epoch", "commits"}
    assert "news" not in json.dumps(event)


@pytest.mark.parametrize(
    "told", [{"commits": [[1, "of-nobody"]]}, {"epoch": 7}, {"epoch": None}, {"commits": []}], ids=str
)
def test_who_may_put_events_tells_nothing_by_them(regions: Two, told: dict[str, Any]) -> None:
    """What is carried out is read from the other region's table, and that has it or has it not."""
    regions.begin()
    ask(regions.a, NEWS)
    (event,) = regions.stream(regions.a)
    before = regions.b.rows()
    answer = regions.invoke(regions.b, {**event, "detail": event["detail"] | told})
    assert not answer.get("carry_out")
    assert regions.b.rows() == before


def test_an_event_of_another_form_is_refused(regions: Two) -> None:
    regions.begin()
    for detail in ({}, {"commits": 7}, {"commits": [7]}, {"commits": [["x", "y"]]}):
        with pytest.raises(ValueError, match=r"not what a region tells|invalid literal"):
            regions.invoke(regions.b, {"source": SOURCE, "detail": detail})
    with pytest.raises(ValueError, match="neither of a stream"):
        regions.invoke(regions.b, {"source": "aws.s3"})


def test_a_region_tells_nothing_of_what_it_was_told(regions: Two) -> None:
    """Its journal has the same rows; none of them is a commit of its own."""
    regions.begin()
    ask(regions.a, NEWS)
    assert regions.tick(regions.b)["carry_out"] == 2
    assert regions.stream(regions.b) == []


def test_what_a_former_primary_tells_is_passed_by(regions: Two) -> None:
    regions.begin()
    ask(regions.a, NEWS)
    (event,) = regions.stream(regions.a)
    regions.become(regions.b, replace(regions.role(regions.b), epoch=2, kind=RegionKind.PRIMARY))
    before = regions.b.rows()
    assert regions.invoke(regions.b, event)["passed_by"] == 2
    assert regions.b.rows() == before


def test_a_bus_that_takes_nothing_holds_up_no_row(regions: Two) -> None:
    """It is told; and the other region finds what is missing within the minute."""
    regions.begin()
    ask(regions.a, NEWS)
    regions.bus.is_denied = True
    assert regions.stream(regions.a) == []
    assert [each["event"] for each in regions.told[-2:]] == ["failure", "region"]
    assert regions.told[-1]["silent"] == 1
    regions.bus.is_denied, regions.bus.refuse = False, lambda _: "InternalFailure"
    assert regions.stream(regions.a) == []
    assert regions.tick(regions.b)["carry_out"] == 2
    check_equal(regions.a, regions.b)


def test_a_registry_without_a_second_region_is_asked_nothing_by_its_stream(account: Account) -> None:
    """Its rows tell that: no call, to either region."""
    with two(account) as (a, b):
        ask(a, HISTORY)
        regions, calls = Two(a, b), list[str]()

        def note(call: Any, carry_out: Callable[[], Any]) -> Any:
            calls.append(call.name)
            return carry_out()

        assert regions.stream(a, between=note) == []
        assert calls == []


@pytest.mark.parametrize("fault", [Fault.KILLED_AFTER, pytest.param(Fault.KILLED, marks=pytest.mark.soak)])
def test_what_is_told_may_be_cut_off_at_any_call(regions: Two, fault: Fault) -> None:
    """It comes again with the next turn, whole."""
    regions.begin()
    ask(regions.a, TRAFFIC[:8])
    (event,) = regions.stream(regions.a)
    for number in count():
        trap = At(number, failing(fault))
        with suppress(Killed):
            regions.invoke(regions.b, event, trap)
        if not trap.acted:
            break
    regions.tick(regions.b)
    told = regions.tick(regions.b)
    assert (told["carry_out"], told["waiting"], told["apart"], told["behind_ms"]) == (0, 0, 0, 0)
    check_equal(regions.a, regions.b)
