"""LocalStack's front doors: on this machine alone, with paths as they were sent, and function URLs without names.

The REST API also says what its gateway responses are, where it answers itself.

A function URL is known by its host name, `<id>.lambda-url.<region>.localhost.localstack.cloud`, which only a DNS server
on the internet knows. So each also has a port: every address of GATEWAY_LISTEN but the first belongs to one of them, in
the order in which they were made.
"""

from functools import partial
from typing import Any
from urllib.parse import unquote

from twisted.internet import endpoints

from localstack.config import GATEWAY_LISTEN
from localstack.services.apigateway.next_gen.execute_api.gateway_response import get_gateway_response_or_default
from localstack.services.apigateway.next_gen.execute_api.handlers.gateway_exception import GatewayExceptionHandler
from localstack.services.lambda_ import urlrouter
from localstack.services.lambda_.invocation.models import lambda_stores

_create_exception_response = GatewayExceptionHandler.create_exception_response
_event_for_lambda_url = urlrouter.event_for_lambda_url
_register_routes = urlrouter.FunctionUrlRouter.register_routes


def event_with_raw_path(api_id: str, request: Any) -> dict[str, Any]:
    """The event as Lambda has it: `rawPath` as sent, `requestContext.http.path` decoded. LocalStack decodes both."""
    event: dict[str, Any] = _event_for_lambda_url(api_id, request)
    path, _, query = request.environ["RAW_URI"].partition("?")
    event["rawQueryString"] = query
    event["rawPath"] = path
    event["requestContext"]["http"]["path"] = unquote(path)
    return event


def register_routes(self: urlrouter.FunctionUrlRouter) -> None:
    """LocalStack's own, and those by port."""
    if self.registered:
        return
    _register_routes(self)
    for number, address in enumerate(GATEWAY_LISTEN[1:]):
        for host in ("127.0.0.1", "localhost"):
            for path in ("/", "/<path:path>"):
                endpoint = partial(answer, self, number)
                self.router.add(path, host=f"{host}:{address.port}", endpoint=endpoint)


def answer(urls: urlrouter.FunctionUrlRouter, number: int, request: Any, **_: str) -> Any:
    """What the function URL answers that was made as the number-th; 403, as LocalStack has it, if there is none."""
    made = sorted(
        (url.creation_time, region, url.url_id)
        for __, region, store in lambda_stores.iter_stores()
        for function in store.functions.values()
        for url in function.function_url_configs.values()
    )
    region, api_id = made[number][1:] if number < len(made) else ("us-east-1", "none")
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
    urlrouter.event_for_lambda_url = event_with_raw_path
    urlrouter.FunctionUrlRouter.register_routes = register_routes
