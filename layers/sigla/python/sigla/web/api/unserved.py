"""What a client is told where its request was not served: by a store that fails, or because another region takes it."""

from sigla.errors import (
    BodyLost,
    BodyNotRead,
    Closed,
    DataIsForeign,
    ForeignData,
    IssuerNotAsked,
    IssuerSilent,
    Refusal,
    StoreError,
    StoreFailed,
)
from sigla.regions.refusals import NotForwarded
from sigla.web.api.route import Route


def not_forwarded(route: Route | None, refusal: type[NotForwarded] = NotForwarded) -> NotForwarded:
    """What is told where another region takes what was asked."""
    operation = route.operation.removesuffix(" operation").lower() if route else "request"
    return refusal(operation="the" if operation == "request" else operation)


def unserved(route: Route | None, error: StoreError) -> Refusal:
    """What a client is told of storage that fails."""
    if isinstance(error, ForeignData):
        return DataIsForeign(operation=route.operation if route else "Request", why=error.why)
    if isinstance(error, Closed):
        return not_forwarded(route)
    if isinstance(error, IssuerSilent):
        return IssuerNotAsked(operation=route.operation if route else "Request")
    operation = route.about if route else "The request"
    return (
        BodyNotRead(operation=operation, lost=error)
        if isinstance(error, BodyLost)
        else StoreFailed(operation=operation)
    )
