"""Who has to leave when all connections together are too much."""

import resource

import pytest

from sigla.web.local import crowd
from sigla.web.local.crowd import Crowd


class Client:
    """A connection whose client takes what it is told to."""

    def __init__(self, untaken: int = 0) -> None:
        self.left = 0
        self.waiting = untaken

    def untaken(self) -> int:
        return self.left + self.waiting

    def unsent(self) -> int:
        return self.waiting

    def leave_idle(self) -> None:
        self.left = 1

    def give_up(self) -> None:
        self.waiting = 0
        self.left = 1


def test_the_connection_that_has_been_idle_for_the_longest_time_makes_room() -> None:
    """Whoever asked a moment ago will ask again."""
    idle = Crowd()
    first, second = Client(), Client()
    for now, client in enumerate((first, second)):
        idle.rests(client, float(now))
    assert idle.make_room()
    assert (first.left, second.left) == (1, 0)
    assert idle.make_room()
    assert not idle.make_room(), "nobody is idle any more"


def test_an_idle_connection_is_closed_after_the_load_balancers_in_front_have_had_their_time() -> None:
    """Who hangs up first decides whether a request is lost on its way."""
    idle = Crowd()
    first, second = Client(), Client()
    idle.rests(first, 0.0)
    idle.rests(second, 10.0)
    idle.look(74.9)
    assert (first.left, second.left) == (0, 0)
    idle.look(75.0)
    assert (first.left, second.left) == (1, 0)
    del idle.idle[second]  # it asks something
    idle.rests(second, 80.0)
    idle.look(154.9)
    assert second.left == 0


def test_an_answer_that_nobody_takes_is_given_up_after_a_minute() -> None:
    """A byte now and then is progress: a slow line does not count as an attack."""
    waiting = Crowd()
    dead, slow = Client(1000), Client(1000)
    for client in (dead, slow):
        waiting.waits(client, 0.0)
    for second in range(1, 60):
        slow.waiting -= 1
        waiting.look(float(second))
        assert not dead.left
    waiting.look(60.0)
    assert dead.left
    assert not slow.left


def test_answers_that_nobody_takes_are_given_up_at_once_when_they_are_many() -> None:
    """A minute is long enough to fill the memory."""
    waiting = Crowd()
    clients = [Client(crowd.UNTAKEN_BYTES // 4) for _ in range(5)]
    taking = Client(crowd.UNTAKEN_BYTES)
    for client in (*clients, taking):
        waiting.waits(client, 0.0)
    for tenth in range(1, 6):
        taking.waiting -= 1
        waiting.look(tenth / 10)
    assert all(client.left for client in clients)
    assert not taking.left


def test_a_client_that_goes_on_is_not_waited_for() -> None:
    waiting = Crowd()
    client = Client(1000)
    waiting.waits(client, 0.0)
    waiting.goes_on(client)
    waiting.look(1000.0)
    assert not client.left


@pytest.mark.parametrize(
    "held, holds, full",
    [(100, 100_000, False), (101, 100_000, True), (101, 100, False), (126, 100, True)],
)
def test_small_requests_are_let_in_a_little_longer_than_large_ones(held: int, holds: int, full: bool) -> None:
    """Whoever sends half a body on many connections keeps out large schemas, not every question."""
    limited = Crowd(arriving_bytes=100)
    limited.held = held
    assert limited.is_full_for(holds) == full


def test_some_descriptors_are_never_those_of_clients() -> None:
    assert 0 < crowd.most_connections() <= crowd.MOST_CONNECTIONS


def test_each_further_registry_has_descriptors_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """Else fifty of them could not write while idle clients, who need no key, hold all that a process may have."""
    monkeypatch.setattr(resource, "getrlimit", lambda _: (1024, 4096))
    assert crowd.most_connections(1) == 1024 - crowd.SPARE_DESCRIPTORS
    assert crowd.most_connections(50) == 1024 - crowd.SPARE_DESCRIPTORS - 49 * crowd.REGISTRY_DESCRIPTORS


def test_an_answer_that_nobody_takes_keeps_no_server_from_its_end() -> None:
    """Who still reads has as long as there is."""
    waiting = Crowd()
    dead, slow = Client(1000), Client(1000)
    for client in (dead, slow):
        waiting.waits(client, 0.0)
    waiting.ends = True
    slow.waiting -= 1
    waiting.look(crowd.LAST_PATIENCE_S)
    assert dead.left
    assert not slow.left
