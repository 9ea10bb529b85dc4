"""What is needed before what needs it."""

from collections.abc import Callable, Collection, Hashable, Iterable, Iterator
from typing import TypeVar

Item = TypeVar("Item", bound=Hashable)


def needed_first(items: Collection[Item], needs: Callable[[Item], Iterable[Item]]) -> Iterator[Item]:
    """Each once, in their own order but for what they need, which comes before. Others do not matter; cycles are cut.

    items: a set or a mapping, which can be asked quickly whether it has one.
    """
    entered: set[Item] = set()
    done: set[Item] = set()
    for begun in items:
        path = [begun]
        while path:
            item = path[-1]
            if item not in entered:
                entered.add(item)
                path += [each for each in needs(item) if each in items and each not in entered]
                continue
            path.pop()
            if item not in done:
                done.add(item)
                yield item
