"""Schemas, names and questions meant to break a registry: each ends in an answer, and the next client finds all well.

Memory is counted in bytes of the server process, generously; nothing here looks at a clock.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest

from tests.protocol.clients.attacker import (
    INT,
    JSON,
    LARGE,
    assert_refused,
    attacked,
    unharmed,
)
from tests.protocol.clients.server import Answer, Server


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    yield from attacked()


@pytest.fixture(autouse=True)
def _all_is_well_afterwards(server: Server) -> Iterator[None]:
    yield from unharmed(server)


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
    before, after = ({"schema": json.dumps(tree, separators=(",", ":"))} for tree in LARGE_TYPES[size])
    for path, body in (
        (f"/subjects/{subject}/versions", before),
        (f"/subjects/{subject}?normalize=true", before),
        (f"/subjects/{subject}/versions", after),
    ):
        answer = server.ask("POST", path, body)
        if answer.status != 200:
            assert_refused(answer, 40901, 42201, 42209, 40401, 40403)
    verdict = server.ask("POST", f"/compatibility/subjects/{subject}/versions?verbose=true", after)
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
