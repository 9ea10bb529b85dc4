"""One order for everything whose order has no meaning (contract B.2.2, NZ-1 to NZ-8)."""

from collections.abc import Iterable
from typing import Final

from sigla import effort
from sigla.languages.avro import logical
from sigla.languages.avro.defaults import Fitting
from sigla.languages.avro.json_text import single
from sigla.languages.avro.limits import too_deep
from sigla.languages.avro.parse import Reader
from sigla.languages.avro.tree import (
    Array,
    Default,
    Document,
    Field,
    Fixed,
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

STEPS_OF_A_NODE: Final = 3
LEADING: Final = ("logicalType", "precision", "scale")


def normalised(text: str, document: Document) -> Document:
    """The schema of a canonical text in normal form. document: where the text comes from, for what references define.

    The text is read anew, so that the nodes changed here belong to this document alone; those of references stay as
    they are.
    """
    reader = Reader(dict(document.names), strict=False)
    root = reader.document(text)
    try:
        Tidy(reader.made).run(root)
    except RecursionError:
        raise too_deep() from None
    return Document(root, document.names, document.top)


def by_key(key: str) -> bytes:
    """Sorts names as Java does, by UTF-16 code units."""
    return key.encode("utf-16-be", "surrogatepass")


class Tidy:
    """Puts nodes in order. made: every node that has others inside, or a name."""

    __slots__ = ("fitting", "made")

    def __init__(self, made: Iterable[Type]) -> None:
        self.made = made
        self.fitting = Fitting()

    def run(self, root: Type) -> None:
        # The shared primitives have no properties: there is nothing in them to put in order.
        self.primitives((root,))
        for node in self.made:
            effort.pulse(STEPS_OF_A_NODE)
            if isinstance(node, Named):
                self.named(node)
            elif isinstance(node, Union):
                self.primitives(node.branches)
            elif isinstance(node, (Array, Map)):
                self.primitives((node.items if isinstance(node, Array) else node.values,))
                node.props = in_order(node.props)

    def primitives(self, types: Iterable[Type]) -> None:
        for type_ in types:
            if isinstance(type_, Primitive) and type_.props:
                type_.props = annotated(type_)

    def named(self, node: Named) -> None:
        node.aliases = tuple(sorted(node.aliases, key=by_key))
        node.doc = node.doc or None
        node.props = annotated(node) if isinstance(node, Fixed) else in_order(node.props)
        if isinstance(node, Record):
            self.primitives(field.type for field in node.fields)
            for field in node.fields:
                self.field(field)

    def field(self, field: Field) -> None:
        effort.pulse(STEPS_OF_A_NODE)
        field.aliases = tuple(sorted(field.aliases, key=by_key))
        field.props = in_order(field.props)
        field.default = self.default(field.default, field.type)

    def default(self, default: Default, type_: Type) -> Default:
        return default if isinstance(default, Missing) else self.value(default, type_)

    def value(self, value: Json, type_: Type) -> Json:
        """A default with its keys sorted and its floats as floats; where it does not fit its type, as it was (NZ-8)."""
        effort.pulse(1)
        if type_.kind in ("float", "double") and isinstance(value, (int, float)) and not isinstance(value, bool):
            return floating(value, type_.kind)
        if isinstance(type_, Union):
            return self.of_union(value, type_)
        if isinstance(type_, Array) and isinstance(value, list):
            return [self.value(item, type_.items) for item in value]
        if isinstance(type_, Map) and isinstance(value, dict):
            return {key: self.value(value[key], type_.values) for key in sorted(value, key=by_key)}
        if isinstance(type_, Record) and isinstance(value, dict):
            return self.of_record(value, type_)
        return value

    def of_union(self, value: Json, union: Union) -> Json:
        """Only a default of the first branch has a normal form."""
        if union.branches and self.fitting.fits(value, union.branches[0]):
            return self.value(value, union.branches[0])
        return value

    def of_record(self, value: dict[str, Json], record: Record) -> Json:
        known = record.by_name
        return {
            key: self.value(value[key], known[key].type) if key in known else value[key]
            for key in sorted(value, key=by_key)
        }


def floating(value: float, kind: str) -> float:
    try:
        wide = float(value)
    except OverflowError:  # an integer of hundreds of digits
        wide = float("inf") if value > 0 else float("-inf")
    return single(wide) if kind == "float" else wide


def in_order(props: Props) -> Props:
    return {key: sorted_within(props[key]) for key in sorted(props, key=by_key)} if props else props


def sorted_within(value: Json) -> Json:
    """A property with the members of all objects inside it sorted."""
    effort.pulse(1)
    if isinstance(value, dict):
        return {key: sorted_within(value[key]) for key in sorted(value, key=by_key)}
    if isinstance(value, list):
        return [sorted_within(item) for item in value]
    return value


def annotated(node: Primitive | Fixed) -> Props:
    """The properties, those of a valid logical type first; a scale of 0 goes without saying (NZ-2)."""
    ordered = in_order(node.props)
    if not logical.is_valid(node):
        return ordered
    leading: Props = {key: ordered[key] for key in LEADING if key in ordered and (key != "scale" or ordered[key] != 0)}
    return {**leading, **ordered}
