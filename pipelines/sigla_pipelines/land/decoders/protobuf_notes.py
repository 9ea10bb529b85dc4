"""What Protobuf options say of fields: `(confluent.field_meta)` and `(confluent.message_meta)` have `doc` and `tags`.

They are read from the compiled files as they are encoded: which of the two a process has compiled in does not matter.
Comments in the text of a schema are not compiled, and not read.
"""

from collections.abc import Iterator
from typing import Any, Final

from google.protobuf.descriptor import Descriptor, FieldDescriptor
from google.protobuf.empty_pb2 import Empty
from google.protobuf.message import DecodeError
from google.protobuf.unknown_fields import UnknownFieldSet

from sigla.decoding.protobuf_fields import fields
from sigla_pipelines.land.decoders.notes import NOTHING, Note, PathTags, Tags, all_tags, tags_at

META: Final = 1088
"""The number of the options. Source: Confluent's `confluent/meta.proto`."""
_DOC, _TAG = 1, 3
"""Fields of `confluent.Meta`."""


def note_of_field(field: FieldDescriptor, tags: PathTags) -> Note:
    """The note of the field alone."""
    said = _note_in_options(field.GetOptions())
    return Note(said.doc, said.tags | tags_at(field.full_name, tags))


def message_tags(descriptor: Descriptor | None) -> Tags:
    return _note_in_options(descriptor.GetOptions()).tags if descriptor else NOTHING.tags


def tags_within(descriptor: Descriptor, tags: PathTags) -> Tags:
    """Those of all that a message may have in it, however deep."""
    return all_tags(_tags_within(descriptor, tags))


def _tags_within(root: Descriptor, tags: PathTags) -> Iterator[Tags]:
    todo, met = [root], set[str]()
    while todo:
        descriptor = todo.pop()
        if descriptor.full_name in met:
            continue
        met.add(descriptor.full_name)
        yield message_tags(descriptor)
        for field in fields(descriptor).values():
            yield note_of_field(field, tags).tags
            if field.message_type is not None:
                todo.append(field.message_type)


def _note_in_options(options: Any) -> Note:
    doc, tags = "", set[str]()
    for meta in _texts(options.SerializeToString(), META):
        doc = next(iter(reversed([text.decode(errors="replace") for text in _texts(meta, _DOC)])), doc)
        tags |= {text.decode(errors="replace") for text in _texts(meta, _TAG)}
    return Note(doc, frozenset(tags))


def _texts(message: bytes, number: int) -> list[bytes]:
    """What a message has under a number, as far as it is of the kind that has a length."""
    try:
        every: Any = UnknownFieldSet(Empty.FromString(message))
    except DecodeError:  # another option with this number, which does not hold a message
        return []
    return [each.data for each in every if each.field_number == number and isinstance(each.data, bytes)]
