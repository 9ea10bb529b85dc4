"""The check and the decoder resolve alike: a reader that the check has nothing against reads what the writer wrote.

Beside it stand the pairs where they differ, because the check answers as the reference does: docs/compatibility.md has
the same table.
"""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from sigla.decoding.avro import understood
from sigla.decoding.avro_convert import PROMOTED
from sigla.decoding.avro_plan import Misfit, Step, parts, plan
from sigla.decoding.decoder import Source, Unreadable
from sigla.errors import CheckAbandoned
from sigla.languages.avro.compare import compare
from sigla.languages.avro.resolution import PROMOTIONS
from sigla.languages.avro.tree import Type
from sigla.languages.language import Budget

NUMBERS = ("int", "long", "float", "double")
NAMES = st.sampled_from("ab")
PLAIN = st.sampled_from(["null", "boolean", "int", "long", "float", "double", "string", "bytes"])
FIXED = st.builds(lambda name, size: {"type": "fixed", "name": f"F{name}", "size": size}, NAMES, st.integers(1, 2))
ENUMS = st.builds(
    lambda name, symbols, default: {"type": "enum", "name": f"E{name}", "symbols": symbols} | default,
    NAMES,
    st.sampled_from([["X"], ["Y", "X"]]),
    st.sampled_from([{}, {"default": "X"}]),
)


def _records(types: st.SearchStrategy[Any]) -> st.SearchStrategy[Any]:
    fields = st.builds(
        lambda name, type_, aliases, default: (
            {"name": name, "type": type_, "aliases": aliases} | (default if type_ in NUMBERS else {})
        ),
        NAMES,
        types,
        st.sampled_from([[], [], ["a"], ["b"]]),
        st.just({}) | st.just({"default": 0}),
    )
    return st.builds(
        lambda name, space, aliases, fields: {
            "type": "record",
            "name": f"R{name}",
            "namespace": space,
            "aliases": aliases,
            "fields": fields,
        },
        NAMES,
        st.sampled_from("nm"),
        st.sampled_from([[], ["n.Ra"], ["m.Rb"]]),
        st.lists(fields, max_size=2, unique_by=lambda field: field["name"]),
    )


TYPES = st.recursive(
    PLAIN | FIXED | ENUMS,
    lambda types: (
        st.builds(lambda items: {"type": "array", "items": items}, types)
        | st.builds(lambda values: {"type": "map", "values": values}, types)
        | st.lists(types, max_size=3)
        | _records(types)
    ),
    max_leaves=6,
)


def parsed(schema: Any) -> Type:
    """Raises Unreadable for an invalid schema, as a union in a union."""
    return understood(Source("AVRO", json.dumps(schema)))


def is_accepted(writer: Type, reader: Type) -> bool:
    """Whether the check finds nothing."""
    try:
        return not compare(reader, writer, Budget())
    except CheckAbandoned:
        return False


def misfits(writer: Type, reader: Type) -> list[str]:
    """What the decoder could not read, wherever it is."""
    try:
        made = plan(writer, reader)
    except Unreadable as unreadable:
        return [unreadable.detail]
    return [step.detail for step in _steps(made.root, set()) if isinstance(step, Misfit)]


def _steps(step: Step, met: set[int]) -> Iterator[Step]:
    if id(step) not in met:
        met.add(id(step))
        yield step
        for part in parts(step):
            yield from _steps(part, met)


def test_what_is_promoted_is_converted() -> None:
    assert frozenset(PROMOTED) == PROMOTIONS


@given(TYPES, TYPES, st.booleans())
def test_what_the_check_has_nothing_against_has_a_plan(one: Any, other: Any, same: bool) -> None:
    try:
        writer, reader = parsed(one), parsed(one if same else other)
    except Unreadable:
        assume(False)
    assume(is_accepted(writer, reader))
    assert not misfits(writer, reader)


def record(*fields: dict[str, Any]) -> dict[str, Any]:
    return {"type": "record", "name": "R", "fields": list(fields)}


A: dict[str, Any] = {"name": "a", "type": "int"}
DIFFERENT = {
    "an alias that is a field of the reader, too": (
        record(A),
        record(A, {"name": "c", "type": "int", "aliases": ["a"]}),
    ),
    "a default that does not fit its type": (record(), record({"name": "a", "type": "int", "default": None})),
    "decimals of another scale": tuple(
        {"type": "bytes", "logicalType": "decimal", "precision": 9, "scale": scale} for scale in (2, 3)
    ),
}


@pytest.mark.parametrize("writer, reader", DIFFERENT.values(), ids=DIFFERENT.keys())
def test_what_the_reference_accepts_and_nobody_can_read(writer: Any, reader: Any) -> None:
    """Each row of the page; one that holds no more is to be taken off it."""
    pair = parsed(writer), parsed(reader)
    assert is_accepted(*pair)
    assert misfits(*pair)
