"""An authenticator for `Authorization: Bearer`: tokens of known issuers.

A token that was verified is remembered by its digest until it expires, and for five minutes at most: that is how long
it goes on where its issuer has withdrawn its key. What was refused is not remembered.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from hashlib import sha256
from typing import Final

from sigla.auth.credentials import BASIC, BEARER, Authenticator, Slow
from sigla.auth.permissions import Principal, principal
from sigla.auth.tokens.checks import claimed_issuer, who
from sigla.auth.tokens.issuers import Issuer, Row
from sigla.auth.tokens.presented import LONGEST, Presented, TokenRefused, take_apart
from sigla.auth.tokens.published import Published
from sigla.bounded import BoundedMemory
from sigla.ports.clock import Clock, Moment

REMEMBERED_MS: Final = 300_000
MOST_REMEMBERED: Final = 4096
LONGEST_HEADER: Final = LONGEST + 64
"""Bytes. The scheme stands before the token, and perhaps some blanks."""


@dataclass(frozen=True, slots=True)
class Verified:
    """A token whose signature holds. at: the index of the row that it is; None where no row says what it may."""

    issuer: Issuer
    presented: Presented
    at: int | None

    @property
    def row(self) -> Row | None:
        return None if self.at is None else self.issuer.map[self.at]

    @property
    def principal(self) -> Principal:
        """Named with its issuer: the name of a key cannot have an '@', so that no token is taken for a key."""
        name = f"{who(self.presented.claims)}@{self.issuer.issuer.removeprefix('https://')}"
        return (
            principal(name, self.row.role, self.row.subjects, deletes=self.row.deletes)
            if self.row
            else Principal(name, ())
        )


@dataclass(frozen=True, slots=True)
class _Remembered:
    principal: Principal
    since: Moment
    lasts_ms: int


class BearerTokens:
    """An `Authenticator`. published: the keys of each issuer, by its name.

    waits: whether what takes long may be done while others are served; if so it raises `Slow`. registry: the one that
    is asked for; rows of a map that name others say nothing. Empty: all rows count.
    """

    schemes = (BEARER,)

    def __init__(
        self,
        issuers: Sequence[Issuer],
        published: Mapping[str, Published],
        clock: Clock,
        *,
        waits: bool = True,
        registry: str = "",
    ) -> None:
        self._registry = registry
        self._issuers = {issuer.issuer: issuer for issuer in issuers}
        self._published = published
        self._clock = clock
        self._waits = waits
        self._imported = False
        self._remembered: BoundedMemory[bytes, _Remembered] = BoundedMemory(MOST_REMEMBERED)

    def of(self, registry: str) -> "BearerTokens":
        """The same for one registry. Both know the keys of the issuers as soon as one has read them."""
        issuers = tuple(self._issuers.values())
        return BearerTokens(issuers, self._published, self._clock, waits=self._waits, registry=registry)

    def __call__(self, header: bytes | None) -> Principal | None:
        """None for a token that is not accepted. Raises Slow, IssuerSilent."""
        if header is None or len(header) > LONGEST_HEADER:
            return None
        digest = sha256(header).digest()
        remembered = self._remembered.get(digest)
        if remembered is not None and remembered.since.is_younger(remembered.lasts_ms, self._clock):
            return remembered.principal
        return self._meet(token_of(header), digest)

    def _meet(self, token: bytes, digest: bytes) -> Principal | None:
        try:
            presented = take_apart(token)
            issuer = claimed_issuer(presented, self._issuers, self._clock.now())
        except TokenRefused:
            return None
        judge = partial(self._judge, issuer, presented, digest)
        if self._waits and not (self._imported and self._published[issuer.issuer].knows(presented.header["kid"])):
            raise Slow(judge)
        return judge()

    def verified(self, token: bytes) -> Verified:
        """What the token is. Raises TokenRefused with the reason, IssuerSilent."""
        presented = take_apart(token)
        return self._verified(claimed_issuer(presented, self._issuers, self._clock.now()), presented)

    def load(self) -> None:
        """Imports the library that verifies, which otherwise comes with the first token. Raises ImportError."""
        from sigla.auth.tokens import signatures  # noqa: F401, PLC0415 - 0.3 s, which only a bearer is to pay for

        self._imported = True

    def _judge(self, issuer: Issuer, presented: Presented, digest: bytes) -> Principal | None:
        since = Moment.of(self._clock)
        try:
            verified = self._verified(issuer, presented)
        except TokenRefused:
            return None
        found = verified.principal
        lasts_ms = min(REMEMBERED_MS, int(1000 * presented.claims["exp"]) - since.now)
        if lasts_ms > 0:
            self._remembered.keep(digest, _Remembered(found, since, lasts_ms))
        return found

    def _verified(self, issuer: Issuer, presented: Presented) -> Verified:
        self.load()
        from sigla.auth.tokens.signatures import is_signed  # noqa: PLC0415 - as in `load`

        kid = presented.header["kid"]
        keys = self._published[issuer.issuer].find(kid)
        if not keys:
            raise TokenRefused(f"Its kid is {kid!r}, and the issuer publishes no key of that name that may sign.")
        if not any(is_signed(presented, key) for key in keys):
            raise TokenRefused(f"Its signature is not one of the key {kid!r} by {presented.header['alg']}.")
        return Verified(issuer, presented, issuer.row(presented.claims, self._registry))


def shows_token(header: bytes) -> bool:
    return header[:7].lower() == b"bearer "


def token_of(header: bytes) -> bytes:
    """The token of a header; empty for one of another scheme."""
    return header[7:].strip(b" ") if shows_token(header) else b""


class KeysAndTokens:
    """An `Authenticator` of both: who shows a token is asked nothing else."""

    schemes = (BASIC, BEARER)

    def __init__(self, keys: Authenticator, tokens: Authenticator) -> None:
        self._keys = keys
        self._tokens = tokens

    def __call__(self, header: bytes | None) -> Principal | None:
        return (self._tokens if header is not None and shows_token(header) else self._keys)(header)
