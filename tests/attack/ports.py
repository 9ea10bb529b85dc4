"""A `Between` stands between a verb and what it calls: it may count the calls, fail them, or let another verb go first.

On the embedded stores it stands before the ports; before the AWS adapters would be too far away, for each of their
calls is several: there it stands before the clients (`tests.attack.aws`).
"""

import itertools
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, cast

from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog


@dataclass(frozen=True, slots=True)
class Call:
    """One call of a port or a client, by its name: `catalog.snapshot`, `s3.put_object`."""

    name: str
    arguments: tuple[Any, ...] = field(compare=False)

    @property
    def is_commit(self) -> bool:
        return self.name in {"catalog.commit", "dynamodb.transact_write_items"}


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


def client(label: str, client: Any, between: Between) -> Any:
    """The same client with a `Between` before it."""
    return _Watched(label, client, between)


def _settled(answer: Any) -> Any:
    """Lists are read to their end at once, so that a call is over when it returns."""
    return iter(list(answer)) if isinstance(answer, Iterator) else answer


def watched(catalog: Catalog, bodies: Bodies, between: Between) -> tuple[Catalog, Bodies]:
    """The same ports with a `Between` before them."""
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
        self._number = number
        self._act = act
        self._begun = itertools.count()
        self.call: Call | None = None

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        if next(self._begun) != self._number:  # drawn in one step: some calls are made side by side
            return carry_out()
        self.call = call
        return self._act(call, carry_out)

    @property
    def acted(self) -> bool:
        return self.call is not None
