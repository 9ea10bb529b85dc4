"""From text to words, strings and signs (contract D.1 PI-5, PI-6), and from strings to what they mean and back."""

import re
from itertools import islice
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.protobuf.limits import MAX_TOKENS, too_large

# Names, types and numbers are one kind of word; a `+` belongs to it only in an exponent. A character that means nothing
# here is a token that no rule expects, and so is a quote or slash whose string or comment never ends: nothing behind it
# is looked at. With that, and with quantifiers that give nothing back, the scan is linear on any text. The end of the
# text is an empty token; a comment is a match without one. (No alternatives within a possessive group: the first
# releases of Python 3.11 get those wrong.)
TOKEN: Final = re.compile(
    r"""
    [ \t\r\n\v\f]*+
    (?:
        //[^\n]*+ | /\*.*?\*/
      | (
            [A-Za-z0-9_.\-]++ (?: (?<=[0-9.][eE])\+[0-9]++ )?
          | "[^"\\]*+(?:\\.[^"\\]*+)*+" | '[^'\\]*+(?:\\.[^'\\]*+)*+'
          | (["'] | /(?=\*))
          | .
          | \Z
        )
        (?(2) .* )
    )
    """,
    re.VERBOSE | re.DOTALL,
)
WORD_STARTS: Final = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.-")
DIGITS: Final = frozenset("0123456789")
INTEGER: Final = re.compile(r"(-?)(?:0[xX]([0-9a-fA-F]+)|([0-9]+))")
INT32: Final = range(-(2**31), 2**31)

ESCAPE: Final = re.compile(r"\\(?:[xX]([0-9a-fA-F]{1,2})|([0-7]{1,3})|(.))", re.DOTALL)
MEANINGS: Final = {"a": "\a", "b": "\b", "f": "\f", "n": "\n", "r": "\r", "t": "\t", "v": "\v"}
CONTROLS: Final = (*range(0x20), 0x7F)
SPELLINGS: Final = str.maketrans(
    {chr(code): f"\\{code:03o}" for code in CONTROLS}
    | {meaning: f"\\{letter}" for letter, meaning in MEANINGS.items()}
    | {sign: f"\\{sign}" for sign in "\\\"'"}
)


def tokens(text: str) -> list[str]:
    """All tokens, strings with their quotes, and an empty one for the end. Raises Malformed if there are too many."""
    matches = islice(TOKEN.finditer(text), MAX_TOKENS)
    found: list[str] = []
    while some := list(islice(matches, effort.STEPS_PER_LOOK)):
        effort.pulse()
        found += [token for match in some if (token := match[1]) is not None]
    if not found or found[-1]:
        raise too_large()
    return found


def line_and_column(text: str, index: int) -> str:
    """Where a token stands: `line 3, column 14`."""
    found = (match for match in TOKEN.finditer(text) if match[1] is not None)
    position = next(islice(found, index, None)).start(1)
    line, column = text.count("\n", 0, position) + 1, position - text.rfind("\n", 0, position)
    return f"line {line}, column {column}"


def integer(word: str) -> int | None:
    """A number of 32 bits, decimal even with leading zeros, or hexadecimal; None if the word is another one."""
    if len(word) > 20 or (match := INTEGER.fullmatch(word)) is None:
        return None
    sign, hexadecimal, decimal = match.groups()
    number = int(hexadecimal, 16) if hexadecimal else int(decimal)
    number = -number if sign else number
    return number if number in INT32 else None


def unquoted(string: str) -> str:
    r"""What a string token means. Raises Malformed for `\x` without digits."""
    inside = string[1:-1]
    return ESCAPE.sub(_meaning, inside) if "\\" in inside else inside


def _meaning(match: re.Match[str]) -> str:
    hexadecimal, octal, letter = match.groups()
    if hexadecimal or octal:
        return chr(int(hexadecimal, 16) if hexadecimal else int(octal, 8))
    if letter in "xX":
        raise Malformed("A string has \\x without a hexadecimal digit after it")
    return MEANINGS.get(letter, letter)


def quoted(text: str) -> str:
    """A string as canonical text has it: in double quotes, both kinds of quotes and all control characters escaped."""
    return f'"{text.translate(SPELLINGS)}"'
