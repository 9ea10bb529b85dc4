"""How far a long work is: a line on a terminal that is written over and goes at the end; nothing in a pipe."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import TextIO

from sigla.ports.progress import Progress, unseen
from sigla.terminal.output import StatusLine


@contextmanager
def shown(stream: TextIO | None = None, *, every: int = 100) -> Iterator[Progress]:
    """What is told while it is open is shown on a terminal.

    every: so many steps lie between two looks of the line, because a terminal is slower than the work.
    """
    line = StatusLine(stream)
    if not line.is_seen:
        yield unseen
        return

    last = ""

    def tell(what: str, done: int, total: int = 0, /) -> None:
        nonlocal last
        if done % every == 0 or done == total or what != last:
            last = what
            line.write(f"{what} {done}" + (f"/{total}" if total else ""))

    try:
        yield tell
    finally:
        line.clear()
