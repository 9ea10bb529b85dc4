"""Numbers that count from 1970 land as timestamps where a rule says what they count, and never as another moment."""

import json
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.opening import embedded
from sigla.settings import Settings
from sigla_pipelines.land import moments
from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.moments import Unit
from sigla_pipelines.land.protection import ColumnRule, Do, Protection
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.settings import InvalidLanding, parse_landing
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.test_protection import with_columns
from tests.pipelines.land.world import World, avro, framed, raw

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PER_SECOND = {Unit.SECONDS: 1, Unit.MILLIS: 10**3, Unit.MICROS: 10**6, Unit.NANOS: 10**9}


def model(number: int, unit: Unit) -> datetime | None:
    """As a person would write it down: None outside the range of moments."""
    micros = number * 10**6 // PER_SECOND[unit]
    try:
        return EPOCH + timedelta(microseconds=micros)
    except OverflowError:
        return None


NUMBERS = st.one_of(st.integers(0, 2**64 - 1), st.integers(-(2**63), 2**63 - 1), st.integers(0, 2 * 10**9))


@given(st.lists(st.one_of(st.none(), NUMBERS)), st.sampled_from(Unit), st.integers(0, 2))
def test_a_number_is_the_moment_that_it_counts_to(numbers: list[int | None], unit: Unit, start: int) -> None:
    """Of 64 bits with and without a sign, which Protobuf has both; none becomes another moment."""
    signed = [None if each is None or each >= 2**63 else each for each in numbers]
    decimals = pa.array([None if each is None else Decimal(each) for each in numbers], pa.decimal128(20, 0))
    for column, values in ((decimals, numbers), (pa.array(signed, pa.int64()), signed)):
        expected = [None if each is None else model(each, unit) for each in values[start:]]
        found = moments.moments(column.slice(start), unit)
        assert found.to_pylist() == expected
        lost = [each is not None and moment is None for each, moment in zip(values[start:], expected, strict=True)]
        assert moments.unfit(column.slice(start), unit).tolist() == lost


EVENT = {"type": "record", "name": "Event", "fields": [{"name": "ts_ms", "type": "long"}]}
SPAN: dict[str, Any] = {
    "type": "record",
    "name": "Span",
    "fields": [
        {"name": "start", "type": "long"},
        {"name": "name", "type": "string"},
        {"name": "events", "type": {"type": "array", "items": EVENT}},
        {"name": "named", "type": ["null", {"type": "map", "values": "Event"}], "default": None},
        {"name": "seen", "type": ["null", {"type": "array", "items": ["null", "int"]}], "default": None},
    ],
}
RULES = (
    ColumnRule(Do.TIMESTAMP, column="start", unit=Unit.NANOS),
    ColumnRule(Do.TIMESTAMP, column="events.element.ts_ms", unit=Unit.MILLIS),
    ColumnRule(Do.TIMESTAMP, column="named.value.ts_ms", table="orders", unit=Unit.MILLIS),
    ColumnRule(Do.TIMESTAMP, column="seen", unit=Unit.SECONDS),
)


@pytest.fixture
def world(tmp_path: Path) -> Iterator[World]:
    with embedded(Settings(default_level="NONE"), None) as (registry, _):
        yield World(registry, tmp_path)


def span(start: int, *events: int, named: int | None = None, seen: list[int | None] | None = None) -> dict[str, Any]:
    return {
        "start": start,
        "name": "n",
        "events": [{"ts_ms": each} for each in events],
        "named": None if named is None else {"k": {"ts_ms": named}},
        "seen": seen,
    }


def test_columns_wherever_they_stand_become_timestamps(world: World) -> None:
    """In lists, maps and records within records; null stays null."""
    id = world.register("orders-value", SPAN)
    plan = world.plan(Binding("orders", table="orders"), protection=Protection(RULES))
    spans = [span(1_000, 1, 2, named=3, seen=[4, None]), span(-1), span(0, 5)]
    outcome = world.land(plan, raw([framed(id, avro(SPAN, each)) for each in spans]))
    first, second, third = outcome.rows("orders")

    def millis(number: int) -> dict[str, datetime]:
        return {"ts_ms": EPOCH + timedelta(milliseconds=number)}

    assert first["start"] == EPOCH + timedelta(microseconds=1)
    assert first["events"] == [millis(1), millis(2)]
    assert dict(first["named"]) == {"k": millis(3)}
    assert first["seen"] == [EPOCH + timedelta(seconds=4), None]
    assert (second["start"], second["events"], second["named"], second["seen"]) == (
        EPOCH - timedelta(microseconds=1),
        [],
        None,
        None,
    )
    assert third["events"] == [millis(5)]
    assert first["name"] == "n"


def test_a_number_that_is_no_moment_is_quarantined_and_its_neighbours_land(world: World) -> None:
    """A unit that was written down wrong must not make every date another one."""
    id = world.register("orders-value", SPAN)
    plan = world.plan(Binding("orders", table="orders"), protection=Protection(RULES))
    far = 1_763_800_000_000_000_000
    spans = [span(1), span(1, 1, far), span(1, named=far), span(1, 3), span(1, seen=[1, None])]
    outcome = world.land(plan, raw([framed(id, avro(SPAN, each)) for each in spans]))
    assert [row["_sr_offset"] for row in outcome.rows("orders")] == [0, 3, 4]
    quarantined = outcome.rows(QUARANTINE)
    assert [(row["offset"], each["reason"], each["detail"]) for row in quarantined for each in row["reasons"]] == [
        (1, "INCOMPATIBLE_READER", "events.element.ts_ms, in millis, is outside the years 1 to 9999"),
        (2, "INCOMPATIBLE_READER", "named.value.ts_ms, in millis, is outside the years 1 to 9999"),
    ]


def test_a_column_that_holds_no_numbers_is_refused_before_anything_lands(world: World) -> None:
    world.register("orders-value", SPAN)
    rule = ColumnRule(Do.TIMESTAMP, column="name", unit=Unit.NANOS)
    with pytest.raises(Misbound, match=r"makes timestamps of name in the table orders, whose type is string: only"):
        world.plan(Binding("orders", table="orders"), protection=Protection((rule,)))


def test_a_table_is_partitioned_by_the_event_time_that_was_a_number(tmp_path: Path) -> None:
    """A span of OpenTelemetry says when it began in nanoseconds; its day is what queries ask for."""
    day = 86_400 * 10**9
    with closing(Landings(tmp_path, kind="iceberg")) as landings:
        text = 'syntax = "proto3"; message Span { fixed64 start_time_unix_nano = 1; }'
        id = landings.register(text)
        landings.parts["columns"] = [{"column": "start_time_unix_nano", "do": "timestamp", "unit": "nanos"}]
        records = [framed(id, b"\x00\x09" + (at * day + 1_500).to_bytes(8, "little")) for at in (20_000, 20_001)]
        landings.land(*records, partition=["day(start_time_unix_nano)"])
        landings.land(framed(id, b"\x00"), partition=["day(start_time_unix_nano)"])
        table = landings.job.sink.catalog.load_table(("sigla", "orders"))  # type: ignore[attr-defined]  # an Iceberg
        found = {task.file.partition[0]: task.file.record_count for task in table.scan().plan_files()}
        assert found == {20_000: 1, 20_001: 1, 0: 1}
        rows = sorted(row["start_time_unix_nano"] for row in table.scan().to_arrow().to_pylist())
        assert rows[:2] == [EPOCH, EPOCH + timedelta(days=20_000, microseconds=1)]


@pytest.mark.parametrize(
    "columns, said",
    [
        ({"do": "timestamp", "column": "a"}, "takes a `unit`, and nothing else does. Valid units: seconds, millis"),
        ({"do": "drop", "column": "a", "unit": "nanos"}, "takes a `unit`, and nothing else does"),
        ({"do": "timestamp", "column": "a", "unit": "hours"}, "unit"),
        ({"do": "timestamp", "column": "_sr_key", "unit": "nanos"}, "_sr_key holds bytes"),
    ],
)
def test_a_unit_that_means_nothing_is_refused(columns: dict[str, str], said: str) -> None:
    with pytest.raises(InvalidLanding, match=said):
        parse_landing(with_columns(columns), "land.yaml")


def test_settings_say_which_numbers_become_timestamps() -> None:
    landing = parse_landing(with_columns({"do": "timestamp", "column": "a", "unit": "nanos"}), "land.yaml")
    assert landing.columns[0].rule == ColumnRule(Do.TIMESTAMP, column="a", unit=Unit.NANOS)
    assert json.dumps(landing.model_dump(mode="json"))
