"""Decoded values as JSON that people can read: times as dates, decimals with their point, bytes as text or hex."""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime, timedelta
from math import isfinite
from typing import Any, Final

from sigla.decoding.avro_convert import LONGEST_DECIMAL, branch_names, decimal_digits, decimal_text, logical
from sigla.languages.avro.tree import Array, Fixed, Map, Primitive, Record, Type, Union

EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)


def shown(value: Any, type_: Type) -> Any:
    """A value as `avro_walk` yields it, of a reader's type. Bytes are hexadecimal; numbers that JSON lacks are text."""
    if value is None:
        return None
    if isinstance(type_, Union):
        return _branch(value, type_)
    if isinstance(type_, Record):
        return {each.name: shown(value[each.name], each.type) for each in type_.fields}
    if isinstance(type_, Array):
        return [shown(item, type_.items) for item in value]
    if isinstance(type_, Map):
        return {key: shown(each, type_.values) for key, each in value.items()}
    return _scalar(value, type_)


def _branch(value: Any, union: Union) -> Any:
    names = branch_names(union)
    if not any(names):
        return shown(value, next(branch for branch in union.branches if branch.kind != "null"))
    ((member, inner),) = value.items()
    return {member: shown(inner, union.branches[names.index(member)])}


def _scalar(value: Any, type_: Type) -> Any:
    name = logical(type_)
    if name == "decimal" and isinstance(type_, Primitive | Fixed):
        precision, scale = decimal_digits(type_)
        return value if precision > LONGEST_DECIMAL else decimal_text(value, scale)
    if name in MOMENTS:
        try:
            return MOMENTS[name](value)
        except OverflowError:  # before the year 1 or after 9999
            return value
    if isinstance(value, bytes):
        return value.hex()
    return str(value) if isinstance(value, float) and not isfinite(value) else value


def _instant(micros: int) -> str:
    return (EPOCH + timedelta(microseconds=micros)).isoformat().replace("+00:00", "Z")


def _local(micros: int) -> str:
    return _instant(micros).removesuffix("Z")


def _date(days: int) -> str:
    return (date(1970, 1, 1) + timedelta(days=days)).isoformat()


MOMENTS: Final[Mapping[str, Callable[[int], str]]] = {
    "date": _date,
    "timestamp-millis": _instant,
    "timestamp-micros": _instant,
    "local-timestamp-millis": _local,
    "local-timestamp-micros": _local,
}
