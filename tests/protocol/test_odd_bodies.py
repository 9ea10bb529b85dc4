"""Bodies that no client of good will sends: each is refused in words, or understood as the contract says (1.3)."""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.protocol.clients.attacker import (
    INT,
    JSON,
    assert_refused,
    attacked,
    unharmed,
)
from tests.protocol.clients.server import Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from attacked()


@pytest.fixture(autouse=True)
def _all_is_well_afterwards(server: Server) -> Iterator[None]:
    yield from unharmed(server)


OPERATIONS = {
    "register": ("POST", "/subjects/odd/versions"),
    "lookUpSchemaUnderSubject": ("POST", "/subjects/odd"),
    "testCompatibilityForSubject": ("POST", "/compatibility/subjects/odd/versions"),
    "testCompatibilityBySubjectName": ("POST", "/compatibility/subjects/odd/versions/latest"),
    "modifyTags": ("POST", "/subjects/odd/versions/1/tags"),
    "updateTopLevelConfig": ("PUT", "/config"),
    "updateSubjectLevelConfig": ("PUT", "/config/odd"),
    "updateTopLevelMode": ("PUT", "/mode"),
    "updateMode": ("PUT", "/mode/odd"),
}


@pytest.mark.parametrize("body", [b"", b" \r\n\t", b"null", b" null "], ids=repr)
@pytest.mark.parametrize("operation", OPERATIONS)
def test_a_missing_body_is_named(server: Server, operation: str, body: bytes) -> None:
    answer = server.ask(*OPERATIONS[operation], body, JSON)
    assert_refused(answer, 422)
    assert answer.json["message"] == f"{operation}.request must not be null (was null)"


NO_JSON = {
    "an opening brace": b"{",
    "cut off in a string": b'{"schema":"',
    "cut off after a colon": b'{"schema":',
    "a word": b"nonsense",
    "single quotes": b"{'schema':'x'}",
    "a comma too many": b'{"schema":"x",}',
    "a comment": b'{"schema":"x"} // why',
    "a second value": INT + b"{}",
    "a second word": INT + b" x",
    "a control character in a string": b'{"schema":"\n"}',
    "Latin-1": b'{"schema":"\xe4"}',
    "an overlong encoding": b'{"schema":"\xc0\x80"}',
    "an encoded surrogate": b'{"schema":"\xed\xa0\x80"}',
    "half of UTF-16": b"\xff\xfe{",
    "zeros": b"\x00\x00\x00\x00",
    "a compressed body": b"\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03",
    "an array": b"[]",
    "a string": b'"schema"',
    "a number": b"7",
    "10,000 arrays": b"[" * 10_000 + b"]" * 10_000,
    "10,000 objects": b'{"a":' * 10_000 + b"1" + b"}" * 10_000,
    "10,000 arrays in a field nobody reads": b'{"x":' + b"[" * 10_000 + b"]" * 10_000 + b"}",
    "a number of 10,000 digits in a field nobody reads": b'{"x":' + b"9" * 10_000 + b"}",
}


@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("body", NO_JSON.values(), ids=NO_JSON)
def test_what_is_no_json_object_is_refused_everywhere(server: Server, operation: str, body: bytes) -> None:
    assert_refused(server.ask(*OPERATIONS[operation], body, JSON), 400)


NOT_A_DRAFT: list[Any] = [
    {"schema": {}},
    {"schema": []},
    {"schemaType": []},
    {"references": {}},
    {"references": "x"},
    {"references": [None]},
    {"references": [1]},
    {"references": [{"name": {}, "subject": "s", "version": 1}]},
    {"references": [{"name": "n", "subject": "s", "version": "latest"}]},
    {"references": [{"name": "n", "subject": "s", "version": 2**31}]},
    {"version": "latest"},
    {"version": "1.7"},
    {"version": 2**31},
    {"version": -(2**31) - 1},
    {"version": {}},
    {"version": "9" * 10_000},
    {"id": "x"},
    {"id": 2**63},
    {"metadata": []},
    {"metadata": "x"},
    {"metadata": {"properties": []}},
    {"metadata": {"properties": {"a": None}}},
    {"metadata": {"properties": {"a": {}}}},
    {"metadata": {"tags": {"a": None}}},
    {"metadata": {"tags": {"a": [None]}}},
    {"metadata": {"tags": {"a": "x"}}},
    {"metadata": {"sensitive": [None]}},
    {"metadata": {"sensitive": {}}},
    {"ruleSet": []},
    {"ruleSet": {"domainRules": {}}},
    {"ruleSet": {"domainRules": [None]}},
    {"ruleSet": {"domainRules": [{"kind": "SIDEWAYS"}]}},
    {"ruleSet": {"domainRules": [{"mode": "SIDEWAYS"}]}},
    {"ruleSet": {"domainRules": [{"disabled": "perhaps"}]}},
    {"ruleSet": {"domainRules": [{"params": {"a": None}}]}},
    {"ruleSet": {"enableAt": "NOWHERE"}},
    {"schemaTagsToAdd": [None]},
    {"schemaTagsToAdd": [{}]},
    {"schemaTagsToAdd": [{"schemaEntity": None}]},
    {"schemaTagsToAdd": [{"schemaEntity": {"entityPath": "a", "entityType": "sr_cow"}}]},
    {"propagateSchemaTags": "perhaps"},
]


@pytest.mark.parametrize("body", NOT_A_DRAFT, ids=lambda body: json.dumps(body)[:60])
def test_a_field_of_the_wrong_shape_is_refused(server: Server, body: object) -> None:
    draft = {"schema": '"int"', **body} if isinstance(body, dict) else body
    for path in ("/subjects/odd/versions", "/subjects/odd", "/compatibility/subjects/odd/versions"):
        assert_refused(server.ask("POST", path, draft), 400)


@pytest.mark.parametrize(
    "body",
    [
        b'{"mode":{}}',
        b'{"mode":[]}',
        b"{}",
    ],
    ids=repr,
)
def test_a_mode_that_is_none_is_refused(server: Server, body: bytes) -> None:
    """Without `mode` the reference answers 500; null would remove the entry, nothing at all is a mistake."""
    assert_refused(server.ask("PUT", "/mode/odd", body, JSON), 400)


SURROGATE = "\ud800"
WITH_A_SURROGATE: list[Any] = [
    {"schema": SURROGATE},
    {"schema": f'{{"type":"string","{SURROGATE}":1}}'},
    {"schemaType": SURROGATE},
    {"references": [{"name": SURROGATE, "subject": "s", "version": 1}]},
    {"references": [{"name": "n", "subject": SURROGATE, "version": 1}]},
    {"metadata": {"properties": {SURROGATE: "x"}}},
    {"metadata": {"properties": {"x": SURROGATE}}},
    {"metadata": {"tags": {SURROGATE: ["x"]}}},
    {"metadata": {"tags": {"x": [SURROGATE]}}},
    {"metadata": {"sensitive": [SURROGATE]}},
    {"ruleSet": {"domainRules": [{"name": SURROGATE, "type": "CEL"}]}},
    {"ruleSet": {"domainRules": [{"name": "n", "type": "CEL", "params": {SURROGATE: "x"}}]}},
    {"ruleSet": {"domainRules": [{"name": "n", "type": "CEL", "tags": [SURROGATE]}]}},
    {"schemaTagsToAdd": [{"schemaEntity": {"entityPath": SURROGATE, "entityType": "sr_record"}, "tags": ["x"]}]},
    # Escaped once more: JSON inside the schema's text, where only the language sees it.
    {"schema": '{"type":"record","name":"A","doc":"\\ud800","fields":[]}'},
    {"schema": '{"type":"record","name":"\\ud800","fields":[]}'},
    {"schema": '{"type":"enum","name":"E","symbols":["\\udfff"]}'},
    {"schema": '{"type":"record","name":"A","fields":[{"name":"f","type":"string","default":"\\ud800"}]}'},
    {"schema": '{"type":"string","\\ud800":1}'},
]


@pytest.mark.parametrize("body", WITH_A_SURROGATE, ids=lambda body: json.dumps(body)[:60])
def test_half_a_surrogate_pair_is_no_text_anywhere(server: Server, body: dict[str, Any]) -> None:
    """It could not be stored, hashed or sent: UTF-8 has no bytes for it."""
    draft = {"schema": '"int"', **body}
    for path in ("/subjects/odd/versions", "/subjects/odd", "/compatibility/subjects/odd/versions"):
        assert_refused(server.ask("POST", path, draft), 400, 42201, 42210)


@pytest.mark.parametrize("field", ["alias", "compatibilityGroup"])
def test_half_a_surrogate_pair_is_no_setting(server: Server, field: str) -> None:
    assert_refused(server.ask("PUT", "/config/odd", {field: SURROGATE}), 400)


@pytest.mark.parametrize(
    "body",
    [
        b"\xef\xbb\xbf" + INT,
        INT.decode().encode("utf-16"),
        INT.decode().encode("utf-32"),
        INT[:-1] + b',"nobody":{"reads":[this]}}'.replace(b"this", b"1"),
        INT[:-1] + b',"x":NaN,"y":-Infinity}',
        INT[:-1] + b',"version":""}',
        INT[:-1] + b',"id":null,"references":null,"metadata":null,"ruleSet":null}',
        INT[:-1] + b',"schema":"\\"int\\""}',
        INT[:-1] + b',"x":1e99999999}',
        INT[:-1] + b',"x":' + b"[" * 999 + b"]" * 999 + b"}",
        b" \n" + INT + b"\n ",
    ],
    ids=lambda body: repr(body)[:40],
)
def test_odd_bodies_that_mean_something_are_understood(server: Server, body: bytes) -> None:
    """Byte-order marks, other encodings, unknown and repeated fields: the reference reads them, so we do."""
    assert server.ask("POST", "/subjects/lenient/versions", body, JSON).status == 200
