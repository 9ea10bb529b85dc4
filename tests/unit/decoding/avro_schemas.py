"""Avro schemas, their evolutions and their data, drawn by chance: a seed draws the same again.

A type is a tuple: ("long",), ("array", items), ("map", values), ("union", branches…), ("named", name). Definitions
stand in a table of their own, so that a type may be used many times, and changes everywhere when it changes.
"""

import io
import json
import math
from copy import deepcopy
from dataclasses import dataclass, field
from random import Random
from typing import Any

import fastavro
import numpy as np

from sigla.decoding.avro_convert import branch_names
from sigla.decoding.decoder import Decode, DecodeFailed
from sigla.languages.avro import tree

Type = tuple[Any, ...]

PLAIN = ("null", "boolean", "int", "long", "float", "double", "string", "bytes")
PROMOTED = {
    "int": ("long", "float", "double"),
    "long": ("float", "double"),
    "float": ("double",),
    "string": ("bytes",),
    "bytes": ("string",),
}
DEFAULTS: dict[str, Any] = {
    "null": None,
    "boolean": True,
    "int": -7,
    "long": 2**40,
    "float": 1.5,
    "double": -2.25,
    "string": "né",
    "array": [],
    "map": {},
}
"""Kinds whose defaults fastavro gives as they are; for bytes it gives text, and for records what JSON says."""


@dataclass
class Schema:
    """fields: of the record that the schema is, as of every record: (name, type, aliases, default or ABSENT)."""

    fields: list[list[Any]] = field(default_factory=list)
    named: dict[str, dict[str, Any]] = field(default_factory=dict)

    def json(self) -> dict[str, Any]:
        defined: set[str] = set()
        return {"type": "record", "name": "Root", "namespace": "t", "fields": self._fields(self.fields, defined)}

    def text(self) -> str:
        return json.dumps(self.json())

    def parsed(self) -> Any:
        """As fastavro has it."""
        return fastavro.parse_schema(self.json())

    def _fields(self, fields: list[list[Any]], defined: set[str]) -> list[dict[str, Any]]:
        return [
            {"name": name, "type": self._type(type_, defined), "aliases": aliases, **default}
            for name, type_, aliases, default in fields
        ]

    def _type(self, type_: Type, defined: set[str]) -> Any:
        kind = type_[0]
        if kind == "array":
            return {"type": "array", "items": self._type(type_[1], defined)}
        if kind == "map":
            return {"type": "map", "values": self._type(type_[1], defined)}
        if kind == "union":
            return [self._type(branch, defined) for branch in type_[1:]]
        if kind != "named":
            return kind
        name = type_[1]
        if name in defined:
            return name
        defined.add(name)
        shape = self.named[name]
        if shape["type"] == "record":
            return {"type": "record", "name": name, "fields": self._fields(shape["fields"], defined)}
        return {**shape, "name": name}


class Drawing:
    def __init__(self, seed: int) -> None:
        self.by = Random(seed)
        self.count = 0

    def name(self, prefix: str) -> str:
        self.count += 1
        return f"{prefix}{self.count}"

    # --- schemas

    def schema(self) -> Schema:
        drawn = Schema()
        drawn.fields = [self.field(drawn, 0) for _ in range(self.by.randrange(7))]
        return drawn

    def field(self, schema: Schema, depth: int) -> list[Any]:
        return [self.name("f"), self.type(schema, depth), [], {}]

    def type(self, schema: Schema, depth: int) -> Type:
        kinds = ["plain"] * 4 + (
            ["array", "map", "union", "union", "record", "enum", "fixed", "again"] if depth < 3 else []
        )
        kind = self.by.choice(kinds)
        if kind == "array":
            return ("array", self.type(schema, depth + 1))
        if kind == "map":
            return ("map", self.type(schema, depth + 1))
        if kind == "union":
            return self.union(schema, depth)
        if kind == "again" and schema.named:
            return ("named", self.by.choice(list(schema.named)))
        if kind in ("record", "enum", "fixed"):
            return self.definition(schema, kind, depth)
        return (self.by.choice(PLAIN),)

    def definition(self, schema: Schema, kind: str, depth: int) -> Type:
        name = self.name("T")
        if kind == "record":  # known by its name only when it is complete: nothing is part of itself
            fields = [self.field(schema, depth + 1) for _ in range(self.by.randrange(4))]
            schema.named[name] = {"type": "record", "fields": fields}
        elif kind == "enum":
            schema.named[name] = {"type": "enum", "symbols": [f"S{at}" for at in range(self.by.randrange(1, 5))]}
        else:
            schema.named[name] = {"type": "fixed", "size": self.by.randrange(20)}
        return ("named", name)

    def union(self, schema: Schema, depth: int) -> Type:
        """No two branches of which one can become the other: fastavro takes the first, we the nearest."""
        branches: dict[str, Type] = {}
        for _ in range(self.by.randrange(1, 4)):
            branch = self.type(schema, depth + 1)
            if branch[0] == "union":
                continue
            family = {"int": "number", "long": "number", "float": "number", "double": "number", "bytes": "string"}
            key = str(family.get(branch[0], branch[0]) if branch[0] != "named" else branch[1])
            branches.setdefault(key, branch)
        if self.by.random() < 0.6:
            branches.setdefault("null", ("null",))
        drawn = list(branches.values())
        self.by.shuffle(drawn)
        return ("union", *drawn) if drawn else ("union", ("null",), ("string",))

    # --- evolutions

    def evolved(self, writer: Schema) -> Schema:
        """A reader of what the writer writes, most of the time."""
        reader = deepcopy(writer)
        for shape in reader.named.values():
            if shape["type"] == "record":
                shape["fields"] = self.evolved_fields(shape["fields"])
            elif shape["type"] == "enum":
                self.evolve_enum(shape)
        reader.fields = self.evolved_fields(reader.fields)
        return reader

    def evolved_fields(self, fields: list[list[Any]]) -> list[list[Any]]:
        kept: list[list[Any]] = []
        for name, type_, _, _ in fields:
            chance = self.by.random()
            if chance < 0.15:
                continue
            renamed = chance < 0.3
            kept.append([self.name("r") if renamed else name, self.evolved_type(type_), [name] if renamed else [], {}])
        for _ in range(self.by.randrange(3)):
            kind = self.by.choice(list(DEFAULTS))
            added: Type = (kind, ("long",)) if kind in ("array", "map") else (kind,)
            if kind not in ("null", "array", "map") and self.by.random() < 0.3:
                added = ("union", added, ("null",))
            kept.append([self.name("n"), added, [], {"default": DEFAULTS[kind]}])
        self.by.shuffle(kept)
        return kept

    def evolved_type(self, type_: Type) -> Type:
        kind = type_[0]
        if kind in ("array", "map"):
            return (kind, self.evolved_type(type_[1]))
        if kind == "union":
            branches = list(type_[1:])
            self.by.shuffle(branches)
            if len(branches) > 1 and self.by.random() < 0.15:
                branches.pop()
            return ("union", *branches)
        if kind in PROMOTED and self.by.random() < 0.3:
            return (self.by.choice(PROMOTED[kind]),)
        if kind != "null" and self.by.random() < 0.15:
            return ("union", ("null",), type_)
        return type_

    def evolve_enum(self, shape: dict[str, Any]) -> None:
        if self.by.random() < 0.3:
            shape["symbols"] = [*shape["symbols"][1:], "LATER"]
            if self.by.random() < 0.7:
                shape["default"] = "LATER"

    # --- data

    def payload(self, schema: Schema) -> bytes:
        written = io.BytesIO()
        fastavro.schemaless_writer(written, schema.parsed(), self.record(schema, schema.fields))
        return written.getvalue()

    def record(self, schema: Schema, fields: list[list[Any]]) -> dict[str, Any]:
        return {name: self.value(schema, type_) for name, type_, _, _ in fields}

    def value(self, schema: Schema, type_: Type) -> Any:
        kind = type_[0]
        if kind == "array":
            return [self.value(schema, type_[1]) for _ in range(self.by.randrange(4))]
        if kind == "map":
            return {self.word(): self.value(schema, type_[1]) for _ in range(self.by.randrange(4))}
        if kind == "union":
            return self.value(schema, self.by.choice(type_[1:]))
        if kind == "named":
            return self.named_value(schema, schema.named[type_[1]])
        return self.plain(kind)

    def named_value(self, schema: Schema, shape: dict[str, Any]) -> Any:
        if shape["type"] == "record":
            return self.record(schema, shape["fields"])
        if shape["type"] == "enum":
            return self.by.choice(shape["symbols"])
        return self.by.randbytes(shape["size"])

    def word(self) -> str:
        return "".join(self.by.choice("abé€😀 ") for _ in range(self.by.choice([0, 1, 3, 80])))

    def plain(self, kind: str) -> Any:
        bits = self.by.choice([1, 6, 7, 13, 31, 31])
        number = self.by.randrange(-(2**bits), 2**bits)
        return {
            "null": None,
            "boolean": self.by.random() < 0.5,
            "int": number,
            "long": self.by.choice([number, number * 2**32]),
            "float": float(np.float32(number / 3)),
            "double": self.by.choice([number / 3, math.inf, -0.0]),
            "string": self.word(),
            "bytes": self.word().encode(),
        }[kind]


# --- comparing -------------------------------------------------------------------------------------------------------


def resolved(payload: bytes, writer: Schema, reader: Schema) -> Any:
    """What fastavro makes of it."""
    return fastavro.schemaless_reader(io.BytesIO(payload), writer.parsed(), reader.parsed())


def outcome(decode: Decode, payload: bytes) -> Any:
    """The value, or the failure."""
    try:
        return decode(payload)
    except DecodeFailed as failed:
        return failed


def plainer(value: Any) -> Any:
    """Floats as 32 bits have them: what a column of floats keeps; NaN and the two zeros are told apart."""
    if isinstance(value, float):
        with np.errstate(over="ignore"):
            return repr(float(np.float32(value)))
    if isinstance(value, dict):
        return {key: plainer(each) for key, each in value.items()}
    return [plainer(each) for each in value] if isinstance(value, list) else value


def bare(value: Any, type_: tree.Type) -> Any:
    """What `avro_walk` yields or a column holds, as fastavro has it: without the members of unions, without JSON."""
    if value is None:
        return None
    if isinstance(type_, tree.Union):
        names = branch_names(type_)
        if not any(names):
            return bare(value, next(branch for branch in type_.branches if branch.kind != "null"))
        ((member, inner),) = [(name, each) for name, each in value.items() if each is not None]
        return bare(inner, type_.branches[names.index(member)])
    if isinstance(type_, tree.Record):
        given = json.loads(value) if isinstance(value, str) else value
        return {each.name: bare(given[each.name], each.type) for each in type_.fields}
    if isinstance(type_, tree.Array):
        return [bare(item, type_.items) for item in value]
    if isinstance(type_, tree.Map):
        return {key: bare(each, type_.values) for key, each in dict(value).items()}
    return value
