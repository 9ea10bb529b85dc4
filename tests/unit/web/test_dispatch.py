from urllib.parse import quote

import pytest

from sigla.web.api.dispatch import Dispatch
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from sigla.web.http.refusals import MethodNotAllowed, NoSuchPath

DISPATCH = Dispatch(ROUTES)


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_every_route_is_found_by_its_own_path(route: Route) -> None:
    """With its parameters, whatever they hold."""
    names = [part[1:-1] for part in route.path.split("/") if part.startswith("{")]
    path = route.path
    for name in names:
        path = path.replace(f"{{{name}}}", quote(f"a/{name}", safe=""))
    found = DISPATCH.find(route.method, path.encode())
    assert found.route is route
    assert found.params == {name: f"a/{name}" for name in names}


def test_a_route_has_one_row() -> None:
    """One of two rows would never be asked."""
    assert len({route.name for route in ROUTES}) == len(ROUTES)


def test_literals_come_before_parameters() -> None:
    """A subject may be called as the API calls its things."""
    assert DISPATCH.find("GET", b"/schemas/types").route.path == "/schemas/types"
    assert DISPATCH.find("GET", b"/subjects/versions/versions").params == {"subject": "versions"}


@pytest.mark.parametrize(
    "path",
    [
        b"/nope",
        b"/schemas/ids",
        b"/config/a/b",
        b"/subjects/a/versions/1/nope",
        b"/Subjects",
        b"/dek-registry/v1/policy",
        b"/associations/resources",
        b"/associations:batch",
        b"/associations%3AbatchGet",
        b"/associations%3abatchMutate",
        b"/subjects" + b"/a" * 4000,
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST", "PATCH"])
def test_unknown_paths_are_not_found(method: str, path: bytes) -> None:
    """HTTP-15: whatever the method."""
    with pytest.raises(NoSuchPath):
        DISPATCH.find(method, path)


@pytest.mark.parametrize(
    "method, path",
    [
        ("DELETE", b"/contexts"),
        ("PATCH", b"/subjects"),
        ("GET", b"/contexts/.c"),
        ("GET", b"/associations"),
        ("GET", b"/associations:batchGet"),
        ("HEAD", b"/compatibility/subjects/a/versions"),
        ("BREW", b"/"),
    ],
)
def test_wrong_methods_are_refused(method: str, path: bytes) -> None:
    """HTTP-15."""
    with pytest.raises(MethodNotAllowed):
        DISPATCH.find(method, path)


def test_head_is_found_where_get_is() -> None:
    """HTTP-15."""
    assert DISPATCH.find("HEAD", b"/subjects").route.method == "GET"


def test_a_path_tells_its_methods() -> None:
    """HTTP-15, for OPTIONS."""
    assert DISPATCH.methods(b"/config") == ["DELETE", "GET", "HEAD", "OPTIONS", "PUT"]
    assert DISPATCH.methods(b"/compatibility/subjects/a/versions") == ["OPTIONS", "POST"]


def test_long_paths_are_found_and_not_remembered() -> None:
    """What strangers send must not stay in memory for ever."""
    name = "a" * 5000
    assert DISPATCH.find("GET", f"/config/{name}".encode()).params == {"subject": name}


def test_only_so_many_paths_are_remembered() -> None:
    """And all are found."""
    table = Dispatch(ROUTES, remembered=2)
    for id in (1, 2, 3, 1):
        assert table.find("GET", b"/schemas/ids/%d" % id).params == {"id": str(id)}


@pytest.mark.parametrize("method", ["POST", "PUT", "DELETE", "PATCH"])
def test_what_is_beside_the_table_has_other_methods_refused_here(method: str) -> None:
    """HTTP-15 holds for every path; whether metrics are of the API is nothing that a client knows."""
    table = Dispatch(ROUTES, ["/metrics", "/zones/live"])
    with pytest.raises(MethodNotAllowed):
        table.find(method, b"/metrics")
    with pytest.raises(NoSuchPath):
        table.find("GET", b"/metrics;odd")
    assert table.methods(b"/zones/live") == ["GET", "HEAD", "OPTIONS"]
    assert table.find("GET", b"/zones").route.path == "/zones"


@pytest.mark.parametrize(
    "path, family",
    [
        (b"/dek-registry/v1/secret-name", "/dek-registry/*"),
        (b"/contexts/.c/exporters", "/exporters"),
        (b"/subjects/orders/nope", "/subjects/*"),
        (b"/schemas/ids", "/schemas/*"),
        (b"/wp-login.php", "/*"),
        (b"//", "/*"),
        (b"/%ff", "/*"),
        (b"/%00", "/*"),
        (b"/", "/*"),
    ],
)
def test_a_path_that_leads_nowhere_has_a_class(path: bytes, family: str) -> None:
    """So that the log of a 404 says what clients look for, and never what a stranger made up."""
    assert DISPATCH.family(path) == family
