"""Schemas become what protoc would make of them (contract D.3.2)."""

import base64
import time

import pytest
from google.protobuf import text_format
from google.protobuf.descriptor_pool import DescriptorPool

from sigla.languages.protobuf import descriptors
from tests.unit.languages.protobuf_files import (
    DEEP,
    FILES,
    Proto,
    a_class,
    a_document,
    a_pool,
    comparable,
    protocs_own,
    the_files,
    with_their_options,
)


def test_a_schema_that_uses_everything_becomes_what_protoc_makes_of_it() -> None:
    theirs = protocs_own()
    ours = {file.name: file for file in the_files(a_document(FILES))}
    assert comparable(ours["default"]) == comparable(theirs["main.proto"])
    for path in ("geo.proto", "deep.proto", "confluent/meta.proto", "google/protobuf/timestamp.proto"):
        assert comparable(ours[path]) == comparable(theirs[path])


def test_a_pool_takes_the_files_in_the_order_of_the_set() -> None:
    """A reader without a parser decodes with nothing but the set: options, references, public imports and all."""
    message = a_class(a_pool(a_document(FILES)), "p.q.M")
    written = message(a=5, map_2={1: 0})
    written.ts.seconds = 99
    written.deep.a = "x"
    written.g.z = 7
    read = message.FromString(written.SerializeToString())
    assert (read.a, read.ts.seconds, read.deep.a, read.g.z, dict(read.map_2)) == (5, 99, "x", 7, {1: 0})


def test_data_written_with_generated_classes_is_read_with_the_set() -> None:
    theirs = DescriptorPool()
    for file in protocs_own().values():
        theirs.Add(file)
    written = a_class(theirs, "geo.Point")(lat=1.5, o=0, q=3)
    point = a_class(a_pool(a_document(FILES)), "geo.Point")
    read = point.FromString(written.SerializeToString())
    assert (read.lat, read.HasField("o"), read.HasField("p8"), read.WhichOneof("k")) == (1.5, True, False, "q")


def test_what_is_used_without_an_import_gets_one() -> None:
    """The registry accepts it (PP-40); a pool would not."""
    document = a_document({"own": 'syntax="proto3"; message M { google.type.Money m = 1; geo.Deep d = 2; }'} | FILES)
    assert descriptors.descriptor(document).dependency == ["google/type/money.proto", "deep.proto"]
    a_class(a_pool(document), "M")


def test_an_import_that_nobody_knows_and_nobody_uses_is_left_out() -> None:
    document = a_document({"own": 'syntax="proto3"; import "gone.proto"; message M { int32 a = 1; }'})
    assert descriptors.descriptor(document).dependency == []
    a_class(a_pool(document), "M")


def test_a_reference_that_the_schema_does_not_need_is_not_in_its_set() -> None:
    document = a_document({"own": 'syntax="proto3"; message M {}', "deep.proto": DEEP})
    assert [file.name for file in the_files(document)] == ["default"]


def test_options_that_nobody_declares_are_left_out_and_take_no_other_with_them() -> None:
    text = (
        'syntax="proto3"; message M { int32 a = 1 [(no.such) = true, deprecated = true, packed = "no", jstype = 7]; }'
    )
    (field,) = descriptors.descriptor(a_document({"own": text})).message_type[0].field
    assert str(field.options) == "deprecated: true\n"


def test_an_option_is_encoded_as_far_down_as_its_name_goes() -> None:
    files = {
        "own": """
            package p;
            import "google/protobuf/descriptor.proto";
            message A { optional A b = 1; optional int32 c = 2; extensions 10 to 20; }
            extend A { optional A more = 10; }
            extend google.protobuf.FieldOptions { optional A a = 5000; }
            message M { optional int32 x = 1 [(a).b.(p.more).c = 3]; }
        """
    }
    pool = a_pool(a_document(files))
    options = a_class(pool, "p.M").DESCRIPTOR.fields_by_name["x"].GetOptions()
    read = a_class(pool, "google.protobuf.FieldOptions").FromString(options.SerializeToString())
    assert str(read) == "[p.a] {\n  b {\n    [p.more] {\n      c: 3\n    }\n  }\n}\n"


@pytest.mark.parametrize(
    "files",
    [
        {"own": "OPTION message B {} message B {}"},
        {"own": "OPTION", "google/protobuf/descriptor.proto": "message Other {}"},
    ],
    ids=["a file that no pool takes", "a reference in the place of descriptor.proto"],
)
def test_an_option_whose_declaration_makes_no_sense_is_left_out(files: dict[str, str]) -> None:
    option = """
        import "google/protobuf/descriptor.proto";
        extend google.protobuf.MessageOptions { optional int32 a = 5000; }
        message M { option (a) = 1; message B {} NESTED }
    """
    own = files["own"].replace("OPTION message B {} message B {}", option.replace("NESTED", "message B {}"))
    document = a_document(files | {"own": own.replace("OPTION", option.replace("NESTED", ""))})
    assert not descriptors.descriptor(document).message_type[0].options.ByteSize()


def test_an_import_that_is_written_twice_is_one() -> None:
    text = 'import "google/protobuf/any.proto"; import public "google/protobuf/any.proto"; message M {}'
    descriptor = descriptors.descriptor(a_document({"own": text}))
    assert descriptor.dependency == ["google/protobuf/any.proto"]
    assert not descriptor.public_dependency


@pytest.mark.parametrize(
    "type_, written, built",
    [
        ("bytes", '"→"', r"\342\206\222"),  # no character for every byte: UTF-8, then
        ("double", "abc", "abc"),
        ("float", "1e39", "inf"),
        ("float", "010", "8"),
        ("double", "-0x10", "-16"),
        ("int32", "-0", "0"),
        ("string", "abc", "abc"),
    ],
)
def test_numbers_in_defaults_are_decimal_and_what_is_none_stays_as_it_is_written(
    type_: str, written: str, built: str
) -> None:
    text = f"message M {{ optional {type_} a = 1 [default = {written}]; }}"
    (field,) = descriptors.descriptor(a_document({"own": text})).message_type[0].field
    assert field.default_value == built


def test_tags_are_encoded_even_without_the_import() -> None:
    """Confluent's clients read them from the descriptor, to encrypt fields."""
    text = 'syntax="proto3"; message M { int32 a = 1 [(confluent.field_meta).tags = "PII"]; }'
    descriptor = descriptors.descriptor(a_document({"own": text}))
    assert 'tags: "PII"' in text_format.MessageToString(with_their_options(descriptor))


def test_declared_messages_keep_their_index_whatever_else_is_nested() -> None:
    """Serialisers address a message by its path of indexes (PR-6)."""
    text = "message M { map<int32, int32> m = 1; optional group G = 2 {} message A {} message B {} }"
    (message,) = descriptors.descriptor(a_document({"own": text})).message_type
    assert [nested.name for nested in message.nested_type] == ["A", "B", "MEntry", "G"]


def test_groups_are_in_the_serialized_form() -> None:
    """DV-13: the reference loses them."""
    data = base64.b64decode(descriptors.serialized(a_document({"own": "message M { repeated group G = 1 {} }"})))
    (field,) = Proto.FromString(data).message_type[0].field
    assert (field.type, field.type_name) == (field.TYPE_GROUP, ".M.G")


def test_the_own_file_is_called_default() -> None:
    assert descriptors.descriptor(a_document({"anything.proto": "message M {}"})).name == "default"


@pytest.mark.parametrize(
    "text",
    [
        'syntax="proto3"; message M { int32 a = 1; int32 b = 1; }',
        'syntax="proto3"; message M { int32 a = -1; }',
        'syntax="proto3"; message M { Nope a = 1; }',
        'syntax="proto3"; message M { optional int32 a = 1; optional int32 a = 2; }',
        'syntax="proto3"; enum E {}',
        'syntax="proto3"; enum E { A = 1; }',
        'syntax="proto3"; message M { int32 a = 1 [default = 4]; }',
        'syntax="proto3"; message M { oneof o {} oneof p { int32 a = 1; } oneof p { int32 b = 2; } }',
        'import "default"; message M { option uninterpreted_option = {}; option features.x = 1; }',
        'message M { optional int32 a = 1 [default = "x"]; optional double b = 2 [default = 1e999]; }',
        "message M { extend X { map<int32, int32> m = 1; } reserved 9 to 5; extensions 5 to max; }",
        "",
    ],
)
def test_what_the_registry_accepts_is_compiled_even_if_no_pool_takes_it(text: str) -> None:
    """Bodies are written for every accepted schema, lenient parses included."""
    assert the_files(a_document({"own": text}))[-1].name == "default"
    assert base64.b64decode(descriptors.serialized(a_document({"own": text})))


def test_files_that_import_each_other_come_to_an_end() -> None:
    files = {"a.proto": 'import "b.proto"; message A { optional B b = 1; }'}
    files |= {
        "b.proto": 'import "c.proto"; message B {}',
        "c.proto": 'import "b.proto"; message C { optional B b = 1; }',
    }
    assert [file.name for file in the_files(a_document(files))] == ["c.proto", "b.proto", "default"]


def test_a_long_chain_of_imports_is_no_problem() -> None:
    chain = {f"{n}.proto": f'import "{n + 1}.proto"; message M{n} {{ optional M{n + 1} m = 1; }}' for n in range(2000)}
    files = chain | {"2000.proto": "message M2000 {}"}
    assert len(the_files(a_document(files))) == 2001


def test_many_options_and_fields_are_compiled_in_a_moment() -> None:
    fields = "".join(f"optional M a{n} = {n} [deprecated = true];" for n in range(1, 10_000))
    before = time.process_time()
    descriptors.compiled(a_document({"own": f"message M {{ {fields} }}"}))
    assert time.process_time() - before < 2


def test_an_enum_sorted_by_number_can_be_loaded_all_the_same() -> None:
    """Pools want the 0 of an open enum first; the normal text has what is below 0 in front of it (PN-5)."""
    document = a_document({"main.proto": 'syntax="proto3"; enum S { LOST = -1; NEW = 0; } message M { S s = 1; }'})
    assert [value.name for value in descriptors.descriptor(document).enum_type[0].value] == ["NEW", "LOST"]
    assert a_pool(document).FindEnumTypeByName("S").values[0].number == 0


def test_an_imported_file_does_not_see_the_file_that_imports_it() -> None:
    """Even where the packages would let a relative name of its own mean a message there."""
    files = {
        "main.proto": (
            'syntax="proto3"; package a.a; import "one.proto"; message C { int32 x = 1; } message B { .a.C c = 1; }'
        ),
        "one.proto": 'syntax="proto3"; package a; message C { a.C f0 = 1; }',
    }
    one, _ = the_files(a_document(files))
    assert one.message_type[0].field[0].type_name == ".a.C"
