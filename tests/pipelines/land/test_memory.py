"""Eight megabytes that say millions of values: each is a reason, or columns, and never a gigabyte.

Each is decoded in a process of its own, which tells by how much its memory has grown at most.
"""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from typing import Any

import pytest

from sigla.decoding.reasons import FINE, NUMBERS, Reason
from sigla_pipelines.land.decoders.extension import installed

SIZE = 8 * 2**20 - 16
WIDE = 100
"""Fields of a record whose items are said by a byte or two."""

GROWN_MB = 400
"""The limit of memory. Without a limit on values each of these took 1,600 MB and more."""
NATIVELY_MB = 70
"""With the extension, in the languages that it knows."""

DECODED = """
import json, resource, sys
import pyarrow as pa
from sigla_pipelines.land.decoders import avro, json_schema, protobuf
from sigla_pipelines.land.decoders.decoder import Writer
from sigla.decoding.decoder import Source
from sigla.languages import LANGUAGES

def source(type, text):
    language = LANGUAGES[type]
    compiled = language.compiled(language.parse(text, (), False)) if type == "PROTOBUF" else None
    return Writer(Source(type, text, (), compiled))

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // 1024

said = json.load(sys.stdin)
start, item, end = (bytes.fromhex(said[part]) for part in ("start", "item", "end"))
payload = start + item * said["count"] + end
module = {"AVRO": avro, "JSON": json_schema, "PROTOBUF": protobuf}[said["type"]]
decoder = module.decoder(source(said["type"], said.get("reader") or said["text"]))
number = decoder.add(source(said["type"], said["text"]))
before = peak()
decoded = decoder.decode(pa.array([payload], pa.binary()), pa.array([number], pa.int32()))
print(json.dumps({"status": decoded.status.to_pylist(), "grown": peak() - before}))
"""


def items(fields: int, **more: Any) -> str:
    own = [{"name": f"f{at}", "type": "int", **more} for at in range(fields)]
    own[0].pop("default", None)
    record = {"type": "record", "name": "Item", "fields": own}
    return json.dumps(
        {"type": "record", "name": "R", "fields": [{"name": "of", "type": {"type": "array", "items": record}}]}
    )


def varint(number: int) -> str:
    out = b""
    number <<= 1
    while number > 127:
        out += bytes([number & 127 | 128])
        number >>= 7
    return (out + bytes([number])).hex()


def zeros(count: int, end: str) -> Mapping[str, Any]:
    return {"start": varint(count), "item": "00", "count": count, "end": end}


NODE = {"type": "record", "name": "N", "fields": [{"name": "of", "type": ["null", {"type": "array", "items": "N"}]}]}
OBJECTS = {
    "type": "array",
    "items": {"type": "object", "properties": {f"p{at}": {"type": "integer"} for at in range(WIDE)}},
}
FIELDS = " ".join(f"int32 p{at} = {at};" for at in range(1, WIDE + 1))
MESSAGES = f'syntax = "proto3"; message R {{ repeated I items = 1; message I {{ {FIELDS} }} }}'

HOSTILE: Mapping[str, Mapping[str, Any]] = {
    "records of a byte": {"type": "AVRO", "text": items(1), **zeros(SIZE, "00")},
    "records of a byte, cut off": {"type": "AVRO", "text": items(1), **zeros(SIZE, "")},
    "a record within itself": {
        "type": "AVRO",
        "text": json.dumps(NODE),
        **zeros(SIZE, "00"),
        "start": f"02{varint(SIZE)}",
    },
    "defaults of a reader": {
        "type": "AVRO",
        "text": items(1),
        "reader": items(WIDE, default=1),
        **zeros(SIZE, "00"),
    },
    "empty objects": {
        "type": "JSON",
        "text": json.dumps(OBJECTS),
        "start": b"[".hex(),
        "item": b"{},".hex(),
        "count": SIZE // 3,
        "end": b"{}]".hex(),
    },
    "empty messages": {
        "type": "PROTOBUF",
        "text": MESSAGES,
        "start": "",
        "item": "0a00",
        "count": SIZE // 2,
        "end": "",
    },
}


def most_grown(language: str) -> int:
    return NATIVELY_MB if installed() and language != "JSON" else GROWN_MB


ORDINARY = {"records of a byte, cut off", "empty messages"}
"""The others take seconds each."""


def decoded(said: Mapping[str, Any]) -> Any:
    child = subprocess.run(
        [sys.executable, "-c", DECODED],
        input=json.dumps(said),
        capture_output=True,
        text=True,
        check=True,
        env=os.environ,
    )
    return json.loads(child.stdout)


@pytest.mark.parametrize(
    "payload", [pytest.param(name, marks=() if name in ORDINARY else pytest.mark.soak) for name in HOSTILE]
)
def test_few_bytes_do_not_become_gigabytes(payload: str) -> None:
    """Whatever makes much of little: items, failures, recursion, defaults, fields that were not written."""
    found = decoded(HOSTILE[payload])
    assert found["status"] == [NUMBERS[Reason.TOO_LARGE]]
    assert found["grown"] < most_grown(HOSTILE[payload]["type"])


@pytest.mark.soak
@pytest.mark.parametrize("end, status", [("00", FINE), ("", NUMBERS[Reason.DECODE_TRUNCATED])])
def test_as_many_values_as_are_allowed_fit(end: str, status: int) -> None:
    """Read at once, and walked because it is cut off."""
    found = decoded({"type": "AVRO", "text": items(1), **zeros(2**20 - 8, end)})
    assert found["status"] == [status]
    assert found["grown"] < (most_grown("AVRO") if status == FINE else GROWN_MB)
