"""YAML as whoever wrote it meant it: nothing is said twice, and every text can be written down."""

import re
from dataclasses import dataclass
from typing import Any, Final

import yaml
from yaml.constructor import ConstructorError

_UNWRITABLE: Final = re.compile("[\0\ud800-\udfff]")
"""Escapes make them; no file, topic or table can be called so."""

_TEXTS: Final = {"tag:yaml.org,2002:bool", "tag:yaml.org,2002:timestamp"}
"""`on` is a topic, and `2024-05-01` a table: no setting is a switch, or a day."""

# What PyYAML's constructors raise for a scalar that looks like a number, or has a tag, and is invalid.
_NONE_OF_ITS_KIND: Final = (ArithmeticError, AttributeError, LookupError, ValueError)

_SHOWN: Final = 60
"""Characters of such a scalar."""


class Unreadable(Exception):
    """What is wrong, and in which line; no sentence yet."""

    def __init__(self, why: str, line: int = 1) -> None:
        super().__init__(why)
        self.line = line


@dataclass(frozen=True, slots=True)
class Document:
    """value: mappings, lists and scalars; None of an empty document."""

    value: Any
    _root: yaml.Node | None

    def line(self, *path: str | int) -> int:
        """Where a value of it stands, or the last on the way to it that is there: from 1. path: keys and indexes."""
        node, line = self._root, 1
        for step in path:
            found = _member(node, step)
            if found is None:
                break
            line, node = found
        return line


def _member(node: yaml.Node | None, step: str | int) -> tuple[int, yaml.Node] | None:
    """The line where a key is written, or an element begins, and the value there."""
    if isinstance(node, yaml.SequenceNode) and isinstance(step, int) and step < len(node.value):
        element = node.value[step]
        return element.start_mark.line + 1, element
    if isinstance(node, yaml.MappingNode):
        return next(((key.start_mark.line + 1, value) for key, value in node.value if key.value == str(step)), None)
    return None


def read(content: str | bytes) -> Any:
    """Mappings, lists and scalars; None of an empty document. Raises Unreadable."""
    return read_document(content).value


def read_document(content: str | bytes) -> Document:
    """Raises Unreadable."""
    try:
        loader = _Loader(content)
        try:
            root = loader.get_single_node()
            return Document(None if root is None else loader.construct_document(root), root)
        finally:
            loader.dispose()
    except yaml.YAMLError as problem:
        raise Unreadable(_why_not_yaml(problem), _line_of(problem)) from problem
    except RecursionError as problem:
        raise Unreadable("it is nested too deeply") from problem


class _Loader(yaml.SafeLoader):
    def compose_mapping_node(self, anchor: Any) -> yaml.MappingNode:
        # Here, and not where mappings are constructed: there `<<` has added keys, which may be said again.
        node: yaml.MappingNode = super().compose_mapping_node(anchor)
        seen = set()
        for key, _ in node.value:
            if isinstance(key, yaml.ScalarNode):
                if key.value in seen:
                    raise _problem(f"`{key.value}` occurs twice", key)
                seen.add(key.value)
        return node

    def compose_scalar_node(self, anchor: Any) -> yaml.ScalarNode:
        node: yaml.ScalarNode = super().compose_scalar_node(anchor)
        if _UNWRITABLE.search(node.value):
            raise _problem(r"a text contains \0 or half of a surrogate pair, which cannot be stored", node)
        return node

    def construct_object(self, node: Any, deep: bool = False) -> Any:  # noqa: FBT001, FBT002 - as PyYAML has it
        try:
            return super().construct_object(node, deep)
        except _NONE_OF_ITS_KIND as problem:
            what = f"invalid {node.tag.rpartition(':')[2]} `{node.value[:_SHOWN]}`"
            raise _problem(f"{what}; if it is meant as a text, put it in quotes", node) from problem


_Loader.yaml_implicit_resolvers = {
    first: [(tag, pattern) for tag, pattern in found if tag not in _TEXTS]
    for first, found in yaml.SafeLoader.yaml_implicit_resolvers.items()
}
# Else it would become a text that no user has seen.
yaml.add_constructor("tag:yaml.org,2002:binary", _Loader.construct_undefined, Loader=_Loader)


def _problem(what: str, node: yaml.Node) -> ConstructorError:
    return ConstructorError(None, None, what, node.start_mark)


def _line_of(problem: yaml.YAMLError) -> int:
    mark = problem.problem_mark if isinstance(problem, yaml.MarkedYAMLError) else None
    return mark.line + 1 if mark else 1


def _why_not_yaml(problem: yaml.YAMLError) -> str:
    if isinstance(problem, yaml.MarkedYAMLError) and problem.problem_mark:
        said = ", ".join(part for part in (problem.context, problem.problem) if part)
        return f"{said} (line {problem.problem_mark.line + 1})"
    return " ".join(str(problem).split())
