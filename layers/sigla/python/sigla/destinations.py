"""Where the exporters of a registry lead to, and whether that is the registry itself.

Who has no exporters needs no client of HTTP: it is imported when the first question is asked.
"""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING

from sigla.exporters.nouns import Exporter
from sigla.ports.itself import Itself
from sigla.ports.store import Store

if TYPE_CHECKING:
    from sigla.remote.destination import HttpDestination


def of(store: Store, exporter: Exporter, *, beside: bool = True) -> "HttpDestination":
    """Where an exporter writes to. beside: whether that may be this machine, or what stands beside it."""
    from sigla.remote import destination as remote

    return remote.destination(
        exporter, store.secrets, store.clock, mark=store.mark, may_reach=_may_reach(beside=beside)
    )


def itself(store: Store, name: str, *, beside: bool) -> Itself:
    """beside: as of `of`."""

    def answers_at(settings: Mapping[str, str]) -> bool:
        from sigla.remote import destination as remote

        return remote.answers_at(settings, store.clock, mark=store.mark, may_reach=_may_reach(beside=beside))

    return Itself(name, store.mark, answers_at)


def _may_reach(*, beside: bool) -> Callable[[str], bool]:
    from sigla.remote import connections

    return connections.may_reach_all if beside else connections.may_reach_others
