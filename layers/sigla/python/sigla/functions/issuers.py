"""Reads the keys of issuers of tokens, and puts them into the bucket: the registry's functions read them there.

Functions in zones have no way to the internet, and one that waited for an issuer would keep its clients waiting. An
issuer that does not answer, or answers nonsense, keeps the keys that stand in the bucket; those are believed for a day.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Any

from sigla import observe
from sigla.auth.tokens.issuers import Issuer
from sigla.errors import IssuerSilent, StoreError
from sigla.observe import Facts, Teller
from sigla.ports.clock import Clock

Event = Mapping[str, Any]
Put = Callable[[Issuer, bytes, int], bool]


class IssuersSilent(Exception):
    """Some issuers could not be read; the others were. The next turn comes within minutes."""


class IssuerTurns:
    """What Lambda calls. document: an issuer's keys as it publishes them. put: keeps them; whether it had to.

    tell: takes the lines of each invocation.
    """

    def __init__(
        self,
        issuers: Sequence[Issuer],
        document: Callable[[Issuer], bytes],
        put: Put,
        clock: Clock,
        *,
        tell: Teller = observe.tell,
    ) -> None:
        self._issuers = issuers
        self._document = document
        self._put = put
        self._clock = clock
        self._tell = tell

    def __call__(self, _: Event, context: Any = None) -> dict[str, Any]:  # noqa: ARG002 - Lambda's
        """What was done. Raises IssuersSilent."""
        written, silent = 0, []
        for issuer in self._issuers:
            try:
                written += self._put(issuer, self._document(issuer), self._clock.now())
            except (IssuerSilent, StoreError) as why:
                silent.append(issuer.issuer)
                message = f"The keys of the issuer {issuer.issuer} cannot be read: {why}."
                self._tell({"event": "issuer-silent", "issuer": issuer.issuer, "message": message})
        done: Facts = {"event": "issuers", "issuers": len(self._issuers), "written": written, "failing": len(silent)}
        self._tell(done)
        if silent:
            raise IssuersSilent(f"{len(silent)} of {len(self._issuers)} issuers could not be read")
        return done
