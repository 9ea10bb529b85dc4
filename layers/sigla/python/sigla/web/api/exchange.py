"""One request on its way through: what its path and its query say."""

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field, replace
from functools import lru_cache

from sigla.auth.api_keys import Keys
from sigla.auth.permissions import ADMIN, Access
from sigla.errors import Denied, DeniedEverywhere
from sigla.model import DEFAULT_CONTEXT, SchemaId, Subject, Version
from sigla.rules import names
from sigla.web.api import queries
from sigla.web.api.rendered import Rendered
from sigla.web.http import paths

NO_QUERY: Mapping[str, list[str]] = {}
LONGEST_REMEMBERED = 256


@dataclass(frozen=True, slots=True)
class Service:
    """What `/v1/metadata` says of us."""

    cluster: str = "sigla"
    group: str = "schema-registry"
    version: str = "8.5.0"
    """The line of the API that we speak: clients choose by it what they dare to ask."""
    commit: str = "Unknown"


def read_query(raw: bytes) -> Mapping[str, list[str]]:
    """Every parameter with its values, in order. A plus is a space; bad escapes are refused like in a path.

    Long queries are not remembered: what is kept has a bound in bytes, too, and becomes a hundred times as many.
    """
    return _remembered_query(raw) if len(raw) <= LONGEST_REMEMBERED else _read_query(raw)


def _read_query(raw: bytes) -> Mapping[str, list[str]]:
    found: dict[str, list[str]] = {}
    for part in raw.decode("latin-1").replace("+", " ").split("&"):
        name, _, value = part.partition("=")
        if part:
            found.setdefault(_decode(name), []).append(_decode(value))
    return found


_remembered_query = lru_cache(maxsize=512)(_read_query)


def _decode(encoded: str) -> str:
    try:
        return (
            encoded if encoded.isascii() and "%" not in encoded else paths.unescape(encoded.encode("latin-1").decode())
        )
    except UnicodeDecodeError:
        return encoded  # raw bytes of another charset: read as they stand


@dataclass(slots=True)
class Exchange:
    """A request whose route is known.

    params: of the path, decoded. prefix: the parameter that a context in the path is put before, and how (CPATH-4, 5).
    context: the one that the path is below. sees_credentials: whether the caller may write what is the whole
    registry's, and so is told the credentials that are kept with it. may: what the caller may ask for; None:
    everything. caller: its name; empty where no credentials are asked for. reaches_everything: whether no
    prefixes confine it. if_match: the header, as it was sent. keys: those that requests may change; None: none.
    beside: paths that stand beside the API.
    """

    params: Mapping[str, str]
    raw_query: bytes
    rendered: Rendered
    service: Service
    prefix: tuple[str, str] | None = None
    context: str = DEFAULT_CONTEXT
    keys: Keys | None = None
    beside: Collection[str] = ()
    body: bytes = b""
    operation: str = ""
    sees_credentials: bool = True
    may: Collection[Access] | None = None
    caller: str = ""
    reaches_everything: bool = True
    if_match: bytes = b""
    _query: Mapping[str, list[str]] | None = field(default=None, repr=False)

    def check(self, access: Access, subject: Subject | None = None) -> None:
        """What a body asks for beyond its route. subject: whom the refusal names. Raises Denied."""
        if self.may is None or access in self.may:
            return
        if subject is None:
            raise DeniedEverywhere(operation=access.operation)
        raise Denied(operation=access.operation, subject=subject)

    @property
    def is_for_administrators(self) -> bool:
        """Whether the caller may be told who others are."""
        return self.may is None or ADMIN in self.may

    @property
    def asks_nothing(self) -> bool:
        """Whether the query is empty: so it is in most requests, and nothing has to be read."""
        return not self.raw_query and self.prefix is None

    @property
    def query(self) -> Mapping[str, list[str]]:
        if self._query is None:
            query = read_query(self.raw_query) if self.raw_query else NO_QUERY
            self._query = query if self.prefix is None else _prefixed(query, *self.prefix)
        return self._query

    @property
    def subject(self) -> Subject:
        return self._within(names.subject(self.params["subject"]))

    @property
    def version(self) -> Version:
        """Raises InvalidVersion."""
        return names.version(self.params["version"])

    @property
    def id(self) -> SchemaId:
        """Raises NoSuchArgument for anything but a 32-bit number."""
        return SchemaId(queries.number(self.params["id"]))

    def scope(self, subject: str) -> Subject | None:
        """The subject that says where an id is to be understood (ID-RES); None for an empty one."""
        return self._within(names.subject(subject)) if subject else None

    def _within(self, subject: Subject) -> Subject:
        return subject if self.context == DEFAULT_CONTEXT else replace(subject, under=self.context)


def _prefixed(query: Mapping[str, list[str]], name: str, prefix: str) -> Mapping[str, list[str]]:
    return {**query, name: [paths.qualify(prefix, value) for value in query.get(name) or [""]]}
