"""Who are you? An authenticator turns the Authorization header of a request into a principal.

There is one here for Basic credentials with API keys; `tokens/bearer.py` has one for tokens, and one for both. `wiring`
chooses.
"""

import hmac
from base64 import b64decode
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace
from secrets import token_hex
from typing import Final, Protocol

from sigla.auth.api_keys import (
    NAME,
    SECRET_BYTES,
    ApiKey,
    DamagedKey,
    KeyExpired,
    Keys,
    OpensNothing,
    Secret,
    SecretEnded,
    read_key,
    shown_moment,
    verifier_of,
)
from sigla.auth.key_members import MOST_SECRETS
from sigla.auth.listed_names import ListedNames
from sigla.auth.permissions import Principal
from sigla.bounded import BoundedMemory
from sigla.errors import StoreError
from sigla.ports.clock import Clock, Moment

BASIC: Final = "Basic"
BEARER: Final = "Bearer"
"""Schemes of authentication, as HTTP calls them."""


class Authenticator(Protocol):
    """schemes: what a caller without credentials is told to come with."""

    @property
    def schemes(self) -> tuple[str, ...]: ...

    def __call__(self, header: bytes | None) -> Principal | None:
        """From the Authorization header, None without one, to its principal; None for unknown credentials.

        Raises StoreError, Slow.
        """
        ...


class Slow(Exception):
    """Who it is cannot be told at once. answer: says it, as the authenticator would; it may wait for others."""

    def __init__(self, answer: Callable[[], Principal | None]) -> None:
        super().__init__()
        self.answer = answer


REMEMBERED_MS = 60_000
"""How long after it was read an accepted key is not asked for again: a revoked one may live so long."""

PATIENCE_MS = 5_000
"""While the store of keys is silent, how long until it is asked again for a key that was accepted before."""

FRESH_MS = 5_000
"""How long a record, or the list of names, answers for guesses: so many of them cost no read of the store each."""

MOST_REMEMBERED = 4096

LONGEST_HEADER = 1024
"""Bytes. A name and a secret take 150; blanks around them must not fill what is remembered."""

SETTLED_MS = 2_000
"""For so long after a change is noticed nothing that is read is believed later on: clocks of file systems tick."""

TOLD_MS = 60_000
"""How often it is told that an expired key is used: its client goes on trying."""

UNKNOWN = ""
"""A name that no key has, for what cannot be one. What is found under it is nothing."""


@dataclass(frozen=True, slots=True)
class Accepted:
    """until: when the secret ends, in milliseconds since the epoch."""

    principal: Principal
    since: Moment
    lasts_ms: int
    until: int


@dataclass(frozen=True, slots=True)
class KeyRecord:
    """What stood under a name when it was read; without a key if it was missing or damaged.

    secrets: as many for every record, and each in memory of its own, so that comparing them takes the same time. state:
    of all keys, at that time.
    """

    key: ApiKey | None
    since: Moment
    state: object
    secrets: tuple[Secret, ...]


class BasicKeys:
    """An `Authenticator`: `Basic base64(name:secret)`.

    What was accepted is remembered for a minute, and longer while the store is silent. What was refused never is; but a
    wrong secret is compared with the record that was read a moment ago, and an unknown name looked for among the names
    listed a moment ago. So guesses cost next to nothing, and no number of them keeps the right key out.

    A wrong secret takes as long as an unknown name: while the names are listed, that one is judged by the record of the
    listed name that comes next, whatever its secret is, and refused in the end. There are no two ways through the code.

    report: is told why a key opens nothing, each time that a damaged one is read. used: is told the name of an accepted
    key, each time that its record was looked at. remembered: so many keys are.
    """

    schemes = (BASIC,)

    def __init__(
        self,
        keys: Keys,
        clock: Clock,
        report: Callable[[str, OpensNothing], None] = lambda _name, _why: None,
        *,
        used: Callable[[str], None] = lambda _name: None,
        remembered: int = MOST_REMEMBERED,
    ) -> None:
        self._keys = keys
        self._clock = clock
        self._report = report
        self._used = used
        self._accepted: BoundedMemory[bytes, Accepted] = BoundedMemory(remembered)
        self._found: BoundedMemory[str, KeyRecord] = BoundedMemory(remembered + 1)
        self._told: BoundedMemory[str, Moment] = BoundedMemory(remembered)
        self._names: tuple[ListedNames, Moment, object] | None = None
        self._noticed: tuple[object, Moment] | None = None

    def __call__(self, header: bytes | None) -> Principal | None:
        if header is None:
            return None
        accepted = self._accepted.get(header)
        if accepted is not None and accepted.since.is_younger(accepted.lasts_ms, self._clock):
            return accepted.principal
        return self._judge(header, accepted)

    def _judge(self, header: bytes, before: Accepted | None) -> Principal | None:
        name, secret = name_and_secret(header)
        now = Moment.of(self._clock)
        try:
            accepted = self._accept(name, secret, now)
        except StoreError:
            if before is None:
                raise
            lasts_ms = min(PATIENCE_MS, before.until - now.now)
            accepted = replace(before, since=now, lasts_ms=lasts_ms) if lasts_ms > 0 else None
        if accepted is None:
            self._accepted.forget([header])
            return None
        self._accepted.keep(header, accepted)
        return accepted.principal

    def _accept(self, name: str, secret: str, now: Moment) -> Accepted | None:
        """None for credentials that are not accepted. Raises StoreError."""
        state = self._state(now)
        found, is_its_own = self._find(name, now, state)
        shown = verifier_of(secret)
        right = [each for each in found.secrets if hmac.compare_digest(shown, each.verifier)]
        if not right or not is_its_own or found.key is None:
            self._list_names(now, state)
            return None
        if right[0].until <= now.now:
            self._tell_expired(found.key, right[0], now)
            return None
        self._used(name)
        lasts_ms = min(REMEMBERED_MS, right[0].until - found.since.now)
        return Accepted(found.key.principal, found.since, lasts_ms, right[0].until)

    def _find(self, name: str, now: Moment, state: object) -> tuple[KeyRecord, bool]:
        """The record that a secret is compared with, and whether it is the one of this name. Raises StoreError."""
        wanted, is_its_own = self._look_up(name, state) if NAME.fullmatch(name) else (UNKNOWN, False)
        found = self._found.get(wanted)
        if found is not None and self._is_fresh(found.since, found.state, state):
            return found, is_its_own
        key = self._read(wanted)
        found = KeyRecord(key, now, state, filled_up(key.secrets if key else ()))
        if key or wanted == UNKNOWN or self._is_listed(wanted, now, state):
            self._found.keep(wanted, found)
        return found, is_its_own

    def _read(self, name: str) -> ApiKey | None:
        record = self._keys.get(name) if name else None
        if record is None:
            return None
        try:
            return read_key(name, record)
        except DamagedKey as damage:
            self._report(name, damage)
            return None

    def _look_up(self, name: str, state: object) -> tuple[str, bool]:
        """As `ListedNames.nearest`, of those that were listed a moment ago; without them every name may be known."""
        if self._names is None:
            return name, True
        names, since, then = self._names
        return names.nearest(name) if self._is_fresh(since, then, state) else (name, True)

    def _list_names(self, now: Moment, state: object) -> None:
        """For those who guess on, who need not be looked up one by one then."""
        if self._names is None or not self._is_fresh(*self._names[1:], state):
            with suppress(StoreError):
                self._names = ListedNames(self._keys.names()), now, state

    def _is_listed(self, name: str, now: Moment, state: object) -> bool:
        """A name without a key may be, if it was taken away."""
        self._list_names(now, state)
        return self._names is not None and self._names[0].nearest(name) == (name, True)

    def _state(self, now: Moment) -> object:
        """What the store says of all keys at once; notices when that changes."""
        state = self._keys.state()
        if self._noticed is None or self._noticed[0] != state:
            self._noticed = state, now
        return state

    def _is_fresh(self, since: Moment, then: object, state: object) -> bool:
        """Whether what was read answers for guesses: nothing has changed, and it was read a moment ago."""
        if not since.is_younger(FRESH_MS, self._clock):
            return False
        if state is None or self._noticed is None:
            return state is None
        return then == state and since.elapsed - self._noticed[1].elapsed >= SETTLED_MS

    def _tell_expired(self, key: ApiKey, secret: Secret, now: Moment) -> None:
        told = self._told.get(key.name)
        if told is not None and told.is_younger(TOLD_MS, self._clock):
            return
        self._told.keep(key.name, now)
        if secret.until == key.until:
            self._report(key.name, KeyExpired(f"it expired at {shown_moment(secret.until)}"))
        else:
            self._report(key.name, SecretEnded(f"its secret was replaced, and ended at {shown_moment(secret.until)}"))


def filled_up(found: tuple[Secret, ...]) -> tuple[Secret, ...]:
    """As many as a key can have at most; the secrets of those that are added are unknown."""
    return found + tuple(Secret(token_hex(SECRET_BYTES), 0) for _ in range(MOST_SECRETS - len(found)))


def reporting(tell: Callable[[dict[str, object]], None]) -> Callable[[str, OpensNothing], None]:
    """What tells a log why keys open nothing."""

    def report(name: str, why: OpensNothing) -> None:
        message = f"The key {name} opens nothing, because {why.advice}."
        tell({"event": why.event, "key": name, "message": message})

    return report


def name_and_secret(header: bytes) -> tuple[str, str]:
    """Those of Basic credentials; two empty texts, a name that no key has, for any other header."""
    scheme, _, encoded = header.partition(b" ")
    if scheme.lower() != b"basic" or len(header) > LONGEST_HEADER:
        return "", ""
    try:
        name, _, secret = b64decode(encoded.strip(), validate=True).decode().partition(":")
    except ValueError:
        return "", ""
    return name, secret
