"""Numbers in options and defaults, written in one way (contract D.4 PN-8, DV-12): decimal, exact, without exponent."""

import re
from typing import Final

HEXADECIMAL: Final = re.compile(r"(-?)0[xX]([0-9a-fA-F]+)")
OCTAL: Final = re.compile(r"(-?)0([0-7]+)")
DECIMAL: Final = re.compile(r"(-?)([0-9]*)(?:\.([0-9]*))?(?:[eE]([+-]?[0-9]{1,3}))?")
MAX_LENGTH: Final = 400
"""Beyond it a word stays as it is; the longest number that means something has some 310 digits before its point."""


def plain(word: str) -> str:
    """`31` for `0x1F`, `8` for `010`, `1500` for `1.5e3`; any other word, or an unusual number, as it is."""
    if len(word) > MAX_LENGTH or word[-1:] not in "0123456789abcdefABCDEF.":
        return word
    for pattern, base in ((HEXADECIMAL, 16), (OCTAL, 8)):
        if match := pattern.fullmatch(word):
            return match[1] + str(int(match[2], base))
    match = DECIMAL.fullmatch(word)
    if match is None:
        return word
    sign, whole, fraction, exponent = match.groups(default="")
    return sign + shifted(whole, fraction, int(exponent or 0)) if whole or fraction else word


def shifted(whole: str, fraction: str, by: int) -> str:
    """The digits before and after the point, once the point has moved to the right by so many places."""
    digits, point = whole + fraction, len(whole) + by
    digits = digits.rjust(len(digits) - min(point, 0), "0").ljust(point, "0")
    point = max(point, 0)
    whole, fraction = digits[:point].lstrip("0"), digits[point:].rstrip("0")
    return f"{whole or '0'}.{fraction}" if fraction else whole or "0"
