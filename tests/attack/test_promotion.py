"""Writers go on while a region is promoted: whatever was acknowledged is there, and each id means one thing."""

import threading
from collections import defaultdict
from collections.abc import Iterator
from itertools import count
from typing import Self

import pytest

from sigla.errors import Closed, Refusal, StoreError
from sigla.regions import promotion
from sigla.regions.giving import carried_out
from tests.attack import aws_replay
from tests.attack.stories import register
from tests.attack.world import World
from tests.build import a_text
from tests.contract.aws import moto
from tests.unit.aws.faults import Fault, Faults, Killed, no_fault
from tests.unit.regions.promoted import (
    NOW,
    Opened,
    Pair,
    check_promoted,
    fresh,
    opened,
)
from tests.unit.registry.tell import s

__all__ = ["moto", "opened"]

WRITERS = 3


class Writers:
    """Each registers one new schema after the other, in whichever region takes writes."""

    def __init__(self, pair: Pair) -> None:
        self._pair = pair
        self._over = threading.Event()
        self._numbers = count()
        self._threads = [threading.Thread(target=self._run, args=(number,)) for number in range(WRITERS)]
        self.given: dict[int, set[str]] = defaultdict(set)
        self.acknowledged: list[tuple[str, World]] = []
        self.refused: list[Exception] = []

    def __enter__(self) -> Self:
        for thread in self._threads:
            thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        for thread in self._threads:
            thread.join()

    def wait_for(self, world: World, many: int) -> None:
        """Until so many more are acknowledged there."""
        begun = sum(at is world for _, at in self.acknowledged)
        while sum(at is world for _, at in self.acknowledged) < begun + many:
            self._over.wait(0.001)

    def _run(self, number: int) -> None:
        while not self._over.is_set():
            name = f"w{number}-{next(self._numbers)}"
            for world in (self._pair.b, self._pair.a):
                try:
                    record = register(name, a_text(name.replace("-", "_")))(world.registry)
                except (Closed, StoreError, Refusal) as refused:
                    self.refused.append(refused)
                else:
                    self.given[int(record.id)].add(name)
                    self.acknowledged.append((name, world))
                    break


def test_writers_go_on_while_a_region_is_promoted(opened: Opened) -> None:
    """By plan: all that either region acknowledged is in the new primary, and errors say that writes are not taken."""
    pair = opened()
    with Writers(pair) as writers:
        writers.wait_for(pair.a, 5)
        carried_out(pair.planned(url="http://b"))
        writers.wait_for(pair.b, 5)
    assert {type(each) for each in writers.refused} <= {Closed}
    for name, _ in writers.acknowledged:
        assert len(pair.b.store.catalog.history(s(name))) == 1, name
    assert {id: names for id, names in writers.given.items() if len(names) > 1} == {}


def test_writers_go_on_while_a_region_is_promoted_by_force(opened: Opened) -> None:
    """Both may take writes for a while: no id means two things."""
    pair = opened()
    with Writers(pair) as writers:
        writers.wait_for(pair.a, 5)
        carried_out(promotion.forced(pair.roles[1], now=NOW))
        writers.wait_for(pair.b, 5)
        carried_out(promotion.closed(pair.roles[0], 1))
        writers.wait_for(pair.b, 5)
    assert {id: names for id, names in writers.given.items() if len(names) > 1} == {}
    role = pair.roles[0].role()
    assert role
    assert not role.writes


# --- cut off at each call of AWS -------------------------------------------------------------------------------------


@pytest.fixture
def tables(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    request.param = "tables"
    with fresh(request, monkeypatch) as made:
        yield made


@pytest.mark.soak
@pytest.mark.parametrize("fault", [Fault.KILLED, Fault.KILLED_AFTER, Fault.LOST], ids=lambda fault: fault.name)
def test_who_is_cut_off_at_any_call_of_aws_runs_it_again(tables: Opened, fault: Fault) -> None:
    """Also in the middle of the copies of a role, and of what is brought at the end."""
    for number in count():
        pair = tables()
        struck = attempt(pair, number, fault)
        carried_out(pair.planned("u", url="http://b"))
        check_promoted(pair)
        if not struck:
            break
    assert number >= 30


def attempt(pair: Pair, number: int, fault: Fault) -> bool:
    """A promotion of which one call fails. Whether it came so far."""
    struck = []

    def plan(call: object) -> Fault | None:
        struck.append(call)
        return fault if len(struck) == number + 1 else None

    faults = Faults(aws_replay.stores(pair.b).dynamodb, plan)
    try:
        carried_out(pair.planned(url="http://b"))
    except (Killed, StoreError, Refusal):
        """It ends there."""
    finally:
        faults.plan = no_fault
    return len(struck) > number
