"""The keys of an issuer, as it publishes them (JWKS, RFC 7517), and where they come from."""

import json
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, Protocol

from sigla.auth.tokens.issuers import Issuer
from sigla.errors import IssuerSilent

LONGEST: Final = 2**20
"""Bytes of a document, of keys or of discovery."""

MOST: Final = 100
"""Keys of a set."""

_RSA: Final = ("RS256", "RS384", "RS512", "PS256", "PS384", "PS512")

KINDS: Final[Mapping[tuple[str, str], tuple[tuple[str, ...], tuple[str, ...]]]] = {
    ("RSA", ""): (("n", "e"), _RSA),
    ("EC", "P-256"): (("crv", "x", "y"), ("ES256",)),
    ("EC", "P-384"): (("crv", "x", "y"), ("ES384",)),
    ("EC", "P-521"): (("crv", "x", "y"), ("ES512",)),
    ("OKP", "Ed25519"): (("crv", "x"), ("EdDSA",)),
}
"""By type and curve of a key: the members that are the key, and the algorithms that it may be used with.

All are asymmetric: a key that everybody may read must not be one that signs.
"""

ALGORITHMS: Final = tuple(dict.fromkeys(name for _, names in KINDS.values() for name in names))


@dataclass(frozen=True, slots=True)
class Key:
    """A public key. jwk: the members that are the key itself. algorithms: those that it may be used with."""

    jwk: Mapping[str, str]
    algorithms: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class KeySet:
    """keys: by their kid, each with those of one name. read: when the issuer was asked, milliseconds since 1970."""

    keys: Mapping[str, tuple[Key, ...]]
    read: int


class KeySource(Protocol):
    """Where the keys of issuers are read."""

    def read(self, issuer: Issuer) -> KeySet:
        """Takes three seconds at most where it waits for others. Raises IssuerSilent."""
        ...


def parse(document: bytes) -> Mapping[str, tuple[Key, ...]]:
    """The keys of a set that may sign. What cannot be used here is passed by. Raises IssuerSilent."""
    if len(document) > LONGEST:
        raise IssuerSilent(f"its keys are more than {LONGEST} bytes")
    try:
        told = json.loads(document)
    except (ValueError, RecursionError):
        raise IssuerSilent("its keys are not JSON") from None
    listed = told.get("keys") if isinstance(told, dict) else None
    if not isinstance(listed, list):
        raise IssuerSilent("its keys are not a JSON object with a list of keys")
    if len(listed) > MOST:
        raise IssuerSilent(f"it has {len(listed)} keys; {MOST} are the most")
    found: dict[str, tuple[Key, ...]] = {}
    for one in listed:
        key = _public_key(one)
        if key is not None:
            found[one["kid"]] = (*found.get(one["kid"], ()), key)
    if not found:
        raise IssuerSilent("none of its keys can be used: a key needs a kid, and a type of those that sign")
    return found


def _public_key(told: Any) -> Key | None:
    if not isinstance(told, dict) or not isinstance(told.get("kid"), str):
        return None
    crv = told.get("crv", "")
    kty = told.get("kty")
    if not isinstance(kty, str) or not isinstance(crv, str) or (kty, crv) not in KINDS:
        return None
    members, algorithms = KINDS[kty, crv]
    if told.get("use", "sig") != "sig" or not _verifies(told.get("key_ops")):
        return None
    if "alg" in told:
        algorithms = tuple(name for name in algorithms if name == told["alg"])
    if not algorithms or not all(isinstance(told.get(name), str) for name in members):
        return None
    return Key({"kty": kty, **{name: told[name] for name in members}}, algorithms)


def _verifies(operations: object) -> bool:
    return operations is None or (isinstance(operations, list) and "verify" in operations)
