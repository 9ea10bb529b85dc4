"""The order in which the reference walks over names: that of a hash set of the Java platform.

Which of two findings comes first means nothing, but clients see it. How names are hashed and how a table grows is told
in the documentation of `String.hashCode` and `HashMap` (Java SE).
"""

import sys
from collections.abc import Iterable
from operator import mul
from typing import Final

from sigla import effort

SMALLEST: Final = 16
"""The buckets that a table begins with."""
MASK: Final = 0xFFFFFFFF
LONG: Final = 64
"""Units that are hashed at a time, each with its power: for fewer, a plain loop is faster."""
POWERS: Final = tuple(pow(31, LONG - 1 - place, MASK + 1) for place in range(LONG))
UNITS_PER_STEP: Final = 8
UTF_16: Final = "utf-16-le" if sys.byteorder == "little" else "utf-16-be"
"""As this machine has its numbers, so that a view needs no swapping."""


def in_java_order(first: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """The names of two maps, each once, as a set iterates that was made of the keys of one and given the other's.

    first, more: in the order in which they were put into their maps.
    """
    names, others = list(dict.fromkeys(first)), list(dict.fromkeys(more))
    codes = {name: _spread(name) for name in effort.paced(dict.fromkeys((*names, *others)))}
    effort.pulse(len(codes))
    if len(codes) < 2:
        return [*codes]
    arrived = dict.fromkeys(_iterated(names, SMALLEST, codes))
    if len(codes) > len(names):
        arrived |= dict.fromkeys(_iterated(others, SMALLEST, codes))
    return _iterated([*arrived], _room(int(len(names) / 0.75) + 1), codes)


def _iterated(names: list[str], room: int, codes: dict[str, int]) -> list[str]:
    """Bucket by bucket, inside of one in the order of arrival; a table that is three quarters full doubles."""
    while len(names) * 4 > room * 3:
        room *= 2
    effort.pulse(len(names))
    return sorted(names, key=lambda name: codes[name] & (room - 1))


def _room(wanted: int) -> int:
    """The buckets of a table that is made for so many names: a power of two."""
    return max(SMALLEST, 1 << (wanted - 1).bit_length())


def _spread(name: str) -> int:
    """The hash of a text, of its UTF-16 units, with its upper half mixed into the lower."""
    code = 0
    if name.isascii() and len(name) < LONG:
        for unit in name.encode():
            code = 31 * code + unit
        code &= MASK
        return code ^ (code >> 16)
    units = memoryview(name.encode(UTF_16, "surrogatepass")).cast("H")
    effort.pulse(len(units) // UNITS_PER_STEP)
    for start in range(0, len(units), LONG):
        some = units[start : start + LONG]
        code = (code * pow(31, len(some), MASK + 1) + sum(map(mul, some, POWERS[-len(some) :]))) & MASK
    return code ^ (code >> 16)
