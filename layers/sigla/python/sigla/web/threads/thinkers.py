"""Threads for what computes long: a job that has used up its turn on a `Worker` begins again here.

A job runs outside every group: its reads see what is committed, each of its writes is durable for itself, and a commit
compares what the job saw. So it keeps no other request from writing while it computes, and if the world moves
meanwhile, the verb asks and decides again, as it does on AWS. docs/decisions/2026-11-22-readers-and-writers.md has the
figures.
"""

import threading
from collections import Counter
from contextlib import suppress
from typing import Final

from sigla.effort import AsksElsewhere, Effort, OutOfTime, Unwanted
from sigla.web.http.answer import Answer
from sigla.web.threads.turns import Baton, FairQueue
from sigla.web.threads.worker import Outcome, Promise, Task, deliver

THREADS: Final = 8
"""As many jobs of each kind are begun and not finished; one of them computes at a time, 10 ms each."""
THREADS_OF_ONE: Final = 4
"""The most threads of one client: another one's job always finds a thread before long."""
MOST_WAITING: Final = 1_000
MOST_WAITING_OF_ONE: Final = 250
MOST_BYTES: Final = 64 * 2**20
"""The most bytes of request bodies that wait.

Beyond any of these bounds a request is refused as if it had waited in vain.
"""
GRACE_S: Final = 3.0


class Thinkers:
    """`await thinkers(task)`: the job's answer, or what it raised. Raises OutOfTime, Unwanted.

    Jobs that wait for other services, such as a key service, have threads of their own: while one of those is silent,
    all others go on. grace_s: how long what has begun may go on once the server stops.
    """

    def __init__(self, *, grace_s: float = GRACE_S) -> None:
        baton = Baton()
        self._computing = _Pool(baton, grace_s, "sigla-thinker", asks=False)
        self._asking = _Pool(baton, grace_s, "sigla-asker", asks=True)

    async def __call__(self, task: Task, *, asks: bool = False) -> Answer:
        """asks: it is known that the job waits for another service."""
        if not asks:
            try:
                return await self._computing(task)
            except AsksElsewhere:
                """It begins again, there."""
        return await self._asking(task)

    def drop(self, effort: Effort) -> None:
        """No client waits for this request any more. On the loop."""
        effort.give_up()
        for pool in (self._computing, self._asking):
            pool.drop(effort)

    def close(self) -> None:
        """Refuses what waits and what comes; what has begun is given up after a grace. On the loop."""
        for pool in (self._computing, self._asking):
            pool.close()


class _Pool:
    """Some threads and what waits for them. asks: whether its jobs may wait for other services."""

    def __init__(self, baton: Baton, grace_s: float, name: str, *, asks: bool) -> None:
        self._asks = asks
        self._name = name
        self._grace_s = grace_s
        self._baton = baton
        self._changed = threading.Condition()
        self._waiting: FairQueue[Promise] = FairQueue()
        self._bytes = 0
        self._running: set[Promise] = set()
        self._threads_of: Counter[str] = Counter()
        self._threads: list[threading.Thread] = []
        self._closed = False

    async def __call__(self, task: Task) -> Answer:
        promise = Promise(task)
        self._admit(promise)
        timer = promise.loop.call_later(max(0.0, task.effort.patience_s()), self._expire, promise)
        try:
            return await promise.answer
        finally:
            timer.cancel()
            self._withdraw(promise)

    def drop(self, effort: Effort) -> None:
        with self._changed:
            waiting = [promise for promise in self._waiting if promise.task.effort is effort]
        for promise in waiting:
            self._expire(promise)

    def close(self) -> None:
        with self._changed:
            self._closed = True
            self._changed.notify_all()
            waiting, running = [*self._waiting], [*self._running]
        for promise in waiting:
            self._expire(promise)
        for promise in running:
            promise.loop.call_later(self._grace_s, promise.task.effort.give_up)

    def _admit(self, promise: Promise) -> None:
        with self._changed:
            if self._closed or self._is_full(promise):
                raise OutOfTime
            self._waiting.put(promise.task.client, promise)
            self._bytes += promise.task.size
            if len(self._threads) < THREADS and len(self._threads) < len(self._running) + len(self._waiting):
                thread = threading.Thread(target=self._run, name=self._name, daemon=True)
                self._threads.append(thread)
                thread.start()
            self._changed.notify_all()

    def _is_full(self, promise: Promise) -> bool:
        return (
            len(self._waiting) >= MOST_WAITING
            or self._waiting.of(promise.task.client) >= MOST_WAITING_OF_ONE
            or (self._bytes > 0 and self._bytes + promise.task.size > MOST_BYTES)
        )

    def _expire(self, promise: Promise) -> None:
        """Tells whoever waits for a job that has not begun that it will not."""
        if self._withdraw(promise):
            promise.keep(OutOfTime())

    def _withdraw(self, promise: Promise) -> bool:
        with self._changed:
            removed = self._waiting.remove(promise.task.client, promise)
            if removed:
                self._bytes -= promise.task.size
            return removed

    def _run(self) -> None:
        while (promise := self._next()) is not None:
            outcome = self._outcome(promise)
            with self._changed:
                self._running.discard(promise)
                self._threads_of -= Counter([promise.task.client])
                self._changed.notify_all()
            with suppress(RuntimeError):  # the loop has ended
                deliver([(promise, outcome)])

    def _next(self) -> Promise | None:
        """Waits for a job; None at the end."""
        with self._changed:
            while (promise := self._waiting.take(self._may_begin)) is None:
                if self._closed:
                    return None
                self._changed.wait()
            self._bytes -= promise.task.size
            self._running.add(promise)
            self._threads_of[promise.task.client] += 1
            return promise

    def _may_begin(self, client: str) -> bool:
        return self._threads_of[client] < THREADS_OF_ONE

    def _outcome(self, promise: Promise) -> Outcome:
        try:
            with self._baton:
                promise.check_wanted()
                with promise.task.effort.turn(share=self._baton, asks=self._asks):
                    return promise.task.job()
        except Unwanted as unwanted:
            return OutOfTime() if self._closed else unwanted
        except Exception as raised:  # noqa: BLE001 - handed to the one who waits for it
            return raised
