import base64
import json
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from sigla.registry import Registry
from sigla.web import app, gateway
from sigla.web.api.dispatch import Dispatch
from sigla.web.api.exchange import read_query
from sigla.web.api.routes import ROUTES
from tests.loops import threads_loop

UNUSED: Any = (None, None)
"""Context and config, at which the doors do not look."""

PRINTABLE = st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters=[chr(n) for n in (*range(32), 127)]), min_size=1
)


@pytest.fixture(autouse=True, scope="module")
def loop() -> Iterator[None]:
    with threads_loop():
        yield


def function_url(method: str, path: str, query: str = "", body: str | None = None, **more: Any) -> dict[str, Any]:
    """As the function URL of a function sends it."""
    http = {"method": method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1", "userAgent": "test"}
    event = {
        "version": "2.0",
        "routeKey": "$default",
        "rawPath": path,
        "rawQueryString": query,
        "headers": {"host": "h"},
    }
    return {
        **event,
        "requestContext": {"http": http, "stage": "$default"},
        "body": body,
        "isBase64Encoded": False,
        **more,
    }


def rest(
    method: str, path: str, query: dict[str, list[str]] | None = None, body: str | None = None, **more: Any
) -> dict[str, Any]:
    """As a REST API with `{proxy+}` sends it."""
    event: dict[str, Any] = {"resource": "/{proxy+}", "path": path, "httpMethod": method, "headers": {"Host": "h"}}
    event |= {
        "multiValueHeaders": {"Host": ["h"]},
        "queryStringParameters": None,
        "multiValueQueryStringParameters": query,
    }
    return {
        **event,
        "requestContext": {"stage": "prod", "identity": {"sourceIp": "192.0.2.1"}},
        "body": body,
        "isBase64Encoded": False,
        **more,
    }


def found(event: dict[str, Any]) -> tuple[Any, Any]:
    """The parameters of the path and of the query that the application would see."""
    kind = gateway.FunctionUrl if gateway.FunctionUrl.infer(event, *UNUSED) else gateway.RestApi
    scope = kind(event, *UNUSED).scope
    return Dispatch(ROUTES).find(scope["method"], scope["raw_path"]).params, read_query(scope["query_string"])


@settings(max_examples=4 * settings().max_examples)
@given(PRINTABLE)
def test_any_subject_passes_both_doors(subject: str) -> None:
    """In the path, and in a query: REST hands a query over decoded, a function URL raw."""
    path, encoded = f"/subjects/{quote(subject, safe='')}/versions", quote(subject, safe="")
    expected = ({"subject": subject}, {"subjectPrefix": [subject, "b"]})
    assert found(rest("GET", path, {"subjectPrefix": [subject, "b"]})) == expected
    assert found(function_url("GET", path, f"subjectPrefix={encoded}&subjectPrefix=b")) == expected


def test_single_values_serve_where_there_are_no_lists() -> None:
    """As consoles and tests of other tools send their events."""
    event = rest("GET", "/subjects", None, multiValueHeaders=None, queryStringParameters={"deleted": "true"})
    assert found(event) == ({}, {"deleted": ["true"]})


def test_repeated_headers_arrive_one_by_one() -> None:
    """So that a request id sent twice is seen to be invalid (HTTP-9)."""
    event = rest("GET", "/", None, multiValueHeaders={"X-Request-ID": ["a", "b"]})
    assert gateway.RestApi(event, *UNUSED).scope["headers"] == [(b"x-request-id", b"a"), (b"x-request-id", b"b")]


@pytest.fixture
def handler(registry: Registry) -> Any:
    return gateway.handler(registry)


@pytest.mark.parametrize("event", [function_url, rest])
def test_bodies_arrive_as_they_were_sent(handler: Any, event: Any) -> None:
    """As text, or in base64, which a door may choose for any of them."""
    body = json.dumps({"schema": '{"type":"enum","name":"E","symbols":["A"],"doc":"é😀"}'}, ensure_ascii=False)
    plain = handler(event("POST", "/subjects/a/versions", body=body), None)
    packed = handler(
        event("POST", "/subjects/b/versions", body=base64.b64encode(body.encode()).decode(), isBase64Encoded=True), None
    )
    assert json.loads(plain["body"])["guid"] == json.loads(packed["body"])["guid"]
    assert plain["isBase64Encoded"] is False


@pytest.mark.parametrize("event", [function_url, rest])
def test_every_answer_is_text(handler: Any, event: Any) -> None:
    """Also one without a Content-Type, which Mangum would send in base64."""
    answer = handler(event("GET", "/nope"), None)
    assert (answer["statusCode"], answer["isBase64Encoded"]) == (404, False)
    assert json.loads(answer["body"])["error_code"] == 404


def test_headers_go_out_as_each_door_wants_them(handler: Any) -> None:
    """Lists on REST, single values on a function URL; never gzip."""
    accept = {"Accept": ["application/json"], "Accept-Encoding": ["gzip"]}
    lists = handler(rest("GET", "/", multiValueHeaders=accept), None)["multiValueHeaders"]
    single = handler(
        function_url("GET", "/", headers={name.lower(): value[0] for name, value in accept.items()}), None
    )["headers"]
    assert lists["content-type"] == ["application/json"]
    assert single["content-type"] == "application/json"
    assert "content-encoding" not in single


@pytest.mark.parametrize("sent", ["abc", "\u00e9", "\u00c3\u00a9"])
def test_a_request_id_comes_back_as_it_was_sent(handler: Any, sent: str) -> None:
    """HTTP-9: whichever way a door turns the bytes of a header into text, it gets the same text back."""
    lists = handler(rest("GET", "/", multiValueHeaders={"X-Request-ID": [sent]}), None)["multiValueHeaders"]
    single = handler(function_url("GET", "/", headers={"x-request-id": sent}), None)["headers"]
    assert (lists["x-request-id"], single["x-request-id"]) == ([sent], sent)


def test_a_query_is_as_long_as_it_was_sent(handler: Any) -> None:
    """REST hands it over decoded: written out again it must not become too long for us, and be refused with 414."""
    for each in "*:'()!$;@/?,|":
        answer = handler(rest("GET", "/subjects", {"subjectPrefix": [each * 8000]}), None)
        assert (answer["statusCode"], answer["body"]) == (200, "[]"), each
    assert handler(rest("GET", "/subjects", {"subjectPrefix": ["a" * 8200]}), None)["statusCode"] == 414


def test_what_is_no_text_is_sent_in_base64(registry: Registry) -> None:
    """Where an operator switches gzip on, the bytes still arrive."""
    packing = gateway.handler(registry, options=app.HttpOptions(gzip=True))
    answer = packing(function_url("GET", "/", headers={"accept-encoding": "gzip"}), UNUSED)
    assert answer["isBase64Encoded"] is True
    assert base64.b64decode(answer["body"])[:2] == b"\x1f\x8b"


def test_an_answer_too_large_for_lambda_is_refused(registry: Registry) -> None:
    """With a sentence; Lambda itself would say 502."""
    small = gateway.handler(registry, options=app.HttpOptions(answer_bytes=100, gzip=False))
    small(rest("POST", "/subjects/s/versions", body='{"schema":"\\"int\\""}'), UNUSED)
    assert json.loads(small(rest("GET", "/schemas"), UNUSED)["body"])["error_code"] == 42209


def test_events_of_an_http_api_are_not_taken_for_a_function_url() -> None:
    """Their paths are decoded already: what was in a segment cannot be known any more."""
    event = function_url("GET", "/")
    del event["rawPath"]
    assert not gateway.FunctionUrl.infer(event, *UNUSED)
