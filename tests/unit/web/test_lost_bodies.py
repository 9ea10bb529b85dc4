"""What clients are told where the body of an id is missing, damaged or another's: never other content, never 404."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import orjson
import pytest

from sigla import keys, records
from sigla.model import BodyKey, SchemaId
from sigla.registry import Registry
from sigla.rules.bodies import believed
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web import app
from tests.build import FixedClock, in_the_former_form
from tests.unit.web.conftest import Client, Response

BASE = '{"type":"record","name":"Base","fields":[{"name":"a","type":"int"}]}'
USES = '{"type":"record","name":"Uses","fields":[{"name":"base","type":"Base"}]}'
ORDER = '{"type":"record","name":"Order","fields":[]}'
NEXT = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int","default":0}]}'
SAME = '{"type":"record","fields":[],"name":"Order","x":1}'
"""Equivalent to ORDER, and not the same text."""

ONE, TWO, THREE = (BodyKey(".", SchemaId(id)) for id in (1, 2, 3))


@dataclass
class Damaged:
    """A registry whose files a test may touch: ids 1 (base), 2 (uses it) and 3 (order)."""

    client: Client
    registry: Registry
    data: Path

    def file(self, key: BodyKey) -> Path:
        return self.data / keys.body_file("default", key)

    def post(self, target: str, text: str, **fields: Any) -> Response:
        return self.client("POST", target, {"schema": text} | fields)


@pytest.fixture
def damaged() -> Iterator[Damaged]:
    with EmbeddedStore() as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        made = Damaged(Client(app.build(registry)), registry, store.path)
        uses = [{"name": "Base", "subject": "base", "version": 1}]
        assert made.post("/subjects/base/versions", BASE).status == 200
        assert made.post("/subjects/uses/versions", USES, references=uses).status == 200
        assert made.post("/subjects/order/versions", ORDER).status == 200
        yield made


def missing(damaged: Damaged) -> None:
    damaged.file(THREE).unlink()


def swapped(damaged: Damaged) -> None:
    one, three = damaged.file(ONE), damaged.file(THREE)
    first, third = one.read_bytes(), three.read_bytes()
    one.write_bytes(third)
    three.write_bytes(first)


def changed(damaged: Damaged) -> None:
    file = damaged.file(THREE)
    file.write_bytes(file.read_bytes().replace(b"Order", b"Other", 1))


def changed_in_the_former_form(damaged: Damaged) -> None:
    former(damaged, THREE)
    changed(damaged)


def truncated(damaged: Damaged) -> None:
    file = damaged.file(THREE)
    file.write_bytes(file.read_bytes()[:-40])


def emptied(damaged: Damaged) -> None:
    damaged.file(THREE).write_bytes(b"")


def forged(damaged: Damaged) -> None:
    """All agrees with itself; only the catalog knows that the id never meant this."""
    body = damaged.registry.bodies.get(ONE)
    damaged.file(THREE).write_bytes(records.body_bytes(THREE, body))


def former(damaged: Damaged, key: BodyKey) -> None:
    damaged.file(key).write_bytes(in_the_former_form(damaged.registry.bodies.get(key)))


DAMAGES: list[Callable[[Damaged], None]] = [missing, swapped, changed, changed_in_the_former_form, truncated, emptied]

READS = [
    "/schemas/ids/3",
    "/schemas/ids/3/schema",
    "/schemas/ids/3?format=resolved",
    "/schemas/ids/3?subject=order",
    "/schemas/ids/3?findTags=*",
    "/schemas/ids/3?fetchMaxId=true",
    "/schemas/ids/3/subjects",
    "/schemas/ids/3/versions",
    "/schemas/guids/{guid}",
    "/schemas/guids/{guid}/ids",
    "/subjects/order/versions/1",
    "/subjects/order/versions/latest",
    "/subjects/order/versions/latest/schema",
    "/subjects/order/metadata?key=a&value=b",
    "/schemas",
    "/schemas?subjectPrefix=ord&latestOnly=true",
    "/schemas?ruleType=X",
]
POSTS: dict[str, tuple[str, dict[str, object]]] = {
    "a check": ("/compatibility/subjects/order/versions/latest", {"schema": NEXT}),
    "a check of all": ("/compatibility/subjects/order/versions", {"schema": NEXT}),
    "a next version": ("/subjects/order/versions", {"schema": NEXT}),
    "an equivalent": ("/subjects/order/versions", {"schema": SAME}),
    "a lookup of an equivalent": ("/subjects/order", {"schema": SAME}),
    "tags": ("/subjects/order/versions/1/tags", {"newVersion": 2, "tagsToAdd": []}),
}


@pytest.mark.parametrize("damage", DAMAGES, ids=lambda each: each.__name__)
def test_a_version_without_a_readable_body_is_a_failure_of_storage(
    damaged: Damaged, damage: Callable[[Damaged], None]
) -> None:
    """404 would have readers give their records up, and other content would have them read nonsense."""
    guid = damaged.client("GET", "/schemas/ids/3").json["guid"]
    damage(damaged)
    for target in READS:
        told = damaged.client("GET", target.format(guid=guid))
        assert told.refusal[:2] == (500, 50001), target
    for what, (target, body) in POSTS.items():
        assert damaged.client("POST", target, body).refusal[:2] == (500, 50001), what
    assert damaged.client("GET", "/schemas/ids/2").status == 200


@pytest.mark.parametrize("target", ["/schemas", "/subjects/order/versions/1", "/schemas/ids/3"])
def test_it_is_told_which_version_cannot_be_read(damaged: Damaged, target: str) -> None:
    """An operator wants to know, and a list that is merely shorter would be believed."""
    missing(damaged)
    _, _, sentence = damaged.client("GET", target).refusal
    assert sentence.endswith(
        "failed while talking to the store: the body of id 3 in context ., which order version 1 has, is missing"
    )


def test_what_agrees_with_itself_and_not_with_the_catalog_is_not_told_as_a_version(damaged: Damaged) -> None:
    """Whoever can write to storage can seal a body as well."""
    forged(damaged)
    for target in ("/subjects/order/versions/1", "/subjects/order/versions/latest", "/schemas"):
        assert damaged.client("GET", target).refusal[:2] == (500, 50001), target


def test_an_id_that_nobody_holds_is_not_found(damaged: Damaged) -> None:
    """Whatever lies about in storage."""
    damaged.file(BodyKey(".", SchemaId(9))).write_bytes(b"{}")
    for id in (4, 9):
        assert damaged.client("GET", f"/schemas/ids/{id}").refusal[:2] == (404, 40403)


def test_a_schema_whose_reference_is_lost_cannot_be_resolved(damaged: Damaged) -> None:
    """Its own text can still be told."""
    damaged.file(ONE).unlink()
    assert damaged.client("GET", "/schemas/ids/2").status == 200
    assert damaged.client("GET", "/schemas/ids/2?format=resolved").refusal[:2] == (500, 50001)
    uses = [{"name": "Base", "subject": "base", "version": 1}]
    again = damaged.post("/subjects/elsewhere/versions", USES, references=uses)
    assert again.refusal[:2] == (500, 50001)


def test_bodies_of_a_former_release_are_read_and_served(damaged: Damaged) -> None:
    """An upgrade changes no file; old and new stand side by side."""
    before = [damaged.client("GET", f"/schemas/ids/{id}").json for id in (1, 2, 3)]
    for key in (ONE, TWO):
        former(damaged, key)
    assert [damaged.client("GET", f"/schemas/ids/{id}").json for id in (1, 2, 3)] == before
    assert len(damaged.client("GET", "/schemas").json) == 3


# --- registering what was lost ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("subject", ["order", "another", ":.:order"])
def test_registering_a_lost_text_puts_it_back_under_its_id(damaged: Damaged, subject: str) -> None:
    """Producers do it at every start. Its birth is as the catalog knows it, whoever registers it now."""
    before = damaged.registry.bodies.get(THREE)
    missing(damaged)
    again = damaged.post(f"/subjects/{subject}/versions", ORDER)
    assert (again.status, again.json["id"]) == (200, 3)
    put_back = believed(THREE, damaged.file(THREE).read_bytes())
    assert (put_back.schema, put_back.guid, put_back.targets) == (before.schema, before.guid, before.targets)
    assert (put_back.subject, put_back.version, put_back.ts) == (before.subject, before.version, before.ts)
    assert damaged.client("GET", "/schemas/ids/3/schema").text == ORDER


def test_a_lost_text_with_references_is_put_back_with_what_they_mean(damaged: Damaged) -> None:
    """First what it references, then it: each by its own text."""
    before = damaged.registry.bodies.get(TWO)
    damaged.file(ONE).unlink()
    damaged.file(TWO).unlink()
    uses = [{"name": "Base", "subject": "base", "version": 1}]
    assert damaged.post("/subjects/uses/versions", USES, references=uses).status == 500
    assert damaged.post("/subjects/base/versions", BASE).json["id"] == 1
    assert damaged.post("/subjects/uses/versions", USES, references=uses).json["id"] == 2
    assert believed(TWO, damaged.file(TWO).read_bytes()).targets == before.targets


def test_a_compiled_schema_is_put_back_compiled(damaged: Damaged) -> None:
    """Readers without a parser need that."""
    proto = {"schemaType": "PROTOBUF"}
    id = damaged.post("/subjects/p/versions", 'syntax = "proto3"; message A {}', **proto).json["id"]
    file = damaged.file(BodyKey(".", SchemaId(id)))
    before = orjson.loads(file.read_bytes())
    file.unlink()
    assert damaged.post("/subjects/p/versions", 'syntax = "proto3"; message A {}', **proto).json["id"] == id
    after = orjson.loads(file.read_bytes())
    assert {name for name in before if before[name] != after[name]} <= {"nonce", "digest"}


@pytest.mark.parametrize("damage", DAMAGES[1:], ids=lambda each: each.__name__)
def test_a_damaged_body_is_not_replaced_by_a_registration(damaged: Damaged, damage: Callable[[Damaged], None]) -> None:
    """An operator has to look at it first: nothing is written."""
    damage(damaged)
    before = {path: path.read_bytes() for path in damaged.data.rglob("*.json")}
    for subject in ("order", "another"):
        assert damaged.post(f"/subjects/{subject}/versions", ORDER).refusal[:2] == (500, 50001)
    assert {path: path.read_bytes() for path in damaged.data.rglob("*.json")} == before
    assert damaged.client("GET", "/subjects").json == ["base", "order", "uses"]


def test_another_type_of_the_same_text_does_not_put_a_body_back(damaged: Damaged) -> None:
    """The hash of a content does not tell its type, and the id means one of them."""
    both = '{"type":"string","x":1}'
    assert damaged.post("/subjects/s/versions", both).json["id"] == 4
    file = damaged.file(BodyKey(".", SchemaId(4)))
    file.unlink()
    assert damaged.post("/subjects/t/versions", both, schemaType="JSON").status == 500
    assert not file.exists()
