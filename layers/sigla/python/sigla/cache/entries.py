"""What stands under a key of a ring, told by its first byte.

| byte | then | means |
|---|---|---|
| `L` | a token | a lease: whoever has the token is reading the body behind the ring |
| `B` | eight bytes over key and body, the body | a body |
| `X` | | closed: read behind the ring, and put nothing here |

Anything else is garbage, and so is a body that is not the one of its key: members are caches, and are not believed.
"""

from dataclasses import dataclass
from hashlib import blake2b
from typing import Final

_LEASE, _BODY = b"L", b"B"
CLOSED: Final = b"X"

_DIGEST_BYTES = 8


@dataclass(frozen=True, slots=True)
class Kept:
    """A body's bytes, whole, and the ones that were put under this key."""

    content: bytes


@dataclass(frozen=True, slots=True)
class Leased:
    """Another reader has the lease. value: it distinguishes this lease from the next one of the same reader."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Garbage:
    """value: by which it can be replaced."""

    value: bytes


@dataclass(frozen=True, slots=True)
class Closed:
    """Whoever wants to know asks behind the ring."""


Entry = Kept | Leased | Closed | Garbage


def lease(token: bytes) -> bytes:
    return _LEASE + token


def body(key: str, content: bytes) -> bytes:
    return _BODY + _keyed_digest(key, content) + content


def read(key: str, value: bytes) -> Entry:
    if value.startswith(_LEASE):
        return Leased(value)
    if value == CLOSED:
        return Closed()
    start = len(_BODY) + _DIGEST_BYTES
    content = value[start:]
    if value[:start] == _BODY + _keyed_digest(key, content):
        return Kept(content)
    return Garbage(value)


def _keyed_digest(key: str, content: bytes) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES, key=blake2b(key.encode(), digest_size=16).digest()).digest()
