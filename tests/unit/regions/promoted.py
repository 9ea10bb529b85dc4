"""Two regions of real stores, of which one is to be promoted."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass, replace
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.errors import Closed
from sigla.ports.regions import Region
from sigla.ports.replaying import RegionPair
from sigla.regions import promotion
from sigla.regions.giving import Course
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.promotion import Promotion
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.sqlite.promoting import DirectoryPair
from tests.attack import aws_replay, replay
from tests.attack.aws import Store
from tests.attack.stories import HISTORY, ONE, THREE, TWO, config, register
from tests.attack.world import World
from tests.contract.aws import Account, moto, of_two_parts

__all__ = ["moto"]

NOW = 1_700_000_000_000
PRIMARY, FOLLOWER = Role(1, RegionKind.PRIMARY, peer=KnownBy("B")), Role(1, RegionKind.FOLLOWER, peer=KnownBy("A"))
WRITTEN = (*HISTORY, config("orders", level="NONE"))
NOT_TOLD = (register("orders", THREE), register("late", ONE), config("orders", level="FULL"))
"""What the follower has not heard of when it is promoted."""


@dataclass
class Pair:
    """A is the primary. B, its follower, has not heard of all. open_there, open_back: on the way to B, and to A."""

    a: World
    b: World
    roles: tuple[Region, Region]
    open_there: Callable[[], RegionPair]
    open_back: Callable[[], RegionPair]

    @property
    def there(self) -> RegionPair:
        return self.open_there()

    def planned(self, token: str = "t", **named: Any) -> Course[Promotion]:
        given: dict[str, Any] = {"rehearse": tuple, "token": token, "now": NOW, **named}
        return promotion.planned(self.roles[1], self.roles[0], self.there.drain, **given)

    def undone(self) -> Course[Promotion]:
        return promotion.undone(self.roles[1], self.roles[0])

    @property
    def seen(self) -> tuple[Role, Role]:
        """Both roles, without what each change of them counts."""
        a, b = (each.role() for each in self.roles)
        assert a
        assert b
        return replace(a, turn=0), replace(b, turn=0)


def in_directories(opened: ExitStack) -> Pair:
    a, b = opened.enter_context(World()), opened.enter_context(World())
    one, other = replay.embedded(a), replay.embedded(b)
    regions = one.region, other.region
    return Pair(a, b, regions, lambda: DirectoryPair(other, one), lambda: DirectoryPair(one, other))


def in_tables(account: Account, opened: ExitStack) -> Pair:
    a, b = (opened.enter_context(World(store=Store(account))) for _ in range(2))

    def held(world: World) -> Any:
        of = aws_replay.stores(world)
        ports = {"catalog": of.catalog, "bodies": of.bodies, "journal": of.journal, "region": of.region}
        return SimpleNamespace(**ports, clock=a.clock, tools=of.catalog._tools)

    regions = aws_replay.stores(a).region, aws_replay.stores(b).region
    return Pair(a, b, regions, lambda: TablePair(held(b), held(a)), lambda: TablePair(held(a), held(b)))


Opened = Callable[[], Pair]


@pytest.fixture(params=["directories", pytest.param("tables", marks=pytest.mark.soak)])
def opened_often(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """For matrices, which take long with tables."""
    with fresh(request, monkeypatch) as made:
        yield made


@pytest.fixture(params=["directories", "tables"])
def opened(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    """Makes fresh pairs."""
    with fresh(request, monkeypatch) as made:
        yield made


@contextmanager
def fresh(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> Iterator[Opened]:
    with ExitStack() as stack:
        if request.param == "directories":
            yield lambda: told(in_directories(stack))
        else:
            of_two_parts(monkeypatch)
            monkeypatch.setattr(fence, "COPIES", 2)
            monkeypatch.setattr(fence, "AT_ONCE", 1)
            account: Account = request.getfixturevalue("moto")
            yield lambda: told(in_tables(account, stack))


def told(pair: Pair) -> Pair:
    """With a history of which the follower knows the first part."""
    for region, role in zip(pair.roles, (PRIMARY, FOLLOWER), strict=True):
        assert region.set_role(None, role)
    replay.ask(pair.a, WRITTEN)
    pair.there.drain.look()
    replay.ask(pair.a, NOT_TOLD)
    return pair


def check_promoted(pair: Pair) -> None:
    """The follower is the primary and has all that was acknowledged; the other one follows, and takes no writes."""
    a, b = pair.seen
    assert a == Role(2, RegionKind.FOLLOWER, peer=KnownBy(url="http://b"), token=b.token)
    assert b == Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), token=b.token)
    assert b.token
    assert pair.there.drain.look() == 0
    assert not pair.there.drain.differences()
    assert pair.b.picture() == pair.a.picture()
    register("after", TWO)(pair.b.registry)
    with pytest.raises(Closed):
        register("after", TWO)(pair.a.registry)


def check_as_before(pair: Pair) -> None:
    a, b = pair.seen
    assert (a, b) == (PRIMARY, FOLLOWER)
    register("after", TWO)(pair.a.registry)
    with pytest.raises(Closed):
        register("after", TWO)(pair.b.registry)
