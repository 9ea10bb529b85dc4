"""Moments of no year that Python's calendar has: infinity as databases say it, a producer that took a wrong unit.

They are values like any other, and do not stop the job: they land as they are, and can be found.
"""

from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sigla_pipelines.land import quarantine
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.sinks.sink import table_schema
from sigla_pipelines.land.targets import SYSTEM
from tests.pipelines.land.crash_rig import World

pytestmark = pytest.mark.usefixtures("unsynced")

TODAY_US = int(datetime(2026, 11, 22, 12, tzinfo=UTC).timestamp()) * 1_000_000
INFINITY_US = 9_223_371_331_200_000_000
"""What Debezium makes of Postgres's `infinity`."""
BEFORE_CHRIST_US = -62_135_596_800_000_001
MICROSECONDS_FOR_MILLISECONDS_US = TODAY_US * 1000


@pytest.fixture(params=["parquet", "iceberg"])
def world(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[World]:
    with closing(World(tmp_path, iceberg=request.param == "iceberg")) as world:
        yield world


def land(world: World, table: str, rows: pa.RecordBatch, columns: pa.Schema | None = None, number: int = 0) -> None:
    """A batch with these rows. columns: those of the values, of a typed table."""
    manifests = Manifests(world.work)
    with Outputs(world.staging, "q", number, layouts=world.layouts) as outputs:
        outputs.write(table, rows)
        files = outputs.close()
    counts = RecordCounts(len(rows), len(rows))
    typed = {} if columns is None else {table: columns}
    world.sink(manifests).commit(manifests.put(Manifest("q", number, (), (), files, typed, (), (), (), counts)))


def typed(values: pa.Array, times_us: list[int]) -> tuple[pa.RecordBatch, pa.Schema]:
    """Rows of a table with one column, `v`."""
    columns = pa.schema([pa.field("v", values.type)])
    ours = {"_sr_topic": "t", "_sr_partition": 0, "_sr_offset": 0}
    system = [pa.array([ours.get(each.name)] * len(values), each.type) for each in SYSTEM]
    system[SYSTEM.get_field_index("_sr_ts")] = pa.array(times_us, SYSTEM.field("_sr_ts").type)
    return pa.RecordBatch.from_arrays([values, *system], schema=table_schema(columns)), columns


def numbers(world: World, table: str, column: str, kind: pa.DataType | None = None) -> list[int]:
    """As they are stored."""
    found = [batch.column(column) for batch in world.sink(Manifests(world.work)).rows(table)]
    return sorted(value for each in found for value in each.cast(kind or pa.int64()).to_pylist())


@pytest.mark.parametrize(
    "kind, stored, far",
    [
        (pa.timestamp("us", tz="UTC"), pa.int64(), INFINITY_US),
        (pa.timestamp("us"), pa.int64(), BEFORE_CHRIST_US),
        (pa.date32(), pa.int32(), 10_000_000),
    ],
    ids=str,
)
def test_a_value_beyond_the_calendar_lands_as_any_other(
    world: World, kind: pa.DataType, stored: pa.DataType, far: int
) -> None:
    """And so does what comes after it."""
    for number, several in enumerate(([far, 1], [2])):
        rows, columns = typed(pa.array(several, stored).view(kind), [TODAY_US] * len(several))
        land(world, "t", rows, columns, number)
    assert numbers(world, "t", "v", stored) == sorted([far, 1, 2])


def test_a_record_whose_time_is_beyond_the_calendar_lands_as_any_other(world: World) -> None:
    times = [MICROSECONDS_FOR_MILLISECONDS_US, TODAY_US, BEFORE_CHRIST_US]
    land(world, "t", *typed(pa.array([1, 2, 3]), times))
    assert numbers(world, "t", "_sr_ts") == sorted(times)
    assert numbers(world, "t", "v") == [1, 2, 3]


def test_a_record_in_the_quarantine_may_be_of_any_time(world: World) -> None:
    row = {"topic": "t", "partition": 0, "offset": 0, "_sr_query": "q", "_sr_batch": 0}
    arrays = [pa.array([row.get(each.name)], each.type) for each in quarantine.SCHEMA]
    at = quarantine.SCHEMA.get_field_index("timestamp")
    arrays[at] = pa.array([MICROSECONDS_FOR_MILLISECONDS_US], quarantine.SCHEMA.field(at).type)
    land(world, QUARANTINE, pa.RecordBatch.from_arrays(arrays, schema=quarantine.SCHEMA))
    assert numbers(world, QUARANTINE, "timestamp") == [MICROSECONDS_FOR_MILLISECONDS_US]


@pytest.mark.parametrize(
    "asked, found",
    [
        ("_sr_ts >= '2020-01-01T00:00:00+00:00'", [1, 2]),
        ("_sr_ts < '2020-01-01T00:00:00+00:00'", [3]),
        ("_sr_ts > '9999-12-31T12:00:00+00:00'", [1]),
        ("_sr_ts is not null", [1, 2, 3]),
        ("v = 1", [1]),
    ],
)
def test_who_asks_iceberg_by_time_finds_them_where_they_belong(tmp_path: Path, asked: str, found: list[int]) -> None:
    """Their partition is the calendar's last day, or its first one."""
    with closing(World(tmp_path, iceberg=True)) as world:
        times = [MICROSECONDS_FOR_MILLISECONDS_US, TODAY_US, BEFORE_CHRIST_US]
        land(world, "t", *typed(pa.array([1, 2, 3]), times))
        table: Any = world.catalog.load_table(("sigla", "t"))
        assert sorted(table.scan(asked, selected_fields=("v",)).to_arrow()["v"].to_pylist()) == found


def test_columns_beside_a_far_one_keep_their_bounds(tmp_path: Path) -> None:
    """Queries of other columns still read few files."""
    with closing(World(tmp_path, iceberg=True)) as world:
        land(world, "t", *typed(pa.array([INFINITY_US]).view(pa.timestamp("us")), [TODAY_US]))
        table: Any = world.catalog.load_table(("sigla", "t"))
        [task] = table.scan().plan_files()
        v, ts, offset = (table.schema().find_field(name).field_id for name in ("v", "_sr_ts", "_sr_offset"))
        assert {ts, offset} <= task.file.lower_bounds.keys()
        assert v not in task.file.lower_bounds
        assert task.file.value_counts[v] == 1
