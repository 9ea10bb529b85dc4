"""Messages of other files, and schemas of any size: what a comparison follows, and what it costs."""

import time
from collections import Counter

import pytest

from sigla.errors import CheckAbandoned
from sigla.languages.language import Budget
from sigla.languages.protobuf.compare import MAX_REPEATED, differences
from sigla.languages.protobuf.tree import Document, Field, File, Message
from tests.unit.languages.protobuf_pairs import between, breaking, document, found

TRIP = 'import "geo.proto"; message Trip { geo.Pos p = 1; }'


def test_what_changes_in_an_imported_message_changes_the_field() -> None:
    """The path of the change starts at the message; the field is reported after it."""
    old = document(TRIP, geo="package geo; message Pos { Deep d = 1; message Deep { int32 x = 1; } }")
    new = document(TRIP, geo="package geo; message Pos { Deep d = 1; message Deep { string x = 1; } }")
    assert found(old, new) == [
        "FIELD_SCALAR_KIND_CHANGED #/Pos/Deep/1",
        "FIELD_NAMED_TYPE_CHANGED #/Pos/1",
        "FIELD_SCALAR_KIND_CHANGED #/Pos/Deep/1",
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1",
    ]


def test_what_is_harmless_in_an_imported_message_is_harmless_to_the_field() -> None:
    """It is listed, and that is all."""
    old = document(TRIP, geo="package geo; message Pos { int32 x = 1; }")
    new = document(TRIP, geo="package geo; message Pos { int64 y = 1; int32 z = 2; }")
    assert found(old, new) == ["FIELD_NAME_CHANGED #/Pos/1", "FIELD_ADDED #/Pos/2"]


def test_a_nested_message_of_an_imported_file_has_its_whole_local_name_in_the_path() -> None:
    """#/Outer/Pos/1, as if the file were the one compared."""
    text = 'import "geo.proto"; message Trip { geo.Outer.Pos p = 1; }'
    old = document(text, geo="package geo; message Outer { message Pos { int32 x = 1; } }")
    new = document(text, geo="package geo; message Outer { message Pos { bytes x = 1; } }")
    assert found(old, new) == ["FIELD_SCALAR_KIND_CHANGED #/Outer/Pos/1", "FIELD_NAMED_TYPE_CHANGED #/Trip/1"]


def test_a_message_may_move_from_a_reference_into_the_file() -> None:
    """Its local name and content fit; that it is in another package now does not matter."""
    old = document(TRIP, geo="package geo; message Pos { int32 x = 1; }")
    own = "message Trip { Pos p = 1; } message Pos { int32 x = 1; }"
    assert found(old, document(own)) == ["MESSAGE_ADDED #/Pos"]
    assert found(old, document(own.replace("int32 x", "string x"))) == [
        "FIELD_SCALAR_KIND_CHANGED #/Pos/1",
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1",
        "MESSAGE_ADDED #/Pos",
    ]


def test_a_file_that_is_always_available_has_nothing_to_report() -> None:
    """Both sides mean the same one."""
    text = "message Trip { google.protobuf.Struct s = 1; map<string, google.type.Date> d = 2; }"
    assert between(text, text) == []
    assert between(text, text.replace("Struct s", "Value s")) == ["FIELD_NAMED_TYPE_CHANGED #/Trip/1"]


def test_an_imported_enum_is_a_number() -> None:
    """Its constants are the business of its own subject."""
    text = 'import "geo.proto"; message Trip { geo.Kind k = 1; }'
    old = document(text, geo="package geo; enum Kind { A = 0; B = 1; }")
    new = document(text, geo="package geo; enum Kind { Z = 0; }")
    assert found(old, new) == []
    assert found(old, document("message Trip { uint64 k = 1; }")) == []


def test_imported_messages_that_use_each_other_come_to_an_end() -> None:
    """A message that is being compared is not begun again, and what is found is found from every door."""
    text = 'import "geo.proto"; message Trip { geo.A a = 1; geo.B b = 2; }'
    geo = "package geo; message A {{ A self = 1; B b = 2; {} bad = 3; }} message B {{ A a = 1; }}"
    old, new = document(text, geo=geo.format("int32")), document(text, geo=geo.format("string"))
    assert found(old, old) == []
    verdict = breaking(found(old, new))
    assert "FIELD_SCALAR_KIND_CHANGED #/A/3" in verdict
    assert "FIELD_NAMED_TYPE_CHANGED #/Trip/1" in verdict


def test_each_field_that_uses_a_changed_message_is_reported_with_the_change() -> None:
    """As often as it is used."""
    text = 'import "geo.proto"; message Trip { geo.Pos a = 1; geo.Pos b = 2; }'
    old = document(text, geo="package geo; message Pos { int32 x = 1; int32 y = 2; }")
    new = document(text, geo="package geo; message Pos { string x = 1; }")
    assert breaking(found(old, new)) == [
        "FIELD_SCALAR_KIND_CHANGED #/Pos/1",
        "FIELD_NAMED_TYPE_CHANGED #/Trip/1",
        "FIELD_SCALAR_KIND_CHANGED #/Pos/1",
        "FIELD_NAMED_TYPE_CHANGED #/Trip/2",
    ]


# --- size -------------------------------------------------------------------------------------------------------------


def wide(count: int, type_: str = "int32") -> File:
    """One message with so many fields."""
    message = Message("M")
    message.fields = [Field("", type_.format(number), f"f{number}", number) for number in range(1, count + 1)]
    file = File()
    file.messages = [message]
    return file


def many(count: int, inside: str = "int32") -> File:
    """A file geo with the messages T1 to Tcount, each with one field."""
    file = File()
    file.package = "geo"
    for number in range(1, count + 1):
        message = Message(f"T{number}")
        message.fields = [Field("", inside.format(number + 1), "a", 1)]
        file.messages.append(message)
    return file


def cost(reader: Document, writer: Document) -> int:
    budget = Budget()
    before = budget.left
    differences(reader, writer, budget)
    return before - budget.left


@pytest.mark.parametrize("type_", ["int32", "geo.T{}", "geo.T1", "Unknown{}"])
def test_cost_grows_as_the_schemas_do(type_: str) -> None:
    """Ten times the fields cost ten times the steps, whatever the fields hold."""

    def schema(count: int) -> Document:
        return Document(wide(count, type_), {"geo.proto": many(count)})

    small, large = (cost(schema(count), schema(count)) for count in (100, 1_000))
    assert large < 11 * small


def test_ten_thousand_fields_are_compared_in_a_moment() -> None:
    """A real limit for a person who waits for a registration."""
    old, new = (Document(wide(10_000, "geo.T{}"), {"geo.proto": many(10_000)}) for _ in range(2))
    started = time.perf_counter()
    assert differences(new, old, Budget()) == ()
    assert time.perf_counter() - started < 10


def test_a_chain_of_imported_messages_may_be_as_long_as_the_file() -> None:
    """Each message uses the next one; no stack grows with them."""
    text = wide(1, "geo.T1")
    old, new = (Document(text, {"geo.proto": many(5_000, "T{}")}) for _ in range(2))
    assert differences(new, old, Budget()) == ()


def test_findings_that_many_fields_share_are_not_listed_without_end() -> None:
    """Each message uses the next one twice: told at every use, the one change would be told 2^40 times."""

    def schema(type_: str) -> Document:
        file = many(40, "T{}")
        for message in file.messages[:-1]:
            message.fields.append(Field("", message.fields[0].type, "b", 2))
        file.messages[-1].fields = [Field("", type_, "a", 1)]
        return Document(wide(2, "geo.T1"), {"geo.proto": file})

    listed = Counter(finding.path for finding in differences(schema("string"), schema("int32"), Budget()))
    assert sum(listed.values()) < MAX_REPEATED + 100
    assert listed.keys() >= {"#/M/1", "#/M/2", "#/T40/1", *(f"#/T{n}/{tag}" for n in range(1, 40) for tag in (1, 2))}


def test_a_check_that_takes_too_much_is_abandoned() -> None:
    """The budget is shared by all comparisons of a check."""
    budget = Budget(left=1_000)
    with pytest.raises(CheckAbandoned, match="steps"):
        differences(Document(wide(1_000), {}), Document(wide(1_000), {}), budget)


def test_nesting_that_no_parser_lets_through_is_refused() -> None:
    """Trees can be built by hand."""

    def schema() -> Document:
        file = File()
        scope: File | Message = file
        for _ in range(2_000):
            scope.messages = [Message("M")]
            scope = scope.messages[0]
        return Document(file, {})

    with pytest.raises(CheckAbandoned, match="too deeply"):
        differences(schema(), schema(), Budget())
