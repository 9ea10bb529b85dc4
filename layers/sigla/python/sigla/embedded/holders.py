"""Who holds an id, remembered until a commit touches it: the question of every read by id."""

import threading

from sigla.embedded.unit import Unit
from sigla.model import BodyKey, Holder, Subject

REMEMBERED = 20_000
"""Ids; beyond it the first remembered goes first. A few hundred bytes each."""


class Holders:
    """Answers without a lock while nothing changed; asks the catalog else."""

    def __init__(self, unit: Unit) -> None:
        self._unit = unit
        self._known: dict[BodyKey, tuple[Holder, ...]] = {}
        self._changes = 0
        self._lock = threading.Lock()
        unit.flushed.append(self._forget)

    def of(self, key: BodyKey) -> tuple[Holder, ...]:
        if self._unit.inside and key in self._unit.touched:
            return self._ask(key)
        return self._known.get(key) or self._learn(key)

    def _learn(self, key: BodyKey) -> tuple[Holder, ...]:
        seen = self._changes
        found = self._ask(key)
        with self._lock:
            # An answer from before a commit must not be remembered after it.
            if found and seen == self._changes:
                if len(self._known) >= REMEMBERED:
                    del self._known[next(iter(self._known))]
                return self._known.setdefault(key, found)
        return found

    def _forget(self, touched: set[BodyKey], _: set[BodyKey]) -> None:
        if touched:
            with self._lock:
                self._changes += 1
                for key in touched:
                    self._known.pop(key, None)

    def _ask(self, key: BodyKey) -> tuple[Holder, ...]:
        found = self._unit.connection.execute(
            "SELECT s.context, s.name, v.version, v.deleted, v.ts, v.revision"
            " FROM version v JOIN subject s ON s.num = v.subject WHERE v.context = ? AND v.id = ?"
            " ORDER BY s.key, v.version",
            (key.context, key.id),
        )
        return tuple(
            Holder(Subject(context, name), version, bool(deleted), ts, revision)
            for context, name, version, deleted, ts, revision in found
        )
