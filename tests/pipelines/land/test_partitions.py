"""By what files are partitioned: with the values that Iceberg's own transforms give, and each row in one file."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyiceberg.table import Table
from pyiceberg.transforms import parse_transform
from pyiceberg.types import DateType, DecimalType, IntegerType, LongType, StringType, TimestamptzType

from sigla_pipelines.land import partitions
from sigla_pipelines.land.bindings import Layout
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.partitions import DAILY, InvalidPartition, PartitionField, parse_fields, text_of_fields
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.settings import InvalidLanding
from tests.pipelines.land.crash_rig import World
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.test_far_moments import typed
from tests.pipelines.land.world import avro, framed

pytestmark = pytest.mark.usefixtures("unsynced")

MOMENTS = pa.array([0, -1, 1_795_300_000_123_456, None, -3_600_000_001], pa.timestamp("us", tz="UTC"))
TRANSFORMED = [
    *((PartitionField(each, "v"), MOMENTS, TimestamptzType()) for each in ("year", "month", "day", "hour")),
    *(
        (PartitionField(each, "v"), pa.array([0, -1, 20_000, None], pa.date32()), DateType())
        for each in ("year", "month", "day")
    ),
    (PartitionField("bucket", "v", 16), pa.array([34, -1, None, 2**40], pa.int64()), LongType()),
    (PartitionField("bucket", "v", 16), pa.array([34, -1, None], pa.int32()), IntegerType()),
    (PartitionField("bucket", "v", 7), pa.array(["iceberg", "", None, "ü"]), StringType()),
    (
        PartitionField("bucket", "v", 7),
        pa.array([Decimal("14.20"), None, Decimal("-1.00")], pa.decimal128(9, 2)),
        DecimalType(9, 2),
    ),
    (PartitionField("bucket", "v", 7), MOMENTS, TimestamptzType()),
    (PartitionField("bucket", "v", 7), pa.array([0, 17_486, None], pa.date32()), DateType()),
    (PartitionField("truncate", "v", 10), pa.array([1, -1, None, 19], pa.int32()), IntegerType()),
    (PartitionField("truncate", "v", 3), pa.array(["iceberg", "ic", None, "üüüü"]), StringType()),
]


@pytest.mark.parametrize("field, column, kind", TRANSFORMED, ids=[f"{each} {kind}" for each, _, kind in TRANSFORMED])
def test_a_value_is_the_one_that_iceberg_gives(field: PartitionField, column: pa.Array, kind: Any) -> None:
    """Else engines look for a row in another file than the one that has it."""
    transform = parse_transform(f"{field.transform}[{field.number}]" if field.number else field.transform)
    plain = column.cast(pa.int64()) if pa.types.is_timestamp(column.type) else column
    expected = [transform.transform(kind)(value) for value in plain.to_pylist()]
    assert partitions.values(field, column).to_pylist() == expected


def test_the_buckets_are_those_of_the_specification() -> None:
    """Source: the Iceberg table specification, Appendix B: hashes of 34 and of "iceberg"."""
    hashes = [(pa.array([34], pa.int64()), 2_017_239_379), (pa.array(["iceberg"]), 1_210_000_089)]
    for column, hashed in hashes:
        assert partitions.values(PartitionField("bucket", "v", 1000), column).to_pylist() == [hashed % 1000]


def test_the_smallest_number_is_truncated_as_in_java() -> None:
    column = pa.array([-(2**31), -(2**31) + 9], pa.int32())
    assert partitions.values(PartitionField("truncate", "v", 10), column).to_pylist() == [2**31 - 2, -(2**31) + 8]


@pytest.mark.parametrize("said", ["day(created_at)", "bucket(16, id), country", "truncate(4, a.b), `a, (b)`", ""])
def test_what_is_written_is_read_again(said: str) -> None:
    assert text_of_fields(parse_fields(said)) == said


def test_a_list_in_yaml_may_have_brackets_with_commas() -> None:
    """YAML cuts `[bucket(16, id), country]` into three."""
    assert parse_fields(["bucket(16", "id)", "country"]) == (
        PartitionField("bucket", "id", 16),
        PartitionField("identity", "country"),
    )


@pytest.mark.parametrize(
    "said, wrong",
    [
        ("days(created_at)", "unknown transform days. Valid transforms: year, month, day, hour, bucket"),
        ("bucket(id)", "invalid transform 'bucket(id)': expected a form like bucket(16, id)"),
        ("day(3, id)", "invalid transform 'day(3, id)': expected a form like day(id)"),
        ("bucket(0, id)", "expected a number from 1"),
        ("day(created_at", "invalid field 'day(created_at'"),
        ("a, ", "invalid field ''"),
        ("day(a), hour(a)", "hour(a) is beside day(a): write one of them"),
        ("a, a", "a is beside a"),
    ],
)
def test_what_is_no_partition_is_told(said: str, wrong: str) -> None:
    with pytest.raises(InvalidPartition) as told:
        parse_fields(said)
    assert wrong in str(told.value)


def test_each_row_is_in_one_partition(tmp_path: Path) -> None:
    """Also where a value is null, and where a struct above it is."""
    inner = pa.array([{"c": "x"}, None, {"c": None}, {"c": "x"}, {"c": "y"}], pa.struct([("c", pa.string())]))
    rows = pa.RecordBatch.from_arrays([pa.array(range(5)), inner], names=["n", "s"])
    found = {
        values: part["n"].to_pylist() for values, part in partitions.split(rows, parse_fields("s.c, bucket(1, n)"))
    }
    assert found == {'["x",0]': [0, 3], "[null,0]": [1, 2], '["y",0]': [4]}


# Landed


ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "country", "type": ["null", "string"]},
        {"name": "created_at", "type": ["null", {"type": "long", "logicalType": "timestamp-micros"}]},
        {"name": "price", "type": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2}},
        {"name": "key", "type": "bytes"},
        {"name": "weight", "type": "double"},
        {"name": "tags", "type": {"type": "array", "items": "string"}},
    ],
}


def order(id: int, number: int, country: str | None = "FR", created: datetime | None = None) -> bytes:
    value: dict[str, Any] = {
        "id": number,
        "country": country,
        "created_at": created,
        "price": Decimal(number),
        "key": bytes([number]),
        "weight": 1.0,
        "tags": [],
    }
    return framed(id, avro(ORDER, value))


@pytest.fixture
def landings(tmp_path: Path) -> Iterator[Landings]:
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        yield landings


@pytest.fixture
def orders(landings: Landings) -> list[bytes]:
    """Twelve, of two countries and none, of three days and none."""
    id = landings.register(json.dumps(ORDER), type="AVRO")
    days = (*(datetime(2026, 11, day, 23, 59, tzinfo=UTC) for day in (1, 2, 3)), None)
    return [order(id, each, ("FR", "PT", None)[each % 3], days[each % 4]) for each in range(12)]


def table(landings: Landings, name: str = "orders") -> Table:
    found: Table = landings.job.sink.catalog.load_table(("sigla", name))  # type: ignore[attr-defined]  # an Iceberg
    return found


def planned(landings: Landings, asked: str) -> tuple[int, list[int]]:
    """How many files are read, and the ids that are found."""
    scan = table(landings).scan(asked, selected_fields=("id",))
    return len(list(scan.plan_files())), sorted(scan.to_arrow()["id"].to_pylist())


@pytest.mark.parametrize(
    "case",
    [
        (["day(created_at)"], 4, "created_at >= '2026-11-03T00:00:00+00:00'", (1, [2, 6, 10])),
        (["month(created_at)"], 2, "created_at is null", (1, [3, 7, 11])),
        (["hour(created_at)"], 4, "created_at < '2026-11-02T00:00:00+00:00'", (1, [0, 4, 8])),
        (["country"], 3, "country = 'PT'", (1, [1, 4, 7, 10])),
        (["country", "day(created_at)"], 12, "country is null", (4, [2, 5, 8, 11])),
        (["bucket(4, id)"], 4, "id = 5", (1, [5])),
        (["truncate(1, country)"], 3, "country = 'FR'", (1, [0, 3, 6, 9])),
        (["truncate(6, id)"], 2, "id < 6", (1, [0, 1, 2, 3, 4, 5])),
        (["price"], 12, "price = '3.00'", (1, [3])),
        (["key"], 12, "id = 3", (1, [3])),
        (["_sr_offset"], 12, "_sr_offset = 5", (1, [5])),
        ([], 1, "id = 3", (1, [3])),
    ],
    ids=str,
)
def test_whoever_asks_for_a_partition_reads_its_files_alone(
    landings: Landings, orders: list[bytes], case: tuple[list[str], int, str, tuple[int, list[int]]]
) -> None:
    said, files, asked, found = case
    landings.land(*orders, partition=said)
    assert len(list(table(landings).scan().plan_files())) == files
    assert planned(landings, asked) == found
    assert len(landings.committed("orders")) == 12


def test_a_table_of_which_nothing_is_said_is_partitioned_by_the_day_of_its_records(
    landings: Landings, orders: list[bytes]
) -> None:
    landings.land(*orders)
    assert [field.name for field in table(landings).spec().fields] == ["_sr_ts_day"]


def test_another_partition_is_for_new_files_and_told_once(landings: Landings, orders: list[bytes]) -> None:
    """Old files stay as they are, and a table without the setting keeps what it has."""
    manifests = [
        landings.land(*orders[:4]),
        landings.land(*orders[4:8], partition=["bucket(2, id)", "country"]),
        landings.land(*orders[8:10], partition=["bucket(2, id)", "country"]),
        landings.land(*orders[10:]),
        landings.land(*orders[:1], partition=[]),
        landings.land(*orders[:1], partition=["day(_sr_ts)"]),
    ]
    by = "orders: new files are partitioned by {}, those before stay partitioned by {}".format
    assert [manifest.changes for manifest in manifests] == [
        (),
        (by("bucket(2, id), country", "day(_sr_ts)"),),
        (),
        (),
        (by("nothing", "bucket(2, id), country"),),
        (by("day(_sr_ts)", "nothing"),),
    ]
    assert [row["id"] for row in landings.committed("orders")] == [*range(12), 0, 0]
    assert planned(landings, "id = 9 and country = 'FR'")[1] == [9]
    specs = table(landings).specs()
    assert sorted(len(spec.fields) for spec in specs.values()) == [0, 1, 2]  # those that came back are not new


def test_the_name_of_a_partition_is_no_column(landings: Landings) -> None:
    """Iceberg refuses it, and then a batch that is decided could not be committed."""
    schema = {**ORDER, "fields": [*ORDER["fields"], {"name": "created_at_day", "type": "string"}]}
    id = landings.register(json.dumps(schema), type="AVRO")
    value = {"id": 1, "price": Decimal(1), "key": b"", "weight": 1.0, "tags": [], "created_at_day": "x"}
    landings.land(framed(id, avro(schema, value)), partition=["day(created_at)"])
    assert [field.name for field in table(landings).spec().fields] == ["created_at_day_"]


def test_a_column_that_readers_no_longer_have_is_null(landings: Landings, orders: list[bytes]) -> None:
    """It was renamed or removed: the table keeps it, and new rows are in the partition of null."""
    landings.land(*orders[:2], partition=["country"])
    renamed = json.loads(json.dumps(ORDER).replace('"country"', '"land"'))
    id = landings.register(json.dumps(renamed), type="AVRO")
    value = {"id": 77, "land": "FR", "price": Decimal(1), "key": b"", "weight": 1.0, "tags": []}
    landings.land(framed(id, avro(renamed, value)), partition=["country"])
    assert planned(landings, "country is null") == (1, [77])


def test_a_moment_of_no_calendar_is_in_the_first_or_the_last_partition(landings: Landings) -> None:
    id = landings.register(json.dumps(ORDER), type="AVRO")
    plain = json.loads(json.dumps(ORDER))
    plain["fields"][2]["type"] = ["null", "long"]
    far = [
        framed(id, avro(plain, {"id": n, "created_at": at, "price": Decimal(1), "key": b"", "weight": 1.0, "tags": []}))
        for n, at in enumerate((9_223_371_331_200_000_000, -(2**63)))
    ]
    for said in ("hour", "day", "month", "year"):
        landings.land(*far, partition=[f"{said}(created_at)"])
    assert sum(len(batch) for batch in landings.job.sink.rows("orders")) == 8


@pytest.mark.parametrize(
    "said, wrong",
    [
        (
            {"partition": ["day(craeted_at)"]},
            "names the unknown column craeted_at of the table orders. Its columns: id, ",
        ),
        ({"partition": ["day(id)"]}, "by day(id): id has the type int64, and day takes dates and timestamps. "),
        ({"partition": ["created_at"]}, "for dates and timestamps write day"),
        ({"partition": ["weight"]}, "weight has the type double"),
        ({"partition": ["bucket(4, weight)"]}, "weight has the type double"),
        ({"partition": ["tags"]}, "tags has the type list"),
        ({"sort": ["tags"]}, "cannot be sorted by tags"),
        ({"sort": ["craeted_at"]}, "`sort` of the topic orders names the unknown column craeted_at"),
    ],
)
def test_a_column_that_cannot_be_is_told_before_anything_is_landed(
    landings: Landings, orders: list[bytes], said: dict[str, Any], wrong: str
) -> None:
    """A typo would else be found in a table of a month."""
    with pytest.raises(Misbound) as told:
        landings.land(*orders, **said)
    assert wrong in str(told.value)
    assert landings.written() == []


def test_of_several_tables_those_without_the_column_stay_as_they_are(landings: Landings) -> None:
    """A topic's records are not alike."""
    other = {"type": "record", "name": "Refund", "fields": [{"name": "id", "type": "long"}]}
    first = landings.register(json.dumps(ORDER), "orders-Order", type="AVRO")
    second = landings.register(json.dumps(other), "orders-Refund", type="AVRO")
    landings.land(
        order(first, 1),
        framed(second, avro(other, {"id": 1})),
        strategy="TopicRecordName",
        table="{record}",
        partition=["country"],
    )
    specs = [table(landings, name).spec().fields[0].name for name in landings.last.tables and _names(landings)]
    assert sorted(specs) == ["_sr_ts_day", "country"]


def _names(landings: Landings) -> list[str]:
    return [name for name, _ in landings.job.sink.tables()]  # type: ignore[attr-defined]  # an Iceberg


def test_a_plain_table_has_no_partitions(tmp_path: Path) -> None:
    with pytest.raises(InvalidLanding, match="`partition` and `sort` of the topic orders are for Iceberg tables"):
        Landings(tmp_path).land(partition=["country"])


def test_files_that_do_not_say_their_partition_are_of_the_day_of_their_records(tmp_path: Path) -> None:
    """A job may begin with a manifest that an older release has decided."""
    with closing(World(tmp_path, iceberg=True)) as world:
        with Outputs(world.lake, "q", 0, layouts={"t": Layout(DAILY)}) as outputs:
            rows, columns = typed(pa.array([1, 2]), [0, 90_000_000_000])
            outputs.write("t", rows)
            files = tuple(replace(file, partition=None, values="[]") for file in outputs.close())
        manifests = Manifests(world.work)
        manifest = Manifest("q", 0, (), (), files, {"t": columns}, (), (), (), RecordCounts(2, 2))
        world.sink(manifests).commit(manifests.put(manifest))
        found = world.catalog.load_table(("sigla", "t"))
        [task] = found.scan("_sr_ts >= '1970-01-02T00:00:00+00:00'").plan_files()
        assert task.file.partition[0] == 1


def test_files_are_sorted_and_the_table_says_by_what(landings: Landings, orders: list[bytes]) -> None:
    """Engines that write to it later, and compaction, keep to it; without the setting nothing changes."""
    landings.land(*orders, sort=["country", "id"], partition=[])
    [task] = table(landings).scan().plan_files()
    rows = table(landings).scan(selected_fields=("country", "id")).to_arrow().to_pylist()
    assert [(row["country"], row["id"]) for row in rows] == [
        *(("FR", id) for id in (0, 3, 6, 9)),
        *(("PT", id) for id in (1, 4, 7, 10)),
        *((None, id) for id in (2, 5, 8, 11)),
    ]
    order = table(landings).sort_order()
    assert [table(landings).schema().find_column_name(field.source_id) for field in order.fields] == ["country", "id"]
    assert task.file.sort_order_id == order.order_id > 0
    landings.land(*orders[::-1])
    assert table(landings).sort_order() == order
    landings.land(*orders[::-1], sort=[])
    assert table(landings).sort_order().is_unsorted
