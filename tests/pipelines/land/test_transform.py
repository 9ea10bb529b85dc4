"""Every record becomes one row: typed by its own schema, or whole in the quarantine with a reason that fits."""

from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pytest

from sigla.decoding.decoder import Limits
from sigla.decoding.frames import KEY_HEADER, VALUE_HEADER
from sigla.decoding.reasons import Reason
from sigla.model import BodyKey, SchemaId
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import Binding, Checks, Policy, Strategy
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.partitions import DAILY
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.transform import SliceSize, Unbound
from tests.pipelines.land.earners import BOUND, CLICK, ORDER, ORDER_2, PAYMENT, STATUS, STRICT, earners
from tests.pipelines.land.world import TS, World, avro, framed, raw

VALUES = Binding("orders", table="orders")


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(default_level="NONE"), None) as (registry, _):
        yield World(registry, tmp_path)


def test_each_record_is_read_with_its_own_schema(world: World) -> None:
    old, new = world.register("orders-value", ORDER), world.register("orders-value", ORDER_2)
    batch = raw(
        [framed(old, avro(ORDER, {"id": 1})), framed(new, avro(ORDER_2, {"id": 2**40, "note": "n"}))],
        headers=[[("h", b"1")], []],
        keys=[b"k", None],
    )
    outcome = world.land(world.plan(VALUES), batch)
    assert outcome.rows("orders") == [
        {
            "id": 1,
            "note": None,
            "_sr_topic": "orders",
            "_sr_partition": 0,
            "_sr_offset": 0,
            "_sr_ts": TS,
            "_sr_key": b"k",
            "_sr_headers": [{"key": "h", "value": b"1"}],
            "_sr_schema_id": old,
            "_sr_reader_version": 2,
            "_sr_op": "U",
            "_sr_batch": 7,
        },
        {
            "id": 2**40,
            "note": "n",
            "_sr_topic": "orders",
            "_sr_partition": 0,
            "_sr_offset": 1,
            "_sr_ts": TS,
            "_sr_key": None,
            "_sr_headers": [],
            "_sr_schema_id": new,
            "_sr_reader_version": 2,
            "_sr_op": "U",
            "_sr_batch": 7,
        },
    ]
    (span,) = outcome.landed.spans
    assert (span.topic, span.partition, span.first, span.last, span.records) == ("orders", 0, 0, 1, 2)
    assert {(each.schema_id, each.version, each.rows) for each in outcome.landed.metrics} == {(old, 1, 1), (new, 2, 1)}


def test_a_tombstone_lands_as_a_delete(world: World) -> None:
    world.register("orders-value", ORDER)
    outcome = world.land(world.plan(VALUES), raw([None], keys=[b"gone"]))
    (row,) = outcome.rows("orders")
    assert (row["id"], row["_sr_op"], row["_sr_key"], row["_sr_schema_id"]) == (None, "D", b"gone", None)


def test_a_guid_in_a_header_says_the_same_as_an_id_in_front(world: World) -> None:
    id = world.register("orders-value", ORDER)
    guid = UUID(world.registry.bodies.get(BodyKey(".", SchemaId(id))).guid)
    payload = avro(ORDER, {"id": 5})
    batch = raw([payload, framed(id, payload)], headers=[[(VALUE_HEADER, b"\x01" + guid.bytes)], []])
    outcome = world.land(world.plan(VALUES), batch)
    assert [(row["id"], row["_sr_schema_id"]) for row in outcome.rows("orders")] == [(5, id), (5, id)]


def test_all_three_languages_land_in_one_batch(world: World) -> None:
    avro_id = world.register("orders-value", ORDER)
    payment = world.register("payments-value", PAYMENT, "PROTOBUF")
    click = world.register("clicks-value", CLICK, "JSON")
    plan = world.plan(VALUES, Binding("payments", table="payments"), Binding("clicks", table="clicks"))
    batch = pa.Table.from_batches(
        [
            raw([framed(avro_id, avro(ORDER, {"id": 1}))]),
            raw([framed(payment, b"\0" + b"\x08\x96\x01\x12\x01n")], "payments"),
            raw([framed(click, b'{"x": 3}')], "clicks"),
        ]
    ).combine_chunks()
    outcome = world.land(plan, *batch.to_batches())
    assert [row["id"] for row in outcome.rows("orders")] == [1]
    assert [(row["cents"], row["note"]) for row in outcome.rows("payments")] == [(150, "n")]
    assert [row["x"] for row in outcome.rows("clicks")] == [3]
    assert outcome.rows(QUARANTINE) == []


def test_a_key_that_is_bound_becomes_a_column(world: World) -> None:
    key_schema = {"type": "record", "name": "Key", "fields": [{"name": "shop", "type": "string"}]}
    id, key = world.register("orders-value", ORDER), world.register("orders-key", key_schema)
    value = framed(id, avro(ORDER, {"id": 1}))
    keys = [framed(key, avro(key_schema, {"shop": "a"})), None, b"plain", framed(key, b"\xff")]
    plan = world.plan(VALUES, Binding("orders", part="key"))
    outcome = world.land(plan, raw([value, value, value, None], keys=keys))
    assert [(row["id"], row["_key"]) for row in outcome.rows("orders")] == [(1, {"shop": "a"}), (1, None)]
    assert outcome.reasons() == [(2, "key", "BAD_MAGIC"), (3, "key", "DECODE_TRUNCATED")]


def test_a_record_whose_both_parts_are_bad_is_one_row_with_two_reasons(world: World) -> None:
    world.register("orders-value", ORDER)
    world.register("orders-key", '"string"')
    outcome = world.land(world.plan(VALUES, Binding("orders", part="key")), raw([b""], keys=[b"x"]))
    assert outcome.reasons() == [(0, "value", "EMPTY"), (0, "key", "BAD_MAGIC")]
    assert len(outcome.rows(QUARANTINE)) == 1


def test_records_of_several_types_have_a_table_each(world: World) -> None:
    for name, schema in (("orders-Order", ORDER), ("orders-Status", STATUS)):
        world.register(name, schema)
    payment = world.register("orders-acme.Refund", PAYMENT, "PROTOBUF")
    plan = world.plan(Binding("orders", strategy=Strategy.TOPIC_RECORD, table="t.{record}"))
    batch = raw(
        [
            framed(1, avro(ORDER, {"id": 1})),
            framed(2, avro(STATUS, {"now": "PAID"})),
            framed(payment, b"\x02\x02" + b"\x08\x05"),
            framed(payment, b"\0" + b"\x08\x05"),
            None,
        ]
    )
    outcome = world.land(plan, batch)
    assert [row["id"] for row in outcome.rows("t.Order")] == [1]
    assert [row["now"] for row in outcome.rows("t.Status")] == ["PAID"]
    assert [row["cents"] for row in outcome.rows("t.acme.Refund")] == [5]
    assert [row["_sr_op"] for row in outcome.rows("t._tombstones")] == ["D"]
    assert outcome.reasons() == [(3, "value", "NOT_IN_SUBJECT")]


ELSEWHERE = {Reason.BAD_SCHEMA}
"""A test of its own, below."""


@pytest.mark.parametrize("reason", [each for each in Reason if each not in ELSEWHERE], ids=str)
def test_every_reason_has_a_record_that_earns_it(reason: Reason, world: World) -> None:
    """And it is there whole, beside a good one that lands."""
    earning = earners(world)
    assert reason in earning, f"{reason}: add a record that earns it to tests/pipelines/land/earners.py"
    topic, value, headers = earning[reason]
    good = framed(1, avro(ORDER_2, {"id": 9, "note": None}))
    plan = world.plan(*BOUND, checks=STRICT)
    outcome = world.land(plan, raw([value], topic, headers=[headers], start=3), raw([good], start=10))
    assert outcome.reasons() == [(3, "value", reason.value)], outcome.rows(QUARANTINE)
    (row,) = outcome.rows(QUARANTINE)
    assert (row["topic"], row["value"], row["_sr_query"], row["_sr_batch"]) == (topic, value, "q", 7)
    assert [row["id"] for row in outcome.rows("orders")] == [9]
    assert sum(each.rows for each in outcome.landed.metrics) == 2


def test_a_reader_that_cannot_be_compiled_sets_its_records_aside(world: World) -> None:
    """An import may bring invalid texts."""
    id = world.register("orders-value", ORDER)
    body = world.registry.bodies.get(BodyKey(".", SchemaId(id)))

    class Broken:
        def get(self, _: BodyKey) -> Any:
            return replace(body, schema=replace(body.schema, text='{"type": "nothing"}'))

    world.readers.schemas._bodies = Broken()  # type: ignore[assignment]  # all that is asked of it
    outcome = world.land(world.plan(VALUES), raw([framed(id, b"\x02")]))
    assert outcome.reasons() == [(0, "value", "BAD_SCHEMA")]


def test_membership_and_trailing_bytes_may_be_allowed(world: World) -> None:
    world.register("orders-value", ORDER)
    other = world.register("others-value", {**ORDER, "doc": "of others"})
    lenient = Checks(membership=Policy.ALLOW)
    outcome = world.land(world.plan(VALUES, checks=lenient), raw([framed(other, avro(ORDER, {"id": 1}))]))
    assert [row["id"] for row in outcome.rows("orders")] == [1]


def test_what_a_silent_catalog_cannot_say_is_let_pass_and_counted(world: World) -> None:
    old = world.register("orders-value", ORDER)
    plan = world.plan(VALUES)
    stale = replace(plan, answer=replace(plan.answer, stale=True))
    new = world.register("orders-value", {**ORDER, "doc": "registered since"})
    batch = raw([framed(old, avro(ORDER, {"id": 1})), framed(new, avro(ORDER, {"id": 2}))])
    outcome = world.land(stale, batch)
    assert {(each.schema_id, each.unchecked) for each in outcome.landed.metrics} == {(old, 0), (new, 1)}


@pytest.mark.parametrize("count", [700, pytest.param(7_000, marks=pytest.mark.soak)])
def test_thousands_of_schemas_in_one_batch(count: int, world: World) -> None:
    """Each with a field of its own, which the reader skips."""
    schemas = [
        {**ORDER, "fields": [{"name": f"extra_{number}", "type": "string"}, *ORDER["fields"]]}
        for number in range(count)
    ]
    ids = [world.register("orders-value", schema) for schema in schemas]
    values = [
        framed(id, avro(schema, {f"extra_{number}": "x" * (number % 70), "id": number}))
        for number, (id, schema) in enumerate(zip(ids, schemas, strict=True))
    ]
    world.register("orders-value", ORDER)
    outcome = world.land(world.plan(VALUES), raw(values))
    assert [(row["id"], row["_sr_schema_id"]) for row in outcome.rows("orders")] == list(enumerate(ids))


def test_a_table_has_a_file_for_each_day_where_that_is_wanted(world: World) -> None:
    id = world.register("orders-value", ORDER)
    values = [framed(id, avro(ORDER, {"id": number})) for number in range(4)]
    batch = raw(values)
    hours = pa.array([TS.replace(hour=hour, day=day) for day, hour in ((1, 1), (1, 23), (2, 0), (2, 5))], RAW_TS)
    batch = batch.set_column(3, batch.schema.field(3), hours)
    outcome = world.land(world.plan(VALUES, partition=lambda _: DAILY), batch)
    assert [file.rows for file in outcome.landed.files] == [2, 2]


RAW_TS = pa.timestamp("us", tz="UTC")


@pytest.mark.parametrize("size", [SliceSize(bytes=30), SliceSize(cells=10)])
def test_large_records_and_wide_ones_are_decoded_some_at_a_time(world: World, size: SliceSize) -> None:
    id = world.register("orders-value", ORDER)
    plan, records = world.plan(VALUES), raw([framed(id, avro(ORDER, {"id": number})) for number in range(12)])
    slices = [len(slice) for slice in size.slices(records, size.rows(plan))]
    assert sum(slices) == 12
    assert max(slices) <= 6
    assert [row["id"] for row in world.land(plan, records, size=size).rows("orders")] == [*range(12)]


NUMBERS = {
    "AVRO": {"type": "record", "name": "N", "fields": [{"name": "n", "type": {"type": "array", "items": "int"}}]},
    "JSON": {"type": "object", "properties": {"n": {"type": "array", "items": {"type": "integer"}}}},
    "PROTOBUF": 'syntax = "proto3"; message N { repeated int32 n = 1; }',
}
OF_TEN: Mapping[str, tuple[bytes, bytes]] = {
    "AVRO": (b"\x14" + bytes(11), b"\x92\x03" + bytes(202)),
    "JSON": (b'{"n": [0' + b",0" * 9 + b"]}", b'{"n": [0' + b",0" * 200 + b"]}"),
    "PROTOBUF": (b"\0\x0a\x0a" + bytes(10), b"\0\x0a\xc9\x01" + bytes(201)),
}
"""A list of ten numbers, and one of 201."""


@pytest.mark.parametrize("language", NUMBERS)
def test_a_record_is_too_large_by_itself_and_never_for_its_neighbours(language: str, world: World) -> None:
    """However many of them come at once, in their values or in their keys."""
    world.readers = Readers(world.readers.schemas, Limits(values=150))
    id, key = (world.register(f"orders-{part}", NUMBERS[language], language) for part in ("value", "key"))
    ten, more = (framed(id, payload) for payload in OF_TEN[language])
    plan = world.plan(VALUES, Binding("orders", part="key"))
    outcome = world.land(plan, raw([ten, more, *[ten] * 2_000], keys=[framed(key, OF_TEN[language][0])] * 2_002))
    rows = outcome.rows("orders")
    assert [row["_sr_offset"] for row in rows] == [0, *range(2, 2_002)]
    assert all(row["n"] == row["_key"]["n"] == [0] * 10 for row in rows)
    assert outcome.reasons() == [(1, "value", "TOO_LARGE")]


def test_a_topic_that_is_not_bound_stops_the_batch(world: World) -> None:
    """Nothing of it may be lost, and nothing says where it belongs."""
    world.register("orders-value", ORDER)
    with pytest.raises(Unbound, match="The topic surprise has records, but no binding"):
        world.land(world.plan(VALUES), raw([b"x"], "surprise"))


def test_keys_in_headers(world: World) -> None:
    id, key = world.register("orders-value", ORDER), world.register("orders-key", '"int"')
    batch = raw(
        [framed(id, avro(ORDER, {"id": 1}))],
        keys=[avro("int", 4)],
        headers=[[(KEY_HEADER, framed(key, b""))]],
    )
    outcome = world.land(world.plan(VALUES, Binding("orders", part="key")), batch)
    assert [row["_key"] for row in outcome.rows("orders")] == [{"value": 4}]


DEEP = b'{"x": ' + b"[" * 70 + b"]" * 70 + b"}"


def test_json_that_is_nested_too_deep(world: World) -> None:
    id = world.register("clicks-value", {"type": "object"}, "JSON")
    outcome = world.land(world.plan(Binding("clicks", table="clicks")), raw([framed(id, DEEP)], "clicks"))
    assert outcome.reasons() == [(0, "value", "DEPTH")]
