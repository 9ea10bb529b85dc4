"""How threads and clients share what there is one of: clients take turns in a queue, threads in computing."""

import threading
from collections import deque
from collections.abc import Callable, Iterator
from time import monotonic
from typing import Final, Generic, TypeVar

Item = TypeVar("Item")

SHARE_S: Final = 0.01
"""How long a thread computes while others wait for it."""


class FairQueue(Generic[Item]):
    """Each client's items in their order; whoever has waited longest for a turn is next. Not for several threads."""

    def __init__(self) -> None:
        self._of: dict[str, deque[Item]] = {}
        self._size = 0

    def __len__(self) -> int:
        return self._size

    def __iter__(self) -> Iterator[Item]:
        return (item for items in self._of.values() for item in items)

    def of(self, client: str) -> int:
        """How many items a client has."""
        return len(self._of.get(client, ()))

    def put(self, client: str, item: Item) -> None:
        self._of.setdefault(client, deque()).append(item)
        self._size += 1

    def take(self, may: Callable[[str], bool] = lambda _: True) -> Item | None:
        """The next item; None without one. may: tells whether it is a client's turn at all."""
        client = next(filter(may, self._of), None)
        if client is None:
            return None
        items = self._of.pop(client)
        item = items.popleft()
        self._size -= 1
        if items:
            self._of[client] = items  # at the end: the others come first
        return item

    def remove(self, client: str, item: Item) -> bool:
        """Whether the item was there."""
        items = self._of.get(client, deque())
        if item not in items:
            return False
        items.remove(item)
        self._size -= 1
        if not items:
            del self._of[client]
        return True


class Baton:
    """Held by the one thread that computes. Others wait for it in line, so that each computes a while.

    Python runs one thread at a time anyway. With one that computes, those that only answer wait for one at most.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._line: deque[threading.Lock] = deque()
        self._held = False
        self._since = 0.0

    def __enter__(self) -> None:
        self.take()

    def __exit__(self, *_: object) -> None:
        self.leave()

    def take(self) -> None:
        with self._lock:
            if not self._held:
                self._held, self._since = True, monotonic()
                return
            mine = threading.Lock()
            mine.acquire()
            self._line.append(mine)
        mine.acquire()  # whoever leaves releases it, and so hands the baton over
        self._since = monotonic()

    def leave(self) -> None:
        with self._lock:
            if self._line:
                self._line.popleft().release()
            else:
                self._held = False

    def pass_on(self) -> None:
        """Lets the next one compute if one waits and this thread has had its share."""
        if self._line and monotonic() - self._since >= SHARE_S:
            self.leave()
            self.take()
