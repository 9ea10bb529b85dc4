"""From JSON to nodes (contract C.4): one loader, told by the draft what to do."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.json_schema.drafts import Draft, conditional, draft_of
from sigla.languages.json_schema.keywords import Family, Load, members, text
from sigla.languages.json_schema.limits import MAX_NODES, too_deep, too_large
from sigla.languages.json_schema.nodes import (
    Anything,
    Array,
    Boolean,
    Combined,
    Node,
    Nothing,
    Null,
    Numeric,
    Object,
    Reference,
    Schema,
    String,
)
from sigla.languages.json_schema.references import Home, Resources
from sigla.languages.json_schema.text import Json
from sigla.model import Resolved

TYPES: Final[Mapping[str, Callable[[], Schema]]] = {
    "string": String,
    "number": Numeric,
    "integer": Numeric,
    "boolean": Boolean,
    "null": Null,
    "array": Array,
    "object": Object,
}
STEPS_OF_A_NODE: Final = 20
FAMILY: Final = {"integer": "number"}
"""Where it does not bear the name of the type."""


class Document:
    """A schema as it was read, with the texts it may refer to; `root` makes nodes of it when they are needed."""

    __slots__ = ("loaded", "references", "value")

    def __init__(self, value: Json, references: Sequence[Resolved] = ()) -> None:
        self.value = value
        self.references = references
        self.loaded: Schema | None = None


def root(document: Document) -> Schema:
    """The node of the whole schema; every reference that can be reached has its target. Raises Malformed."""
    if document.loaded is None:
        document.loaded = Loader(document).run()
    return document.loaded


class Loader:
    """Makes nodes of one document. A place in a text has one node, however often it is referred to."""

    __slots__ = ("count", "draft", "made", "pending", "resources", "value")

    def __init__(self, document: Document) -> None:
        self.value = document.value
        self.draft: Draft = draft_of(document.value)
        self.resources = Resources(document.value, document.references, self.draft.id)
        self.made: dict[int, Schema] = {}
        """By identity of the value, which the resources keep alive."""
        self.pending: list[tuple[Reference, Home]] = []
        self.count = 0

    def run(self) -> Schema:
        try:
            node = self.schema(self.value, self.resources.home)
            while self.pending:
                effort.pulse(STEPS_OF_A_NODE)
                reference, home = self.pending.pop()
                reference.target = self.schema(*self.resources.find(reference.name, home))
        except RecursionError:
            raise too_deep() from None
        return node

    def schema(self, value: Json, home: Home) -> Schema:
        if isinstance(value, bool):
            self.admit()
            return Anything() if value else Nothing()
        if not isinstance(value, dict):
            raise Malformed("A schema must be an object, or true or false")
        known = self.made.get(id(value))
        if known is None:
            self.admit()
            known = self.made[id(value)] = self.of_object(value, self.resources.entered(home, value))
        return known

    def admit(self) -> None:
        effort.pulse(STEPS_OF_A_NODE)
        self.count += 1
        if self.count > MAX_NODES:
            raise too_large()

    def of_object(self, schema: dict[str, Json], home: Home) -> Schema:
        load = partial(self.schema, home=home)
        node = self.joined(self.conjuncts(schema, home, load))
        self.annotate(node, schema)
        if not self.draft.lazy:
            self.load_definitions(schema, load)
            if "$dynamicRef" in schema:
                self.reference("$dynamicRef", schema, home)  # it has to lead somewhere, and is never compared
        return node

    def load_definitions(self, schema: dict[str, Json], load: Load) -> None:
        """JX-4: those that nothing reaches as well. `definitions` is the word of older drafts: it counts at the top."""
        for keyword in ("$defs", "definitions") if schema is self.value else ("$defs",):
            if keyword in schema:
                for definition in members(keyword, schema[keyword]).values():
                    load(definition)

    def joined(self, conjuncts: list[Schema]) -> Schema:
        if not conjuncts:
            return Anything()
        return conjuncts[0] if len(conjuncts) == 1 else Combined("allOf", conjuncts, synthetic=True)

    def conjuncts(self, schema: dict[str, Json], home: Home, load: Load) -> list[Schema]:
        draft = self.draft
        found: list[Schema] = []
        if "$ref" in schema:
            found.append(self.reference("$ref", schema, home))
            if draft.alone:
                return found
        found += [make(word, schema[word], load) for word, make in draft.conjuncts.items() if word in schema]
        typed: dict[str, Schema] = {}
        if "type" in schema:
            found.append(self.typed(schema, load, typed))
        consumed = {FAMILY.get(type_, type_) for type_ in typed}
        for family in draft.families.values():
            if family.type not in consumed and family.speaks_in(schema):
                found.append(self.filled(family, schema, load))
        if any(word in schema for word in draft.conditions):
            found.append(conditional(schema, load))
        return found

    def reference(self, keyword: str, schema: dict[str, Json], home: Home) -> Reference:
        reference = Reference(text(keyword, schema[keyword]))
        self.pending.append((reference, home))
        return reference

    def typed(self, schema: dict[str, Json], load: Load, typed: dict[str, Schema]) -> Schema:
        """The node of the type, or anyOf the nodes of several types; notes in `typed` the first node of each type."""
        types = schema["type"]
        if isinstance(types, list):
            return Combined("anyOf", [self.of_type(type_, schema, load, typed) for type_ in types])
        return self.of_type(types, schema, load, typed)

    def of_type(self, type_: Json, schema: dict[str, Json], load: Load, typed: dict[str, Schema]) -> Schema:
        """What a family says belongs to each of its types in classic drafts, to the first in modern ones (JN-2)."""
        if not isinstance(type_, str) or type_ not in TYPES:
            raise Malformed(f"Unknown type: {type_ if isinstance(type_, str) else 'not a string'}")
        if type_ in typed and self.draft.shared:
            return typed[type_]
        node = self.empty(type_)
        family = self.draft.families.get(FAMILY.get(type_, type_))
        if family is not None and (self.draft.shared or not any(FAMILY.get(t, t) == family.type for t in typed)):
            family.fill(node, schema, load)
        typed.setdefault(type_, node)
        return node

    def empty(self, type_: str) -> Schema:
        node = TYPES[type_]()
        if isinstance(node, Numeric):
            node.integer = type_ == "integer"
        return node

    def filled(self, family: Family, schema: dict[str, Json], load: Load) -> Schema:
        node = family.make()
        family.fill(node, schema, load)
        return node

    def annotate(self, node: Node, schema: Mapping[str, Json]) -> None:
        """What is written beside the constraints, on the node of the whole."""
        draft = self.draft
        for keyword, check in draft.checked.items():
            if keyword in schema:
                check(keyword, schema[keyword])
        node.title = word("title", schema)
        node.description = word("description", schema)
        if draft.recorded:
            node.id = word(draft.id, schema)
        if "default" in schema and (draft.null_default or schema["default"] is not None):
            node.default = schema["default"]
        if not schema.keys() <= draft.known:
            node.unknown = {keyword: value for keyword, value in schema.items() if keyword not in draft.known}


def word(keyword: str, schema: Mapping[str, Json]) -> str | None:
    return text(keyword, schema[keyword]) if keyword in schema else None
