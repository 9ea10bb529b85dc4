"""Those of an event loop who wait for what another thread brings."""

import asyncio
from collections.abc import Callable
from contextlib import suppress


class News:
    """One event loop waits at a time; any thread may say that there is something new."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._come = asyncio.Event()

    def tell(self, *_: object) -> None:
        """Whoever waits looks again."""
        if self._loop is not None:
            with suppress(RuntimeError):  # it is closed: no one waits any more
                self._loop.call_soon_threadsafe(self._come.set)

    async def wait_for(self, is_so: Callable[[], bool], patience_s: float) -> bool:
        """Whether it is so, or becomes so in time."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop, self._come = loop, asyncio.Event()
        until = loop.time() + patience_s
        while not is_so():
            self._come.clear()
            if is_so():  # it came in between
                break
            try:
                await asyncio.wait_for(self._come.wait(), until - loop.time())
            except TimeoutError:
                return is_so()
        return True
