"""Upkeep of tables by Spark, with landing in turns and at once: rows are what was landed, once."""

import gc
import json
import os
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.land import maintain_job
from sigla_pipelines.land.maintain import Done
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.sinks import iceberg
from sigla_pipelines.land.sinks.iceberg import Iceberg
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.test_partitions import ORDER, order

# PySpark leaves its sockets to the collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]
LAID_OUT: dict[str, Any] = {"partition": [], "sort": ["country", "id"]}
OLD = 1_700_000_000
FORBIDS = "commit.retry.num-retries"


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What PySpark leaves open is closed here, and not while another test runs."""
    yield
    gc.collect()


@pytest.fixture
def landings(tmp_path: Path) -> Iterator[Landings]:
    """Landings whose few files are many, and all snapshots but the last one are old."""
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        landings.parts["maintain"] = {"snapshots": "0s", "min_files": 2}
        yield landings


def maintained(spark: SparkSession, landings: Landings, *names: str) -> dict[str, Done]:
    return {done.table: done for done in maintain_job.maintain_each(spark, landings.job, names)}


def ids(landings: Landings) -> list[int]:
    return sorted(row["id"] for row in landings.committed("orders"))


def test_tables_are_kept_while_batches_land(landings: Landings, iceberg_spark: SparkSession) -> None:
    """In turns first, then at once: whoever commits second tries again, and no batch is in a table twice."""
    id = landings.register(json.dumps(ORDER), type="AVRO")
    for batch in range(3):
        landings.land(*(order(id, 10 * batch + each, ("FR", "PT")[each % 2]) for each in range(10)), **LAID_OUT)
    as_an_older_release_made_it(landings)
    orphan, staged, young = (
        landings.home / "lake" / "orders" / "data" / name
        for name in ("left.parquet", "sigla-q-0000000009-x.parquet", "young.parquet")
    )
    for each in (orphan, staged, young):
        each.write_bytes(b"x")
    os.utime(orphan, (OLD, OLD))
    os.utime(staged, (OLD, OLD))
    done = maintained(iceberg_spark, landings)
    assert done.keys() == {"orders"}
    assert done["orders"].files == (3, 1)
    assert done["orders"].bytes[1] < done["orders"].bytes[0]
    assert (done["orders"].orphans_removed, done["orders"].left) == (1, 0)
    assert done["orders"].snapshots_expired >= 2
    assert [each.exists() for each in (orphan, staged, young)] == [False, True, True]
    assert ids(landings) == [*range(30)]
    assert sorted_files(landings) == [True]
    assert properties(landings) == {**iceberg.BOUNDED, FORBIDS: None}

    # A driver that has forgotten whether its last batch was committed.
    sink = landings.job.sink
    assert isinstance(sink, Iceberg)
    sink._done.clear()
    sink.commit(landings.last)
    assert ids(landings) == [*range(30)]

    with ThreadPoolExecutor(1) as pool:
        upkeep = pool.submit(maintained, iceberg_spark, landings, "orders")
        for batch in range(3, 7):
            landings.land(*(order(id, 10 * batch + each) for each in range(10)), **LAID_OUT)
        upkeep.result()
    assert ids(landings) == [*range(70)]


def as_an_older_release_made_it(landings: Landings) -> None:
    """It forbade other engines to try again, and kept all metadata."""
    table = landings.job.sink.catalog.load_table(("sigla", "orders"))  # type: ignore[attr-defined]  # an Iceberg
    with table.transaction() as change:
        change.remove_properties(*iceberg.BOUNDED)
        change.set_properties({FORBIDS: "0"})


def properties(landings: Landings) -> dict[str, str | None]:
    table = landings.job.sink.catalog.load_table(("sigla", "orders"))  # type: ignore[attr-defined]  # an Iceberg
    return {name: table.properties.get(name) for name in (*iceberg.BOUNDED, FORBIDS)}


def sorted_files(landings: Landings) -> list[bool]:
    """Says for each file whether its rows are in the order of the table."""
    table = landings.job.sink.catalog.load_table(("sigla", "orders"))  # type: ignore[attr-defined]  # an Iceberg
    found = []
    for task in table.scan().plan_files():
        rows = pq.read_table(task.file.file_path.removeprefix("file://"), columns=["country", "id"]).to_pylist()
        keys = [(row["country"], row["id"]) for row in rows]
        found.append(keys == sorted(keys))
    return found


def test_a_partitioning_of_before_is_compacted_into_the_new_one(
    landings: Landings, iceberg_spark: SparkSession
) -> None:
    """And Spark finds rows by buckets that our tasks have computed, decimals among them."""
    id = landings.register(json.dumps(ORDER), type="AVRO")
    landings.land(*(order(id, each) for each in range(6)))
    landings.land(*(order(id, each) for each in range(6, 12)))
    landings.land(*(order(id, each) for each in range(12, 18)), partition=["bucket(4, price)", "truncate(1, country)"])
    sink = landings.job.sink
    assert isinstance(sink, Iceberg)
    maintained(iceberg_spark, landings, "orders")
    found = sink.load("orders")
    assert found is not None
    assert {task.file.spec_id for task in found.scan().plan_files()} == {found.spec().spec_id}
    for number in (3, 9, 15):
        rows = found.scan(f"price = '{Decimal(number):.2f}'", selected_fields=("id",)).to_arrow()
        assert rows["id"].to_pylist() == [number]


def test_a_table_that_is_not_there_is_told_with_those_that_are(landings: Landings, iceberg_spark: SparkSession) -> None:
    id = landings.register(json.dumps(ORDER), type="AVRO")
    landings.land(order(id, 1))
    with pytest.raises(InvalidLanding, match=r"^Unknown table order\. Tables: orders\.$"):
        list(maintain_job.maintain_each(iceberg_spark, landings.job, ["order"]))
