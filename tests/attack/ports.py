"""Ports with somebody between them and the verb: he may count the calls, fail them, or let another verb go first.

He stands before any adapter: what is attacked here on embedded stores can be attacked on others in the same words.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from sigla.ports import Bodies, Catalog


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a port, by its name: `catalog.snapshot`."""

    name: str
    arguments: tuple[Any, ...] = field(compare=False)

    @property
    def is_commit(self) -> bool:
        return self.name == "catalog.commit"


Between = Callable[[Call, Callable[[], Any]], Any]
"""Is handed each call and what carries it out, and answers in its place."""


class _Watched:
    def __init__(self, label: str, port: object, between: Between) -> None:
        self._label = label
        self._port = port
        self._between = between

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._port, name)

        def call(*args: Any, **kwargs: Any) -> Any:
            return self._between(Call(f"{self._label}.{name}", args), lambda: _settled(method(*args, **kwargs)))

        return call


def _settled(answer: Any) -> Any:
    """Lists are read to their end at once, so that a call is over when it returns."""
    return iter(list(answer)) if isinstance(answer, Iterator) else answer


def watched(catalog: Catalog, bodies: Bodies, between: Between) -> tuple[Catalog, Bodies]:
    """The same ports with somebody between."""
    return cast("Catalog", _Watched("catalog", catalog, between)), cast("Bodies", _Watched("bodies", bodies, between))


class Recorder:
    """Lets every call pass and remembers it."""

    def __init__(self) -> None:
        self.calls: list[Call] = []

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        self.calls.append(call)
        return carry_out()

    @property
    def names(self) -> list[str]:
        return [call.name for call in self.calls]


class At:
    """Lets all calls pass but one, the `number`-th from 0: that one `act` answers."""

    def __init__(self, number: int, act: Between) -> None:
        self._before = number
        self._act = act
        self.acted = False

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        if self.acted or self._before > 0:
            self._before -= 1
            return carry_out()
        self.acted = True
        return self._act(call, carry_out)
