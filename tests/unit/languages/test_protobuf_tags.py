"""Inline tags: where they stand, what they are called, how they come and go."""

import pytest

from sigla.errors import Malformed
from sigla.languages.protobuf import canonical, tags
from sigla.languages.protobuf.parse import read
from sigla.languages.protobuf.tree import Document
from sigla.model import Entity, Tagged

ORDER = """syntax = "proto3";
package shop.v1;

message Order {
  string id = 1;
  Line line = 2 [(confluent.field_meta) = {
    doc: "what was bought"
  }];

  oneof pay {
    string card = 3;
    int64 cash = 4 [deprecated = true];
  }

  message Line {
    int32 count = 1;
  }
}
message Empty {}
"""


def document(text: str) -> Document:
    return Document(read(text), {})


def on(path: str, *names: str) -> Tagged:
    return Tagged(Entity(path, "sr_field"), names)


def on_record(path: str, *names: str) -> Tagged:
    return Tagged(Entity(path, "sr_record"), names)


def retagged(text: str, add: tuple[Tagged, ...] = (), remove: tuple[Tagged, ...] = ()) -> str:
    return canonical.written(tags.retag(document(text), add, remove))


def field(options: str) -> str:
    """A message with one field that has these options."""
    return f'syntax = "proto3";\n\nmessage M {{\n  int32 a = 1{options};\n}}\n'


def test_tags_go_where_a_person_would_write_them() -> None:
    """No import of confluent/meta.proto is added: it is always available, and a Confluent registry adds none."""
    add = (
        on("Order.id", "PII", "a b"),
        on_record("Order", "TOP"),
        on("Order.Line.count", "N"),
        on_record("Empty", "E"),
        on("Order.cash", "M"),
        on("Order.line", "L"),
    )
    assert (
        retagged(ORDER, add)
        == """syntax = "proto3";
package shop.v1;

message Order {
  option (confluent.message_meta) = {
    tags: [
      "TOP"
    ]
  };

  string id = 1 [(confluent.field_meta) = {
    tags: [
      "PII",
      "a b"
    ]
  }];
  Line line = 2 [(confluent.field_meta) = {
    doc: "what was bought",
    tags: [
      "L"
    ]
  }];

  oneof pay {
    string card = 3;
    int64 cash = 4 [
      deprecated = true,
      (confluent.field_meta) = {
        tags: [
          "M"
        ]
      }
    ];
  }

  message Line {
    int32 count = 1 [(confluent.field_meta) = {
      tags: [
        "N"
      ]
    }];
  }
}
message Empty {
  option (confluent.message_meta) = {
    tags: [
      "E"
    ]
  };
}
"""
    )


def test_tags_are_listed_by_message_fields_nested_messages_and_oneofs() -> None:
    """Paths have no package and no name of a oneof."""
    add = (on("Order.pay.card", "C"), on("Order.Line.count", "N"), on_record("Order.Line", "R"), on("Order.id", "I"))
    assert tags.tagged(document(retagged(ORDER, (*add, on_record("Order", "TOP"))))) == (
        on_record("Order", "TOP"),
        on("Order.id", "I"),
        on_record("Order.Line", "R"),
        on("Order.Line.count", "N"),
        on("Order.card", "C"),
    )


def test_a_schema_without_tags_lists_nothing() -> None:
    """A doc alone does not count as a tag."""
    assert tags.tagged(document(ORDER)) == ()


def test_what_was_added_can_be_removed_without_a_trace() -> None:
    """An option that holds nothing any more goes."""
    places = (on("Order.id", "PII"), on_record("Empty", "E"), on("Order.line", "L"), on("Order.card", "C"))
    assert retagged(retagged(ORDER, places), remove=places) == ORDER


def test_the_old_schema_stays_as_it_was() -> None:
    """Nodes are shared by whoever has read the text."""
    old = document(ORDER)
    tags.retag(old, (on("Order.id", "PII"), on_record("Order", "TOP"), on("Order.cash", "M")), ())
    assert canonical.written(old.file) == ORDER


def test_tags_are_added_before_others_are_removed() -> None:
    """A tag that is both added and removed is not there."""
    assert retagged(ORDER, (on("Order.id", "A", "B"),), (on("Order.id", "A"),)) == retagged(
        ORDER, (on("Order.id", "B"),)
    )


@pytest.mark.parametrize(
    "spelling",
    [
        ' [(confluent.field_meta) = { tags: ["A", "B"] }]',
        ' [(.confluent.field_meta) = { tags: ["A", "B"] }]',
        ' [(confluent.field_meta).tags = "A", (confluent.field_meta).tags = "B"]',
        ' [(confluent.field_meta).tags = ["A", "B"]]',
        ' [(confluent.field_meta).tags = "A", (confluent.field_meta) = { tags: ["B", "A"] }]',
    ],
)
def test_every_spelling_of_the_option_is_understood(spelling: str) -> None:
    """Once tags are changed, one spelling remains; tags that are there already are not added again."""
    assert tags.tagged(document(field(spelling))) == (on("M.a", "A", "B"),)
    changed = retagged(field(spelling), (on("M.a", "B", "C"),), (on("M.a", "A"),))
    assert changed == field(' [(confluent.field_meta) = {\n    tags: [\n      "B",\n      "C"\n    ]\n  }]')


def test_other_options_keep_their_order() -> None:
    """The option takes the place of the first that it replaces; `default` and `json_name` stay last."""
    text = field(
        ' [(confluent.field_meta).tags = "A", deprecated = true, (confluent.field_meta).doc = "d", json_name = "x"]'
    )
    options = read(retagged(text, (on("M.a", "B"),))).messages[0].fields[0].options
    assert [option.name for option in options] == ["confluent.field_meta", "deprecated", "json_name"]
    bare = read(retagged(field(' [deprecated = true, json_name = "x"]'), (on("M.a", "B"),))).messages[0].fields[0]
    assert [option.name for option in bare.options] == ["deprecated", "confluent.field_meta", "json_name"]


def test_an_option_of_another_name_is_no_tag() -> None:
    """Neither a plain option of that name nor a foreign extension."""
    text = field(' [confluent.field_meta = "A", (other.field_meta).tags = "B", (confluent.field_meta) = 5]')
    assert tags.tagged(document(text)) == ()


@pytest.mark.parametrize("path", ["Order.card", ".Order.card", "Order.pay.card", ".Order.pay.card"])
def test_a_place_may_be_called_with_or_without_its_oneof_and_a_dot(path: str) -> None:
    """All these are one place."""
    assert retagged(ORDER, (on(path, "C"),)) == retagged(ORDER, (on("Order.card", "C"),))


@pytest.mark.parametrize(
    "wanted, reason",
    [
        (on("Order.gone", "T"), "No matching Field with name 'gone' found in the schema"),
        (on("Order", "T"), "No matching Field with name 'Order' found in the schema"),
        (on("Order.Line", "T"), "No matching Field with name 'Line' found in the schema"),
        (on("Order.bad.card", "T"), "No matching Field with name 'card' found in the schema"),
        (on("Order.gone.gone.id", "T"), "No matching Message with name 'gone' found in the schema"),
        (on("shop.v1.Order.id", "T"), "No matching Message with name 'shop' found in the schema"),
        (on_record("Gone", "T"), "No matching Message with name 'Gone' found in the schema"),
        (on_record("Order.id", "T"), "No matching Message with name 'id' found in the schema"),
        (on_record("..Order", "T"), "No matching Message with name '' found in the schema"),
        (on_record("", "T"), "No matching Message with name '' found in the schema"),
    ],
)
def test_a_place_that_is_not_there_is_refused(wanted: Tagged, reason: str) -> None:
    """In the words of a Confluent registry; adding and removing alike."""
    for add, remove in (((wanted,), ()), ((), (wanted,))):
        with pytest.raises(Malformed, match="No matching") as refused:
            tags.retag(document(ORDER), add, remove)
        assert refused.value.reason == reason
