"""Whoever can reach the port may send anything. Each story ends in a clear refusal, and the next client finds all well.

Memory is counted in bytes of the server process, generously; nothing here looks at a clock.
"""

import json
import socket
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from tests.protocol.clients.server import Answer, Server, eventually, serving

JSON = {"Content-Type": "application/json"}
INT = b'{"schema":"\\"int\\""}'
POST = b"POST /subjects/hostile/versions HTTP/1.1\r\nHost: registry\r\nContent-Type: application/json\r\n"
CHUNKED = POST + b"Transfer-Encoding: chunked\r\n\r\n"
LARGE = 10_000_000
A_LOT_OF_MEMORY = 150_000_000
"""Far more than one request may cost, far less than what an attack that works would take."""


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    with serving(None) as server:
        yield server
        assert not [line for line in server.lines if '"event":"failure"' in line], "a fault was answered for"


@pytest.fixture(autouse=True)
def _all_is_well_afterwards(server: Server) -> Iterator[None]:
    """Whatever a test did: the next client is served, and the memory is still there."""
    before = server.memory
    yield
    assert server.ask("GET", "/subjects").status == 200
    assert server.memory < before + A_LOT_OF_MEMORY


def assert_refused(answer: Answer, *numbers: int) -> None:
    """A clear no: 4xx, the envelope with both fields, and one of the numbers if any are given."""
    assert 400 <= answer.status < 500, (answer.status, answer.body[:500])
    told = answer.json
    assert set(told) == {"error_code", "message"}
    assert isinstance(told["message"], str)
    assert told["message"].strip()
    assert str(told["error_code"])[:3] == str(answer.status)
    assert not numbers or told["error_code"] in numbers, told


def chunk(data: bytes) -> bytes:
    return b"%x\r\n%b\r\n" % (len(data), data)


def request(method: bytes, target: bytes, *headers: bytes, body: bytes = b"") -> bytes:
    lines = [method + b" " + target + b" HTTP/1.1", b"Host: registry", *headers]
    if body:
        lines += [b"Content-Type: application/json", b"Content-Length: %d" % len(body)]
    return b"\r\n".join([*lines, b"", body])


# --- bodies ----------------------------------------------------------------------------------------------------------

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
    """It could be stored, hashed and sent by nobody: UTF-8 has no bytes for it."""
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


# --- schemas ---------------------------------------------------------------------------------------------------------


def nested(levels: int, inside: str = '"int"') -> str:
    return '{"type":"array","items":' * levels + inside + "}" * levels


def nested_records(levels: int) -> str:
    opened = "".join(f'{{"type":"record","name":"R{n}","fields":[{{"name":"f","type":' for n in range(levels))
    return opened + '"int"' + "}]}" * levels


DEEP = {
    "arrays": nested(10_000),
    "records": nested_records(10_000),
    "brackets": "[" * 10_000 + "]" * 10_000,
    "a property": '{"type":"string","x":' + "[" * 10_000 + "]" * 10_000 + "}",
    "a default": '{"type":"record","name":"R","fields":[{"name":"f","type":'
    + nested(200)
    + ',"default":'
    + "[" * 10_000
    + "]" * 10_000
    + "}]}",
}


@pytest.mark.parametrize("text", DEEP.values(), ids=DEEP)
@pytest.mark.parametrize("query", ["", "?normalize=true"])
def test_a_schema_of_10_000_levels_is_refused(server: Server, text: str, query: str) -> None:
    for path in ("/subjects/deep/versions", "/subjects/deep", "/compatibility/subjects/deep/versions"):
        assert_refused(server.ask("POST", path + query, {"schema": text}), 42201)


def test_a_verbose_check_tells_that_a_schema_is_too_deep(server: Server) -> None:
    answer = server.ask("POST", "/compatibility/subjects/deep/versions?verbose=true", {"schema": nested(10_000)})
    assert answer.status == 200
    assert answer.json["is_compatible"] is False
    assert answer.json["messages"]


@pytest.mark.parametrize("digits", ["9" * 10_000, "-" + "9" * 10_000, "1" + "0" * 10_000 + ".5"])
def test_numbers_of_10_000_digits_are_no_numbers_of_a_schema(server: Server, digits: str) -> None:
    for text in (
        f'{{"type":"fixed","name":"F","size":{digits}}}',
        f'{{"type":"record","name":"R","fields":[{{"name":"f","type":"long","default":{digits}}}]}}',
        digits,
    ):
        assert_refused(server.ask("POST", "/subjects/digits/versions", {"schema": text}), 42201)


@pytest.mark.parametrize("number", ["1e400", "-1e400", "1e99999999", "1e-99999999", "NaN", "Infinity", "1E+2147483648"])
@pytest.mark.parametrize(
    "text",
    [
        '{{"type":"fixed","name":"F","size":{}}}',
        '{{"type":"bytes","logicalType":"decimal","precision":{0},"scale":{0}}}',
        '{{"type":"record","name":"R","fields":[{{"name":"f","type":"double","default":{}}}]}}',
        '{{"type":"record","name":"R","fields":[{{"name":"f","type":"int","default":{}}}]}}',
        '{{"type":"string","x":{}}}',
        "{}",
    ],
)
def test_numbers_beyond_every_type_are_read_or_refused(server: Server, text: str, number: str) -> None:
    """What is accepted must be readable: by its id, in every format, and by the next registration."""
    subject = f"numbers-{abs(hash((text, number)))}"
    answer = server.ask("POST", f"/subjects/{subject}/versions", {"schema": text.format(number)})
    if answer.status != 200:
        assert_refused(answer, 42201)
        return
    for query in ("", "?format=resolved", "?findTags=*"):
        read = server.ask("GET", f"/subjects/{subject}/versions/1{query}")
        assert read.status == 200
        json.loads(read.json["schema"])
    again = server.ask("POST", f"/subjects/{subject}/versions", {"schema": answer.json["schema"]})
    assert (again.status, again.json["id"]) == (200, answer.json["id"])


SYMBOLS = [f"s{number}" for number in range(100_000)]
LARGE_TYPES: dict[str, tuple[object, object]] = {
    "an enum of 100,000 symbols": (
        {"type": "enum", "name": "E", "symbols": SYMBOLS},
        {"type": "enum", "name": "E", "symbols": ["x" + symbol[1:] for symbol in SYMBOLS]},
    ),
    "a union of 9,000 records": (
        [{"type": "record", "name": f"U{n}", "fields": [{"name": "a", "type": "int"}]} for n in range(9_000)],
        [{"type": "record", "name": f"U{n}", "fields": [{"name": "b", "type": "int"}]} for n in range(8_999, -1, -1)],
    ),
    "a record of 30,000 fields": (
        {"type": "record", "name": "R", "fields": [{"name": f"f{n}", "type": "int"} for n in range(30_000)]},
        {"type": "record", "name": "R", "fields": [{"name": f"g{n}", "type": "int"} for n in range(29_000)]},
    ),
    "a schema of 40,000 properties": (
        {"type": "string", **{f"p{n}": {"q": [n]} for n in range(40_000)}},
        {"type": "int", **{f"p{n}": {"q": [n]} for n in range(39_999, -1, -1)}},
    ),
}


@pytest.mark.parametrize("size", LARGE_TYPES)
def test_what_is_as_large_as_it_may_be_is_answered(server: Server, size: str) -> None:
    """Below the limit of a schema's text nothing is too large to be registered, compared and read: or it is refused."""
    subject = size.replace(" ", "-").replace(",", "")
    for tree in LARGE_TYPES[size]:
        for path in (f"/subjects/{subject}/versions", f"/subjects/{subject}?normalize=true"):
            answer = server.ask("POST", path, {"schema": json.dumps(tree, separators=(",", ":"))})
            if answer.status != 200:
                assert_refused(answer, 40901, 42201, 42209, 40401, 40403)
        path = f"/compatibility/subjects/{subject}/versions?verbose=true"
        verdict = server.ask("POST", path, {"schema": json.dumps(tree, separators=(",", ":"))})
        assert verdict.status == 200
        assert len(verdict.body) < LARGE


def test_a_schema_beyond_the_limit_is_too_large(server: Server) -> None:
    symbols = [f"a_rather_long_symbol_{number}" for number in range(100_000)]
    for tree in ({"type": "enum", "name": "E", "symbols": symbols}, {"type": "string", "doc": "d" * 2_000_000}):
        assert_refused(server.ask("POST", "/subjects/large/versions", {"schema": json.dumps(tree)}), 42209)


def registered(server: Server, subject: str, tree: object, **more: Any) -> Answer:
    return server.ask("POST", f"/subjects/{subject}/versions", {"schema": json.dumps(tree), **more})


def reads(subject: str) -> Iterator[str]:
    """Every way to look at the first version of a subject that makes a language read it."""
    for query in ("", "?format=default", "?format=resolved", "?referenceFormat=qualified", "?findTags=*"):
        yield f"/subjects/{subject}/versions/1{query}"
    yield f"/subjects/{subject}/versions/1/schema?format=resolved"
    yield f"/subjects/{subject}/versions/1/referencedby"


def test_a_long_chain_of_references_ends_in_an_answer(server: Server) -> None:
    """Each schema names the one before it twice. However long the chain gets: a schema or a clear no, never a fault."""
    length = 0
    for number in range(300):
        fields = [{"name": name, "type": f"C{number - 1}"} for name in ("a", "b")] if number else []
        references = [{"name": f"C{number - 1}", "subject": f"chain{number - 1}", "version": 1}] if number else []
        tree = {"type": "record", "name": f"C{number}", "fields": fields}
        answer = registered(server, f"chain{number}", tree, references=references)
        if answer.status != 200:
            assert_refused(answer, 42201)
            break
        length = number
    for path in reads(f"chain{length}"):
        read = server.ask("GET", path)
        if read.status != 200:
            assert_refused(read, 42201)


def test_references_that_go_round_in_circles_end_in_an_answer(server: Server) -> None:
    """IMPORT may overwrite a version, so a schema can be made to need itself; no later request may hang or fail."""
    assert server.ask("PUT", "/mode/:.circle:", {"mode": "IMPORT"}).status == 200
    reference = {"version": 1}
    registered(server, ":.circle:a", {"type": "record", "name": "A", "fields": []}, id=1, version=1)
    of_a = {"type": "record", "name": "B", "fields": [{"name": "a", "type": "A"}]}
    registered(server, ":.circle:b", of_a, id=2, version=1, references=[{"name": "A", "subject": "a", **reference}])
    of_b = {"type": "record", "name": "C", "fields": [{"name": "b", "type": "B"}]}
    registered(server, ":.circle:a", of_b, id=3, version=1, references=[{"name": "B", "subject": "b", **reference}])
    alone = {"type": "record", "name": "D", "fields": []}
    registered(server, ":.circle:d", alone, id=4, version=1)
    of_itself = {"type": "record", "name": "E", "fields": [{"name": "d", "type": "D"}]}
    registered(
        server, ":.circle:d", of_itself, id=5, version=1, references=[{"name": "D", "subject": "d", **reference}]
    )
    assert server.ask("PUT", "/mode/:.circle:", {"mode": "READWRITE"}).status == 200
    for name in "abd":
        subject = f":.circle:{name}"
        for path in reads(subject):
            assert server.ask("GET", path).status < 500
        draft = {"schema": '"int"', "references": [{"name": name.upper(), "subject": name, "version": 1}]}
        for path in (
            f"/subjects/{subject}",
            f"/subjects/{subject}/versions",
            f"/compatibility/subjects/{subject}/versions",
        ):
            for body in (draft, {"schema": '"int"'}):
                assert server.ask("POST", path, body).status < 500
        tags = [{"schemaEntity": {"entityPath": "A", "entityType": "sr_record"}, "tags": ["T"]}]
        assert server.ask("POST", f"/subjects/{subject}/versions/1/tags", {"tagsToAdd": tags}).status < 500
    for name in "abd":
        assert server.ask("DELETE", f"/subjects/:.circle:{name}").status < 500


def test_more_references_than_anybody_has_are_refused(server: Server) -> None:
    assert registered(server, "base", {"type": "record", "name": "Base", "fields": []}).status == 200
    references = [{"name": f"n{number}", "subject": "base", "version": 1} for number in range(20_000)]
    assert_refused(registered(server, "many", "int", references=references), 42201)


# --- where the reference fails ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "path, number",
    [
        ("/subjects?offset=-1", 404),
        ("/subjects?offset=-2147483648", 404),
        ("/subjects?offset=2147483648", 404),
        ("/subjects?limit=many", 404),
        ("/schemas?lifecycle=", 404),
        ("/schemas?lifecycle=weak", 404),
        ("/schemas/ids/1.5", 404),
        ("/schemas/ids/2147483648", 404),
        ("/schemas/ids/" + "9" * 5_000, 404),
        ("/schemas/ids/2147483647", 40403),
        ("/schemas/ids/-2147483648", 40403),
        ("/schemas/ids/2147483647/schema", 40403),
        ("/schemas/ids/2147483647/versions", 40403),
        ("/schemas/guids/" + "0" * 5_000, 40403),
        ("/schemas/guids/zzzzzzzz-zzzz-zzzz-zzzz-zzzzzzzzzzzz", 40403),
        ("/subjects/nobody/versions/0", 42202),
        ("/subjects/nobody/versions/-2", 42202),
        ("/subjects/nobody/versions/" + "9" * 5_000, 42202),
        ("/subjects/nobody/versions/%20", 42202),
        ("/subjects/:*:nobody/versions/1", 40401),
        ("/subjects/:./versions/1", 40401),
    ],
)
def test_questions_that_make_no_sense_are_refused(server: Server, path: str, number: int) -> None:
    assert_refused(server.ask("GET", path), number)


@pytest.mark.parametrize("subject", [":.:", ":*:", ":*:x", "__GLOBAL", "__EMPTY", ":.__GLOBAL:x", ":.c:__EMPTY"])
def test_subjects_that_no_rule_can_address_are_never_made(server: Server, subject: str) -> None:
    """In the reference one registration under `:*:x` breaks every later miss; here it is refused."""
    assert_refused(server.ask("POST", f"/subjects/{subject}/versions", INT, JSON), 42208)
    assert "*" not in server.ask("GET", "/contexts").json
    assert server.ask("GET", "/subjects?subjectPrefix=:*:no").json == []
    assert_refused(server.ask("GET", "/subjects/missed/versions/1"), 40401)
    assert_refused(server.ask("POST", "/subjects/missed", {"schema": '"int"'}), 40401)


@pytest.mark.parametrize("length", [1_001, 5_000])
def test_a_name_longer_than_stores_can_hold_is_refused(server: Server, length: int) -> None:
    for name in ("n" * length, f":.{'c' * length}:n"):
        answer = server.ask("POST", f"/subjects/{name}/versions", INT, JSON)
        if answer.status != 200:
            assert_refused(answer, 42208)
        assert server.ask("GET", f"/subjects/{name}/versions/1").status == answer.status or answer.status == 422


def test_what_was_purged_is_not_found_by_its_guid(server: Server) -> None:
    """The reference answers 500 until it is restarted."""
    answer = registered(server, "gone", {"type": "record", "name": "Gone", "fields": []})
    guid, number = answer.json["guid"], answer.json["id"]
    assert server.ask("DELETE", "/subjects/gone").status == 200
    assert server.ask("DELETE", "/subjects/gone?permanent=true").status == 200
    assert_refused(server.ask("GET", f"/schemas/guids/{guid}"), 40403)
    assert server.ask("GET", f"/schemas/guids/{guid}/ids").json == []
    assert_refused(server.ask("GET", f"/schemas/ids/{number}/schema"), 40403)


def test_an_alias_to_itself_and_a_ring_of_aliases_end(server: Server) -> None:
    for one, other in (("self", "self"), ("ring1", "ring2"), ("ring2", "ring1"), ("blank", ""), ("wild", ":*:x")):
        assert server.ask("PUT", f"/config/{one}", {"alias": other}).status == 200
    for name in ("self", "ring1", "ring2", "blank", "wild"):
        assert server.ask("GET", f"/subjects/{name}/versions").status in (200, 404)
        assert server.ask("POST", f"/subjects/{name}/versions", INT, JSON).status in (200, 422)


# --- paths and heads -------------------------------------------------------------------------------------------------

CONTROLS = [*range(0x20), 0x7F]


@pytest.mark.parametrize("code", CONTROLS, ids=lambda code: f"%{code:02X}")
def test_an_encoded_control_character_is_in_no_name(server: Server, code: int) -> None:
    for method, path, body in (
        ("GET", f"/subjects/a%{code:02X}b/versions", None),
        ("POST", f"/subjects/a%{code:02X}b/versions", INT),
        ("DELETE", f"/subjects/%{code:02x}", None),
        ("PUT", f"/config/a%{code:02X}", b"{}"),
        ("PUT", f"/mode/a%{code:02X}", b'{"mode":"READONLY"}'),
        ("GET", f"/contexts/%{code:02X}/subjects", None),
    ):
        assert_refused(server.ask(method, path, body, JSON if body else None), 42208)


TARGETS = {
    "a bare percent sign": b"/subjects/%/versions",
    "half an escape": b"/subjects/a%2/versions",
    "no hexadecimal escape": b"/subjects/%zz/versions",
    "an escape of another kind": b"/subjects/%u0041/versions",
    "bytes that are no UTF-8": b"/subjects/%FF/versions",
    "an overlong encoding": b"/subjects/%C0%AF/versions",
    "an encoded surrogate": b"/subjects/%ED%A0%80/versions",
    "beyond Unicode": b"/subjects/%F4%90%80%80/versions",
    "an empty segment": b"/subjects//versions",
    "two slashes": b"//",
    "two slashes in front": b"//subjects",
    "two slashes behind": b"/subjects//",
    "only a matrix parameter": b"/subjects/;x/versions",
    "a query that is no UTF-8": b"/subjects?subjectPrefix=%FF",
    "a query with a bare percent sign": b"/subjects?subjectPrefix=100%",
    "a context with a colon": b"/contexts/:a:b:/subjects",
    "a raw control character": b"/subjects/a\x01b/versions",
    "a raw DEL": b"/subjects/a\x7fb/versions",
    "a raw tab": b"/subjects/a\tb/versions",
    "a raw zero": b"/subjects/a\x00b/versions",
    "raw Latin-1": b"/subjects/\xe4/versions",
    "raw UTF-8": b"/subjects/\xc3\xa4/versions",
    "no slash": b"subjects",
    "an asterisk": b"*",
    "two steps up": b"/subjects/../../etc/passwd",
    "a step up in front": b"/../subjects/x/versions",
    "a line of 8 KB": b"/subjects/" + b"a" * 8_200,
    "a line of 64 KB": b"/subjects/" + b"a" * 65_600,
    "a line of 1 MB": b"/subjects/" + b"a" * 1_000_000,
    "a query of 64 KB": b"/subjects?" + b"a=b&" * 16_400,
    "4,000 segments": b"/a" * 4_000,
    "nested contexts": b"/contexts/a" * 700 + b"/nowhere",
}


@pytest.mark.parametrize("target", TARGETS.values(), ids=TARGETS)
def test_a_path_that_is_none_is_refused_in_json(server: Server, target: bytes) -> None:
    assert_refused(server.raw(request(b"GET", target)))


@pytest.mark.parametrize("character", list('"<>^{|}[]`\\'))
def test_characters_that_other_servers_refuse_are_ordinary(server: Server, character: str) -> None:
    """Raw or encoded they are part of the name, and a client that can send them gets what it asked for."""
    encoded = f"odd%{ord(character):02X}"
    assert server.ask("POST", f"/subjects/{encoded}/versions", INT, JSON).status == 200
    assert f"odd{character}" in server.ask("GET", "/subjects").json
    for target in (f"/subjects/odd{character}/versions", f"/subjects/{encoded}/versions"):
        assert server.raw(request(b"GET", target.encode())).json == [1]


HEADS = {
    "a header of 1 MB": [b"X: " + b"x" * 1_000_000],
    "50,000 headers": [b"X: y"] * 50_000,
    "a header without a colon": [b"nonsense"],
    "a header without a name": [b": x"],
    "a zero in a header": [b"X: \x00"],
    "a zero in a header's name": [b"X\x00: x"],
    "a header that goes on in the next line": [b"X: x", b" y"],
    "two lengths": [b"Content-Length: 0", b"Content-Length: 5"],
    "a length and chunks": [b"Content-Length: 5", b"Transfer-Encoding: chunked"],
    "a negative length": [b"Content-Length: -1"],
    "a length that is no number": [b"Content-Length: 1e3"],
    "a length beyond 64 bits": [b"Content-Length: 99999999999999999999999"],
    "an unknown encoding": [b"Transfer-Encoding: gzip"],
    "a media type that is none": [b"Content-Type: \xff"],
    "a media type we do not read": [b"Content-Type: text/xml"],
    "nothing that is acceptable": [b"Accept: text/html"],
    "10,000 unacceptable types": [b"Accept: " + b"a/b," * 10_000],
    "an empty list of types": [b"Accept: ;;,,;q="],
}


@pytest.mark.parametrize("lines", HEADS.values(), ids=HEADS)
def test_a_head_that_is_none_is_refused_in_json(server: Server, lines: list[bytes]) -> None:
    assert_refused(server.raw(request(b"GET", b"/subjects", *lines)))


@pytest.mark.parametrize(
    "lines",
    [
        [b"X-Request-ID: \xff\xfe"],
        [b"X-Request-ID: " + b"x" * 30_000],
        [b"X-Request-ID: a", b"X-Request-ID: b"],
        [b'If-None-Match: \xff", ,W/, "'],
        [b"Accept-Encoding: gzip;q=\xff, *;q=x"],
        [b"Accept: application/json;q=x"],
        [b"Upgrade: websocket", b"Connection: Upgrade", b"Sec-WebSocket-Key: x"],
        [b"Upgrade: h2c", b"Connection: Upgrade, HTTP2-Settings", b"HTTP2-Settings: AAMAAABk"],
        [b"Expect: a miracle"],
        [b"Authorization: Basic \xff"],
        [b"Forwarded: for=\xff", b"X-Forwarded-For: \xff", b"X-Forwarded-Proto: gopher"],
    ],
    ids=lambda lines: repr(lines[0])[:40],
)
def test_odd_headers_harm_nobody(server: Server, lines: list[bytes]) -> None:
    answer = server.raw(request(b"GET", b"/schemas/types", *lines))
    assert answer.status == 200
    assert answer.headers["x-request-id"]


@pytest.mark.parametrize("method", ["TRACE", "PATCH", "PROPFIND", "CONNECT", "get", "BREW", "M" * 5_000, "G\xffT", ""])
def test_methods_nobody_knows_are_refused(server: Server, method: str) -> None:
    assert_refused(server.raw(request(method.encode("latin-1"), b"/subjects")), 400, 405, 431)


NO_REQUESTS = {
    "a TLS greeting": b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + bytes(range(200)),
    "HTTP/2": b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n",
    "HTTP/9.9": b"GET / HTTP/9.9\r\n\r\n",
    "a method alone": b"GET\r\n\r\n",
    "zeros": b"\x00" * 10_000,
    "a word without end": b"x" * 1_000_000,
    "a header without end": b"GET / HTTP/1.1\r\nX: " + b"x" * 1_000_000,
}


@pytest.mark.parametrize("data", NO_REQUESTS.values(), ids=NO_REQUESTS)
def test_what_is_no_http_is_refused_in_json(server: Server, data: bytes) -> None:
    assert_refused(server.raw(data), 400, 431)


# --- bodies on the wire ----------------------------------------------------------------------------------------------


def pieces(size: int) -> list[bytes]:
    whole = b'{"schema":"' + b"a" * size + b'"}'
    return [chunk(whole[start : start + 65_536]) for start in range(0, len(whole), 65_536)]


LARGE_BODIES: dict[str, Callable[[], list[bytes]]] = {
    "with its length": lambda: [POST + b"Content-Length: %d\r\n\r\n" % LARGE, b"a" * LARGE],
    "in one chunk": lambda: [CHUNKED, chunk(b"a" * LARGE), b"0\r\n\r\n"],
    "in many chunks": lambda: [CHUNKED, *pieces(LARGE), b"0\r\n\r\n"],
    "of 100 MB": lambda: [POST + b"Content-Length: %d\r\n\r\n" % (10 * LARGE), *[b"a" * LARGE] * 10],
    "that is announced only": lambda: [POST + b"Content-Length: %d\r\n\r\n" % 10**15],
    "after a question": lambda: [POST + b"Expect: 100-continue\r\nContent-Length: %d\r\n\r\n" % LARGE],
}


@pytest.mark.parametrize("parts", LARGE_BODIES.values(), ids=LARGE_BODIES)
def test_a_body_of_10_mb_is_too_large(server: Server, parts: Callable[[], list[bytes]]) -> None:
    """The client gets to read why, however it sends the body."""
    assert_refused(server.raw(*parts()), 413)


@pytest.mark.parametrize("target", [b"/nowhere", b"/subjects", b"/subjects/x/versions"])
def test_a_large_body_that_nobody_asked_for_harms_nobody(server: Server, target: bytes) -> None:
    head = request(b"DELETE", target, b"Content-Length: %d" % LARGE)
    assert_refused(server.raw(head, b"a" * LARGE), 404, 405, 40401)


def test_a_body_longer_than_its_length_is_another_request(server: Server) -> None:
    """What follows the body is read as HTTP, which it is not; the first answer stands."""
    with server.connected() as wire:
        wire.send(POST + b"Content-Length: %d\r\n\r\n" % len(INT) + INT)
        assert wire.receive().status == 200
        wire.send(INT + b"\r\n\r\n")
        assert_refused(wire.receive(), 400)


@pytest.mark.parametrize(
    "body",
    [b"zz\r\n", b"-5\r\nabcde\r\n0\r\n\r\n", b"F" * 18 + b"\r\n", b"5\r\nabcdefgh\r\n0\r\n\r\n"],
    ids=repr,
)
def test_chunks_that_are_none_are_refused(server: Server, body: bytes) -> None:
    assert_refused(server.raw(CHUNKED + body), 400)


@pytest.mark.parametrize(
    "head, body",
    [
        (POST + b"Content-Length: 1000\r\n\r\n", INT),
        (CHUNKED, chunk(INT)),
        (CHUNKED, b"FFFFFF\r\n" + INT),
        (POST + b"Content-Le", b""),
    ],
    ids=["in a body", "between chunks", "in a chunk", "in a head"],
)
def test_a_client_that_leaves_in_the_middle_has_asked_for_nothing(server: Server, head: bytes, body: bytes) -> None:
    """What is there would be a whole schema; but the client had not finished saying so."""
    head = head.replace(b"/hostile/", b"/unfinished/")
    with server.connected() as wire:
        wire.send(head, body)
        wire.ends()
        assert wire.left()
    assert_refused(server.ask("GET", "/subjects/unfinished/versions"), 40401)


@pytest.mark.parametrize("field", [b"A: b\r\n", b"b" * 100], ids=["many", "one"])
def test_trailers_without_end_do_not_fill_the_memory(server: Server, field: bytes) -> None:
    """HTTP lets a chunked body be followed by fields like those of a head; nobody uses them, so nobody keeps them."""
    before = server.memory
    with server.connected() as wire:
        start = b"" if field.endswith(b"\n") else b"A: "
        wire.send(CHUNKED + chunk(INT) + b"0\r\n" + start, *[field * (1_000_000 // len(field))] * 20)
        assert server.memory < before + A_LOT_OF_MEMORY


# --- many at once ----------------------------------------------------------------------------------------------------


def test_requests_sent_together_are_answered_in_order(server: Server) -> None:
    asked = [request(b"GET", b"/subjects/p%d/versions" % number) for number in range(50)]
    with server.connected() as wire:
        wire.send(b"".join(asked))
        for number in range(50):
            assert wire.receive().json["message"] == f"Subject 'p{number}' not found."


def test_garbage_behind_a_good_request_does_not_take_its_answer(server: Server) -> None:
    with server.connected() as wire:
        wire.send(request(b"GET", b"/schemas/types") * 3 + b"garbage\r\n\r\n")
        for _ in range(3):
            assert wire.receive().status == 200
        assert_refused(wire.receive(), 400)


@pytest.mark.parametrize("cut", [5, 40, 120])
def test_a_head_may_arrive_in_pieces(server: Server, cut: int) -> None:
    """Networks cut where they like: the rest of a head and a large body in one packet are no large head."""
    body = json.dumps({"schema": '"int"', "nobody reads": "x" * 200_000}).encode()
    whole = request(b"POST", b"/subjects/pieces/versions", body=body)
    with server.connected() as wire:
        wire.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        wire.send(whole[:cut])
        # An answer elsewhere means that the server has seen the first piece: it reads what has come, in order.
        for _ in range(3):
            server.ask("GET", "/schemas/types")
        wire.send(whole[cut:])
        assert wire.receive().status == 200


def test_http_1_0_is_spoken(server: Server) -> None:
    with server.connected() as wire:
        wire.send(b"GET /schemas/types HTTP/1.0\r\n\r\n")
        assert wire.receive().status == 200
        assert wire.left(), "without keep-alive the server hangs up"


def test_those_who_never_finish_a_request_hold_up_nobody(server: Server) -> None:
    """Half a head, half a body, a question whether to go on: hundreds of them, and everybody else is served."""
    halves = [
        b"GET /subj",
        b"GET /subjects HTTP/1.1\r\nHost: regis",
        POST + b"Content-Length: 100\r\n\r\n{",
        CHUNKED + b"5\r\nab",
    ]
    with ExitStack() as open_wires:
        for number in range(200):
            wire = open_wires.enter_context(server.connected())
            wire.send(halves[number % len(halves)])
        assert server.ask("GET", "/schemas/types").status == 200
        assert server.ask("POST", "/subjects/patient/versions", INT, JSON).status == 200


def test_those_who_read_no_answers_hold_up_nobody(server: Server) -> None:
    """Answers that nobody takes wait in one place: the server reads no more requests from there."""
    tree = {"type": "record", "name": "Long", "doc": "d" * 900_000, "fields": []}
    number = registered(server, "unread", tree).json["id"]
    before = server.memory
    with server.connected() as wire:
        wire.socket.settimeout(1)
        with pytest.raises(TimeoutError):
            wire.socket.sendall(request(b"GET", b"/schemas/ids/%d" % number) * 500_000)
        assert server.ask("GET", "/schemas/types").status == 200
        assert server.memory < before + A_LOT_OF_MEMORY


def test_thousands_of_different_questions_are_not_all_remembered(server: Server) -> None:
    """Caches have a bound in bytes: long paths, long queries, many header values, none of them twice."""
    before = server.memory
    with server.connected() as wire:
        for number in range(3_000):
            tail = b"%d" % number + b"x" * 4_000
            target = b"/subjects/" + tail + b"/versions?key=" + tail[:3_000]
            wire.send(request(b"GET", target, b"Accept: */*;a=" + tail))
            wire.receive()
    eventually(lambda: server.memory < before + 50_000_000)
