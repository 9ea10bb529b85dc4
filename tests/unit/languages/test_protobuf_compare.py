"""What differs between two files, and what of it matters: what the corpus of single rules does not show."""

import pytest

from sigla.languages.protobuf.kinds import GROUPS
from sigla.languages.protobuf.rules import RULES
from sigla.languages.protobuf.sentences import SENTENCES, sentence
from sigla.languages.protobuf.tree import Document, File, Group, Message
from sigla.model import Finding
from tests.unit.languages.protobuf_pairs import between, breaking, document, found

# --- rules and sentences ----------------------------------------------------------------------------------------------


def test_every_rule_has_one_sentence_that_names_both_schemas_and_the_place() -> None:
    """Messages tell whose schema has what, in the roles of the check."""
    assert SENTENCES.keys() == {rule.id for rule in RULES}
    for rule in RULES:
        text = sentence(Finding(rule.id, "#/M/%s/1", ""), "new", "old")
        assert text.startswith(f'{{errorType:"{rule.id}", description:"')
        assert text.endswith('"}')
        assert "'#/M/%s/1'" in text
        assert text.count("new schema") == text.count("old schema") == 1
        swapped = sentence(Finding(rule.id, "#/M/%s/1", ""), "old", "new")
        assert text.index("new schema") == swapped.index("old schema")


# --- names and scopes -------------------------------------------------------------------------------------------------


def test_the_same_word_may_mean_another_message_than_before() -> None:
    """A nested message hides the one outside: the field's type changed, though its spelling did not."""
    old = "message Trip { Leg l = 1; } message Leg {}"
    new = "message Trip { Leg l = 1; message Leg {} } message Leg {}"
    assert between(old, new) == ["FIELD_NAMED_TYPE_CHANGED #/Trip/1", "MESSAGE_ADDED #/Trip/Leg"]


def test_a_type_may_be_spelled_in_another_way() -> None:
    """What it means counts."""
    old = "package p; message Trip { Leg l = 1; map<string, Leg> m = 2; } message Leg {}"
    new = "package p; message Trip { .p.Leg l = 1; map<string, p.Leg> m = 2; } message Leg {}"
    assert between(old, new) == []


def test_unknown_types_are_compared_as_written() -> None:
    """Stored schemas are read leniently, so a type may be nowhere."""
    assert between("message Trip { Gone a = 1; }", "message Trip { Gone a = 1; }") == []
    assert between("message Trip { Gone a = 1; }", "message Trip { .Gone a = 1; }") == [
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1"
    ]
    assert between("message Trip { Gone a = 1; }", "message Trip { Leg a = 1; } message Leg {}") == [
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1",
        "MESSAGE_ADDED #/Leg",
    ]


def test_a_package_that_changes_does_not_hide_what_else_does() -> None:
    """Types of the file itself are compared without it."""
    old = "package a; message Trip { Leg l = 1; message Leg { int32 x = 1; } }"
    new = "package b; message Trip { Leg l = 1; message Leg { string x = 1; } }"
    assert between(old, new) == ["PACKAGE_CHANGED #/", "FIELD_SCALAR_KIND_CHANGED #/Trip/Leg/1"]


# --- fields -----------------------------------------------------------------------------------------------------------


def test_scalars_can_replace_each_other_inside_their_group_alone() -> None:
    """All pairs of scalars, an enum among them."""
    groups = {**GROUPS, "Kind": GROUPS["int32"]}
    text = "message Trip {{ {} a = 1; enum Kind {{ A = 0; }} }}"
    for old, old_group in groups.items():
        for new, new_group in groups.items():
            expected = [] if old_group == new_group else ["FIELD_SCALAR_KIND_CHANGED #/Trip/1"]
            assert between(text.format(old), text.format(new)) == expected, (old, new)


@pytest.mark.parametrize(
    "old, new, kinds",
    [
        ("optional double a = 1;", "repeated double a = 1;", ["FIELD_NUMERIC_LABEL_CHANGED"]),
        ("repeated Kind a = 1;", "optional Kind a = 1;", ["FIELD_NUMERIC_LABEL_CHANGED"]),
        ("optional bytes a = 1;", "repeated string a = 1;", ["FIELD_STRING_OR_BYTES_LABEL_CHANGED"]),
        ("optional Trip a = 1;", "repeated Trip a = 1;", []),
        ("optional int32 a = 1;", "repeated string a = 1;", ["FIELD_SCALAR_KIND_CHANGED"]),
        ("optional int32 a = 1;", "repeated int32 b = 1;", ["FIELD_NAME_CHANGED", "FIELD_NUMERIC_LABEL_CHANGED"]),
        ("repeated int32 a = 1;", "oneof o { int32 a = 1; }", ["ONEOF_ADDED"]),
    ],
)
def test_labels_count_where_both_are_written_and_the_encoding_depends_on_them(
    old: str, new: str, kinds: list[str]
) -> None:
    """Packed numbers cannot be told from single ones; of strings the last is taken."""
    text = "message Trip {{ {} enum Kind {{ A = 0; }} }}"
    assert [finding.split()[0] for finding in between(text.format(old), text.format(new))] == kinds


@pytest.mark.parametrize(
    "old, new, kinds",
    [
        ("map<int32, bool>", "map<int64, Kind>", []),
        ("map<int32, bool>", "map<string, bool>", ["FIELD_SCALAR_KIND_CHANGED"]),
        ("map<int32, bool>", "map<string, string>", ["FIELD_SCALAR_KIND_CHANGED", "FIELD_SCALAR_KIND_CHANGED"]),
        ("map<int32, bool>", "map<int32, Trip>", ["FIELD_KIND_CHANGED"]),
        ("map<int32, Trip>", "map<int32, Leg>", ["FIELD_NAMED_TYPE_CHANGED"]),
        ("map<int32, bool>", "bool", ["FIELD_KIND_CHANGED"]),
        ("map<int32, bool>", "Trip", ["FIELD_KIND_CHANGED"]),
    ],
)
def test_maps_are_compared_by_key_and_by_value(old: str, new: str, kinds: list[str]) -> None:
    """Both at the place of the field."""
    text = "message Trip {{ {} a = 1; enum Kind {{ A = 0; }} }} message Leg {{}}"
    assert between(text.format(old), text.format(new)) == [f"{kind} #/Trip/1" for kind in kinds]


def test_a_map_is_its_entry_message() -> None:
    """Descriptors spell a map as a repeated message with `map_entry`: the same map, and no message comes or goes."""
    short = "message Trip { map<string, Leg> m = 1; } message Leg {}"
    long = """message Trip {
        repeated .Trip.MEntry m = 1;
        message MEntry { option map_entry = true; string key = 1; .Leg value = 2; }
    } message Leg {}"""
    assert between(short, long) == []
    assert between(long, short) == []
    assert between(long, long.replace(".Leg value", ".Trip value")) == [
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1",
        "FIELD_NAMED_TYPE_CHANGED #/Trip/MEntry/2",
    ]
    assert breaking(between(long, short.replace("Leg>", "int32>"))) == ["FIELD_KIND_CHANGED #/Trip/1"]


def test_an_entry_without_key_and_value_is_an_ordinary_message() -> None:
    """Nothing checks by default that `map_entry` stands where it makes sense."""
    odd = "message Trip { M m = 1; } message M { option map_entry = true; int32 a = 1; }"
    assert between(odd, odd) == []
    assert between(odd, "message Trip { map<string, int32> m = 1; }") == ["FIELD_KIND_CHANGED #/Trip/1"]


# --- oneofs -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "old, new, kinds",
    [
        # A member survives at top level: its oneof is not completely deleted, so the other one is missed.
        (
            "oneof k { int32 a = 1; int32 b = 2; }",
            "int32 a = 1;",
            ["ONEOF_REMOVED k", "ONEOF_FIELD_MOVED_TO_TOP_LEVEL 1", "ONEOF_FIELD_REMOVED k/2"],
        ),
        # The name survives, the members do not.
        (
            "oneof k { int32 a = 1; }",
            "oneof k { int32 b = 2; }",
            ["ONEOF_FIELD_REMOVED k/1", "ONEOF_FIELD_ADDED k/2"],
        ),
        # A member moves to a oneof of another name: renamed, and one member short.
        (
            "oneof k { int32 a = 1; int32 b = 2; }",
            "oneof m { int32 a = 1; }",
            ["ONEOF_REMOVED k", "ONEOF_ADDED m", "ONEOF_FIELD_REMOVED k/2"],
        ),
        # Two of one oneof and one from outside: two origins.
        (
            "oneof k { int32 a = 1; int32 b = 2; } int32 c = 3;",
            "oneof m { int32 a = 1; int32 b = 2; int32 c = 3; }",
            ["FIELD_MOVED_TO_EXISTING_ONEOF m", "ONEOF_REMOVED k", "ONEOF_ADDED m"],
        ),
        # One of a oneof and two from outside: three origins, two of them fields.
        (
            "oneof k { int32 a = 1; } int32 b = 2; int32 c = 3;",
            "oneof k { int32 a = 1; int32 b = 2; int32 c = 3; }",
            ["MULTIPLE_FIELDS_MOVED_TO_ONEOF k"],
        ),
        # Split in two: each part has one origin.
        (
            "oneof k { int32 a = 1; int32 b = 2; }",
            "oneof k { int32 a = 1; } oneof m { int32 b = 2; }",
            ["ONEOF_ADDED m"],
        ),
        # An empty oneof holds nothing that could be missed.
        ("oneof k { }", "", ["ONEOF_REMOVED k"]),
        # Where a member is now, is where its changes are told.
        (
            "int32 a = 1;",
            "oneof k { string b = 1; }",
            ["ONEOF_ADDED k", "FIELD_NAME_CHANGED k/1", "FIELD_SCALAR_KIND_CHANGED k/1"],
        ),
        (
            "oneof k { int32 a = 1; }",
            "string b = 1;",
            [
                "ONEOF_REMOVED k",
                "ONEOF_FIELD_MOVED_TO_TOP_LEVEL 1",
                "FIELD_NAME_CHANGED 1",
                "FIELD_SCALAR_KIND_CHANGED 1",
            ],
        ),
    ],
)
def test_a_oneof_must_not_bind_what_was_free(old: str, new: str, kinds: list[str]) -> None:
    """Members that could be set together would overwrite each other; a member that is gone could be the one set."""
    expected = [f"{kind} #/Trip/{place}" for kind, place in (item.split() for item in kinds)]
    assert between(f"message Trip {{ {old} }}", f"message Trip {{ {new} }}") == expected


def test_a_tag_that_is_used_twice_moves_nowhere() -> None:
    """Where fields are not validated strictly, two oneofs may claim it; a file still does not differ from itself."""
    text = "message Trip { oneof k { int32 a = 1; int32 b = 2; } oneof m { int32 c = 1; int32 d = 3; } }"
    assert between(text, text) == []


# --- groups -----------------------------------------------------------------------------------------------------------


def test_groups_are_not_compared() -> None:
    """Neither that they come and go, nor what is in them."""
    old = 'syntax = "proto2"; message Trip { repeated group Seg = 1 { optional int32 x = 1; } }'
    assert between(old, 'syntax = "proto2"; message Trip { oneof o { group Other = 2 { } } }') == [
        "ONEOF_ADDED #/Trip/o"
    ]


def test_a_group_that_a_oneof_holds_is_no_field() -> None:
    """Built by hand: the parser of the reference refuses some groups that ours reads."""
    message = Message("Trip")
    message.groups = [Group("optional", "Seg", 1, Message("Seg"))]
    file = File()
    file.messages = [message]
    assert found(document("message Trip { int32 a = 2; }"), Document(file, {})) == ["FIELD_REMOVED #/Trip/2"]
