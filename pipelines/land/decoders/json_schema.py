"""JSON payloads → columns, as far as their schema says what they are.

| JSON Schema | column |
|---|---|
| string, boolean | the same; dates stay text, as nobody enforces `format` |
| integer, number | int64, float64 |
| an object with `properties` | struct; what it says about others beside them goes into `_additional`: JSON |
| an object with a schema for `additionalProperties` alone | map |
| an array with one schema for its `items` | list |
| `enum`, `const` of one type | that type |
| null or T, however it is said; `$ref` | T |
| anything else, and a type within itself from the third time on | string: JSON |

Properties beyond `properties` are kept where the schema speaks of them (`additionalProperties` that is not false,
`patternProperties`, `required`, and whatever `allOf`, `oneOf`, `then`, `$ref` and others say beside it), and not where
it merely does not forbid them. A schema that is no object makes one column, `value`. A property that is missing and one
that is null are both null. A `number` is the nearest float64; so is a fraction in JSON text, where integers are exact.
"""

import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from operator import itemgetter
from typing import Any, Final

import orjson
import pyarrow as pa

from pipelines.land.column_types import JSON
from pipelines.land.decoders import columns
from pipelines.land.decoders.columns import UNROLLED, Budget, Column, Member, Values
from pipelines.land.decoders.decoder import Decoded, Writer
from pipelines.land.decoders.json_schema_beside import Said, of_items, of_properties, of_property, open_beyond, together
from sigla.decoding.decoder import Decode, DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.json_schema import STANDARD, schema_of, validator_of
from sigla.decoding.json_schema import decoder as value_decoder
from sigla.decoding.reasons import Reason
from sigla.errors import Malformed
from sigla.languages.json_schema.drafts import draft_of
from sigla.languages.json_schema.references import Home, Resources

ADDITIONAL: Final = "_additional"

VALUE: Final = "value"
"""The one column of a schema that is no object."""

NOTHING: Final = type(None)


def decoder(reader: Writer, *, limits: Limits = STANDARD) -> "JsonSchemaDecoder":
    """Raises Unreadable."""
    return JsonSchemaDecoder(reader, limits)


class JsonSchemaDecoder:
    def __init__(self, reader: Writer, limits: Limits) -> None:
        self.reader = reader.source
        self.limits = limits
        validator_of(self.reader)  # what the metaschema allows has the shapes that are looked for here
        root = _Shapes(self.reader).root()
        self.is_object = pa.types.is_struct(root.type)
        self.column = root if self.is_object else columns.struct([Member(VALUE, itemgetter(0), root)])
        self.type: pa.StructType = self.column.type
        self.writers: list[Decode] = []

    def add(self, writer: Writer) -> int:
        self.writers.append(value_decoder(writer.source, self.reader, limits=self.limits))
        return len(self.writers) - 1

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        values, failures = list[Any](), dict[int, DecodeFailed]()
        for row, (payload, writer) in enumerate(zip(payloads.to_pylist(), writers.to_pylist(), strict=True)):
            try:
                value = self._whole(self.writers[writer](payload))
                columns.check_count(self.column, value, len(payload), self.limits)
                values.append(value)
            except DecodeFailed as failed:
                values.append(None)
                failures[row] = failed
        return columns.decoded(self.column, values, failures)

    def _whole(self, value: Any) -> Any:
        """A null is a row as well: of an object it has no properties."""
        if not self.is_object:
            return (value,)
        if not isinstance(value, dict | None):
            why = f"{JSON_TYPES[type(value)]} where the reader's schema has object"
            raise DecodeFailed(Reason.INCOMPATIBLE_READER, f"does not fit: {why}")
        return value or {}


class _Shapes:
    """The columns of one schema. References lead where the registry's own checker is led."""

    def __init__(self, source: Source) -> None:
        self.schema = schema_of(source)
        self.budget = Budget()
        try:
            self.resources = Resources(self.schema, source.references, draft_of(self.schema).id)
        except Malformed as malformed:
            raise Unreadable(Reason.BAD_SCHEMA, malformed.reason) from None

    def root(self) -> Column:
        try:
            return self.column(self.schema, self.resources.home, (id(self.schema),))
        except RecursionError:
            raise Unreadable(Reason.BAD_SCHEMA, "the schema is nested too deep") from None

    def column(self, schema: Any, home: Home, around: tuple[int, ...], beside: Iterable[Said] = ()) -> Column:
        """around: what was referred to on the way here. beside: what else speaks of the value."""
        self.budget.spend()
        if not isinstance(schema, dict):
            return TEXT
        home = self.resources.entered(home, schema)
        said = (*beside, (schema, home))
        if isinstance(schema.get("$ref"), str):
            return self.referred(schema["$ref"], home, around, said)
        kind = _kind(schema)
        if kind in SCALARS:
            return SCALARS[kind]
        if kind in ("array", "object"):
            return (self.array if kind == "array" else self.object)(schema, home, around, said)
        only = _only_branch(schema)
        return TEXT if only is None else self.column(only, home, around, said)

    def referred(self, name: str, home: Home, around: tuple[int, ...], said: Iterable[Said]) -> Column:
        try:
            target, at = self.resources.find(name, home)
        except Malformed as malformed:
            raise Unreadable(Reason.BAD_SCHEMA, malformed.reason) from None
        if around.count(id(target)) >= UNROLLED:
            return TEXT
        return self.column(target, at, (*around, id(target)), said)

    def array(self, schema: Mapping[str, Any], home: Home, around: tuple[int, ...], said: Iterable[Said]) -> Column:
        items = schema.get("items")
        if not isinstance(items, dict | bool) or "prefixItems" in schema:
            return TEXT
        beside = of_items(together(said, self.resources))
        return _of(columns.listed(self.column(items, home, around, beside)), list)

    def object(self, schema: Mapping[str, Any], home: Home, around: tuple[int, ...], said: Iterable[Said]) -> Column:
        properties, others = schema.get("properties"), schema.get("additionalProperties", False)
        said = together(said, self.resources)
        if isinstance(properties, dict) and properties:
            members = [
                Member(name, _getter(name), self.column(inner, home, around, of_property(name, said)))
                for name, inner in properties.items()
            ]
            if open_beyond(properties, said):
                members.append(Member(_free(properties), _others(frozenset(properties)), TEXT))
            return _of(columns.struct(members), dict)
        if isinstance(others, dict) and not schema.get("patternProperties"):
            items = self.column(others, home, around, of_properties(said))
            pairs = columns.mapped(SCALARS["string"], items)
            build = Column(
                pairs.type,
                lambda values: pairs.build(list(map(_pairs, values))),
                count=lambda values: pairs.count(list(map(_pairs, values))),
                width=pairs.width,
            )
            return _of(build, dict)
        return TEXT


def _kind(schema: Mapping[str, Any]) -> str:
    """The one type of values that are not null; "" where there are several, or it is not said."""
    said = schema.get("type")
    if said is None:
        constants = schema.get("enum") or ([schema["const"]] if "const" in schema else [])
        said = [JSON_TYPES.get(type(constant), "") for constant in constants]
        said = said or [kind for kind, word in (("object", "properties"), ("array", "items")) if word in schema]
    kinds = {said} if isinstance(said, str) else set(said) - {"null"}
    if kinds == {"integer", "number"}:
        return "number"
    return kinds.pop() if len(kinds) == 1 else ""


def _only_branch(schema: Mapping[str, Any]) -> Any:
    """Of alternatives the one that is not null; of things that hold together the one thing; None of anything else."""
    for word in ("oneOf", "anyOf", "allOf"):
        if isinstance(schema.get(word), list):
            some = [each for each in schema[word] if not (isinstance(each, dict) and each.get("type") == "null")]
            return some[0] if len(some) == 1 else None
    return None


def _getter(name: str) -> Callable[[Any], Any]:
    return lambda value: value.get(name)


def _others(names: frozenset[str]) -> Callable[[Any], Any]:
    return lambda value: {name: value[name] for name in value if name not in names} or None


def _free(properties: Mapping[str, Any]) -> str:
    name = ADDITIONAL
    while name in properties:
        name = f"_{name}"
    return name


def _pairs(value: Any) -> Any:
    return None if value is None else list(value.items())


def _of(column: Column, *kinds: type) -> Column:
    """The same, of values of these types alone: Arrow would take some others, and make something of them."""
    allowed = frozenset((NOTHING, *kinds))

    def of_these(values: Values) -> Values:
        odd = set(map(type, values)) - allowed
        if odd:
            raise TypeError(f"{JSON_TYPES[odd.pop()]} where the reader's schema has {JSON_TYPES[kinds[0]]}")
        return values

    # Scalars are counted by `len`, which who counts structs knows and does not call.
    count = len if column.count is len else lambda values: column.count(of_these(values))
    return replace(column, build=lambda values: column.build(of_these(values)), count=count)


def _integer(value: Any) -> int:
    """JSON Schema has 1.0 for an integer. Raises ValueError of any other fraction, OverflowError."""
    if value != int(value):
        raise ValueError(f"{value} is no integer")
    return int(value)


def _text(value: Any) -> str:
    try:
        return orjson.dumps(value).decode()
    except TypeError:  # an integer beyond 64 bits
        return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


JSON_TYPES: Final = {
    bool: "boolean",
    dict: "object",
    float: "number",
    int: "integer",
    list: "array",
    str: "string",
    NOTHING: "null",
}

TEXT: Final = columns.scalar(JSON, _text)
"""JSON, of whatever it is."""

SCALARS: Final = {
    "boolean": _of(columns.scalar(pa.bool_()), bool),
    "integer": _of(columns.scalar(pa.int64(), _integer), int, float),
    "number": _of(columns.scalar(pa.float64(), float), float, int),
    "string": _of(columns.scalar(pa.string()), str),
}
