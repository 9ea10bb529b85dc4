"""On which day each API key was last used: noted once a day, off the way of the request that used it.

A note never fails a request, and never keeps one waiting: a thread of its own writes it. A day whose note fails is
tried again by nothing before the next one; a function that is frozen while its note is under way goes on with it when
it is woken.
"""

import json
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from datetime import date
from typing import Any

from sigla.auth.api_keys import Keys
from sigla.bounded import BoundedMemory
from sigla.errors import StoreError
from sigla.forms import FORM, KEY_USE, newer
from sigla.ports.clock import Clock, day_of

MOST_REMEMBERED = 4096
"""So many keys are known to be noted; where there are more, some are noted several times a day."""


class KeyUses:
    """Is told of each use. tell: of a note that could not be written. aside: what stands around each note."""

    def __init__(
        self,
        keys: Keys,
        clock: Clock,
        tell: Callable[[dict[str, object]], None] = lambda _: None,
        *,
        aside: Callable[[], AbstractContextManager[None]] = nullcontext,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._tell = tell
        self._aside = aside
        self._noted: BoundedMemory[str, str] = BoundedMemory(MOST_REMEMBERED)
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="key-uses")

    def __call__(self, name: str) -> None:
        day = day_of(self._clock.now())
        if self._noted.get(name) != day:
            self._noted.keep(name, day)
            self._thread.submit(self._note, name, day)

    def close(self) -> None:
        """Waits for the note that is under way; those behind it are dropped."""
        self._thread.shutdown(cancel_futures=True)

    def _note(self, name: str, day: str) -> None:
        try:
            with self._aside():
                self._keys.note_use(name, day)
        except StoreError as failure:
            message = f"That the key {name} was used today is not noted, because {failure}."
            self._tell({"event": "key-use", "key": name, "message": message})


def note_of(day: str) -> bytes:
    return json.dumps({FORM: KEY_USE, "day": day}).encode()


def read_day(note: bytes) -> str:
    """Empty for a damaged note and for one of a newer form: it is for people, and will be written again."""
    try:
        said: Any = json.loads(note)
    except (ValueError, RecursionError):
        return ""
    if not isinstance(said, Mapping) or newer(said, KEY_USE):
        return ""
    return said["day"] if is_day(said.get("day")) else ""


def is_day(text: object) -> bool:
    try:
        return isinstance(text, str) and date.fromisoformat(text).isoformat() == text
    except ValueError:
        return False
