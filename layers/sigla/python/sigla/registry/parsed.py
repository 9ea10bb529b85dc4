"""Stored schemas that were understood once and may be needed again: older versions of busy subjects, above all."""

import threading
from collections import OrderedDict

from sigla.model import BodyKey, Parsed


class ParsedSchemas:
    """A memory of parsed bodies, bounded by the length of their texts.

    What an id means never changes, so nothing is invalidated. Any thread may use it.
    """

    def __init__(self, characters: int = 1_000_000) -> None:
        self._room = characters
        self._kept: OrderedDict[BodyKey, Parsed] = OrderedDict()
        self._lock = threading.Lock()

    def get(self, key: BodyKey) -> Parsed | None:
        with self._lock:
            parsed = self._kept.get(key)
            if parsed is not None:
                self._kept.move_to_end(key)
            return parsed

    def keep(self, key: BodyKey, parsed: Parsed) -> None:
        with self._lock:
            if key in self._kept:
                return
            self._kept[key] = parsed
            self._room -= len(parsed.canonical)
            while self._room < 0 and self._kept:
                _, dropped = self._kept.popitem(last=False)
                self._room += len(dropped.canonical)
