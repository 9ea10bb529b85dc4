"""API keys: a name, a role, a reach, and what a secret is verified by. The secret itself is shown once and never kept.

{"name": "orders", "role": "writer", "subjects": ["orders-"], "verifier": "<SHA-256 in hex>", "created": 1700000000000}
"""

import json
import re
import secrets
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from hashlib import sha256
from typing import Protocol

from sigla.auth.permissions import ROLES, Principal, principal
from sigla.errors import StoreError

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")
"""No colon, which ends the name in Basic credentials; nothing that a file, an object or a shell would mind."""

SECRET_BYTES = 32


class Keys(Protocol):
    """Where keys are kept: one object each, so that reading one asks for nothing else.

    The comments are part of the promise: tests/unit/auth/test_keys_port.py holds every adapter to them.
    """

    def put(self, name: str, record: bytes) -> None:
        """Durable when it returns. Raises KeyTaken if there is one of this name; nothing has changed then."""
        ...

    def get(self, name: str) -> bytes | None:
        """None only if there is none. Raises StoreError where it cannot be told."""
        ...

    def list(self) -> Iterator[bytes]:
        """All, by name."""
        ...

    def remove(self, name: str) -> bool:
        """Whether there was one. Where nothing may be deleted a mark takes its place, which `get` does not tell."""
        ...


class KeyTaken(Exception):
    """There is a key of this name."""


class NotAKey(ValueError):
    """A name, a role or a prefix that no key can have; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class ApiKey:
    """As it is kept. subjects: prefixes; none of them is everything. created: milliseconds since the epoch."""

    name: str
    role: str
    subjects: tuple[str, ...]
    verifier: str
    created: int

    @property
    def principal(self) -> Principal:
        return principal(self.name, self.role, self.subjects)


def create(keys: Keys, name: str, role: str, subjects: Sequence[str], *, now: int) -> tuple[ApiKey, str]:
    """The key, with its secret: 256 random bits, which nobody guesses from their hash. Raises NotAKey, KeyTaken."""
    _check(name, role, subjects)
    secret = secrets.token_urlsafe(SECRET_BYTES)
    key = ApiKey(name, role, tuple(subjects), verifier_of(secret), now)
    keys.put(name, json.dumps(asdict(key)).encode())
    return key, secret


def read(record: bytes) -> ApiKey:
    """Raises StoreError for what is no key: it must neither open a door nor pass for a wrong secret."""
    try:
        said = json.loads(record)
        key = ApiKey(said["name"], said["role"], tuple(said["subjects"]), said["verifier"], said["created"])
        _check(key.name, key.role, key.subjects)
    except (ValueError, KeyError, TypeError) as damage:
        raise StoreError("an API key cannot be read") from damage
    return key


def verifier_of(secret: str) -> str:
    return sha256(secret.encode()).hexdigest()


def _check(name: str, role: str, subjects: Sequence[str]) -> None:
    if not NAME.fullmatch(name):
        raise NotAKey(f"{name!r} is no name of a key: letters, digits, '.', '_' and '-', at most 64, no sign first.")
    if role not in ROLES:
        raise NotAKey(f"{role!r} is no role; the roles are {', '.join(ROLES)}.")
    for prefix in subjects:
        if prefix.endswith("*"):
            raise NotAKey(f"{prefix!r} would mean names with a star in them; a prefix is written without one.")
