"""Questions that do not wait for each other, where each trip is one to another machine."""

from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from sigla.model import Subject
from sigla.registry.resources import Resources, View

T = TypeVar("T")
A = TypeVar("A")
B = TypeVar("B")


def side_by_side(resources: Resources, asks: Sequence[Callable[[], T]]) -> list[T]:
    """What they come to, in their order; by a store of this machine they are answered one after the other.

    Raises what the first of them raises that fails.
    """
    if not resources.pays_for_reads or len(asks) < 2:
        return [ask() for ask in asks]
    with ThreadPoolExecutor(len(asks), thread_name_prefix="side-by-side") as executor:
        return list(executor.map(lambda ask: ask(), asks))


def both(resources: Resources, one: Callable[[], A], other: Callable[[], B]) -> tuple[A, B]:
    """As `side_by_side`, of two questions with answers of different kinds."""
    if not resources.pays_for_reads:
        return one(), other()
    with ThreadPoolExecutor(1, thread_name_prefix="side-by-side") as executor:
        asked = executor.submit(other)
        return one(), asked.result()


def beside_its_view(resources: Resources, subject: Subject, ask: Callable[[Subject], A]) -> tuple[View, A]:
    """As `Resources.ask`, and what else is asked about the subject, or about the one that its alias leads to."""
    view, found = both(resources, lambda: resources.look(subject), lambda: ask(subject))
    target = view.alias_target
    if target is None:
        return view, found
    return both(resources, lambda: resources.look(target), lambda: ask(target))


def in_time(ask: Callable[[], T], patience_s: float) -> T | None:
    """What it comes to; None where that takes longer, which then goes on beside. Raises what it raises."""
    executor = ThreadPoolExecutor(1, thread_name_prefix="in-time")
    try:
        return executor.submit(ask).result(patience_s)
    except TimeoutError:
        return None
    finally:
        executor.shutdown(wait=False)
