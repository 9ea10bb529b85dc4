"""Something that is done again and again beside everything else."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager


@contextmanager
def heartbeat(beat: Callable[[], None], *, every_s: float = 1.0) -> Iterator[None]:
    """Does it once, and again every so many seconds in a thread of its own until the block ends."""
    over = threading.Event()

    def go_on() -> None:
        while not over.wait(every_s):
            beat()

    thread = threading.Thread(target=go_on, name="sigla-heartbeat", daemon=True)
    beat()
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()
