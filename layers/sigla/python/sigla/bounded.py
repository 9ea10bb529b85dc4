"""What is remembered of what was found out before, within a bound; pure functions have `functools.lru_cache`."""

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Iterable
from typing import Generic, TypeVar

Key = TypeVar("Key", bound=Hashable)
Value = TypeVar("Value")


class BoundedMemory(Generic[Key, Value]):
    """At most `most`, in sum over what `cost` says of each entry: one, or about how many bytes it takes.

    What was remembered first goes first; `use` makes an entry the last one, as if it had been remembered now. Any
    thread may use it.

    cost: of one entry always the same. spares: whether a value that would go now stays until its turn comes again.
    changes: goes up with each `forget`. Who remembers what was read before must see under the `lock` that it has not.
    get: yields the value of a key, or None. It is asked with every request, so it is the dictionary's own.
    """

    def __init__(
        self,
        most: int,
        cost: Callable[[Key, Value], int] = lambda _key, _value: 1,
        *,
        spares: Callable[[Value], bool] = lambda _: False,
    ) -> None:
        self._most = most
        self._cost = cost
        self._spares = spares
        self._taken = 0
        self._entries: OrderedDict[Key, Value] = OrderedDict()
        self.lock = threading.RLock()
        self.changes = 0
        self.get: Callable[[Key], Value | None] = self._entries.get

    def __len__(self) -> int:
        return len(self._entries)

    def use(self, key: Key) -> None:
        """Puts off the end of an entry, if it is still there."""
        with self.lock:
            if key in self._entries:
                self._entries.move_to_end(key)

    def keep(self, key: Key, value: Value) -> None:
        """Instead of what the key had. A value that costs more than all may is not kept, and drives nothing out."""
        cost = self._cost(key, value)
        with self.lock:
            self._drop(key)
            if cost > self._most:
                return
            while self._taken + cost > self._most:
                self._drop_first()
            self._entries[key] = value
            self._taken += cost

    def forget(self, keys: Iterable[Key]) -> None:
        """What these keys have has changed."""
        with self.lock:
            self.changes += 1
            for key in keys:
                self._drop(key)

    def forget_where(self, is_stale: Callable[[Key, Value], bool]) -> None:
        """As `forget`, for all entries of which this is true."""
        with self.lock:
            self.forget([key for key, value in self._entries.items() if is_stale(key, value)])

    def _drop(self, key: Key) -> None:
        if key in self._entries:
            self._taken -= self._cost(key, self._entries.pop(key))

    def _drop_first(self) -> None:
        key, value = self._entries.popitem(last=False)
        if self._spares(value):
            self._entries[key] = value
        else:
            self._taken -= self._cost(key, value)
