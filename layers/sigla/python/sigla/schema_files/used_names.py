"""By which names a schema uses others, and by which it can be used: so that files of one set find each other.

An invalid schema uses nothing: why it is invalid is told when it is registered.
"""

import json
from collections.abc import Callable, Iterator, Mapping
from typing import Any, Final, NamedTuple

from sigla.languages.protobuf.tokens import TOKEN


class UsedNames(NamedTuple):
    """used: in the order of use. own: of what it defines. record: the full name of the schema itself; "" without one.

    Of Protobuf and JSON Schema a file is used by where it is: `own` has no paths.
    """

    used: tuple[str, ...] = ()
    own: tuple[str, ...] = ()
    record: str = ""


def names_of(schema_type: str, text: str) -> UsedNames:
    find = _NAMES.get(schema_type)
    try:
        return find(text) if find else UsedNames()
    except (ValueError, TypeError, AttributeError, RecursionError):
        return UsedNames()


# --- Avro ------------------------------------------------------------------------------------------------------------

_PRIMITIVE: Final = frozenset({"null", "boolean", "int", "long", "float", "double", "bytes", "string"})
_NAMED: Final = frozenset({"record", "error", "enum", "fixed"})


def _avro_names(text: str) -> UsedNames:
    tree = json.loads(text)
    used: dict[str, None] = {}
    own: dict[str, None] = {}
    _walk_avro(tree, "", used, own)
    record = next(iter(own), "") if isinstance(tree, dict) and tree.get("type") in _NAMED else ""
    return UsedNames(tuple(name for name in used if name not in own), tuple(own), record)


def _walk_avro(node: Any, namespace: str, used: dict[str, None], own: dict[str, None]) -> None:
    if isinstance(node, str):
        if node not in _PRIMITIVE:
            used.setdefault(_full_name(node, namespace))
    elif isinstance(node, list):
        for member in node:
            _walk_avro(member, namespace, used, own)
    elif isinstance(node, dict) and node.get("type") in _NAMED:
        full = _full_name(node["name"], node.get("namespace", namespace))
        own.setdefault(full)
        for field in node.get("fields", ()):
            _walk_avro(field["type"], full.rpartition(".")[0], used, own)
    elif isinstance(node, dict):
        inside = {"array": "items", "map": "values"}.get(str(node.get("type")), "type")
        _walk_avro(node[inside], namespace, used, own)


def _full_name(name: str, namespace: str) -> str:
    return name if "." in name or not namespace else f"{namespace}.{name}"


# --- Protobuf --------------------------------------------------------------------------------------------------------


def _protobuf_names(text: str) -> UsedNames:
    used: dict[str, None] = {}
    package = message = ""
    for words in _statements(text):
        if words[0] == "import":
            used.setdefault(words[-1].strip("\"'"))
        elif words[0] == "package" and not package:
            package = words[-1]
        elif words[0] == "message" and not message:
            message = words[-1]
    record = ".".join(part for part in (package, message) if part)
    return UsedNames(tuple(used), (), record if message else "")


def _statements(text: str) -> Iterator[list[str]]:
    """Statements of the file, and the beginnings of its blocks."""
    depth, words = 0, list[str]()
    for match in TOKEN.finditer(text):
        sign = match[1]
        if not sign:
            continue
        if sign in "{};":
            if words and depth == 0:
                yield words
            words = []
            depth += {"{": 1, "}": -1}.get(sign, 0)
        else:
            words.append(sign)


# --- JSON Schema -----------------------------------------------------------------------------------------------------


def _json_names(text: str) -> UsedNames:
    tree = json.loads(text)
    used: dict[str, None] = {}
    _walk_json(tree, used)
    if not isinstance(tree, dict):
        return UsedNames(tuple(used))
    own = tuple(tree[key] for key in ("$id", "id") if isinstance(tree.get(key), str))
    title = tree.get("title")
    return UsedNames(tuple(name for name in used if name not in own), own, title if isinstance(title, str) else "")


def _walk_json(node: Any, used: dict[str, None]) -> None:
    if isinstance(node, list):
        for member in node:
            _walk_json(member, used)
    elif isinstance(node, dict):
        target = node.get("$ref")
        if isinstance(target, str) and (name := target.partition("#")[0]):
            used.setdefault(name)
        for member in node.values():
            _walk_json(member, used)


_NAMES: Final[Mapping[str, Callable[[str], UsedNames]]] = {
    "AVRO": _avro_names,
    "PROTOBUF": _protobuf_names,
    "JSON": _json_names,
}
