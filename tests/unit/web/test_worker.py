import asyncio
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from sigla.effort import Limits
from sigla.errors import StoreError, SubjectNotFound
from sigla.web.http.answer import Answer
from sigla.web.threads.worker import Job, Outcome, Task, Worker
from sigla.web.threads.workers import effort_of

OK = Answer(200, b"")


def outcomes(worker: Worker, *jobs: Job) -> list[Outcome]:
    """What comes of jobs that are handed over before the worker begins: they are one group."""

    async def hand_over() -> list[Outcome]:
        waiting = [asyncio.ensure_future(worker(task(job))) for job in jobs]
        await asyncio.sleep(0)
        worker.start()
        return await asyncio.gather(*waiting, return_exceptions=True)

    try:
        return asyncio.run(hand_over())
    finally:
        worker.stop()


def task(job: Job, client: str = "", limits: Limits | None = None) -> Task:
    return Task(job, effort_of(limits or Limits()), client)


def raises(error: Exception) -> Callable[[], Answer]:
    def job() -> Answer:
        raise error

    return job


class Scopes:
    """Groups and steps that write down what happened; the end of a group fails if it is told to."""

    def __init__(self, failure: Exception | None = None) -> None:
        self.told: list[str] = []
        self.failure = failure

    @contextmanager
    def group(self) -> Iterator[None]:
        self.told.append("group")
        yield
        if self.failure:
            raise self.failure
        self.told.append("flush")

    @contextmanager
    def step(self) -> Iterator[None]:
        try:
            yield
        except Exception:
            self.told.append("undone")
            raise
        self.told.append("done")


def test_what_waits_is_flushed_together_and_told_afterwards() -> None:
    """One flush for all: that is what makes durable registrations fast."""
    scopes = Scopes()
    assert outcomes(Worker(scopes.group, scopes.step), lambda: OK, lambda: OK, lambda: OK) == [OK] * 3
    assert scopes.told == ["group", "done", "done", "done", "flush"]


def test_a_refusal_undoes_its_own_job_alone() -> None:
    """A neighbour in the group must not suffer."""
    scopes = Scopes()
    refusal = SubjectNotFound(subject="s")
    assert outcomes(Worker(scopes.group, scopes.step), lambda: OK, raises(refusal)) == [OK, refusal]
    assert scopes.told == ["group", "done", "undone", "flush"]


@pytest.mark.parametrize("failure", [StoreError("disk full"), OSError("disk full")])
def test_nothing_of_a_group_is_told_if_it_is_not_durable(failure: Exception) -> None:
    """Promise: what was acknowledged is there."""
    scopes = Scopes(failure)
    told = outcomes(Worker(scopes.group, scopes.step), lambda: OK, raises(SubjectNotFound(subject="s")))
    assert all(isinstance(one, StoreError) for one in told)


def test_jobs_run_on_one_thread_that_is_not_the_loops() -> None:
    """A slow check does not hold up reads."""
    seen: list[int] = []

    def job() -> Answer:
        seen.append(threading.get_ident())
        return OK

    outcomes(Worker(), job, job)
    assert len(set(seen)) == 1
    assert threading.get_ident() not in seen


def test_what_was_handed_over_is_done_before_the_end() -> None:
    """Clean shutdown: the last requests are answered."""
    worker = Worker()

    async def hand_over_and_stop() -> Answer:
        waiting = asyncio.ensure_future(worker(task(lambda: OK)))
        await asyncio.sleep(0)
        worker._arriving.put(None)  # what `stop` does first, before the thread has had a chance to look
        worker.start()
        return await waiting

    assert asyncio.run(hand_over_and_stop()) is OK


def test_a_client_that_went_away_disturbs_nobody() -> None:
    """Its job is done; only its client is gone."""
    worker = Worker()

    async def one_leaves() -> Answer:
        leaving = asyncio.ensure_future(worker(task(lambda: OK)))
        staying = asyncio.ensure_future(worker(task(lambda: OK)))
        await asyncio.sleep(0)
        leaving.cancel()
        worker.start()
        return await staying

    assert asyncio.run(one_leaves()) is OK
    worker.stop()


def test_a_long_queue_is_taken_in_parts() -> None:
    """A group has a bound, so that its first job need not wait for a thousand others."""
    scopes = Scopes()
    outcomes(Worker(scopes.group, scopes.step, largest=2), *[lambda: OK] * 3)
    assert scopes.told.count("group") == 2
