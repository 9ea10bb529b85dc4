"""Several registries in one function: each is opened when it is first asked, and closed again for others.

A registry that is not asked takes nothing. One that is open has threads and memories of its own, and Lambda bounds
both; so there are so many open ones at most, and the one that was not asked for longest makes room. What it knew is
read again when it is asked the next time, as after a cold start.
"""

from collections import OrderedDict
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from typing import Final, Generic, Self, TypeVar

MOST_OPEN: Final = 16
"""Each has up to fifty threads while it lists, reads ahead and writes; an environment of Lambda has 1,024."""

Opened = TypeVar("Opened")
Open = Callable[[str, ExitStack], Opened]
"""Opens the registry of a name, and puts on the stack what is to be closed with it."""


class Pool(Generic[Opened]):
    """`pool(name)`: the registry of that name, open. For one thread: an environment serves one request at a time.

    most: so many are open at once.
    """

    def __init__(self, open: Open[Opened], most: int = MOST_OPEN) -> None:
        self._open = open
        self._most = most
        self._members: OrderedDict[str, tuple[Opened, ExitStack]] = OrderedDict()
        # What is still under way in one that is closed, such as a read that AWS does not answer, keeps no caller.
        self._closing = ThreadPoolExecutor(1, thread_name_prefix="closing")

    def __call__(self, name: str) -> Opened:
        if name not in self._members:
            with ExitStack() as opening:
                self._members[name] = self._open(name, opening), opening.pop_all()
            if len(self._members) > self._most:
                leaving = self._members.popitem(last=False)[1][1]
                self._closing.submit(leaving.close)
        self._members.move_to_end(name)
        return self._members[name][0]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all of them, and waits until they are; none may be asked afterwards."""
        with self._closing, ExitStack() as all_of_them:
            for member in self._members.values():
                all_of_them.push(member[1])
            self._members.clear()
