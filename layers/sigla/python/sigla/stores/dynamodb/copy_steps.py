"""What comes behind the rows of a copy goes step by step, and each step piece by piece.

So what it holds at a time does not grow with the registry, and it ends when its time is up. Where it is stands on the
row COPYING, so that the next turn goes on from there:

    step       the one under way
    at         the key behind which it goes on
    carried    what it takes along to there
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from typing import Any

from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import Condition, Key
from sigla.stores.dynamodb.table import Table
from sigla.stores.dynamodb.values import Item


class TimeIsUp(Exception):
    """The rest is for the next turn, which goes on from the place that was noted last."""


class CopyStep:
    """The step under way. note: keeps where it is. until: when to leave the rest, by `Clock.elapsed`.

    name, after, carried: as they were noted last, or set since. after: None where it begins.
    """

    def __init__(self, note: Callable[[Item], None], clock: Clock, until: float, state: Item) -> None:
        self._note = note
        self._clock = clock
        self.until = until
        self.name: str = state["step"]
        self.after: Key | None = tuple(state["at"]) if "at" in state else None
        self.carried: Any = state.get("carried")

    def check_time(self) -> None:
        """Raises TimeIsUp."""
        if self._clock.elapsed() >= self.until:
            raise TimeIsUp

    def go_on_behind(self, after: Key | None, **more: int) -> None:
        """All up to that key is done; None: it begins. more: to be noted besides. Raises TimeIsUp."""
        self.after = after
        at = list(after) if after else None
        self._note({"step": self.name, "at": at, "carried": self.carried, **more})
        self.check_time()

    def pages(self, table: Table, where: Condition) -> Iterator[list[Item]]:
        """The items of the whole table that meet a condition.

        Whoever takes a page is done with it when the next one is asked for. Raises TimeIsUp.
        """
        while True:
            found, last = table.scan(self.after, where=where)
            yield found
            if last is None:
                return
            self.go_on_behind(last)


def take_steps(
    steps: Mapping[str, Callable[[CopyStep], None]],
    state: Item,
    note: Callable[[Item], None],
    clock: Clock,
    until: float,
) -> bool:
    """Whether all are done, by this turn and those before it. state: of the row COPYING."""
    names = [*steps]
    if state.get("step") not in names:  # it begins, or another release did: each step may be done again
        state = {"step": names[0]}
    step = CopyStep(note, clock, until, state)
    left = names[names.index(state["step"]) :]
    with suppress(TimeIsUp):
        for name in left:
            if name != step.name:
                step.name, step.carried = name, None
                step.go_on_behind(None)
            steps[name](step)
        return True
    return False
