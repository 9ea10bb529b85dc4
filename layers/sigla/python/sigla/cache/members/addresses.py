"""What an address in SIGLA_RING says; the table of them is in this folder's `__init__`."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import NoReturn
from urllib.parse import SplitResult, parse_qsl, urlsplit

VALKEY, MEMCACHED = "valkey", "memcached"


@dataclass(frozen=True, slots=True)
class Address:
    """protocol: VALKEY or MEMCACHED. user, group: of ElastiCache, a token being the password; both or neither.

    ca: a file of the certificates to trust, empty for the system's.
    """

    protocol: str
    host: str
    port: int
    tls: bool = False
    user: str = ""
    group: str = ""
    ca: str = ""


@dataclass(frozen=True, slots=True)
class _Scheme:
    protocol: str
    tls: bool
    options: frozenset[str]


_SCHEMES: Mapping[str, _Scheme] = {
    "valkey": _Scheme(VALKEY, tls=False, options=frozenset()),
    "valkeys": _Scheme(VALKEY, tls=True, options=frozenset({"ca", "iam"})),
    "memcached": _Scheme(MEMCACHED, tls=False, options=frozenset()),
    "memcacheds": _Scheme(MEMCACHED, tls=True, options=frozenset({"ca"})),
}


def read(text: str) -> Address:
    """Raises ValueError with a sentence; what may be a secret is not repeated in it."""
    try:
        parts = urlsplit(text.strip())
    except ValueError:
        raise ValueError("Invalid address of a cache: its brackets do not match.") from None
    scheme = _SCHEMES.get(parts.scheme)
    if scheme is None:
        _refuse(parts, f"it must begin with one of {', '.join(f'{name}://' for name in _SCHEMES)}")
    port = _port(parts)
    if not parts.hostname or not port or parts.path or parts.fragment:
        _refuse(parts, f"it must name a host and a port and no path, as in {parts.scheme}://10.0.0.7:6379")
    options = dict(parse_qsl(parts.query, keep_blank_values=True))
    for name in options.keys() - scheme.options:
        known = ", ".join(sorted(scheme.options)) or "none"
        _refuse(parts, f"unknown option {name}; valid options: {known}")
    user, group = parts.username or "", options.get("iam", "")
    if parts.password is not None:
        _refuse(parts, "a password does not belong there; with iam=<replication group> a token of IAM is the password")
    if bool(user) != bool(group):
        _refuse(parts, "a user and iam=<replication group> belong together, as in valkeys://user@host:6379?iam=group")
    return Address(scheme.protocol, parts.hostname, port, scheme.tls, user, group, options.get("ca", ""))


def _port(parts: SplitResult) -> int:
    """0 for an invalid port."""
    try:
        return parts.port or 0
    except ValueError:
        return 0


def _refuse(parts: SplitResult, why: str) -> NoReturn:
    named = (parts.netloc or parts.path).rpartition("@")[2]
    raise ValueError(f"Invalid address of a cache {parts.scheme}{'://' * bool(parts.scheme)}{named}: {why}.")
