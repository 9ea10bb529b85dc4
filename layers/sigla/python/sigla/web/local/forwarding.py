"""Requests on their way to the primary: how many at a time, how long, and when it is of no use to send any.

two lanes     callers that are known here never wait behind those that are not: each lane has places, and threads,
of its own
in line       a request waits for a place a part of the time that it has, and is not sent where that is over
silence       after a failure nothing is sent before the primary has answered again, which is looked at beside
"""

import asyncio
from collections.abc import AsyncIterator, Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from functools import partial
from typing import Final, NamedTuple, Protocol, TypeVar

from sigla.errors import StoreError
from sigla.ports.clock import Clock
from sigla.ports.primary import Forwarded, Forwards, NotSent

T = TypeVar("T")

KNOWN: Final = 32
"""Requests of callers that are known here, on their way at a time."""
STRANGERS: Final = 8
STRANGERS_IN_LINE: Final = 64


class Patience(NamedTuple):
    """Seconds. in_line: before a request is sent. whole: from its arrival to the end of its answer."""

    in_line: float
    whole: float


WRITE: Final = Patience(5.0, 25.0)
QUESTION: Final = Patience(1.0, 3.0)


class Lane:
    """at_once: so many are on their way, each in a thread of this lane. in_line: so many wait at most; None: all do."""

    def __init__(self, name: str, at_once: int, in_line: int | None = None) -> None:
        self._places = asyncio.Semaphore(at_once)
        self._threads = ThreadPoolExecutor(at_once, f"sigla-forwards-{name}")
        self._in_line = in_line
        self._waiting = 0

    @asynccontextmanager
    async def place(self, patience_s: float) -> AsyncIterator[None]:
        """Raises NotSent where no place becomes free in time."""
        if self._in_line is not None and self._waiting >= self._in_line:
            raise NotSent("too many wait to be sent on")
        self._waiting += 1
        try:
            async with asyncio.timeout(patience_s):
                await self._places.acquire()
        except TimeoutError:
            raise NotSent("no place became free in time") from None
        finally:
            self._waiting -= 1
        try:
            yield
        finally:
            self._places.release()

    async def run(self, job: Callable[[], T]) -> T:
        return await asyncio.get_running_loop().run_in_executor(self._threads, job)


@dataclass(slots=True)
class ForwardCounts:
    """How many requests a server has sent on, to whatever region, and how many of them were not answered."""

    sent: int = 0
    failed: int = 0


class Sends(Protocol):
    """What sends requests on."""

    async def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, *, is_known: bool, asks: bool
    ) -> Forwarded:
        """What the primary answers. is_known: whether the caller is, here. asks: whether nothing is to be changed.

        Raises NotSent where nothing was carried out, StoreError where that is not known.
        """
        ...

    def close(self) -> None:
        """Another one takes its place; what is on its way is answered."""
        ...


class Nowhere:
    """A `Sends` of a region that knows no other one to ask."""

    async def send(self, *_: object, **__: object) -> Forwarded:
        raise NotSent("no region takes it")

    def close(self) -> None:
        """Nothing was begun."""


class Forwarding:
    """A `Sends`. silent: whether nothing is sent now.

    silent_s: after a failure nothing is sent for so long, and then until the primary answers. look_s: so often it is
    looked whether it does.
    """

    def __init__(
        self,
        primary: Forwards,
        clock: Clock,
        counts: ForwardCounts | None = None,
        *,
        silent_s: float = 5.0,
        look_s: float = 1.0,
    ) -> None:
        self._primary = primary
        self._clock = clock
        self._counts = counts or ForwardCounts()
        self._silent_s, self._look_s = silent_s, look_s
        self._known = Lane("known", KNOWN)
        self._strangers = Lane("strangers", STRANGERS, in_line=STRANGERS_IN_LINE)
        self._looks = Lane("looks", 1)
        self.silent = False
        self._over = False
        self._looking: asyncio.Task[None] | None = None

    async def send(
        self, method: str, target: str, headers: Mapping[str, str], body: bytes, *, is_known: bool, asks: bool
    ) -> Forwarded:
        lane = self._known if is_known else self._strangers
        patience = QUESTION if asks else WRITE
        since = self._clock.elapsed()
        self._check_answers()
        async with lane.place(patience.in_line):
            self._check_answers()
            left_s = patience.whole - (self._clock.elapsed() - since) / 1000
            self._counts.sent += 1
            try:
                return await lane.run(partial(self._primary.forward, method, target, headers, body, left_s))
            except StoreError as failure:
                self._counts.failed += 1
                # A question may be one that takes the primary too long, which says nothing of others.
                self._fall_silent(0.0 if asks and not isinstance(failure, NotSent) else self._silent_s)
                raise

    def close(self) -> None:
        self._over = True

    def _check_answers(self) -> None:
        """Raises NotSent."""
        if self.silent:
            self._fall_silent(self._silent_s)
            raise NotSent("the primary does not answer")

    def _fall_silent(self, first_s: float) -> None:
        self.silent = True
        if self._looking is None or self._looking.done():
            self._looking = asyncio.create_task(self._look(first_s))

    async def _look(self, pause_s: float) -> None:
        """Until the primary answers."""
        while self.silent and not self._over:
            await asyncio.sleep(pause_s)
            pause_s = self._look_s
            self.silent = not await self._looks.run(self._primary.answers)
