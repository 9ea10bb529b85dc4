"""Maximum matching between two lists: how many members can be paired off, each with one of its own (C.7.5).

Augmenting paths, found breadth first. Who may be paired with whom is asked only when it matters, since each answer can
be a comparison of large schemas: two lists that differ in a few places need few answers.
"""

from collections.abc import Callable, Generator, Mapping
from typing import Final, TypeAlias, TypeVar

Asked = TypeVar("Asked")
Told = TypeVar("Told")
Edge: TypeAlias = Callable[[int, int], Generator[Asked, Told, bool]]
"""Whether the left member i can be paired with the right member j. A generator: to answer, it may have to ask."""

NOBODY: Final = -1


def maximum(
    left: int, right: int, likely: Mapping[int, int], edge: Edge[Asked, Told]
) -> Generator[Asked, Told, dict[int, int]]:
    """The right partner of each left member that has one; given up once the smaller list cannot be paired off whole.

    likely: whom a left member is asked about first. Else the order is that of the lists, and whoever finds a free
    partner takes it: equal lists are paired index by index.
    """
    partner: dict[int, int] = {}
    owner: dict[int, int] = {}
    free = dict.fromkeys(range(right))
    exhausted: set[int] = set()
    spare = max(left - right, 0)
    for start in range(left):
        if not free or spare < 0:
            break
        came_from: dict[int, int] = {}
        i, j = start, likely.get(start, NOBODY)
        if j not in free or not (yield from edge(i, j)):
            step = yield from last_step(start, free, owner, exhausted, came_from, edge)
            if step is None:
                exhausted.update(came_from)  # no free partner is reached through these, now or later
                spare -= 1
                continue
            i, j = step
        del free[j]
        given_up = partner.get(i)
        partner[i], owner[j] = j, i
        while given_up is not None:
            i, j = came_from[given_up], given_up
            given_up = partner.get(i)
            partner[i], owner[j] = j, i
    return partner


def last_step(  # noqa: PLR0917 - the state of one search, which only this one calls
    start: int,
    free: dict[int, None],
    owner: dict[int, int],
    exhausted: set[int],
    came_from: dict[int, int],
    edge: Edge[Asked, Told],
) -> Generator[Asked, Told, tuple[int, int] | None]:
    """Who takes which free partner, at the end of the shortest way from the start; None if there is no way.

    On the way, members want partners that others have, and those others want new ones. came_from: for each such
    partner, who wants it.
    """
    wanting = [start]
    taken = [j for j in owner if j not in exhausted]
    for i in wanting:
        for j in free:
            if (yield from edge(i, j)):
                return i, j
        beyond = []
        for j in taken:
            if (yield from edge(i, j)):
                came_from[j] = i
                wanting.append(owner[j])
            else:
                beyond.append(j)
        taken = beyond
    return None
