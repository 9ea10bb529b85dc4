"""Who issues the tokens that are accepted, and what their claims are good for: `SIGLA_ISSUERS`, read once.

[{"issuer": "https://id.example/realms/data", "audience": "sigla", "jwks": "https://…, or a path, or left out",
  "map": [{"when": {"groups": "data-eng"}, "role": "writer", "subjects": ["orders-"]}],
  "console": {"client": "sigla-console", "scope": "openid sigla"}}]

Rows of a map stand in an order: the first whose conditions all hold says role and prefixes, as those of an API key.
Where there are several registries, a row names its own: "registry": "payments", or a list. `console` is by which client
people sign in there; without it they do not.
"""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import urlsplit

from sigla.auth.api_keys import NotAKey, check_good_for
from sigla.auth.permissions import ADMIN, ROLES, reach

ANY: Final = "*"
"""As the last character of a condition: whatever follows."""

WORDS: Final = frozenset({"scope", "scp"})
"""Claims that are a list of words in one text (RFC 8693, 4.2)."""

_OF_AN_ISSUER: Final = frozenset({"issuer", "audience", "jwks", "map", "console"})
_HOST: Final = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")
"""What the policy of a page may name."""

_OF_A_CONSOLE: Final = frozenset({"client", "scope"})
OPENID: Final = "openid"
"""The scope that makes a request one of OpenID Connect (Core, 3.1.2.1)."""
_OF_A_ROW: Final = frozenset({"when", "role", "delete", "subjects", "registry"})


class InvalidIssuers(ValueError):
    """What is wrong with the setting; the message is a sentence."""


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a map. when: what claims must be. subjects: prefixes; none of them is everything.

    deletes: whether a writer may delete, too. registries: for which it is written; none of them: for whichever.
    """

    when: Mapping[str, str]
    role: str
    subjects: tuple[str, ...] = ()
    deletes: bool = False
    registries: tuple[str, ...] = ()

    def is_of(self, registry: str) -> bool:
        """Whether it counts in a registry; of whichever, where that is not known."""
        return not registry or not self.registries or registry in self.registries

    def unmet(self, claims: Mapping[str, object]) -> str:
        """The first claim that is not what it must be; empty where all are."""
        return next((name for name, wanted in self.when.items() if not _holds(name, claims.get(name), wanted)), "")


@dataclass(frozen=True, slots=True)
class ConsoleClient:
    """Who the console is at an issuer. client: its public id. scope: what it asks for, words in one text."""

    client: str
    scope: str


@dataclass(frozen=True, slots=True)
class Issuer:
    """jwks: where its keys are published, a URL or a path; empty: its discovery document says it.

    console: by which client people sign in to the console; None: not there.
    """

    issuer: str
    audiences: tuple[str, ...]
    jwks: str
    map: tuple[Row, ...]
    console: ConsoleClient | None = None

    def row(self, claims: Mapping[str, object], registry: str = "") -> int | None:
        """The index of the first row whose conditions all hold. registry: what other ones' rows say does not count."""
        return next((at for at, row in enumerate(self.map) if row.is_of(registry) and not row.unmet(claims)), None)

    def registries(self, claims: Mapping[str, object]) -> tuple[str, ...]:
        """Those that rows whose conditions all hold are written for."""
        return tuple(dict.fromkeys(name for row in self.map if not row.unmet(claims) for name in row.registries))


def _holds(name: str, claim: object, wanted: str) -> bool:
    """A text must be equal, a list must contain it; with `*` at its end they need only begin so."""
    if isinstance(claim, str):
        claim = claim.split(" ") if name in WORDS else [claim]
    if not isinstance(claim, list):
        return False
    texts = (each for each in claim if isinstance(each, str))
    if wanted.endswith(ANY):
        return any(each.startswith(wanted[:-1]) for each in texts)
    return wanted in texts


def read(text: str) -> tuple[Issuer, ...]:
    """The issuers of a JSON list. Raises InvalidIssuers."""
    try:
        told = json.loads(text, object_pairs_hook=_once)
    except (ValueError, RecursionError) as wrong:
        if isinstance(wrong, InvalidIssuers):
            raise
        raise InvalidIssuers(f"It is not JSON: {wrong}.") from None
    if not isinstance(told, list) or not told:
        raise InvalidIssuers("It is not a list of issuers.")
    issuers = tuple(_issuer(each, f"issuer {at}") for at, each in enumerate(told, 1))
    for issuer in issuers:
        if sum(each.issuer == issuer.issuer for each in issuers) > 1:
            raise InvalidIssuers(f"{issuer.issuer} is there twice: write it once; audience may be a list.")
    return issuers


def _once(members: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(members)
    if len(found) < len(members):
        twice = next(name for name in found if sum(each == name for each, _ in members) > 1)
        raise InvalidIssuers(f"{twice!r} occurs twice in one object.")
    return found


def _issuer(told: object, where: str) -> Issuer:
    said = _object(told, _OF_AN_ISSUER, where)
    issuer, jwks = _required_text(said, "issuer", where), said.get("jwks", "")
    if not issuer.isprintable() or any(character in issuer for character in " @"):
        raise InvalidIssuers(f"{where}: {issuer!r} cannot be the name of an issuer.")
    if not isinstance(jwks, str) or ("://" in jwks and not is_https(jwks)):
        raise InvalidIssuers(f"{where}: jwks is {jwks!r}; it must be a URL with https://, or the path of a file.")
    if not jwks and not (is_https(issuer) and not urlsplit(issuer).query):
        raise InvalidIssuers(f"{where}: {issuer!r} is not a URL with https://: set jwks, the place of its keys.")
    rows = said.get("map")
    if not isinstance(rows, list) or not rows:
        raise InvalidIssuers(f"{where}: map must be a list of rows; without one no token would be good for anything.")
    return Issuer(
        issuer,
        _one_or_more(said.get("audience"), "audience", where),
        jwks,
        tuple(_row(each, f"{where}, row {at} of map") for at, each in enumerate(rows, 1)),
        _console_client(said["console"], issuer, f"{where}, console") if "console" in said else None,
    )


def _console_client(told: object, issuer: str, where: str) -> ConsoleClient:
    said = _object(told, _OF_A_CONSOLE, where)
    client, scope = _required_text(said, "client", where), said.get("scope", OPENID)
    if not is_https(issuer) or urlsplit(issuer).query or not _HOST.fullmatch(urlsplit(issuer).netloc):
        raise InvalidIssuers(f"{where}: {issuer!r} is not a URL with https://, where a browser could sign in.")
    if not isinstance(scope, str) or OPENID not in scope.split(" "):
        raise InvalidIssuers(f"{where}: scope is {scope!r}; it must have the word {OPENID}.")
    return ConsoleClient(client, scope)


def _row(told: object, where: str) -> Row:
    said = _object(told, _OF_A_ROW, where)
    when = said.get("when")
    if not isinstance(when, dict) or not when:
        raise InvalidIssuers(f'{where}: when must name a claim; {{"sub": "*"}} is every token of the issuer.')
    for name, wanted in when.items():
        if not isinstance(wanted, str) or not wanted:
            raise InvalidIssuers(f"{where}: {name} is {wanted!r}; a claim is compared with a text.")
        if ANY in wanted[:-1]:
            raise InvalidIssuers(f"{where}: {name} is {wanted!r}; * may be the last character alone.")
    role = _required_text(said, "role", where)
    if said.get("subjects") == []:
        raise InvalidIssuers(f"{where}: subjects names none; leave it out where all subjects are meant.")
    prefixes = _one_or_more(said["subjects"], "subjects", where) if "subjects" in said else ()
    registries = _one_or_more(said["registry"], "registry", where) if "registry" in said else ()
    deletes = said.get("delete", False)
    if not isinstance(deletes, bool):
        raise InvalidIssuers(f"{where}: delete is {deletes!r}; it must be true or false.")
    try:
        check_good_for(role, prefixes, deletes=deletes)
    except NotAKey as problem:
        raise InvalidIssuers(f"{where}: {problem}") from None
    if ADMIN in ROLES[role] and reach(prefixes) is None and any(wanted.endswith(ANY) for wanted in when.values()):
        raise InvalidIssuers(f"{where}: an admin of everything needs conditions without *.")
    return Row(when, role, prefixes, deletes, registries)


def is_https(text: str) -> bool:
    """Whether it is a URL that may be asked for keys."""
    try:
        parts = urlsplit(text)
        return (
            parts.scheme == "https"
            and bool(parts.hostname)
            and parts.port != 0
            and not (parts.username or parts.password or parts.fragment)
            and text.isascii()
            and text.isprintable()
            and " " not in text
        )
    except ValueError:
        return False


def _object(told: object, known: frozenset[str], where: str) -> Mapping[str, Any]:
    if not isinstance(told, dict):
        raise InvalidIssuers(f"{where} is not an object.")
    if unknown := sorted(told.keys() - known):
        raise InvalidIssuers(f"{where}: unknown {', '.join(unknown)}. Valid: {', '.join(sorted(known))}.")
    return told


def _required_text(said: Mapping[str, Any], name: str, where: str) -> str:
    if not isinstance(said.get(name), str) or not said[name]:
        raise InvalidIssuers(f"{where}: {name} must be a text.")
    text: str = said[name]
    return text


def _one_or_more(told: object, name: str, where: str) -> tuple[str, ...]:
    """The texts of one text, or of a list."""
    texts: Sequence[object] = [told] if isinstance(told, str) else told if isinstance(told, list) else ()
    if not texts or not all(isinstance(each, str) and each for each in texts):
        raise InvalidIssuers(f"{where}: {name} must be a text, or a list of texts.")
    return tuple(map(str, texts))
