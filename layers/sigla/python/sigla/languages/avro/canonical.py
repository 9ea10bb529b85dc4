"""Printing a schema: the canonical text (contract B.2), the text with all references inlined, and forms to compare by.

The printer keeps its own stack of what is still to be written, texts and nodes, so that depth is a matter of counting.
"""

from collections.abc import Collection, Iterable
from typing import Final, TypeAlias

from sigla import effort
from sigla.languages.avro.json_text import written
from sigla.languages.avro.limits import MAX_DEPTH, too_deep
from sigla.languages.avro.tree import (
    KEYWORDS,
    Array,
    Definition,
    Document,
    Enum,
    Field,
    Json,
    Map,
    Missing,
    Named,
    Primitive,
    Props,
    Record,
    Type,
    Union,
)
from sigla.languages.json_text import quoted

Node: TypeAlias = tuple[Type, str, int]
"""What is still to be written: the type, the namespace around it, and how deep it is."""
Piece: TypeAlias = str | Node
NOBODY: Final[frozenset[str]] = frozenset()
UNLIMITED: Final = 2**31
STEPS_OF_A_NODE: Final = 3


def canonical(document: Document) -> str:
    """The text to store and hash. Raises Malformed where it would be nested too deeply to be read again."""
    return Printer(document.top).text(document.root)


def resolved(document: Document) -> str:
    """The canonical text as if there were no references (RF-8). Raises Malformed where that is nested too deeply."""
    return Printer(NOBODY).text(document.root)


def alone(type_: Type) -> str:
    """The text of one type of a schema by itself."""
    return Printer(NOBODY, limit=UNLIMITED).text(type_)


def structure(type_: Type) -> str:
    """Equal texts for equal trees (B.4): everything resolved, and all that has no order is sorted."""
    return Printer(NOBODY, exact=True, limit=UNLIMITED).text(type_)


def outline(definition: Definition) -> str:
    """What a repeated definition must have in common with the first (NM-9).

    As structure, of this definition alone: types inside are names; docs and aliases do not count.
    """
    return Printer(NOBODY, exact=True, shallow=True).text(definition)


class Printer:
    """Prints one text. shown: full names that are printed as names, at first those of referenced schemas.

    exact: names in full, aliases and the members of JSON objects sorted. shallow: no definition but the first, and
    neither docs nor aliases.
    """

    __slots__ = ("exact", "limit", "shallow", "shown")

    def __init__(
        self, shown: Iterable[str], *, exact: bool = False, shallow: bool = False, limit: int = MAX_DEPTH
    ) -> None:
        self.shown = set(shown)
        self.exact = exact
        self.shallow = shallow
        self.limit = limit

    def text(self, root: Type) -> str:
        out: list[str] = []
        todo: list[Piece] = [(root, "", 0)]
        while todo:
            piece = todo.pop()
            if piece.__class__ is str:
                out.append(piece)
            else:
                effort.pulse(STEPS_OF_A_NODE)
                todo.extend(reversed(self.pieces(*piece)))
        return "".join(out)

    def pieces(self, node: Type, space: str, depth: int) -> list[Piece]:
        if depth > self.limit:
            raise too_deep()
        if isinstance(node, Named):
            return self.definition(node, space, depth)
        if isinstance(node, Union):
            return self.union(node, space, depth)
        if isinstance(node, Array):
            return ['{"type":"array","items":', self.inside(node.items, space, depth), f"{self.props(node.props)}}}"]
        if isinstance(node, Map):
            return ['{"type":"map","values":', self.inside(node.values, space, depth), f"{self.props(node.props)}}}"]
        return [self.primitive(node) if isinstance(node, Primitive) else f'"{node.full}"']

    def inside(self, node: Type, space: str, depth: int) -> Piece:
        return self.primitive(node) if isinstance(node, Primitive) else (node, space, depth + 1)

    def primitive(self, node: Primitive) -> str:
        return f'{{"type":"{node.kind}"{self.props(node.props)}}}' if node.props else f'"{node.kind}"'

    def union(self, node: Union, space: str, depth: int) -> list[Piece]:
        pieces: list[Piece] = []
        separator = "["
        for branch in node.branches:
            pieces += (separator, self.inside(branch, space, depth))
            separator = ","
        pieces.append("]" if pieces else "[]")
        return pieces

    def definition(self, node: Definition, space: str, depth: int) -> list[Piece]:
        """The definition where it is used first, else its name (CN-2)."""
        if node.full in self.shown or (self.shallow and depth):
            return [f'"{node.full if self.exact else short(node.full, node.name, node.namespace, space)}"']
        self.shown.add(node.full)
        if isinstance(node, Record):
            return self.record(node, space, depth)
        body = self.symbols(node) if isinstance(node, Enum) else f',"size":{node.size}'
        return [f"{self.head(node, node.kind, space)}{body}{self.props(node.props)}{self.type_aliases(node)}}}"]

    def head(self, node: Definition, word: str, space: str) -> str:
        """Type, name, namespace where it differs from the one around (CN-1), doc."""
        namespace = "" if node.namespace == space else f',"namespace":{quoted(node.namespace)}'
        return f'{{"type":"{word}","name":"{node.name}"{namespace}{self.doc(node.doc)}'

    def doc(self, doc: str | None) -> str:
        return "" if doc is None or self.shallow else f',"doc":{quoted(doc)}'

    def symbols(self, node: Enum) -> str:
        symbols = '","'.join(node.symbols)
        default = "" if node.default is None else f',"default":"{node.default}"'
        return f',"symbols":["{symbols}"]{default}' if node.symbols else ',"symbols":[]'

    def record(self, node: Record, space: str, depth: int) -> list[Piece]:
        pieces: list[Piece] = [f'{self.head(node, node.word, space)},"fields":[']
        separator = ""
        for field in effort.paced(node.fields, STEPS_OF_A_NODE):
            before, after = f'{separator}{{"name":"{field.name}","type":', self.tail(field)
            type_ = field.type
            if isinstance(type_, Primitive):
                pieces.append(f"{before}{self.primitive(type_)}{after}")
            else:
                pieces += (before, (type_, node.namespace, depth + 1), after)
            separator = ","
        pieces.append(f"]{self.props(node.props)}{self.type_aliases(node)}}}")
        return pieces

    def tail(self, field: Field) -> str:
        """What comes after the type of a field."""
        tail = self.doc(field.doc)
        if not isinstance(field.default, Missing):
            tail += f',"default":{self.json(field.default)}'
        if field.order != "ascending":
            tail += f',"order":"{field.order}"'
        if field.aliases and not self.shallow:
            tail += f',"aliases":{self.names(field.aliases)}'
        return f"{tail}{self.props(field.props)}}}" if field.props else f"{tail}}}"

    def type_aliases(self, node: Definition) -> str:
        if not node.aliases or self.shallow:
            return ""
        if self.exact:
            return f',"aliases":{self.names(node.aliases)}'
        aliases = [relative(alias, node.namespace) for alias in effort.paced(node.aliases)]
        return f',"aliases":{self.names(aliases)}'

    def names(self, names: Collection[str]) -> str:
        return f"[{','.join(map(quoted, effort.paced(sorted(names) if self.exact else names)))}]"

    def props(self, props: Props) -> str:
        if not props:
            return ""
        keys = sorted(props) if self.exact else props
        return "".join([f",{quoted(key)}:{self.json(props[key])}" for key in keys])

    def json(self, value: Json) -> str:
        return written(value, ordered=self.exact)


def short(full: str, name: str, namespace: str, space: str) -> str:
    """The name as used within a namespace. A name that reads like a keyword is written in full."""
    return name if namespace == space and name not in KEYWORDS else full


def relative(full: str, space: str) -> str:
    namespace, _, name = full.rpartition(".")
    return short(full, name, namespace, space)
