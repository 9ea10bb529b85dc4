"""JSON Schema texts: JSON in, exact JSON out (contract JX-2, C.5)."""

from decimal import Decimal, InvalidOperation
from json import JSONDecodeError, JSONDecoder
from typing import Final, TypeAlias, cast

from sigla import effort
from sigla.errors import Malformed
from sigla.keys import utf16
from sigla.languages.json_schema.limits import MAX_DEPTH, MAX_EXPONENT, MAX_VALUES, too_deep, too_large
from sigla.languages.json_text import quoted

Number: TypeAlias = int | Decimal
Json: TypeAlias = "bool | Number | str | list[Json] | dict[str, Json] | None"

DIGITS_PER_STEP: Final = 16
SPACE: Final = " \t\n\r"
WORDS: Final = {True: "true", False: "false", None: "null"}


def _exact(number: str) -> Number:
    """A decimal that prints as an integer is one: `1e0`, `1.0e1`. Zero has no sign, for none will be written."""
    effort.pulse(2)
    try:
        value = Decimal(number)
    except InvalidOperation:
        raise _out_of_range() from None
    if not -MAX_EXPONENT <= value.adjusted() <= MAX_EXPONENT:
        raise _out_of_range()
    if not value:
        value = value.copy_abs()
    written = str(value)
    return int(written) if written.lstrip("-").isdigit() else value


def _out_of_range() -> Malformed:
    return Malformed("The text contains a number that is out of range")


_decode: Final = JSONDecoder(parse_float=_exact, parse_constant=str).raw_decode


def read(text: str) -> Json:
    """The first value of the text; what follows it is ignored.

    If a key is given twice, the last value counts, in the first one's place. `NaN` and `Infinity` become strings.
    Integers are exact, and so are all other numbers, as decimals that remember how they were written. Raises Malformed.
    """
    try:
        value, _ = _decode(text, len(text) - len(text.lstrip(SPACE)))
    except JSONDecodeError as error:
        raise Malformed(f"The text is not JSON: {error.msg} at line {error.lineno} column {error.colno}") from None
    except RecursionError:
        raise too_deep() from None
    except Malformed:
        raise
    except ValueError:
        # Python converts no integer of more than some thousand digits.
        raise Malformed("The text contains a number with too many digits") from None
    return cast("Json", value)


def written(value: Json, *, ordered: bool = False) -> str:
    """The value as compact JSON. ordered: keys by UTF-16 code unit instead of as they came. Raises Malformed."""
    writer = _JsonWriter(ordered)
    try:
        writer.add(value, 0)
    except RecursionError:
        raise too_deep() from None
    return "".join(writer.out)


class _JsonWriter:
    """Writes one value and counts what it holds."""

    __slots__ = ("count", "ordered", "out")

    def __init__(self, ordered: bool) -> None:  # noqa: FBT001 - private, and named at its only call
        self.ordered = ordered
        self.count = 0
        self.out: list[str] = []

    def add(self, value: Json, depth: int) -> None:
        kind = value.__class__
        if kind is str:
            self.out.append(quoted(cast("str", value)))
        elif kind is dict:
            self.add_object(cast("dict[str, Json]", value), depth + 1)
        elif kind is list:
            self.add_list(cast("list[Json]", value), depth + 1)
        elif kind is Decimal or kind is int:
            digits = str(value)
            effort.pulse(len(digits) // DIGITS_PER_STEP)
            self.out.append(digits)
        else:
            self.out.append(WORDS[cast("bool | None", value)])

    def add_list(self, items: list[Json], depth: int) -> None:
        self.admit(len(items), depth)
        separator = "["
        for item in effort.paced(items):
            self.out.append(separator)
            self.add(item, depth)
            separator = ","
        self.out.append("]" if items else "[]")

    def add_object(self, members: dict[str, Json], depth: int) -> None:
        self.admit(len(members), depth)
        separator = "{"
        for key in effort.paced(sorted(members, key=utf16) if self.ordered else members):
            self.out.append(f"{separator}{quoted(key)}:")
            self.add(members[key], depth)
            separator = ","
        self.out.append("}" if members else "{}")

    def admit(self, more: int, depth: int) -> None:
        effort.pulse(1)
        self.count += more
        if depth > MAX_DEPTH:
            raise too_deep()
        if self.count > MAX_VALUES:
            raise too_large()
