"""One thread that does what is quick, in groups: what is waiting becomes durable together, with one flush."""

import asyncio
import threading
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from queue import Empty, SimpleQueue
from time import monotonic
from typing import Final

from sigla.effort import Effort, OutOfTime, Unwanted
from sigla.errors import Refusal, StoreError
from sigla.web.http.answer import Answer
from sigla.web.threads.turns import FairQueue

LARGEST_GROUP: Final = 256
LONGEST_GROUP_S: Final = 0.05
"""A group that has taken longer is ended; what is left waits for the next one."""
TURN_S: Final = 0.02
"""What a job may compute here. What needs longer raises TurnOver and goes to the thinkers."""

Job = Callable[[], Answer]
Scope = Callable[[], AbstractContextManager[object]]
Outcome = Answer | BaseException


@dataclass(frozen=True, slots=True, eq=False)
class Task:
    """What a request has to have done. client: whose turn it takes. size: bytes that it keeps while it waits."""

    job: Job
    effort: Effort
    client: str = ""
    size: int = 0


class Promise:
    """A task, and whoever waits for what comes of it."""

    __slots__ = ("answer", "loop", "task")

    def __init__(self, task: Task) -> None:
        self.task = task
        self.loop = asyncio.get_running_loop()
        self.answer: asyncio.Future[Answer] = self.loop.create_future()

    def check_wanted(self) -> None:
        """Raises Unwanted or OutOfTime if the job need not begin."""
        if self.answer.done() or self.task.effort.unwanted:
            raise Unwanted
        if self.task.effort.patience_s() <= 0:
            raise OutOfTime

    def keep(self, outcome: Outcome) -> None:
        """Tells whoever waits. On its loop."""
        if self.answer.done():  # the client has gone
            return
        if isinstance(outcome, BaseException):
            self.answer.set_exception(outcome)
        else:
            self.answer.set_result(outcome)


class Worker:
    """`await worker(task)`: the job's answer, or what it raised, once all it wrote is durable.

    group: entered around what is done together; its end makes that durable. step: entered around each job; an exception
    undoes that job alone. If a group cannot be ended, every job in it raises StoreError, or what refuses the group:
    none of it may be told.
    largest: how many jobs may be done together. turn_s: what each may compute, see TURN_S; None for all its effort.
    """

    def __init__(
        self,
        group: Scope = nullcontext,
        step: Scope = nullcontext,
        *,
        largest: int = LARGEST_GROUP,
        turn_s: float | None = TURN_S,
        name: str = "sigla-writer",
    ) -> None:
        self._group = group
        self._step = step
        self._largest = largest
        self._turn_s = turn_s
        self._arriving: SimpleQueue[Promise | None] = SimpleQueue()
        self._waiting: FairQueue[Promise] = FairQueue()
        self._ends = False
        self._thread = threading.Thread(target=self._run, name=name, daemon=True)

    def start(self) -> None:
        self._thread.start()

    def stop(self) -> None:
        """Comes back when all that was handed over is done."""
        self._arriving.put(None)
        self._thread.join()

    async def __call__(self, task: Task) -> Answer:
        promise = Promise(task)
        self._arriving.put(promise)
        return await promise.answer

    def _run(self) -> None:
        while self._wait():
            done: list[tuple[Promise, Outcome]] = []
            self._do(min(len(self._waiting), self._largest), done)
            deliver(done)

    def _wait(self) -> bool:
        """Whether there is something to do; false at the end."""
        if not self._waiting and not self._ends:
            self._arrived(self._arriving.get())
        while True:
            try:
                self._arrived(self._arriving.get_nowait())
            except Empty:
                return bool(self._waiting) or not self._ends

    def _arrived(self, promise: Promise | None) -> None:
        if promise is None:
            self._ends = True
        else:
            self._waiting.put(promise.task.client, promise)

    def _do(self, most: int, done: list[tuple[Promise, Outcome]]) -> None:
        """Adds to `done` what became of a group."""
        ends = monotonic() + LONGEST_GROUP_S
        try:
            with self._group():
                while len(done) < most and (promise := self._waiting.take()):
                    done.append((promise, self._outcome(promise)))
                    if monotonic() >= ends:
                        break
        except Exception as failure:  # noqa: BLE001 - whatever it was, nothing of the group is durable
            error = failure if isinstance(failure, StoreError | Refusal) else StoreError("a group was not made durable")
            error.__cause__ = None if error is failure else failure
            if not done:  # it did not even begin
                done += ((promise, error) for _ in range(most) if (promise := self._waiting.take()))
            done[:] = [(promise, error) for promise, _ in done]

    def _outcome(self, promise: Promise) -> Outcome:
        try:
            promise.check_wanted()
            with self._step(), promise.task.effort.turn(self._turn_s):
                return promise.task.job()
        except Exception as raised:  # noqa: BLE001 - handed to the one who waits for it
            return raised


def deliver(outcomes: Sequence[tuple[Promise, Outcome]]) -> None:
    """One call per event loop for the whole group: waking a loop costs more than an answer."""
    for loop in {promise.loop for promise, _ in outcomes}:
        loop.call_soon_threadsafe(_keep, [(promise, out) for promise, out in outcomes if promise.loop is loop])


def _keep(outcomes: Sequence[tuple[Promise, Outcome]]) -> None:
    for promise, outcome in outcomes:
        promise.keep(outcome)
