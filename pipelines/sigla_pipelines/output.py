"""What a job prints, where it cannot be printed as it is."""

import sys
from io import TextIOWrapper


def escape_unprintable() -> None:
    """A character that the output does not have is told as an escape, and not by a trace when all is done."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
