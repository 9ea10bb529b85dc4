"""The names of keys, looked up in the same steps whether a name is among them or not.

A set tells by its time: a hit compares, a miss does not. Here a name leads to the listed one that comes next, always
after as many comparisons, and the caller goes on with that one: a name without a key costs what its neighbour costs.
"""

from bisect import bisect_left
from collections.abc import Set as AbstractSet
from hashlib import blake2b
from hmac import compare_digest
from secrets import token_bytes
from typing import Final

from sigla.auth.api_keys import NAME

MARK_BYTES: Final = 15
"""Two of a million names have the same mark once in 10²⁴ lists."""


class ListedNames:
    """names: what no key can have is left out. Which one comes next is by a secret order, another one for each list.

    There are 2ᵏ entries, and the last one is not searched: so each search takes k steps, wherever it ends.
    """

    def __init__(self, names: AbstractSet[str]) -> None:
        self._key = token_bytes(16)
        marked = sorted((self._mark(name), name) for name in names if NAME.fullmatch(name))
        entries = 1 << max(len(marked) - 1, 0).bit_length()
        last = marked[-1] if marked else (1 << 8 * MARK_BYTES, "")
        marked += [last] * (entries - len(marked))
        self._marks = [mark for mark, _ in marked]
        self._names = [name for _, name in marked]
        self._searched = entries - 1

    def nearest(self, name: str) -> tuple[str, bool]:
        """The listed name that comes next, empty if no names are listed; and whether it is this one.

        name: one that a key can have.
        """
        found = self._names[bisect_left(self._marks, self._mark(name), 0, self._searched)]
        return found, compare_digest(found, name)

    def _mark(self, name: str) -> int:
        return int.from_bytes(blake2b(name.encode(), digest_size=MARK_BYTES, key=self._key).digest())
