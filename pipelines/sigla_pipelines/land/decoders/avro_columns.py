"""The columns of an Avro reader: which Arrow type a type becomes, and lists that fill up until they become arrays.

| Avro | column |
|---|---|
| boolean, int, long, float, double, string, bytes | the same; bytes and fixed are binary |
| enum, uuid | string |
| decimal | decimal128, with more than 38 digits string |
| date, timestamp-*, local-timestamp-* | date, timestamp in microseconds with UTC, and without a zone |
| timestamp-nanos, local-timestamp-nanos | int64; the field's metadata tells the logical type |
| time-millis, time-micros | int64 in microseconds, as the field's metadata says: time-micros |
| null or T | T |
| a wider union | a struct with a member for each branch, of which one is set |
| array, map | list, map |
| a record within itself, from the third time on, and a record without fields | string: JSON |
| null | string, always null |

Everything may be null: rows of tombstones, and tables that grow.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import accumulate
from typing import Any, Final, Protocol

import orjson
import pyarrow as pa
import pyarrow.compute as pc

from sigla.decoding.avro_convert import LONGEST_DECIMAL, branch_names, decimal_digits, logical
from sigla.decoding.avro_shown import shown
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason
from sigla.languages.avro.tree import Array, Fixed, Map, Primitive, Record, Type, Union
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders import avro_notes
from sigla_pipelines.land.decoders.avro_times import chosen_type, metadata_of
from sigla_pipelines.land.decoders.columns import UNROLLED, Budget
from sigla_pipelines.land.decoders.notes import NO_TAGS, Note, PathTags, Tags
from sigla_pipelines.land.decoders.times import PLAIN, Convert, Times

Row = Any
"""A value as `sigla.decoding.avro_walk` yields it."""


class Column(Protocol):
    """type: of the array. Lists are filled and cleared where they are, so that compiled code may hold them.

    width: how many values one row adds, at least: those of items and entries come beside.
    """

    type: pa.DataType
    width: int

    def append(self, value: Row) -> None: ...

    def keep(self, rows: int) -> None:
        """Forgets what came after so many rows: one of them failed in the middle."""
        ...

    def take(self) -> pa.Array:
        """All rows as an array; the column is empty then."""
        ...


class NoRoom(Exception):
    """The row would become more values than it, or all rows together, may; or its texts more than an array holds."""


def array(values: list[Any], type_: pa.DataType) -> pa.Array:
    """Raises NoRoom."""
    found = pa.array(values, type_)
    if isinstance(found, pa.ChunkedArray):  # Arrow's way with texts of 2 GiB: a long default makes them of few bytes
        raise NoRoom
    return found


class Room:
    """For the values of items and entries, so that few bytes do not become gigabytes.

    most, all: of a row, and of a batch. held: in lists. taken: by the row that is being read.
    """

    __slots__ = ("all", "allowed", "held", "left", "most", "taken")

    def __init__(self, most: int, all: int) -> None:
        self.most = most
        self.all = all
        self.batch()

    def batch(self, held: int = 0) -> None:
        """One begins, in which others have so many."""
        self.left = self.all - held
        self.held = self.taken = 0
        self.row()

    def row(self) -> None:
        """One begins; what the one before has taken is held."""
        self.held += self.taken
        self.left -= self.taken
        self.again()

    def again(self) -> None:
        """The same row from its beginning."""
        self.taken = 0
        self.allowed = min(self.most, self.left)

    def take(self, values: int) -> None:
        """Counts them before they are made. Raises NoRoom."""
        self.taken += values
        if self.taken > self.allowed:
            raise NoRoom


@dataclass(slots=True)
class Plain:
    """convert: what becomes of the list; None for what Arrow does by itself."""

    type: pa.DataType
    convert: Callable[[list[Any], pa.DataType], pa.Array] = array
    values: list[Any] = field(default_factory=list)
    width: int = 1

    def append(self, value: Row) -> None:
        self.values.append(value)

    def keep(self, rows: int) -> None:
        del self.values[rows:]

    def take(self) -> pa.Array:
        found = self.convert(self.values, self.type)
        self.values.clear()
        return found


@dataclass(slots=True)
class Converted:
    """A type whose values become others, one by one. convert: raises DecodeFailed of one that cannot."""

    type: pa.DataType
    convert: Convert
    values: list[Any] = field(default_factory=list)
    width: int = 1

    def append(self, value: Row) -> None:
        self.values.append(None if value is None else self.convert(value))

    def keep(self, rows: int) -> None:
        del self.values[rows:]

    def take(self) -> pa.Array:
        found = array(self.values, self.type)
        self.values.clear()
        return found


@dataclass(slots=True)
class JsonColumn:
    """A value of a type as JSON."""

    of: Type
    values: list[str | None] = field(default_factory=list)
    type: pa.DataType = JSON
    width: int = 1

    def append(self, value: Row) -> None:
        self.values.append(None if value is None else orjson.dumps(shown(value, self.of)).decode())

    def keep(self, rows: int) -> None:
        del self.values[rows:]

    def take(self) -> pa.Array:
        found = array(self.values, self.type)
        self.values.clear()
        return found


@dataclass(slots=True)
class Struct:
    """present: whether there is one, of each row. union: it is made of a wider union's branches."""

    type: pa.DataType
    children: dict[str, Column]
    union: bool = False
    present: list[bool] = field(default_factory=list)
    width: int = field(init=False)

    def __post_init__(self) -> None:
        self.width = 1 + sum(child.width for child in self.children.values())

    def append(self, value: Row) -> None:
        self.present.append(value is not None)
        given = value or {}
        for name, child in self.children.items():
            child.append(given.get(name))

    def keep(self, rows: int) -> None:
        del self.present[rows:]
        for child in self.children.values():
            child.keep(rows)

    def take(self) -> pa.Array:
        children = [child.take() for child in self.children.values()]
        absent = pc.invert(pa.array(self.present, pa.bool_()))
        self.present.clear()
        return pa.StructArray.from_arrays(children, fields=list(self.type), mask=absent)


@dataclass(slots=True)
class Repeated:
    """Lists and maps. lengths: of each row, None for null. parts: the columns of items, or of keys and values.

    each: values that an item adds. counted: rows whose lengths are summed up in `kept`, so that many failures do not
    sum up the same again and again.
    """

    type: pa.DataType
    parts: tuple[Column, ...]
    room: Room
    lengths: list[int | None] = field(default_factory=list)
    width: int = 1
    each: int = field(init=False)
    counted: int = 0
    kept: int = 0

    def __post_init__(self) -> None:
        self.each = sum(part.width for part in self.parts)

    def append(self, value: Row) -> None:
        self.room.take(len(value or ()) * self.each)
        self.lengths.append(None if value is None else len(value))
        for part, values in zip(self.parts, self.spread(value or ()), strict=True):
            for each in values:
                part.append(each)

    def spread(self, value: Row) -> tuple[Any, ...]:
        if len(self.parts) == 1:
            return (value,)
        return (value.keys(), value.values()) if value else ((), ())

    def keep(self, rows: int) -> None:
        if rows < self.counted:
            self.counted = self.kept = 0
        self.kept += sum(length or 0 for length in self.lengths[self.counted : rows])
        self.counted = rows
        del self.lengths[rows:]
        for part in self.parts:
            part.keep(self.kept)

    def take(self) -> pa.Array:
        offsets = pa.array(accumulate((length or 0 for length in self.lengths), initial=0), pa.int32())
        absent = pa.array([length is None for length in self.lengths], pa.bool_())
        self.lengths.clear()
        self.counted = self.kept = 0
        parts = [part.take() for part in self.parts]
        kind = pa.MapArray if len(parts) > 1 else pa.ListArray
        return kind.from_arrays(offsets, *parts, type=self.type, mask=absent)


# --- which type ------------------------------------------------------------------------------------------------------


def empty_columns(reader: Type, room: Room, tags: PathTags | None = None, times: Times = PLAIN) -> Struct:
    """Empty columns for a reader's records. A value that is not a record has one column, `value`. Raises Unreadable.

    tags: of the schema's metadata.
    """
    making = _ColumnMaking(room, tags or {}, times)
    try:
        if not isinstance(reader, Record):
            return making.struct([("value", reader, avro_notes.of_type(reader))])
        making.within[reader.full] = 1
        return making.struct(making.members(reader, avro_notes.listed_tags(reader)))
    except RecursionError:
        raise Unreadable(Reason.BAD_SCHEMA, "The schema is nested too deeply.") from None


class _ColumnMaking:
    """within: how often each record stands around the place where we are."""

    def __init__(self, room: Room, tags: PathTags, times: Times) -> None:
        self.times = times
        self.room = room
        self.tags = tags
        self.within: dict[str, int] = {}
        self.budget = Budget()

    def members(self, record: Record, tags: Tags = NO_TAGS) -> Iterator[tuple[str, Type, Note]]:
        """The fields of a record. tags: of the record, where no column around it has them."""
        return ((each.name, each.type, avro_notes.of_field(record, each, self.tags, tags)) for each in record.fields)

    def struct(self, fields: Iterable[tuple[str, Type, Note]], *, union: bool = False) -> Struct:
        named = [(name, type_, note, self.column(type_)) for name, type_, note in fields]
        type_ = pa.struct(
            [pa.field(name, column.type, metadata=self.metadata(of, note, column)) for name, of, note, column in named]
        )
        return Struct(type_, {name: column for name, _, _, column in named}, union)

    def metadata(self, of: Type, note: Note, column: Column) -> dict[bytes, bytes] | None:
        return metadata_of(of, avro_notes.with_text(note, column, self.tags), self.times)

    def column(self, type_: Type) -> Column:
        self.budget.spend()
        if isinstance(type_, Union):
            return self.union(type_)
        if isinstance(type_, Record):
            return self.record(type_)
        if isinstance(type_, Array):
            items = self.column(type_.items)
            return Repeated(
                pa.list_(pa.field("item", items.type, metadata=metadata_of(type_.items))), (items,), self.room
            )
        if isinstance(type_, Map):
            values = self.column(type_.values)
            item = pa.field("value", values.type, metadata=metadata_of(type_.values))
            return Repeated(pa.map_(pa.string(), item), (Plain(pa.string()), values), self.room)
        return _plain_column(type_, self.times)

    def union(self, union: Union) -> Column:
        named = [
            (name, branch, avro_notes.of_type(branch))
            for name, branch in zip(branch_names(union), union.branches, strict=True)
            if name
        ]
        if named:
            return self.struct(named, union=True)
        return self.column(next((branch for branch in union.branches if branch.kind != "null"), union.branches[0]))

    def record(self, record: Record) -> Column:
        depth = self.within.get(record.full, 0)
        if not record.fields or depth == UNROLLED:
            return JsonColumn(record)
        self.within[record.full] = depth + 1
        try:
            return self.struct(self.members(record))
        finally:
            self.within[record.full] = depth


def _plain_column(type_: Type, times: Times) -> Column:
    if found := chosen_type(type_, times):
        return Converted(*found)
    name = logical(type_)
    if name == "decimal" and isinstance(type_, Primitive | Fixed):
        precision, scale = decimal_digits(type_)
        return Plain(pa.string()) if precision > LONGEST_DECIMAL else Plain(pa.decimal128(precision, scale), _decimals)
    if name == "uuid":
        return Plain(pa.string())
    return Plain(LOGICAL.get(name) or KINDS[type_.kind])


KINDS: Final[Mapping[str, pa.DataType]] = {
    "null": pa.string(),
    "boolean": pa.bool_(),
    "int": pa.int32(),
    "long": pa.int64(),
    "float": pa.float32(),
    "double": pa.float64(),
    "string": pa.string(),
    "bytes": pa.binary(),
    "fixed": pa.binary(),
    "enum": pa.string(),
}

LOGICAL: Final[Mapping[str, pa.DataType]] = {
    "date": pa.date32(),
    "time-millis": pa.int64(),
    "timestamp-millis": pa.timestamp("us", "UTC"),
    "timestamp-micros": pa.timestamp("us", "UTC"),
    "local-timestamp-millis": pa.timestamp("us"),
    "local-timestamp-micros": pa.timestamp("us"),
}


def _decimals(values: list[Any], type_: pa.DataType) -> pa.Array:
    """A column of unscaled numbers: put down as Arrow has them, because it takes Python's for scaled ones."""
    numbers = b"".join((value or 0).to_bytes(16, "little", signed=True) for value in values)
    present = pa.array([value is not None for value in values], pa.bool_()).buffers()[1]
    return pa.Array.from_buffers(type_, len(values), [present, pa.py_buffer(numbers)])
