"""A registry with schemas of every kind, and what `sigla explain` says of records."""

import json
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import main
from sigla.model import Draft, OfferedReference, Subject
from sigla.opening import embedded
from sigla.registry import Registry
from sigla.settings import Settings

Captured = pytest.CaptureFixture[str]

MONEY = '{"type":"record","name":"Money","fields":[{"name":"cents","type":"long"}]}'
ORDER = json.dumps({"type": "record", "name": "Order", "fields": [
    {"name": "id", "type": "string"},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-millis"}},
    {"name": "price", "type": "Money"},
    {"name": "note", "type": ["null", "string"]},
    {"name": "old", "type": "int"},
]})  # fmt: skip
"""Version 1; the reader is version 2."""
READER = json.dumps({"type": "record", "name": "Order", "fields": [
    {"name": "key", "type": "string", "aliases": ["id"]},
    {"name": "at", "type": {"type": "long", "logicalType": "timestamp-micros"}},
    {"name": "price", "type": "Money"},
    {"name": "note", "type": "string"},
    {"name": "state", "type": {"type": "enum", "name": "State", "symbols": ["NEW"]}, "default": "NEW"},
]})  # fmt: skip
PROTO = 'syntax = "proto3"; message First { string a = 1; } message Second { int32 b = 1; }'
PERSON = '{"type":"object","properties":{"name":{"type":"string"}},"required":["name"]}'

PAYLOAD = b"\x04o1" + b"\xd0\x0f" + b"\xc8\x01" + b"\x02\x04hi" + b"\x0e"


def stored(folder: Path) -> str:
    """A directory with the registry's data."""
    with embedded(Settings(default_level="NONE"), folder) as (registry, _):
        _filled(registry)
    return str(folder)


def _filled(registry: Registry) -> None:
    """Ids: 1 Money, 2 the order, 3 its reader, 4 Protobuf, 5 JSON; 1 of the context .other is an int."""
    uses = (OfferedReference("Money", "money", 1),)
    for subject, draft in (
        (Subject(".", "money"), Draft(MONEY)),
        (Subject(".", "orders-value"), Draft(ORDER, references=uses)),
        (Subject(".", "orders-value"), Draft(READER, references=uses)),
        (Subject(".", "proto-value"), Draft(PROTO, "PROTOBUF")),
        (Subject(".", "people-value"), Draft(PERSON, "JSON")),
        (Subject(".other", "numbers"), Draft('"int"')),
    ):
        registry.register(subject, draft)


def framed(id: int, payload: bytes = PAYLOAD) -> str:
    return (b"\0" + id.to_bytes(4, "big") + payload).hex()


def explained(capsys: Captured, *arguments: str, status: int = 0) -> dict[str, Any]:
    capsys.readouterr()
    assert main(["explain", *arguments, "--json"]) == status
    found: dict[str, Any] = json.loads(capsys.readouterr().out)
    return found


def misused(capsys: Captured, *arguments: str) -> str:
    capsys.readouterr()
    assert main(["explain", *arguments]) == 2
    told = capsys.readouterr()
    assert told.out == ""
    return told.err
