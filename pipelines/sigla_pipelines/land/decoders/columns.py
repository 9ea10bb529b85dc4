"""Lists of values → Arrow arrays, a column at a time: what languages without an encoding of their own have in common.

A column knows its type and builds an array of a list in which None stands for null. Everything may be null: tables
hold tombstones, and grow.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from itertools import accumulate, chain
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla.decoding.decoder import DecodeFailed, Limits, Unreadable
from sigla.decoding.reasons import NUMBERS, Reason
from sigla_pipelines.land.decoders.decoder import Decoded
from sigla_pipelines.land.decoders.notes import NOTHING, Note

UNROLLED: Final = 2
"""How often a type may stand within itself as columns, itself included; where it would once more there is JSON text."""

MAX_COLUMNS: Final = 10_000
"""Types used again and again within each other multiply; such a table would be useless."""

Values = Sequence[Any]

LONGEST_DETAIL: Final = 500
"""Characters of a sentence about a value, which may quote it."""


class Unfit(ValueError):
    """path: the names of the struct's members on the way to the column."""

    def __init__(self, path: tuple[str, ...], why: str) -> None:
        super().__init__(f"{'.'.join(path)}: {why}")
        self.path = path
        self.why = why


UNFIT: Final = (pa.ArrowException, OverflowError, TypeError, ValueError)
"""What building raises where a value does not fit, beside DecodeFailed."""


@dataclass(frozen=True, slots=True)
class Column:
    """build: an array of this type, as long as the list. Raises DecodeFailed, or one of UNFIT. members: of a struct.

    count: how many values there are in all columns then, those of items and entries among them. Raises TypeError for a
    value of another shape. width: columns below, itself among them.
    """

    type: pa.DataType
    build: Callable[[Values], pa.Array]
    members: "Sequence[StructMember]" = ()
    count: Callable[[Values], int] = len
    width: int = 1


@dataclass(frozen=True, slots=True)
class StructMember:
    """One member of a struct. get: the value within the value of the struct, None if it has none."""

    name: str
    get: Callable[[Any], Any]
    column: Column
    note: Note = NOTHING


def scalar(type: pa.DataType, convert: Callable[[Any], Any] | None = None) -> Column:
    """convert: what becomes of a value that is there."""
    if convert is None:
        return Column(type, lambda values: pa.array(values, type))
    return Column(type, lambda values: pa.array([None if each is None else convert(each) for each in values], type))


def struct(members: Sequence[StructMember]) -> Column:
    kind = pa.struct([pa.field(member.name, member.column.type, metadata=member.note.metadata) for member in members])

    def build(values: Values) -> pa.Array:
        there = [value for value in values if value is not None]
        if not members:
            return _spread(pa.array([{}] * len(there), kind), values)
        arrays = [_member(member, there) for member in members]
        return _spread(pa.StructArray.from_arrays(arrays, fields=list(kind)), values)

    def count(values: Values) -> int:
        there = [value for value in values if value is not None]
        plain = sum(member.column.count is len for member in members)
        nested = (member for member in members if member.column.count is not len)
        inner = sum(member.column.count(list(map(member.get, there))) for member in nested)
        return len(values) + len(there) * plain + inner

    return Column(kind, build, members, count, 1 + sum(member.column.width for member in members))


def _member(member: StructMember, values: Values) -> pa.Array:
    try:
        return member.column.build(list(map(member.get, values)))
    except Unfit as unfit:
        raise Unfit((member.name, *unfit.path), unfit.why) from None
    except UNFIT as error:
        raise Unfit((member.name,), str(error)) from None


def listed(items: Column) -> Column:
    kind = pa.list_(items.type)

    def build(values: Values) -> pa.Array:
        there = [value for value in values if value is not None]
        offsets = pa.array(accumulate(map(len, there), initial=0), pa.int32())
        inner = items.build(list(chain.from_iterable(there)))
        return _spread(pa.ListArray.from_arrays(offsets, inner, type=kind), values)

    def count(values: Values) -> int:
        there = [value for value in values if value is not None]
        return len(values) + items.count(list(chain.from_iterable(there)))

    return Column(kind, build, count=count, width=1 + items.width)


def mapped(keys: Column, items: Column) -> Column:
    """A column of values that are lists of pairs; no key occurs twice or is null."""
    kind = pa.map_(keys.type, items.type)

    def build(values: Values) -> pa.Array:
        there = [value for value in values if value is not None]
        offsets = pa.array(accumulate(map(len, there), initial=0), pa.int32())
        pairs = list(chain.from_iterable(there))
        key, item = keys.build([key for key, _ in pairs]), items.build([item for _, item in pairs])
        return _spread(pa.MapArray.from_arrays(offsets, key, item, type=kind), values)

    def count(values: Values) -> int:
        pairs = list(chain.from_iterable(value for value in values if value is not None))
        return len(values) + len(pairs) + items.count([item for _, item in pairs])

    return Column(kind, build, count=count, width=1 + keys.width + items.width)


def _spread(array: pa.Array, values: Values) -> pa.Array:
    """The array of those values that are there, with nulls where none is."""
    if len(array) == len(values):
        return array
    there = np.fromiter((value is not None for value in values), np.bool_, len(values))
    return array.take(pa.array(np.cumsum(there) - 1, mask=~there))


def check_count(record: Column, value: Any, size: int, limits: Limits) -> None:
    """Whether a value fits into columns without becoming gigabytes. size: of its payload. Raises DecodeFailed.

    Whatever may be there many times takes a byte at least; so hardly any record need be counted.
    """
    if size * record.width <= limits.values:
        return
    try:
        values = record.count([value])
    except TypeError:
        return  # building the columns tells where the shape is another
    if values > limits.values:
        raise DecodeFailed(Reason.TOO_LARGE, f"{values} values, and {limits.values} are allowed")


Diagnose = Callable[[int], DecodeFailed | None]
"""What is wrong with the row of this number, where its bytes tell."""


def decoded(
    record: Column,
    values: Sequence[Any],
    failures: Mapping[int, DecodeFailed],
    diagnose: Diagnose = lambda _row: None,
    *,
    made: Mapping[str, pa.Array] | None = None,
) -> Decoded:
    """record: a struct. values: one for each row, None where `failures` says why. made: columns that are there already.

    A row of which something does not fit fails, and no other.
    """
    found = dict(failures)
    made = made or {}
    arrays = [
        made[member.name] if member.name in made else _fitting(member, values, found, diagnose)
        for member in record.members
    ]
    if arrays:
        nulls = np.zeros(len(values), bool)
        nulls[list(found)] = True
        rows = pa.StructArray.from_arrays(arrays, fields=list(record.type), mask=pa.array(nulls))
    else:
        rows = pa.array([None if row in found else {} for row in range(len(values))], record.type)
    return with_failures(rows, found)


def all_fine(rows: pa.Array) -> Decoded:
    nothing = pa.nulls(len(rows), pa.int32()), pa.nulls(len(rows), pa.string())
    return Decoded(rows, pa.array(np.zeros(len(rows), np.int8)), *nothing)


def with_failures(rows: pa.Array, failures: Mapping[int, DecodeFailed]) -> Decoded:
    """rows: null where one failed. failures: by row."""
    if not failures:
        return all_fine(rows)
    status = np.zeros(len(rows), np.int8)
    at: list[int | None] = [None] * len(rows)
    detail: list[str | None] = [None] * len(rows)
    for row, failure in failures.items():
        status[row] = NUMBERS[failure.reason]
        at[row] = failure.at
        detail[row] = failure.detail
    return Decoded(rows, pa.array(status), pa.array(at, pa.int32()), pa.array(detail, pa.string()))


def woven(rows: pa.Array, at: npt.NDArray[np.int64], others: Decoded) -> Decoded:
    """rows: all. at: the places of those of which others tells more; all else are fine."""
    where = np.full(len(rows), -1, np.int64)
    where[at] = np.arange(len(at))
    places = pa.array(where, mask=where < 0)
    status = np.zeros(len(rows), np.int8)
    status[at] = others.status
    return Decoded(rows, pa.array(status), others.at.take(places), others.detail.take(places))


def _fitting(member: StructMember, values: Values, failures: dict[int, DecodeFailed], diagnose: Diagnose) -> pa.Array:
    """The column of a member; where something does not fit, each value is tried by itself."""
    try:
        return member.column.build([None if value is None else member.get(value) for value in values])
    except (DecodeFailed, *UNFIT):
        misfits = {row: _misfit(member, value) for row, value in enumerate(values) if value is not None}
    for row, failed in misfits.items():
        if failed and row not in failures:
            failures[row] = diagnose(row) or failed
    some = [None if value is None or misfits[row] else member.get(value) for row, value in enumerate(values)]
    return member.column.build(some)


def _misfit(member: StructMember, value: Any) -> DecodeFailed | None:
    try:
        _member(member, [value])
    except DecodeFailed as failed:
        return failed
    except Unfit as unfit:
        return DecodeFailed(Reason.INCOMPATIBLE_READER, f"does not fit: {unfit}"[:LONGEST_DETAIL])
    return None


class Budget:
    """Counts the columns of one reader. Raises Unreadable beyond MAX_COLUMNS."""

    def __init__(self) -> None:
        self.left = MAX_COLUMNS

    def spend(self) -> None:
        self.left -= 1
        if self.left < 0:
            raise Unreadable(Reason.BAD_SCHEMA, f"the schema has more than {MAX_COLUMNS} columns")
