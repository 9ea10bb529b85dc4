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
    """type: API Gateway's. number, message: `error_code` and `message`. headers: further ones."""

    type: str
    status: int | None
    number: int
    message: str
    headers: Mapping[str, str] = field(default_factory=dict)

    @property
    def body(self) -> str:
        return json.dumps({"error_code": self.number, "message": self.message}, separators=(",", ":"))


# Where the registry has the same refusal, its sentence; 504 is what the contract says of a request that takes too long.
RESPONSES = (
    GatewayResponse("DEFAULT_4XX", None, 400, "Bad Request"),
    GatewayResponse("DEFAULT_5XX", None, 500, "Internal Server Error"),
    GatewayResponse("ACCESS_DENIED", 403, 403, "Forbidden"),
    GatewayResponse("API_CONFIGURATION_ERROR", 500, 500, "Internal Server Error"),
    GatewayResponse("AUTHORIZER_CONFIGURATION_ERROR", 500, 500, "Internal Server Error"),
    GatewayResponse("AUTHORIZER_FAILURE", 500, 500, "Internal Server Error"),
    GatewayResponse("BAD_REQUEST_BODY", 400, 400, "Bad Request"),
    GatewayResponse("BAD_REQUEST_PARAMETERS", 400, 400, "Bad Request"),
    GatewayResponse("EXPIRED_TOKEN", 403, 403, "Forbidden"),
    GatewayResponse("INTEGRATION_FAILURE", 502, 502, "Bad Gateway"),
    GatewayResponse("INTEGRATION_TIMEOUT", 504, 504, "Request timed out"),
    GatewayResponse("INVALID_API_KEY", 403, 403, "Forbidden"),
    GatewayResponse("INVALID_SIGNATURE", 403, 403, "Forbidden"),
    # The gateway's words for a method or a path that it does not have.
    GatewayResponse("MISSING_AUTHENTICATION_TOKEN", 404, 404, "HTTP 404 Not Found"),
    GatewayResponse("QUOTA_EXCEEDED", 429, 429, "Too Many Requests", {"Retry-After": "'1'"}),
    GatewayResponse("REQUEST_TOO_LARGE", 413, 413, "The request body is larger than 4000000 bytes"),
    GatewayResponse("RESOURCE_NOT_FOUND", 404, 404, "HTTP 404 Not Found"),
    GatewayResponse("THROTTLED", 429, 429, "Too Many Requests", {"Retry-After": "'1'"}),
    GatewayResponse("UNAUTHORIZED", 401, 401, "Unauthorized"),
    GatewayResponse("UNSUPPORTED_MEDIA_TYPE", 415, 415, "HTTP 415 Unsupported Media Type"),
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
