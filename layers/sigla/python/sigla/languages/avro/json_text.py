"""JSON as the contract reads and writes it (B.1, B.2): comments are tolerated, and numbers look as Java prints them."""

import re
import struct
from json import JSONDecodeError, JSONDecoder
from math import isfinite, isnan
from typing import Final, NoReturn, cast

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.avro.limits import MAX_DEPTH, MAX_VALUES, too_deep, too_large
from sigla.languages.avro.tree import Json
from sigla.languages.json_text import quoted

# A string is matched so that `//` inside it is left alone. What is never closed goes on to the end of the text, or
# looking for the end of each would take quadratic time; such a text is refused anyway.
COMMENT_OR_STRING: Final = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"?|//[^\n\r]*+|/\*.*?(?:\*/|\Z)', re.DOTALL)
JAVA_FLOAT: Final = re.compile(r"[+-]?(?:NaN|Infinity|(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?[fFdD]?)", re.ASCII)
SPACE: Final = " \t\n\r"
WORDS: Final = {True: "true", False: "false", None: "null"}


def _refuse_constant(word: str) -> NoReturn:
    raise Malformed(f"{word} is not JSON")


_decode: Final = JSONDecoder(parse_constant=_refuse_constant).raw_decode


def read(text: str) -> Json:
    """The value that is the whole text.

    If an attribute is given twice, the last value counts, in the first one's place. Raises Malformed: for invalid JSON,
    for NaN, and for anything but space after the value, even a comment.
    """
    try:
        value, end = _decoded(text)
    except Malformed:
        # Comments are rare: they are looked for only in a text that cannot be read as it stands.
        if "/*" not in text and "//" not in text:
            raise
        value, end = _decoded(_without_comments(text))
    if end != len(text) and not text[end:].isspace():
        raise Malformed(f"Unexpected text after the end of the schema, at character {end}")
    return cast("Json", value)


def _start(text: str) -> int:
    return len(text) - len(text.lstrip(SPACE))


def _decoded(text: str) -> tuple[object, int]:
    """The first value of the text, and where it ends."""
    try:
        return cast("tuple[object, int]", _decode(text, _start(text)))
    except JSONDecodeError as error:
        place = f"at line {error.lineno} column {error.colno}"
        raise Malformed(f"The text is not JSON: {error.msg} {place}") from None
    except RecursionError:
        raise too_deep() from None
    except Malformed:
        raise
    except ValueError:
        # Python converts no integer of more than some thousand digits.
        raise Malformed("The text contains a number with too many digits") from None


def _without_comments(text: str) -> str:
    """As many spaces as characters for each comment, so that positions stay those of the text."""
    return COMMENT_OR_STRING.sub(lambda found: found[0] if found[0][0] == '"' else " " * len(found[0]), text)


def written(value: Json, *, ordered: bool = False) -> str:
    """The value as compact JSON. ordered: the members of objects by key instead of as they came. Raises Malformed."""
    kind = value.__class__
    if kind is str:
        return quoted(cast("str", value))
    if kind is int:
        return str(value)
    if kind is float:
        return decimal(cast("float", value))
    if kind is dict or kind is list:
        return "".join(_JsonWriter(ordered).pieces(value, 0))
    return WORDS[cast("bool | None", value)]


class _JsonWriter:
    """Writes one nested value and counts what it holds."""

    __slots__ = ("count", "ordered", "out")

    def __init__(self, ordered: bool) -> None:  # noqa: FBT001 - private, and named at its only call
        self.ordered = ordered
        self.count = 0
        self.out: list[str] = []

    def pieces(self, value: Json, depth: int) -> list[str]:
        if value.__class__ is list:
            self.add_list(value, depth + 1)
        elif value.__class__ is dict:
            self.add_object(value, depth + 1)
        else:
            self.out.append(written(value))
        return self.out

    def add_list(self, items: list[Json], depth: int) -> None:
        self.admit(len(items), depth)
        separator = "["
        for item in effort.paced(items):
            self.out.append(separator)
            self.pieces(item, depth)
            separator = ","
        self.out.append("]" if items else "[]")

    def add_object(self, members: dict[str, Json], depth: int) -> None:
        self.admit(len(members), depth)
        separator = "{"
        for key in effort.paced(sorted(members) if self.ordered else members):
            self.out.append(f"{separator}{quoted(key)}:")
            self.pieces(members[key], depth)
            separator = ","
        self.out.append("}" if members else "{}")

    def admit(self, more: int, depth: int) -> None:
        effort.pulse(1)
        self.count += more
        if depth > MAX_DEPTH:
            raise too_deep()
        if self.count > MAX_VALUES:
            raise too_large()


def decimal(value: float) -> str:
    """The shortest decimal of a 64-bit float in the form of Java's Double.toString; what is not finite, as a string."""
    return java_form(repr(value)) if isfinite(value) else _not_finite(value)


def _not_finite(value: float) -> str:
    return '"NaN"' if isnan(value) else '"Infinity"' if value > 0 else '"-Infinity"'


def java_form(shortest: str) -> str:
    """Digits as Java lays them out: at least one fraction digit; scientific from 10^7 up and below 10^-3."""
    sign, digits, point = _significant(shortest)
    if not digits:
        return f"{sign}0.0"
    if -3 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    if 0 < point <= 7:
        whole = digits[:point].ljust(point, "0")
        return f"{sign}{whole}.{digits[point:] or '0'}"
    return f"{sign}{digits[0]}.{digits[1:] or '0'}E{point - 1}"


def _significant(number: str) -> tuple[str, str, int]:
    """Sign, digits without outer zeros, and where the point stands in them: `-0.012` → `-`, `12`, -1."""
    sign = "-" if number.startswith("-") else ""
    mantissa, _, exponent = number.lstrip("-").partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction).lstrip("0")
    point = len(digits) - len(fraction) + int(exponent or 0)
    return sign, digits.rstrip("0"), point


def single(value: float) -> float:
    """The nearest 32-bit float, as the 64-bit float that prints with the same shortest digits."""
    # The machine's own format: what is too large becomes infinite, as in Java, where "<f" would raise.
    narrow = struct.unpack("f", struct.pack("f", value))[0]
    for precision in range(1, 9):
        candidate = float(f"{narrow:.{precision}g}")
        if struct.unpack("f", struct.pack("f", candidate))[0] == narrow:
            return candidate
    return float(f"{narrow:.9g}")  # nine digits tell any two apart


def parsed_float(text: str) -> float | None:
    """The number that Java's Double.parseDouble reads in the text; None if it reads none."""
    number = text.strip("".join(map(chr, range(33))))
    return float(number.rstrip("fFdD")) if JAVA_FLOAT.fullmatch(number) else None
