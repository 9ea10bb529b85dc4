"""Bodies remembered in this process; those that were not asked for go first."""

from collections.abc import Iterable

from sigla.bounded import BoundedMemory
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


def _spares(entry: Entry) -> bool:
    """An entry that was used is spared once for it."""
    was_used, entry.used = entry.used, False
    return was_used


class Memory:
    """At most `capacity` bytes, by the estimate of `cost`; each for `presence_ms`. Any thread may use it.

    The oldest goes first, but one that was used is spared once for it (the second chance, or clock, algorithm): asking
    then moves nothing and needs no lock.
    """

    def __init__(self, capacity: int, clock: Clock, *, presence_ms: int = 300_000) -> None:
        self._clock = clock
        self._presence_ms = presence_ms
        self._entries: BoundedMemory[BodyKey, Entry] = BoundedMemory(
            capacity, lambda _, entry: entry.size, spares=_spares
        )

    def __len__(self) -> int:
        return len(self._entries)

    @property
    def changes(self) -> int:
        """Goes up whenever something is forgotten because it changed; see `remember`."""
        return self._entries.changes

    def get(self, key: BodyKey) -> Body | None:
        """The very object that was remembered."""
        found = self._entries.get(key)
        if found is None or found.until <= self._clock.now():
            return None
        found.used = True
        return found.body

    def spared(self, key: BodyKey) -> Body | None:
        """What was remembered, however old, where it cannot be read again; for a while no caller has to try."""
        found = self._entries.get(key)
        if found is None:
            return None
        found.until = self._clock.now() + SPARED_MS
        return found.body

    def remember(self, key: BodyKey, body: Body, *, since: int) -> Body:
        """Keeps a body that was read after `changes` was `since`; what changed in between is not kept.

        An equal body that is remembered stays: the one to go on with is what this returns.
        """
        with self._entries.lock:
            if since != self._entries.changes:
                return body
            until = self._clock.now() + self._presence_ms
            standing = self._entries.get(key)
            if standing is not None and standing.body == body:
                standing.until = until
                return standing.body
            self._entries.keep(key, Entry(body, cost(body), until))
            return body

    def forget(self, keys: Iterable[BodyKey]) -> None:
        """These bodies changed: reads under way do not bring the old ones back."""
        self._entries.forget(keys)
