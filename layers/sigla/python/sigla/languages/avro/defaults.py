"""Whether a default fits its type, by its JSON shape (contract B.1, field defaults)."""

from collections.abc import Callable
from typing import Final

from sigla import effort
from sigla.languages.avro.limits import MAX_VALUES, too_large
from sigla.languages.avro.tree import ABSENT, Array, Json, Map, Record, Type, Union

INT: Final = range(-(2**31), 2**31)
LONG: Final = range(-(2**63), 2**63)


def _is_text(value: Json) -> bool:
    return value.__class__ is str


def _is_number(value: Json) -> bool:
    return value.__class__ is int or value.__class__ is float


SIMPLE: Final[dict[str, Callable[[Json], bool]]] = {
    "null": lambda value: value is None,
    "boolean": lambda value: value.__class__ is bool,
    "int": lambda value: value.__class__ is int and value in INT,
    "long": lambda value: value.__class__ is int and value in LONG,
    "float": _is_number,
    "double": _is_number,
    "string": _is_text,
    "bytes": _is_text,
    "fixed": _is_text,
    "enum": _is_text,
}


class Fitting:
    """Judges defaults, and counts: a value can be tried against the branches of unions within unions without end."""

    __slots__ = ("count",)

    def __init__(self) -> None:
        self.count = 0

    def fits(self, value: Json, type_: Type) -> bool:
        """Recursion ends with the value: a field that is left out is not looked into. Raises Malformed."""
        self.count += 1
        effort.pulse(1)
        if self.count > MAX_VALUES:
            raise too_large()
        simple = SIMPLE.get(type_.kind)
        return simple(value) if simple else self.nested_fits(value, type_)

    def nested_fits(self, value: Json, type_: Type) -> bool:
        if isinstance(type_, Union):
            return any(self.fits(value, branch) for branch in type_.branches)
        if isinstance(type_, Array):
            return isinstance(value, list) and all(self.fits(item, type_.items) for item in value)
        if isinstance(type_, Map):
            return isinstance(value, dict) and all(self.fits(member, type_.values) for member in value.values())
        return isinstance(type_, Record) and isinstance(value, dict) and self.record_fits(value, type_)

    def record_fits(self, value: dict[str, Json], record: Record) -> bool:
        """Each field is there and fits, or has a default of its own."""
        return all(
            self.fits(value[field.name], field.type) if field.name in value else field.default is not ABSENT
            for field in record.fields
        )
