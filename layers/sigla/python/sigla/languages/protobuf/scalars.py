"""The scalar types in the words of descriptors: their numbers, and their default values as text."""

import math
import re
import struct
from typing import Final

from sigla.languages.protobuf.tree import Text, Word

NUMBERS: Final = {
    "double": 1,
    "float": 2,
    "int64": 3,
    "uint64": 4,
    "int32": 5,
    "fixed64": 6,
    "fixed32": 7,
    "bool": 8,
    "string": 9,
    "bytes": 12,
    "uint32": 13,
    "sfixed32": 15,
    "sfixed64": 16,
    "sint32": 17,
    "sint64": 18,
}
"""FieldDescriptorProto.Type, by the names that a source uses."""

NAMES: Final = {number: name for name, number in NUMBERS.items()}

GROUP: Final = 10
MESSAGE: Final = 11
ENUM: Final = 14

_DOUBLE: Final = NUMBERS["double"]
_FLOAT: Final = NUMBERS["float"]
_STRING: Final = NUMBERS["string"]
_BYTES: Final = NUMBERS["bytes"]
_WORDS: Final = frozenset((ENUM, NUMBERS["bool"]))
_INTEGERS: Final = frozenset(NUMBERS.values()) - {_DOUBLE, _FLOAT, _STRING, _BYTES, NUMBERS["bool"]}

_INTEGER: Final = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]{1,40})|(0[0-7]{1,40})|([0-9]{1,40}))")
_ESCAPES: Final = {ord("\n"): "\\n", ord("\r"): "\\r", ord("\t"): "\\t"} | {ord(sign): f"\\{sign}" for sign in "\"'\\"}
_ESCAPE: Final = re.compile(r"\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
_MEANINGS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}


def default(type_: int, value: Word | Text) -> str:
    """A default value as descriptors have it. One that does not fit its type stays as it is written."""
    text = value.text
    if type_ == _BYTES and isinstance(value, Text):
        return escaped(text)
    if isinstance(value, Word):
        if type_ in _INTEGERS:
            return _integer(text)
        if type_ in {_DOUBLE, _FLOAT}:
            return _number(text, single=type_ == _FLOAT)
    return text


def default_value(type_: int, text: str) -> Word | Text:
    """A default value as a source has it: DV-11, bytes in quotes too."""
    if type_ == _BYTES:
        return Text(unescaped(text))
    return Text(text) if type_ == _STRING else Word(text)


def escaped(text: str) -> str:
    """Bytes as descriptors have them: what cannot be printed as three octal digits."""
    return "".join(
        _ESCAPES.get(byte) or (chr(byte) if 0x20 <= byte < 0x7F else f"\\{byte:03o}") for byte in _bytes(text)
    )


def unescaped(text: str) -> str:
    """The other way round: a character for every byte."""
    return _ESCAPE.sub(_meaning, text)


def _meaning(match: re.Match[str]) -> str:
    hexadecimal, octal, letter = match.groups()
    if letter:
        return _MEANINGS.get(letter, letter)
    return chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8) & 0xFF)


def _bytes(text: str) -> bytes:
    """A character for every byte, as escapes are read; or else what the text has in UTF-8."""
    try:
        return text.encode("latin-1")
    except UnicodeEncodeError:
        return text.encode()


def _integer(word: str) -> str:
    match = _INTEGER.fullmatch(word)
    if match is None:
        return word
    sign, hexadecimal, octal, decimal = match.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(octal, 8) if octal else int(decimal)
    return f"{sign if number else ''}{number}"


def _number(word: str, *, single: bool) -> str:
    """The shortest of the usual spellings that is read back as the same number."""
    try:
        number = _rounded(float(_integer(word)), single=single)
    except ValueError:
        return word
    if not math.isfinite(number):
        return str(number)
    usual, exact = (6, 9) if single else (15, 17)
    text = f"{number:.{usual}g}"
    return text if _rounded(float(text), single=single) == number else f"{number:.{exact}g}"


def _rounded(number: float, *, single: bool) -> float:
    """As the type holds it; in 32 bits much is infinite."""
    return float(struct.unpack("f", struct.pack("f", number))[0]) if single else number
