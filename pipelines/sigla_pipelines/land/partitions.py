"""By what the files of an Iceberg table are partitioned, and which rows go into one file.

A field of a partition is a column, or a transform of one, in Iceberg's words: `country`, `day(created_at)`,
`bucket(16, customer_id)`. A file has rows of one value of each field, and says which: Iceberg cannot tell a bucket from
the smallest and the largest value of a file.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt
import orjson
import pyarrow as pa
import pyarrow.compute as pc

IDENTITY: Final = "identity"
_TIMES: Final = ("year", "month", "day", "hour")
_NUMBERED: Final = ("bucket", "truncate")
_DAY_US: Final = 86_400_000_000
_FIRST, _LAST = ((day - date(1970, 1, 1)).days for day in (date.min, date.max))

_COLUMN: Final = r"`[^`]+`|[^`(),\s](?:[^`(),]*[^`(),\s])?"
_FIELD: Final = re.compile(rf"\s*(?:(\w+)\(\s*(?:(\d+)\s*,\s*)?({_COLUMN})\s*\)|({_COLUMN}))\s*")
_PLAIN: Final = re.compile(r"[^`(),\s]+")


class PartitionField(NamedTuple):
    """transform: as Iceberg calls it. column: its name; of a member of a struct, with dots. number: of some."""

    transform: str
    column: str
    number: int = 0

    def __str__(self) -> str:
        column = self.column if _PLAIN.fullmatch(self.column) else f"`{self.column}`"
        if self.transform == IDENTITY:
            return column
        return f"{self.transform}({f'{self.number}, ' if self.number else ''}{column})"

    @property
    def name(self) -> str:
        """As Iceberg's libraries call it by themselves."""
        if self.transform == IDENTITY:
            return self.column
        short = "trunc" if self.transform == "truncate" else self.transform
        return f"{self.column}_{short}" + (f"_{self.number}" if self.number else "")


Fields = tuple[PartitionField, ...]

DAILY: Final[Fields] = (PartitionField("day", "_sr_ts"),)
"""The layout of a table that no setting mentions."""


class InvalidPartition(ValueError):
    """A sentence's end: what is wrong with it."""


def parse_fields(said: str | Iterable[str]) -> Fields:
    """What a text or a list says. YAML cuts a list within brackets, too. Raises InvalidPartition."""
    text = said if isinstance(said, str) else ",".join(said)
    if not text.strip():
        return ()
    found, at = [], 0
    while at <= len(text):
        match = _FIELD.match(text, at)
        if match is None or (match.end() < len(text) and text[match.end()] != ","):
            raise InvalidPartition(
                f"invalid field '{text[at:].strip()}': expected a column, or a transform as in day(created_at)"
            )
        found.append(_field(match))
        at = match.end() + 1
    _check_distinct(found)
    return tuple(found)


def text_of_fields(fields: Fields) -> str:
    """What `parse_fields` reads."""
    return ", ".join(map(str, fields))


def text_of_columns(columns: Iterable[str]) -> str:
    """What `names` reads."""
    return text_of_fields(tuple(PartitionField(IDENTITY, column) for column in columns))


def names(said: str | Iterable[str]) -> tuple[str, ...]:
    """Columns alone, as to sort by. Raises InvalidPartition."""
    fields = parse_fields(said)
    if odd := next((field for field in fields if field.transform != IDENTITY), None):
        raise InvalidPartition(f"cannot sort by {odd}: expected a column without a transform")
    return tuple(field.column for field in fields)


def _field(match: re.Match[str]) -> PartitionField:
    transform, number, inner, alone = match.groups()
    column = (inner or alone).strip("`")
    if alone:
        return PartitionField(IDENTITY, column)
    if transform not in (*_TIMES, *_NUMBERED, IDENTITY):
        valid = ", ".join((*_TIMES, "bucket(N, column)", "truncate(N, column)"))
        raise InvalidPartition(f"unknown transform {transform}. Valid transforms: {valid}, or a column alone")
    if (transform in _NUMBERED) != bool(number):
        example = f"{transform}({'16, ' if transform in _NUMBERED else ''}{column})"
        raise InvalidPartition(f"invalid transform '{match[0].strip()}': expected a form like {example}")
    if number and not 0 < int(number) < 2**31:
        raise InvalidPartition(f"{match[0].strip()}: expected a number from 1 to 2147483647")
    return PartitionField(transform, column, int(number or 0))


def _check_distinct(fields: list[PartitionField]) -> None:
    """Iceberg takes one of the transforms of time for each column, and every other field once."""
    kinds = [("time", field.column, 0) if field.transform in _TIMES else field for field in fields]
    for at, kind in enumerate(kinds):
        if kind in kinds[:at]:
            raise InvalidPartition(f"{fields[at]} is beside {fields[kinds.index(kind)]}: write one of them")


# What each transform takes


def _is_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_string(kind) or pa.types.is_large_string(kind) or pa.types.is_binary(kind))


def _is_moment(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_date32(kind))


def _is_whole(kind: pa.DataType) -> bool:
    return bool(pa.types.is_signed_integer(kind))


_TAKEN: Final[dict[str, tuple[str, Callable[[pa.DataType], bool]]]] = {
    **dict.fromkeys(_TIMES[:3], ("dates and timestamps", _is_moment)),
    "hour": ("timestamps", pa.types.is_timestamp),
    "truncate": ("whole numbers, texts and bytes", lambda kind: _is_whole(kind) or _is_text(kind)),
    "bucket": (
        "whole numbers, decimals, texts, bytes, dates and times",
        lambda kind: _is_whole(kind) or _is_text(kind) or _is_moment(kind) or _is_other(kind),
    ),
    # A moment's partition would be read instead of it, and some have none; a float is equal to nothing for sure.
    IDENTITY: (
        "whole numbers, decimals, texts, bytes and booleans; for dates and timestamps write day(…)",
        lambda kind: (
            _is_whole(kind) or _is_text(kind) or bool(pa.types.is_boolean(kind) or pa.types.is_decimal128(kind))
        ),
    ),
}


def _is_other(kind: pa.DataType) -> bool:
    return bool(pa.types.is_decimal128(kind) or pa.types.is_time64(kind))


def misfit(field: PartitionField, kind: pa.DataType) -> str | None:
    """Why a column of this type does not suit the field; None if it does."""
    if field.transform not in _TAKEN:
        return f"landing does not write {field.transform}"
    takes, fits = _TAKEN[field.transform]
    return None if fits(kind) else f"{field.column} has the type {kind}, and {field.transform} takes {takes}"


# The rows of a file


@lru_cache(maxsize=10_000)
def path(columns: tuple[pa.Field, ...], column: str) -> tuple[int, ...] | None:
    """Where a column is, from struct to struct; None if it does not exist."""
    for at, each in enumerate(columns):
        if each.name == column:
            return (at,)
    for at, each in enumerate(columns):
        if pa.types.is_struct(each.type) and column.startswith(f"{each.name}."):
            below = path(tuple(each.type), column.removeprefix(f"{each.name}."))
            if below is not None:
                return (at, *below)
    return None


def column_of(rows: pa.RecordBatch | pa.Table, column: str) -> Any:
    """Its values, null where a struct above it is. Raises KeyError."""
    found = path(tuple(rows.schema), column)
    if found is None:
        raise KeyError(column)
    return pc.struct_field(rows.column(found[0]), [*found[1:]]) if found[1:] else rows.column(found[0])


def split(rows: pa.RecordBatch, fields: Fields) -> Iterator[tuple[str, pa.RecordBatch]]:
    """The rows of each partition, in their order, with its values as `decode_values` reads them."""
    if not fields or not len(rows):
        yield "[]", rows
        return
    several = [values(field, column_of(rows, field.column)) for field in fields]
    codes = np.zeros(len(rows), np.int64)
    for each in several:
        coded = each.dictionary_encode()
        own = coded.indices.fill_null(len(coded.dictionary)).to_numpy().astype(np.int64)
        # Made dense again each time: of many fields the product is beyond a number.
        _, codes = np.unique(codes * (len(coded.dictionary) + 1) + own, return_inverse=True)
    order = np.argsort(codes, kind="stable")
    for some in np.split(order, np.flatnonzero(np.diff(codes[order])) + 1):
        said = encoded([each[int(some[0])].as_py() for each in several])
        # Copied: a few rows that wait for others must not hold on to all that they came with.
        yield said, rows if len(some) == len(rows) else rows.take(pa.array(some))


def values(field: PartitionField, column: pa.Array) -> pa.Array:
    """The field's value for each row, as Iceberg stores it; null where the column is."""
    if field.transform == IDENTITY:
        return column
    if field.transform in _TIMES:
        missing = column.is_null().to_numpy(zero_copy_only=False)
        stored = column.view(pa.int32() if pa.types.is_date32(column.type) else pa.int64()).cast(pa.int64())
        numbers = _periods(field.transform, stored.fill_null(0).to_numpy(), are_days=pa.types.is_date32(column.type))
        return pa.array(numbers, mask=missing)
    coded = _as_stored(column).dictionary_encode()
    transformed = [_iceberg(field, column.type)(value) for value in coded.dictionary.to_pylist()]
    kind = pa.int32() if field.transform == "bucket" else coded.dictionary.type
    return pa.array(transformed, kind).take(coded.indices)


def days(moments: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The days of moments, in microseconds since 1970: days since then, of the years 1 to 9999.

    What is before or after them, by a producer's error, is of the first or the last: pyiceberg knows no other days.
    """
    return np.clip(moments // _DAY_US, _FIRST, _LAST)


def _periods(transform: str, stored: npt.NDArray[np.int64], *, are_days: bool) -> npt.NDArray[np.int64]:
    if transform == "hour":
        return np.clip(stored // (_DAY_US // 24), _FIRST * 24, _LAST * 24 + 23)
    found = np.clip(stored, _FIRST, _LAST) if are_days else days(stored)
    if transform == "day":
        return found
    return found.astype("datetime64[D]").astype(f"datetime64[{transform[0].upper()}]").astype(np.int64)


def _as_stored(column: pa.Array) -> pa.Array:
    """Moments as numbers: some are of no year that Python has."""
    if pa.types.is_date32(column.type):
        return column.view(pa.int32())
    return column.view(pa.int64()) if pa.types.is_timestamp(column.type) or pa.types.is_time64(column.type) else column


@lru_cache(maxsize=1_000)
def _iceberg(field: PartitionField, kind: pa.DataType) -> Callable[[Any], Any]:
    """The transform of one value."""
    from pyiceberg.io.pyarrow import pyarrow_to_schema  # noqa: PLC0415 - pyiceberg costs a second
    from pyiceberg.table.name_mapping import NameMapping  # noqa: PLC0415 - the same
    from pyiceberg.transforms import parse_transform  # noqa: PLC0415 - the same

    mapping = NameMapping.model_validate([{"field-id": 1, "names": ["v"]}])
    [source] = pyarrow_to_schema(pa.schema([pa.field("v", kind)]), mapping).fields
    apply = parse_transform(f"{field.transform}[{field.number}]").transform(source.field_type)
    if field.transform == "truncate" and pa.types.is_signed_integer(kind):
        # Below the smallest number it goes on at the largest, as in Java.
        bits = kind.bit_width
        return lambda value: (apply(value) + (half := 1 << (bits - 1))) % (2 * half) - half
    return apply


# Values in a manifest


def encoded(several: Iterable[Any]) -> str:
    """The values of a partition, as text."""
    return orjson.dumps([_json_value(value) for value in several]).decode()


def _json_value(value: Any) -> Any:
    return value.hex() if isinstance(value, bytes) else str(value) if isinstance(value, Decimal) else value


def decode_values(said: str) -> list[Any]:
    """What `encoded` wrote. Bytes and decimals are texts still: their field's type tells."""
    found: list[Any] = orjson.loads(said)
    return found
