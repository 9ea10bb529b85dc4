"""Schemas as descriptors: what clients without a parser ask for, and what stored data is decoded with (D.3.2)."""

import base64
from typing import TYPE_CHECKING

from sigla.languages.protobuf import file_set
from sigla.languages.protobuf.from_descriptor import file_of
from sigla.languages.protobuf.strict import check
from sigla.languages.protobuf.tree import Document

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb

__all__ = ["check", "compiled", "descriptor", "file_of", "serialized"]


def descriptor(document: Document) -> "pb.FileDescriptorProto":
    """The schema's own file."""
    return file_set.protos(document)[-1]


def serialized(document: Document) -> str:
    """The schema's own file, as base64."""
    return base64.b64encode(descriptor(document).SerializePartialToString(deterministic=True)).decode()


def compiled(document: Document) -> bytes:
    """A FileDescriptorSet of the schema's own file and all that it needs, each file after those that it needs itself.

    What protoc would accept, a DescriptorPool accepts. A schema that a pool refuses (a duplicate tag) has its set all
    the same.
    """
    from google.protobuf import descriptor_pb2  # noqa: PLC0415 - costs a cold start more than this whole language

    files = descriptor_pb2.FileDescriptorSet(file=file_set.protos(document))
    return files.SerializePartialToString(deterministic=True)
