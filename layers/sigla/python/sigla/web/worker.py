"""One thread that does all parsing and writing, in groups: what is waiting becomes durable together, with one flush."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from queue import Empty, SimpleQueue

from sigla.errors import StoreError
from sigla.web.answer import Answer

LARGEST_GROUP = 256

Job = Callable[[], Answer]
Scope = Callable[[], AbstractContextManager[object]]
Promise = tuple[Job, asyncio.AbstractEventLoop, "asyncio.Future[Answer]"]
Outcome = Answer | BaseException


class Worker:
    """`await worker(job)`: the job's answer, or what it raised, once all it wrote is durable.

    group: entered around what is done together; its end makes that durable. step: entered around each job; an exception
    undoes that job alone. If a group cannot be ended, every job in it raises StoreError: none of it may be told.
    largest: how many jobs may be done together. name: of the thread.
    """

    def __init__(
        self,
        group: Scope = nullcontext,
        step: Scope = nullcontext,
        *,
        largest: int = LARGEST_GROUP,
        name: str = "sigla-writer",
    ) -> None:
        self._group = group
        self._step = step
        self._largest = largest
        self._waiting: SimpleQueue[Promise | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Comes back when all that was handed over is done."""
        self._waiting.put(None)
        self._thread.join()

    async def __call__(self, job: Job) -> Answer:
        loop = asyncio.get_running_loop()
        promised: asyncio.Future[Answer] = loop.create_future()
        self._waiting.put((job, loop, promised))
        return await promised

    def _run(self) -> None:
        while (first := self._waiting.get()) is not None:
            promises = self._take(first)
            _deliver(promises, self._outcomes([job for job, _, _ in promises]))

    def _take(self, first: Promise) -> list[Promise]:
        """What is waiting, up to the end if that is among it."""
        promises = [first]
        while len(promises) < self._largest:
            try:
                promise = self._waiting.get_nowait()
            except Empty:
                break
            if promise is None:
                self._waiting.put(None)
                break
            promises.append(promise)
        return promises

    def _outcomes(self, jobs: Sequence[Job]) -> Sequence[Outcome]:
        try:
            with self._group():
                outcomes = [self._outcome(job) for job in jobs]
        except Exception as failure:  # noqa: BLE001 - whatever it was, nothing of the group is durable
            error = failure if isinstance(failure, StoreError) else StoreError("a group was not made durable")
            error.__cause__ = None if error is failure else failure
            return [error] * len(jobs)
        return outcomes

    def _outcome(self, job: Job) -> Outcome:
        try:
            with self._step():
                return job()
        except Exception as raised:  # noqa: BLE001 - handed to the one who waits for it
            return raised


def _deliver(promises: Sequence[Promise], outcomes: Sequence[Outcome]) -> None:
    """One call per event loop for the whole group: waking a loop costs more than an answer."""
    for loop in {loop for _, loop, _ in promises}:
        kept = [(promised, out) for (_, owner, promised), out in zip(promises, outcomes, strict=True) if owner is loop]
        loop.call_soon_threadsafe(_keep, kept)


def _keep(promises: Sequence[tuple["asyncio.Future[Answer]", Outcome]]) -> None:
    for promised, outcome in promises:
        if promised.done():  # the client has gone
            continue
        if isinstance(outcome, BaseException):
            promised.set_exception(outcome)
        else:
            promised.set_result(outcome)
