"""What is open at once in a function of many registries: which one makes room, and for whom."""

import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Any

import pytest

from sigla import pooling
from sigla.answering import any_foreign
from sigla.auth.credentials import Slow
from sigla.auth.permissions import READ, Principal
from sigla.functions.pool import MOST_CLOSING, Pool


class Opening:
    """Opens numbers, and notes which are open; closing one waits for the gate."""

    def __init__(self) -> None:
        self.gate = threading.Event()
        self.gate.set()
        self.made = 0
        self.open: list[str] = []
        self.let_in: dict[str, Callable[[], None]] = {}

    def __call__(self, name: str, opened: ExitStack, let_in: Callable[[], None]) -> str:
        self.made += 1
        self.open.append(name)
        self.let_in[name] = let_in
        opened.callback(self._close, name)
        if name == "broken":
            raise OSError
        return f"{name} {self.made}"

    def _close(self, name: str) -> None:
        assert self.gate.wait(30)
        self.open.remove(name)


def test_the_one_that_was_not_asked_for_longest_makes_room_and_keeps_no_caller_waiting() -> None:
    """Closing one may wait for what AWS does not answer."""
    opening = Opening()
    with Pool(opening, most=2) as pool:
        assert [pool(name) for name in ("a", "b", "a")] == ["a 1", "b 2", "a 1"]
        opening.gate.clear()
        assert pool("c") == "c 3"
        assert pool("a") == "a 1"
        assert pool("b") == "b 4"
        opening.gate.set()
    assert opening.open == []


def test_those_that_let_nobody_in_make_room_first() -> None:
    """Whoever names all registries has each of them opened, to be told that the key is unknown, and closes no other."""
    opening = Opening()
    with Pool(opening, most=3) as pool:
        for name in ("a", "b"):
            pool(name)
            opening.let_in[name]()
        for name in ("w", "x", "y", "w", "z"):
            pool(name)
        assert [pool(name) for name in ("a", "b")] == ["a 1", "b 2"]
        assert pool("z") == "z 7"
        opening.let_in["z"]()
        pool("w")
        assert [pool(name) for name in ("b", "z")] == ["b 2", "z 7"], "then the one that was not asked for longest"
        assert pool("a") == "a 9"


def test_registries_that_cannot_be_closed_do_not_pile_up() -> None:
    """Each has its threads until it is closed, and an environment has so many: the next one waits."""
    opening = Opening()
    opening.gate.clear()
    with Pool(opening, most=2) as pool, ThreadPoolExecutor(1) as asking:
        for number in range(2 + MOST_CLOSING):
            pool(str(number))
        last = asking.submit(pool, "last")
        with pytest.raises(TimeoutError):
            last.result(0.2)
        assert len(opening.open) == 2 + MOST_CLOSING + 1
        opening.gate.set()
        assert last.result(30) == f"last {2 + MOST_CLOSING + 1}"
    assert opening.open == []


def test_what_a_registry_has_opened_before_it_fails_to_open_is_closed() -> None:
    """The next request tries again."""
    opening = Opening()
    with Pool(opening) as pool:
        for _ in range(2):
            with pytest.raises(OSError):
                pool("broken")
            assert opening.open == []
        assert pool("a") == "a 3"


@pytest.mark.parametrize("is_slow", [False, True])
@pytest.mark.parametrize(
    "found, counts", [(Principal("etl", (READ,)), True), (Principal("good for nothing", ()), False), (None, False)]
)
def test_whoever_may_do_something_is_let_in(found: Principal | None, counts: bool, is_slow: bool) -> None:
    """A true token for which no row holds is a stranger's, and who it is may take a while to be known."""

    class Authenticator:
        schemes = ("Basic",)

        def __call__(self, header: bytes | None) -> Principal | None:
            assert header == b"shown"
            if is_slow:
                raise Slow(lambda: found)
            return found

    told: list[bool] = []
    letting_in = pooling.LettingIn(Authenticator(), lambda: told.append(True))
    assert letting_in.schemes == ("Basic",)
    if is_slow:
        with pytest.raises(Slow) as slow:
            letting_in(b"shown")
        assert not told
        assert slow.value.answer() is found
    else:
        assert letting_in(b"shown") is found
    assert told == [True] * counts


def test_a_registry_that_is_closed_meanwhile_fails_no_request_of_another() -> None:
    """Each request tells in its metrics whether data is foreign, and another thread closes what was long not asked."""
    owners: set[Any] = set()

    class Leaving:
        @property
        def is_foreign(self) -> bool:
            owners.clear()
            return False

    owners.update(Leaving() for _ in range(3))
    assert not any_foreign(owners)
