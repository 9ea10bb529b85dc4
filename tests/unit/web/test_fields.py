"""`/console/api/subjects/{subject}/fields/{version}`: the fields of a version, and since when they are there."""

import json
from dataclasses import replace
from typing import Any

from sigla.registry import Registry
from sigla.registry.fields import MOST_PAID
from sigla.web import app
from tests.unit.web.conftest import Client
from tests.unit.web.test_console_api import ask, field, record, register


def fields(client: Client, subject: str, version: int) -> dict[str, Any]:
    told = ask(client, "GET", f"/console/api/subjects/{subject}/fields/{version}")
    return {each["path"]: each for each in told["found"]}


def test_each_field_tells_which_version_added_it(client: Client) -> None:
    ask(client, "PUT", "/config", {"compatibility": "NONE"})
    a, b, c = field("a", doc="What it is"), field("b", "long", default=0), field("c", "int", default=1)
    for each in ((a,), (a, b), (a, b, c), (a, c)):
        register(client, "s", record(*each))
    told = fields(client, "s", client("GET", "/subjects/s/versions").json[-1])
    assert [each["name"] for each in told.values()] == ["R", "a", "c"]
    assert (told["R/fields/a"]["since"], told["R/fields/c"]["since"]) == (1, 3)
    assert told["R/fields/a"]["doc"] == "What it is"
    assert told["R/fields/c"]["type"] == "int = 1"
    assert {path: each["since"] for path, each in fields(client, "s", 2).items()}["R/fields/b"] == 2


def test_where_reads_cost_money_some_versions_at_a_time_are_looked_at(client: Client, registry: Registry) -> None:
    """Each part tells of an earlier version, since when its fields are there."""
    for at in range(MOST_PAID + 3):
        register(client, "s", record(*(field(f"f{each}", "int", default=0) for each in range(at))))
    paying = Client(app.build(replace(registry, pays_for_reads=True)))
    path = f"/console/api/subjects/s/fields/{MOST_PAID + 3}"
    whole, first = fields(client, "s", MOST_PAID + 3), ask(paying, "GET", path)
    assert first["after"] == "3"
    told = {each["path"]: each.get("since") for each in first["found"]}
    assert [path for path, since in told.items() if since is None] == ["R", "R/fields/f0", "R/fields/f1"]
    second = ask(paying, "GET", f"{path}?after={first['after']}")
    assert "after" not in second
    told |= {each["path"]: each["since"] for each in second["found"]}
    assert told == {path: each["since"] for path, each in whole.items()}
    assert paying("GET", f"{path}?after=x").json["error_code"] == 42202


def test_fields_by_an_alias_and_of_the_latest_version_are_those_of_the_version_itself(client: Client) -> None:
    for each in ((), (field("a", default=""),)):
        register(client, "s", record(*each))
    ask(client, "PUT", "/config/t", {"alias": "s"})
    wanted = ask(client, "GET", "/console/api/subjects/s/fields/2")
    assert [each["since"] for each in wanted["found"]] == [1, 2]
    for path in ("s/fields/latest", "t/fields/2", "t/fields/latest"):
        assert ask(client, "GET", f"/console/api/subjects/{path}") == wanted, path


def test_fields_of_every_language_are_a_tree(client: Client) -> None:
    inner = {"type": "object", "description": "Where", "properties": {"zip": {"type": "string"}}}
    register(client, "j", json.dumps({"type": "object", "properties": {"home": inner}}), schemaType="JSON")
    told = list(fields(client, "j", 1).values())
    shown = [(each["depth"], each["name"], each.get("type")) for each in told]
    assert shown == [(0, "home", "object"), (1, "zip", "string")]
    assert told[0]["doc"] == "Where"
    proto = 'syntax = "proto3"; message M { string id = 1; message In { int32 n = 1; } In in = 2; }'
    register(client, "p", proto, schemaType="PROTOBUF")
    told = list(fields(client, "p", 1).values())
    assert {(each["depth"], each["name"]) for each in told} >= {(0, "M"), (1, "id"), (1, "in"), (1, "In"), (2, "n")}


def test_what_a_field_says_of_itself_is_no_field(client: Client) -> None:
    """Tags of Avro, the oneof that a field of Protobuf is in, the values that JSON Schema permits."""
    register(client, "a", record(field("a", **{"confluent:tags": ["PII"]})))
    proto = 'syntax = "proto3"; message M { oneof how { string iban = 1; string card = 2; } }'
    register(client, "p", proto, schemaType="PROTOBUF")
    register(client, "j", '{"type": "object", "properties": {"role": {"enum": ["admin"]}}}', schemaType="JSON")
    shown = {
        subject: [(each["depth"], each["name"]) for each in fields(client, subject, 1).values()] for subject in "apj"
    }
    assert shown == {
        "a": [(0, "R"), (1, "a")],
        "p": [(0, "M"), (1, "iban"), (1, "card"), (1, "how")],
        "j": [(0, "role")],
    }
