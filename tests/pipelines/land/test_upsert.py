"""What a state is made of: its settings, its columns, and the catalog as Spark knows it."""

import json
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
import yaml
from pyiceberg.catalog import Catalog
from pyiceberg.catalog.memory import InMemoryCatalog

from sigla_pipelines.land.settings import InvalidLanding, Landing, parse_landing
from sigla_pipelines.land.sinks.iceberg import catalog
from sigla_pipelines.land.sinks.sink import table_schema
from sigla_pipelines.land.spark_catalog import spark_properties
from sigla_pipelines.land.upsert import StateMismatch, StateTable, Unwrap, state_layout
from sigla_pipelines.places import Bucket, open_place
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.world import framed

ROW = pa.struct([pa.field("id", pa.int64()), pa.field("note", pa.string())])
ENVELOPE = table_schema(pa.schema([("before", ROW), ("after", ROW), ("op", pa.string()), ("ts_ms", pa.int64())]))
PLAIN = table_schema(pa.schema([("id", pa.int64()), ("note", pa.string())]))


def landing(*bind: dict[str, Any], kind: str = "iceberg") -> Landing:
    form = {
        "registry": {"data": "registry"},
        "source": {"kind": "files", "path": "raw"},
        "bind": list(bind),
        "sink": {"lake": "lake", "kind": kind},
        "work": "work",
    }
    return parse_landing(yaml.safe_dump(form), "land.yaml")


ORDERS = {"topic": "orders", "mode": "upsert"}
RECORD = {"strategy": "RecordName", "records": ["shop.Order"]}


def test_a_table_has_a_state_where_the_settings_ask_for_one() -> None:
    """Its history stays what it is, under its own name."""
    assert landing({"topic": "orders"}).states == ()
    assert landing(ORDERS, {"topic": "clicks"}).states == (StateTable("orders"),)
    assert landing(ORDERS | {"table": "o", "keys": ["a", "b"], "unwrap": "debezium"}).states == (
        StateTable("o", ("a", "b"), Unwrap.DEBEZIUM),
    )
    assert landing(ORDERS, {"topic": "orders", "part": "key"}).states == (StateTable("orders", bound=True),)
    assert landing(ORDERS | RECORD | {"table": "o"}).states == (StateTable("o"),)
    two = (ORDERS | {"topic": topic, "table": "all"} for topic in ("orders", "more"))
    assert [each.table for each in landing(*two).states] == ["all_state"]


@pytest.mark.parametrize(
    "bind, said",
    [
        ([{"topic": "orders", "keys": ["id"]}], "`keys` and `unwrap` need `mode: upsert`"),
        ([{"topic": "orders", "unwrap": "debezium"}], "need `mode: upsert`"),
        ([ORDERS | {"strategy": "TopicRecordName"}], r"under TopicRecordName .* write `records: \[shop.Order\]` and"),
        ([ORDERS | RECORD], "under RecordName each record has a table of its own"),
        ([ORDERS | RECORD | {"records": ["a", "b"], "table": "t"}], "under RecordName each record has a table"),
        ([ORDERS, {"topic": "orders", "part": "key", "mode": "upsert"}], "`mode: upsert` is said of a topic's values"),
        ([ORDERS | {"keys": ["id", "id"]}], "`keys` names a field twice"),
        ([ORDERS | {"keys": [" "]}], "is empty"),
        ([ORDERS | {"table": "t"}, {"topic": "more", "table": "t"}], "the topics of the table t share one state"),
        ([ORDERS | {"table": "t"}, ORDERS | {"topic": "more", "table": "t", "keys": ["id"]}], "share one state"),
        ([ORDERS, {"topic": "orders_state"}], "the table orders_state is the state of another table"),
        ([ORDERS, {"topic": "x", "table": "orders_state_deleted"}], "the table orders_state_deleted is the state"),
    ],
)
def test_settings_that_make_no_state_are_refused(bind: list[dict[str, Any]], said: str) -> None:
    with pytest.raises(InvalidLanding, match=said):
        landing(*bind)


@pytest.mark.parametrize("strategy", ["RecordName", "TopicRecordName"])
def test_the_deletes_of_a_topic_of_one_record_are_in_its_table(strategy: str, tmp_path: Path) -> None:
    """A state is made of one table: where subjects go by the record, nulls used to have one of their own."""
    order = {"type": "record", "name": "Order", "namespace": "shop", "fields": [{"name": "id", "type": "int"}]}
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        subject = {"RecordName": "shop.Order", "TopicRecordName": "orders-shop.Order"}[strategy]
        id = landings.register(json.dumps(order), subject, "AVRO")
        binding: Any = {"strategy": strategy, "records": ["shop.Order"], "table": "orders"}
        landings.land(framed(id, b"\x02"), None, **binding)
        assert [(row["id"], row["_sr_op"]) for row in landings.committed("orders")] == [(1, "U"), (None, "D")]


def test_a_state_needs_tables_whose_rows_can_change() -> None:
    with pytest.raises(InvalidLanding, match="write `kind: iceberg`"):
        landing(ORDERS, kind="parquet")


def test_a_state_has_the_columns_of_its_history_or_of_the_rows_in_envelopes() -> None:
    """And ours: they say which change a row is from."""
    plain, unwrapped = (
        state_layout(StateTable("orders"), PLAIN),
        state_layout(StateTable("orders", unwrap=Unwrap.DEBEZIUM), ENVELOPE),
    )
    keyed = table_schema(pa.schema([*ROW, pa.field("_key", pa.struct([pa.field("id", pa.int64())]))]))
    by_key = state_layout(StateTable("orders", bound=True), keyed)
    assert plain
    assert unwrapped
    assert by_key
    assert plain.state.names == unwrapped.state.names == PLAIN.names
    assert (plain.key, by_key.key) == (("_sr_key",), ("_key",))


@pytest.mark.parametrize("state", [StateTable("t"), StateTable("t", ("id",)), StateTable("t", unwrap=Unwrap.DEBEZIUM)])
def test_before_the_first_value_there_is_no_state(state: StateTable) -> None:
    """Tombstones alone do not say what its columns are."""
    assert state_layout(state, table_schema(pa.schema([]))) is None


@pytest.mark.parametrize(
    "state, history, said",
    [
        (
            StateTable("t", ("key",)),
            PLAIN,
            r"`keys` names the unknown column key of the table t\. Its columns: id, note",
        ),
        (StateTable("t", unwrap=Unwrap.DEBEZIUM), PLAIN, "are not envelopes of Debezium: remove `unwrap`"),
        (
            StateTable("t", unwrap=Unwrap.DEBEZIUM),
            table_schema(pa.schema([("after", pa.struct([("_SR_TS", pa.int64())])), ("op", pa.string())])),
            "have a column _sr_ts, a name that the state itself uses",
        ),
    ],
)
def test_columns_that_make_no_state_are_told(state: StateTable, history: pa.Schema, said: str) -> None:
    with pytest.raises(StateMismatch, match=said):
        state_layout(state, history)


@pytest.fixture
def in_sqlite(tmp_path: Path) -> Iterator[Catalog]:
    properties = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}
    with closing(catalog(properties, open_place(tmp_path))) as found:
        yield found


def test_spark_opens_the_catalog_that_the_job_writes_to(in_sqlite: Catalog, tmp_path: Path) -> None:
    found = spark_properties(in_sqlite, open_place(tmp_path))
    assert (found["type"], found["uri"]) == ("jdbc", f"jdbc:sqlite:{tmp_path}/catalog.db")
    assert found["warehouse"] == open_place(tmp_path).uri("")


def named(kind: str, **properties: str) -> Any:
    """A catalog of this class that is asked for its properties alone."""
    return type(kind, (), {"properties": properties, "name": "sigla"})()


@pytest.mark.parametrize(
    "kind, properties, expected",
    [
        (
            "SqlCatalog",
            {"uri": "postgresql+psycopg2://me:secret@db:5432/lake"},
            {"uri": "jdbc:postgresql://db:5432/lake", "jdbc.user": "me", "jdbc.password": "secret"},
        ),
        (
            "RestCatalog",
            {"uri": "https://c", "token": "t", "rest.sigv4-enabled": "true", "warehouse": "w"},
            {"type": "rest", "uri": "https://c", "token": "t", "rest.sigv4-enabled": "true", "warehouse": "w"},
        ),
        ("GlueCatalog", {"glue.region": "eu-west-1"}, {"type": "glue", "client.region": "eu-west-1"}),
        ("HiveCatalog", {"uri": "thrift://h"}, {"type": "hive", "uri": "thrift://h"}),
        ("RestCatalog", {"s3.endpoint": "http://m"}, {"s3.endpoint": "http://m"}),
    ],
)
def test_properties_of_other_catalogs_are_said_in_sparks_words(
    kind: str, properties: dict[str, str], expected: dict[str, str]
) -> None:
    found = spark_properties(named(kind, **properties), Bucket("b", "", "eu-west-1", "http://m"))
    assert found.items() >= expected.items()


def test_a_warehouse_is_told_to_a_rest_catalog_where_the_settings_have_one() -> None:
    """It has names of its own for them, and does not count as the lake: others would be refused."""
    bucket = Bucket("b", "", "eu-west-1", "http://m")
    assert "warehouse" not in spark_properties(named("RestCatalog", uri="https://c"), bucket)
    assert spark_properties(named("GlueCatalog"), bucket)["warehouse"] == bucket.uri("")


def test_a_catalog_that_spark_cannot_open_is_told_before_anything_is_landed() -> None:
    with (
        closing(InMemoryCatalog("sigla")) as in_memory,
        pytest.raises(InvalidLanding, match="is of the class InMemoryCatalog, which Spark cannot open"),
    ):
        spark_properties(in_memory, open_place("lake"))
    with pytest.raises(InvalidLanding, match="a database in memory"):
        spark_properties(named("SqlCatalog", uri="sqlite:///:memory:"), open_place("lake"))
