"""Bodies remembered in this process; those that were not asked for go first."""

import threading
from collections import OrderedDict
from collections.abc import Iterable

from sigla.model import Body, BodyKey, Schema
from sigla.ports.clock import Clock

OVERHEAD = 1_500
"""Bytes that a body takes beside its texts: its objects, its key, its place in the order."""

_PER_REFERENCE = 600
_PER_RULE = 800


def cost(body: Body) -> int:
    """About how many bytes a body takes; a character of text is one to four of them."""
    return OVERHEAD + _text_bytes(body.schema.text) + _PER_REFERENCE * len(body.targets) + _annotations(body.schema)


def _text_bytes(text: str) -> int:
    return len(text) if text.isascii() else 4 * len(text)


def _annotations(schema: Schema) -> int:
    rules = len(schema.rule_set.rules) if schema.rule_set else 0
    if schema.metadata is None:
        return _PER_RULE * rules
    texts = [*schema.metadata.properties.items(), *schema.metadata.tags.items()]
    return _PER_RULE * rules + sum(200 + 4 * len(name) + sum(map(len, value)) * 4 for name, value in texts)


SPARED_MS = 10_000
"""How long a body that cannot be read again is told on, before that is tried again."""


class Entry:
    """used: whether a caller asked for the body since it came, or since it was last spared. until: when it is old."""

    __slots__ = ("body", "size", "until", "used")

    def __init__(self, body: Body, size: int, until: int) -> None:
        self.body = body
        self.size = size
        self.until = until
        self.used = False


class Memory:
    """At most `capacity` bytes, by the estimate of `cost`; each for `presence_ms`. Any thread may use it.

    The oldest goes first, but one that was used is spared once for it (the second chance, or clock, algorithm): asking
    then moves nothing and needs no lock.
    """

    def __init__(self, capacity: int, clock: Clock, *, presence_ms: int = 300_000) -> None:
        self._capacity = capacity
        self._clock = clock
        self._presence_ms = presence_ms
        self._used = 0
        self._bodies: OrderedDict[BodyKey, Entry] = OrderedDict()
        self._lock = threading.Lock()
        self.changes = 0
        """Goes up whenever something is forgotten because it changed; see `remember`."""

    def __len__(self) -> int:
        return len(self._bodies)

    def get(self, key: BodyKey) -> Body | None:
        """The very object that was remembered."""
        found = self._bodies.get(key)
        if found is None or found.until <= self._clock.now():
            return None
        found.used = True
        return found.body

    def spared(self, key: BodyKey) -> Body | None:
        """What was remembered, however old, where it cannot be read again; for a while no caller has to try."""
        found = self._bodies.get(key)
        if found is None:
            return None
        found.until = self._clock.now() + SPARED_MS
        return found.body

    def remember(self, key: BodyKey, body: Body, *, since: int) -> Body:
        """Keeps a body that was read after `changes` was `since`; what changed in between is not kept.

        An equal body that is remembered stays: the one to go on with is what this returns.
        """
        with self._lock:
            if since != self.changes:
                return body
            until = self._clock.now() + self._presence_ms
            standing = self._bodies.get(key)
            if standing is not None and standing.body == body:
                standing.until = until
                return standing.body
            self._drop(key)
            size = cost(body)
            if size <= self._capacity:
                self._make_room(size)
                self._bodies[key] = Entry(body, size, until)
                self._used += size
            return body

    def forget(self, keys: Iterable[BodyKey]) -> None:
        """These bodies changed: reads under way do not bring the old ones back."""
        with self._lock:
            self.changes += 1
            for key in keys:
                self._drop(key)

    def _drop(self, key: BodyKey) -> None:
        gone = self._bodies.pop(key, None)
        self._used -= gone.size if gone else 0

    def _make_room(self, size: int) -> None:
        while self._used + size > self._capacity:
            key, oldest = self._bodies.popitem(last=False)
            if oldest.used:
                oldest.used = False
                self._bodies[key] = oldest
            else:
                self._used -= oldest.size
