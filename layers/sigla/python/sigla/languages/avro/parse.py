"""Reading a schema: from JSON to nodes (contract B.1).

One pass builds the nodes. What can only be judged once every name is known waits until the end: uses before
their definition, second definitions, branches of unions, defaults.
"""

from collections.abc import Callable, Mapping, Sequence
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.avro import json_text, settle
from sigla.languages.avro.attributes import OF_ENUMS, OF_FIELDS, OF_TYPES, Attributes, order, rest
from sigla.languages.avro.limits import MAX_DEPTH, MAX_NODES, too_deep, too_large
from sigla.languages.avro.names import aliases, checked, full_name, type_aliases
from sigla.languages.avro.tree import (
    PLAIN,
    Array,
    Definition,
    Document,
    Enum,
    Field,
    Fixed,
    Json,
    Map,
    Primitive,
    Record,
    Type,
    Union,
    Use,
)
from sigla.model import Resolved

MAX_SIZE: Final = 2**31 - 1
STEPS_OF_A_NODE: Final = 10


def read(text: str, references: Sequence[Resolved], *, strict: bool) -> Document:
    """The schema of a text whose references are given in resolution order. Raises Malformed.

    References are read leniently into one table of names; a reference's own name is only a label (B.2.1).
    """
    names: dict[str, Definition] = {}
    top: set[str] = set()
    for reference in references:
        root = Reader(names, strict=False).document(reference.text)
        if isinstance(root, (Record, Enum, Fixed)):
            top.add(root.full)
    return read_with(text, names, frozenset(top), strict=strict)


def read_with(text: str, names: Mapping[str, Definition], top: frozenset[str], *, strict: bool) -> Document:
    """The schema of a text, given what its references define."""
    root = Reader(dict(names) if names else {}, strict=strict).document(text)
    return Document(root, dict(names) if names else {}, top)


class Reader:
    """Reads one text. names: all definitions known so far, by full name; those of the text are added.

    made: every node that has others inside or a name. open: records whose fields are still being read.
    """

    __slots__ = ("count", "defaulted", "made", "names", "open", "pending", "repeated", "strict", "unions")

    def __init__(self, names: dict[str, Definition], *, strict: bool) -> None:
        self.names = names
        self.strict = strict
        self.made: list[Type] = []
        self.unions: list[Union] = []
        self.defaulted: list[tuple[Field, Json]] = []
        self.repeated: list[tuple[Definition, Definition]] = []
        self.open: set[str] = set()
        self.pending = False
        self.count = 0

    def document(self, text: str) -> Type:
        try:
            return self.settled(self.type(json_text.read(text), "", 0))
        except RecursionError:
            raise too_deep() from None

    def settled(self, root: Type) -> Type:
        if self.pending:
            root = settle.link(root, self.made, self.names)
        settle.check_unions(self.unions)
        settle.check_repeated(self.repeated)
        settle.check_defaults(self.defaulted, strict=self.strict)
        return root

    def type(self, json: Json, space: str, depth: int) -> Type:
        if json.__class__ is str:
            return self.named(json, space)
        if json.__class__ is dict:
            return self.described(json, space, depth)
        if json.__class__ is list:
            return self.union(json, space, depth)
        raise Malformed(f"No type: {json_text.written(json)}")

    def named(self, name: str, space: str) -> Type:
        """A name used as a type (NM-7)."""
        plain = PLAIN.get(name)
        if plain is not None:
            return plain
        found = self.find(name, space)
        if found is not None:
            return found
        self.pending = True
        return Use(f"{space}.{name}" if space and "." not in name else name)

    def find(self, name: str, space: str) -> Definition | None:
        """The definition that a name means. From a namespace, finished types of the null namespace are found too."""
        if not space or "." in name:
            return self.names.get(name)
        own = self.names.get(f"{space}.{name}")
        return own or (None if name in self.open else self.names.get(name))

    def described(self, json: Attributes, space: str, depth: int) -> Type:
        word = json.get("type")
        if not isinstance(word, str):
            raise Malformed(f"No type: {json_text.written(json)}" if word is None else "The type is not a name")
        if word in PLAIN:
            return Primitive(word, props) if (props := rest(json, OF_TYPES)) else PLAIN[word]
        read = READERS.get(word)
        if read is None:
            return self.named(word, space)
        self.admit(depth)
        return read(self, json, space, depth)

    def admit(self, depth: int) -> None:
        effort.pulse(STEPS_OF_A_NODE)
        self.count_in(depth, 1)

    def count_in(self, depth: int, nodes: int) -> None:
        self.count += nodes
        if self.count > MAX_NODES:
            raise too_large()
        if depth > MAX_DEPTH:
            raise too_deep()

    def array(self, json: Attributes, space: str, depth: int) -> Array:
        if "items" not in json:
            raise Malformed("An array has no items type")
        array = Array(self.type(json["items"], space, depth + 1), rest(json, OF_TYPES))
        self.made.append(array)
        return array

    def map(self, json: Attributes, space: str, depth: int) -> Map:
        if "values" not in json:
            raise Malformed("A map has no values type")
        map_ = Map(self.type(json["values"], space, depth + 1), rest(json, OF_TYPES))
        self.made.append(map_)
        return map_

    def union(self, json: list[Json], space: str, depth: int) -> Union:
        self.count_in(depth, 1 + len(json))
        branches: list[Type] = []
        for branch in effort.paced(json, STEPS_OF_A_NODE):
            branches.append(self.type(branch, space, depth + 1))  # noqa: PERF401 - would cost a frame per level
        union = Union(branches)
        self.made.append(union)
        self.unions.append(union)
        return union

    def record(self, json: Attributes, space: str, depth: int) -> Record:
        record = Record(*full_name(json, space, strict=self.strict))
        record.word = str(json["type"])
        self.define(record, json, OF_TYPES)
        fields = json.get("fields")
        if not isinstance(fields, list):
            raise Malformed(f"Record has no fields: {record.full}")
        self.count_in(depth, len(fields))
        self.open.add(record.full)
        space, by_name = record.namespace, record.by_name
        for attributes in effort.paced(fields, STEPS_OF_A_NODE):
            field, type_ = self.field(attributes, record)
            field.type = self.type(type_, space, depth + 1)
            by_name[field.name] = field
        record.fields = list(by_name.values())
        self.open.discard(record.full)
        return record

    def field(self, json: Json, record: Record) -> tuple[Field, Json]:
        """A field of the record, and the type that it has yet to be given: one frame less per level of types."""
        if not isinstance(json, dict):
            raise Malformed(f"A field of {record.full} is not an object")
        name = checked(json.get("name"), f"a field of {record.full}", strict=self.strict)
        if name in record.by_name:
            raise Malformed(f"Duplicate field {name} in record {record.full}")
        if "type" not in json:
            raise Malformed(f"Field {name} of {record.full} has no type")
        field = Field(name, PLAIN["null"])
        if len(json) > 2:  # more than name and type
            self.describe(field, json)
        return field, json["type"]

    def describe(self, field: Field, json: Attributes) -> None:
        field.props = rest(json, OF_FIELDS)
        if isinstance(doc := json.get("doc"), str):
            field.doc = doc
        if "aliases" in json:
            field.aliases = aliases(json)
        if "order" in json:
            field.order = order(json["order"])
        if "default" in json:
            field.default = json["default"]
            self.defaulted.append((field, json["default"]))

    def enum(self, json: Attributes, space: str, _depth: int) -> Enum:
        enum = Enum(*full_name(json, space, strict=self.strict))
        symbols = json.get("symbols")
        if not isinstance(symbols, list):
            raise Malformed(f"Enum has no symbols: {enum.full}")
        what = f"the symbols of {enum.full}"
        enum.symbols = [checked(symbol, what, strict=self.strict) for symbol in effort.paced(symbols)]
        if len(set(enum.symbols)) < len(symbols):
            raise Malformed(f"Duplicate symbol in enum {enum.full}")
        if isinstance(default := json.get("default"), str):
            enum.default = default
            if default not in enum.symbols:
                raise Malformed(f"The default of enum {enum.full} is not one of its symbols: {default}")
        self.define(enum, json, OF_ENUMS)
        return enum

    def fixed(self, json: Attributes, space: str, _depth: int) -> Fixed:
        fixed = Fixed(*full_name(json, space, strict=self.strict))
        size = json.get("size")
        if not isinstance(size, int) or isinstance(size, bool) or not 0 <= size <= MAX_SIZE:
            raise Malformed(f"The size of fixed {fixed.full} is not a whole number from 0")
        fixed.size = size
        self.define(fixed, json, OF_TYPES)
        return fixed

    def define(self, node: Definition, json: Attributes, known: frozenset[str]) -> None:
        """Reads what all definitions have, and makes the name known; of a repeated one the first definition stays."""
        if isinstance(doc := json.get("doc"), str):
            node.doc = doc
        node.props = rest(json, known)
        if "aliases" in json:
            node.aliases = type_aliases(json, node.namespace, strict=self.strict)
        self.made.append(node)
        first = self.names.setdefault(node.full, node)
        if first is not node:
            self.repeated.append((first, node))


READERS: Final[Mapping[str, Callable[[Reader, Attributes, str, int], Type]]] = {
    "record": Reader.record,
    "error": Reader.record,
    "enum": Reader.enum,
    "fixed": Reader.fixed,
    "array": Reader.array,
    "map": Reader.map,
}
