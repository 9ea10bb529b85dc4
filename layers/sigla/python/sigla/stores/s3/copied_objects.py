"""Objects that one bucket has and another one lacks are copied, each by itself; also on from where that was left."""

from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import Final

from sigla.stores.s3.objects import Objects
from sigla.windowed import windowed

AT_ONCE: Final = 24
"""Objects on their way; below the connections that a client keeps."""

NOTED: Final = 500
"""After so many the position is noted."""


def copy_objects(
    there: Objects,
    here: Objects,
    prefix: str,
    *,
    after: str = "",
    are_empty: bool = False,
    note: Callable[[str, int], bool] = lambda _, __: True,
) -> bool:
    """Whether it came to the end. after: a name up to which all are here. are_empty: there is nothing in any of them.

    note: is told now and then up to which name all are here, and how many more that are; where it says False, it ends.
    """
    missing = _missing(there.names(prefix, after=after), here.names(prefix, after=after))
    copy = partial(_create_empty, here) if are_empty else partial(_copy, there, here)
    copied, last = 0, after
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copied-objects") as pool:
        for last in windowed(pool, copy, missing, 2 * AT_ONCE if AT_ONCE > 1 else 1):
            copied += 1
            if copied == NOTED:
                if not note(last, copied):
                    return False
                copied = 0
    return note(last, copied) if copied else True


def _copy(there: Objects, here: Objects, name: str) -> str:
    stored = there.read(name)
    if stored is not None:
        here.create(name, stored.content)
    return name


def _create_empty(here: Objects, name: str) -> str:
    here.create(name, b"")
    return name


def _missing(wanted: Iterator[str], standing: Iterator[str]) -> Iterator[str]:
    """What the second of two lists in one order lacks."""
    here = next(standing, None)
    for name in wanted:
        while here is not None and here.encode() < name.encode():
            here = next(standing, None)
        if here != name:
            yield name
