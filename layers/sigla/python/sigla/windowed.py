"""Work that goes on side by side, of which no more is begun than is asked for soon."""

from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor, Future, wait
from typing import TypeVar

T = TypeVar("T")
R = TypeVar("R")


def windowed(pool: Executor, work: Callable[[T], R], wanted: Iterable[T], most: int) -> Iterator[R]:
    """What comes of each, in the order of `wanted`: a thread that is free begins the next one, whatever the others do.

    most: under way, or done and not handed on yet; 1: one after the other. After an exception nothing more is begun,
    and what was under way has ended.
    """
    under_way = deque[Future[R]]()
    try:
        for each in wanted:
            under_way.append(pool.submit(work, each))
            if len(under_way) == most:
                yield under_way.popleft().result()
        while under_way:
            yield under_way.popleft().result()
    finally:
        for future in under_way:
            future.cancel()
        wait(under_way)
