"""How tests wait for what is not announced: they look again and again, and give up aloud."""

import time
from collections.abc import Callable

PATIENCE_S = 120.0
"""How long to wait for what has to happen. Nothing is judged by it: a busy machine may be slow, never wrong."""


def eventually(true: Callable[[], object], *, patience_s: float = PATIENCE_S, pause_s: float = 0.02) -> None:
    """Returns once something is true that is not announced."""
    deadline = time.monotonic() + patience_s
    while not true():
        assert time.monotonic() < deadline, "it never became true"
        time.sleep(pause_s)
