"""What a name means: scopes from the inside out, files near and far."""

import time

import pytest

from sigla.languages.protobuf.names import FoundType, Names
from sigla.languages.protobuf.parse import read
from sigla.languages.protobuf.tree import Document, Enum, File, Message

TRIP = """
syntax = "proto3";
package shop.v1;
message Trip {
  Leg first = 1;
  message Leg { enum Mode { CAR = 0; } message Mode2 {} }
  repeated group Stop = 2 { int32 x = 1; message Sign {} }
  oneof way { string road = 3; }
  extend Leg2 { optional int32 nested_mark = 100; }
}
message Leg { message Mode2 {} }
message Leg2 {}
enum Kind { A = 0; }
extend Leg2 { optional int32 mark = 101; repeated group Pair = 102 { optional int32 y = 1; } }
"""
GEO = """
syntax = "proto3";
package shop;
message Pos {}
message Trip { message Only {} }
extend Pos { optional int32 pin = 9; }
"""


def names(text: str, **imported: str) -> Names:
    return Names(Document(read(text), {f"{name}.proto": read(other) for name, other in imported.items()}))


def full(found: FoundType | None) -> str | None:
    return found.full if found else None


@pytest.mark.parametrize(
    "name, scope, meant",
    [
        ("Leg", ("Trip",), "shop.v1.Trip.Leg"),
        ("Leg", (), "shop.v1.Leg"),
        ("Leg", ("Trip", "Leg"), "shop.v1.Trip.Leg"),
        ("Leg.Mode", ("Trip",), "shop.v1.Trip.Leg.Mode"),
        ("Leg.Mode", (), None),
        ("Trip.Leg", ("Trip", "Leg"), "shop.v1.Trip.Leg"),
        ("v1.Leg", (), "shop.v1.Leg"),
        ("shop.v1.Leg", ("Trip",), "shop.v1.Leg"),
        (".shop.v1.Leg", ("Trip",), "shop.v1.Leg"),
        (".Leg", (), None),
        ("Kind", ("Trip", "Leg"), "shop.v1.Kind"),
        ("Stop", ("Trip",), "shop.v1.Trip.Stop"),
        ("Sign", ("Trip", "Stop"), "shop.v1.Trip.Stop.Sign"),
        ("Pair", (), "shop.v1.Pair"),
        ("way", ("Trip",), None),
        ("Nobody", ("Trip",), None),
        ("", (), None),
    ],
)
def test_the_innermost_scope_that_has_the_name_decides(name: str, scope: tuple[str, ...], meant: str | None) -> None:
    """Messages around the use, then the package, then its parents, then the root; a leading dot skips all that."""
    assert full(names(TRIP).find(name, scope)) == meant


def test_a_type_knows_its_name_its_file_and_its_declaration() -> None:
    """The local name is what remains without the package: types are compared by it."""
    known = names(TRIP)
    leg, kind = known.find("Leg", ("Trip",)), known.find("Kind", ())
    assert leg is not None
    assert kind is not None
    assert (leg.local, leg.full) == ("Trip.Leg", "shop.v1.Trip.Leg")
    assert leg.file is known.document.file
    assert isinstance(leg.definition, Message)
    assert isinstance(kind.definition, Enum)


def test_a_group_is_a_message_under_its_own_name() -> None:
    """Its fields stand between its braces."""
    stop = names(TRIP).find("Trip.Stop", ())
    assert stop is not None
    assert isinstance(stop.definition, Message)
    assert [field.name for field in stop.definition.fields] == ["x"]


def test_all_files_of_the_document_are_seen_whether_imported_or_not() -> None:
    """A parent of the package is a scope like others, and what it holds may stand in another file (PR-4)."""
    known = names(TRIP, geo=GEO)
    assert full(known.find("Pos", ("Trip",))) == "shop.Pos"
    assert full(known.find("shop.Trip.Only", ())) == "shop.Trip.Only"


def test_a_name_is_looked_up_from_the_file_it_stands_in() -> None:
    """The same word means another message in a file of another package."""
    known = names(TRIP, geo=GEO)
    assert full(known.find("Trip", ())) == "shop.v1.Trip"
    assert full(known.find("Trip", (), known.document.imported["geo.proto"])) == "shop.Trip"


def test_the_own_file_is_believed_before_its_references() -> None:
    """Two files may declare one name; that is not checked unless fields are validated strictly."""
    known = names("message Twice { optional int32 own = 1; }", other="message Twice {}")
    found = known.find("Twice", ())
    assert found is not None
    assert found.file is known.document.file


def test_of_two_declarations_in_one_scope_the_last_one_counts() -> None:
    """As in comparisons; the default checks let nested duplicates through (PP-35)."""
    found = names('syntax = "proto3"; message M { message N {} message N { int32 a = 1; } }').find("M.N", ())
    assert found is not None
    assert isinstance(found.definition, Message)
    assert len(found.definition.fields) == 1


@pytest.mark.parametrize(
    "name", ["google.protobuf.Timestamp", ".google.type.Date", "confluent.type.Decimal", "google.protobuf.Field.Kind"]
)
def test_files_that_are_always_available_need_no_import(name: str) -> None:
    """PP-40 to PP-42."""
    assert full(names(TRIP).find(name, ("Trip",))) == name.removeprefix(".")


def test_a_reference_is_believed_before_the_files_that_are_always_available() -> None:
    """A client that brings its own file under one of those names means it."""
    mine = 'syntax = "proto3"; package google.protobuf; message Timestamp { string text = 1; }'
    known = names(TRIP, mine=mine)
    found = known.find("google.protobuf.Timestamp", ())
    assert found is not None
    assert found.file is known.document.imported["mine.proto"]


def test_the_files_that_are_always_available_know_each_other() -> None:
    """A name in one of them is looked up in its own package."""
    known = names("")
    api = known.find("google.protobuf.Api", ())
    assert api is not None
    assert full(known.find("Method", (), api.file)) == "google.protobuf.Method"


@pytest.mark.parametrize(
    "name, scope, meant",
    [
        ("mark", ("Trip",), "shop.v1.mark"),
        ("nested_mark", ("Trip",), "shop.v1.Trip.nested_mark"),
        ("nested_mark", (), None),
        ("Trip.nested_mark", (), "shop.v1.Trip.nested_mark"),
        ("pair", (), "shop.v1.pair"),
        ("pin", (), "shop.pin"),
        ("confluent.field_meta", ("Trip",), "confluent.field_meta"),
        (".confluent.message_meta", (), "confluent.message_meta"),
        ("Leg", (), None),
    ],
)
def test_extensions_have_names_of_their_own(name: str, scope: tuple[str, ...], meant: str | None) -> None:
    """An extension belongs where it is declared, not to the message it extends. A group counts under its small name."""
    assert names(TRIP, geo=GEO).find_extension(name, scope) == meant


def test_an_extension_knows_its_field_and_where_it_is_declared() -> None:
    """Whoever reads a value needs to know what it holds, and from where its type is named."""
    extension = names(TRIP).extension("nested_mark", ("Trip",))
    assert extension is not None
    assert (extension.field.tag, extension.scope) == (100, ("Trip",))
    assert extension.file.package == "shop.v1"


def test_a_file_without_package_has_no_scope_but_the_root() -> None:
    """Its names are found from every package."""
    file = File()
    assert full(Names(Document(file, {"bare.proto": read("message Bare {}")})).find("Bare", ())) == "Bare"
    assert full(names(TRIP, bare="message Bare {}").find("Bare", ("Trip", "Leg"))) == "Bare"


def test_ten_thousand_names_are_found_in_a_moment() -> None:
    """Linear: a hundred times the names take about a hundred times as long, here far below the limit."""
    count = 10_000
    known = names("package a.b.c;" + "".join(f"message T{number} {{}}" for number in range(count)))
    started = time.perf_counter()
    assert all(known.find(f"T{number}", ("T1",)) for number in range(count))
    assert not any(known.find(f"Gone{number}", ("T1",)) for number in range(count))
    assert time.perf_counter() - started < 10
