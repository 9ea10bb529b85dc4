"""Inline tags: the property `confluent:tags` of records and their fields.

A place is called by the names that lead to it, `Order.to.Address.zip`: a record inside a field by both names,
with or without the record's namespace, with or without a dot in front. Places are those the text itself spells
out; what comes from a reference belongs to the schema that was referenced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final

from sigla.errors import Malformed
from sigla.languages.avro.tree import Array, Document, Field, Json, Map, Named, Props, Record, Type, Union
from sigla.model import Entity, Tagged

TAGS: Final = "confluent:tags"
RECORD: Final = "sr_record"
FIELD: Final = "sr_field"
Change = Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]
Place = tuple[Entity, tuple[str, ...], Record | Field]
"""An entity, the other spellings of its path, and the node."""


def tagged(document: Document) -> tuple[Tagged, ...]:
    """Every entity with inline tags, in document order; paths without namespaces."""
    return tuple(Tagged(entity, tags) for entity, _, node in places(document) if (tags := tags_of(node.props)))


def tags_of(props: Props) -> tuple[str, ...]:
    listed = props.get(TAGS)
    return tuple(tag for tag in listed if isinstance(tag, str)) if isinstance(listed, list) else ()


def retag(document: Document, add: Sequence[Tagged], remove: Sequence[Tagged]) -> None:
    """Adds tags, then removes some, in the nodes of the document. Raises Malformed for a place it does not have."""
    known: dict[Entity, Record | Field] = {}
    for entity, spellings, node in places(document):
        for path in spellings:
            known.setdefault(Entity(path, entity.kind), node)
    change(known, add, united)
    change(known, remove, without)


def change(known: dict[Entity, Record | Field], wanted: Iterable[Tagged], how: Change) -> None:
    for item in wanted:
        node = known.get(Entity(item.entity.path.removeprefix("."), item.entity.kind))
        if node is None:
            raise Malformed(f"No matching path '{item.entity.path}' found in the schema")
        node.props = with_tags(node.props, how(tags_of(node.props), item.tags))


def united(tags: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags + more))


def without(tags: tuple[str, ...], less: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in less)


def with_tags(props: Props, tags: tuple[str, ...]) -> Props:
    """The properties with these tags, at their old place or the last one. Without any tag left, the property goes."""
    if tags:
        listed: list[Json] = list(tags)
        return {**props, TAGS: listed}
    return {key: value for key, value in props.items() if key != TAGS}


def places(document: Document) -> Iterator[Place]:
    """Records and fields in document order. A record counts where it is spelled out, not where it is used by name."""
    shown = set(document.top)
    todo: list[tuple[Type, tuple[str, ...]] | Place] = [(document.root, ("",))]
    while todo:
        item = todo.pop()
        if len(item) == 3:  # noqa: PLR2004 - a place, whose turn has come
            yield item
            continue
        type_, prefixes = item
        if not isinstance(type_, Named):
            todo.extend((part, prefixes) for part in reversed(parts(type_)))
        elif type_.full not in shown:
            shown.add(type_.full)
            if isinstance(type_, Record):
                todo.extend(reversed(list(record_places(type_, prefixes))))


def parts(type_: Type) -> list[Type]:
    if isinstance(type_, Union):
        return type_.branches
    if isinstance(type_, Array):
        return [type_.items]
    return [type_.values] if isinstance(type_, Map) else []


def record_places(record: Record, prefixes: tuple[str, ...]) -> Iterator[tuple[Type, tuple[str, ...]] | Place]:
    """The record, its fields, and after each field what is inside its type."""
    names = dict.fromkeys((record.name, record.full))
    paths = tuple(f"{prefix}{name}" for name in names for prefix in prefixes)
    yield Entity(paths[0], RECORD), paths, record
    for field in record.fields:
        spellings = tuple(f"{path}.{field.name}" for path in paths)
        yield Entity(spellings[0], FIELD), spellings, field
        yield field.type, tuple(f"{path}." for path in spellings)
