"""What an Avro schema consists of: its definitions side by side, by full name, each with what it says (`Outlines`).

A type inside another is a part of it; a definition is one of the whole schema, however many fields use it. Definitions
and fields that have a new name and the old one as an alias are the same ones.
"""

from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from typing import Final

from sigla import effort
from sigla.languages.avro import canonical, normalise
from sigla.languages.avro.canonical import NOBODY, STEPS_OF_A_NODE
from sigla.languages.avro.compare import Comparison, Found, Path
from sigla.languages.avro.json_text import written
from sigla.languages.avro.rules import BRANCH, Judged
from sigla.languages.avro.tree import (
    NO_PROPS,
    Array,
    Definition,
    Document,
    Enum,
    Field,
    Fixed,
    Map,
    Missing,
    Named,
    Primitive,
    Props,
    Record,
    Type,
    Union,
)
from sigla.languages.language import Budget
from sigla.languages.outline import Outlines, Place, SchemaPart, Way
from sigla.model import Finding

ROOT: Final = "(schema)"
"""What the whole text is; no name has brackets."""


def outlines(old: Document, new: Document) -> Outlines:
    before, after = normal(old), normal(new)
    defined = {definition.full: definition for definition in definitions(after)}
    known = {definition.full for definition in definitions(before)}
    renamed: dict[str, str] = {}
    for full, definition in defined.items():
        former = next((alias for alias in definition.aliases if alias in known and alias not in defined), None)
        if full not in known and former is not None:
            renamed.setdefault(former, full)
    return Outlines(
        Outline(renamed).schema(before),
        Outline({}).schema(after),
        locator(old.root, new.root),
        locator(new.root, old.root),
    )


def normal(document: Document) -> Type:
    """The schema in normal form, as if there were no references. Raises Malformed."""
    return normalise.normalised(canonical.resolved(document), Document(document.root, {}, NOBODY)).root


def definitions(root: Type) -> Iterator[Definition]:
    """Each once, in the order of the text."""
    met: set[str] = set()
    todo: list[Type] = [root]
    while todo:
        node = todo.pop()
        if isinstance(node, Record | Enum | Fixed):
            if node.full in met:
                continue
            met.add(node.full)
            yield node
        todo.extend(reversed(inside(node)))


def inside(node: Type) -> list[Type]:
    if isinstance(node, Record):
        return [field.type for field in node.fields]
    if isinstance(node, Union):
        return node.branches
    return [node.items] if isinstance(node, Array) else [node.values] if isinstance(node, Map) else []


class Outline:
    """Makes one tree. renamed: what definitions of this schema are called in the other one."""

    __slots__ = ("renamed",)

    def __init__(self, renamed: Mapping[str, str]) -> None:
        self.renamed = renamed

    def schema(self, root: Type) -> SchemaPart:
        whole = SchemaPart("schema")
        whole.add(ROOT, self.type(root))
        for definition in definitions(root):
            whole.add(definition.full, self.definition(definition))
        return whole

    def definition(self, node: Definition) -> SchemaPart:
        word = node.word if isinstance(node, Record) else node.kind
        part = SchemaPart(word, word, whole=partial(defined, node), aliases=node.aliases, shared=True)
        if isinstance(node, Record):
            fields = part.add("fields", SchemaPart("fields", ordered=True))
            for field in node.fields:
                fields.add(field.name, self.field(field))
        elif isinstance(node, Enum):
            symbols = part.add("symbols", SchemaPart("symbols", ordered=True))
            for symbol in node.symbols:
                symbols.say(symbol, symbol, "symbol")
            part.say("default", node.default)
        else:
            part.say("size", str(node.size))
        part.say("doc", node.doc, explains=True)
        say_aliases(part, node.aliases)
        say_props(part, node.props)
        return part

    def field(self, field: Field) -> SchemaPart:
        part = SchemaPart("field", whole=partial(declared, field), aliases=field.aliases)
        part.add("type", self.type(field.type))
        if not isinstance(field.default, Missing):
            part.say("default", written(field.default))
        part.say("doc", field.doc, explains=True)
        if field.order != "ascending":
            part.say("order", field.order)
        say_aliases(part, field.aliases)
        say_props(part, field.props)
        return part

    def type(self, node: Type) -> SchemaPart:
        effort.pulse(STEPS_OF_A_NODE)
        part = SchemaPart("type", self.name(node), whole=partial(expression, node))
        if isinstance(node, Array):
            part.add("items", self.type(node.items))
        elif isinstance(node, Map):
            part.add("values", self.type(node.values))
        elif isinstance(node, Union):
            for branch in node.branches:
                part.add(self.name(branch), self.type(branch))
        if isinstance(node, Primitive | Array | Map):
            say_props(part, node.props)
        return part

    def name(self, node: Type) -> str:
        """The type without what is inside."""
        if isinstance(node, Named):
            return self.renamed.get(node.full, node.full)
        if isinstance(node, Union):
            return " | ".join(map(self.name, node.branches)) or "[]"
        return node.kind


def say_aliases(part: SchemaPart, aliases: tuple[str, ...]) -> None:
    if aliases:
        part.say("aliases", ", ".join(aliases))


def say_props(part: SchemaPart, props: Props) -> None:
    for key, value in props.items():
        part.say(key, written(value), "property" if key not in PLAIN else "")


PLAIN: Final = frozenset(("logicalType", "precision", "scale"))
"""Properties that speak for themselves."""


def expression(node: Type) -> str:
    """A type as people write it; what it says beside its kind stands in brackets."""
    if isinstance(node, Named):
        return node.full
    if isinstance(node, Union):
        return " | ".join(map(expression, node.branches)) or "[]"
    inner = inside(node)
    text = f"{node.kind}<{expression(inner[0])}>" if inner else node.kind
    props = node.props if isinstance(node, Primitive | Array | Map) else NO_PROPS
    return f"{text} ({', '.join(f'{key} {written(value)}' for key, value in props.items())})" if props else text


def declared(field: Field) -> str:
    """A field in a line."""
    default = "" if isinstance(field.default, Missing) else f" = {written(field.default)}"
    return f"{expression(field.type)}{default}"


def defined(node: Definition) -> str:
    """What is in a definition, in a line."""
    if isinstance(node, Record):
        return ", ".join(f"{field.name}: {declared(field)}" for field in node.fields)
    return ", ".join(node.symbols) if isinstance(node, Enum) else f"{node.size} bytes"


class Located(Comparison):
    """A comparison that knows where its findings are. ways: by finding. inside: what the last branch tried found."""

    __slots__ = ("inside", "ways")

    def __init__(self, budget: Budget) -> None:
        super().__init__(budget)
        self.ways: dict[Finding, Way] = {}
        self.inside: Found = ()

    def some_branch(self, reader: Union, writer: Type, depth: int) -> bool:
        """What a branch finds is not reported, and the reason why it cannot read."""
        self.inside = ()
        for branch in reader.branches:
            if branch.kind == writer.kind:
                self.inside = self.check(branch, writer, None, depth + 1)
                if not self.inside:
                    return True
        return False

    def found(self, judged: Judged, path: Path, detail: str) -> Found:
        found = super().found(judged, path, detail)
        steps = way(path, judged.suffix)
        if judged is BRANCH and self.inside:
            steps.append([place for finding in self.inside for place in self.ways[finding][-1]])
            self.inside = ()
        self.ways.setdefault(found[0], steps)
        return found


def locator(reader: Type, writer: Type) -> Callable[[Finding], Way]:
    """Where findings are of which the one is the reader. They are looked for again, once one is asked for."""

    @cache
    def ways() -> Mapping[Finding, Way]:
        located = Located(Budget())
        located.check(reader, writer, None, 0)
        return located.ways

    return lambda finding: ways()[finding]


def way(path: Path, suffix: str) -> Way:
    """The places on a way of the walk. Each definition begins anew, as its part does."""
    segments: list[int | str | Definition] = [suffix]
    while path is not None:
        path, segment = path
        segments.append(segment)
    record = ""
    place: Place = (ROOT,)
    fields: list[Field] = []
    places: Way = [[place]]
    for segment in reversed(segments):
        if isinstance(segment, Named):
            record, place, fields = segment.full, (segment.full,), getattr(segment, "fields", [])
        elif isinstance(segment, int):
            place = (record, "fields", fields[segment].name, "type")
        elif segment.startswith("/fields/"):
            place = (record, "fields", fields[int(segment.removeprefix("/fields/"))].name)
        elif not segment.lstrip("/").isdecimal():  # else a branch of the writer's union, which the reader has not
            place = (*place, *segment.split("/")[1:])
        places.append([place])
    return places
