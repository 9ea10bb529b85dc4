"""`/console/api/`: verdicts on drafts, the caller, records, the log."""

import json
from base64 import b64encode
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from sigla.auth.permissions import Principal, principal
from sigla.languages.avro import sentences as avro
from sigla.languages.json_schema.rules import NEVER
from sigla.languages.json_schema.rules import RULES as JSON_RULES
from sigla.languages.protobuf.rules import RULES as PROTOBUF_RULES
from sigla.model import Finding, Version
from sigla.registry import Registry
from sigla.rules.compatibility import Direction
from sigla.rules.remedies import remedy
from sigla.web import app
from tests.unit.web.conftest import Client

JSON = {"content-type": "application/json"}


def record(*fields: dict[str, Any], name: str = "R") -> str:
    return json.dumps({"type": "record", "name": name, "fields": fields}, indent=1)


def field(name: str, type: Any = "string", **more: Any) -> dict[str, Any]:
    return {"name": name, "type": type, **more}


def ask(client: Client, method: str, path: str, body: Any = None) -> Any:
    answer = client(method, path, body, JSON)
    assert answer.status == 200, answer.text
    return answer.json


def register(client: Client, subject: str, schema: str, **more: Any) -> Any:
    return ask(client, "POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema, **more})


def verdict(client: Client, subject: str, schema: str, query: str = "", **more: Any) -> Any:
    return ask(client, "POST", f"/console/api/subjects/{subject}/verdict{query}", {"schema": schema, **more})


# --- verdicts ----------------------------------------------------------------------------------------------------


def test_a_verdict_is_what_the_registration_then_comes_to_and_writes_nothing(client: Client) -> None:
    register(client, "s", record(field("a")))
    register(client, "other", record(field("a"), field("b", default="")))
    for schema, more in (
        (record(field("a")), {}),
        (record(field("a"), field("b", default="")), {}),
        ('{"type":"fixed","name":"R","size":2}', {}),
        ("not a schema", {}),
        ('syntax = "proto3"; message M {}', {"schemaType": "PROTOBUF"}),
        (record(field("a")), {"references": [{"name": "X", "subject": "nowhere", "version": 1}]}),
    ):
        versions = client("GET", "/subjects/s/versions").json
        told = verdict(client, "s", schema, **more)
        assert client("GET", "/subjects/s/versions").json == versions
        real = client("POST", "/subjects/s/versions", {"schema": schema, **more}, JSON)
        assert told["accepted"] == (real.status == 200), told
        if told["accepted"]:
            assert told["new"] == (told["version"] not in versions)
            assert {"version": told["version"], "guid": told["guid"]}.items() <= real.json.items()
            assert told.get("id", real.json["id"]) == real.json["id"]
        else:
            assert {each["code"] for each in told["problems"]} == {real.json["error_code"]}


def test_an_id_is_told_where_the_content_has_one_already(client: Client) -> None:
    id = register(client, "other", record(field("a")))["id"]
    assert verdict(client, "s", record(field("a")))["id"] == id
    assert "id" not in verdict(client, "s", record(field("b")))


def test_a_problem_has_its_place_and_what_would_help(client: Client) -> None:
    register(client, "s", record(field("a")))
    (problem,) = verdict(client, "s", record(field("a"), field("b", "long")))["problems"]
    assert problem["rule"] == "READER_FIELD_MISSING_DEFAULT_VALUE"
    assert problem["line"] == record(field("a"), field("b", "long")).splitlines().index("  {", 6) + 1
    assert (problem["reader"], problem["against"], problem["remedy"]) == ("new", 1, "Give the field b a default.")


def test_a_text_that_is_no_schema_has_the_place_where_it_ends_to_be_one(client: Client) -> None:
    (problem,) = verdict(client, "s", '{"type": "record",\n "name": }')["problems"]
    assert (problem["rule"], problem["line"]) == ("42201", 2)


def test_the_text_is_told_as_it_would_be_stored(client: Client) -> None:
    spelt = 'syntax = "proto3";\nmessage M {\n  string b = 2;\n  string a = 1;\n}\n'
    plain = verdict(client, "s", spelt, schemaType="PROTOBUF")["schema"]
    normal = verdict(client, "s", spelt, "?normalize=true", schemaType="PROTOBUF")["schema"]
    assert (plain.index("b = 2") < plain.index("a = 1"), normal.index("b = 2") < normal.index("a = 1")) == (True, False)


def test_another_language_is_told_to_be_one(client: Client) -> None:
    register(client, "s", record(field("a")))
    (problem,) = verdict(client, "s", "{}", schemaType="JSON")["problems"]
    assert problem["remedy"] == "Write it in the language of version 1, or register it for another subject."


HELPED = {
    "AVRO": (
        (record(field("a", "int")), record(field("a", "string")), "Keep the type"),
        (record(field("a")), record(field("a"), field("b")), "b a default."),
        (record(field("a"), field("b")), record(field("a")), "Keep the field b"),
        (record(field("e", {"type": "enum", "name": "E", "symbols": ["A", "B"]})),
         record(field("e", {"type": "enum", "name": "E", "symbols": ["A"]})), "Keep the symbols [B]"),
        (record(field("u", ["null", "int"])), record(field("u", ["null", "int", "string"])), "Add no type"),
        (record(field("a")), record(field("a"), name="Q"), "Keep the name"),
    ),
    "JSON": (
        ('{"type":"object","properties":{"a":{"type":"string"}}}',
         '{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}', "LENIENT"),
        ('{"type":"string"}', '{"type":"integer"}', "Allow both types"),
        ('{"type":"string"}', '{"type":"string","maxLength":3}', "Allow there all that version 1 allows."),
    ),
    "PROTOBUF": (
        ('syntax = "proto3"; message M { string a = 1; }', 'syntax = "proto3"; message M { int32 a = 1; }',
         "with another number."),
        ('syntax = "proto3"; package a; message M {}', 'syntax = "proto3"; package b; message M {}', "the package."),
        ('syntax = "proto3"; message M {} message N {}', 'syntax = "proto3"; message M {}', "Keep the message."),
    ),
}  # fmt: skip


@pytest.mark.parametrize("language", HELPED)
def test_every_language_says_what_would_help(client: Client, language: str) -> None:
    ask(client, "PUT", "/config", {"compatibility": "FULL"})
    for at, (old, new, told) in enumerate(HELPED[language]):
        register(client, f"s{at}", old, schemaType=language)
        problems = verdict(client, f"s{at}", new, schemaType=language)["problems"]
        assert problems
        assert all(each["remedy"] for each in problems), problems
        assert any(told in each["remedy"] for each in problems), problems


def test_each_rule_that_can_refuse_has_a_remedy_for_either_reader() -> None:
    """A rule that is added says what its reader is to do about it."""
    refusing = {
        "AVRO": list(avro.SENTENCES),
        "PROTOBUF": [rule.id for rule in PROTOBUF_RULES if not rule.compatible],
        "JSON": [rule.id for rule in JSON_RULES if rule.compatible == NEVER],
    }
    for language, ids in refusing.items():
        for id in ids:
            for direction in Direction:
                said = remedy(Finding(id, "/p", "x"), direction, Version(3), language)
                assert said.endswith("."), (language, id)
                assert "{" not in said, (language, id)


# --- the caller --------------------------------------------------------------------------------------------------


class Always:
    schemes = ("Basic",)

    def __init__(self, principal: Principal) -> None:
        self.principal = principal

    def __call__(self, header: bytes | None) -> Principal:  # noqa: ARG002 - whoever it is
        return self.principal


def asked_by(registry: Registry, who: Principal) -> Client:
    return Client(app.build(registry, options=replace(app.HttpOptions(), authenticate=Always(who))))


def test_a_caller_is_told_what_it_may_do(client: Client, registry: Registry) -> None:
    everything = ["read", "write", "delete", "admin"]
    assert ask(client, "GET", "/console/api/caller") == {
        "name": "",
        "may": everything,
        "everything": True,
        "has": ["log"],
    }
    writer = asked_by(registry, principal("ada", "writer", ["a-"]))
    told = ask(writer, "GET", "/console/api/caller")
    assert told == {"name": "ada", "may": ["read", "write"], "everything": False, "has": ["log"]}


# --- records -----------------------------------------------------------------------------------------------------


def decode(client: Client, record: str, **more: Any) -> Any:
    return ask(client, "POST", "/console/api/decode", {"record": record, **more})


def test_a_record_is_read_as_hex_and_as_base64(client: Client) -> None:
    id = register(client, "s", record(field("a")))["id"]
    framed = b"\0" + id.to_bytes(4, "big") + b"\x06abc"
    for said in (framed.hex(), framed.hex(" "), f"0x{framed.hex()}", b64encode(framed).decode()):
        told = decode(client, said)
        assert json.loads(told["value"]) == {"a": "abc"}
        assert (told["schema"]["subject"], told["schema"]["version"], told["frame"]["id"]) == ("s", 1, id)
    assert json.loads(decode(client, "0661 6263", id=id)["value"]) == {"a": "abc"}


@pytest.mark.parametrize(
    "part, reason, at",
    [
        (b"\x07\0\0\0\x01\x06abc", "BAD_MAGIC", 0),
        (b"\0\0\0\0\x09\x06abc", "UNKNOWN_ID", None),
        (b"\0\0\0\0\x01\x08abc", "DECODE_TRUNCATED", 6),
    ],
)
def test_what_breaks_a_record_is_told_with_its_byte(client: Client, part: bytes, reason: str, at: int | None) -> None:
    """The byte is one of what was pasted: a person looks for it there."""
    register(client, "s", record(field("a")))
    failure = decode(client, part.hex())["failure"]
    assert failure.get("at") == at, failure
    assert failure["reason"] == reason


def test_a_number_keeps_all_its_digits(client: Client) -> None:
    """A browser rounds what is longer than 53 bits: so the value is a text."""
    id = register(client, "s", '"long"')["id"]
    assert decode(client, "ff" * 9 + "01", id=id)["value"] == str(-(2**63))


def test_what_is_no_record_is_refused(client: Client) -> None:
    for sent in (
        {"record": "zz!"},
        {"record": ""},
        {},
        {"record": "00", "form": "base65"},
        {"record": "00" * (2**20 + 1)},
    ):
        assert client("POST", "/console/api/decode", sent, JSON).status == 400, sent


def test_a_record_of_a_schema_out_of_reach_has_an_unknown_id(client: Client, registry: Registry) -> None:
    id = register(client, "secret", record(field("a")))["id"]
    told = decode(asked_by(registry, principal("ada", "reader", ["a-"])), f"00{id:08x}06616263")
    assert told["failure"]["reason"] == "UNKNOWN_ID"
    assert "schema" not in told


# --- the log -----------------------------------------------------------------------------------------------------


def test_the_log_tells_every_change_the_newest_first(client: Client) -> None:
    register(client, "a", record(field("a")))
    register(client, "b", record(field("b")))
    ask(client, "PUT", "/config/a", {"compatibility": "NONE"})
    told = ask(client, "GET", "/console/api/log")
    assert [each["change"] for each in told] == ["ConfigChanged", "Registered", "Registered"]
    assert [each["change"] for each in ask(client, "GET", "/console/api/log?subject=b")] == ["Registered"]
    assert ask(client, "GET", "/console/api/log?limit=1&offset=1") == told[1:2]


def test_where_nothing_can_be_asked_of_the_log_there_is_no_such_path(registry: Registry) -> None:
    away = Client(app.build(replace(registry, recent_log=None)))
    assert away("GET", "/console/api/log").status == 404
    assert ask(away, "GET", "/console/api/caller")["has"] == []
