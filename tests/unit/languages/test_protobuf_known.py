"""The files that need no reference are those that everybody else has under these names."""

import subprocess
import sys
from importlib import import_module
from typing import Any

import pytest
from google.protobuf import descriptor_pb2
from google.protobuf.message import Message

from sigla.languages.protobuf import descriptors, known
from sigla.languages.protobuf.tree import Document
from tests.unit.languages.protobuf_files import comparable

GOOGLE_PROTOBUF = [
    "any",
    "api",
    "descriptor",
    "duration",
    "empty",
    "field_mask",
    "source_context",
    "struct",
    "timestamp",
    "type",
    "wrappers",
]
GOOGLE_TYPE = [
    "calendar_period",
    "color",
    "date",
    "datetime",
    "dayofweek",
    "decimal",
    "expr",
    "fraction",
    "interval",
    "latlng",
    "money",
    "month",
    "phone_number",
    "postal_address",
    "quaternion",
    "timeofday",
]

FOR_COMPILERS = ("declaration", "edition_defaults", "feature_support", "retention", "targets")
"""Options of descriptor.proto's own fields that our text leaves out: nothing but protoc reads them."""


def the_descriptor_of(path: str) -> descriptor_pb2.FileDescriptorProto:
    file = known.file(path)
    assert file
    proto = descriptors.descriptor(Document(file, {}))
    proto.name = path
    return proto


def what_is_installed(module: str) -> descriptor_pb2.FileDescriptorProto:
    proto = descriptor_pb2.FileDescriptorProto()
    import_module(module).DESCRIPTOR.CopyToProto(proto)
    return proto


def without_what_compilers_read(message: Any) -> None:
    for field, value in message.ListFields():
        if field.name in FOR_COMPILERS and isinstance(message, FOR_OPTIONS):
            message.ClearField(field.name)
        elif field.message_type:
            for each in value if field.is_repeated else [value]:
                without_what_compilers_read(each)
            if isinstance(value, Message) and not value.ByteSize():
                message.ClearField(field.name)


FOR_OPTIONS = (descriptor_pb2.FieldOptions, descriptor_pb2.ExtensionRangeOptions)


@pytest.mark.parametrize("name", GOOGLE_PROTOBUF)
def test_googles_own_files_declare_what_the_installed_ones_declare(name: str) -> None:
    """A newer protobuf that declares more shows here: derive the text anew, then."""
    theirs = what_is_installed(f"google.protobuf.{name}_pb2")
    without_what_compilers_read(theirs)
    assert comparable(the_descriptor_of(f"google/protobuf/{name}.proto")) == comparable(theirs)


@pytest.mark.parametrize("name", GOOGLE_TYPE)
def test_the_common_types_declare_what_the_installed_ones_declare(name: str) -> None:
    theirs = what_is_installed(f"google.type.{name}_pb2")
    assert comparable(the_descriptor_of(f"google/type/{name}.proto")) == comparable(theirs)


@pytest.mark.parametrize("name", ["meta", "type.decimal", "type.variant"])
def test_confluents_files_declare_what_its_client_declares(name: str) -> None:
    theirs = what_is_installed(f"confluent_kafka.schema_registry.confluent.{name}_pb2")
    ours = the_descriptor_of(f"confluent/{name.replace('.', '/')}.proto")
    assert comparable(ours) == comparable(theirs)


def test_a_package_knows_its_files() -> None:
    assert sorted(known.paths_of("google.protobuf")) == [f"google/protobuf/{name}.proto" for name in GOOGLE_PROTOBUF]
    assert sorted(known.paths_of("google.type")) == [f"google/type/{name}.proto" for name in GOOGLE_TYPE]
    assert known.paths_of("confluent") == ("confluent/meta.proto",)
    assert known.paths_of("confluent.type") == ("confluent/type/decimal.proto", "confluent/type/variant.proto")
    assert known.paths_of("google") == ()


def test_every_file_declares_the_package_of_its_folder_and_nothing_but_known_imports() -> None:
    for path in known.TEXTS:
        file = known.file(path)
        assert file
        assert path in known.paths_of(file.package)
        assert all(known.file(each) for each in file.imports)
        assert file.package.startswith(tuple(root.rstrip(".") for root in known.ROOTS))


def test_a_file_is_read_once() -> None:
    assert known.file("google/protobuf/any.proto") is known.file("google/protobuf/any.proto")


def test_no_other_file_is_known() -> None:
    assert known.file("google/protobuf/compiler/plugin.proto") is None


@pytest.mark.process
def test_nothing_is_parsed_before_somebody_asks() -> None:
    """A cold start pays for the files that a schema uses, and most use none."""
    program = "from sigla.languages.protobuf import known; assert not known._FILES"
    subprocess.run([sys.executable, "-c", program], check=True)
