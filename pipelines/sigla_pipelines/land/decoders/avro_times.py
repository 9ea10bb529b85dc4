"""Times of Avro as columns: which are converted, and what a field's metadata says of those that are numbers."""

from collections.abc import Mapping
from typing import Final

import pyarrow as pa

from sigla.decoding.avro_convert import logical
from sigla.languages.avro.tree import Primitive, Type, Union
from sigla_pipelines.land.decoders.notes import NOTHING, Note, with_unit
from sigla_pipelines.land.decoders.times import PLAIN, As, Convert, Times, of_avro_duration, of_avro_nanos, of_debezium

NUMBERS: Final[Mapping[str, str]] = {
    "time-millis": "time-micros",  # a schema may go from one to the other; the column stays
    "time-micros": "time-micros",
    "timestamp-nanos": "timestamp-nanos",
    "local-timestamp-nanos": "local-timestamp-nanos",
}
"""Logical types that no column type has: numbers, and what the field says of them."""

UNITS: Final[Mapping[str, str]] = {
    "time-millis": "microseconds since midnight",
    "time-micros": "microseconds since midnight",
    "timestamp-nanos": "nanoseconds since 1970-01-01 UTC",
    "local-timestamp-nanos": "nanoseconds since 1970-01-01, local time",
    "duration": "microseconds",
}
"""What such numbers count, and a duration where it is one."""


def chosen_type(type_: Type, times: Times) -> tuple[pa.DataType, Convert] | None:
    """The column of a type that is a time, where settings ask for another one than the default."""
    name = logical(type_)
    if name == "duration":
        return of_avro_duration(times)
    if name.endswith("timestamp-nanos"):
        return of_avro_nanos(times, local=name.startswith("local"))
    connected = type_.props.get("connect.name") if isinstance(type_, Primitive) and not name else None
    return of_debezium(connected, type_.kind, times) if isinstance(connected, str) else None


def metadata_of(type_: Type, note: Note = NOTHING, times: Times = PLAIN) -> dict[bytes, bytes] | None:
    branches = type_.branches if isinstance(type_, Union) else [type_]
    found = [branch for branch in branches if logical(branch) in UNITS] if len(branches) < 3 else []
    if not found:
        return note.metadata
    name = logical(found[0])
    if name not in NUMBERS:
        return (with_unit(note, UNITS[name]) if times.duration is As.MICROS else note).metadata
    if chosen_type(found[0], times):
        return note.metadata
    return {b"logicalType": NUMBERS[name].encode()} | (with_unit(note, UNITS[name]).metadata or {})
