import asyncio
import gzip
import json
from typing import Any

import pytest

from sigla.auth.permissions import Principal, principal
from sigla.observe import Seen
from sigla.registry import Registry
from sigla.web import app
from sigla.web.api.routes import ROUTES
from sigla.web.http.answer import Answer, fits
from sigla.web.threads.thinkers import Thinkers
from sigla.web.threads.worker import Task
from sigla.web.threads.workers import Work, Workers
from tests.build import Recognises
from tests.unit.web.conftest import Client

V1 = "application/vnd.schemaregistry.v1+json"
INT = {"schema": '"int"'}


def test_a_schema_goes_in_and_comes_out(client: Client) -> None:
    """The whole way: by version, by id, by GUID, as bare text."""
    registered = client("POST", "/subjects/a%2Fb/versions", INT)
    assert (registered.status, registered.headers["content-type"]) == (200, V1)
    guid = registered.json["guid"]
    assert registered.json == {"id": 1, "version": 1, "guid": guid, "schemaType": "AVRO", "schema": '"int"'}
    assert client("GET", "/subjects/a%2Fb/versions/latest").json["subject"] == "a/b"
    assert client("GET", "/schemas/ids/1").json["schema"] == '"int"'
    assert client("GET", "/schemas/ids/1/schema").body == b'"int"'
    assert client("GET", f"/schemas/guids/{guid}/ids").json == [{"context": ".", "id": 1}]
    assert client("GET", f"/schemas/guids/{guid}").json["guid"] == guid


def test_a_text_that_is_empty_is_left_out_as_the_reference_leaves_it_out(client: Client) -> None:
    """A Protobuf file of comments alone is accepted (PP-15), and its canonical text is empty."""
    comment = {"schemaType": "PROTOBUF", "schema": "// hi"}
    assert client("POST", "/subjects/s/versions", comment).json["id"] == 1
    assert client("POST", "/subjects/s/versions", comment).json["id"] == 1
    for path in ("/subjects/s/versions/1", "/schemas/ids/1"):
        assert "schema" not in client("GET", path).json
    for path in ("/subjects/s/versions/1/schema", "/schemas/ids/1/schema"):
        assert (client("GET", path).status, client("GET", path).body) == (200, b"")


def test_a_verbose_check_says_what_is_wrong_with_the_schema(client: Client) -> None:
    """COMPAT-4: an invalid schema is an answer there, and a refusal otherwise."""
    target = "/compatibility/subjects/s/versions"
    assert client("POST", target, {"schema": "{"}).refusal[:2] == (422, 42201)
    verdict = client("POST", f"{target}?verbose=true", {"schema": ""}).json
    assert verdict == {"is_compatible": False, "messages": ["Empty schema"]}


def test_ids_are_understood_in_their_context(client: Client) -> None:
    """CPATH-4: the same number means another schema there."""
    client("POST", "/subjects/s/versions", INT)
    client("POST", "/contexts/c/subjects/s/versions", {"schema": '"long"'})
    assert client("GET", "/schemas/ids/1").json["schema"] == '"int"'
    assert client("GET", "/contexts/c/schemas/ids/1").json["schema"] == '"long"'
    assert client("GET", "/schemas/ids/1?subject=:.c:").json["subject"] == ":.c:s"
    assert client("GET", "/schemas/ids/1?subject=s&fetchMaxId=true").json["maxId"] == 1
    assert client("GET", "/schemas/ids/1?fetchMaxId=false&format=&findTags=x").json["version"] == 1
    assert client("GET", "/contexts/c/subjects").json == [":.c:s"]
    assert client("GET", "/contexts/./subjects").json == ["s"]
    assert [one["subject"] for one in client("GET", "/contexts/c/schemas").json] == [":.c:s"]


@pytest.mark.parametrize(
    "query, count",
    [
        ("", 1),
        ("?lifecycle=NONE", 1),
        ("?lifecycle=STRONG", 0),
        ("?resourceType=topic", 0),
        ("?associationType=value", 0),
        ("?lifecycle=WEAK&lifecycle=NONE", 1),
    ],
)
def test_a_schema_without_an_association_is_listed_as_such(client: Client, query: str, count: int) -> None:
    """A client that asks for those that have one gets none; one that asks for those without gets all (ASC-10)."""
    client("POST", "/subjects/s/versions", INT)
    assert len(client("GET", f"/schemas{query}").json) == count


@pytest.mark.parametrize("path", ["/resources/lkc-1", "/subjects/orders-value", "/resources/-/a%2Fb", "/resources/-/-"])
@pytest.mark.parametrize("query", ["", "?resourceType=topic&associationType=value", "?lifecycle=", "?lifecycle=WEAK"])
def test_nothing_is_associated_and_to_ask_is_no_failure(client: Client, path: str, query: str) -> None:
    """The clients of 2026 ask for every topic, and write a warning for a 404: here the answer is an empty list."""
    for context in ("", "/contexts/.blue"):
        response = client("GET", f"{context}/associations{path}{query}")
        assert (response.status, response.json) == (200, [])


@pytest.mark.parametrize("query", ["lifecycle=NONE", "lifecycle=weak", "offset=x"])
def test_a_question_about_associations_that_nobody_understands_is_refused(client: Client, query: str) -> None:
    """§1.2, as everywhere: an unknown word of a list is not found."""
    assert client("GET", f"/associations/resources/-/t?{query}").refusal[:2] == (404, 404)


def test_head_is_get_without_its_body(client: Client) -> None:
    """HTTP-15."""
    client("POST", "/subjects/s/versions", INT)
    full, head = client("GET", "/schemas/ids/1"), client("HEAD", "/schemas/ids/1")
    assert (head.status, head.body) == (200, b"")
    assert head.headers["content-length"] == str(len(full.body))


def test_options_tells_the_methods(client: Client) -> None:
    """HTTP-15."""
    response = client("OPTIONS", "/mode")
    assert (response.status, response.headers["content-type"]) == (200, "text/plain")
    assert response.headers["allow"] == response.text == "DELETE, GET, HEAD, OPTIONS, PUT"
    assert client("OPTIONS", "/nope").status == 404


def test_every_answer_has_a_request_id(client: Client) -> None:
    """HTTP-9: also a refusal."""
    assert client("GET", "/", None, {"x-request-id": "mine"}).headers["x-request-id"] == "mine"
    assert client("GET", "/nope").headers["x-request-id"]


def test_get_and_post_are_packed_where_that_is_offered(client: Client) -> None:
    """HTTP-10: small ones included, errors too; other methods never."""
    offer = {"accept-encoding": "gzip"}
    for method, target in (("GET", "/"), ("POST", "/"), ("GET", "/nope")):
        packed = client(method, target, None, offer)
        assert (packed.headers["content-encoding"], packed.headers["vary"]) == ("gzip", "Accept-Encoding")
        assert gzip.decompress(packed.body) == client(method, target).body
        assert client(method, target).headers["vary"] == "Accept-Encoding"
    assert "content-encoding" not in client("DELETE", "/config", None, offer).headers


def test_long_answers_are_packed_too(client: Client) -> None:
    """In haste, but whole."""
    long = {"schema": json.dumps({"type": "enum", "name": "E", "symbols": [f"S{n}" for n in range(20_000)]})}
    client("POST", "/subjects/s/versions", long)
    packed = client("GET", "/schemas/ids/1/schema", None, {"accept-encoding": "gzip"})
    assert gzip.decompress(packed.body) == client("GET", "/schemas/ids/1/schema").body


def test_a_client_that_has_an_answer_is_not_sent_it_again(client: Client) -> None:
    """By id and by GUID; packed and plain bytes are two answers with two tags."""
    guid = client("POST", "/subjects/s/versions", INT).json["guid"]
    for target in ("/schemas/ids/1", "/schemas/ids/1/schema", "/schemas/ids/1/versions", f"/schemas/guids/{guid}"):
        for headers in ({}, {"accept-encoding": "gzip"}):
            tag = client("GET", target, None, headers).headers["etag"]
            again = client("GET", target, None, {**headers, "if-none-match": f'"x", {tag}'})
            assert (again.status, again.body, again.headers["etag"]) == (304, b"", tag)
            assert "content-type" not in again.headers
        assert client("GET", target, None, {"if-none-match": '"x"'}).status == 200
    assert (
        client("GET", "/schemas/ids/1").headers["etag"]
        != client("GET", "/schemas/ids/1", None, {"accept-encoding": "gzip"}).headers["etag"]
    )
    assert "etag" not in client("GET", "/schemas/ids/7", None, {"if-none-match": "*"}).headers


def test_a_soft_delete_changes_the_tag(client: Client) -> None:
    """What is kept must never outlive what it says."""
    client("POST", "/subjects/s/versions", INT)
    before = client("GET", "/schemas/ids/1")
    client("DELETE", "/subjects/s")
    after = client("GET", "/schemas/ids/1")
    assert (before.json["deleted"], after.json["deleted"]) == (False, True)
    assert before.headers["etag"] != after.headers["etag"]


def test_a_body_that_is_too_large_is_refused_unread(registry: Registry) -> None:
    """By its declared length at once, else as soon as it is seen; the rest is not read."""
    client = Client(app.build(registry, options=app.HttpOptions(body_bytes=10)))
    declared = asyncio.run(client.send("POST", "/", [b"x"], {"content-length": "11"}))
    grown = asyncio.run(client.send("POST", "/", [b"123456", b"123456", b"never"]))
    assert declared.refusal == grown.refusal == (413, 413, "The request body is larger than 10 bytes")
    assert client("POST", "/", b"{        }").status == 200


@pytest.mark.parametrize(
    "headers, closed",
    [
        ({"expect": "100-continue"}, True),
        ({"transfer-encoding": "chunked"}, True),
        ({"content-length": "1000000000"}, True),
        ({"content-length": "5"}, False),
        ({}, False),
    ],
)
def test_a_connection_ends_where_an_unread_body_would_be_taken_for_a_request(
    client: Client, headers: dict[str, str], closed: bool
) -> None:
    """HTTP-17, said aloud: what the server can drain it drains, and the connection goes on."""
    assert ("connection" in client("POST", "/nope", None, headers).headers) is closed
    assert "connection" not in client("POST", "/", {}, {"expect": "100-continue"}).headers


def test_nobody_is_answered_who_has_gone(client: Client) -> None:
    """A client that hangs up in the middle of its body did not ask anything."""

    async def hang_up() -> int:
        response = await client.send("POST", "/", [b"", b""])
        return response.status

    async def receive() -> Any:
        return {"type": "http.disconnect"}

    async def send(message: Any) -> None:
        pytest.fail("there is nobody to send to")

    scope = {"type": "http", "method": "POST", "path": "/", "raw_path": b"/", "query_string": b"", "headers": []}
    asyncio.run(client.application(scope, receive, send))
    assert asyncio.run(hang_up()) == 200


def test_an_answer_that_does_not_fit_the_door_is_refused(registry: Registry) -> None:
    """With a sentence that says what to do. Quotes count twice: the door wraps the body into JSON."""
    client = Client(app.build(registry, options=app.HttpOptions(answer_bytes=150)))
    client("POST", "/subjects/s/versions", INT)
    assert client("GET", "/subjects/s/versions").status == 200
    response = client("GET", "/schemas")
    assert response.refusal[:2] == (422, 42209)
    assert "limit and offset" in response.json["message"]
    assert fits(b"x" * 100, 150)
    assert not fits(b'"' * 80, 150)


def test_watchers_are_told_of_every_request(registry: Registry) -> None:
    """With the status that was sent, and what it was about; never with a schema."""
    told: list[Seen] = []
    client = Client(app.build(registry, options=app.HttpOptions(watchers=(told.append,))))
    client("POST", "/subjects/s/versions", INT)
    tag = client("GET", "/schemas/ids/1").headers["etag"]
    client("GET", "/schemas/ids/1", None, {"if-none-match": tag})
    client("GET", "/nope")
    assert [(one.method, one.route, one.status, one.error_code, one.params) for one in told] == [
        ("POST", "/subjects/{subject}/versions", 200, None, {"subject": "s"}),
        ("GET", "/schemas/ids/{id}", 200, None, {"id": "1"}),
        ("GET", "/schemas/ids/{id}", 304, None, {"id": "1"}),
        ("GET", "/*", 404, 404, {}),
    ]
    assert told[0].took_ns > 0
    assert told[2].sent == 0


def test_what_parses_writes_or_lists_leaves_the_event_loop(registry: Registry) -> None:
    """And what is quick does not: it would wait behind what is slow. Each text is a new one."""
    handed: list[str] = []

    def by(name: str) -> Work:
        async def work(task: Task) -> Answer:
            handed.append(name)
            return task.job()

        return work

    client = Client(app.build(registry, workers=Workers(by("writer"), by("reader"), Thinkers())))
    for method, target in (("GET", "/schemas/ids/1"), ("GET", "/config"), ("HEAD", "/schemas/ids/1")):
        client(method, target)
    assert not handed
    for method, target, text in (
        ("POST", "/subjects/s/versions", '"int"'),
        ("DELETE", "/subjects/s", ""),
        ("POST", "/subjects/s", '"long"'),
        ("POST", "/compatibility/subjects/s/versions", '"string"'),
        ("GET", "/schemas/ids/1?format=resolved", ""),
        ("GET", "/schemas/ids/1?findTags=*", ""),
        ("GET", "/subjects", ""),
        ("HEAD", "/schemas", ""),
    ):
        client(method, target, {"schema": text} if text else None)
    assert handed == ["writer"] * 2 + ["reader"] * 6


def test_browsers_of_other_sites_are_let_in_where_that_is_set(registry: Registry) -> None:
    """Off by default."""
    origin = {"origin": "https://ui.example", "access-control-request-method": "PUT"}
    open_ = Client(app.build(registry, options=app.HttpOptions(cors_origins=("https://ui.example",))))
    assert open_("OPTIONS", "/config", None, origin).headers["access-control-allow-origin"] == "https://ui.example"
    assert "access-control-allow-origin" in open_("GET", "/subjects", None, origin).headers
    assert "access-control-allow-origin" not in Client(app.build(registry))("GET", "/subjects", None, origin).headers


def test_the_api_describes_itself(client: Client) -> None:
    """From our table; where it is reached makes no difference to it."""
    described = client("GET", "/openapi.json").json
    assert set(described["paths"]) == {route.path for route in ROUTES}
    assert described["servers"] == [{"url": "."}]


def test_a_function_describes_itself_to_those_who_may_ask_and_has_no_page(registry: Registry) -> None:
    """Its answers are paid for, and its code is what a cold start loads."""

    def authenticate(sent: bytes | None) -> Principal | None:
        return principal("reader", "reader", ()) if sent == b"Basic good" else None

    function = Client(app.build(registry, options=app.HttpOptions(authenticate=Recognises(authenticate))))
    assert function("GET", "/openapi.json").refusal[:2] == (401, 401)
    assert "paths" in function("GET", "/openapi.json", headers={"authorization": "Basic good"}).json
    assert function("GET", "/docs", headers={"authorization": "Basic good"}).status == 404


def test_two_credentials_are_none(registry: Registry) -> None:
    """A proxy in front might have looked at the other one. What stands beside the table says as the table does."""
    reader = principal("reader", "reader", ())
    known = app.HttpOptions(authenticate=Recognises(lambda sent: reader if sent == b"Basic good" else None))
    function = Client(app.build(registry, options=known))
    for second in ("Basic good", "Basic other"):
        sent = [("authorization", "Basic good"), ("Authorization", second)]
        for target in ("/subjects", "/openapi.json"):
            assert function("GET", target, headers=sent).refusal[:2] == (401, 401)
