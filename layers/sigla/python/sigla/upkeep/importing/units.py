"""Many units of work, each of which may be done again: two hundred durable together, or a few at a time."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, nullcontext
from itertools import islice
from typing import Final, TypeVar

AT_ONCE: Final = 200
"""Units that become durable together, where a store can do that, and nothing else writes to it."""

SIDE_BY_SIDE: Final = 8
"""Threads for a store that is far away. Each puts two objects at a time: all that `aws.objects` does at once."""

Group = Callable[[], AbstractContextManager[object]]

Unit = TypeVar("Unit")
Result = TypeVar("Result")


def carry_out(
    units: Iterable[Unit],
    work: Callable[[Unit], Result],
    *,
    group: Group = nullcontext,
    threads: int = 1,
    at_once: int = AT_ONCE,
) -> Iterator[Result]:
    """What the work on each unit gives, in their order, told when it is durable.

    threads: so many units at a time. group: where one thread does it all, what is written inside becomes durable
    together. at_once: so many units, and other writers wait meanwhile. After an exception no other unit is begun, and
    those under way have ended.
    """
    units = iter(units)
    with ThreadPoolExecutor(threads, thread_name_prefix="importing") as pool:
        while some := list(islice(units, at_once)):
            if threads > 1:  # a group is of one thread, and the others would wait for its end
                results = list(pool.map(work, some))
            else:
                with group():
                    results = [work(unit) for unit in some]
            yield from results
