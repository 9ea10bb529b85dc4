"""A route of the API: what is asked, by whom it may be asked, how it can be answered."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from sigla.auth.permissions import Access
from sigla.errors import Refusal
from sigla.registry import Registry
from sigla.registry.conditions import Expected
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.queries import Query
from sigla.web.http.answer import Answer
from sigla.web.http.headers import tags


@dataclass(frozen=True, slots=True)
class Body:
    """shape: of the request, in `openapi_shapes`. operation: what a missing body is told; empty: it may be missing."""

    shape: str
    operation: str = ""


@dataclass(frozen=True, slots=True)
class Route:
    """endpoint: is called with the exchange, the registry and the values of the query, each as a keyword argument.

    answers: the shape of a success, in `openapi_shapes`. validated: carries an ETag and honours If-None-Match.
    lists: may tell as much as there is. of_server: about this very server and its region: it is never sent on to the
    other one, may wait for that, and is not for pages of browsers, but with `in_console` for the registry's own.
    conditional: honours If-Match, for the subject of
    the path or the context without one. registry_wide: is refused to principals with a reach.
    operation: what a request is told that took too long. parses: a language reads schemas, whatever is asked.
    parsed_for: the parameters that a language reads the schema for.
    """

    method: str
    path: str
    access: Access
    endpoint: Callable[..., Answer]
    about: str
    answers: str
    query: tuple[Query, ...] = ()
    body: Body | None = None
    refuses: tuple[type[Refusal], ...] = ()
    status: int = 200
    validated: bool = False
    lists: bool = False
    of_server: bool = False
    in_console: bool = False
    conditional: bool = False
    registry_wide: bool = False
    operation: str = "Request"
    parses: bool = False
    parsed_for: frozenset[str] = field(init=False)
    _readers: Mapping[str, tuple[str, Callable[[Sequence[str]], Any]]] = field(init=False, repr=False)
    _defaults: dict[str, Any] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        """What each request asks of its row is looked up once."""
        known = {
            "parsed_for": frozenset(query.name for query in self.query if query.parses),
            "_readers": {query.name: (query.argument, query.kind.read) for query in self.query},
            "_defaults": {query.argument: query.kind.default for query in self.query},
        }
        for name, value in known.items():
            object.__setattr__(self, name, value)

    @property
    def name(self) -> str:
        """What logs and metrics call it."""
        return f"{self.method} {self.path}"

    def is_quick(self, exchange: Exchange) -> bool:
        """Whether it is answered quickly whatever was registered: no list, and no language reads a schema."""
        if self.method != "GET" or self.lists or self.parses:
            return False
        return exchange.asks_nothing or not self.parsed_for or self.parsed_for.isdisjoint(exchange.query)

    def ask(self, exchange: Exchange, registry: Registry) -> Answer:
        """What the endpoint answers. Raises NoSuchArgument, and what the endpoint raises."""
        values = self._defaults
        if values and not exchange.asks_nothing:
            values = values.copy()
            for name, said in exchange.query.items():
                if known := self._readers.get(name):  # what else a client writes there is passed by
                    argument, read = known
                    values[argument] = read(said)
        if self.conditional and exchange.if_match and (wanted := tags(exchange.if_match)):
            scope = names.subject(exchange.params.get("subject", ""))
            registry = replace(registry, expected=Expected(scope, wanted))
        return self.endpoint(exchange, registry, **values)
