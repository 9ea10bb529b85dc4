"""The order in which the reference walks over names: that of a hash set of the Java platform.

Which of two findings comes first means nothing, but clients see it. How names are hashed and how a table grows is told
in the documentation of `String.hashCode` and `HashMap` (Java SE).
"""

from collections.abc import Iterable
from typing import Final

SMALLEST: Final = 16
"""The buckets that a table begins with."""
MASK: Final = 0xFFFFFFFF
LONG: Final = 64
"""From so many characters on, the hash is cut to its size at every step."""


def in_java_order(first: Iterable[str], more: Iterable[str] = ()) -> list[str]:
    """The names of two maps, each once, as a set iterates that was made of the keys of one and given the other's.

    first, more: in the order in which they were put into their maps.
    """
    names, others = list(dict.fromkeys(first)), list(dict.fromkeys(more))
    codes = {name: _spread(name) for name in (*names, *others)}
    if len(codes) < 2:
        return [*codes]
    arrived = dict.fromkeys((*_iterated(names, SMALLEST, codes), *_iterated(others, SMALLEST, codes)))
    return _iterated([*arrived], _room(int(len(names) / 0.75) + 1), codes)


def _iterated(names: list[str], room: int, codes: dict[str, int]) -> list[str]:
    """Bucket by bucket, inside of one in the order of arrival; a table that is three quarters full doubles."""
    while len(names) * 4 > room * 3:
        room *= 2
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
    units = name.encode("utf-16-le", "surrogatepass")
    for low, high in zip(units[::2], units[1::2], strict=True):
        code = (31 * code + low + (high << 8)) & MASK
    return code ^ (code >> 16)
