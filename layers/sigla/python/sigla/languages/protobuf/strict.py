"""Strict field validation: what the reference's own builder of descriptors refuses (contract D.2, last column).

A DescriptorPool is the judge. It knows rules that the reference does not have, so it sees every file without them.
"""

from typing import TYPE_CHECKING

from sigla.errors import Malformed
from sigla.languages.protobuf.file_set import FileSet
from sigla.languages.protobuf.tree import MAX_TAG, Document

if TYPE_CHECKING:
    from google.protobuf import descriptor_pb2 as pb


def check(document: Document) -> None:
    """Raises Malformed if the schema, or a file that it needs, cannot be made a descriptor."""
    from google.protobuf.descriptor_pool import DescriptorPool  # noqa: PLC0415 - rarely asked for, and dear to load
    from google.protobuf.internal import api_implementation  # noqa: PLC0415 - as above

    if api_implementation.Type() == "python":
        # The pool in pure Python takes almost anything. To say yes in its name would be a lie.
        raise Malformed("Fields cannot be validated: this installation of protobuf lacks its compiled part")
    files = FileSet(document)
    protos = files.read().values()
    for user, used in files.unimported:
        raise Malformed(f'"{user}" uses types of "{used}" and does not import it')
    pool = DescriptorPool()
    for proto in protos:
        try:
            pool.Add(_relaxed(proto))
        except TypeError as error:
            reason = str(error).removeprefix("Couldn't build proto file into descriptor pool: ")
            raise Malformed(f'"{proto.name}" cannot be made a descriptor: {reason}') from None


def _relaxed(proto: "pb.FileDescriptorProto") -> "pb.FileDescriptorProto":
    """A copy as proto2, which lets enums start anywhere (PP-27) and has no rules about names in JSON that clash."""
    relaxed = type(proto)()
    relaxed.CopyFrom(proto)
    relaxed.ClearField("syntax")
    for message in relaxed.message_type:
        _relax(message)
    for extension in relaxed.extension:
        _relax_field(extension)
    return relaxed


def _relax(message: "pb.DescriptorProto") -> None:
    for nested in message.nested_type:
        _relax(nested)
    for field in (*message.field, *message.extension):
        _relax_field(field)
    _renumber(message)
    # The message that a map is on the wire: pools, not the reference, ask that an enum in it begins with 0.
    message.options.ClearField("map_entry")
    used = {field.oneof_index for field in message.field if field.HasField("oneof_index")}
    # Synthetic oneofs are the last ones, so no index changes.
    while message.oneof_decl and len(message.oneof_decl) - 1 not in used:
        message.oneof_decl.pop()


def _relax_field(field: "pb.FieldDescriptorProto") -> None:
    # Names are unique, or refused for that.
    field.json_name = field.name
    if field.proto3_optional:
        field.ClearField("proto3_optional")
        field.ClearField("oneof_index")


def _renumber(message: "pb.DescriptorProto") -> None:
    """Tags beyond the largest one, which the reference lets pass (PP-21), move to a free place."""
    beyond = {field.number for field in message.field if field.number > MAX_TAG}
    if not beyond:
        return
    taken = {field.number for field in message.field}
    free = (number for number in range(MAX_TAG, 0, -1) if number not in taken)
    moved = dict(zip(beyond, free, strict=False))
    for field in message.field:
        field.number = moved.get(field.number, field.number)
