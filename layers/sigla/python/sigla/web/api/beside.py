"""What stands beside the API: its description, and endpoints for whoever has a key."""

from collections.abc import Awaitable, Callable
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sigla.auth.credentials import Authenticator
from sigla.errors import Refusal, StoreError, StoreFailed, Unauthorized
from sigla.web.api import openapi
from sigla.web.api.replies import refused
from sigla.web.api.wire import text

DESCRIPTION = "/openapi.json"

_JSON = {"content-type": "application/json"}


def description(authenticate: Authenticator | None, *, for_everybody: bool = False) -> Route:
    """The API as OpenAPI describes it. for_everybody: also for those without a key, where one is asked for."""
    closed = authenticate is not None
    answer = for_keys(
        lambda: Response(_described(closed=closed), headers=_JSON), None if for_everybody else authenticate
    )
    return Route(DESCRIPTION, answer)


@cache
def _described(*, closed: bool) -> bytes:
    return text.write(openapi.document(closed=closed))


def for_keys(
    answer: Callable[[], Response], authenticate: Authenticator | None
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for whoever has a key, whatever it may; where none is asked for, for everybody."""

    async def answered(request: Request) -> Response:
        refusal = _stranger(request, authenticate)
        return answer() if refusal is None else _refused(refusal)

    return answered


def _refused(refusal: Refusal) -> Response:
    told = refused(refusal)
    headers = _JSON | {name.decode(): value.decode() for name, value in told.headers}
    return Response(told.body, told.status, headers)


def _stranger(request: Request, authenticate: Authenticator | None) -> Refusal | None:
    """Why the caller is not let in; None where it is."""
    if authenticate is None:
        return None
    said = request.headers.get("authorization")
    try:
        principal = authenticate(None if said is None else said.encode("latin-1"))
    except StoreError:
        return StoreFailed(operation="The request")
    return None if principal else Unauthorized()
