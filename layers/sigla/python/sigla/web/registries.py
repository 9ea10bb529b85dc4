"""Which registry a request is for, where one process serves several.

By what the request says, in this order: the host name that it was sent to; what stands behind the '@' of a Basic user,
which the name of a key cannot have; the registries for which the map has rows that hold for its token, and of several
the one that the header `target-sr-cluster` names. Never by the path: some clients drop what a URL has there.

Nothing of that is believed. It only says whose keys, and whose rows of the map, are asked then: a request that names
another registry than its own is one with an unknown key there.
"""

import re
from base64 import b64encode
from collections.abc import Callable, Iterable, Mapping, Sequence
from hashlib import sha256
from typing import Final

from starlette.types import ASGIApp, Receive, Scope, Send

from sigla.auth.credentials import Authenticator, Slow, name_and_secret
from sigla.auth.permissions import Principal
from sigla.auth.tokens.bearer import LONGEST_HEADER, shows_token, token_of
from sigla.auth.tokens.issuers import Issuer
from sigla.auth.tokens.presented import TokenRefused, take_apart
from sigla.bounded import BoundedMemory
from sigla.settings import REGISTRY_NAME, REGISTRY_NAME_FORM
from sigla.web.http.guard import LOCALHOST, host
from sigla.web.http.headers import picked
from sigla.web.http.refusals import NoRegistryHere, NoRegistryNamed, SeveralRegistries

AT: Final = "@"
CLUSTER: Final = b"target-sr-cluster"
"""Clients of Confluent's send it beside a token."""

MOST_TOKENS: Final = 4096
MOST_HOSTS: Final = 64
"""So many are remembered, each as it was spelled."""

_HOST = re.compile("[a-z0-9._-]+|[0-9a-f:.]+")
"""As clients send it: no wildcard, no list, and what is not ASCII as the DNS has it."""


class InvalidRegistries(ValueError):
    """What is wrong with the list of registries; the message is a sentence."""


def read(listed: Iterable[str], domain: str = "") -> Mapping[str, tuple[str, ...]]:
    """The host names of each registry, from `NAME` and `NAME=HOST`. A name may come again, with another host.

    Each is known as `NAME.localhost`, too: browsers and curl find that on their own machine. domain: where each is
    known by its name, as `NAME.DOMAIN`. Raises InvalidRegistries.
    """
    found: dict[str, list[str]] = {}
    owners: dict[str, str] = {}
    for each in listed:
        name, equals, given = each.partition("=")
        if not REGISTRY_NAME.fullmatch(name):
            raise InvalidRegistries(f"{name!r} cannot be the name of a registry: it must be {REGISTRY_NAME_FORM}.")
        own = [f"{name}.{LOCALHOST}", *([_host(f"{name}.{domain}")] if domain else [])]
        if not all(own):
            raise InvalidRegistries(f"{domain!r} names no domain: expected one such as registry.example.")
        if equals and not _host(given):
            raise InvalidRegistries(f"{each!r} names no host: expected NAME=HOST, as in payments=registry.example.")
        for known in (_host(given), *own) if equals else own:
            if owners.setdefault(known, name) != name:
                raise InvalidRegistries(f"{known} is the host name of {owners[known]}: {name} needs another one.")
            hosts = found.setdefault(name, [])
            if known not in hosts:
                hosts.append(known)
    return {name: tuple(hosts) for name, hosts in found.items()}


def _host(given: str) -> str:
    """As hosts are compared; empty where it names none."""
    try:
        found = host(given)
    except ValueError:
        return ""
    return found if _HOST.fullmatch(found) else ""


def check_rows(issuers: Sequence[Issuer], names: Iterable[str], *, elsewhere: bool = False) -> None:
    """Raises InvalidRegistries where a row of a map does not say for which of several registries it is.

    elsewhere: whether rows may name others, which are served by another process.
    """
    known = tuple(names)
    for issuer in issuers:
        for at, row in enumerate(issuer.map, 1):
            where = f"Row {at} of the map of {issuer.issuer}"
            if not row.registries:
                raise InvalidRegistries(f'{where} names no "registry": say for which of {", ".join(known)} it is.')
            if not elsewhere and (unknown := [each for each in row.registries if each not in known]):
                raise InvalidRegistries(f"{where} names the registry {unknown[0]!r}; here are {', '.join(known)}.")


class Choice:
    """`choice(headers)`: the name of a registry; empty where nothing chooses one.

    registries: their host names. issuers: of the tokens that are accepted.
    """

    def __init__(self, registries: Mapping[str, Sequence[str]], issuers: Sequence[Issuer] = ()) -> None:
        self._names = frozenset(registries)
        self._by_host = {each: name for name, hosts in registries.items() for each in hosts}
        self._issuers = {issuer.issuer: issuer for issuer in issuers}
        self._hosts: BoundedMemory[bytes, str] = BoundedMemory(MOST_HOSTS)
        self._tokens: BoundedMemory[bytes, tuple[str, ...]] = BoundedMemory(MOST_TOKENS)

    def __call__(self, headers: Mapping[bytes, bytes]) -> str:
        """headers: as `http.headers.picked` has them."""
        return self._asked_at(headers.get(b"host", b"")) or self._by_credentials(headers)

    def _asked_at(self, authority: bytes) -> str:
        known = self._hosts.get(authority)
        if known is not None:
            return known
        try:
            name = self._by_host.get(host(authority.decode("latin-1")), "")
        except ValueError:
            return ""
        if name:
            self._hosts.keep(authority, name)
        return name

    def _by_credentials(self, headers: Mapping[bytes, bytes]) -> str:
        said = headers.get(b"authorization", b"")
        if shows_token(said):
            names = self._of_token(said)
            wanted = names[0] if len(names) == 1 else headers.get(CLUSTER, b"").decode("latin-1")
            return wanted if wanted in names else ""
        _, at, wanted = name_and_secret(said)[0].rpartition(AT)
        return wanted if at and wanted in self._names else ""

    def _of_token(self, said: bytes) -> tuple[str, ...]:
        """What the maps have for its claims, true or not: that is a matter of its text alone."""
        if len(said) > LONGEST_HEADER or not self._issuers:
            return ()
        digest = sha256(said).digest()
        names = self._tokens.get(digest)
        if names is None:
            self._tokens.keep(digest, names := self._read(said))
        return names

    def _read(self, said: bytes) -> tuple[str, ...]:
        try:
            claims = take_apart(token_of(said)).claims
        except TokenRefused:
            return ()
        claimed = claims.get("iss")
        issuer = self._issuers.get(claimed) if isinstance(claimed, str) else None
        return tuple(name for name in issuer.registries(claims) if name in self._names) if issuer else ()


class ByRegistry:
    """Stands where one table of routes would: hands each request to the one of its registry.

    table: that of a registry, by its name. nowhere: answers what is for none of them.
    """

    def __init__(self, choice: Choice, table: Callable[[str], ASGIApp], nowhere: ASGIApp) -> None:
        self._choice = choice
        self._table = table
        self._nowhere = nowhere

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        name = self._choice(picked(scope["headers"]))
        await (self._table(name) if name else self._nowhere)(scope, receive, send)


class OfRegistry:
    """An `Authenticator` of one of several registries: its users may name it, as in `etl@payments`."""

    def __init__(self, name: str, authenticate: Authenticator) -> None:
        self._name = name
        self._authenticate = authenticate

    @property
    def schemes(self) -> tuple[str, ...]:
        return self._authenticate.schemes

    def __call__(self, header: bytes | None) -> Principal | None:
        return self._authenticate(header and self._own(header))

    def refuses(self, header: bytes) -> bool:
        """Whether Basic credentials name a registry. It is another one, so that they are refused, as slowly as its own.

        Raises StoreError.
        """
        name, secret = name_and_secret(header)
        user, at, _ = name.rpartition(AT)
        if at:
            self._authenticate(_basic(user, _WRONG + secret))
        return bool(at)

    def _own(self, header: bytes) -> bytes:
        name, secret = name_and_secret(header)
        user, at, named = name.rpartition(AT)
        return _basic(user, secret) if at and named == self._name else header


def _basic(user: str, secret: str) -> bytes:
    return b"Basic " + b64encode(f"{user}:{secret}".encode())


_WRONG: Final = "!"
"""No secret begins like this."""


class Unchosen:
    """An `Authenticator` for requests of which no registry was chosen: it says how to choose one.

    strangers: refuses credentials as a registry does, and takes as long. Without it the registries ask for no keys.
    tokens: verifies them, whatever they are good for.
    """

    def __init__(self, strangers: OfRegistry | None = None, tokens: Authenticator | None = None) -> None:
        self._strangers = strangers
        self._tokens = tokens
        self.schemes = strangers.schemes if strangers else ()

    def __call__(self, header: bytes | None) -> Principal | None:
        """Raises NoRegistryHere, NoRegistryNamed, SeveralRegistries, and as every authenticator."""
        if self._strangers is None:
            raise NoRegistryHere
        if header is not None and self._tokens is not None and shows_token(header):
            try:
                return _only_one(self._tokens(header))
            except Slow as slow:
                answer = slow.answer
                raise Slow(lambda: _only_one(answer())) from None
        if header is not None and self._strangers.refuses(header):
            return None
        raise NoRegistryNamed(self.schemes)


def _only_one(principal: Principal | None) -> Principal | None:
    """A token that is good for one registry would have chosen it. Raises SeveralRegistries."""
    if principal is not None and principal.may:
        raise SeveralRegistries
    return principal
