"""The published description of the API, made of the table of routes."""

from collections.abc import Mapping
from functools import cache
from itertools import groupby
from typing import Any

from sigla import errors
from sigla.auth.credentials import BASIC, BEARER
from sigla.auth.permissions import OPEN
from sigla.contract import INTEGERS
from sigla.errors import PreconditionFailed, Refusal
from sigla.web.api.openapi_shapes import NUMBER, SHAPES, TEXT, Shape
from sigla.web.api.queries import Query
from sigla.web.api.route import Route
from sigla.web.api.routes import ROUTES
from sigla.web.http import refusals
from sigla.web.http.negotiate import PRODUCED

ABOUT = """A schema registry for Kafka. Every path is also there below `/contexts/{context}`, for that context.

Every refusal is a sentence with a number. An invalid boolean counts as false; an unknown parameter is ignored."""

EVERYWHERE = (
    refusals.BadRequest,
    refusals.NoSuchArgument,
    refusals.NotAcceptable,
    refusals.TargetTooLong,
    refusals.UnsupportedMediaType,
    refusals.Unexpected,
    errors.InvalidSubject,
    errors.StoreFailed,
    errors.TimedOut,
)
WITH_A_BODY = (refusals.BodyTooLarge, refusals.MissingBody)
CLOSED = (errors.Unauthorized, errors.Denied, errors.DeniedEverywhere)
SCHEMES: Mapping[str, tuple[str, Mapping[str, str]]] = {
    BASIC: ("key", {"type": "http", "scheme": "basic", "description": "An API key: its name and its secret"}),
    BEARER: (
        "token",
        {"type": "http", "scheme": "bearer", "bearerFormat": "JWT", "description": "A token of a known issuer"},
    ),
}
"""By the schemes of an authenticator: the name of each in the document, and what is said of it."""
WITHOUT_A_TYPE = (406,)
"""Answers that say nothing about their media type (HTTP-15)."""

_PATH_PARAMETERS: Mapping[str, Shape] = {
    "id": {**NUMBER, "minimum": INTEGERS[0], "maximum": INTEGERS[-1]},
    "version": {**TEXT, "examples": ["latest", "1"], "minLength": 1},
    "old": {**TEXT, "examples": ["1"], "minLength": 1},
    "new": {**TEXT, "examples": ["latest", "2"], "minLength": 1},
    "subject": {**TEXT, "examples": ["orders-value", ":.context:orders-value"], "minLength": 1},
    "context": {**TEXT, "examples": [".context"], "minLength": 1},
    "guid": {**TEXT, "minLength": 1},
    "kek": {**TEXT, "examples": ["orders-kek"], "minLength": 1},
    "exporter": {**TEXT, "examples": ["orders-exporter"], "minLength": 1},
    "key": {**TEXT, "examples": ["orders-producer"], "minLength": 1},
    "namespace": {**TEXT, "examples": ["-"], "minLength": 1},
    "resource": {**TEXT, "examples": ["orders"], "minLength": 1},
}


@cache
def document(schemes: tuple[str, ...] = ()) -> dict[str, Any]:
    """schemes: of the credentials that are asked for; none where everybody may do everything.

    The server is where the document is: a door may put the registry below a path.
    """
    paths: dict[str, Any] = {}
    for route in ROUTES:
        described = operation(route, schemes if route.access is not OPEN else ())
        paths.setdefault(route.path, {})[route.method.lower()] = described
    info = {"title": "Sigla", "version": "v1", "description": ABOUT}
    components = {
        "schemas": SHAPES,
        **({"securitySchemes": dict(map(SCHEMES.__getitem__, schemes))} if schemes else {}),
    }
    return {"openapi": "3.1.0", "info": info, "servers": [{"url": "."}], "paths": paths, "components": components}


def operation(route: Route, schemes: tuple[str, ...] = ()) -> dict[str, Any]:
    """What one row of the table publishes."""
    described: dict[str, Any] = {
        "summary": route.about,
        "operationId": f"{route.method.lower()}{route.path}",
        "tags": [route.path.split("/")[1] or "server"],
        "x-access": route.access.value,
        "parameters": [*_path_parameters(route), *map(_query_parameter, route.query), *_conditions(route)],
        "responses": {str(route.status): _success(route), **_refusals(route, CLOSED if schemes else ())},
    }
    if schemes:
        described["security"] = [{SCHEMES[scheme][0]: ()} for scheme in schemes]
    if route.body is not None:
        content = _content(route.body.shape)
        described["requestBody"] = {"required": bool(route.body.operation), "content": content}
    return described


def _path_parameters(route: Route) -> list[dict[str, Any]]:
    names = [segment[1:-1] for segment in route.path.split("/") if segment.startswith("{")]
    return [{"name": name, "in": "path", "required": True, "schema": _PATH_PARAMETERS[name]} for name in names]


def _query_parameter(query: Query) -> dict[str, Any]:
    return {"name": query.name, "in": "query", "description": query.about, "schema": query.kind.shape}


def _conditions(route: Route) -> list[dict[str, Any]]:
    about = "Tags of states in which alone the request is carried out"
    return [{"name": "If-Match", "in": "header", "description": about, "schema": TEXT}] if route.conditional else []


def _success(route: Route) -> dict[str, Any]:
    headers = {"X-Request-ID": {"schema": TEXT}}
    if route.validated:
        headers["ETag"] = {"schema": TEXT}
    success: dict[str, Any] = {"description": route.about, "headers": headers}
    return success if route.status == 204 else {**success, "content": _content(route.answers)}


def _refusals(route: Route, more: tuple[type[Refusal], ...]) -> dict[str, Any]:
    """Every refusal of a route, by status; of those with one number the most general says it."""
    conditions = (PreconditionFailed,) if route.conditional else ()
    given = {*EVERYWHERE, *route.refuses, *conditions, *(WITH_A_BODY if route.body else ()), *more}
    by_status = groupby(sorted(given, key=lambda one: (_status(one), one.code, one.__name__)), key=_status)
    told = {str(status): _refusal(status, list(kinds)) for status, kinds in by_status}
    return {**told, "304": {"description": "Not modified"}} if route.validated else told


def _refusal(status: int, kinds: list[type[Refusal]]) -> dict[str, Any]:
    told = [f"{kind.code}: {getattr(kind, 'text', kind.__name__)}" for kind in kinds]
    refusal: dict[str, Any] = {"description": "; ".join(told)}
    return refusal if status in WITHOUT_A_TYPE else {**refusal, "content": _content("Error")}


def _status(kind: type[Refusal]) -> int:
    return int(str(kind.code)[:3])


def _content(shape: str) -> dict[str, Any]:
    return {media: {"schema": {"$ref": f"#/components/schemas/{shape}"}} for media in PRODUCED}
