"""Avro schemas as hypothesis draws them: records in records, names in namespaces, defaults that fit, odd properties."""

import json
from typing import Any

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b", "c", "Order", "line_2", "_x", "record", "map1"])
PRIMITIVES = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "string", "bytes"])
VALUES = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(2**70), 2**70)
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text(st.characters(codec="utf-8"), max_size=5),
    lambda inside: st.lists(inside, max_size=2) | st.dictionaries(st.text('ab\x1f"é', max_size=2), inside, max_size=2),
    max_leaves=4,
)
PROPS = st.dictionaries(st.sampled_from(["x", "k.1", "zeta", "alpha"]), VALUES, max_size=2)
DEFAULTS: dict[str, st.SearchStrategy[Any]] = {
    "null": st.none(),
    "boolean": st.booleans(),
    "int": st.integers(-(2**31), 2**31 - 1),
    "long": st.integers(-(2**63), 2**63 - 1),
    "float": st.floats(width=32, allow_nan=False, allow_infinity=False) | st.integers(-5, 5),
    "double": st.floats(allow_nan=False, allow_infinity=False) | st.just("1.5"),
    "string": st.text(st.characters(codec="utf-8"), max_size=5),
    "bytes": st.text(st.characters(max_codepoint=255), max_size=3),
}
LOGICAL: st.SearchStrategy[dict[str, Any]] = st.sampled_from(
    [
        {"type": "bytes", "scale": 0, "precision": 9, "logicalType": "decimal"},
        {"type": "long", "logicalType": "timestamp-millis", "b": 1, "a": [1.0]},
        {"type": "int", "logicalType": "uuid"},
    ]
)


@st.composite
def schemas(draw: st.DrawFn) -> Any:
    """A schema as JSON. Each definition has a name of its own; every earlier one may be used again."""
    return _type(draw, [], "", 3, in_union=False)


def texts() -> st.SearchStrategy[str]:
    return schemas().map(json.dumps)


def _type(draw: st.DrawFn, known: list[str], space: str, depth: int, *, in_union: bool) -> Any:
    kinds = ["primitive", "logical"] if depth == 0 else ["primitive", "record", "enum", "fixed", "array", "map"]
    if depth and not in_union:
        kinds.append("union")
    if known and not in_union:
        kinds.append("use")
    kind = draw(st.sampled_from(kinds))
    if kind == "primitive":
        return draw(PRIMITIVES)
    if kind == "logical":
        return dict(draw(LOGICAL))
    if kind == "use":
        return draw(st.sampled_from(known))
    if kind == "union":
        return _union(draw, known, space, depth)
    if kind in ("array", "map"):
        inside = {"array": "items", "map": "values"}[kind]
        return {**draw(PROPS), "type": kind, inside: _type(draw, known, space, depth - 1, in_union=False)}
    return _definition(draw, kind, known, space, depth)


def _union(draw: st.DrawFn, known: list[str], space: str, depth: int) -> Any:
    branches, seen = [], set()
    for _ in range(draw(st.integers(0, 3))):
        before = len(known)
        branch = _type(draw, known, space, depth - 1, in_union=True)
        kind = branch["type"] if isinstance(branch, dict) else branch
        key = branch["name"] if kind in ("record", "enum", "fixed") else kind
        if key in seen:
            del known[before:]  # what it defined is nowhere
            continue
        seen.add(key)
        branches.append(branch)
    return branches


def _definition(draw: st.DrawFn, kind: str, known: list[str], space: str, depth: int) -> Any:
    # Always in a namespace: a type without one cannot be named from within another.
    space = draw(st.sampled_from([space or "n", "n", "m.k"]))
    name = f"{draw(NAMES)}{len(known)}"
    known.append(f"{space}.{name}")
    schema: dict[str, Any] = {**draw(PROPS), "type": kind, "name": name, "namespace": space}
    if draw(st.booleans()):
        schema |= {"doc": draw(st.text(max_size=3, alphabet="ab ü")), "aliases": draw(st.permutations(["B", "q.A"]))}
    if kind == "enum":
        schema["symbols"] = draw(st.permutations(["A", "B", "C"]))
        if draw(st.booleans()):
            schema["default"] = "B"
    elif kind == "fixed":
        schema["size"] = draw(st.integers(0, 16))
    else:
        names = draw(st.lists(NAMES, unique=True, max_size=4))
        schema["fields"] = [_field(draw, field, known, space, depth) for field in names]
    return schema


def _field(draw: st.DrawFn, name: str, known: list[str], space: str, depth: int) -> Any:
    field = {**draw(PROPS), "name": name, "type": _type(draw, known, space, depth - 1, in_union=False)}
    type_ = field["type"]
    if isinstance(type_, str) and type_ in DEFAULTS and draw(st.booleans()):
        field["default"] = draw(DEFAULTS[type_])
    if isinstance(type_, list) and type_[:1] == ["null"]:
        field["default"] = None
    if draw(st.booleans()):
        field |= {"order": draw(st.sampled_from(["ascending", "Ignore"])), "aliases": draw(st.permutations(["y", "z"]))}
    return field
