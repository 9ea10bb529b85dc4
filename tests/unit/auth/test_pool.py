"""Two registries in one process, through every door: whoever is of one of them is a stranger in the other.

Every route is asked in every way to name a registry, and every way is tried at every door; principals and doors take
turns from route to route. `test_permissions` has every combination for a registry that is alone, and once a registry is
chosen, what follows is the same code.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, closing
from typing import Any

import pytest

from sigla.auth.permissions import OPEN
from sigla.stores.sqlite.keys import EmbeddedKeys
from tests.unit.auth.guarded import KEYS, Who, cut
from tests.unit.auth.pooled import DOORS, Ask, Pool, pool
from tests.unit.web.test_permissions import ROWS, Row, judge, prepared

Keys = tuple[EmbeddedKeys, Mapping[str, str]]
AT_A = {"host": "a.example"}
AT_B = {"host": "B.Example:443"}
ELSEWHERE = {"host": "sr.example"}
TO_A, TO_B = {"target-sr-cluster": "a"}, {"target-sr-cluster": "b"}

UNKNOWN = {"error_code": 401, "message": "Unauthorized"}
UNNAMED = {
    "error_code": 401,
    "message": "Unauthorized: name the registry behind the user, as NAME@REGISTRY, or ask by its host name",
}
SEVERAL = {
    "error_code": 40301,
    "message": (
        "The token is good for several registries: name one in the header target-sr-cluster, or ask by its host name"
    ),
}

Way = Callable[[Pool, str], Mapping[str, str]]

WAYS: tuple[Way, ...] = (
    lambda world, who: world.basic(who, "a", "a") | ELSEWHERE,
    lambda world, who: world.basic(who, "a") | AT_A,
    lambda world, who: world.basic(who, "a", "a") | AT_A,
    lambda world, who: world.bearer(who),
    lambda world, who: world.bearer(who) | AT_A | TO_B,
    lambda world, who: world.bearer(f"{who} in both") | TO_A,
    lambda world, who: world.bearer(f"{who} in both") | AT_A,
)
"""How a principal of a names it."""

STRANGE: tuple[Way, ...] = (
    lambda world, who: world.basic(who, "b") | AT_A,
    lambda world, who: world.basic(who, "b", "a"),
    lambda world, who: world.basic(who, "b", "b") | AT_A,
    lambda world, who: world.basic(who, "a", "b"),
    lambda world, who: world.basic(who, "a") | AT_B,
    lambda world, who: world.basic(who, "a", "c"),
)
"""How a key is shown to a registry that it is not of."""


class Doors:
    """The two registries behind a door: the same ones until a request has changed something, then others."""

    def __init__(self, keys: Mapping[str, Keys], door: Callable[[Pool], Any], *, filled: bool = True) -> None:
        self._keys, self._door, self._filled = keys, door, filled
        self._opened = ExitStack()
        self._world: tuple[Pool, Ask] | None = None

    def __call__(self) -> tuple[Pool, Ask]:
        if self._world and not self._world[0].untouched:
            self.close()
        if not self._world:
            world = self._opened.enter_context(pool(self._keys, filled=self._filled))
            self._world = world, self._opened.enter_context(self._door(world))
        return self._world

    def close(self) -> None:
        self._world = None
        self._opened.close()


@pytest.fixture(scope="module")
def keys(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, Keys]:
    return {name: cut(tmp_path_factory.mktemp(f"keys-{name}")) for name in ("a", "b")}


@pytest.fixture(scope="module")
def all_doors(keys: Mapping[str, Keys]) -> Iterator[list[Doors]]:
    with ExitStack() as opened:
        yield [opened.enter_context(closing(Doors(keys, door))) for door in DOORS.values()]


@pytest.fixture
def doors(all_doors: list[Doors], row: Row) -> Doors:
    """The one whose turn it is."""
    return all_doors[TURNS[id(row)] % len(all_doors)]


TURNS = {row: at for at, row in enumerate(map(id, ROWS))}


def pairs(row: Row, some: tuple[Way, ...]) -> list[tuple[Who, Way]]:
    """Every way, with a principal each; others for each row."""
    turn = TURNS[id(row)]
    return [(KEYS[(turn + 3 * at) % len(KEYS)], way) for at, way in enumerate(some)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_inside_of_its_registry_a_principal_is_what_it_is_where_that_is_alone(doors: Doors, row: Row) -> None:
    """However it names its registry; and the neighbour has nothing of what it changed."""
    for who, way in pairs(row, WAYS):
        world, ask = doors()
        reply = ask(row.method, prepared(world.a, row.target), way(world, who.name), row.body)
        assert reply.status == row.outcome(who), (who, reply)
        judge(row, who, reply, by_token=True)
        assert not list(world.b.journal.read()), "what was asked of a was written into b"
        assert row.outcome(who) < 400 or not world.a.commits


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_a_key_of_another_registry_is_unknown(doors: Doors, row: Row) -> None:
    """In the words of a wrong secret, whether its name is that of a key here or not, and whatever registry it names."""
    for who, way in pairs(row, STRANGE):
        world, ask = doors()
        reply = ask(row.method, prepared(world.a, row.target), way(world, who.name), row.body)
        expected = row.success if row.access is OPEN else 401
        assert reply.status == expected, (who, reply)
        assert expected != 401 or reply.json == UNKNOWN
        assert world.untouched


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_a_token_of_another_registry_is_good_for_nothing_here(doors: Doors, row: Row) -> None:
    """As one that no row of the map knows: a refusal does not tell that it is good elsewhere."""
    world, ask = doors()
    (who, _), *_ = pairs(row, WAYS)
    replies = [
        ask(row.method, prepared(world.a, row.target), world.bearer(name) | AT_A | TO_A, row.body)
        for name in (f"{who} in b", "nobody that a row names")
    ]
    assert replies[0].status == (row.success if row.access is OPEN else 403), replies[0]
    assert replies[0].json == replies[1].json
    assert world.untouched


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_without_a_registry_a_request_reaches_none(doors: Doors, row: Row) -> None:
    """It is told how to name one, and tries no key: 401 where credentials would have to change, 403 for a token."""
    world, ask = doors()
    (who, _), *_ = pairs(row, WAYS)
    for headers, status, told in (
        (ELSEWHERE, 401, UNNAMED),
        (TO_A, 401, UNNAMED),
        (world.basic(who.name, "a"), 401, UNNAMED),
        (world.bearer(f"{who} in both"), 403, SEVERAL),
        (world.bearer(f"{who} in both") | {"target-sr-cluster": "c"}, 403, SEVERAL),
        ({"authorization": "Bearer e30.e30.e30"} | TO_A, 401, None),
    ):
        reply = ask(row.method, prepared(world.a, row.target), headers, row.body)
        assert reply.status == (row.success if row.access is OPEN else status), reply
        assert row.access is OPEN or told is None or reply.json == told
        assert world.untouched


@pytest.fixture(scope="module")
def all_bare(keys: Mapping[str, Keys]) -> Iterator[list[Doors]]:
    """The same two registries, of which a was never filled."""
    with ExitStack() as opened:
        yield [opened.enter_context(closing(Doors(keys, door, filled=False))) for door in DOORS.values()]


@pytest.fixture
def beside_nothing(all_bare: list[Doors], row: Row) -> Doors:
    return all_bare[TURNS[id(row)] % len(all_bare)]


@pytest.mark.parametrize("row", ROWS, ids=lambda row: f"{row.method} {row.target}")
def test_what_the_neighbour_has_cannot_be_told_from_what_nobody_has(
    doors: Doors, beside_nothing: Doors, row: Row
) -> None:
    """Ids, GUIDs, subjects, contexts, keys and topics of a, asked for in b, which is empty, by its admin."""
    told = []
    target = prepared(doors()[0].a, row.target)
    for each in (doors, beside_nothing):
        world, ask = each()
        reply = ask(row.method, target, world.basic("admin", "b", "b"), row.body)
        assert not world.a.commits, "what was asked of b was written into a"
        told.append((reply.status, reply.json))
    assert told[0] == told[1]
