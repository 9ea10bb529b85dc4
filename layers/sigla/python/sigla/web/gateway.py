"""AWS's front doors: events of an API Gateway REST API and of function URLs, through Mangum, with their raw paths kept.

Mangum decodes a path once more than it was encoded, and drops the raw form; then `a%2Fb` is two segments and `a%252Fb`
one of another name. The handlers here hand over what the client sent. The doors differ about query values, too: REST
gives them decoded, a function URL raw.
"""

import base64
from collections.abc import Callable, Iterable, Mapping
from typing import Any
from urllib.parse import quote_plus

from fastapi import FastAPI
from mangum import Mangum
from mangum.types import LambdaConfig, LambdaContext, LambdaEvent, Response, Scope

from sigla.registry import Registry
from sigla.web import app

ANSWER_BYTES = 5_500_000
"""Lambda's answers end at 6 MB, the JSON around the body included."""

OPTIONS = app.HttpOptions(answer_bytes=ANSWER_BYTES, gzip=False)
"""No gzip: binary bytes would have to be sent in base64, which these doors do not undo unasked."""

_SENT_AS_THEY_ARE = "!\"$'()*,-./:;<=>?@[\\]^_`{|}~"
"""In the value of a parameter. What a REST API has decoded must not grow here: a target may have 8 KiB (LIM-7)."""

Handler = Callable[[LambdaEvent, LambdaContext], dict[str, Any]]


def handler(registry: Registry, *, options: app.HttpOptions = OPTIONS, table: app.MakeTable | None = None) -> Handler:
    """What Lambda calls: the application is built now, once. table: as of `app.build`."""
    return handler_of(app.build(registry, options=options, table=table))


def handler_of(application: FastAPI) -> Handler:
    return Mangum(application, lifespan="off", custom_handlers=[FunctionUrl, RestApi])


class FunctionUrl:
    """Events of a function URL (format 2.0). Not for an HTTP API: its events look alike, but have lost the raw path."""

    def __init__(self, event: LambdaEvent, context: LambdaContext, config: LambdaConfig) -> None:  # noqa: ARG002 - Mangum's
        self.event = event

    @classmethod
    def infer(cls, event: LambdaEvent, context: LambdaContext, config: LambdaConfig) -> bool:  # noqa: ARG003 - Mangum's
        return event.get("version") == "2.0" and "rawPath" in event

    @property
    def body(self) -> bytes:
        return body_of(self.event)

    @property
    def scope(self) -> Scope:
        http = self.event["requestContext"]["http"]
        headers = _headers(list((self.event.get("headers") or {}).items()))
        query = self.event.get("rawQueryString", "").encode()
        return scope_of(http["method"], self.event["rawPath"], query, headers, http.get("sourceIp"))

    def __call__(self, response: Response) -> dict[str, Any]:
        headers = {name.decode(): value.decode("latin-1") for name, value in response["headers"]}
        return {"statusCode": response["status"], "headers": headers, **_body_fields(response["body"])}


class RestApi:
    """Events of a REST API (format 1.0): every header and parameter with all its values, parameters decoded."""

    def __init__(self, event: LambdaEvent, context: LambdaContext, config: LambdaConfig) -> None:  # noqa: ARG002 - Mangum's
        self.event = event

    @classmethod
    def infer(cls, event: LambdaEvent, context: LambdaContext, config: LambdaConfig) -> bool:  # noqa: ARG003 - Mangum's
        return "httpMethod" in event and "requestContext" in event

    @property
    def body(self) -> bytes:
        return body_of(self.event)

    @property
    def scope(self) -> Scope:
        event = self.event
        headers = _headers(_pairs(event.get("multiValueHeaders"), event.get("headers")))
        query = _query(_pairs(event.get("multiValueQueryStringParameters"), event.get("queryStringParameters")))
        client = (event["requestContext"].get("identity") or {}).get("sourceIp")
        return scope_of(event["httpMethod"], event["path"], query, headers, client)

    def __call__(self, response: Response) -> dict[str, Any]:
        headers = {name.decode(): [value.decode("latin-1")] for name, value in response["headers"]}
        return {"statusCode": response["status"], "multiValueHeaders": headers, **_body_fields(response["body"])}


def scope_of(method: str, raw_path: str, query: bytes, headers: list[tuple[bytes, bytes]], client: str | None) -> Scope:
    """The ASGI scope of a request whose path is still encoded. `path` is the same: routes match on what was sent."""
    return {
        "type": "http",
        "asgi": {"version": "3.0", "spec_version": "2.3"},
        "http_version": "1.1",
        "method": method,
        "scheme": "https",
        "path": raw_path,
        "raw_path": raw_path.encode(),
        "root_path": "",
        "query_string": query,
        "headers": headers,
        "server": None,
        "client": (client, 0) if client else None,
    }


def body_of(event: LambdaEvent) -> bytes:
    body = event.get("body") or ""
    return base64.b64decode(body) if event.get("isBase64Encoded") else body.encode("utf-8", "surrogatepass")


def _body_fields(body: bytes) -> dict[str, Any]:
    """A body as these doors want it: text, and everything else in base64."""
    try:
        return {"body": body.decode(), "isBase64Encoded": False}
    except UnicodeDecodeError:
        return {"body": base64.b64encode(body).decode(), "isBase64Encoded": True}


Pairs = list[tuple[str, str]]


def _pairs(many: Mapping[str, Iterable[str]] | None, single: Mapping[str, str] | None) -> Pairs:
    """Every value with its name; only a hand-made event has single values alone."""
    if many:
        return [(name, value) for name, values in many.items() for value in values]
    return list((single or {}).items())


def _headers(pairs: Pairs) -> list[tuple[bytes, bytes]]:
    """As answers are turned back into text: what a client sent and gets back goes through both."""
    try:
        return [(name.lower().encode(), value.encode("latin-1")) for name, value in pairs]
    except UnicodeEncodeError:
        return [(name.lower().encode(), _beyond_latin_1(value)) for name, value in pairs]


def _beyond_latin_1(value: str) -> bytes:
    try:
        return value.encode("latin-1")
    except UnicodeEncodeError:
        return value.encode()


def _query(pairs: Pairs) -> bytes:
    return "&".join(f"{quote_plus(name)}={quote_plus(value, safe=_SENT_AS_THEY_ARE)}" for name, value in pairs).encode()
