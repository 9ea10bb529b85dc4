"""Who are you? An authenticator turns the Authorization header of a request into a principal.

Today there is one, for Basic credentials with API keys. One for tokens will be another function of the same type, and
`wiring` chooses.
"""

import hmac
from base64 import b64decode
from collections.abc import Callable
from dataclasses import dataclass

from sigla.auth.api_keys import NAME, Keys, read, verifier_of
from sigla.auth.permissions import Principal
from sigla.errors import StoreError
from sigla.ports import Clock

Authenticator = Callable[[bytes | None], Principal | None]
"""From the Authorization header, None if there is none, to whose it is; None for nobody's. Raises StoreError."""

REMEMBERED_MS = 60_000
"""How long an accepted key is not asked for again: a revoked one may live so long."""

PATIENCE_MS = 5_000
"""While the store of keys is silent, how long until it is asked again for a key that was accepted before."""

MOST_REMEMBERED = 4096

LONGEST_HEADER = 1024
"""Bytes. A name and a secret take 150; blanks around them must not fill what is remembered."""

NOBODYS = verifier_of("")
"""What the secret of an unknown key is compared with, so that it takes as long as for a known one."""


@dataclass(frozen=True, slots=True)
class Accepted:
    principal: Principal
    until: int


class BasicKeys:
    """An `Authenticator`: `Basic base64(name:secret)`.

    What was accepted is remembered for a minute, and longer while the store is silent; what was refused never is.
    """

    def __init__(self, keys: Keys, clock: Clock) -> None:
        self._keys = keys
        self._clock = clock
        self._accepted: dict[bytes, Accepted] = {}

    def __call__(self, header: bytes | None) -> Principal | None:
        if header is None:
            return None
        accepted = self._accepted.get(header)
        if accepted is not None and self._clock.now() < accepted.until:
            return accepted.principal
        return self._judge(header, accepted)

    def _judge(self, header: bytes, before: Accepted | None) -> Principal | None:
        try:
            principal, lasts = self._verified(header), REMEMBERED_MS
        except StoreError:
            if before is None:
                raise
            principal, lasts = before.principal, PATIENCE_MS
        self._accepted.pop(header, None)
        if principal is not None:
            if len(self._accepted) >= MOST_REMEMBERED:
                self._accepted.pop(next(iter(self._accepted)))
            self._accepted[header] = Accepted(principal, self._clock.now() + lasts)
        return principal

    def _verified(self, header: bytes) -> Principal | None:
        name, secret = _credentials(header)
        record = self._keys.get(name) if NAME.fullmatch(name) else None
        key = None if record is None else read(record)
        right = hmac.compare_digest(verifier_of(secret), NOBODYS if key is None else key.verifier)
        return key.principal if key is not None and right else None


def _credentials(header: bytes) -> tuple[str, str]:
    """Name and secret; two empty texts for what is no such header, a name that no key has."""
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() != b"basic" or len(header) > LONGEST_HEADER:
        return "", ""
    try:
        name, _, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return name, secret
