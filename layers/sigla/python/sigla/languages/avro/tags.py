"""Inline tags: the property `confluent:tags` of records and their fields.

A place is called by the names that lead to it, `org.example.Order.to.org.example.Address.zip`: a record inside a field
by both names, each record with its namespace. Where a place is looked for, namespaces may be left out, and the whole
may begin with a dot. Places are those the text itself spells out; what comes from a reference belongs to the schema
that was referenced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.avro.tree import Array, Document, Field, Json, Map, Props, Record, Type, Union
from sigla.model import Entity, Tagged

TAGS: Final = "confluent:tags"
Change = Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]
Node = Record | Field
Way: TypeAlias = tuple[Node, ...]
"""The records and fields that lead to a place, the place itself last."""


def tagged(document: Document) -> tuple[Tagged, ...]:
    """Every entity with inline tags, in document order."""
    return tuple(Tagged(entity(way), tags) for way in places(document) if (tags := tags_of(way[-1].props)))


def entity(way: Way) -> Entity:
    return Entity(".".join(names_of(node)[-1] for node in way), kind_of(way[-1]))


def names_of(node: Node) -> tuple[str, ...]:
    """What a path may call it, in full last."""
    return (node.name, node.full) if isinstance(node, Record) else (node.name,)


def kind_of(node: Node) -> str:
    return "sr_record" if isinstance(node, Record) else "sr_field"


def tags_of(props: Props) -> tuple[str, ...]:
    listed = props.get(TAGS)
    return tuple(tag for tag in listed if isinstance(tag, str)) if isinstance(listed, list) else ()


def retag(document: Document, add: Sequence[Tagged], remove: Sequence[Tagged]) -> None:
    """Adds tags, then removes some, in the nodes of the document. Raises Malformed for a place it does not have."""
    ways = list(places(document))
    change(ways, add, united)
    change(ways, remove, without)


def change(ways: Iterable[Way], wanted: Iterable[Tagged], how: Change) -> None:
    for item in wanted:
        node = found(ways, item.entity)
        node.props = with_tags(node.props, how(tags_of(node.props), item.tags))


def found(ways: Iterable[Way], wanted: Entity) -> Node:
    path = wanted.path.removeprefix(".")
    for way in ways:
        if kind_of(way[-1]) == wanted.kind and leads(way, path):
            return way[-1]
    raise Malformed(f"No matching path '{wanted.path}' found in the schema")


def leads(way: Way, path: str) -> bool:
    """Does the path spell this way? rests: what may be left of it after each step, as records have two spellings."""
    effort.pulse(1)
    rests = {f".{path}"}
    for node in way:
        names = names_of(node)
        rests = {rest[len(name) + 1 :] for rest in rests for name in names if f"{rest}.".startswith(f".{name}.")}
        if not rests:
            return False
    return "" in rests


def united(tags: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags + more))


def without(tags: tuple[str, ...], less: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in less)


def with_tags(props: Props, tags: tuple[str, ...]) -> Props:
    """The properties with these tags, in their old place or as the last. Without any tag left, the property goes."""
    if tags:
        listed: list[Json] = list(tags)
        return {**props, TAGS: listed}
    return {key: value for key, value in props.items() if key != TAGS}


def places(document: Document) -> Iterator[Way]:
    """Records and fields in document order. A record counts where it is spelled out, not where it is used by name."""
    return within(document.root, (), set(document.top))


def within(type_: Type, way: Way, shown: set[str]) -> Iterator[Way]:
    """The places inside a type; way leads there. No deeper than the canonical text, whose depth is limited."""
    if not isinstance(type_, Record):
        for part in parts(type_):
            yield from within(part, way, shown)
    elif type_.full not in shown:
        shown.add(type_.full)
        here = (*way, type_)
        yield here
        for field in type_.fields:
            effort.pulse(1)
            yield (*here, field)
            yield from within(field.type, (*here, field), shown)


def parts(type_: Type) -> list[Type]:
    if isinstance(type_, Union):
        return type_.branches
    if isinstance(type_, Array):
        return [type_.items]
    return [type_.values] if isinstance(type_, Map) else []
