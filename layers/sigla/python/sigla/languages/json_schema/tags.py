"""Inline tags: the keyword `confluent:tags` of schemas and of their properties.

A place is called by the steps that lead to it: `object` for a schema of objects, its properties by their names,
`object.definitions.` and `object.$defs.` for what it defines, `array` for the items of a list, `not`,
`conditional.then`, and `allof.0`, `anyof.1`, `oneof.2` for a member of several schemas. Members are numbered not as
they stand but in an order of their own (`rank`). So `object.to.object.zip` is the property `zip` of the property `to`.
References are not followed: what they lead to is tagged where it stands.
"""

import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Any, Final, TypeAlias

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.json_schema.limits import too_deep
from sigla.languages.json_schema.load import Document, Loader
from sigla.languages.json_schema.nodes import Array, Combined, Conditional, Const, Enum, Missing, Not, Object, Schema
from sigla.languages.json_schema.text import Json, written
from sigla.model import Entity, Tagged

TAGS: Final = "confluent:tags"
RECORD: Final = "sr_record"
FIELD: Final = "sr_field"
DEFINITIONS: Final = ("definitions", "$defs")
INDEX: Final = re.compile("[0-9]{1,9}")
PARTS: Final = {"array": "items", "not": "not"}
CRITERIA: Final = {"allof": "allOf", "anyof": "anyOf", "oneof": "oneOf"}
ORDER: Final = (
    *("array", "boolean", "combined", "conditional", "const", "anything", "enum", "nothing"),
    *("not", "null", "number", "object", "reference", "string"),
)
Change = Callable[[tuple[str, ...], tuple[str, ...]], tuple[str, ...]]
Load: TypeAlias = Callable[[Json], Schema]
Way: TypeAlias = tuple[Json, int]


def tagged(document: Document) -> tuple[Tagged, ...]:
    """Every entity with inline tags, in document order; () for a schema that does not load."""
    # Few schemas have any, and the way through all nodes is long where many share their properties.
    if not mentioned(document.value):
        return ()
    try:
        load = loading(document)
        return tuple(dict.fromkeys(within(load(document.value), "", load)))
    except (Malformed, RecursionError):
        return ()


def retag(document: Document, add: Sequence[Tagged], remove: Sequence[Tagged]) -> None:
    """Adds tags, then removes some, in the document's own value. Raises Malformed for a place it does not have."""
    load = loading(document)
    try:
        change(document.value, add, united, load)
        change(document.value, remove, without, load)
    except RecursionError:
        raise too_deep() from None


def loading(document: Document) -> Load:
    """Makes nodes of values, without a look at where their references lead."""
    loader = Loader(document)
    return lambda value: loader.schema(value, loader.resources.home)


def mentioned(value: Json) -> bool:
    """Whether the keyword stands anywhere, also where it means nothing."""
    todo = [value]
    while todo:
        here = todo.pop()
        if isinstance(here, dict):
            if TAGS in here:
                return True
            todo += here.values()
        elif isinstance(here, list):
            todo += here
    return False


# --- reading ---------------------------------------------------------------------------------------------------------


def within(node: Schema, scope: str, load: Load, *, in_field: bool = False) -> Iterator[Tagged]:
    """The tagged entities inside a node that scope leads to. in_field: the tags of the node itself are a field's."""
    if isinstance(node, Object):
        here = f"{scope}object"
        if not in_field and (tags := tags_of(node.unknown)):
            yield Tagged(Entity(here, RECORD), tags)
        for name, property_ in node.properties.items():
            effort.pulse(2)
            if tags := tags_of(property_.unknown):
                yield Tagged(Entity(f"{here}.{name}", FIELD), tags)
            yield from within(property_, f"{here}.{name}.", load, in_field=True)
        for keyword in DEFINITIONS:
            definitions = node.unknown.get(keyword)
            for name, definition in definitions.items() if isinstance(definitions, dict) else ():
                yield from within(load(definition), f"{here}.{keyword}.{name}.", load)
        return
    for step, part in parts(node):
        yield from within(part, f"{scope}{step}.", load)


def parts(node: Schema) -> Iterator[tuple[str, Schema]]:
    if isinstance(node, Combined):
        for index, member in enumerate(sorted(node.members, key=rank)):
            yield f"{node.criterion.lower()}.{index}", member
    elif isinstance(node, Array):
        if node.items is not None:
            yield "array", node.items
    elif isinstance(node, Not):
        yield "not", node.schema
    elif isinstance(node, Conditional):
        for word, part in (("if", node.condition), ("then", node.then), ("else", node.otherwise)):
            if part is not None:
                yield f"conditional.{word}", part


def tags_of(schema: Mapping[str, Json]) -> tuple[str, ...]:
    listed = schema.get(TAGS)
    return tuple(dict.fromkeys(tag for tag in listed if isinstance(tag, str))) if isinstance(listed, list) else ()


def rank(node: Schema) -> tuple[Any, ...]:
    """The order of members: by kind, title, description, default, and what is in them. None comes before any text."""
    effort.pulse(2)
    default = None if isinstance(node.default, Missing) or node.default is None else written(node.default)
    words = ((word is not None, word or "") for word in (node.title, node.description, default))
    return (ORDER.index(node.kind), *words, *content(node))


def content(node: Schema) -> tuple[Any, ...]:
    if isinstance(node, Object):
        return (*sized(node.properties), *sized(node.required))
    if isinstance(node, Enum):
        return sized([written(value) for value in node.values])
    if isinstance(node, Const):
        return (written(node.value),)
    if isinstance(node, Combined):
        return (node.criterion, len(node.members), sorted(map(rank, node.members)))
    return tuple(rank(part) for _, part in parts(node))


def sized(names: Collection[str]) -> tuple[Any, ...]:
    return len(names), sorted(names)


# --- writing ---------------------------------------------------------------------------------------------------------


def change(value: Json, wanted: Sequence[Tagged], how: Change, load: Load) -> None:
    for item in wanted:
        place = found(value, item.entity.path.split("."), item.entity.kind, load)
        if not isinstance(place, dict):
            raise Malformed(f"No matching path '{item.entity.path}' found in the schema")
        tags = how(tags_of(place), item.tags)
        if tags:
            place[TAGS] = list(tags)
        else:
            place.pop(TAGS, None)


def found(value: Json, steps: list[str], kind: str, load: Load) -> Json:
    """What the steps lead to from here; None if nothing. Where they can be read in two ways, both are tried."""
    todo: list[Way] = [(value, 0)]
    seen: set[tuple[int, int]] = set()
    while todo:
        here, at = todo.pop()
        if at == len(steps):
            return here
        if isinstance(here, dict) and (id(here), at) not in seen:
            seen.add((id(here), at))
            todo += reversed(list(ways(here, steps, at, kind, load)))
    return None


def ways(value: dict[str, Json], steps: list[str], at: int, kind: str, load: Load) -> Iterator[Way]:
    """Where the next steps may lead, and the number of the step to go on with; the likeliest first."""
    step, left = steps[at], len(steps) - at
    if step == "object" and left == 1:
        if kind == RECORD:
            yield value, at + 1
    elif step == "object":
        if steps[at + 1] in DEFINITIONS:
            yield from named(value.get(steps[at + 1]), steps, at + 2)
        yield from named(value.get("properties"), steps, at + 1)
    elif step in PARTS and left > 1:
        yield value.get(PARTS[step]), at + 1
    elif step == "conditional" and left > 2:
        yield value.get(steps[at + 1]), at + 2
    elif step in CRITERIA and left > 2:
        yield member(value.get(CRITERIA[step]), steps[at + 1], load), at + 2
        # Several kinds in one schema are members as well: of the schema itself.
        yield value, at + 2


def named(values: Json, steps: list[str], at: int) -> Iterator[Way]:
    """The values whose name is the next step, or several of them, since names may have dots."""
    if not isinstance(values, dict) or not values:
        return
    longest = max(name.count(".") for name in values) + 1
    for end in range(at + 1, min(at + longest, len(steps)) + 1):
        name = ".".join(steps[at:end])
        if name in values:
            yield values[name], end


def member(values: Json, index: str, load: Load) -> Json:
    if not isinstance(values, list) or not INDEX.fullmatch(index) or int(index) >= len(values):
        return None
    return sorted(values, key=lambda value: rank(load(value)))[int(index)]


def united(tags: tuple[str, ...], more: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(dict.fromkeys(tags + more))


def without(tags: tuple[str, ...], less: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(tag for tag in tags if tag not in less)
