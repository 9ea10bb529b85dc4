"""How far a long work is: a line on a terminal that is written over and goes at the end; nothing in a pipe."""

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Protocol, TextIO

EVERY = 100
"""Steps between two looks of the line: a terminal is slower than the work."""

_CLEAR = "\r\033[K"


class Told(Protocol):
    def __call__(self, what: str, done: int, total: int = 0, /) -> None:
        """total: 0 if it is unknown."""


@contextmanager
def shown(stream: TextIO | None = None) -> Iterator[Told]:
    """What is told while it is open is shown on a terminal."""
    out = sys.stderr if stream is None else stream
    if not out.isatty():
        yield _silent
        return

    def tell(what: str, done: int, total: int = 0, /) -> None:
        if done % EVERY == 0 or done == total:
            out.write(f"{_CLEAR}{what} {done}" + (f"/{total}" if total else ""))
            out.flush()

    try:
        yield tell
    finally:
        out.write(_CLEAR)
        out.flush()


def _silent(_: str, __: int, ___: int = 0, /) -> None:
    """In a pipe, in a file, in a test."""
