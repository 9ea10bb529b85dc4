"""States through whole jobs: bad records that a replay brings late, keys and columns that evolve, truncation."""

import gc
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.job import run
from sigla_pipelines.land.report import Sum
from sigla_pipelines.land.settings import read_settings
from sigla_pipelines.land.sources import Stopping
from sigla_pipelines.land.upsert import StateMismatch
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import Estate
from tests.pipelines.spark.test_states import ENVELOPE, ROW

# PySpark leaves its sockets to the collector.
pytestmark = [
    pytest.mark.spark,
    pytest.mark.soak,
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),
]

KEY = {"type": "record", "name": "Key", "fields": [{"name": "id", "type": "int"}]}
KEY_2 = KEY | {"doc": "The same, under another id."}
ORDER = {
    "type": "record",
    "name": "Order",
    "fields": [{"name": "id", "type": "int"}, {"name": "note", "type": "string"}],
}
ORDER_2 = {
    "type": "record",
    "name": "Order",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "note", "type": "string"},
        {"name": "amount", "type": ["null", "double"], "default": None},
    ],
}


@pytest.fixture(autouse=True)
def _collected() -> Iterator[None]:
    """What PySpark leaves open is closed here, and not while another test runs."""
    yield
    gc.collect()


@pytest.fixture
def estate(tmp_path: Path) -> Estate:
    return Estate(tmp_path)


def landed(
    estate: Estate, spark: SparkSession, config: Path, *, replay: bool = False
) -> tuple[Sum, list[dict[str, Any]]]:
    """What a run said, and the state behind it. replay: of the quarantine, before."""
    total = Sum()
    with closing(driver(read_settings(config))) as opened:
        if replay:
            opened.replay()
        run(spark, opened, total, Stopping())
        return total, [row for batch in opened.sink.rows("orders_state") for row in batch.to_pylist()]


def config(estate: Estate, *bind: dict[str, Any]) -> Path:
    return estate.config(bind=list(bind), sink={"kind": "iceberg", "lake": str(estate.root / "lake")})


def test_one_bad_record_in_a_hundred_comes_late_and_changes_only_what_it_should(
    estate: Estate, iceberg_spark: SparkSession
) -> None:
    """Each has a schema that is registered after its batch; keys are written by two schemas; columns grow."""
    with estate.registry() as world:
        keys = [world.register("orders-key", KEY), world.register("orders-key", KEY_2)]
        first = world.register("orders-value", ORDER)
    late = first + 1  # ids are given one after another
    path = config(estate, {"topic": "orders", "mode": "upsert"}, {"topic": "orders", "part": "key"})

    def change(at: int) -> tuple[bytes, bytes | None, tuple[int, str | None, float | None]]:
        id, note, bad = at % 37, f"n{at}", at % 100 == 50
        key = framed(keys[at % 2], avro(KEY, {"id": id}))
        if at % 11 == 10 and not bad:
            return key, None, (id, None, None)
        if bad or at >= 300:
            row = {"id": id, "note": note, "amount": at / 2}
            return key, framed(late, avro(ORDER_2, row)), (id, note, at / 2)
        return key, framed(first, avro(ORDER, {"id": id, "note": note})), (id, note, None)

    changes = [change(at) for at in range(400)]
    for start in (0, 150):
        several = changes[start : start + 150]
        batch = raw([value for _, value, _ in several], keys=[key for key, _, _ in several], start=start)
        estate.write(f"{start}.parquet", batch)
        total, _ = landed(estate, iceberg_spark, path)
        assert total.quarantined
    with estate.registry() as world:
        assert world.register("orders-value", ORDER_2) == late
    several = changes[300:]
    estate.write("300.parquet", raw([value for _, value, _ in several], keys=[key for key, _, _ in several], start=300))
    landed(estate, iceberg_spark, path)
    total, state = landed(estate, iceberg_spark, path, replay=True)
    assert total.states["orders_state"].changes == 3, (
        "what the replay has landed, at the start of a run without batches"
    )

    expected: dict[int, tuple[str, float | None]] = {}
    for _, _, (id, note, amount) in changes:
        if note is None:
            expected.pop(id, None)
        else:
            expected[id] = note, amount
    assert {row["_key"]["id"]: (row["note"], row["amount"]) for row in state} == expected
    assert len(state) == len(expected)
    assert {row["id"] for row in state} == {*expected}


def test_a_truncation_deletes_what_is_older_and_envelopes_evolve(estate: Estate, iceberg_spark: SparkSession) -> None:
    """A row from before it that comes behind it stays away."""
    more = {"name": "amount", "type": ["null", "double"], "default": None}
    wide_row = ROW | {"fields": [*ROW["fields"], more]}
    before, *others = ENVELOPE["fields"]
    wide = ENVELOPE | {"fields": [before | {"type": ["null", wide_row]}, *others]}
    with estate.registry() as world:
        first, second = world.register("orders-value", ENVELOPE), world.register("orders-value", wide)

    def envelope(op: str, before: Any = None, after: Any = None, *, id: int = first) -> bytes:
        said = {"before": before, "after": after, "source": {"lsn": 1}, "op": op}
        return framed(id, avro(wide if id == second else ENVELOPE, said))

    def row(id: int, status: str, **more: Any) -> dict[str, Any]:
        return {"id": id, "status": status, **more}

    path = config(estate, {"topic": "orders", "mode": "upsert", "unwrap": "debezium", "keys": ["id"]})
    values = [
        envelope("c", None, row(1, "old")),
        envelope("c", None, row(2, "late")),
        envelope("r", None, row(3, "old")),
    ]
    values += [envelope("t"), envelope("c", None, row(4, "new")), envelope("m"), envelope("c", None, row(5, "gone"))]
    records = raw(values, keys=[b"k"] * len(values))
    estate.write("1.parquet", records.filter(pa.array([at != 1 for at in range(len(values))])))
    total, state = landed(estate, iceberg_spark, path)
    assert [(row["id"], row["status"]) for row in sorted(state, key=lambda row: row["id"])] == [(4, "new"), (5, "gone")]
    assert total.states["orders_state"].left_out == 1

    estate.write("2.parquet", records.slice(1, 1))
    values = [
        envelope("d", row(5, "gone", amount=None), id=second),
        envelope("u", None, row(4, "x", amount=2.5), id=second),
    ]
    estate.write("3.parquet", raw([*values, None], keys=[b"k"] * 3, start=7))
    _, state = landed(estate, iceberg_spark, path)
    assert [(row["id"], row["status"], row["amount"]) for row in state] == [(4, "x", 2.5)]

    other = config(estate, {"topic": "orders", "mode": "upsert", "unwrap": "debezium", "keys": ["status"]})
    with pytest.raises(StateMismatch, match="was made with other settings"):
        landed(estate, iceberg_spark, other)
