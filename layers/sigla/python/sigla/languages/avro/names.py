"""Names of types, fields and symbols (contract B.1, NM-1 to NM-6)."""

import re
from typing import Final

from sigla import effort
from sigla.errors import Malformed
from sigla.languages.avro.tree import PRIMITIVES, Json

STRICT: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*").fullmatch
is_plain: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII).fullmatch


def checked(name: Json, what: str, *, strict: bool) -> str:
    """The name, if it is one. Lenient names may have any letters and digits of Unicode. Raises Malformed."""
    if not isinstance(name, str):
        raise Malformed(f"No name in {what}")
    if STRICT(name) or (not strict and _is_lenient(name)):
        return name
    raise Malformed(f"Illegal name in {what}: {name}" if name else f"Empty name in {what}")


def _is_lenient(name: str) -> bool:
    return bool(name) and not name[0].isdecimal() and all(c == "_" or c.isalpha() or c.isdecimal() for c in name)


def full_name(attributes: dict[str, Json], space: str, *, strict: bool) -> tuple[str, str]:
    """Name and namespace of a definition; "" is the null namespace. space: that of the enclosing type."""
    name = attributes.get("name")
    if isinstance(name, str) and "." in name:
        space, _, name = name.rpartition(".")
    else:
        space = _own_namespace(attributes, space)
    simple = checked(name, "a type", strict=strict)
    if strict and space:
        check_parts(space, "a namespace")
    if not space and simple in PRIMITIVES:
        raise Malformed(f"Schemas may not be named after primitives: {simple}")
    return simple, space


def _own_namespace(attributes: dict[str, Json], space: str) -> str:
    own = attributes.get("namespace")
    return own if isinstance(own, str) else space


def check_parts(name: str, what: str) -> None:
    for part in effort.paced(name.split(".")):
        checked(part, what, strict=True)


def aliases(attributes: dict[str, Json]) -> tuple[str, ...]:
    """The aliases as written, each once, in order."""
    listed = attributes.get("aliases", [])
    if not isinstance(listed, list):
        raise Malformed("The aliases are not a list")
    unique: dict[str, None] = {}
    for alias in effort.paced(listed):
        if not isinstance(alias, str):
            raise Malformed("An alias is not a string")
        unique[alias] = None
    return tuple(unique)


def type_aliases(attributes: dict[str, Json], space: str, *, strict: bool) -> tuple[str, ...]:
    """The aliases of a type as full names: without a dot they belong to the type's own namespace."""
    found = aliases(attributes)
    if strict:
        for alias in effort.paced(found):
            check_parts(alias, "an alias")
    return tuple(
        dict.fromkeys(alias if "." in alias or not space else f"{space}.{alias}" for alias in effort.paced(found))
    )
