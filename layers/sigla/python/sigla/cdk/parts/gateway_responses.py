"""What API Gateway says when it does not ask the registry: the contract's envelope, in place of its own.

Source of the types and their statuses: Amazon API Gateway Developer Guide, "Gateway response types". A status of None
leaves it as the gateway has it: a default with a status would give it to every other answer of its kind.
"""

import json
from collections.abc import Mapping
from dataclasses import dataclass, field

from aws_cdk import aws_apigateway as apigateway


@dataclass(frozen=True, slots=True)
class GatewayResponse:
    """type: API Gateway's. number, message: `error_code` and `message`. headers: more of them, in quotes."""

    type: str
    status: int | None
    number: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> str:
        return json.dumps({"error_code": self.number, "message": self.message}, separators=(",", ":"))


# Those that an API of ours can give: it has no authorizer, no API keys, no validators, and every path and method. What
# is told by a default anyway is left to it. Where the registry has the same refusal, its sentence; 504 is what the
# contract says of a request that takes too long.
RESPONSES = (
    GatewayResponse("DEFAULT_4XX", None, 400, "Bad Request"),
    GatewayResponse("DEFAULT_5XX", None, 500, "Internal Server Error"),
    # A private API is open to its endpoint alone.
    GatewayResponse("ACCESS_DENIED", 403, 403, "Forbidden"),
    # Lambda refuses to invoke the function: it has no room for more, or wakes a version that was idle for weeks. Which
    # of the two is not told; both are over soon.
    GatewayResponse("INTEGRATION_FAILURE", 503, 503, "Service Unavailable", {"Retry-After": "'5'"}),
    GatewayResponse("INTEGRATION_TIMEOUT", 504, 504, "Request timed out"),
    # The gateway's words for a method that it does not have.
    GatewayResponse("MISSING_AUTHENTICATION_TOKEN", 404, 404, "HTTP 404 Not Found"),
    GatewayResponse("REQUEST_TOO_LARGE", 413, 413, "The request body is larger than 4000000 bytes"),
    GatewayResponse("THROTTLED", 429, 429, "Too Many Requests", {"Retry-After": "'1'"}),
    # The answer of a firewall, which an account may put before it.
    GatewayResponse("WAF_FILTERED", 403, 403, "Forbidden"),
)


def rewrite(api: apigateway.RestApi) -> None:
    """Gives an API these answers."""
    for each in RESPONSES:
        api.add_gateway_response(
            each.type,
            type=apigateway.ResponseType.of(each.type),
            status_code=None if each.status is None else str(each.status),
            templates={"application/json": each.body},
            response_headers=dict(each.headers) or None,
        )
