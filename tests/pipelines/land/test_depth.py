"""The deepest that `checks.depth` may allow: rows in each language, and beyond it a reason."""

import json
from collections.abc import Callable
from typing import Any, Final

import pyarrow as pa
import pytest

from sigla.decoding.decoder import DEEPEST, Limits, Source
from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla_pipelines.land.decoders.by_language import DECODERS
from sigla_pipelines.land.decoders.decoder import Writer
from tests.unit.decoding.protobuf_types import source as protobuf


def avro(next: Any) -> Source:
    """A node whose next ones are a branch among others, which is a level more wherever it is JSON."""
    field = {"name": "next", "type": ["null", next, "string"]}
    return Source("AVRO", json.dumps({"type": "record", "name": "Node", "fields": [field]}))


def message(field: str) -> Source:
    return protobuf(f'syntax = "proto3"; message Node {{ {field} next = 1; }}')


def messages(count: int, *, entries: bool = False) -> bytes:
    """So many within each other. entries: of a map, whose values they are."""
    payload = b""
    for level in range(count):
        payload = (b"\x12" if entries and level % 2 == 0 else b"\x0a") + length(payload) + payload
    return payload


def length(of: bytes) -> bytes:
    size = len(of)
    return bytes([size & 127 | 128, size >> 7]) if size > 127 else bytes([size])


OPEN: Final = Source("JSON", json.dumps({"type": "object", "properties": {"next": {}}}))
TREE: Final = Source("JSON", json.dumps({"type": "object", "properties": {"next": {"$ref": "#"}}}))
NESTED: Final[dict[str, tuple[Source, Callable[[int], bytes]]]] = {
    "Avro records": (avro("Node"), lambda depth: b"\x02" * (depth - 1) + b"\0"),
    "Avro arrays": (
        avro({"type": "array", "items": "Node"}),
        lambda depth: b"\x02\x02" * ((depth - 1) // 2) + b"\0" + b"\0" * ((depth - 1) // 2),
    ),
    "Avro maps": (
        avro({"type": "map", "values": "Node"}),
        lambda depth: b"\x02\x02\x02k" * ((depth - 1) // 2) + b"\0" + b"\0" * ((depth - 1) // 2),
    ),
    "Protobuf messages": (message("Node"), messages),
    "Protobuf lists": (message("repeated Node"), messages),
    "Protobuf maps": (message("map<string, Node>"), lambda depth: messages(depth, entries=True)),
    "JSON arrays": (OPEN, lambda depth: b'{"next": ' + b"[" * (depth - 1) + b"]" * (depth - 1) + b"}"),
    "JSON objects": (TREE, lambda depth: b'{"next": ' * (depth - 1) + b"{}" + b"}" * (depth - 1)),
}


@pytest.mark.parametrize("name", NESTED)
def test_the_deepest_that_may_be_allowed_lands_and_what_is_deeper_has_a_reason(name: str) -> None:
    """No record may stop a batch: not by what Python, Arrow or JSON can bear."""
    source, nested = NESTED[name]
    decoder = DECODERS[source.type](Writer(source), limits=Limits(depth=DEEPEST))
    number = decoder.add(Writer(source))
    payloads = [nested(depth) for depth in (3, DEEPEST, DEEPEST + 2, DEEPEST * 20)]
    decoded = decoder.decode(pa.array(payloads, pa.binary()), pa.array([number] * 4, pa.int32()))
    assert decoded.status.to_pylist() == [FINE, FINE, NUMBERS[Reason.DEPTH], NUMBERS[Reason.DEPTH]]
    assert len(decoded.rows.to_pylist()[1]["next"]) > 0
