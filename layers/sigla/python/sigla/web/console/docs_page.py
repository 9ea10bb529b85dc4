"""`/docs` of `sigla serve`: every request, to read and to try. The page loads nothing from anywhere else.

Swagger UI comes with Sigla, as its package `swagger-ui-dist` holds it; `swagger_ui/SHA256SUMS` says which files. A
function has no such page: they are larger than all of its code.
"""

from collections.abc import Callable
from importlib import resources

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

PAGE = "/docs"
FILES = {
    "swagger-ui.css": "text/css; charset=utf-8",
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "start.js": "text/javascript; charset=utf-8",
}

_ITSELF = {
    "content-security-policy": (
        "default-src 'none'; script-src 'self'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
        "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
    ),
    "referrer-policy": "no-referrer",
}
"""A browser would refuse to load what is not of this server."""
_FRESH = {"cache-control": "no-cache", "x-content-type-options": "nosniff"}
"""Another release has other files under the same names."""


def routes() -> list[Route]:
    """The page and its files, for every caller: what it shows may be public, what it tries asks for a key."""
    page = Route(PAGE, _file("index.html", "text/html; charset=utf-8", _ITSELF))
    return [page, *(Route(f"{PAGE}/{name}", _file(name, media)) for name, media in FILES.items())]


def _file(name: str, media: str, headers: dict[str, str] | None = None) -> Callable[[Request], Response]:
    """An endpoint that reads the file when it is asked for, in a thread: few ask, and it is large."""

    def answered(_: Request) -> Response:
        content = resources.files("sigla.web.console").joinpath("swagger_ui", name).read_bytes()
        return Response(content, headers={"content-type": media, **_FRESH, **(headers or {})})

    return answered
