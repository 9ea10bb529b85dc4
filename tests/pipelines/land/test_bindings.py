"""What is bound is read as its binding says, and by nothing that only looks like it."""

import json
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from uuid import UUID

import pyarrow as pa
import pytest

from sigla.decoding.frames import VALUE_HEADER
from sigla.model import BodyKey, Draft, SchemaId, Subject
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import LATEST, Binding, Checks, Policy, Reader, Strategy
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.reader_schemas import Misbound
from tests.pipelines.land.world import World, avro, framed, raw

N = {"name": "n", "type": "int"}
PAID = {"type": "record", "name": "Paid", "fields": [N]}
LONGER = {"type": "record", "name": "Paid", "fields": [N, {"name": "note", "type": "string", "default": ""}]}
FIRST = Reader("version", 1)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(default_level="NONE"), None) as (registry, _):
        yield World(registry, tmp_path)


def by_record(topic: str, part: str = "value", reader: Reader = LATEST) -> Binding:
    return Binding(topic, part, Strategy.RECORD, reader, ("Paid",), topic)


def without_ours(rows: list[dict[str, object]]) -> list[dict[str, object]]:
    return [{name: value for name, value in row.items() if not name.startswith("_sr_")} for row in rows]


def test_topics_of_one_record_are_each_read_as_their_own_reader(world: World) -> None:
    world.register("Paid", PAID)
    record = framed(world.register("Paid", LONGER), avro(LONGER, {"n": 1, "note": "kept"}))
    plan = world.plan(by_record("newest"), by_record("first", reader=FIRST))
    outcome = world.land(plan, raw([record], "newest"), raw([record], "first"))
    assert without_ours(outcome.rows("newest")) == [{"n": 1, "note": "kept"}]
    assert without_ours(outcome.rows("first")) == [{"n": 1}]


def test_a_value_and_its_key_of_one_record_are_each_read_as_their_own_reader(world: World) -> None:
    world.register("Paid", PAID)
    record = framed(world.register("Paid", LONGER), avro(LONGER, {"n": 1, "note": "kept"}))
    plan = world.plan(by_record("orders", reader=FIRST), by_record("orders", "key"))
    outcome = world.land(plan, raw([record], keys=[record]))
    assert without_ours(outcome.rows("orders")) == [{"n": 1, "_key": {"n": 1, "note": "kept"}}]


def test_a_record_may_be_called_as_the_subject_of_a_topic(world: World) -> None:
    shape = {"type": "object", "properties": {"x": {"type": "integer"}}, "additionalProperties": False}
    click = {"title": "clicks-value", **shape}
    id = world.register("clicks-value", click, "JSON")
    by_name = Binding("others", strategy=Strategy.RECORD, records=("clicks-value",), table="others")
    plan = world.plan(Binding("clicks", table="clicks"), by_name)
    outcome = world.land(plan, raw([framed(id, b'{"x": 1}')], "clicks"), raw([framed(id, b'{"x": 2}')], "others"))
    assert without_ours(outcome.rows("clicks")) == [{"x": 1}]
    assert without_ours(outcome.rows("others")) == [{"x": 2}]


def a_record_of_elsewhere(world: World) -> pa.RecordBatch:
    """By GUID, of a schema that only another context has, under a number that is another's here."""
    written = world.registry.register(Subject(".elsewhere", "paid"), Draft(json.dumps(LONGER)))
    assert written.id
    guid = UUID(world.registry.bodies.get(BodyKey(".elsewhere", SchemaId(written.id))).guid)
    return raw([avro(LONGER, {"n": 1, "note": ""})], headers=[[(VALUE_HEADER, b"\x01" + guid.bytes)]])


def test_a_schema_of_another_context_is_no_member_whatever_its_number(world: World) -> None:
    id = world.register("orders-value", PAID)
    record = a_record_of_elsewhere(world)
    plan = world.plan(Binding("orders", table="orders"))
    [row] = world.land(plan, record).rows(QUARANTINE)
    [told] = row["reasons"]
    assert (told["reason"], told["schema_id"]) == ("NOT_IN_SUBJECT", None)
    assert told["detail"] == "no version of subject orders-value has the schema, which is one of context .elsewhere"
    assert world.register("orders-value", LONGER) != id
    again = world.land(world.plan(Binding("orders", table="orders")), record)
    assert [row["_sr_schema_id"] for row in again.rows("orders")] == [id + 1]


def test_a_schema_of_another_context_lands_without_a_number_where_that_is_allowed(world: World) -> None:
    world.register("orders-value", PAID)
    plan = world.plan(Binding("orders", table="orders"), checks=Checks(membership=Policy.ALLOW, deleted=Policy.FAIL))
    outcome = world.land(plan, a_record_of_elsewhere(world))
    assert [(row["n"], row["_sr_schema_id"]) for row in outcome.rows("orders")] == [(1, None)]
    assert [(each.schema_id, each.version) for each in outcome.landed.metrics] == [(None, 0)]


def test_an_id_is_read_as_where_its_subject_has_no_versions(world: World) -> None:
    """Without a catalog it would be, too."""
    id = world.register("elsewhere-value", PAID)
    binding = Binding("orders", reader=Reader("id", id), table="orders")
    record = raw([framed(id, avro(PAID, {"n": 1}))])
    allowed = world.land(world.plan(binding, checks=Checks(membership=Policy.ALLOW)), record)
    assert without_ours(allowed.rows("orders")) == [{"n": 1}]
    assert world.land(world.plan(binding), record).reasons() == [(0, "value", "NOT_IN_SUBJECT")]


def test_a_subject_that_only_begins_as_the_topic_stops_nothing(world: World) -> None:
    """`orders-eu-value` is another topic's, and may have no second version; if records come all the same, they fail."""
    world.register("orders-Paid", PAID)
    id = world.register("orders-Paid", LONGER)
    click = {"title": "eu-value", "type": "object"}
    other = world.register("orders-eu-value", click, "JSON")
    binding = Binding("orders", strategy=Strategy.TOPIC_RECORD, reader=Reader("version", 2), table="{record}")
    outcome = world.land(
        world.plan(binding), raw([framed(id, avro(LONGER, {"n": 1, "note": ""})), framed(other, b"{}")])
    )
    assert without_ours(outcome.rows("Paid")) == [{"n": 1, "note": ""}]
    [row] = outcome.rows(QUARANTINE)
    assert [each["detail"] for each in row["reasons"]] == ["subject orders-eu-value has no version 2"]
    with pytest.raises(Misbound, match="orders-eu-value has no version 2"):
        world.plan(replace(binding, records=("eu-value",)))


KEY = {"type": "record", "name": "Key", "fields": [{"name": "shop", "type": "string"}]}
OF_ONE_TYPE = {**PAID, "fields": [N, {"name": "_key", "type": ["null", KEY], "default": None}]}
OF_ANOTHER = {**PAID, "fields": [N, {"name": "_key", "type": "string"}]}


@pytest.mark.parametrize("schema, own", [(OF_ONE_TYPE, {"shop": "value's"}), (OF_ANOTHER, "value's")])
def test_a_field_of_the_value_is_not_taken_for_its_key(schema: object, own: object, world: World) -> None:
    """Whether it was there before the key was, came later, or has a key beside it at all."""
    key = framed(world.register("orders-key", KEY), avro(KEY, {"shop": "key's"}))
    world.register("orders-value", PAID)
    bound = Binding("orders", table="orders"), Binding("orders", part="key")
    before = world.plan(*bound).targets["orders"].schema
    value = framed(world.register("orders-value", schema), avro(schema, {"n": 1, "_key": own}))
    for columns in (None, before):
        plan = world.plan(*bound, columns=lambda _, columns=columns: columns)
        rows = without_ours(world.land(plan, raw([value, None, value], keys=[key, key, None])).rows("orders"))
        assert rows == [
            {"n": 1, "_key": {"shop": "key's"}, "_key__value": own},
            {"n": None, "_key": {"shop": "key's"}, "_key__value": None},
            {"n": 1, "_key": None, "_key__value": own},
        ]


def test_a_field_called_key_is_a_field_where_no_key_is_bound(world: World) -> None:
    """Unless its table has another topic's keys."""
    value = framed(world.register("orders-value", OF_ANOTHER), avro(OF_ANOTHER, {"n": 1, "_key": "own"}))
    orders = Binding("orders", table="shared")
    assert without_ours(world.land(world.plan(orders), raw([value])).rows("shared")) == [{"n": 1, "_key": "own"}]
    world.register("payments-value", PAID)
    world.register("payments-key", KEY)
    plan = world.plan(orders, Binding("payments", table="shared"), Binding("payments", part="key"))
    outcome = world.land(plan, raw([value]))
    assert without_ours(outcome.rows("shared")) == [{"n": 1, "_key": None, "_key__value": "own"}]
