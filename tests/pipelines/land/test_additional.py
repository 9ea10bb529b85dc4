"""Properties that a JSON Schema does not name, from a topic to its table: kept, dropped, and counted."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest

from sigla.decoding.decoder import Limits
from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.decoder import Additional
from sigla_pipelines.land.protection import ColumnRule, Do, Protection
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.targets import Evolve
from tests.pipelines.land.world import Outcome, World, framed, raw

EVENTS = Binding("events", table="events")
ORDER: Any = {"type": "object", "properties": {"id": {"type": "string"}}}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(default_level="NONE"), None) as (registry, _):
        yield World(registry, tmp_path)


def figures(outcome: Outcome) -> tuple[int, int]:
    """How many properties were kept, and dropped."""
    metrics = outcome.landed.metrics
    return sum(each.additional for each in metrics), sum(each.left_out for each in metrics)


def event(id: int, value: Any) -> bytes:
    return framed(id, json.dumps(value).encode())


def test_a_property_that_no_schema_names_lands_and_is_counted(world: World) -> None:
    """It used to vanish, without a word in the report."""
    id = world.register("events-value", ORDER, "JSON")
    values = [event(id, {"id": "a", "amount": 12.5}), event(id, {"id": "b"}), event(id, {"id": 1, "more": 2}), None]
    outcome = world.land(world.plan(EVENTS), raw(values, "events"))
    rows = [(row["id"], row["_additional"]) for row in outcome.rows("events")]
    assert rows == [("a", '{"amount":12.5}'), ("b", None), (None, None)]
    assert figures(outcome) == (1, 0), "records of the quarantine count nothing"


def test_extensions_of_cloud_events_land(world: World) -> None:
    """The envelope names its own attributes; extensions stand beside them, and tracing lives by them."""
    texts = {name: {"type": "string", "minLength": 1} for name in ("id", "source", "specversion", "type")}
    envelope = {
        "type": "object",
        "properties": {**texts, "data": {"type": ["object", "string", "number", "array", "boolean", "null"]}},
        "required": [*texts],
    }
    id = world.register("events-value", envelope, "JSON")
    said = {"id": "1", "source": "/shop", "specversion": "1.0", "type": "shop.paid", "data": {"cents": 150}}
    extensions = {"traceparent": "00-4bf9-01", "partitionkey": "eu", "sampledrate": 30}
    outcome = world.land(world.plan(EVENTS), raw([event(id, said | extensions)], "events"))
    [row] = outcome.rows("events")
    assert (row["type"], json.loads(row["data"])) == ("shop.paid", {"cents": 150})
    assert json.loads(row["_additional"]) == extensions
    assert figures(outcome) == (3, 0)


def test_who_drops_such_properties_is_told_how_many(world: World) -> None:
    """Tables that have the column keep it; nothing goes into it any more."""
    id = world.register("events-value", ORDER, "JSON")
    present = world.plan(EVENTS).targets["events"].schema
    world.readers = Readers(world.readers.schemas, Limits(), Additional.DROP)
    batch = raw([event(id, {"id": "a", "amount": 12.5, "unit": "EUR"})], "events")
    fresh, old = world.land(world.plan(EVENTS), batch), world.land(world.plan(EVENTS, columns=lambda _: present), batch)
    assert "_additional" not in fresh.rows("events")[0]
    assert old.rows("events")[0]["_additional"] is None
    assert figures(fresh) == figures(old) == (0, 2)


def test_a_table_that_is_there_gets_the_column_as_any_other(world: World) -> None:
    """Also within the objects of its arrays."""
    schema = {"type": "object", "properties": {"id": {"type": "string"}, "items": {"type": "array", "items": ORDER}}}
    id = world.register("events-value", schema, "JSON")
    old = pa.schema([("id", pa.string()), ("items", pa.list_(pa.struct([("id", pa.string())])))])
    plan = world.plan(EVENTS, columns=lambda _: old)
    assert plan.targets["events"].schema == pa.schema(
        [
            ("id", pa.string()),
            ("items", pa.list_(pa.struct([("id", pa.string()), ("_additional", JSON)]))),
            ("_additional", JSON),
        ]
    )
    outcome = world.land(plan, raw([event(id, {"items": [{"a": 1}], "b": 2})], "events"))
    [row] = outcome.rows("events")
    assert (row["items"], row["_additional"]) == ([{"id": None, "_additional": '{"a":1}'}], '{"b":2}')


def test_what_a_pinned_table_has_no_column_for_is_counted_as_dropped(world: World) -> None:
    """Column by column: a struct may have room for it, and the table none."""
    schema = {"type": "object", "properties": {"in": ORDER}}
    id = world.register("events-value", schema, "JSON")
    columns = pa.schema([("in", pa.struct([("id", pa.string()), ("_additional", JSON)]))])
    plan = world.plan(EVENTS, columns=lambda _: columns, policy=Evolve.PIN)
    outcome = world.land(plan, raw([event(id, {"in": {"a": 1, "b": 2}, "c": 3})], "events"))
    assert [row["in"]["_additional"] for row in outcome.rows("events")] == ['{"a":1,"b":2}']
    assert figures(outcome) == (2, 1)


def test_what_an_older_version_allowed_and_a_closed_reader_does_not_is_counted(world: World) -> None:
    """The reader leaves no room for it; the report does not keep that to itself."""
    old = world.register("events-value", ORDER, "JSON")
    closed = world.register("events-value", {**ORDER, "additionalProperties": False}, "JSON")
    outcome = world.land(
        world.plan(EVENTS), raw([event(old, {"id": "a", "b": 1}), event(closed, {"id": "c"})], "events")
    )
    assert [row["id"] for row in outcome.rows("events")] == ["a", "c"]
    assert figures(outcome) == (0, 1)


def test_keys_keep_what_their_schemas_do_not_name(world: World) -> None:
    """A key is a column of its value's table, and so is what it says beyond its schema."""
    id, key = (world.register(f"events-{part}", ORDER, "JSON") for part in ("value", "key"))
    plan = world.plan(EVENTS, Binding("events", part="key"))
    outcome = world.land(plan, raw([event(id, {"id": "a"})], "events", keys=[event(key, {"id": "k", "region": "eu"})]))
    assert outcome.rows("events")[0]["_key"] == {"id": "k", "_additional": '{"region":"eu"}'}
    assert figures(outcome) == (1, 0)


@pytest.mark.parametrize("do", [Do.HASH, Do.MASK, Do.DROP])
def test_what_a_rule_hides_is_counted_as_dropped(do: Do, world: World) -> None:
    """Readers cannot see these properties in the table, so a report must not call them kept: column by column."""
    schema = {"type": "object", "properties": {"in": ORDER, "items": {"type": "array", "items": ORDER}}}
    id, key = (world.register(f"events-{part}", text, "JSON") for part, text in (("value", schema), ("key", ORDER)))
    rules = [ColumnRule(do, column=each) for each in ("_additional", "items.element._additional", "_key")]
    plan = world.plan(EVENTS, Binding("events", part="key"), protection=Protection((*rules,), b"sixteen bytes, so"))
    value = {"in": {"kept": 1}, "items": [{"a": 1, "b": 2}], "more": 3}
    outcome = world.land(plan, raw([event(id, value)], "events", keys=[event(key, {"id": "k", "region": "eu"})]))
    assert outcome.rows("events")[0]["in"]["_additional"] == '{"kept":1}'
    assert figures(outcome) == (1, 4)
