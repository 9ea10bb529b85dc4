"""What is asked of two registries in one process, one of them by principals of the other, and what may be answered.

Every route is asked in every way to name a registry; principals take turns from route to route.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Protocol

from sigla.auth.permissions import OPEN
from tests.unit.auth.guarded import KEYS, Reply, Who
from tests.unit.web.test_permissions import ROWS, Row, judge

Ask = Callable[..., Reply]
"""method, target, headers, body=None → Reply."""


class World(Protocol):
    """Two registries, `a`, which is filled, and `b`, which is empty, with principals of the same names in both."""

    def basic(self, who: str, of: str, asked: str = "") -> dict[str, str]:
        """The credentials of a principal. of: whose key it is. asked: the registry behind the user; empty: none."""

    def bearer(self, who: str) -> dict[str, str]: ...

    def target(self, row: Row) -> str:
        """What the row asks of a, with its GUIDs."""

    @property
    def is_changed(self) -> tuple[bool, bool]:
        """Whether a was changed, and b, since they were made."""


Doors = Callable[[], tuple[World, Ask]]
"""The same world until a request has changed something, then another, with what asks it."""

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

Way = Callable[[World, str], Mapping[str, str]]

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


TURNS = {row: at for at, row in enumerate(map(id, ROWS))}


def turn_of(row: Row) -> int:
    return TURNS[id(row)]


def pairs(row: Row, some: Sequence[Way], most: int) -> list[tuple[Who, Way]]:
    """So many ways, with a principal each; others for each row."""
    turn = turn_of(row)
    wanted = [(turn + at) % len(some) for at in range(min(most, len(some)))]
    return [(KEYS[(turn + 3 * at) % len(KEYS)], some[at]) for at in wanted]


def ask_inside(doors: Doors, row: Row, most: int = len(WAYS)) -> None:
    """Inside of its registry a principal is what it is where that is alone."""
    for who, way in pairs(row, WAYS, most):
        world, ask = doors()
        reply = ask(row.method, world.target(row), way(world, who.name), row.body)
        assert reply.status == row.outcome(who), (who, reply)
        judge(row, who, reply, by_token=True)
        of_a, of_b = world.is_changed
        assert not of_b, "what was asked of a was written into b"
        assert row.outcome(who) < 400 or not of_a


def ask_strangely(doors: Doors, row: Row, most: int = len(STRANGE)) -> None:
    """A key of another registry is unknown."""
    for who, way in pairs(row, STRANGE, most):
        world, ask = doors()
        reply = ask(row.method, world.target(row), way(world, who.name), row.body)
        expected = row.success if row.access is OPEN else 401
        assert reply.status == expected, (who, reply)
        assert expected != 401 or reply.json == UNKNOWN
        assert world.is_changed == (False, False)


def ask_with_foreign_tokens(doors: Doors, row: Row) -> None:
    """A token of another registry is good for nothing here."""
    world, ask = doors()
    ((who, _),) = pairs(row, WAYS, 1)
    replies = [
        ask(row.method, world.target(row), world.bearer(name) | AT_A | TO_A, row.body)
        for name in (f"{who} in b", "nobody that a row names")
    ]
    assert replies[0].status == (row.success if row.access is OPEN else 403), replies[0]
    assert replies[0].json == replies[1].json
    assert world.is_changed == (False, False)


def ask_nowhere(doors: Doors, row: Row) -> None:
    """Without a registry a request reaches none."""
    world, ask = doors()
    ((who, _),) = pairs(row, WAYS, 1)
    for headers, status, told in (
        (ELSEWHERE, 401, UNNAMED),
        (TO_A, 401, UNNAMED),
        (world.basic(who.name, "a"), 401, UNNAMED),
        (world.bearer(f"{who} in both"), 403, SEVERAL),
        (world.bearer(f"{who} in both") | {"target-sr-cluster": "c"}, 403, SEVERAL),
        ({"authorization": "Bearer e30.e30.e30"} | TO_A, 401, None),
    ):
        reply = ask(row.method, world.target(row), headers, row.body)
        assert reply.status == (row.success if row.access is OPEN else status), reply
        assert row.access is OPEN or told is None or reply.json == told
        assert world.is_changed == (False, False)


def told_beside(doors: Doors, row: Row, target: str) -> tuple[int, object]:
    """What the admin of b is told of what a has: the same as if a had nothing. target: as of a."""
    world, ask = doors()
    if row.route == "POST /console/api/keys":  # another test may have made it
        ask("DELETE", f"{target}/new", world.basic("admin", "b", "b"))
    reply = ask(row.method, target, world.basic("admin", "b", "b"), row.body)
    assert not world.is_changed[0], "what was asked of b was written into a"
    told = reply.json
    if row.route == "GET /console/api/keys" and isinstance(told, list):  # its own, each made at another time
        told = [each["key"] for each in told if each["key"] != "new"]
    return reply.status, {**told, "ts": None, "secret": None, "created": None} if isinstance(told, dict) else told
