"""The columns of a table: how they follow their readers, and how a reader's rows are put into them.

A table only grows. A new member is a column more; int32, float32 and narrower decimals are widened; a member that has
changed its type otherwise goes into a column of its own, `name__v<version>`, and one that is gone leaves nulls behind.
JSON text is a type, and another than that of strings.
A comment follows the newest reader that has one.
So whatever was landed under an older schema can be read with every later one. All of it holds within structs, lists
and the values of maps, too. Everything may be null: a tombstone has no value, and a later reader may miss a member.
"""

import re
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import Any, Final

import pyarrow as pa

from sigla_pipelines.land.comments import comment_line, comment_of, commented
from sigla_pipelines.land.decoders.notes import note_of
from sigla_pipelines.land.landed import KEY
from sigla_pipelines.land.raw import RAW

SYSTEM: Final = pa.schema(
    [
        pa.field("_sr_topic", pa.string(), nullable=False),
        pa.field("_sr_partition", pa.int32(), nullable=False),
        pa.field("_sr_offset", pa.int64(), nullable=False),
        pa.field("_sr_ts", pa.timestamp("us", tz="UTC"), nullable=False),
        pa.field("_sr_key", pa.binary()),
        pa.field("_sr_headers", RAW.field("headers").type),
        pa.field("_sr_schema_id", pa.int32()),
        pa.field("_sr_reader_version", pa.int32()),
        pa.field("_sr_op", pa.string()),
        pa.field("_sr_batch", pa.int64()),
    ]
)
"""Behind the columns of every typed table. _sr_op: `U`, or `D` of a tombstone."""


class Evolve(Enum):
    """What a table does when its reader has changed."""

    ADD = "add"
    PIN = "pin"
    """It stays as it is; what has no place in it is not landed."""


@dataclass(frozen=True, slots=True)
class TargetTable:
    """Where the rows of a batch go. schema: the columns of the values, without ours, all nullable."""

    schema: pa.Schema


def beside_key(kind: pa.StructType) -> pa.StructType:
    """A value's type in a table that has its keys, too: a member of its own called `_key` is `_key__value` there."""
    return pa.struct([each.with_name(beside_key_name(each.name)) for each in kind])


def beside_key_name(path: str) -> str:
    """What a column of a value is called there, or one within it."""
    name, dot, within = path.partition(".")
    return f"{name}__value{dot}{within}" if name.casefold() == KEY else path


def evolve(present: pa.Schema | None, reader: pa.StructType, *, version: int, policy: Evolve = Evolve.ADD) -> pa.Schema:
    """The columns that a table needs for one more reader; those of several are found one after another.

    present: None if the table does not exist yet. version: the reader's in its subject; it names columns.
    """
    if present is None:
        return pa.schema(_merged((), _struct_members(reader), version, _RESERVED))
    if policy is Evolve.PIN:
        return present
    return pa.schema(_merged(tuple(present), _struct_members(reader), version, _RESERVED))


def project(rows: pa.StructArray, target: TargetTable) -> list[pa.Array]:
    """The rows of any reader of the table, column by column, in the order of `target.schema`.

    What has no column is left out (see `dropped_members`); a column without a member, and a null row, are null.
    """
    return _filled(rows, tuple(target.schema))


def dropped_members(reader: pa.StructType, target: TargetTable) -> tuple[str, ...]:
    """The members of a reader that have no column, as in `address.zip`; empty unless the table is pinned."""
    return tuple(_without_place(_struct_members(reader), tuple(target.schema)))


_RESERVED: Final = frozenset(SYSTEM.names)
_VERSIONED: Final = re.compile(r"(__v\d+)+")

Fields = Sequence[pa.Field]


def _merged(columns: Fields, members: Fields, version: int, reserved: frozenset[str] = frozenset()) -> list[pa.Field]:
    """The columns with room for all members, in their old order, the new ones behind."""
    merged = list(columns)
    places = _places(columns, members, lambda column, member: _wider(column, member, version) is not None)
    for place, member in zip(places, members, strict=True):
        if place is not None:
            wider = merged[place].with_type(_wider(merged[place].type, member.type, version))
            merged[place] = _commented(wider, member)
    # Spark does not tell names apart by their case. A column that can have its own name takes it before others look for
    # one.
    taken = {name.casefold() for name in reserved} | {column.name.casefold() for column in columns}
    left = [member for place, member in zip(places, members, strict=True) if place is None]
    unnamed = []
    for member in left:
        if member.name.casefold() in taken:
            unnamed.append(member)
        else:
            taken.add(member.name.casefold())
            merged.append(_commented(pa.field(member.name, _relaxed(member.type, version)), member))
    for member in unnamed:
        name = member.name
        while name.casefold() in taken:
            name += f"__v{version}"
        taken.add(name.casefold())
        merged.append(_commented(pa.field(name, _relaxed(member.type, version)), member))
    return merged


def _commented(column: pa.Field, member: pa.Field) -> pa.Field:
    """With the member's comment; where it has none the column keeps its own."""
    return commented(column, comment_line(note_of(member)) or comment_of(column))


def _places(columns: Fields, members: Fields, fits: Callable[[pa.DataType, pa.DataType], bool]) -> list[int | None]:
    """For each member its column: of its own name, or else the newest of its name with a version; each column once."""
    found: list[int | None] = [None] * len(members)
    free = {column.name: number for number, column in enumerate(columns)}
    for at, member in enumerate(members):
        number = free.get(member.name)
        if number is not None and fits(columns[number].type, member.type):
            found[at] = free.pop(member.name)
    # The longest name first: `a__v2__v3` may be a version of a member `a__v2` as well as of `a`, which has others.
    for at, member in sorted(enumerate(members), key=lambda each: -len(each[1].name)):
        if found[at] is None:
            for name in reversed([name for name in free if _is_version_of(name, member.name)]):
                if fits(columns[free[name]].type, member.type):
                    found[at] = free.pop(name)
                    break
    return found


def _is_version_of(name: str, member: str) -> bool:
    return name.startswith(member) and _VERSIONED.fullmatch(name, len(member)) is not None


def _wider(column: pa.DataType, member: pa.DataType, version: int) -> pa.DataType | None:
    """The type that holds what both do; None if a table cannot be widened to one."""
    if pa.types.is_struct(column) and pa.types.is_struct(member):
        return pa.struct(_merged(_struct_members(column), _struct_members(member), version))
    if _is_list(column) and _is_list(member):
        item = _wider(column.value_type, member.value_type, version)
        return None if item is None else pa.list_(item)
    if pa.types.is_map(column) and pa.types.is_map(member):
        item = _wider(column.item_type, member.item_type, version) if column.key_type == member.key_type else None
        return None if item is None else pa.map_(column.key_type, item)
    return _wider_scalar(column, member)


_WIDENED: Final = {(pa.int32(), pa.int64()), (pa.float32(), pa.float64())}
"""Source: the Iceberg table specification, "Schema Evolution"; decimals beside them."""


def _wider_scalar(column: pa.DataType, member: pa.DataType) -> pa.DataType | None:
    if column == member or (member, column) in _WIDENED:
        return column
    if (column, member) in _WIDENED:
        return member
    if pa.types.is_decimal128(column) and pa.types.is_decimal128(member) and column.scale == member.scale:
        return max(column, member, key=lambda decimal: int(decimal.precision))
    return None


def _fits(column: pa.DataType, member: pa.DataType) -> bool:
    """Whether the values of a member have a place in a column as it is. In a struct some of them may not."""
    if pa.types.is_struct(column) and pa.types.is_struct(member):
        return True
    if _is_list(column) and _is_list(member):
        return _fits(column.value_type, member.value_type)
    if pa.types.is_map(column) and pa.types.is_map(member):
        return bool(column.key_type == member.key_type) and _fits(column.item_type, member.item_type)
    return bool(_wider_scalar(column, member) == column)


def _relaxed(kind: pa.DataType, version: int) -> pa.DataType:
    """The type with everything in it nullable, and lists and maps in one spelling."""
    if pa.types.is_struct(kind):
        return pa.struct(_merged((), _struct_members(kind), version))
    if _is_list(kind):
        return pa.list_(_relaxed(kind.value_type, version))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _relaxed(kind.item_type, version))
    return kind


def _is_list(kind: pa.DataType) -> bool:
    return bool(pa.types.is_list(kind) or pa.types.is_large_list(kind))


def _struct_members(kind: pa.StructType) -> tuple[pa.Field, ...]:
    return tuple(kind.field(number) for number in range(kind.num_fields))


def _without_place(members: Fields, columns: Fields, above: str = "") -> Iterable[str]:
    for place, member in zip(_places(columns, members, _fits), members, strict=True):
        if place is None:
            yield above + member.name
        else:
            yield from _dropped_within(member.type, columns[place].type, f"{above}{member.name}.")


def _dropped_within(member: pa.DataType, column: pa.DataType, above: str) -> Iterable[str]:
    if pa.types.is_struct(member):
        yield from _without_place(_struct_members(member), _struct_members(column), above)
    elif _is_list(member):
        yield from _dropped_within(member.value_type, column.value_type, above)
    elif pa.types.is_map(member):
        yield from _dropped_within(member.item_type, column.item_type, above)


@lru_cache(maxsize=10_000)
def _sources(columns: tuple[pa.Field, ...], kind: pa.StructType) -> tuple[int | None, ...]:
    """For each column the member that fills it."""
    places = _places(columns, _struct_members(kind), _fits)
    return tuple(places.index(number) if number in places else None for number in range(len(columns)))


def _filled(rows: pa.StructArray, columns: tuple[pa.Field, ...]) -> list[pa.Array]:
    members = rows.flatten()  # null where the row is
    return [
        pa.nulls(len(rows), column.type) if source is None else _conformed(members[source], column.type)
        for source, column in zip(_sources(columns, rows.type), columns, strict=True)
    ]


def _conformed(array: Any, kind: pa.DataType) -> pa.Array:
    """The same values under a type that they fit."""
    if array.type == kind:
        return array
    if pa.types.is_struct(kind):
        columns = _struct_members(kind)
        return pa.StructArray.from_arrays(_filled(array, columns), fields=list(columns), mask=array.is_null())
    if _is_list(kind):
        offsets, first, last = _offsets(array)
        items = _conformed(array.values.slice(first, last - first), kind.value_type)
        return pa.ListArray.from_arrays(offsets, items, type=kind, mask=array.is_null())
    if pa.types.is_map(kind):
        offsets, first, last = _offsets(array)
        names = array.keys.slice(first, last - first)
        items = _conformed(array.items.slice(first, last - first), kind.item_type)
        return pa.MapArray.from_arrays(offsets, names, items, type=kind, mask=array.is_null())
    return array.cast(kind)


def _offsets(array: Any) -> tuple[pa.Array, int, int]:
    """The offsets of a list or a map counted from its first item, and which items of all they reach over."""
    offsets = array.offsets.to_numpy()
    first, last = int(offsets[0]), int(offsets[-1])
    return pa.array(offsets - first, pa.int32()), first, last
