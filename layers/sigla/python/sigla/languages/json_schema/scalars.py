"""Strings, numbers, enumerations and constants: kinds without schemas inside (C.7.1, C.7.2)."""

from decimal import Decimal
from typing import Final, NamedTuple

from sigla.languages.json_schema.nodes import Const, Enum, Numeric, String
from sigla.languages.json_schema.outcome import Check, Outcome
from sigla.languages.json_schema.text import Number

PER_STEP: Final = 1_000
"""Exact division takes time with the square of the digits: so much of the square of the bits is worth a step."""
VALUES_PER_STEP: Final = 8


class Limit(NamedTuple):
    """A keyword that sets a limit, and the kinds of its differences."""

    keyword: str
    added: str
    removed: str
    increased: str
    decreased: str


MAX_LENGTH: Final = Limit(
    "maxLength", "MAX_LENGTH_ADDED", "MAX_LENGTH_REMOVED", "MAX_LENGTH_INCREASED", "MAX_LENGTH_DECREASED"
)
MIN_LENGTH: Final = Limit(
    "minLength", "MIN_LENGTH_ADDED", "MIN_LENGTH_REMOVED", "MIN_LENGTH_INCREASED", "MIN_LENGTH_DECREASED"
)
MAXIMUM: Final = Limit("maximum", "MAXIMUM_ADDED", "MAXIMUM_REMOVED", "MAXIMUM_INCREASED", "MAXIMUM_DECREASED")
MINIMUM: Final = Limit("minimum", "MINIMUM_ADDED", "MINIMUM_REMOVED", "MINIMUM_INCREASED", "MINIMUM_DECREASED")
EXCLUSIVE_MAXIMUM: Final = Limit(
    "exclusiveMaximum",
    "EXCLUSIVE_MAXIMUM_ADDED",
    "EXCLUSIVE_MAXIMUM_REMOVED",
    "EXCLUSIVE_MAXIMUM_INCREASED",
    "EXCLUSIVE_MAXIMUM_DECREASED",
)
EXCLUSIVE_MINIMUM: Final = Limit(
    "exclusiveMinimum",
    "EXCLUSIVE_MINIMUM_ADDED",
    "EXCLUSIVE_MINIMUM_REMOVED",
    "EXCLUSIVE_MINIMUM_INCREASED",
    "EXCLUSIVE_MINIMUM_DECREASED",
)


def compare_limits(found: Outcome, limit: Limit, reader: Number | None, writer: Number | None) -> None:
    """One limit, compared as 64-bit floats."""
    if reader is None and writer is None:
        return
    if writer is None:
        found.add(limit.added, limit.keyword)
    elif reader is None:
        found.add(limit.removed, limit.keyword)
    elif as_float(reader) > as_float(writer):
        found.add(limit.increased, limit.keyword)
    elif as_float(reader) < as_float(writer):
        found.add(limit.decreased, limit.keyword)


def as_float(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:  # only integers overflow; decimals become infinite by themselves
        return float("inf") if number > 0 else float("-inf")


def strings(reader: String, writer: String, found: Outcome, _: Check) -> None:
    compare_limits(found, MAX_LENGTH, reader.max_length, writer.max_length)
    compare_limits(found, MIN_LENGTH, reader.min_length, writer.min_length)
    if reader.pattern == writer.pattern:
        return
    if writer.pattern is None:
        found.add("PATTERN_ADDED", "pattern")
    elif reader.pattern is None:
        found.add("PATTERN_REMOVED", "pattern")
    else:
        found.add("PATTERN_CHANGED", "pattern")


def numbers(reader: Numeric, writer: Numeric, found: Outcome, check: Check) -> None:
    compare_limits(found, MAXIMUM, reader.maximum, writer.maximum)
    compare_limits(found, MINIMUM, reader.minimum, writer.minimum)
    compare_limits(found, EXCLUSIVE_MAXIMUM, reader.exclusive_maximum, writer.exclusive_maximum)
    compare_limits(found, EXCLUSIVE_MINIMUM, reader.exclusive_minimum, writer.exclusive_minimum)
    multiple_of(reader.multiple_of, writer.multiple_of, found, check)
    if writer.integer and not reader.integer:
        found.add("TYPE_EXTENDED")
    elif reader.integer and not writer.integer:
        found.add("TYPE_NARROWED")


def multiple_of(reader: Number | None, writer: Number | None, found: Outcome, check: Check) -> None:
    if reader == writer:
        return
    if writer is None:
        found.add("MULTIPLE_OF_ADDED", "multipleOf")
    elif reader is None:
        found.add("MULTIPLE_OF_REMOVED", "multipleOf")
    elif is_multiple(reader, writer, check):
        found.add("MULTIPLE_OF_EXPANDED", "multipleOf")
    elif is_multiple(writer, reader, check):
        found.add("MULTIPLE_OF_REDUCED", "multipleOf")
    else:
        found.add("MULTIPLE_OF_CHANGED", "multipleOf")


def is_multiple(of: Number, unit: Number, check: Check) -> bool:
    """Whether the exact remainder is zero. Powers of ten are never written out: `1E+999999999` is a short text."""
    whole, power = scaled(of)
    part, part_power = scaled(unit)
    check.spend((whole.bit_length() + part.bit_length()) ** 2 // PER_STEP)
    if part == 0:
        return False
    shift = power - part_power
    if shift >= 0:
        remainder = whole * pow(10, shift, part) % part
    elif -shift > whole.bit_length():  # so large a power of ten divides nothing but zero
        remainder = whole
    else:
        remainder = whole % (part * int(10**-shift))
    return remainder == 0


def scaled(number: Number) -> tuple[int, int]:
    """Its absolute value as an integer and a power of ten."""
    if isinstance(number, int):
        return abs(number), 0
    _, digits, power = number.as_tuple()
    return int(Decimal((0, digits, 0))), int(power)


def enums(reader: Enum, writer: Enum, found: Outcome, check: Check) -> None:
    """As sets: neither order nor repetition matters."""
    readable, written = check.contents.values(reader), check.contents.values(writer)
    check.spend((len(readable) + len(written)) // VALUES_PER_STEP)
    if readable == written:
        return
    if readable > written:
        found.add("ENUM_ARRAY_EXTENDED", "enum")
    elif readable < written:
        found.add("ENUM_ARRAY_NARROWED", "enum")
    else:
        found.add("ENUM_ARRAY_CHANGED", "enum")


def consts(reader: Const, writer: Const, found: Outcome, check: Check) -> None:
    if check.contents.values(reader) != check.contents.values(writer):
        found.add("ENUM_ARRAY_CHANGED", "const")
