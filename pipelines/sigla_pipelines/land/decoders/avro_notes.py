"""What an Avro schema says of columns: `doc` of a field or of its named type, and `confluent:tags` of both."""

from collections.abc import Iterator
from typing import Any

from sigla.languages.avro.tags import TAGS
from sigla.languages.avro.tree import Array, Enum, Field, Fixed, Map, Record, Type, Union
from sigla_pipelines.land.decoders.notes import NO_TAGS, Note, PathTags, Tags, all_tags, tags_at, tags_of_list


def of_field(record: Record, field: Field, tags: PathTags, around: Tags = NO_TAGS) -> Note:
    """tags: of the schema's metadata. around: what the record itself is tagged with, if no column around it is."""
    said = of_type(field.type)
    inline = tags_of_list(field.props.get(TAGS))
    return Note(field.doc or said.doc, inline | said.tags | around | tags_at(f"{record.full}.{field.name}", tags))


def of_type(type_: Type) -> Note:
    """The note of the record, enum or fixed that values are, items and branches among them."""
    if isinstance(type_, Record | Enum | Fixed):
        return Note(type_.doc or "", listed_tags(type_))
    inner = list(_inner(type_))
    notes = [of_type(each) for each in inner]
    doc = notes[0].doc if len(notes) == 1 else ""
    return Note(doc, all_tags(each.tags for each in notes))


def listed_tags(type_: Type) -> Tags:
    return tags_of_list(type_.props.get(TAGS)) if isinstance(type_, Record | Enum | Fixed) else NO_TAGS


def with_text(note: Note, column: Any, tags: PathTags) -> Note:
    """With the tags of all that is JSON text in a column. column: of `avro_columns`."""
    hidden = all_tags(_in_text(column, tags))
    return Note(note.doc, note.tags | hidden) if hidden else note


def _in_text(column: Any, tags: PathTags) -> Iterator[Tags]:
    of = getattr(column, "of", None)
    if of is not None:
        yield from _tags_within(of, tags)
    for part in getattr(column, "parts", ()):
        yield from _in_text(part, tags)


def _tags_within(root: Type, tags: PathTags) -> Iterator[Tags]:
    """All that a value of this type may have in it, however deep."""
    todo, met = [root], set[int]()
    while todo:
        type_ = todo.pop()
        if id(type_) in met:
            continue
        met.add(id(type_))
        yield listed_tags(type_)
        if isinstance(type_, Record):
            for field in type_.fields:
                yield tags_of_list(field.props.get(TAGS)) | tags_at(f"{type_.full}.{field.name}", tags)
                todo.append(field.type)
        else:
            todo += _inner(type_)


def _inner(type_: Type) -> Iterator[Type]:
    if isinstance(type_, Union):
        yield from (branch for branch in type_.branches if branch.kind != "null")
    elif isinstance(type_, Array):
        yield type_.items
    elif isinstance(type_, Map):
        yield type_.values
