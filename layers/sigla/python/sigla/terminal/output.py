"""What a command prints, where it cannot be printed as it is; and a line that is written over on a terminal."""

import sys
from io import TextIOWrapper
from typing import Final, TextIO

_CLEAR: Final = "\r\033[K"


def escape_unprintable() -> None:
    """A character that the output does not have is told as an escape, and not by a trace when all is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")


class StatusLine:
    """A line on standard error that each text writes over.

    is_seen: whether that is a terminal; in a pipe or a file nothing should be written.
    """

    def __init__(self, stream: TextIO | None = None) -> None:
        self._out = sys.stderr if stream is None else stream
        self.is_seen = self._out.isatty()

    def write(self, text: str) -> None:
        self._out.write(f"{_CLEAR}{text}")
        self._out.flush()

    def clear(self) -> None:
        self.write("")
