"""Several registries in one function: each is opened when it is first asked, and closed again for others.

A registry that is not asked takes nothing. One that is open has threads and memories of its own, and Lambda bounds
both; so there are so many open ones at most, and the one that was not asked for longest makes room. What it knew is
read again when it is asked the next time, as after a cold start.

A registry has to be open before it can say that a key is unknown. So strangers open whatever they name; but those that
they alone have asked make room first, and what callers with a key or a token are served from stays where it is.
"""

from collections import OrderedDict, deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor, wait
from contextlib import ExitStack
from functools import partial
from typing import Final, Generic, Self, TypeVar

MOST_OPEN: Final = 16
"""Each has up to fifty threads while it lists, reads ahead and writes; an environment of Lambda has 1,024."""

MOST_CLOSING: Final = 3
"""Those that are being closed still have their threads, and these must fit beside those of the open ones."""

Opened = TypeVar("Opened")
Open = Callable[[str, ExitStack, Callable[[], None]], Opened]
"""Opens the registry of a name, and puts on the stack what is to be closed with it.

The function that it gets is to be called for each caller whom the registry has let in.
"""


class Pool(Generic[Opened]):
    """`pool(name)`: the registry of that name, open. For one thread: an environment serves one request at a time.

    most: so many are open at once, 1 or more.
    """

    def __init__(self, open: Open[Opened], most: int = MOST_OPEN) -> None:
        self._open = open
        self._most = most
        self._members: OrderedDict[str, tuple[Opened, ExitStack]] = OrderedDict()
        self._let_in: set[str] = set()
        # What is still under way in one that is closed, such as a read that AWS does not answer, keeps no caller.
        self._closing = ThreadPoolExecutor(1, thread_name_prefix="closing")
        self._closed: deque[Future[None]] = deque()

    def __call__(self, name: str) -> Opened:
        if name not in self._members:
            with ExitStack() as opening:
                self._members[name] = self._open(name, opening, partial(self._let_in.add, name)), opening.pop_all()
            if len(self._members) > self._most:
                self._close(self._leaving(name))
        self._members.move_to_end(name)
        return self._members[name][0]

    def _leaving(self, newcomer: str) -> str:
        """The one that was not asked for longest; of those that have let no caller in, if there is one."""
        others = [name for name in self._members if name != newcomer]
        return next((name for name in others if name not in self._let_in), others[0])

    def _close(self, name: str) -> None:
        while self._closed and (self._closed[0].done() or len(self._closed) >= MOST_CLOSING):
            wait([self._closed.popleft()])
        self._let_in.discard(name)
        self._closed.append(self._closing.submit(self._members.pop(name)[1].close))

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        """Closes all of them, and waits until they are; none may be asked afterwards."""
        with self._closing, ExitStack() as all_of_them:
            for member in self._members.values():
                all_of_them.push(member[1])
            self._members.clear()
