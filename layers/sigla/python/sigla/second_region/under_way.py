"""Work that may take longer than a client waits: a client that asks for it again gets what comes of the first time."""

from collections.abc import Callable
from concurrent.futures import Future
from typing import Generic, TypeVar

T = TypeVar("T")


class WorkUnderWay(Generic[T]):
    """Any thread may ask. patience_s: so long one waits for what another one has begun."""

    def __init__(self, patience_s: float) -> None:
        self._patience_s = patience_s
        self._futures: dict[str, Future[T]] = {}

    def __call__(self, name: str, work: Callable[[], T]) -> T:
        """Does the work, or waits for that of this name. Raises what the work raises; TimeoutError for who waited."""
        mine = Future[T]()
        under_way = self._futures.setdefault(name, mine)
        if under_way is not mine:
            return under_way.result(self._patience_s)
        try:
            mine.set_result(work())
        except BaseException as failure:  # noqa: BLE001 - raised below, and to all who wait for it
            mine.set_exception(failure)
        finally:
            del self._futures[name]
        return mine.result()
