"""What one registry of a pool is asked changes no byte of what another one answers, over the stores of AWS."""

from collections.abc import Iterator

import pytest

from sigla.stores.clock import SystemClock
from tests.build import NOW
from tests.functions.pool_on_aws import FunctionDoors, pool_on_aws
from tests.unit.auth.pool_asked import Ask, World
from tests.unit.web.test_neighbours import Request, requests

Told = tuple[int, str, str | None]
"""Status, JSON and ETag of an answer; the last one is of its bytes."""


class Walk:
    """Asks a pool whose a had nothing before. The clock goes on by a second with each request of a, with no other."""

    def __init__(self, pool: FunctionDoors, patched: pytest.MonkeyPatch) -> None:
        self._pool = pool
        self._now = NOW
        patched.setattr(SystemClock, "now", lambda _: self._now)

    def told_by_a(self, seed: int, count: int, beside: int | None) -> Iterator[Told]:
        """What a answers. beside: the seed of what b is asked in between; None: nothing."""
        self._pool.begin_anew()
        world, ask = self._pool(filled=False)
        noise = requests(beside, 2 * count) if beside is not None else iter(())
        for number, request in enumerate(requests(seed, count)):
            for _, of_b in zip(range(number % 3), noise, strict=False):  # the neighbour's pace is another one
                asked(world, ask, "b", of_b)
            self._now = NOW + 1000 * number
            yield asked(world, ask, "a", request)


def asked(world: World, ask: Ask, name: str, request: Request) -> Told:
    method, target, body = request
    reply = ask(method, target, world.basic("admin", name, name), body)
    return reply.status, str(reply.json), reply.headers.get("etag")


@pytest.fixture
def walk(monkeypatch: pytest.MonkeyPatch) -> Iterator[Walk]:
    with pool_on_aws() as doors:
        yield Walk(doors, monkeypatch)


def compare(walk: Walk, seed: int, count: int) -> None:
    alone, beside = list(walk.told_by_a(seed, count, None)), list(walk.told_by_a(seed, count, seed + 1))
    assert len(alone) == count
    for request, one, other in zip(requests(seed, count), alone, beside, strict=True):
        assert one == other, request
    statuses = {status for status, _, _ in alone}
    assert {200, 404, 409, 422} <= statuses, "a walk that is refused everywhere shows nothing"
    assert 500 not in statuses


def test_a_neighbour_changes_no_byte_of_what_a_registry_of_a_pool_answers(walk: Walk) -> None:
    """The same ids, versions, lists and refusals as if it were alone, whatever the other one registers and deletes."""
    compare(walk, seed=20261127, count=150)


@pytest.mark.soak
@pytest.mark.parametrize("first", range(0, 100, 10))
def test_no_byte_in_a_hundred_thousand_requests(walk: Walk, first: int) -> None:
    """The same, in a hundred walks of a thousand."""
    for seed in range(first, first + 10):
        compare(walk, seed=seed, count=1000)
