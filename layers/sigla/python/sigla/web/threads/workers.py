"""Who does a request's work: the loop itself, the thread that writes, one that reads, or those that think.

    the loop       what is quick whatever was registered: what an id means, one version, settings. A schema that is
                   offered has a glance there: if it was understood before, and nothing is to be written, the answer is
                   at hand
    the writer     one thread (`worker`): what may write. All that waits is one group, with one flush
    the reader     one thread (`worker`): lists, and what makes a language read a schema and writes nothing
    the thinkers   a few threads (`thinkers`): what has used up its turn of 20 ms with the writer or the reader. One of
                   them computes at a time, for 10 ms while others wait (`turns`). Those that wait for a key service are
                   others, so that its silence holds up nothing that computes

A job is a plain function that can begin again from its start, anywhere. Nothing of it can be seen before it commits;
until then a turn may end at any pulse (`effort.pulse`), which raises TurnOver in the middle of whatever it computes.
The writer undoes that job's step and goes on with the others; with the thinkers the job starts anew, and if the world
has moved by then, its commit finds a Conflict as it does on AWS. After the commit no turn ends: the answer would be a
lie. So a text that takes seconds to understand costs its own client seconds, and each other one some milliseconds.
"""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from time import monotonic, thread_time
from typing import Final

from starlette.types import Receive

from sigla.auth.permissions import OPEN, READ
from sigla.effort import AsksElsewhere, Effort, Limits, TurnOver
from sigla.web.api.parameters import DRAFT
from sigla.web.api.route import Route
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
            except TurnOver as over:
                return await self.think(task, asks=isinstance(over, AsksElsewhere))
        finally:
            timer.cancel()
            for watching in leaving:
                watching.cancel()

    async def _watch(self, effort: Effort, receive: Receive) -> None:
        """Ends the work of a client that leaves."""
        while (await receive())["type"] != "http.disconnect":
            pass
        self.think.drop(effort)
