"""What a task writes: every row in one file, and no file with rows of two days where a sink wants it so."""

import os
import resource
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla_pipelines.land.bindings import Layout
from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.outputs import Format, OutputLimits, Outputs
from sigla_pipelines.land.partitions import DAILY
from sigla_pipelines.places import Folder

pytestmark = pytest.mark.usefixtures("unsynced")

ROWS = pa.schema([pa.field("n", pa.int64()), pa.field("_sr_ts", pa.timestamp("us", tz="UTC"), nullable=False)])
DAY_US = 86_400_000_000


def written(lake: Path, *batches: Sequence[int], limits: OutputLimits | None = None) -> dict[str, list[int]]:
    """By file: the moments of its rows, in microseconds. batches: of moments."""
    with Outputs(Folder(str(lake)), "q", 0, layouts={"t": Layout(DAILY)}, limits=limits) as out:
        for moments in batches:
            out.write("t", pa.RecordBatch.from_arrays([pa.array(moments), pa.array(moments, ROWS[1].type)], ROWS.names))
        return {file.path: read(lake, file) for file in out.close()}


def read(lake: Path, file: DataFile) -> list[int]:
    rows = pq.read_table(lake / "t" / file.path)
    assert len(rows) == file.rows
    found: list[int] = rows["_sr_ts"].cast(pa.int64()).to_pylist()
    return found


@contextmanager
def few_files() -> Iterator[None]:
    """A process that may open sixteen more files than it has."""
    before = resource.getrlimit(resource.RLIMIT_NOFILE)
    free = [os.open(os.devnull, os.O_RDONLY) for _ in range(16)]
    for each in free:
        os.close(each)
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(free) + 1, before[1]))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, before)


def test_a_file_has_rows_of_one_day(tmp_path: Path) -> None:
    """Also of the days before 1970."""
    files = written(tmp_path, [-DAY_US - 1, -1, 0, DAY_US - 1, DAY_US], [-1, 1])
    assert sorted(files.values()) == [[-DAY_US - 1], [-1, -1], [0, DAY_US - 1, 1], [DAY_US]]


def test_more_days_than_files_that_may_be_open(tmp_path: Path) -> None:
    """A topic from its beginning has records of years, in any order."""
    days = [day * DAY_US for day in range(40)]
    with few_files():
        files = written(tmp_path, days, days[::-1], limits=OutputLimits(files=8))
    assert sorted(moment for moments in files.values() for moment in moments) == sorted(days * 2)
    assert all(len(set(moments)) == 1 for moments in files.values())


def test_the_file_that_was_written_to_longest_ago_makes_room(tmp_path: Path) -> None:
    """A day that is written to all the time stays in one file."""
    files = written(tmp_path, *([0, day * DAY_US] for day in range(1, 5)), limits=OutputLimits(files=2))
    assert sorted(files.values()) == [[0, 0, 0, 0], *([day * DAY_US] for day in range(1, 5))]


def test_what_waits_in_all_files_together_is_bounded(tmp_path: Path) -> None:
    """In a table with hundreds of partitions each file alone would wait for a row group."""
    limits = OutputLimits(waiting_in_all=100)
    with Outputs(Folder(str(tmp_path)), "q", 0, layouts={"t": Layout(DAILY)}, limits=limits) as out:
        for day in (*range(20), *range(20)):
            moment = day * DAY_US
            out.write("t", pa.RecordBatch.from_arrays([pa.array([day]), pa.array([moment], ROWS[1].type)], ROWS.names))
            assert sum(file.waits for file in out._open.values()) == out._waits <= 100
        assert sum(file.rows for file in out.close()) == 40


def sorted_files(lake: Path, *batches: Sequence[int | None]) -> list[list[int | None]]:
    """The numbers of each file, which is sorted by them."""
    with Outputs(Folder(str(lake)), "q", 0, Format(row_group=4), {"t": Layout((), ("n",))}) as out:
        for numbers in batches:
            times = pa.array(range(len(numbers)), ROWS[1].type)
            out.write("t", pa.RecordBatch.from_arrays([pa.array(numbers, pa.int64()), times], ROWS.names))
        files = out.close()
    assert {file.sort for file in files} == {"n"}
    return [pq.read_table(lake / "t" / file.path)["n"].to_pylist() for file in files]


def test_a_file_is_sorted_as_a_whole(tmp_path: Path) -> None:
    """Also over the batches that it was made of; nulls are last."""
    assert sorted_files(tmp_path, [3, None], [2]) == [[2, 3, None]]


def test_a_sorted_file_ends_where_memory_does(tmp_path: Path) -> None:
    """What is written cannot be sorted once more with what comes."""
    files = sorted_files(tmp_path, [3, 1, 4, 2], [7, 5, 6])
    assert sorted(files, key=str) == [[1, 2, 3, 4], [5, 6, 7]]
