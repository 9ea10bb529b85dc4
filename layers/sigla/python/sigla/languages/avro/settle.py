"""What can only be judged once every name of a text is known: uses, unions, repeated definitions, defaults."""

from collections.abc import Iterable, Mapping
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.avro.canonical import outline
from sigla.languages.avro.defaults import Fitting
from sigla.languages.avro.json_text import parsed_float, written
from sigla.languages.avro.limits import MAX_DEPTH, too_deep
from sigla.languages.avro.tree import Array, Definition, Field, Json, Map, Named, Record, Type, Union, Use
from sigla.languages.json_text import quoted

Names = Mapping[str, Definition]
FLOATING: Final = frozenset(("float", "double"))


def link(root: Type, made: Iterable[Type], names: Names) -> Type:
    """Puts definitions where names stood that were used before them (NM-8). Raises Malformed for a name without one."""
    for node in made:
        if isinstance(node, Record):
            for field in node.fields:
                field.type = _defined(field.type, names)
        elif isinstance(node, Union):
            node.branches = [_defined(branch, names) for branch in node.branches]
        elif isinstance(node, Array):
            node.items = _defined(node.items, names)
        elif isinstance(node, Map):
            node.values = _defined(node.values, names)
    return _defined(root, names)


def _defined(type_: Type, names: Names) -> Type:
    if not isinstance(type_, Use):
        return type_
    found = names.get(type_.full)
    if found is None:
        raise Malformed(f"Undefined schema: {type_.full}")
    return found


def check_unions(unions: Iterable[Union]) -> None:
    """Named branches count by full name, all others by kind (ST-6)."""
    for union in unions:
        seen: set[str] = set()
        for branch in union.branches:
            key = branch.full if isinstance(branch, Named) else branch.kind
            if key == "union":
                raise Malformed("Nested union")
            if key in seen:
                raise Malformed(f"Duplicate in union:{key}")
            seen.add(key)


def check_repeated(repeated: Iterable[tuple[Definition, Definition]]) -> None:
    """A name may be defined again only with the same content, docs and aliases aside (NM-9).

    Types inside are compared by name alone: where they are defined again too, they are pairs of their own.
    """
    for first, again in repeated:
        if outline(first) != outline(again):
            raise Malformed(f"Can't redefine: {again.full}")


def check_defaults(defaults: Iterable[tuple[Field, Json]], *, strict: bool) -> None:
    """Text that is meant as a number becomes one, leniently too; in a strict parse every default must fit its type."""
    fitting = Fitting()
    for field, value in defaults:
        if value.__class__ is str and field.type.kind in FLOATING:
            field.default = _default_number(value, field)
        elif strict and not fitting.fits(value, field.type):
            raise Malformed(
                f"Invalid default for field {field.name}: {_shortened(value)} is not of type {field.type.kind}"
            )


def _default_number(text: str, field: Field) -> float:
    number = parsed_float(text)
    if number is None:
        raise Malformed(f"Invalid default for field {field.name}: {quoted(text)} is not a number")
    return number


def _shortened(value: Json) -> str:
    text = written(value)
    return text if len(text) <= 200 else f"{text[:200]}..."  # enough to recognise it


def check_depth(root: Type) -> None:
    """What references define counts as if it stood where it is used first (RF-8). Raises Malformed if that is too deep.

    A text of few levels can be the end of a long chain; it could be neither printed as one nor compared.
    """
    met: set[str] = set()
    todo = [(root, 0)]
    while todo:
        node, depth = todo.pop()
        effort.pulse(1)
        if depth > MAX_DEPTH:
            raise too_deep()
        if not isinstance(node, Named):
            todo += [(inner, depth + 1) for inner in reversed(_inside(node))]
        elif isinstance(node, Record) and node.full not in met:
            met.add(node.full)
            todo += [(field.type, depth + 1) for field in reversed(node.fields)]


def _inside(node: Type) -> list[Type]:
    if isinstance(node, Union):
        return node.branches
    if isinstance(node, (Array, Map)):
        return [node.items if isinstance(node, Array) else node.values]
    return []
