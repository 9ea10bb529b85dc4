"""Inline tags: the list `tags` in the options `(confluent.message_meta)` and `(confluent.field_meta)`.

A place is called by the names that lead to it, `Order.Line.zip`, without the package, with or without a dot in front.
The name of a oneof may stand before those of its members. Places are the messages of the file, their fields and the
members of their oneofs; what is imported belongs to the schema that was referenced.
"""

from collections.abc import Callable, Iterable, Iterator, Sequence
from copy import copy
from typing import Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.protobuf.options import nested, united
from sigla.languages.protobuf.parse import in_order
from sigla.languages.protobuf.tree import (
    Document,
    Field,
    File,
    Listed,
    Message,
    MessageValue,
    Oneof,
    Option,
    Text,
    Value,
    Word,
)
from sigla.model import Entity, Tagged

RECORD: Final = "sr_record"
FIELD: Final = "sr_field"
META: Final = {RECORD: "confluent.message_meta", FIELD: "confluent.field_meta"}
"""The option that holds the tags, by the kind of the entity."""
TAGS: Final = "tags"

Node: TypeAlias = Message | Field
Place: TypeAlias = tuple[Entity, Node]
Options: TypeAlias = list[Option]
Change: TypeAlias = Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]


def tagged(document: Document) -> tuple[Tagged, ...]:
    """Every entity with inline tags: a message, its fields, what is nested in it, then the members of its oneofs."""
    found = ((entity, tags_of(members(node.options, META[entity.kind]))) for entity, node in places(document.file))
    return tuple(Tagged(entity, tags) for entity, tags in found if tags)


def places(file: File) -> Iterator[Place]:
    for message in file.messages:
        yield from within(message, message.name)


def within(message: Message, path: str) -> Iterator[Place]:
    effort.pulse(2)
    yield Entity(path, RECORD), message
    yield from fields(message.fields, path)
    for inner in message.messages:
        yield from within(inner, f"{path}.{inner.name}")
    for oneof in message.oneofs:
        yield from fields(oneof.fields, path)


def fields(listed: Iterable[Field], path: str) -> Iterator[Place]:
    for field in listed:
        effort.pulse(1)
        yield Entity(f"{path}.{field.name}", FIELD), field


def spelled_out(file: File) -> Iterator[Place]:
    """The members of oneofs once more, by the name of the oneof too."""
    for entity, node in places(file):
        if isinstance(node, Message):
            for oneof in node.oneofs:
                yield from fields(oneof.fields, f"{entity.path}.{oneof.name}")


def retag(document: Document, add: Sequence[Tagged], remove: Sequence[Tagged]) -> File:
    """A new file with tags added, then removed. Raises Malformed for a place that the file does not have."""
    known: dict[Entity, Node] = {}
    for entity, node in (*places(document.file), *spelled_out(document.file)):
        known.setdefault(entity, node)
    changed: dict[int, Options] = {}
    for wanted, how in ((add, with_more), (remove, without)):
        for item in wanted:
            node = found(known, item.entity)
            options = changed.get(id(node), node.options)
            changed[id(node)] = with_tags(options, META[item.entity.kind], item.tags, how)
    return with_options(document.file, changed)


def found(known: dict[Entity, Node], wanted: Entity) -> Node:
    path = wanted.path.removeprefix(".")
    node = known.get(Entity(path, wanted.kind))
    if node is None:
        raise missing(known, path.split("."), wanted.kind)
    return node


def missing(known: dict[Entity, Node], names: list[str], kind: str) -> Malformed:
    """The refusal: it tells of the first message that is not there. What precedes a field may be a oneof."""
    outer = names if kind == RECORD else names[:-2]
    for count, name in enumerate(outer, start=1):
        if Entity(".".join(outer[:count]), RECORD) not in known:
            return Malformed(f"No matching Message with name '{name}' found in the schema")
    return Malformed(f"No matching Field with name '{names[-1]}' found in the schema")


def with_more(tags: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags + more))


def without(tags: tuple[str, ...], less: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in less)


def with_tags(options: Options, name: str, tags: tuple[str, ...], how: Change) -> Options:
    """The options with other tags: all of this name become one message, where the first of them was, or at the end."""
    content = members(options, name)
    kept = how(tags_of(content), tags)
    if kept:
        content[TAGS] = Listed([Text(tag) for tag in kept])
    else:
        content.pop(TAGS, None)
    meta = [Option(name, MessageValue(list(content.items())), extension=True)] if content else []
    first = next((index for index, option in enumerate(options) if is_named(option, name)), len(options))
    rest = [option for option in options[first:] if not is_named(option, name)]
    return in_order([*options[:first], *meta, *rest])


def is_named(option: Option, name: str) -> bool:
    return option.extension and option.name.removeprefix(".") == name


def members(options: Options, name: str) -> dict[str, Value]:
    """What the options of this name say together. A key that is met again becomes a list of its distinct values."""
    together: dict[str, Value] = {}
    for option in options:
        if is_named(option, name):
            for key, value in said(option):
                together[key] = united(together[key], value) if key in together else value
    return together


def said(option: Option) -> list[tuple[str, Value]]:
    """`(name).key = value` says the same as `(name) = { key: value }`."""
    value = nested(option.path, option.value)
    return value.members if isinstance(value, MessageValue) else []


def each(value: Value) -> list[Value]:
    return value.values if isinstance(value, Listed) else [value]


def tags_of(content: dict[str, Value]) -> tuple[str, ...]:
    listed = each(content[TAGS]) if TAGS in content else []
    return tuple(dict.fromkeys(tag.text for tag in listed if isinstance(tag, Text | Word)))


def with_options(file: File, changed: dict[int, Options]) -> File:
    """The file with other options for some of its nodes; changed: by identity."""
    new = copy(file)
    new.messages = [message_with(message, changed) for message in file.messages]
    return new


def message_with(message: Message, changed: dict[int, Options]) -> Message:
    new = copy(message)
    new.options = changed.get(id(message), message.options)
    new.fields = [field_with(field, changed) for field in message.fields]
    new.oneofs = [oneof_with(oneof, changed) for oneof in message.oneofs]
    new.messages = [message_with(inner, changed) for inner in message.messages]
    return new


def oneof_with(oneof: Oneof, changed: dict[int, Options]) -> Oneof:
    new = copy(oneof)
    new.fields = [field_with(field, changed) for field in oneof.fields]
    return new


def field_with(field: Field, changed: dict[int, Options]) -> Field:
    options = changed.get(id(field))
    return field if options is None else Field(field.label, field.type, field.name, field.tag, options)
