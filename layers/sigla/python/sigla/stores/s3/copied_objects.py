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
LISTED: Final = 10_000
"""So is it after so many that are here already."""


def copy_objects(
    there: Objects,
    here: Objects,
    prefix: str,
    *,
    after: str = "",
    are_empty: bool = False,
    note: Callable[[str, int], None] = lambda _, __: None,
) -> None:
    """after: a name up to which all are here. are_empty: there is nothing in any of them.

    note: is told now and then up to which name all are here, and how many more that are; what it raises ends the copy.
    """
    create = partial(_create_empty, here) if are_empty else partial(_copy, there, here)

    def copy(each: tuple[str, bool]) -> tuple[str, bool]:
        name, is_missing = each
        if is_missing:
            create(name)
        return each

    looked_at = _looked_at(there.names(prefix, after=after), here.names(prefix, after=after))
    last, copied = after, 0
    with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="copied-objects") as pool:
        for last, was_missing in windowed(pool, copy, looked_at, 2 * AT_ONCE if AT_ONCE > 1 else 1):
            copied += was_missing
            if copied == NOTED or not was_missing:
                note(last, copied)
                copied = 0
    if copied:
        note(last, copied)


def _copy(there: Objects, here: Objects, name: str) -> None:
    stored = there.read(name)
    if stored is not None:
        here.create(name, stored.content)


def _create_empty(here: Objects, name: str) -> None:
    here.create(name, b"")


def _looked_at(wanted: Iterator[str], standing: Iterator[str]) -> Iterator[tuple[str, bool]]:
    """What the second of two lists in one order lacks, which is True, and now and then a name that both have."""
    here, both = next(standing, None), 0
    for name in wanted:
        while here is not None and here.encode() < name.encode():
            here = next(standing, None)
        both += here == name
        if here != name or both == LISTED:
            yield name, here != name
            both %= LISTED
