from typing import Any

import pytest

from sigla import errors, observe
from sigla.errors import Conflict
from sigla.web import app
from tests.unit.web.conftest import Client

V1 = "application/vnd.schemaregistry.v1+json"


@pytest.mark.parametrize(
    "method, target, expected",
    [
        ("GET", "/nope", (404, 404, "HTTP 404 Not Found")),
        ("GET", "/dek-registry/v1/policy", (404, 404, "HTTP 404 Not Found")),
        ("PATCH", "/subjects", (405, 405, "HTTP 405 Method Not Allowed")),
        ("DELETE", "/contexts/.", (405, 405, "HTTP 405 Method Not Allowed")),
        ("GET", "/schemas/ids/abc", (404, 404, "HTTP 404 Not Found")),
        ("GET", "/schemas/ids/7", (404, 40403, "Schema 7 not found")),
        ("GET", "/schemas/ids/7/versions", (404, 40403, "Schema not found")),
        ("GET", "/subjects?limit=x", (404, 404, "HTTP 404 Not Found")),
        ("GET", "/subjects//versions", (400, 400, "The path has an empty segment")),
        ("GET", "/subjects/a%0Ab", (422, 42208, "The specified subject 'a\nb' is not a valid.")),
        ("GET", "/contexts/.a:b/mode", (400, 400, "Context name '.a:b' cannot contain a colon")),
        ("DELETE", "/contexts/a:b", (400, 400, "Context name 'a:b' cannot contain a colon")),
        ("POST", "/subjects/s/versions", (422, 422, "register.request must not be null (was null)")),
        ("GET", "/" + "a" * 9000, (414, 414, "HTTP 414 URI Too Long")),
        ("GET", "/subjects/s/versions/0", (422, 42202, errors.InvalidVersion(version=0).message)),
    ],
)
def test_every_refusal_is_a_sentence_with_a_number(
    client: Client, method: str, target: str, expected: tuple[int, int, str]
) -> None:
    """HTTP-13 to HTTP-16, §1.2, §1.5."""
    assert client(method, target).refusal == expected


@pytest.mark.parametrize(
    "method, target, headers, media",
    [
        ("GET", "/nope", {}, None),
        ("PATCH", "/subjects", {}, None),
        ("GET", "/subjects", {"accept": "text/plain"}, None),
        ("GET", "/contexts/.a:b/mode", {}, V1),
        ("POST", "/subjects/s", {"content-type": "text/plain", "accept": "application/json"}, "application/json"),
        ("POST", "/subjects/s", {"content-type": "garbage"}, "application/json"),
        ("GET", "/schemas/ids/7", {"accept": "application/json"}, "application/json"),
        ("GET", "/subjects//x", {"accept": "text/plain"}, V1),
    ],
)
def test_refusals_have_the_type_of_the_reference(
    client: Client, method: str, target: str, headers: dict[str, str], media: str | None
) -> None:
    """HTTP-4, HTTP-5, HTTP-15: some have none."""
    assert client(method, target, None, headers).headers.get("content-type") == media


def test_the_path_is_judged_before_the_media_types(client: Client) -> None:
    """HTTP-4: 404 and 405 come first, then 415, then 406."""
    wrong = {"accept": "text/plain", "content-type": "text/plain"}
    assert client("POST", "/nope", None, wrong).status == 404
    assert client("PATCH", "/subjects", None, wrong).status == 405
    assert client("POST", "/subjects/s", None, wrong).status == 415
    assert client("POST", "/subjects/s", None, {"accept": "text/plain"}).status == 406


class Broken:
    """A registry in which everything fails in one way."""

    def __init__(self, error: Exception) -> None:
        self.error = error

    def __getattr__(self, verb: str) -> Any:
        def fail(*_: object, **__: object) -> None:
            raise self.error

        return fail


def broken(error: Exception) -> tuple[Client, list[observe.Facts]]:
    told: list[observe.Facts] = []
    registry: Any = Broken(error)
    return Client(app.build(registry, options=app.HttpOptions(log_failure=told.append))), told


def test_storage_that_fails_is_named() -> None:
    """50001, and the operation; the rest is for the log."""
    client, told = broken(Conflict("table is gone"))
    assert client("GET", "/subjects").refusal == (500, 50001, "The subjects failed while talking to the store")
    assert len(told) == 1


def test_a_fault_of_ours_is_told_to_the_log_alone() -> None:
    """The client learns that the fault was ours."""
    client, told = broken(KeyError("secret"))
    response = client("GET", "/subjects", None, {"x-request-id": "mine"})
    assert response.refusal == (500, 500, "Internal Server Error")
    assert told[0]["request_id"] == "mine"
