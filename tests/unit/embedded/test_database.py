"""A database that is closed while threads still use it: they get an error, and the process goes on."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.stores.sqlite.database import Database


@pytest.fixture
def pool() -> Iterator[ThreadPoolExecutor]:
    with ThreadPoolExecutor(2) as pool:
        yield pool


class Step:
    """A step of a statement that is held up."""

    def __init__(self) -> None:
        self.begun, self.may_end = threading.Event(), threading.Event()

    def __call__(self) -> int:
        self.begun.set()
        assert self.may_end.wait(30)
        return 7


@pytest.mark.parametrize(
    "sql, all_rows",
    [("SELECT held_up()", [(7,)]), ("SELECT 1 UNION ALL SELECT held_up()", [(1,), (7,)])],
    ids=["first row", "a later one"],
)
def test_the_end_waits_for_the_step_that_another_thread_is_in(
    tmp_path: Path, pool: ThreadPoolExecutor, sql: str, all_rows: list[Any]
) -> None:
    """The process would end by SIGSEGV."""
    database, step = Database(tmp_path / "catalog.sqlite", registry="default", durable=False), Step()

    def read() -> list[Any]:
        database.reader.create_function("held_up", 0, step)
        return database.reader.execute(sql).fetchall()

    reading = pool.submit(read)
    assert step.begun.wait(30)
    closing = pool.submit(database.close)
    while not database._opening.locked():  # that the end has begun shows nowhere else
        assert not closing.done()
    step.may_end.set()
    closing.result(30)
    try:
        assert reading.result(30) == all_rows
    except StoreError:
        """Closed between the step and its rows."""


def test_rows_that_were_not_read_before_the_end_are_an_error(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    database = Database(tmp_path / "catalog.sqlite", registry="default", durable=False)
    rows = pool.submit(lambda: database.reader.execute("SELECT 1 UNION ALL SELECT 2 UNION ALL SELECT 3")).result(30)
    assert next(rows) == (1,)
    database.close()
    for read in (rows.fetchone, rows.fetchall, lambda: next(rows)):
        with pytest.raises(StoreError):
            read()


def test_after_the_end_nothing_is_opened_any_more(tmp_path: Path, pool: ThreadPoolExecutor) -> None:
    database = Database(tmp_path / "catalog.sqlite", registry="default", durable=False)
    database.close()
    with pytest.raises(StoreError, match="the catalog is closed"):
        pool.submit(lambda: database.reader).result(30)
