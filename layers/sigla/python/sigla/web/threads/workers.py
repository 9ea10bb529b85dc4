"""Who does a request's work: the loop itself, the thread that writes, one that reads, or those that think.

The loop answers what is quick whatever was registered: what an id means, one version, settings. A schema that is
offered has a glance there: if it was understood before, and nothing is to be written, the answer is at hand. What makes
a language read a schema, and what may list everything, goes to a thread; each job computes there for a short turn. A
job that needs longer begins again with the thinkers, where it disturbs nobody.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic, thread_time
from typing import Final

from starlette.types import Receive

from sigla.auth.permissions import OPEN, READ
from sigla.effort import Effort, Limits, TurnOver
from sigla.web.api.routes import DRAFT, Route
from sigla.web.http.answer import Answer
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Job, Task

Work = Callable[[Task], Awaitable[Answer]]
"""Does a task elsewhere and yields its answer, or raises what its job raised."""

WATCHED_AFTER_S: Final = 0.05
"""A request that takes longer is watched: its work ends if its client leaves."""


GLANCED_BYTES: Final = 64 * 2**10
"""A longer body is not even read on the loop."""


def effort_of(limits: Limits) -> Effort:
    """The effort of a request that arrives now."""
    return Effort(limits, thread_time, monotonic)


@dataclass(frozen=True, slots=True)
class Workers:
    """write, read: for jobs that are quick. think: for those that are not. every_read: none is done on the loop."""

    write: Work
    read: Work
    think: Thinkers
    every_read: bool = False

    def of(self, route: Route) -> Work:
        """Who does the work of a request that is not answered at once."""
        return self.read if route.method == "GET" or route.access in (READ, OPEN) else self.write

    def glance(self, route: Route, job: Job, effort: Effort, size: int) -> Answer | None:
        """The job's answer if it is at hand, on the loop. size: of the request's body. Raises what the job raises."""
        if not self.every_read and route.body is not None and route.body.shape == DRAFT and size <= GLANCED_BYTES:
            return effort.glance(job)
        return None

    async def __call__(self, work: Work, task: Task, receive: Receive) -> Answer:
        """The job's answer. Raises what the job raises, effort.OutOfTime and effort.Unwanted."""
        leaving: list[asyncio.Task[None]] = []
        loop = asyncio.get_running_loop()
        timer = loop.call_later(
            WATCHED_AFTER_S, lambda: leaving.append(loop.create_task(self._watch(task.effort, receive)))
        )
        try:
            try:
                return await work(task)
            except TurnOver:
                return await self.think(task)
        finally:
            timer.cancel()
            for watching in leaving:
                watching.cancel()

    async def _watch(self, effort: Effort, receive: Receive) -> None:
        """Ends the work of a client that leaves."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.think.drop(effort)


def is_quick(route: Route, query: bytes) -> bool:
    """Whether a request is answered quickly whatever was registered: no list, and no language reads a schema."""
    if route.method != "GET" or route.lists:
        return False
    return not query or (b"format=" not in query and b"findTags=" not in query)
