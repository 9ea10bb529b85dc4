"""What a batch's tables look like, before any task begins."""

from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pytest

from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land.bindings import Binding, Reader, Strategy
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.sinks.sink import folder_of
from sigla_pipelines.land.targets import Evolve
from tests.pipelines.land.world import World, avro, framed, raw

ID = {"name": "id", "type": "long"}
ORDER = {"type": "record", "name": "Order", "fields": [ID]}
LONGER = {"type": "record", "name": "Order", "fields": [ID, {"name": "note", "type": "string", "default": ""}]}


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(), None) as (registry, _):
        yield World(registry, tmp_path)


@pytest.mark.parametrize("title", ["My: Thing", "urn:acme:order", ":.ctx:order", "a/../../b", "x" * 300])
def test_a_record_may_be_called_anything(title: str, world: World) -> None:
    """The title of a JSON Schema is any text; it names a subject, and a table."""
    schema = {"title": title, "type": "object", "properties": {"a": {"type": "string"}}}
    id = world.register(f"orders-{title}", schema, "JSON")
    binding = Binding("orders", strategy=Strategy.TOPIC_RECORD, table="orders.{record}")
    outcome = world.land(world.plan(binding), raw([framed(id, b'{"a": "b"}')]))
    assert [row["a"] for row in outcome.rows(f"orders.{title}")] == ["b"]
    assert len(folder_of(f"orders.{title}")) <= 200
    assert {path.parent.parent.parent for path in world.lake.rglob("*.parquet")} == {world.lake}


def test_a_record_that_is_called_as_a_table_of_ours_is_refused(world: World) -> None:
    world.register("_quarantine", {**ORDER, "name": "_quarantine"})
    binding = Binding("orders", strategy=Strategy.RECORD, records=("_quarantine",), table="{record}")
    with pytest.raises(Misbound, match="The job itself uses the table _quarantine"):
        world.plan(binding)


def test_a_pinned_id_that_is_not_there_is_told_before_its_records_are_set_aside(world: World) -> None:
    world.register("orders-value", ORDER)
    with pytest.raises(Misbound, match=r"Unknown id 7 in context \., which is to read records of .*orders-value"):
        world.plan(Binding("orders", reader=Reader("id", 7), table="orders"))


@pytest.mark.parametrize("known", [[], [pa.field("_key", pa.struct([pa.field("value", pa.int32())]))]], ids=len)
def test_a_table_of_deletes_alone_is_pinned_when_it_has_values(known: list[pa.Field], world: World) -> None:
    """Its first batch may have had nothing but tombstones."""
    id = world.register("orders-value", ORDER)
    key = world.register("orders-key", '"int"')
    bindings = Binding("orders", table="orders"), Binding("orders", part="key")
    plan = world.plan(*bindings, columns=lambda _: pa.schema(known), policy=Evolve.PIN)
    outcome = world.land(plan, raw([framed(id, avro(ORDER, {"id": 1}))], keys=[framed(key, avro("int", 2))]))
    assert [(row["id"], row["_key"]) for row in outcome.rows("orders")] == [(1, {"value": 2})]
    world.register("orders-value", LONGER)
    assert world.plan(*bindings, columns=lambda _: plan.targets["orders"].schema, policy=Evolve.PIN).dropped


def test_what_a_pinned_table_leaves_out_is_told(world: World) -> None:
    world.register("orders-value", ORDER)
    id = world.register("orders-value", LONGER)
    binding = Binding("orders", table="orders")
    columns = pa.schema([pa.field("id", pa.int64())])
    plan = world.plan(binding, columns=lambda table: columns if table == "orders" else None, policy=Evolve.PIN)
    assert plan.dropped == {(binding, "orders-value"): ("note",)}
    outcome = world.land(plan, raw([framed(id, avro(LONGER, {"id": 1, "note": "n"}))]))
    assert [(row["id"], "note" in row) for row in outcome.rows("orders")] == [(1, False)]
    assert not world.plan(binding).dropped
