"""Columns as people and engines call them: names, types in the words of an engine, comments."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

import pyarrow as pa

from sigla_pipelines.land import comments


@dataclass(frozen=True, slots=True)
class ColumnLine:
    """name: with those around it, as in `address.zip`, `items.element.sku`, `labels.value`."""

    name: str
    type: str
    comment: str


def column_lines(fields: Iterable[pa.Field], above: str = "") -> Iterator[ColumnLine]:
    """Every column, and what is within it, called as Iceberg calls it."""
    for field in fields:
        name = above + field.name
        yield ColumnLine(name, SPARK.outline(field.type), comments.written(field))
        yield from column_lines(_fields_within(field.type), f"{name}.")


def _fields_within(kind: pa.DataType) -> list[pa.Field]:
    """What has a line of its own: members, those of items and entries among them."""
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_list(kind) and _has_members(kind.value_type):
        return [pa.field("element", kind.value_type)]
    if pa.types.is_map(kind) and _has_members(kind.item_type):
        return [pa.field("value", kind.item_type)]
    return []


def _has_members(kind: pa.DataType) -> bool:
    if pa.types.is_list(kind):
        return _has_members(kind.value_type)
    return pa.types.is_struct(kind) or (pa.types.is_map(kind) and _has_members(kind.item_type))


def in_backticks(name: str) -> str:
    return "`" + name.replace("`", "``") + "`"


def in_quotes(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'


def text_sql(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


@dataclass(frozen=True, slots=True)
class Dialect:
    """How an engine writes types.

    scalars: by Arrow's names. struct, member: as format strings of {members}, and of {name} and {type}.
    """

    scalars: dict[pa.DataType, str]
    struct: str
    member: str
    listed: str
    mapped: str
    quoted: Callable[[str], str]

    def type(self, kind: pa.DataType) -> str:
        if pa.types.is_struct(kind):
            members = [self.member.format(name=self.quoted(each.name), type=self.type(each.type)) for each in kind]
            return self.struct.format(members=", ".join(members))
        if pa.types.is_list(kind):
            return self.listed.format(self.type(kind.value_type))
        if pa.types.is_map(kind):
            return self.mapped.format(self.type(kind.key_type), self.type(kind.item_type))
        if pa.types.is_decimal(kind):
            return f"decimal({kind.precision}, {kind.scale})"
        return self.scalars.get(kind, str(kind))  # others may have made a table beside ours, of any type

    def outline(self, kind: pa.DataType) -> str:
        """The type without members: they have lines of their own."""
        if pa.types.is_struct(kind):
            return "struct"
        if pa.types.is_list(kind):
            return self.listed.format(self.outline(kind.value_type))
        if pa.types.is_map(kind):
            return self.mapped.format(self.outline(kind.key_type), self.outline(kind.item_type))
        return self.type(kind)


_HIVE: Final = {
    pa.bool_(): "boolean",
    pa.int32(): "int",
    pa.int64(): "bigint",
    pa.float32(): "float",
    pa.float64(): "double",
    pa.string(): "string",
    pa.large_string(): "string",
    pa.binary(): "binary",
    pa.date32(): "date",
    pa.timestamp("us"): "timestamp",
    pa.timestamp("us", tz="UTC"): "timestamp",
    pa.time64("us"): "bigint",
}

ATHENA: Final = Dialect(_HIVE, "struct<{members}>", "{name}:{type}", "array<{}>", "map<{}, {}>", str)
SPARK: Final = Dialect(
    _HIVE | {pa.timestamp("us"): "timestamp_ntz"},
    *("struct<{members}>", "{name}: {type}", "array<{}>", "map<{}, {}>"),
    in_backticks,
)
TRINO: Final = Dialect(
    _HIVE
    | {
        pa.int32(): "integer",
        pa.float32(): "real",
        pa.string(): "varchar",
        pa.large_string(): "varchar",
        pa.binary(): "varbinary",
    },
    *("row({members})", "{name} {type}", "array({})", "map({}, {})"),
    in_quotes,
)
