"""The keys of issuers, read where these publish them: over HTTPS, or from a file of this machine.

A document may take three seconds and have a mebibyte. Redirects are not followed: what is asked is what the setting, or
the issuer's own discovery document, names.
"""

import json
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.client import HTTPException, HTTPSConnection
from pathlib import Path
from socket import SHUT_RDWR, socket
from threading import Event, Timer
from typing import Final
from urllib.parse import urlsplit

from sigla.auth.tokens.issuers import Issuer, is_https
from sigla.auth.tokens.key_sets import LONGEST, KeySet, parse
from sigla.errors import IssuerSilent
from sigla.ports.clock import Clock

DISCOVERY: Final = "/.well-known/openid-configuration"
PATIENCE_MS: Final = 3_000
"""For both documents together."""


class IssuerKeys:
    """A `KeySource` of this machine, and of the function that reads for others. patience_ms: for an issuer, in all."""

    def __init__(self, clock: Clock, *, patience_ms: int = PATIENCE_MS) -> None:
        self._clock = clock
        self._patience_ms = patience_ms

    def read(self, issuer: Issuer) -> KeySet:
        read = self._clock.now()
        return KeySet(parse(self.document(issuer)), read)

    def document(self, issuer: Issuer) -> bytes:
        """The keys as they are published. Raises IssuerSilent."""
        if issuer.jwks and not is_https(issuer.jwks):
            return _of_file(Path(issuer.jwks))
        deadline = self._clock.elapsed() + self._patience_ms
        return self._fetch(issuer.jwks or self._discovered(issuer, deadline), deadline)

    def _discovered(self, issuer: Issuer, deadline: int) -> str:
        """Where the issuer says that its keys are. Source: OpenID Connect Discovery 1.0, 4."""
        url = issuer.issuer.removesuffix("/") + DISCOVERY
        try:
            told = json.loads(self._fetch(url, deadline))
        except (ValueError, RecursionError):
            raise IssuerSilent(f"{url} is not JSON") from None
        if not isinstance(told, dict) or told.get("issuer") != issuer.issuer:
            named = told.get("issuer") if isinstance(told, dict) else told
            raise IssuerSilent(f"{url} is of another issuer, {named!r:.200}")
        keys = told.get("jwks_uri")
        if not isinstance(keys, str) or not is_https(keys):
            raise IssuerSilent(f"{url} names no URL with https:// for its keys")
        return keys

    def _left_s(self, deadline: int) -> float:
        return (deadline - self._clock.elapsed()) / 1000

    def _fetch(self, url: str, deadline: int) -> bytes:
        parts = urlsplit(url)
        if self._left_s(deadline) <= 0:
            raise IssuerSilent(f"{url} was not asked: the time was over")
        connection = HTTPSConnection(parts.hostname or "", parts.port, timeout=self._left_s(deadline))
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        try:
            connection.connect()
            with _ending(connection.sock, self._left_s(deadline)):
                connection.request("GET", target, headers={"Accept": "application/json"})
                with connection.getresponse() as answer:
                    document = answer.read(LONGEST + 1)
        except (OSError, HTTPException, ValueError) as silence:  # ValueError: a name that DNS cannot have
            why = getattr(silence, "verify_message", "") or getattr(silence, "strerror", "") or silence
            raise IssuerSilent(f"{url} does not answer ({why})") from None
        finally:
            connection.close()
        if answer.status != 200:
            raise IssuerSilent(f"{url} answers with status {answer.status}")
        if len(document) > LONGEST:
            raise IssuerSilent(f"{url} is more than {LONGEST} bytes")
        if answer.length:
            raise IssuerSilent(f"{url} breaks off")
        return document


@contextmanager
def _ending(connected: socket, after_s: float) -> Iterator[None]:
    """Ends a connection that goes on for too long. Raises TimeoutError then, whatever has come of it.

    The connection's own timeout begins anew with every byte that comes. An answer that is the connection's last one
    takes the socket from it, so it is the socket that is ended.
    """
    is_over = Event()

    def end() -> None:
        is_over.set()
        with suppress(OSError):
            connected.shutdown(SHUT_RDWR)

    timer = Timer(max(after_s, 0), end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
        if is_over.is_set():
            raise TimeoutError("its answer goes on for too long")


def _of_file(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            return file.read(LONGEST + 1)
    except (OSError, ValueError) as failure:
        raise IssuerSilent(f"{path} cannot be read ({getattr(failure, 'strerror', None) or failure})") from None
