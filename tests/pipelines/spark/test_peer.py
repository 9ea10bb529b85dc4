"""What is landed of Avro beside what Spark reads by a decoder of its own, which comes with spark-avro."""

import json
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession
from pyspark.sql import functions as f
from pyspark.sql.avro.functions import from_avro

from tests.pipelines.broker import Broker, written
from tests.pipelines.land.world import avro, framed
from tests.pipelines.spark.estate import Estate, from_kafka

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

FIELDS: dict[str, Any] = {
    "flag": "boolean",
    "small": "int",
    "large": "long",
    "half": "float",
    "whole": "double",
    "raw": "bytes",
    "text": "string",
    "day": {"type": "int", "logicalType": "date"},
    "at": {"type": "long", "logicalType": "timestamp-micros"},
    "price": {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": 2},
    "kind": {"type": "enum", "name": "Kind", "symbols": ["A", "B"]},
    "tags": {"type": "array", "items": ["null", "string"]},
    "inner": ["null", {"type": "record", "name": "Inner", "fields": [{"name": "of", "type": "int"}]}],
    "sizes": {"type": "map", "values": ["null", "int"]},
}
EVERYTHING = {
    "type": "record",
    "name": "Everything",
    "fields": [{"name": name, "type": kind} for name, kind in FIELDS.items()],
}
EVERYTHING_WIDER = {
    **EVERYTHING,
    "fields": [
        {"name": "more", "type": "string", "default": "none"},
        *({"name": name, "type": {"small": "long", "half": "double"}.get(name, kind)} for name, kind in FIELDS.items()),
    ],
}


def test_what_kafka_has_is_landed_as_spark_s_own_from_avro_reads_it(
    spark: SparkSession, kafka: Broker, tmp_path: Path
) -> None:
    """Every type, two writers and a later reader: Spark reads the tables, and the records by its own decoder."""
    estate = Estate(tmp_path)
    made: list[dict[str, Any]] = [
        {
            "flag": n % 2 == 0,
            "small": n,
            "large": -n << 20,
            "half": n / 4,
            "whole": n / 3,
            "raw": b"%d" % n,
            "day": date(1970, 1, 1) + timedelta(n),
            "price": Decimal(n).scaleb(-2),
            "kind": "AB"[n % 2],
            "at": datetime(2026, 11, 22, tzinfo=UTC) + timedelta(microseconds=n * 77_777),
            "text": f"é{n}",
            "tags": [None, str(n)],
            "inner": {"of": n} if n % 3 else None,
            "sizes": {"m": n, "l": None},
        }
        for n in range(50)
    ]
    with estate.registry() as world:
        ids = [world.register("peer-value", schema) for schema in (EVERYTHING, EVERYTHING_WIDER)]
    kafka.create("peer")
    writers = (EVERYTHING, EVERYTHING_WIDER)
    values = [framed(ids[n % 2], avro(writers[n % 2], value)) for n, value in enumerate(made)]
    records = written(kafka.producer(), "peer", *({"value": value} for value in values))
    outcome = estate.land(spark, estate.config("peer", source=from_kafka(kafka)))
    assert outcome.holds(records)

    reader = json.dumps(EVERYTHING_WIDER)
    raw = spark.read.format("kafka").options(**{"kafka.bootstrap.servers": kafka.address, "subscribe": "peer"}).load()
    theirs = [
        raw.where(f"offset % 2 = {number}").select(
            "offset", from_avro(f.expr("substring(value, 6)"), json.dumps(writer), {"avroSchema": reader}).alias("r")
        )
        for number, writer in enumerate(writers)
    ]
    # Maps cannot be compared as such.
    columns = ["more", *(name if name != "sizes" else "array_sort(map_entries(sizes))" for name in FIELDS)]
    tables = spark.read.option("recursiveFileLookup", value=True)
    landed = tables.parquet(str(estate.root / "lake" / "peer")).selectExpr("_sr_offset", *columns)
    read = theirs[0].union(theirs[1]).select("offset", "r.*").selectExpr("offset", *columns)
    assert landed.count() == len(made)
    assert landed.exceptAll(read).collect() == []
