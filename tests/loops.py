"""The thread's event loop, as Mangum wants one."""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager, suppress


@contextmanager
def threads_loop() -> Iterator[None]:
    """Closes the loop that Mangum takes and leaves open, and one that it makes where a test has run another."""
    made = asyncio.new_event_loop()
    asyncio.set_event_loop(made)
    yield
    made.close()
    with suppress(RuntimeError):  # where no loop is left
        asyncio.get_event_loop().close()
    asyncio.set_event_loop(None)
