"""Strings as the languages written in JSON print them (contract B.2, C.5)."""

import re
from json.encoder import encode_basestring
from typing import Final

# Control characters whose hexadecimal form has letters; Python writes those in lower case.
LETTERED_CONTROL: Final = re.compile(r"[\x0b\x0e\x0f\x1a-\x1f]")


def quoted(text: str) -> str:
    """A JSON string: non-ASCII raw, control characters with upper-case hexadecimal digits."""
    literal = encode_basestring(text)
    if LETTERED_CONTROL.search(text) is None:
        return literal
    return '"' + "".join(_escaped(character) for character in text) + '"'


def _escaped(character: str) -> str:
    return f"\\u{ord(character):04X}" if LETTERED_CONTROL.match(character) else encode_basestring(character)[1:-1]
