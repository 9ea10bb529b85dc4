"""Before a registry that asks for no keys: browsers of whoever reaches it reach it, too.

A page from anywhere may send requests to loopback and into the network of who looks at it. It reads no answers as long
as its name is another one; but a name of its own that is made to lead to 127.0.0.1 (DNS rebinding) would be taken for
ours, and a write does its harm unread.
Browsers tell what they cannot be made to lie about: the name that was asked for (`Host`), and where a page is from
(`Origin`). A client that sends neither is not a browser.
"""

import ipaddress
import re
from collections.abc import Iterable, Mapping

from sigla.web.http.refusals import ForeignHost, ForeignOrigin

SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
"""Methods that change nothing."""

ANY = "*"
REMEMBERED = 64
LOCALHOST = "localhost"

_AUTHORITY = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^:/@\s\[\]]+)(:\d*)?")


class Guard:
    """hosts: names that lead here, besides those of loopback; None: any, as to what others than this machine reach.

    origins: whose pages may write, besides our own.
    """

    def __init__(self, hosts: Iterable[str] | None = (), origins: Iterable[str] = ()) -> None:
        """Raises ValueError, which names the invalid host."""
        self._is_for_all = hosts is None
        self._hosts = frozenset(host(in_authority(each)) for each in hosts or ())
        self._origins = frozenset(origins)
        self._known: set[bytes] = set()

    def __call__(self, method: str, headers: Mapping[bytes, bytes]) -> None:
        """Raises ForeignHost, ForeignOrigin."""
        asked = headers.get(b"host", b"")
        if not self._is_for_all and asked and asked not in self._known:
            self._admit(asked)
        if method not in SAFE and (origin := headers.get(b"origin")) is not None:
            self._check(origin.decode("latin-1"), asked.decode("latin-1"))

    def _admit(self, asked: bytes) -> None:
        said = asked.decode("latin-1")
        if not self._is_ours(said):
            raise ForeignHost(host=said)
        if len(self._known) < REMEMBERED:
            self._known.add(asked)

    def _is_ours(self, authority: str) -> bool:
        try:
            name = host(authority)
        except ValueError:
            return False
        # A page has no name below `localhost`: no one can have it in the DNS.
        return name in self._hosts or is_loopback(name) or name.endswith(f".{LOCALHOST}")

    def _check(self, origin: str, asked: str) -> None:
        """Our own pages have the name that was asked for; a proxy in front may speak TLS."""
        _, _, authority = origin.partition("://")
        own = bool(authority) and authority.lower() == asked.lower()
        if not own and origin not in self._origins and ANY not in self._origins:
            raise ForeignOrigin(origin=origin)


def host(authority: str) -> str:
    """The name or address in what may have a port, as all spellings of it are compared. Raises ValueError."""
    found = _AUTHORITY.fullmatch(authority.lower())
    if found is None:
        raise ValueError(f"invalid host name {authority!r}")
    return found["name"].strip("[]").removesuffix(".")


def in_authority(name: str) -> str:
    """As it stands before a port: an address of IPv6 in brackets, whatever else it is as it is."""
    try:
        return f"[{ipaddress.IPv6Address(name)}]"
    except ValueError:
        return name


def is_loopback(name: str) -> bool:
    """Whether only this machine reaches it. Only `localhost` is known to mean that among names."""
    try:
        return ipaddress.ip_address(name).is_loopback
    except ValueError:
        return name == LOCALHOST
