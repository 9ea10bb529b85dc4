"""Requests that no person would write, made from our OpenAPI document: no fault, and no answer that it omits.

The application runs in this process; raw bytes go to a server of its own. What schemathesis invents is steered a bit:
half of the subjects, versions and schemas are ones that are there, or most requests would end at the first check.
"""

import json
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)
from starlette.testclient import TestClient
from starlette.types import ASGIApp

from sigla import opening
from sigla.settings import Settings
from sigla.web import app
from sigla.web.api import openapi
from tests.protocol.clients.server import Server, serving

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]

SUBJECTS = (
    "orders-value",
    "customers",
    ":.team:orders-value",
    "invoices",
    "deleted",
    ":.team:",
    ":.__GLOBAL:",
    "a%2Fb",
    "json",
    "proto",
)
VERSIONS = ("1", "2", "latest", "-1")
TEXTS = (
    '{"type":"record","name":"Order","fields":[{"name":"number","type":"long"}]}',
    '{"type":"record","name":"Order","fields":[{"name":"number","type":"long"},{"name":"n","type":"int","default":0}]}',
    '{"type":"record","name":"Order","fields":[{"name":"number","type":"string"}]}',
    '{"type":"record","name":"Invoice","fields":[{"name":"order","type":"Order"}]}',
    '{"type":"enum","name":"Color","symbols":["RED","GREEN"],"default":"RED"}',
    '{"type":"bytes","logicalType":"decimal","precision":9,"scale":2}',
    '["null","string",{"type":"map","values":"int"}]',
    '"string"',
)
OTHERS = (
    ("JSON", '{"type":"object","properties":{"number":{"type":"integer"}},"patternProperties":{"^x":{}}}'),
    ("JSON", '{"type":"object","properties":{"number":{"type":"string"},"color":{"oneOf":[{"type":"null"},{}]}}}'),
    (
        "JSON",
        '{"$schema":"https://json-schema.org/draft/2020-12/schema","$ref":"#/$defs/A","$defs":{"A":{"minLength":1}}}',
    ),
    ("JSON", "true"),
    ("PROTOBUF", 'syntax = "proto3"; message Order { int64 number = 1; oneof o { string a = 2; bytes b = 3; } }'),
    ("PROTOBUF", "message Order { optional string number = 1; optional group G = 2 { optional Order o = 1; } }"),
    ("PROTOBUF", "CgdkZWZhdWx0IgMKAU1iBnByb3RvMw=="),
)
OFFERS = (*(("AVRO", text) for text in TEXTS), *OTHERS)
REFERENCE = {"name": "Order", "subject": "orders-value", "version": 1}


def fill(client: TestClient) -> None:
    """A small registry with a bit of everything: versions, references, deletions, contexts, config, tags."""
    for subject, body in (
        ("orders-value", {"schema": TEXTS[0]}),
        (
            "orders-value",
            {"schema": TEXTS[1], "metadata": {"properties": {"owner": "Ada"}, "tags": {"Order": ["PII"]}}},
        ),
        (
            "customers",
            {"schema": TEXTS[4], "ruleSet": {"domainRules": [{"name": "r", "kind": "CONDITION", "type": "CEL"}]}},
        ),
        ("invoices", {"schema": TEXTS[3], "references": [REFERENCE]}),
        (":.team:orders-value", {"schema": TEXTS[0]}),
        ("deleted", {"schema": TEXTS[7]}),
        ("a%2Fb", {"schema": TEXTS[5]}),
        ("json", {"schema": OTHERS[0][1], "schemaType": "JSON"}),
        ("proto", {"schema": OTHERS[4][1], "schemaType": "PROTOBUF"}),
    ):
        assert client.post(f"/subjects/{subject}/versions", json=body).status_code == 200
    assert client.delete("/subjects/deleted").status_code == 200
    assert client.put("/config/customers", json={"compatibility": "FULL", "normalize": True}).status_code == 200


class Current:
    """An application that another one can take the place of."""

    def __init__(self, application: ASGIApp) -> None:
        self.application = application

    async def __call__(self, *message: Any) -> None:
        await self.application(*message)


@pytest.fixture(scope="module")
def described() -> Iterator[tuple[Current, Any]]:
    """An application with Schemathesis' view of it: to read the document takes longer than to ask an operation."""
    with fresh() as application:
        current = Current(application)
        yield current, schemathesis.openapi.from_asgi("/openapi.json", current)


@contextmanager
def fresh() -> Iterator[ASGIApp]:
    with opening.embedded(Settings(), None) as (registry, _):
        application = app.build(registry)
        fill(TestClient(application))
        yield application


@pytest.fixture
def api(described: tuple[Current, Any]) -> Iterator[Any]:
    """A fresh application for each operation: none is left with what another one made of it."""
    current, view = described
    with fresh() as current.application:
        yield view


OPERATIONS = [(method, path) for path, methods in openapi.document()["paths"].items() for method in methods]


def one_of(known: tuple[Any, ...], invented: object) -> Any:
    """For half of what was invented a known value instead, always the same for the same."""
    number = zlib.crc32(repr(invented).encode("utf-8", "replace"))
    return known[(number >> 1) % len(known)] if number % 2 else invented


def steer(case: Any) -> None:
    for name, known in (
        ("subject", SUBJECTS),
        ("version", VERSIONS),
        ("id", (1, 2, 3)),
        ("context", ("team", ":.team:")),
    ):
        if name in (case.path_parameters or {}):
            case.path_parameters[name] = one_of(known, case.path_parameters[name])
    if isinstance(case.body, dict) and "schema" in case.body:
        offered = case.body.get("schemaType"), case.body["schema"]
        case.body["schemaType"], case.body["schema"] = one_of(OFFERS, offered)
        if case.body.get("references"):
            case.body["references"] = one_of(([REFERENCE],), case.body["references"])


def hold(api: Any, method: str, path: str, examples: int) -> None:
    """Sends that many invented requests to one operation and looks at every answer."""
    # The text of a schema itself is answered as JSON and need not be any, as the reference does (HTTP-8).
    unread = response_schema_conformance if path.endswith("/schema") else None

    @given(case=api[path][method].as_strategy())
    @settings(max_examples=examples, deadline=None, suppress_health_check=list(HealthCheck))
    def requests(case: Any) -> None:
        steer(case)
        case.call_and_validate(checks=[check for check in CHECKS if check is not unread])

    requests()


@pytest.mark.parametrize("method, path", OPERATIONS)
def test_every_answer_is_one_that_the_document_tells(api: Any, method: str, path: str) -> None:
    hold(api, method, path, 8)


@pytest.mark.soak
@pytest.mark.parametrize("method, path", OPERATIONS)
def test_every_answer_is_one_that_the_document_tells_for_long(api: Any, method: str, path: str) -> None:
    hold(api, method, path, 3_000)


# --- bytes -----------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(None, settings={"SIGLA_LOG_REQUESTS": "false"}) as server:
        yield server


BODY = json.dumps({"schema": TEXTS[0]}).encode()
SEEDS = (
    b"GET /subjects?deleted=true&offset=0 HTTP/1.1\r\nHost: registry\r\nAccept: application/json;q=0.5, */*\r\n\r\n",
    b"GET /contexts/:.team:/subjects/a%2Fb/versions/latest HTTP/1.1\r\nHost: registry\r\nAccept-Encoding: gzip\r\n\r\n",
    b"POST /subjects/orders/versions HTTP/1.1\r\nHost: registry\r\nContent-Type: application/json\r\n"
    b"Content-Length: %d\r\n\r\n%b" % (len(BODY), BODY),
    b"POST /subjects/orders/versions HTTP/1.1\r\nHost: registry\r\nTransfer-Encoding: chunked\r\n\r\n"
    b"%x\r\n%b\r\n0\r\n\r\n" % (len(BODY), BODY),
    b"PUT /config/orders HTTP/1.1\r\nHost: registry\r\nContent-Length: 24\r\n\r\n" + b'{"compatibility":"NONE"} ',
)
EDITS = st.lists(
    st.tuples(st.integers(0, 400), st.integers(0, 3), st.binary(max_size=6)),
    min_size=1,
    max_size=6,
)


def edited(seed: bytes, edits: list[tuple[int, int, bytes]]) -> bytes:
    """A request with pieces cut out and others put in."""
    for place, cut, put in edits:
        at = place % (len(seed) + 1)
        seed = seed[:at] + put + seed[at + cut :]
    return seed


def assert_answered(server: Server, data: bytes) -> None:
    """Each answer is without fault, and refusals have the envelope; the server may also just hang up."""
    with server.connected() as wire:
        wire.send(data)
        wire.ends()
        try:
            while True:
                answer = wire.receive("HEAD" if data.startswith(b"HEAD") else "GET")
                assert answer.status < 500, answer
                if answer.status >= 400 and answer.body:
                    assert set(answer.json) == {"error_code", "message"}
        except ConnectionError:
            pass
    assert server.ask("GET", "/schemas/types").status == 200


@given(st.sampled_from(SEEDS), EDITS)
@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_bytes_that_were_once_a_request_are_answered(server: Server, seed: bytes, edits: list[Any]) -> None:
    assert_answered(server, edited(seed, edits))


@pytest.mark.soak
@given(st.lists(st.one_of(st.sampled_from(SEEDS), st.binary(max_size=200)), max_size=4), EDITS)
@settings(max_examples=50_000, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
def test_any_bytes_are_answered(server: Server, seeds: list[bytes], edits: list[Any]) -> None:
    assert_answered(server, edited(b"".join(seeds), edits))
