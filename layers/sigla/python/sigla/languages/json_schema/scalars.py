"""Strings, numbers, enumerations and constants: kinds without schemas inside (C.7.1, C.7.2)."""

from decimal import Decimal
from typing import Final

from sigla.languages.json_schema.nodes import Const, Enum, Numeric, String
from sigla.languages.json_schema.outcome import Check, Outcome
from sigla.languages.json_schema.text import Number

PER_STEP: Final = 1_000
"""Exact division takes time with the square of the digits: so much of the square of the bits is worth a step."""
VALUES_PER_STEP: Final = 8


def limit(found: Outcome, kinds: str, keyword: str, reader: Number | None, writer: Number | None) -> None:
    """One limit, compared as 64-bit floats; kinds: what the names of its differences begin with."""
    if reader is None and writer is None:
        return
    if writer is None:
        found.add(f"{kinds}_ADDED", keyword)
    elif reader is None:
        found.add(f"{kinds}_REMOVED", keyword)
    elif as_float(reader) > as_float(writer):
        found.add(f"{kinds}_INCREASED", keyword)
    elif as_float(reader) < as_float(writer):
        found.add(f"{kinds}_DECREASED", keyword)


def as_float(number: Number) -> float:
    try:
        return float(number)
    except OverflowError:  # only integers overflow; decimals become infinite by themselves
        return float("inf") if number > 0 else float("-inf")


def strings(reader: String, writer: String, found: Outcome, _: Check) -> None:
    limit(found, "MAX_LENGTH", "maxLength", reader.max_length, writer.max_length)
    limit(found, "MIN_LENGTH", "minLength", reader.min_length, writer.min_length)
    if reader.pattern == writer.pattern:
        return
    if writer.pattern is None:
        found.add("PATTERN_ADDED", "pattern")
    elif reader.pattern is None:
        found.add("PATTERN_REMOVED", "pattern")
    else:
        found.add("PATTERN_CHANGED", "pattern")


def numbers(reader: Numeric, writer: Numeric, found: Outcome, check: Check) -> None:
    limit(found, "MAXIMUM", "maximum", reader.maximum, writer.maximum)
    limit(found, "MINIMUM", "minimum", reader.minimum, writer.minimum)
    limit(found, "EXCLUSIVE_MAXIMUM", "exclusiveMaximum", reader.exclusive_maximum, writer.exclusive_maximum)
    limit(found, "EXCLUSIVE_MINIMUM", "exclusiveMinimum", reader.exclusive_minimum, writer.exclusive_minimum)
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
