"""Inline tags: where they stand, what they are called, how they come and go."""

import json
from typing import Any

import pytest

from sigla.errors import Malformed
from sigla.languages import LANGUAGES
from sigla.model import Entity, Parsed, Resolved, Tagged

AVRO = LANGUAGES["AVRO"]
ADDRESS = {"type": "record", "name": "Address", "fields": [{"name": "zip", "type": "string"}]}
ORDER = {
    "type": "record",
    "name": "Order",
    "namespace": "org.example",
    "fields": [
        {"name": "id", "type": "long"},
        {"name": "to", "type": ["null", ADDRESS], "confluent:tags": ["PII", "a b"]},
        {"name": "lines", "type": {"type": "array", "items": {"type": "map", "values": "Address"}}},
    ],
    "aliases": ["Old"],
}


def new(schema: Any, *references: Resolved) -> Parsed:
    return AVRO.parse(json.dumps(schema), references, True)


def on(path: str, *tags: str) -> Tagged:
    return Tagged(Entity(path, "sr_field"), tags)


def on_record(path: str, *tags: str) -> Tagged:
    return Tagged(Entity(path, "sr_record"), tags)


def retagged(add: tuple[Tagged, ...] = (), remove: tuple[Tagged, ...] = (), schema: Any = ORDER) -> Any:
    return json.loads(AVRO.retag(new(schema), add, remove))


def test_tags_are_found_in_document_order() -> None:
    """A place inside a field is called by the field and the record in it, both records with their namespaces."""
    schema = json.loads(AVRO.retag(new(ORDER), (on("Order.to.Address.zip", "Z"), on_record("Order", "TOP")), ()))
    assert AVRO.tagged(new(schema)) == (
        on_record("org.example.Order", "TOP"),
        on("org.example.Order.to", "PII", "a b"),
        on("org.example.Order.to.org.example.Address.zip", "Z"),
    )


def test_a_tag_is_added_as_the_last_property() -> None:
    """In the canonical text, the properties of a record stand before its aliases."""
    text = AVRO.retag(new(ORDER), (on_record("Order", "A"),), ())
    assert text.endswith('],"confluent:tags":["A"],"aliases":["Old"]}')


@pytest.mark.parametrize("path", ["Order.id", ".Order.id", "org.example.Order.id", ".org.example.Order.id"], ids=str)
def test_a_path_may_begin_with_a_dot_or_a_namespace(path: str) -> None:
    """People write what they know."""
    assert retagged((on(path, "A"),))["fields"][0]["confluent:tags"] == ["A"]


@pytest.mark.parametrize("inner", ["Address", "org.example.Address"])
@pytest.mark.parametrize("outer", ["Order", "org.example.Order"])
def test_each_record_on_the_way_may_have_its_namespace(outer: str, inner: str) -> None:
    """Both spellings mean the same place, in any mixture."""
    changed = retagged((on(f"{outer}.to.{inner}.zip", "A"),))
    assert changed["fields"][1]["type"][1]["fields"][0]["confluent:tags"] == ["A"]


def test_tags_keep_their_order_and_come_once() -> None:
    """New tags follow the old ones in the order asked for."""
    changed = retagged((on("Order.to", "Z", "PII", "B"), on("Order.to", "B", "C")))
    assert changed["fields"][1]["confluent:tags"] == ["PII", "a b", "Z", "B", "C"]


def test_tags_are_added_before_tags_are_removed() -> None:
    """What is both added and removed is gone; without any tag left, so is the property."""
    changed = retagged((on("Order.to", "X"),), (on("Order.to", "X", "PII", "a b", "never there"),))
    assert "confluent:tags" not in changed["fields"][1]


def test_removing_what_is_not_there_changes_nothing() -> None:
    """The text stays as it is stored."""
    schema = new(ORDER)
    assert AVRO.retag(schema, (), (on("Order.id", "PII"), on_record(".Order", "GDPR"))) == schema.canonical


@pytest.mark.parametrize(
    "place",
    [
        on("f0.f0", "A"),
        on("Order", "A"),
        on_record("Order.id", "A"),
        on("Order.Address", "A"),
        on("Order.zip", "A"),
        on("", "A"),
        on(".", "A"),
        on("..Order.id", "A"),
        on("Order.id.", "A"),
        on("Order.lines.Address.zip", "A"),  # there it is used by name: its home is Order.to
    ],
    ids=lambda place: place.entity.path or "nothing",
)
def test_an_unknown_place_is_named_as_it_was_written(place: Tagged) -> None:
    """Also for a tag that is to be removed."""
    for add, remove in (((place,), ()), ((), (place,))):
        with pytest.raises(Malformed) as malformed:
            AVRO.retag(new(ORDER), add, remove)
        assert malformed.value.reason == f"No matching path '{place.entity.path}' found in the schema"


def test_a_referenced_schema_is_not_tagged_from_outside() -> None:
    """Its text is another version's; what the text at hand spells out itself can be tagged."""
    reference = Resolved("a", json.dumps({**ADDRESS, "confluent:tags": ["PII"]}))
    schema = new({"type": "record", "name": "R", "fields": [{"name": "to", "type": "Address"}]}, reference)
    assert AVRO.tagged(schema) == ()
    with pytest.raises(Malformed):
        AVRO.retag(schema, (on("R.to.Address.zip", "A"),), ())
    assert '"confluent:tags":["A"]' in AVRO.retag(schema, (on("R.to", "A"),), ())


def test_records_in_unions_and_maps_are_places_of_their_own() -> None:
    """A schema need not be a record to have tags inside."""
    schema = ["null", {"type": "map", "values": ADDRESS}]
    assert AVRO.tagged(new(retagged((on_record("Address", "A"),), schema=schema))) == (on_record("Address", "A"),)


def test_what_is_no_list_of_tags_is_not_read_as_one() -> None:
    """Any schema may write the property."""
    schema = {**ADDRESS, "confluent:tags": "PII", "fields": [{"name": "a", "type": "int", "confluent:tags": [1, "B"]}]}
    assert AVRO.tagged(new(schema)) == (on("Address.a", "B"),)
