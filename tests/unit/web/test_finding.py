"""`GET /console/api/subjects`: subjects by a part of their names, whatever their schemas are."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any
from urllib.parse import quote

import pytest

from sigla.errors import StoreError
from sigla.model import Body, BodyKey
from sigla.ports.in_front import BodiesInFront, CatalogInFront
from sigla.registry import Registry
from sigla.web import app
from tests.unit.web.conftest import Client

FIND = "/console/api/subjects"


def register(client: Client, subject: str, schema: str, **more: Any) -> None:
    answer = client("POST", f"/subjects/{quote(subject, safe='')}/versions", {"schema": schema, **more},
                    {"content-type": "application/json"})  # fmt: skip
    assert answer.status == 200, answer.text


@pytest.fixture
def filled(client: Client) -> Client:
    register(client, "orders-value", '"string"')
    register(client, "orders-key", '"long"')
    register(client, "Reorders", '{"type": "string"}', schemaType="JSON")
    register(client, ":.eu:orders-value", 'syntax = "proto3"; message M {}', schemaType="PROTOBUF")
    register(client, "gone", '"int"')
    client("PUT", "/config/orders-value", {"compatibility": "NONE"}, {"content-type": "application/json"})
    register(client, "orders-value", '"bytes"')
    client("DELETE", "/subjects/gone")
    return client


def named(client: Client, query: str) -> list[str]:
    return [each["subject"] for each in client("GET", f"{FIND}?{query}").json]


def test_a_part_of_the_name_is_enough_in_any_case(filled: Client) -> None:
    assert named(filled, "contains=ORDERS") == [":.eu:orders-value", "Reorders", "orders-key", "orders-value"]
    assert named(filled, "contains=s-v") == [":.eu:orders-value", "orders-value"]
    assert named(filled, "contains=eu") == [], "the context is not a part of the name"
    assert named(filled, "contains=nothing") == []


def test_signs_of_patterns_and_letters_beyond_ascii_are_letters_like_others(client: Client) -> None:
    """A part is a text and not a pattern. Upper and lower case are those of Unicode; the database knows ASCII alone."""
    names = ("a%b", "a_b", "a!b", "axb", "A[B", "a*b", "Stra\u00dfe", "5\u212a", "\u00c4rger", "'; --")
    for name in names:
        register(client, name, '"int"')
    found = {part: named(client, f"contains={quote(part)}") for part in (*names, "ss", "5k", "\u00e4RG", "a")}
    for part, those in found.items():
        assert those == [name for name in named(client, "") if part.casefold() in name.casefold()], part
    assert found["a%b"] == ["a%b"]
    assert found["ss"] == ["Stra\u00dfe"]
    assert found["5k"] == ["5\u212a"]


def test_the_type_is_that_of_the_highest_version(filled: Client) -> None:
    assert named(filled, "type=JSON") == ["Reorders"]
    assert named(filled, "type=PROTOBUF&contains=orders") == [":.eu:orders-value"]
    assert filled("GET", f"{FIND}?type=XML").status == 404, "as for every word that a parameter does not know"


def test_a_subject_is_told_with_its_highest_version(filled: Client) -> None:
    (found,) = filled("GET", f"{FIND}?contains=orders-value&subjectPrefix=").json
    shown = filled("GET", "/subjects/orders-value/versions/2").json
    assert found == {"subject": "orders-value", "version": 2, "id": shown["id"], "schemaType": "AVRO", "deleted": False}


def test_soft_deleted_ones_are_found_where_they_are_asked_for(filled: Client) -> None:
    assert named(filled, "contains=gone") == []
    (found,) = filled("GET", f"{FIND}?contains=gone&deleted=true").json
    assert found["deleted"] is True


def test_pages_put_together_are_the_whole(filled: Client) -> None:
    """Whether something is left out on the way, or pages are skipped by the store."""
    for query in ("", "contains=orders", "type=AVRO", "deleted=true", "subjectPrefix=:.eu:"):
        whole = named(filled, query)
        assert [each for at in range(len(whole)) for each in named(filled, f"{query}&offset={at}&limit=1")] == whole
        assert named(filled, f"{query}&offset={len(whole)}") == []


class Unlisted(CatalogInFront):
    """questions: about subjects by name."""

    questions = 0

    def versions(self, *_: Any, **__: Any) -> Any:
        raise AssertionError("every version would be read")

    def snapshot(self, *args: Any, **more: Any) -> Any:
        self.questions += 1
        return self._catalog.snapshot(*args, **more)


@pytest.mark.parametrize("query", ["contains=orders", "contains=orders&deleted=true", "contains=gone&deleted=true"])
def test_a_rare_part_of_a_name_reads_versions_of_what_has_it_alone(
    filled: Client, registry: Registry, query: str
) -> None:
    """The names of a hundred thousand are gone through, and a page of them is asked for in two questions."""
    catalog = Unlisted(registry.catalog)
    narrow = Client(app.build(replace(registry, catalog=catalog)))
    assert narrow("GET", f"{FIND}?{query}").json == filled("GET", f"{FIND}?{query}").json != []
    assert catalog.questions <= 2


class Unread(BodiesInFront):
    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        raise StoreError(f"{len(keys)} bodies cannot be read")


def test_a_schema_that_cannot_be_read_is_listed_like_any_other(filled: Client, registry: Registry) -> None:
    """`GET /schemas` has to refuse the whole list: here nothing is read."""
    unread = Client(app.build(replace(registry, bodies=Unread(registry.bodies))))
    assert unread("GET", "/schemas").status == 500
    assert len(named(unread, "")) == 4
