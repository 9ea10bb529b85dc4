"""What is between bytes and columns: logical types, promotions and defaults (Avro specification, Logical Types).

A conversion takes what was written to what the reader's column holds. It raises ValueError with a sentence (TooLong
where the value may be in order), or UnicodeDecodeError.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from math import inf
from typing import Any, Final
from uuid import UUID

from sigla.languages.avro.defaults import Fitting
from sigla.languages.avro.logical import Annotated, is_valid
from sigla.languages.avro.tree import ABSENT, Array, Enum, Fixed, Json, Map, Named, Primitive, Record, Type, Union

Convert = Callable[[Any], Any]

LONGEST_DECIMAL: Final = 38
"""Digits of the widest decimal that Arrow, Parquet and Spark agree on; with more it is text."""

MOST_DIGITS: Final = 4_300
"""The most digits of a decimal that is written out, which takes the longer the more there are; Python's own limit."""
_TOO_LONG: Final = 10**MOST_DIGITS

NANOS: Final = {"millis": 10**6, "micros": 10**3, "nanos": 1}
PROMOTED: Final[Mapping[tuple[str, str], Convert | None]] = {
    ("int", "long"): None,
    ("int", "float"): float,
    ("int", "double"): float,
    ("long", "float"): float,
    ("long", "double"): float,
    ("float", "double"): None,
    ("string", "bytes"): str.encode,
    ("bytes", "string"): bytes.decode,
}
"""What becomes of a value of the first kind that is read as the second; None: nothing. All `PROMOTIONS` are here."""


class TooLong(ValueError):
    """It may be what it says, and is not written out."""


class Misfits(Exception):
    """The two types have one shape and mean different things; the message is a sentence."""


def logical(type_: Type) -> str:
    """The logical type of a type, where Avro knows it and it fits; else empty."""
    if isinstance(type_, Primitive | Fixed) and is_valid(type_):
        return str(type_.props["logicalType"])
    return ""


def conversion(writer: Annotated, reader: Annotated) -> Convert | None:
    """What is done to a value of two types that resolve. Raises Misfits."""
    promoted = PROMOTED.get((writer.kind, reader.kind))
    wanted = logical(reader)
    if wanted == "decimal":
        return _decimal(writer, reader)
    if wanted == "uuid" and reader.kind == "fixed":
        return uuid_text
    if wanted.rpartition("-")[2] in NANOS:
        return _moment(logical(writer), wanted)
    return promoted


def decimal_digits(type_: Annotated) -> tuple[int, int]:
    """Precision and scale of a decimal that is valid."""
    return int(str(type_.props["precision"])), int(str(type_.props.get("scale", 0)))


def _decimal(writer: Annotated, reader: Annotated) -> Convert:
    precision, scale = decimal_digits(reader)
    if logical(writer) == "decimal" and decimal_digits(writer)[1] != scale:
        raise Misfits(f"a decimal of scale {decimal_digits(writer)[1]} cannot be read as one of scale {scale}")
    return Unscaled(precision, scale)


@dataclass(frozen=True, slots=True)
class Unscaled:
    """Bytes, or a text that is promoted to them, to a number."""

    precision: int
    scale: int

    def __call__(self, data: bytes | str) -> int | str:
        number = int.from_bytes(data.encode() if isinstance(data, str) else data, signed=True)
        if abs(number) >= _TOO_LONG and self.precision > MOST_DIGITS:
            raise TooLong(f"a decimal of more than {MOST_DIGITS:,} digits")
        if abs(number) >= _TOO_LONG or len(str(abs(number))) > self.precision:
            raise ValueError(f"more than the {self.precision} digits of the decimal")
        return decimal_text(number, self.scale) if self.precision > LONGEST_DECIMAL else number


def decimal_text(number: int, scale: int) -> str:
    """An unscaled number as people write it: 1234 of scale 2 is 12.34."""
    if not scale:
        return str(number)
    digits = str(abs(number)).rjust(scale + 1, "0")
    return f"{'-' if number < 0 else ''}{digits[:-scale]}.{digits[-scale:]}"


def uuid_text(data: bytes) -> str:
    return str(UUID(bytes=data))


def _moment(written: str, wanted: str) -> Convert | None:
    """Between units. Columns are in microseconds, because a schema may go from one unit to another; nanoseconds stay.

    A writer without a unit is taken at the reader's word.
    """
    family, _, unit = wanted.rpartition("-")
    own_family, _, own_unit = written.rpartition("-")
    if own_unit not in NANOS or (own_family == "time") != (family == "time"):
        own_unit = unit
    target = "nanos" if unit == "nanos" else "micros"
    up, down = divmod(NANOS[own_unit], NANOS[target])
    return Multiplied(up) if up > 1 else Shortened(NANOS[target] // NANOS[own_unit]) if down else None


@dataclass(frozen=True, slots=True)
class Multiplied:
    factor: int

    def __call__(self, value: int) -> int:
        found = value * self.factor
        if not -(2**63) <= found < 2**63:
            raise ValueError("a time beyond what a column can hold")
        return found


@dataclass(frozen=True, slots=True)
class Shortened:
    """To a coarser unit; what is less than one is cut off towards the past."""

    divisor: int

    def __call__(self, value: int) -> int:
        return value // self.divisor


def branch_names(union: Union) -> list[str | None]:
    """How each branch of a union is called as a member of its column; None for null, and where there is only one other.

    By its kind or its simple name, so that the order of branches does not matter; by its full name, dots replaced,
    where two would differ at most in case; and where two still do, the one that comes later in the alphabet ends with
    an underscore.
    """
    others = [branch for branch in union.branches if branch.kind != "null"]
    if len(others) < 2:
        return [None] * len(union.branches)
    simple = [branch.name if isinstance(branch, Named) else branch.kind for branch in others]
    folded = [name.lower() for name in simple]
    names = {
        id(branch): name if folded.count(name.lower()) == 1 or not isinstance(branch, Named) else _flat(branch)
        for branch, name in zip(others, simple, strict=True)
    }
    taken: set[str] = set()
    for branch in sorted(others, key=_full):
        while names[id(branch)].lower() in taken:
            names[id(branch)] += "_"
        taken.add(names[id(branch)].lower())
    return [names.get(id(branch)) for branch in union.branches]


def _flat(branch: Named) -> str:
    return branch.full.replace(".", "_")


def _full(branch: Type) -> str:
    """Empty of what has no name, whose kind nothing else can be called by."""
    return branch.full if isinstance(branch, Named) else ""


def filled(json: Json, type_: Type) -> Any:
    """A default as the value that it stands for. Raises ValueError where it fits no branch, or is not text."""
    if isinstance(type_, Union):
        return _branch(json, type_)
    if isinstance(type_, Record):
        return _record(json, type_)
    if isinstance(type_, Array):
        return [filled(item, type_.items) for item in _of(json, list)]
    if isinstance(type_, Map):
        return {key: filled(value, type_.values) for key, value in _of(json, dict).items()}
    if isinstance(type_, Enum):
        return _symbol(_of(json, str), type_)
    return _leaf(json, type_)


def _branch(json: Json, union: Union) -> Any:
    """The value of the first branch that the default fits; before Avro 1.12 it had to be the first branch."""
    for branch, member in zip(union.branches, branch_names(union), strict=True):
        if Fitting().fits(json, branch):
            value = filled(json, branch)
            return {member: value} if member else value
    raise ValueError("fits no branch of the union")


def _record(json: Json, record: Record) -> dict[str, Any]:
    given = _of(json, dict)
    found = {}
    for field in record.fields:
        own = given.get(field.name, field.default)
        if own is ABSENT:
            raise ValueError(f"says nothing of {field.name}")
        found[field.name] = filled(own, field.type)
    return found


def _symbol(symbol: str, enum: Enum) -> str:
    if symbol not in enum.symbols:
        raise ValueError(f"is not a symbol of {enum.full}")
    return symbol


def _leaf(json: Json, type_: Type) -> Any:
    if not Fitting().fits(json, type_):
        raise ValueError(f"is not of type {type_.kind}")
    if type_.kind in ("float", "double"):
        return _float(json)
    value: Any = json
    if type_.kind == "string":
        value.encode()  # half a surrogate pair cannot be encoded
    elif type_.kind in ("bytes", "fixed"):
        value = value.encode("latin-1")
    if isinstance(type_, Fixed) and len(value) != type_.size:
        raise ValueError(f"has not the {type_.size} bytes of {type_.full}")
    then = conversion(type_, type_) if isinstance(type_, Primitive | Fixed) else None
    return then(value) if then else value


def _float(json: Any) -> float:
    """What is beyond all floats is infinite, as Java has it."""
    try:
        return float(json)
    except OverflowError:  # of an integer
        return inf if json > 0 else -inf


_CALLED: Final[dict[type, str]] = {str: "a string", list: "an array", dict: "an object"}


def _of(json: Json, kind: type) -> Any:
    if not isinstance(json, kind):
        raise ValueError(f"is not {_CALLED[kind]}")  # noqa: TRY004 - what is wrong is a default's value, not a caller's
    return json
