"""The column of a JSON value, and what there is beyond it; those of scalars, and of text."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final

import orjson
import pyarrow as pa

from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders import columns
from sigla_pipelines.land.decoders.columns import Column, Values
from sigla_pipelines.land.decoders.json_schema_rest import NoObject, Rest
from sigla_pipelines.land.decoders.notes import NOTHING as NO_NOTE
from sigla_pipelines.land.decoders.notes import Note
from sigla_pipelines.land.decoders.times import JSON_UNITS, Times, of_json

NOTHING: Final = type(None)


@dataclass(frozen=True, slots=True)
class Shape(Column):
    """A column, and what there is beyond it.

    rest: what values may have beyond it; None where there can be nothing. takes_any: whether an object's columns have a
    place for other values, too. note: of the value. unit: what a number counts as a time. plain: Arrow itself makes the
    column of what the schema has let pass. is_closed: an object has the properties that are named, and no others.
    """

    rest: Rest | None = None
    takes_any: bool = False
    note: Note = NO_NOTE
    unit: str = ""
    plain: bool = False
    is_closed: bool = False


def shape_of(column: Column, *kinds: type, rest: Rest | None = None) -> Shape:
    """The same, of values of these types alone: Arrow would take some others, and make something of them."""
    allowed = frozenset((NOTHING, *kinds))

    def of_these(values: Values) -> Values:
        odd = set(map(type, values)) - allowed
        if odd:
            raise TypeError(f"{JSON_TYPES[odd.pop()]} where the reader's schema has {JSON_TYPES[kinds[0]]}")
        return values

    # Scalars are counted by `len`, which who counts structs knows and does not call.
    count = len if column.count is len else lambda values: column.count(of_these(values))
    return _shape(column, lambda values: column.build(of_these(values)), count, rest)


def of_any(column: Column, rest: Rest) -> Shape:
    """The same for objects, with a place for values of other types."""

    def objects(values: Values) -> Values:
        if set(map(type, values)) <= OBJECTS:
            return values
        return [value if type(value) in OBJECTS else NoObject(value) for value in values]

    def build(values: Values) -> pa.Array:
        return column.build(objects(values))

    shape = _shape(column, build, lambda values: column.count(objects(values)), rest)
    return replace(shape, takes_any=True)


def _shape(
    column: Column,
    build: Callable[[Values], pa.Array],
    count: Callable[[Values], int],
    rest: Rest | None = None,
) -> Shape:
    return Shape(column.type, build, column.members, count, column.width, rest)


def _integer(value: Any) -> int:
    """JSON Schema has 1.0 for an integer. Raises ValueError of any other fraction, OverflowError."""
    if value != int(value):
        raise ValueError(f"{value} is not an integer")
    return int(value)


def _json_text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


JSON_TYPES: Final = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    NOTHING: "null",
}

OBJECTS: Final = frozenset((dict, NoObject, NOTHING))

_ANY: Final = columns.scalar(JSON, _json_text)
TEXT: Final = _shape(_ANY, _ANY.build, _ANY.count)
"""JSON, of whatever it is."""


def formats_of(times: Times) -> Mapping[str, Shape]:
    """The columns of texts whose `format` asks for another type."""
    found = {name: shape_of(columns.scalar(*chosen), str) for name, chosen in of_json(times).items()}
    return {name: replace(shape, unit=JSON_UNITS.get(name, "")) for name, shape in found.items()}


SCALARS: Final = {
    name: replace(shape, plain=True)
    for name, shape in {
        "boolean": shape_of(columns.scalar(pa.bool_()), bool),
        "integer": shape_of(columns.scalar(pa.int64(), _integer), int, float),
        "number": shape_of(columns.scalar(pa.float64(), float), float, int),
        "string": shape_of(columns.scalar(pa.string()), str),
    }.items()
}


def fits_plainly(writer: pa.DataType, reader: pa.DataType) -> bool:
    """Whether all that columns of a writer would hold has its place, and no other type, in those of a reader."""
    if pa.types.is_struct(writer) and pa.types.is_struct(reader):
        names = {field.name for field in reader}
        return all(each.name in names and fits_plainly(each.type, reader.field(each.name).type) for each in writer)
    if pa.types.is_list(writer) and pa.types.is_list(reader):
        return fits_plainly(writer.value_type, reader.value_type)
    if pa.types.is_map(writer) and pa.types.is_map(reader):
        return fits_plainly(writer.item_type, reader.item_type)
    return bool(writer == reader)
