"""A parameter of a query is a row, which says how it is read: the endpoint and the document follow from it."""

import inspect
from typing import Any, get_type_hints

import pytest

from sigla.auth.permissions import OPEN
from sigla.registry import Registry
from sigla.web.api import openapi
from sigla.web.api.exchange import Exchange, Service, read_query
from sigla.web.api.queries import FLAG, TEXT, TEXTS, Kind, Limit, Offset, Query, Word, Words
from sigla.web.api.replies import json_answer
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import NoSuchArgument
from tests.unit.web.conftest import Client

STRONG = frozenset({"STRONG"})


def value(kind: Kind, query: str) -> Any:
    """What a parameter `a` of this kind is in a query."""
    return Query("a", kind).read(read_query(query.encode()))


@pytest.mark.parametrize("said, expected", [("true", True), ("TRUE", True), ("1", False), ("yes", False), ("", False)])
def test_only_true_is_true(said: str, expected: bool) -> None:
    """§1.2: never an error."""
    assert value(FLAG, f"a={said}") is expected
    assert value(FLAG, "a") is False
    assert value(FLAG, "") is False


def test_the_first_value_counts_where_there_may_be_one() -> None:
    """§1.2: unless it is a list."""
    asked = "a=1&a=true"
    assert (value(TEXT, asked), value(FLAG, asked), list(value(TEXTS, asked))) == ("1", False, ["1", "true"])
    assert (value(TEXT, ""), list(value(TEXTS, ""))) == ("", [])


@pytest.mark.parametrize("said, expected", [("7", 7), ("%2B7", 7), ("007", 7), ("１", 1), ("", 9)])
def test_numbers_are_read_in_any_script(said: str, expected: int) -> None:
    """§1.2."""
    assert value(Limit(9), f"a={said}") == expected


@pytest.mark.parametrize("said", ["x", "1.5", "+7", "%207", "7%20", "2147483648", "-2147483649", "1_0", "9" * 5000])
@pytest.mark.parametrize("kind", [Limit(9), Offset()])
def test_what_is_not_a_number_is_not_found(kind: Kind, said: str) -> None:
    """§1.2: as if the path were unknown. An unencoded plus is a space."""
    with pytest.raises(NoSuchArgument):
        value(kind, f"a={said}")


@pytest.mark.parametrize("query, limit", [("", 9), ("a=3", 3), ("a=0", 9), ("a=-5", 9), ("a=10", 9), ("a=", 9)])
def test_a_limit_out_of_range_is_the_default(query: str, limit: int) -> None:
    """§2.2: also one above the maximum."""
    assert value(Limit(9), query) == limit


def test_a_negative_offset_is_not_found() -> None:
    """The reference fails here."""
    assert (value(Offset(), ""), value(Offset(), "a="), value(Offset(), "a=2")) == (0, 0, 2)
    with pytest.raises(NoSuchArgument):
        value(Offset(), "a=-1")


def test_words_that_are_not_on_the_list_are_not_found() -> None:
    """§1.2. An empty word stands for no word where one may stand, and is wrong in a list."""
    assert (value(Word(STRONG), ""), value(Word(STRONG), "a="), value(Word(STRONG), "a=STRONG")) == ("", "", "STRONG")
    assert (list(value(Words(STRONG), "")), value(Words(STRONG), "a=STRONG&a=STRONG")) == ([], ["STRONG"] * 2)
    for kind, query in (Word(STRONG), "a=strong"), (Words(STRONG), "a="), (Words(STRONG), "a=STRONG&a=x"):
        with pytest.raises(NoSuchArgument):
            value(kind, query)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_an_endpoint_takes_what_its_row_reads(route: Route) -> None:
    """A parameter is a row and an argument: this says which of the two is missing, or has another type."""
    row = {query.argument: get_type_hints(query.kind.read)["return"] for query in route.query}
    _, _, *arguments = inspect.signature(route.endpoint).parameters.values()
    if any(argument.kind is argument.VAR_KEYWORD for argument in arguments):
        return
    hints = get_type_hints(route.endpoint)
    taken = {argument.name: hints[argument.name] for argument in arguments}
    assert taken == row, f"the row of {route.name} reads {row}, and {route.endpoint.__name__} takes {taken}"


def test_a_row_is_all_that_a_parameter_needs(registry: Registry) -> None:
    """Read, given to the endpoint under its name, published: nothing else is to be changed for it."""

    def endpoint(exchange: Exchange, registry: Registry, **values: object) -> Answer:
        return json_answer(values)

    queries = (Query("latestOnly", FLAG, "Only the newest"), Query("limit", Limit(5)), Query("key", TEXTS))
    route = Route("GET", "/new", OPEN, endpoint, "Something new", "Empty", query=queries)

    def ask(query: str) -> str:
        nothing: Any = None
        return route.ask(Exchange({}, query.encode(), nothing, Service()), registry).body.decode()

    assert ask("") == '{"latest_only":false,"limit":5,"key":[]}'
    assert ask("latestOnly=true&key=a&unknown=1&key=b&limit=-1") == '{"latest_only":true,"limit":5,"key":["a","b"]}'
    published = {row["name"]: row["schema"] for row in openapi.operation(route)["parameters"]}
    assert published.keys() == {"latestOnly", "limit", "key"}
    assert published["key"] == {"type": "array", "items": {"type": "string"}}


def test_a_route_without_parameters_does_not_look_at_the_query(client: Client) -> None:
    """Clients send all kinds of things, and are answered as long as it does not matter."""
    assert client("GET", "/schemas/types?a=%zz").status == 200
    assert client("GET", "/subjects?a=%zz").status == 400
