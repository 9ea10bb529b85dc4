"""What stands beside the API: its description, and endpoints for whoever has a key."""

from collections.abc import Awaitable, Callable
from functools import cache

from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from sigla.auth.credentials import Authenticator
from sigla.auth.guesses import Guesses
from sigla.auth.permissions import READ
from sigla.errors import DeniedEverywhere, Refusal, StoreError, StoreFailed, Unauthorized
from sigla.web.api import openapi
from sigla.web.api.callers import caller_of
from sigla.web.api.replies import refused
from sigla.web.api.waiting import keep_waiting
from sigla.web.api.wire import text
from sigla.web.http.headers import picked

DESCRIPTION = "/openapi.json"

_JSON = {"content-type": "application/json"}


def description(
    authenticate: Authenticator | None, guesses: Guesses | None = None, *, for_everybody: bool = False
) -> Route:
    """The API as OpenAPI describes it. for_everybody: also for those without a key, where one is asked for."""
    schemes = authenticate.schemes if authenticate else ()
    asked = None if for_everybody else authenticate
    return Route(DESCRIPTION, for_keys(lambda: Response(_described(schemes), headers=_JSON), asked, guesses))


@cache
def _described(schemes: tuple[str, ...]) -> bytes:
    return text.write(openapi.document(schemes))


def for_keys(
    answer: Callable[[], Response], authenticate: Authenticator | None, guesses: Guesses | None = None
) -> Callable[[Request], Awaitable[Response]]:
    """An endpoint for whoever has a key, or a token of a principal; where none is asked for, for everybody.

    guesses: keeps wrong secrets waiting, here as at the API.
    """

    async def answered(request: Request) -> Response:
        refusal = await _stranger(request, authenticate)
        if isinstance(refusal, Unauthorized):
            await keep_waiting(guesses, picked(request.scope["headers"]))
        return answer() if refusal is None else response_of(refusal)

    return answered


def response_of(refusal: Refusal) -> Response:
    """As the API words it, beside the API."""
    told = refused(refusal)
    headers = _JSON | {name.decode(): value.decode() for name, value in told.headers}
    return Response(told.body, told.status, headers)


async def _stranger(request: Request, authenticate: Authenticator | None) -> Refusal | None:
    """Why the caller is not let in; None where it is."""
    if authenticate is None:
        return None
    said = picked(request.scope["headers"]).get(b"authorization")
    try:
        principal = await caller_of(authenticate, said)
    except StoreError:
        return StoreFailed(operation="The request")
    except Refusal as refusal:
        return refusal
    if principal is None:
        return Unauthorized(authenticate.schemes)
    return None if principal.may else DeniedEverywhere(operation=READ.operation)
