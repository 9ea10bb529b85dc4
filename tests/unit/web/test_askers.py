"""What waits for a key service has threads of its own: its silence holds up nothing that computes."""

import asyncio
import threading
from time import monotonic, thread_time

import pytest

from sigla import effort
from sigla.effort import Effort, Limits
from sigla.web.http.answer import Answer
from sigla.web.threads.thinkers import THREADS, Thinkers
from sigla.web.threads.worker import Task
from sigla.web.threads.workers import Workers


class SilentKeyService:
    """Takes every question and answers none until it is told to."""

    def __init__(self) -> None:
        self.asked = threading.Semaphore(0)
        self.speaks = threading.Event()

    def job(self) -> Answer:
        with effort.waiting():
            self.asked.release()
            self.speaks.wait()
        return Answer(200, b"raw key")


def task(job: object, client: str) -> Task:
    return Task(job, Effort(Limits(), thread_time, monotonic), client, 0)  # type: ignore[arg-type]  # a plain function


@pytest.mark.parametrize("questions", [1, 3 * THREADS])
def test_a_silent_key_service_holds_up_no_check_of_others(questions: int) -> None:
    """Each of its clients waits, more of them than there are threads; a check that computes long is answered."""
    silent = SilentKeyService()

    async def asked() -> list[int]:
        thinkers = Thinkers()
        waiting = [asyncio.ensure_future(thinkers(task(silent.job, f"client {n}"))) for n in range(questions)]
        for _ in range(min(questions, THREADS)):
            assert await asyncio.to_thread(silent.asked.acquire, timeout=60)
        check = await asyncio.wait_for(thinkers(task(lambda: Answer(200, b"{}"), "another")), timeout=60)
        assert not any(each.done() for each in waiting)
        silent.speaks.set()
        return [check.status, *(answer.status for answer in await asyncio.gather(*waiting))]

    assert asyncio.run(asked()) == [200] * (questions + 1)


def test_a_job_that_waits_is_begun_where_waiting_is_done() -> None:
    """Neither the thread that writes nor those that compute ask; a job begins again before its question is asked."""
    threads: list[str] = []
    silent = SilentKeyService()
    silent.speaks.set()

    def job() -> Answer:
        threads.append(threading.current_thread().name)
        return silent.job()

    async def work(asked: Task) -> Answer:
        with asked.effort.turn(10):
            return asked.job()

    async def asked() -> Answer:
        return await Workers(work, work, Thinkers())(work, task(job, "a"), asyncio.Event().wait)  # type: ignore[arg-type]  # no client leaves

    assert asyncio.run(asked()).status == 200
    assert threads == ["MainThread", "sigla-asker"]
