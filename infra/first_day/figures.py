"""How long clients wait at each door. What is judged is that all are answered; the milliseconds are for a person."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from infra.first_day.asking import Answer, Door, Failed
from infra.first_day.day import PREFIX, WITHIN, Day, Figure

AT_ONCE: Final = 8
"""Clients that come at once: most of them need an environment that has to start."""


def many_come_at_once(day: Day, door: Door) -> str:
    """Twice: what the first time takes longer than the second is what a cold start costs a client."""
    slowest = []
    for what in (f"{AT_ONCE} at once, cold", f"{AT_ONCE} at once, warm"):
        with ThreadPoolExecutor(AT_ONCE) as crowd:
            answers = list(
                crowd.map(lambda _: door.ask("GET", f"/subjects?subjectPrefix={PREFIX}none"), range(AT_ONCE))
            )
        slowest.append(_figure(day, door, what, answers).quantile(1))
    return f"the slowest of {AT_ONCE} after {slowest[0]:,.0f} ms, the next time after {slowest[1]:,.0f} ms"


def reads_are_quick(day: Day, door: Door) -> str:
    """By id, one after the other on one connection, as a consumer's client asks."""
    path = f"{WITHIN}/schemas/ids/{day.id_at(door)}"
    return _p99(day, door, "reads by id", lambda ask, _: ask("GET", path), day.samples)


def writes_are_quick(day: Day, door: Door) -> str:
    """New versions of one subject: each draws an id, puts a body and commits."""
    path = f"/subjects/{day.subject(f'written-{door.name}')}/versions"
    day.wrote = True
    return _p99(
        day,
        door,
        "new versions",
        lambda ask, number: ask("POST", path, day.schema(f"written {door.name} {number}")),
        max(1, day.samples // 4),
    )


Ask = Callable[..., Answer]


def _p99(day: Day, door: Door, what: str, one: Callable[[Ask, int], Answer], samples: int) -> str:
    """Raises Failed if one is not answered, or if the alarm for latency would ring."""
    with door.line() as line:
        answers = [one(line.ask, number) for number in range(samples)]
    figure = _figure(day, door, what, answers)
    p99 = figure.quantile(0.99)
    told = f"p50 {figure.quantile(0.5):,.0f} ms, p99 {p99:,.0f} ms of {samples}"
    if p99 > day.slowest_ms:
        raise Failed(f"{told}: above {day.slowest_ms:,.0f} ms the door's alarm on latency rings")
    return told


def _figure(day: Day, door: Door, what: str, answers: list[Answer]) -> Figure:
    """Raises Failed with the first answer that is not a 200."""
    figure = Figure(door.name, what, tuple(answer.expect(200).ms for answer in answers))
    day.figures.append(figure)
    return figure
