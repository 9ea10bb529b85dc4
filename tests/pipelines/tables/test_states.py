"""Every engine reads a state with the same rows: merges leave files of deletes, which a reader has to apply."""

import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.land.upsert import StateTable
from tests.pipelines.land.changes import Change
from tests.pipelines.spark.state_rig import Histories
from tests.pipelines.tables.engines import ICEBERG, read

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ROUNDS: list[list[tuple[str, str | None]]] = [
    [("a", "new"), ("b", "new"), ("c", "new"), ("d", "new")],
    [("a", "paid"), ("b", None), ("e", "new")],
    [("a", "sent"), ("b", "again"), ("c", None)],
]
LEFT = {"a": "sent", "b": "again", "d": "new", "e": "new"}


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What PySpark leaves open is closed here, and not while another test runs."""
    yield
    gc.collect()


def test_every_engine_reads_a_state_as_its_last_merge_left_it(
    tmp_path: Path, iceberg_spark: SparkSession, request: pytest.FixtureRequest
) -> None:
    """Rows that were changed or deleted are gone."""
    with closing(Histories(tmp_path, iceberg_spark, StateTable("t"))) as rig:
        at = 0
        for changes in ROUNDS:
            rig.append([("", Change(at + n, 0, at + n, key, value)) for n, (key, value) in enumerate(changes)])
            rig.follow()
            at += len(changes)
        held = rig.catalog.load_table("sigla.t_state").inspect.delete_files()
        assert held.num_rows, "a merge writes what it deletes"
        assert told(tmp_path, request) == dict.fromkeys(ICEBERG, LEFT)


def told(lake: Path, request: pytest.FixtureRequest) -> dict[str, dict[str, Any]]:
    """What each engine says of each key."""
    found = {}
    for engine in ICEBERG:
        rows = read("iceberg", engine, lake, "t_state", request)
        found[engine] = {row["id"]: row["note"] for row in rows}
        assert len(rows) == len(found[engine]), f"{engine}: a key has one row"
    return found
