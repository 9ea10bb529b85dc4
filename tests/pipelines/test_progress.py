"""What a person sees who waits for a job; with a real Spark at work, whose tasks wait until they were seen."""

from collections.abc import Iterator
from io import StringIO
from pathlib import Path
from threading import Thread

import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.progress import Progress, progress_line, running_tasks, show_progress
from tests.build import Terminal
from tests.waiting import eventually


@pytest.mark.parametrize(
    "progress, of_tasks, said",
    [
        (Progress(), (0, 0), ""),
        (Progress("bodies"), (0, 0), "bodies"),
        (Progress("bodies"), (3, 8), "bodies, 3 of 8 tasks"),
        (Progress("bodies"), (0, 1), "bodies, 0 of 1 task"),
        (Progress("objects", 1200), (0, 0), "objects, 1,200"),
        (Progress("bodies", 1200, 5000), (0, 0), "bodies, 1,200 of 5,000"),
    ],
)
def test_a_line_says_the_step_and_how_much_of_it_is_done(
    progress: Progress, of_tasks: tuple[int, int], said: str
) -> None:
    assert progress_line(progress, *of_tasks) == said


def test_what_passes_is_counted_and_a_step_begins_anew() -> None:
    progress = Progress()
    progress.step("bodies", 3)
    assert list(progress.counted("abc")) == ["a", "b", "c"]
    assert progress_line(progress, 0, 0) == "bodies, 3 of 3"
    progress.step("versions")
    assert progress_line(progress, 0, 0) == "versions"


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # Spark's own, between its process and ours
def test_tasks_of_spark_are_shown_while_they_run(spark: SparkSession, tmp_path: Path) -> None:
    gate, screen = tmp_path / "open", Terminal()

    def waits(_: int) -> Iterator[int]:
        eventually(gate.exists)
        return iter(())

    def work() -> None:
        spark.sparkContext.parallelize(range(4), 4).flatMap(waits).collect()

    with show_progress(spark, screen) as progress:
        progress.step("bodies")
        works = Thread(target=work)
        works.start()
        try:
            eventually(lambda: "bodies, 0 of 4 tasks" in screen.getvalue())
        finally:
            gate.touch()
            works.join()
        assert running_tasks(spark) == (0, 0)
    assert screen.getvalue().endswith("\r\033[K")


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_in_a_pipe_nothing_is_shown(spark: SparkSession) -> None:
    pipe = StringIO()
    with show_progress(spark, pipe) as progress:
        progress.step("bodies")
    assert pipe.getvalue() == ""
