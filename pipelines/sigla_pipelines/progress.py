"""How far a job is: a line on a terminal that is written over and goes at the end; nothing in a pipe."""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from threading import Event, Thread
from typing import Any, Final, TextIO, TypeVar

from py4j.protocol import Py4JError
from pyspark.sql import SparkSession

from sigla.terminal.output import StatusLine

EVERY_S: Final = 0.5

Item = TypeVar("Item")


@dataclass(slots=True, eq=False)
class Progress:
    """The step that a job is in, and how much of it is done. total: 0 if it is unknown."""

    what: str = ""
    done: int = 0
    total: int = 0

    def step(self, what: str, total: int = 0) -> None:
        self.what, self.done, self.total = what, 0, total

    def counted(self, items: Iterable[Item]) -> Iterator[Item]:
        for item in items:
            self.done += 1
            yield item


UNSEEN: Final = Progress()
"""The progress of a job that runs without a terminal."""


@contextmanager
def show_progress(spark: SparkSession, stream: TextIO | None = None) -> Iterator[Progress]:
    """What is told while it is open is shown on a terminal; of work that Spark does, its tasks."""
    line, progress = StatusLine(stream), Progress()
    if not line.is_seen:
        yield progress
        return
    over = Event()

    def show() -> None:
        with suppress(Py4JError, OSError):  # the JVM, or the terminal, is gone: the job will tell
            while not over.wait(EVERY_S):
                line.write(progress_line(progress, *running_tasks(spark)))

    shows = Thread(target=show, name="progress")
    shows.start()
    try:
        yield progress
    finally:
        over.set()
        shows.join()
        with suppress(OSError):
            line.clear()


def progress_line(progress: Progress, done: int, tasks: int) -> str:
    """done, tasks: of those that Spark runs now."""
    told = [progress.what]
    if progress.done:
        told.append(f"{progress.done:,}" + (f" of {progress.total:,}" if progress.total else ""))
    if tasks:
        told.append(f"{done} of {tasks} task{'s' * (tasks != 1)}")
    return ", ".join(filter(None, told))


def running_tasks(spark: SparkSession) -> tuple[int, int]:
    """All stages that run now: how many tasks are done, and how many there are."""
    tracker: Any = spark.sparkContext.statusTracker()
    stages = [stage for number in tracker.getActiveStageIds() if (stage := tracker.getStageInfo(number))]
    return sum(stage.numCompletedTasks for stage in stages), sum(stage.numTasks for stage in stages)
