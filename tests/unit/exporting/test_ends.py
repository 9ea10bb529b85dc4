"""The end of a process whose exporters hang: it waits for all of them together, and not for one after the other."""

import threading
from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any, cast

import pytest

from sigla.web.local import exporting
from tests.unit.exporting.places import AVRO, Place, places
from tests.waiting import eventually

MANY, REGISTRIES = 50, 3


class Hanging:
    """A destination that no interruption reaches, as a name server that does not answer."""

    shown = "http://hanging.example"

    def __init__(self) -> None:
        self.hang = threading.Event()
        self.waiting = threading.Semaphore(0)
        self.interrupted = 0

    def __getattr__(self, name: str) -> Any:
        def ask(*_: object, **__: object) -> None:
            self.waiting.release()
            self.hang.wait()

        return ask

    def interrupt(self) -> None:
        self.interrupted += 1

    def close(self) -> None:
        return


@pytest.fixture
def hanging() -> Iterator[Hanging]:
    made = Hanging()
    yield made
    made.hang.set()


def at_work(place: Place, hanging: Hanging, opened: ExitStack) -> exporting.Exporting:
    """The exporters of one registry: many, which all wait for the destination."""
    place.register("orders", AVRO % 1)
    for number in range(MANY):
        config = {"schema.registry.url": hanging.shown}
        place("POST", "/exporters", {"name": f"e{number}", "contextType": "NONE", "config": config})
    around = exporting.Surroundings(place.store, lambda _: cast("exporting.RemoteDestination", hanging), "", _untold)
    made = opened.enter_context(exporting.exporting(around))
    eventually(lambda: len(made._followers) == MANY)
    for _ in range(MANY):
        assert hanging.waiting.acquire(timeout=30)
    return made


def _untold(_: object) -> None:
    return


def test_a_hundred_and_fifty_exporters_that_hang_are_waited_for_together(
    hanging: Hanging, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each registry is closed in its turn, and the first one has waited as long as all of them may."""
    with places(REGISTRIES) as registries, ExitStack() as opened:
        clock = registries[0].clock
        waits: list[float] = []

        def join(_: object, patience_s: float) -> None:
            waits.append(patience_s)
            clock.time += round(1000 * patience_s)

        made = [at_work(place, hanging, opened) for place in registries]
        for each in made:
            monkeypatch.setattr(each._around.store, "clock", clock)
            opened.callback(each.begin_to_stop)
        monkeypatch.setattr(exporting.Follower, "join", join)
        hanging.interrupted = 0
        opened.close()
        assert hanging.interrupted >= REGISTRIES * MANY, "each is asked to end"
        assert len(waits) == REGISTRIES * MANY
        assert sum(waits) == exporting.FAREWELL_S
