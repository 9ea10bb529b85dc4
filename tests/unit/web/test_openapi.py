import re

import pytest

from sigla.auth.permissions import Access
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.role_form import form_of_role
from sigla.web.api import openapi
from sigla.web.api.openapi_shapes import SHAPES
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES

LOOKS = (
    "POST /subjects/{subject}",
    "POST /associations:batchGet",
    "POST /",
    "POST /console/api/subjects/{subject}/verdict",
    "POST /console/api/decode",
)
FOR_ADMINISTRATORS = (
    "GET /console/api/log",
    "GET /console/api/regions",
    "GET /console/api/regions/other",
    "GET /console/api/keys",
    "GET /console/api/keys/{key}/use",
)
"""What tells of everybody, and changes nothing."""
OPERATIONS = [(route, openapi.document()["paths"][route.path][route.method.lower()]) for route in ROUTES]


def test_the_document_refers_to_nothing_it_does_not_have() -> None:
    """A generator of clients would stop there."""
    used = set(re.findall(r"#/components/schemas/(\w+)", str(openapi.document())))
    assert used <= set(SHAPES)
    assert set(SHAPES) - used <= {"Name"}


@pytest.mark.parametrize("route, operation", OPERATIONS, ids=lambda one: one.name if isinstance(one, Route) else "")
def test_every_refusal_of_a_route_is_documented(route: Route, operation: dict[str, dict[str, object]]) -> None:
    """With its number, under its status."""
    for refusal in route.refuses:
        assert str(refusal.code) in str(operation["responses"][str(refusal.code)[:3]])


@pytest.mark.parametrize("route", ROUTES, ids=lambda route: route.name)
def test_what_changes_something_asks_for_more_than_reading(route: Route) -> None:
    """Permissions will be decided by this column. Lookups and checks are reads, whatever their method."""
    asks = route.path.startswith("/compatibility") or route.name in LOOKS
    changes = (route.method != "GET" and not asks) or route.name in FOR_ADMINISTRATORS
    assert (route.access in (Access.WRITE, Access.DELETE, Access.ADMIN)) is changes


def test_a_role_has_the_members_that_a_region_demands() -> None:
    """Neither more nor fewer: `PUT /regions/role` takes no other form."""
    assert [*SHAPES["Role"]["properties"]] == [*form_of_role(Role(1, RegionKind.PRIMARY))]
