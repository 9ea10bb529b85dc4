"""Random logical types, and random records within themselves, as columns: what fastavro reads is what stands there.

Beside `test_avro_properties`, whose schemas have neither.
"""

import io
import json
from collections.abc import Callable, Iterable
from datetime import UTC, date, datetime, time, timedelta
from decimal import Decimal
from random import Random
from typing import Any
from uuid import UUID

import fastavro
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.decoding.avro import understood
from sigla.decoding.avro_convert import LONGEST_DECIMAL, decimal_digits, logical
from sigla.decoding.decoder import Source
from sigla.decoding.reasons import FINE
from sigla.languages.avro import tree
from sigla_pipelines.land.decoders.avro import decoder
from sigla_pipelines.land.decoders.columns import UNROLLED
from sigla_pipelines.land.decoders.decoder import Writer
from tests.unit.decoding.avro_schemas import bare

pytestmark = pytest.mark.usefixtures("both_ways")

SEEDS = st.integers(0, 2**63)
ROWS = 6
YEAR_1, YEAR_9999 = -62_135_596_800_000_000, 253_402_300_799_999_999
"""In microseconds since the epoch: all that a datetime can be."""
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

Draw = Callable[[], Any]
Drawn = tuple[Any, Draw]
"""A schema, and what draws its values as fastavro takes them."""


def moment(by: Random, kind: str, unit: int) -> Drawn:
    """unit: in microseconds."""

    def draw() -> datetime:
        found = EPOCH + timedelta(microseconds=by.randint(YEAR_1, YEAR_9999) // unit * unit)
        return found.replace(tzinfo=None) if kind.startswith("local") else found

    return {"type": "long", "logicalType": kind}, draw


def time_of_day(by: Random, kind: str, base: str, unit: int) -> Drawn:
    def draw() -> time:
        return (EPOCH + timedelta(microseconds=by.randrange(86_400_000_000) // unit * unit)).time()

    return {"type": base, "logicalType": kind}, draw


def decimal(by: Random, name: str) -> Drawn:
    """A decimal of any width: more digits than a column has become text."""
    precision = by.choice([1, 2, 9, 18, 19, LONGEST_DECIMAL, LONGEST_DECIMAL + 7])
    scale = by.randint(0, precision)
    most = 10**precision - 1
    fixed = {"type": "fixed", "name": name, "size": (2 * most).bit_length() // 8 + 1}
    base = by.choice([{"type": "bytes"}, fixed])
    # Not by an operation: those round to the digits of their context.
    return {**base, "logicalType": "decimal", "precision": precision, "scale": scale}, lambda: Decimal(
        f"{by.randint(-most, most)}E-{scale}"
    )


def kind_of(by: Random, name: str) -> Drawn:
    drawn: list[Callable[[], Drawn]] = [
        lambda: moment(by, "timestamp-millis", 1_000),
        lambda: moment(by, "timestamp-micros", 1),
        lambda: moment(by, "local-timestamp-millis", 1_000),
        lambda: moment(by, "local-timestamp-micros", 1),
        lambda: time_of_day(by, "time-millis", "int", 1_000),
        lambda: time_of_day(by, "time-micros", "long", 1),
        lambda: ({"type": "int", "logicalType": "date"}, lambda: date.fromordinal(by.randint(1, 3_652_059))),
        lambda: ({"type": "string", "logicalType": "uuid"}, lambda: UUID(int=by.getrandbits(128))),
        lambda: decimal(by, name),
    ]
    return by.choice(drawn)()


def within(by: Random, drawn: Drawn) -> Drawn:
    """As it is, or null, or many of it."""
    schema, draw = drawn
    return by.choice(
        [
            drawn,
            (["null", schema], lambda: draw() if by.random() < 0.7 else None),
            ({"type": "array", "items": schema}, lambda: [draw() for _ in range(by.randrange(4))]),
            ({"type": "map", "values": schema}, lambda: {str(n): draw() for n in range(by.randrange(4))}),
        ]
    )


def record(fields: Iterable[tuple[str, Any]], name: str = "Root") -> dict[str, Any]:
    return {"type": "record", "name": name, "fields": [{"name": at, "type": type_} for at, type_ in fields]}


def read(writer: Any, reader: Any, data: list[Any]) -> list[tuple[Any, Any]]:
    """For each datum what the columns hold and what fastavro reads, in one shape."""
    written, wanted = fastavro.parse_schema(writer), fastavro.parse_schema(reader)
    payloads = []
    for each in data:
        stream = io.BytesIO()
        fastavro.schemaless_writer(stream, written, each)
        payloads.append(stream.getvalue())
    source = Source("AVRO", json.dumps(reader))
    decoding = decoder(Writer(source))
    number = decoding.add(Writer(Source("AVRO", json.dumps(writer))))
    decoded = decoding.decode(pa.array(payloads, pa.binary()), pa.array([number] * len(payloads), pa.int32()))
    decoded.rows.validate(full=True)
    assert decoded.status.to_pylist() == [FINE] * len(payloads)
    root = understood(source)
    theirs = [fastavro.schemaless_reader(io.BytesIO(payload), written, wanted) for payload in payloads]
    return [
        (bare(ours, root), as_column(their, root)) for ours, their in zip(decoded.rows.to_pylist(), theirs, strict=True)
    ]


def as_column(value: Any, type_: tree.Type) -> Any:
    """What fastavro read, as a column says it."""
    if value is None:
        return None
    if isinstance(type_, tree.Union):
        return as_column(value, next(branch for branch in type_.branches if branch.kind != "null"))
    if isinstance(type_, tree.Record):
        return {field.name: as_column(value[field.name], field.type) for field in type_.fields}
    if isinstance(type_, tree.Array):
        return [as_column(item, type_.items) for item in value]
    if isinstance(type_, tree.Map):
        return {key: as_column(each, type_.values) for key, each in value.items()}
    match logical(type_):
        case "time-millis" | "time-micros":
            since = timedelta(hours=value.hour, minutes=value.minute, seconds=value.second)
            return (since + timedelta(microseconds=value.microsecond)) // timedelta(microseconds=1)
        case "uuid":
            return str(value)
        case "decimal" if isinstance(type_, tree.Primitive | tree.Fixed):
            return value if decimal_digits(type_)[0] <= LONGEST_DECIMAL else format(value, "f")
    return value


def logical_types_agree(seed: int) -> None:
    """The reader has the fields in another order, not all of them, and others may be null."""
    by = Random(seed)
    drawn = {f"f{number}": within(by, kind_of(by, f"D{number}")) for number in range(by.randint(1, 6))}
    writer = record((name, schema) for name, (schema, _) in drawn.items())
    kept = by.sample(list(drawn), by.randint(1, len(drawn)))
    fields = [(name, drawn[name][0]) for name in kept]
    reader = record(
        (name, ["null", schema]) if by.random() < 0.3 and not isinstance(schema, list) else (name, schema)
        for name, schema in fields
    )
    data = [{name: draw() for name, (_, draw) in drawn.items()} for _ in range(ROWS)]
    for ours, theirs in read(writer, reader, data):
        assert ours == theirs


def node(*more: tuple[str, Any]) -> dict[str, Any]:
    """Within itself in every way there is."""
    ways = [
        ("next", ["null", "Node"]),
        ("children", {"type": "array", "items": "Node"}),
        ("named", {"type": "map", "values": "Node"}),
    ]
    return record([("id", "int"), *ways, *more], "Node")


def a_node(by: Random, deep: int) -> dict[str, Any]:
    def few(most: int) -> range:
        return range(by.randrange(most) if deep else 0)

    return {
        "id": by.randrange(-100, 100),
        "next": a_node(by, deep - 1) if deep and by.random() < 0.7 else None,
        "children": [a_node(by, deep - 1) for _ in few(3)],
        "named": {f"k{number}é": a_node(by, deep - 1) for number in few(2)},
        "gone": "x" * by.randrange(3),
    }


def records_within_themselves_agree(seed: int) -> None:
    """Deeper than columns go: the rest is JSON. The reader lacks a field, has a new one, and widens another."""
    by = Random(seed)
    reader = node()
    reader["fields"][0]["type"] = by.choice(["int", "long"])
    reader["fields"].append({"name": "new", "type": ["string", "null"], "default": "né"})
    by.shuffle(reader["fields"])
    data = [a_node(by, by.randint(0, UNROLLED + 3)) for _ in range(ROWS)]
    for ours, theirs in read(node(("gone", "string")), reader, data):
        assert ours == theirs


@settings(max_examples=40)
@given(SEEDS)
def test_logical_types_stand_in_columns_as_fastavro_reads_them(seed: int) -> None:
    logical_types_agree(seed)


@settings(max_examples=15)
@given(SEEDS)
def test_records_within_themselves_stand_in_columns_as_fastavro_reads_them(seed: int) -> None:
    records_within_themselves_agree(seed)


@pytest.mark.soak
@settings(max_examples=2_000)
@given(SEEDS)
def test_logical_types_and_records_within_themselves_for_long(seed: int) -> None:
    logical_types_agree(seed)
    records_within_themselves_agree(seed)
