"""Columns that are not landed as they are: by a tag of the schema, or by name, they are hashed, masked or dropped.

Or they are numbers that become timestamps, which hides nothing and is the mildest of these.

It happens between decoding and writing, so that no file of a typed table ever has the value. The quarantine is another
matter: it keeps whole records, as they came.

    timestamp  the column is a timestamp of the number that it was, in a unit
    drop    the column is left out; a struct of which nothing is left goes, too
    mask    the column is text: `***` where there is a value, whatever it is and however many items it has
    hash    every value in the column is text: its HMAC-SHA-256, in hexadecimal digits; members, items, keys and
            values of maps each by themselves, so that columns can still be joined and counted

Null stays null. Where several rules speak of a column, the strictest of them holds; what it says of a column holds for
all that is in it.
"""

import hmac
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from enum import Enum
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sigla_pipelines.land import moments
from sigla_pipelines.land.decoders.notes import note_of
from sigla_pipelines.land.landed import KEY
from sigla_pipelines.land.moments import Unit

MASK: Final = "***"
KEY_BYTES: Final = "_sr_key"
HEADERS: Final = "_sr_headers"


class Do(Enum):
    """What is done, from the mildest to the strictest."""

    TIMESTAMP = "timestamp"
    HASH = "hash"
    MASK = "mask"
    DROP = "drop"


_STRICTNESS: Final = {do: number for number, do in enumerate(Do)}


@dataclass(frozen=True, slots=True)
class ColumnRule:
    """What is done with columns that have a tag, or that are called so. table: the only one it is about; else all.

    unit: of numbers that become timestamps.
    """

    do: Do
    tag: str = ""
    column: str = ""
    table: str = ""
    unit: Unit | None = None

    def holds(self, table: str, path: str, tags: Iterable[str]) -> bool:
        if self.table not in ("", table):
            return False
        return self.tag in tags if self.tag else self.column == path


@dataclass(frozen=True, slots=True)
class Protection:
    """key: of the hashes; never shown, and in no manifest."""

    rules: tuple[ColumnRule, ...] = ()
    key: bytes = field(default=b"", repr=False)

    @property
    def makes_timestamps(self) -> bool:
        return any(rule.do is Do.TIMESTAMP for rule in self.rules)

    def called(self, names: Mapping[str, str]) -> "Protection":
        """The same of tables as they are called. names: by what `bind` calls them; a rule may say either."""
        others = [replace(rule, table=names[rule.table]) for rule in self.rules if rule.table in names]
        return replace(self, rules=tuple(dict.fromkeys((*self.rules, *others))))

    def type(self, kind: pa.StructType, table: str, above: str = "") -> pa.StructType:
        """The columns of a table that a reader's columns become. above: the path to them, with a dot."""
        return pa.struct(self._fields(kind, table, above)) if self.rules else kind

    def rows(self, rows: pa.StructArray, noted: pa.StructType, table: str, above: str = "") -> pa.StructArray:
        """The rows under that type. noted: the reader's own type, whose notes say what has which tag."""
        return self._members(rows, noted, table, above) if self.rules else rows

    def strictest(self, kind: pa.DataType, table: str, path: str) -> Do | None:
        """The strictest of all that is done with a column, or with anything in it."""
        inner = _members_of(kind, path)
        found = [self.of(column, table, name) for column, name in inner]
        found += [self.strictest(column.type, table, name) for column, name in inner]
        return _strictest(found)

    def hidden(self, kind: pa.DataType, table: str, path: str = "", above: str = "") -> Iterator[str]:
        """What is not landed as it is, as in `address.zip`: what is in items of lists and maps has the path of these.

        path, above: to what is within `kind`, as rules and as we call it.
        """
        for column, name in _members_of(kind, path):
            if self.of(column, table, name):
                yield f"{above}{column.name}"
            else:
                yield from self.hidden(column.type, table, name, f"{above}{column.name}.")

    def masked(self, kind: pa.DataType, table: str, path: str = "") -> Iterator[str]:
        """The names of columns, and of what is in them, whose values would all be equal."""
        for column, name in _members_of(kind, path):
            if self.of(column, table, name) is Do.MASK:
                yield column.name
            else:
                yield from self.masked(column.type, table, name)

    def of(self, column: pa.Field, table: str, path: str) -> Do | None:
        tags = note_of(column).tags
        return _strictest(rule.do for rule in self.rules if rule.holds(table, path, tags))

    def untimed(self, kind: pa.DataType, table: str, path: str = "") -> Iterator[tuple[str, pa.DataType]]:
        """The columns that are to be timestamps and hold no whole numbers, with their types."""
        for column, name in _members_of(kind, path):
            do = self.of(column, table, name)
            if do is Do.TIMESTAMP and moments.timed(column.type) is None:
                yield name, column.type
            elif do is None:
                yield from self.untimed(column.type, table, name)

    def unfit(self, rows: pa.StructArray, noted: pa.StructType, table: str, above: str = "") -> Iterator["Unfit"]:
        """Numbers that a timestamp cannot be made of: which rows, by their places, and why."""
        yield from self._unfit_members(rows, noted, table, above, np.arange(len(rows)))

    def of_key(self, kinds: Iterable[pa.DataType], table: str) -> Do | None:
        """What is done with the raw bytes of keys. kinds: what they are decoded as."""
        found = [self._named(KEY_BYTES, table)]
        for kind in kinds:
            column = pa.field(KEY, kind)
            found += [self.of(column, table, KEY), self.strictest(kind, table, KEY)]
        return _strictest(found)

    def headers(self, values: pa.Array, table: str) -> pa.Array:
        return values if self._named(HEADERS, table) is None else pa.nulls(len(values), values.type)

    def _named(self, column: str, table: str) -> Do | None:
        return self.of(pa.field(column, pa.binary()), table, column)

    def key_bytes(self, do: Do | None, values: pa.Array) -> pa.Array:
        """The raw bytes of keys."""
        match do:
            case None | Do.TIMESTAMP:
                return values
            case Do.DROP:
                return pa.nulls(len(values), values.type)
            case Do.MASK:
                hidden: list[bytes | None] = [None if value is None else MASK.encode() for value in values.to_pylist()]
            case Do.HASH:
                hidden = [None if value is None else self._digest(value) for value in values.to_pylist()]
        return pa.array(hidden, values.type)

    # --- types -------------------------------------------------------------------------------------------------------

    def _fields(self, kind: pa.StructType, table: str, above: str) -> list[pa.Field]:
        found = []
        for column in kind:
            path = f"{above}{column.name}"
            do = self.of(column, table, path)
            made = _done_type(column.type, do) if do else self._inner_type(column.type, table, path)
            if made is not None:
                found.append(column.with_type(made))
        return found

    def _inner_type(self, kind: pa.DataType, table: str, path: str) -> pa.DataType | None:
        """None where nothing is left of it."""
        if pa.types.is_struct(kind):
            members = self._fields(kind, table, f"{path}.")
            return pa.struct(members) if members or not kind.num_fields else None
        if pa.types.is_list(kind):
            item = self._inner_type(kind.value_type, table, f"{path}.element")
            return None if item is None else pa.list_(item)
        if pa.types.is_map(kind):
            item = self._inner_type(kind.item_type, table, f"{path}.value")
            return None if item is None else pa.map_(kind.key_type, item)
        return kind

    # --- values ------------------------------------------------------------------------------------------------------

    def _members(self, rows: pa.StructArray, noted: pa.StructType, table: str, above: str) -> pa.StructArray:
        arrays, kinds = [], []
        for column, values in zip(noted, rows.flatten(), strict=True):
            path = f"{above}{column.name}"
            do = self.of(column, table, path)
            unit = self._unit(column, table, path)
            made = self._done(values, do, unit) if do else self._inner(values, column.type, table, path)
            if made is not None:
                arrays.append(made)
                kinds.append(column.with_type(made.type))
        if not arrays:
            return pa.array([None if absent else {} for absent in rows.is_null().to_pylist()], pa.struct([]))
        return pa.StructArray.from_arrays(arrays, fields=kinds, mask=rows.is_null())

    def _inner(self, values: Any, noted: pa.DataType, table: str, path: str) -> pa.Array | None:
        if self._inner_type(noted, table, path) is None:
            return None
        if pa.types.is_struct(noted):
            return self._members(values, noted, table, f"{path}.")
        if pa.types.is_list(noted):
            items = self._inner(_items(values, values.values), noted.value_type, table, f"{path}.element")
            return _list(values, items)
        if pa.types.is_map(noted):
            items = self._inner(_items(values, values.items), noted.item_type, table, f"{path}.value")
            return _map(values, _items(values, values.keys), items)
        return values

    def _unit(self, column: pa.Field, table: str, path: str) -> Unit:
        tags = note_of(column).tags
        found = (rule.unit for rule in self.rules if rule.unit and rule.holds(table, path, tags))
        return next(found, Unit.MILLIS)

    def _done(self, values: Any, do: Do, unit: Unit) -> pa.Array | None:
        if do is Do.DROP:
            return None
        if do is Do.TIMESTAMP:
            return _timed(values, unit)
        if do is Do.MASK:
            return pc.if_else(values.is_valid(), MASK, pa.scalar(None, pa.string()))
        return self._hashed(values)

    def _hashed(self, values: Any) -> pa.Array:
        kind = values.type
        if pa.types.is_struct(kind):
            arrays = [self._hashed(each) for each in values.flatten()]
            fields = [column.with_type(each.type) for column, each in zip(kind, arrays, strict=True)]
            return pa.StructArray.from_arrays(arrays, fields=fields, mask=values.is_null()) if arrays else values
        if pa.types.is_list(kind):
            return _list(values, self._hashed(_items(values, values.values)))
        if pa.types.is_map(kind):
            return _map(values, self._hashed(_items(values, values.keys)), self._hashed(_items(values, values.items)))
        texts = _hashable_values(values).to_pylist()
        return pa.array([None if each is None else self._digest(_encoded(each)).hex() for each in texts], pa.string())

    # --- numbers outside the range of moments ------------------------------------------------------------------------

    def _unfit_members(
        self, rows: Any, noted: pa.StructType, table: str, above: str, places: npt.NDArray[np.int64]
    ) -> Iterator["Unfit"]:
        """places: of the rows that these members are in."""
        for column, values in zip(noted, rows.flatten(), strict=True):
            path = f"{above}{column.name}"
            do = self.of(column, table, path)
            if do is Do.TIMESTAMP:
                unit = self._unit(column, table, path)
                flags, where = _flags(values, unit, places)
                if flags.any():
                    yield np.unique(where[flags]), f"{path}, in {unit.value}, is outside the years 1 to 9999"
            elif do is None:
                yield from self._unfit_within(values, column.type, table, path, places)

    def _unfit_within(
        self, values: Any, noted: pa.DataType, table: str, path: str, places: npt.NDArray[np.int64]
    ) -> Iterator["Unfit"]:
        if pa.types.is_struct(noted):
            yield from self._unfit_members(values, noted, table, f"{path}.", places)
        elif pa.types.is_list(noted):
            inner = _items(values, values.values)
            yield from self._unfit_within(inner, noted.value_type, table, f"{path}.element", _each(values, places))
        elif pa.types.is_map(noted):
            inner = _items(values, values.items)
            yield from self._unfit_within(inner, noted.item_type, table, f"{path}.value", _each(values, places))

    def _digest(self, value: bytes) -> bytes:
        return hmac.digest(self.key, value, "sha256")


Unfit = tuple[npt.NDArray[np.int64], str]
"""Places of rows, and a sentence."""


def _strictest(several: Iterable[Do | None]) -> Do | None:
    return max((do for do in several if do), key=_STRICTNESS.__getitem__, default=None)


NO_PROTECTION: Final = Protection()


def _done_type(kind: pa.DataType, do: Do) -> pa.DataType | None:
    match do:
        case Do.DROP:
            return None
        case Do.TIMESTAMP:
            return moments.timed(kind) or kind
        case Do.MASK:
            return pa.string()
        case Do.HASH:
            return _hashed_type(kind)


def _hashed_type(kind: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([each.with_type(_hashed_type(each.type)) for each in kind])
    if pa.types.is_list(kind):
        return pa.list_(_hashed_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(pa.string(), _hashed_type(kind.item_type))
    return pa.string()


def _members_of(kind: pa.DataType, path: str) -> list[tuple[pa.Field, str]]:
    """What is in a column, with paths."""
    if pa.types.is_struct(kind):
        return [(each, f"{path}.{each.name}" if path else each.name) for each in kind]
    if pa.types.is_list(kind):
        return _members_of(kind.value_type, f"{path}.element")
    if pa.types.is_map(kind):
        return _members_of(kind.item_type, f"{path}.value")
    return []


def _items(values: Any, inner: pa.Array) -> pa.Array:
    """Those of these lists or maps alone: an array may be a part of a longer one."""
    offsets = values.offsets
    first, last = offsets[0].as_py(), offsets[-1].as_py()
    return inner.slice(first, last - first)


def _offsets(values: Any) -> pa.Array:
    offsets = values.offsets
    return pc.subtract(offsets, offsets[0])


def _list(values: Any, items: pa.Array) -> pa.Array:
    return pa.ListArray.from_arrays(_offsets(values), items, type=pa.list_(items.type), mask=values.is_null())


def _map(values: Any, keys: pa.Array, items: pa.Array) -> pa.Array:
    kind = pa.map_(keys.type, items.type)
    return pa.MapArray.from_arrays(_offsets(values), keys, items, type=kind, mask=values.is_null())


def _timed(values: Any, unit: Unit) -> pa.Array:
    if pa.types.is_list(values.type):
        return _list(values, _timed(_items(values, values.values), unit))
    return values if moments.timed(values.type) is None else moments.moments(values, unit)


def _flags(values: Any, unit: Unit, places: npt.NDArray[np.int64]) -> tuple[npt.NDArray[np.bool_], Any]:
    """Which numbers are outside the range of moments, and in which rows they are."""
    while pa.types.is_list(values.type):
        values, places = _items(values, values.values), _each(values, places)
    return moments.unfit(values, unit), places


def _each(values: Any, places: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
    """The places of the lists or maps that items are in."""
    return np.repeat(places, np.diff(values.offsets.to_numpy()))


def _hashable_values(values: pa.Array) -> pa.Array:
    """As text or bytes. Days and moments by their numbers, as there are some that no calendar has."""
    kind = values.type
    if pa.types.is_binary(kind) or pa.types.is_string(kind) or pa.types.is_large_string(kind):
        return values
    if pa.types.is_date32(kind):
        values = values.cast(pa.int32())
    elif pa.types.is_timestamp(kind) or pa.types.is_time64(kind):
        values = values.cast(pa.int64())
    return values.cast(pa.string())


def _encoded(value: str | bytes) -> bytes:
    return value if isinstance(value, bytes) else value.encode()
