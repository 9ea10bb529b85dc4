"""What the registry's function tells the heartbeat of its zone: where it runs, and how the zone's ring is.

Only who may invoke the function itself can ask: what comes by a URL is wrapped in an event of that door.
"""

from collections.abc import Callable, Iterable
from dataclasses import asdict
from typing import Any

from sigla.aws import zone
from sigla.functions.lifecycle import Handler
from sigla.ports.zones import Pulse

ASKED = {"sigla": "probe"}
"""The event that asks."""

Told = dict[str, Any]


class Probe:
    """zone: the id of the zone that the function was given. members: asks each member of the ring."""

    def __init__(
        self, zone: str, environ: zone.Environ, members: Callable[[], Iterable[Pulse]], *, release: str
    ) -> None:
        self._zone = zone
        self._environ = environ
        self._members = members
        self._release = release

    def __call__(self) -> Told:
        """Everything is asked anew each time: of a snapshot, what was known before is another's."""
        where = zone.in_lambda(self._environ)
        return {
            "zone": self._zone,
            "runs_in": (where.id if where else "") or None,
            "members": [asdict(one) for one in self._members()],
            "release": self._release,
        }


def answering(handler: Handler, probe: Callable[[], Told]) -> Handler:
    """The handler, which answers probes as well."""

    def handle(event: Any, context: Any) -> Told:
        return probe() if event == ASKED else handler(event, context)

    return handle
