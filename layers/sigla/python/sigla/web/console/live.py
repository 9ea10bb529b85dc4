"""A page of live counters: from where each zone of this process has had its schemas, and how its ring is."""

from collections.abc import Callable, Sequence
from dataclasses import asdict
from importlib import resources
from typing import Protocol

from starlette.responses import HTMLResponse, JSONResponse, Response
from starlette.routing import Route

from sigla import __version__
from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.ports.zones import Pulse, Zone
from sigla.web.api.beside import for_keys

PAGE, FACTS = "/zones/live", "/zones/live.json"

_FRESH = {"cache-control": "no-store"}
_ITSELF = {
    **_FRESH,
    "content-security-policy": (
        "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; connect-src 'self'; img-src data:; "
        "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
}
"""The page is one file and asks only this server."""


class Counts(Protocol):
    """One instance's reads: bodies at hand, from the ring, from behind it; and how often one waited for another."""

    @property
    def memory(self) -> int: ...
    @property
    def ring(self) -> int: ...
    @property
    def behind(self) -> int: ...
    @property
    def waits(self) -> int: ...


class Watched:
    """A zone with its instances' counts.

    failures: how often a member of its ring has failed. probe: asks each member whether it is there.
    """

    def __init__(
        self,
        id: str,
        name: str,
        url: str,
        counts: Sequence[Counts],
        *,
        failures: Callable[[], int],
        probe: Callable[[], Sequence[Pulse]],
    ) -> None:
        self.id = id
        self._name = name
        self._url = url
        self._counts = counts
        self._failures = failures
        self._probe = probe
        self._pulses: Sequence[Pulse] = ()

    def beat(self, now: int) -> Zone:
        """For the directory, in the words of a zone in AWS: it is healthy also where its ring is not."""
        self._pulses = self._probe()
        down = sum(bool(pulse.failure) for pulse in self._pulses)
        reason = f"{down} of the {len(self._pulses)} members of its ring do not answer" if down else ""
        return Zone(self.id, self._name, self._url, healthy=True, checked=now, reason=reason)

    def facts(self) -> dict[str, object]:
        """As the last beat found the members."""
        return {
            "id": self.id,
            "name": self._name,
            "url": self._url,
            "instances": len(self._counts),
            "memory": sum(each.memory for each in self._counts),
            "ring": sum(each.ring for each in self._counts),
            "s3": sum(each.behind for each in self._counts),
            "waits": sum(each.waits for each in self._counts),
            "failures": self._failures(),
            "members": [asdict(each) for each in self._pulses],
        }


def routes(
    zones: Sequence[Watched], ring: str, authenticate: Authenticator | None, guesses: Guesses | None
) -> list[Route]:
    """The page and its facts, for those who may see metrics. ring: what the rings are made of, in words."""
    page = resources.files("sigla.web.console").joinpath("live.html").read_text("utf-8")

    def facts() -> Response:
        told = {"release": __version__, "made_of": ring, "zones": [zone.facts() for zone in zones]}
        return JSONResponse(told, headers=_FRESH)

    return [
        Route(PAGE, for_keys(lambda: HTMLResponse(page, headers=_ITSELF), authenticate, guesses)),
        Route(FACTS, for_keys(facts, authenticate, guesses)),
    ]
