"""LocalStack's front doors: on this machine alone, with paths as they were sent, and function URLs without names.

The REST API also says what its gateway responses are, where it answers itself.

A function URL has a host name, `<id>.lambda-url.<region>.localhost.localstack.cloud`, which only a DNS server on the
internet knows. Here each is given a port, which is then its URL: the addresses of GATEWAY_LISTEN but the first, in the
order in which URLs are made. One that is gone leaves its port to the next.
"""

import json
from collections.abc import Iterator
from functools import partial
from typing import Any
from urllib.parse import unquote, urlsplit

from twisted.internet import endpoints

from localstack.aws.api.lambda_ import TooManyRequestsException
from localstack.config import GATEWAY_LISTEN
from localstack.services.apigateway.next_gen.execute_api.gateway_response import get_gateway_response_or_default
from localstack.services.apigateway.next_gen.execute_api.handlers.gateway_exception import GatewayExceptionHandler
from localstack.services.lambda_ import provider, urlrouter
from localstack.services.lambda_.invocation.models import lambda_stores

ADDRESSES = tuple(f"http://127.0.0.1:{address.port}/" for address in GATEWAY_LISTEN[1:])
"""That function URLs are given."""

_FunctionUrlConfig = provider.FunctionUrlConfig
_create_exception_response = GatewayExceptionHandler.create_exception_response
_event_for_lambda_url = urlrouter.event_for_lambda_url
_handle = urlrouter.FunctionUrlRouter.handle_lambda_url_invocation
_register_routes = urlrouter.FunctionUrlRouter.register_routes


def event_with_raw_path(api_id: str, request: Any) -> dict[str, Any]:
    """The event as Lambda has it: `rawPath` as sent, `requestContext.http.path` decoded. LocalStack decodes both."""
    event: dict[str, Any] = _event_for_lambda_url(api_id, request)
    path, _, query = request.environ["RAW_URI"].partition("?")
    event["rawQueryString"] = query
    event["rawPath"] = path
    event["requestContext"]["http"]["path"] = unquote(path)
    return event


def handle(self: urlrouter.FunctionUrlRouter, request: Any, **where: str) -> Any:
    """What the function URL answers; 429 for a function that may not run any more, where LocalStack has 500."""
    try:
        return _handle(self, request, **where)
    except TooManyRequestsException as refused:
        return urlrouter.Response(json.dumps({"Message": refused.message}), 429, mimetype="application/json")


def made() -> Iterator[tuple[str, Any]]:
    """Each function URL that there is, with its region."""
    for _, region, store in lambda_stores.iter_stores():
        for function in list(store.functions.values()):
            for url in list(function.function_url_configs.values()):
                yield region, url


def with_a_port(**told: Any) -> Any:
    """A new function URL at the first address that none has; if all are given away, under LocalStack's name for it."""
    given = {url.url for _, url in made()}
    return _FunctionUrlConfig(**told | {"url": next((each for each in ADDRESSES if each not in given), told["url"])})


def register_routes(self: urlrouter.FunctionUrlRouter) -> None:
    """LocalStack's own, and those by port."""
    if self.registered:
        return
    _register_routes(self)
    for address in ADDRESSES:
        port = urlsplit(address).port
        for host in ("127.0.0.1", "localhost"):
            for path in ("/", "/<path:path>"):
                self.router.add(path, host=f"{host}:{port}", endpoint=partial(answer, self, address))


def answer(urls: urlrouter.FunctionUrlRouter, address: str, request: Any, **_: str) -> Any:
    """What the function URL answers that has this address; 403, as LocalStack has it, if none has."""
    there = ((region, url.url_id) for region, url in made() if url.url == address)
    region, api_id = next(there, ("us-east-1", "none"))
    return urls.handle_lambda_url_invocation(request, api_id=api_id, region=region)


def gateway_response(self: GatewayExceptionHandler, exception: Any, context: Any) -> Any:
    """What the API says in such a case. LocalStack keeps an API's own words and does not use them.

    Only those that stand as they are: words with variables stay LocalStack's.
    """
    response = _create_exception_response(self, exception, context)
    chosen = get_gateway_response_or_default(exception.type, context.deployment.rest_api.gateway_responses)
    body = chosen.get("responseTemplates", {}).get("application/json", "$")
    if "$" not in body:
        response.set_data(body)
    return response


def install() -> None:
    """Makes these doors LocalStack's.

    It binds every IPv4 address whatever GATEWAY_LISTEN says, and a service whose every password is `test` has no
    business on a network. Twisted takes the interface as an argument that LocalStack leaves out; it is put in here.
    """
    endpoints.TCP4ServerEndpoint = partial(endpoints.TCP4ServerEndpoint, interface="127.0.0.1")
    GatewayExceptionHandler.create_exception_response = gateway_response
    provider.FunctionUrlConfig = with_a_port
    urlrouter.event_for_lambda_url = event_with_raw_path
    urlrouter.FunctionUrlRouter.handle_lambda_url_invocation = handle
    urlrouter.FunctionUrlRouter.register_routes = register_routes
