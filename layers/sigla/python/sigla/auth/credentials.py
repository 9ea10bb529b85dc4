"""Who are you? An authenticator turns the Authorization header of a request into a principal.

Today there is one, for Basic credentials with API keys. One for tokens will be another function of the same type, and
`wiring` chooses.
"""

import hmac
from base64 import b64decode
from collections.abc import Callable
from collections.abc import Set as AbstractSet
from contextlib import suppress
from dataclasses import dataclass

from sigla.auth.api_keys import NAME, ApiKey, DamagedKey, Keys, read_key, verifier_of
from sigla.auth.permissions import Principal
from sigla.bounded import BoundedMemory
from sigla.errors import StoreError
from sigla.ports.clock import Clock, Moment

Authenticator = Callable[[bytes | None], Principal | None]
"""From the Authorization header, None without one, to its principal; None for unknown credentials. Raises StoreError.
"""

REMEMBERED_MS = 60_000
"""How long after it was read an accepted key is not asked for again: a revoked one may live so long."""

PATIENCE_MS = 5_000
"""While the store of keys is silent, how long until it is asked again for a key that was accepted before."""

FRESH_MS = 5_000
"""How long a record, or the list of names, answers for guesses: so many of them cost no read of the store each."""

MOST_REMEMBERED = 4096

LONGEST_HEADER = 1024
"""Bytes. A name and a secret take 150; blanks around them must not fill what is remembered."""

NOBODYS = verifier_of("")
"""What the secret of an unknown key is compared with, so that it takes as long as for a known one."""


@dataclass(frozen=True, slots=True)
class Accepted:
    principal: Principal
    since: Moment
    lasts_ms: int


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What stood under a name when it was read; without a key if it was missing or damaged."""

    key: ApiKey | None
    since: Moment


class BasicKeys:
    """An `Authenticator`: `Basic base64(name:secret)`.

    What was accepted is remembered for a minute, and longer while the store is silent. What was refused never is; but a
    wrong secret is compared with the record that was read a moment ago, and an unknown name looked for among the names
    listed a moment ago. So guesses cost next to nothing, and no number of them keeps the right key out.

    report: is told what is wrong with a damaged key, each time that it is read. fresh_ms: how long what was read
    answers for guesses; 0 where reading costs next to nothing, as in a directory: a new key is good at once there.
    remembered: so many keys are.
    """

    def __init__(
        self,
        keys: Keys,
        clock: Clock,
        report: Callable[[str, str], None] = lambda _name, _why: None,
        *,
        fresh_ms: int = FRESH_MS,
        remembered: int = MOST_REMEMBERED,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._report = report
        self._fresh_ms = fresh_ms
        self._accepted: BoundedMemory[bytes, Accepted] = BoundedMemory(remembered)
        self._found: BoundedMemory[str, KeyRecord] = BoundedMemory(remembered)
        self._names: tuple[AbstractSet[str], Moment] | None = None

    def __call__(self, header: bytes | None) -> Principal | None:
        if header is None:
            return None
        accepted = self._accepted.get(header)
        if accepted is not None and accepted.since.is_younger(accepted.lasts_ms, self._clock):
            return accepted.principal
        return self._judge(header, accepted)

    def _judge(self, header: bytes, before: Accepted | None) -> Principal | None:
        name, secret = _credentials(header)
        try:
            found = self._find(name)
        except StoreError:
            if before is None:
                raise
            accepted: Accepted | None = Accepted(before.principal, Moment.of(self._clock), PATIENCE_MS)
        else:
            accepted = _accepted(found, secret)
        if accepted is None:
            self._accepted.forget([header])
            return None
        self._accepted.keep(header, accepted)
        return accepted.principal

    def _find(self, name: str) -> KeyRecord:
        """Raises StoreError."""
        found = self._found.get(name)
        if found is not None and found.since.is_younger(self._fresh_ms, self._clock):
            return found
        since = Moment.of(self._clock)
        if not NAME.fullmatch(name) or self._is_unknown(name):
            return KeyRecord(None, since)
        record = self._keys.get(name)
        if record is None and not self._lists(name, since):
            return KeyRecord(None, since)
        found = KeyRecord(None if record is None else self._read(name, record), since)
        self._found.keep(name, found)
        return found

    def _read(self, name: str, record: bytes) -> ApiKey | None:
        try:
            return read_key(name, record)
        except DamagedKey as damage:
            self._report(name, damage.advice)
            return None

    def _is_unknown(self, name: str) -> bool:
        if self._names is None:
            return False
        names, since = self._names
        return name not in names and since.is_younger(self._fresh_ms, self._clock)

    def _lists(self, name: str, since: Moment) -> bool:
        """Whether a name without a key is listed all the same: one that was taken away may be.

        The names are listed for those who guess on, who need not be looked up one by one then.
        """
        if not self._fresh_ms:
            return False
        if self._names is None or not self._names[1].is_younger(self._fresh_ms, self._clock):
            with suppress(StoreError):
                self._names = self._keys.names(), since
        return self._names is not None and name in self._names[0]


def _accepted(found: KeyRecord, secret: str) -> Accepted | None:
    right = hmac.compare_digest(verifier_of(secret), NOBODYS if found.key is None else found.key.verifier)
    return Accepted(found.key.principal, found.since, REMEMBERED_MS) if found.key is not None and right else None


def _credentials(header: bytes) -> tuple[str, str]:
    """Name and secret; two empty texts, a name that no key has, for any other header."""
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() != b"basic" or len(header) > LONGEST_HEADER:
        return "", ""
    try:
        name, _, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return name, secret
