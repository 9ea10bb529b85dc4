"""JSON payloads → columns, as far as their schema says what they are.

| JSON Schema | column |
|---|---|
| string, boolean | the same; dates stay text, as `format` is not enforced |
| integer, number | int64, float64 |
| an object with `properties` | struct; where others may be beside them they go into `_additional`: JSON |
| the same without `type` | the same; any other value goes into `_additional` as it is |
| an object with a schema for `additionalProperties` alone | map |
| an array with one schema for its `items` | list |
| `enum`, `const` of one type | that type |
| null or T, however it is said; `$ref` | T |
| anything else, and a type within itself from the third time on | string: JSON |

A schema is open unless it says `additionalProperties: false` (or `unevaluatedProperties`, where its draft knows that),
and nothing beside it speaks of more: `patternProperties`, `required`, `allOf`, `oneOf`, `then`, `$ref` and their like.
What an older version of a schema allowed and a closed reader does not has no column; it is counted, as is all that
`_additional` keeps. With `Additional.DROP` that column does not exist. A schema that does not describe objects makes
one column, `value`. A property that is missing and one that is null are both null. A `number` is the nearest float64;
so is a fraction in JSON text, where integers are exact.
"""

from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import replace
from operator import attrgetter, itemgetter
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa

from sigla.decoding.decoder import Decode, DecodeFailed, Limits, Source, Unreadable
from sigla.decoding.json_schema import STANDARD, schema_of, validator_of
from sigla.decoding.json_schema import decoder as value_decoder
from sigla.decoding.reasons import FINE, Reason
from sigla.errors import Malformed
from sigla.languages.json_schema.drafts import draft_of
from sigla.languages.json_schema.references import Home, Resources
from sigla_pipelines.land.decoders import columns
from sigla_pipelines.land.decoders.columns import UNFIT, UNROLLED, Budget, Column, StructMember, Values
from sigla_pipelines.land.decoders.decoder import Additional, Decoded, Native, Writer
from sigla_pipelines.land.decoders.json_schema_beside import (
    Said,
    of_items,
    of_properties,
    of_property,
    only_branch,
    open_beyond,
    together,
)
from sigla_pipelines.land.decoders.json_schema_notes import ROOT, JsonTags, description
from sigla_pipelines.land.decoders.json_schema_rest import (
    NoObject,
    free_name,
    others_than,
    rest_of_each,
    rest_of_object,
)
from sigla_pipelines.land.decoders.json_schema_shape import (
    JSON_TYPES,
    NOTHING,
    SCALARS,
    TEXT,
    Shape,
    fits_plainly,
    formats_of,
    of_any,
    shape_of,
)
from sigla_pipelines.land.decoders.notes import NO_TAGS, Note, with_unit

VALUE: Final = "value"
"""The one column of a schema that does not describe objects."""


def decoder(
    reader: Writer, *, limits: Limits = STANDARD, additional: Additional = Additional.KEEP, native: Native = Native.AUTO
) -> "JsonSchemaDecoder":
    """Raises Unreadable."""
    del native
    return JsonSchemaDecoder(reader, limits, additional)


class JsonSchemaDecoder:
    def __init__(self, reader: Writer, limits: Limits, additional: Additional) -> None:
        self.reader = reader.source
        self.limits = limits
        validator_of(self.reader)  # what the metaschema allows has the shapes that are looked for here
        root = _Shapes(self.reader, additional, reader).root()
        self.is_object = pa.types.is_struct(root.type)
        self.takes_any = root.takes_any
        self.column = root if self.is_object else columns.struct([StructMember(VALUE, itemgetter(0), root, root.note)])
        self.rest = root.rest
        self.count = self.rest.count("" if self.is_object else f"{VALUE}.") if self.rest else None
        self.drops = additional is Additional.DROP
        self.type: pa.StructType = self.column.type
        self.plain = pa.struct(
            [field for field, member in zip(self.type, self.column.members, strict=True) if _is_plain(member)]
            if self.is_object
            else []
        )
        self.writers: list[Decode] = []
        self.foreign: list[bool] = []
        self.plainly: set[int] = set()

    def add(self, writer: Writer) -> int:
        number = len(self.writers)
        self.writers.append(value_decoder(writer.source, self.reader, limits=self.limits))
        self.foreign.append(writer.source != self.reader)
        if self.plain.num_fields and (not self.foreign[number] or self._fits_plainly(writer)):
            self.plainly.add(number)
        return number

    def _fits_plainly(self, writer: Writer) -> bool:
        """Whether what the writer's schema lets pass is what plain columns hold, where it is there."""
        try:
            shape = _Shapes(writer.source, Additional.KEEP, writer).root()
        except Unreadable:
            return False
        written = {member.name: member for member in shape.members}
        return all(
            _is_plain(written[field.name]) and fits_plainly(written[field.name].column.type, field.type)
            if field.name in written
            else shape.is_closed
            for field in self.plain
        )

    def decode(self, payloads: pa.Array, writers: pa.Array) -> Decoded:
        values, failures = list[Any](), dict[int, DecodeFailed]()
        numbers = writers.to_pylist()
        for row, (payload, writer) in enumerate(zip(payloads.to_pylist(), numbers, strict=True)):
            try:
                value = self._whole(self.writers[writer](payload))
                columns.check_count(self.column, value, len(payload), self.limits)
                values.append(value)
            except DecodeFailed as failed:
                values.append(None)
                failures[row] = failed
        found = columns.decoded(self.column, values, failures, made=self._made_by_arrow(values, numbers))
        fine = np.flatnonzero(found.status.to_numpy() == FINE).tolist()
        return replace(found, additional=self._counted(values, self._with_rest(fine, found.rows, numbers)))

    def _made_by_arrow(self, values: Values, writers: list[int]) -> Mapping[str, pa.Array]:
        """The columns that are plain, by name: what a schema has let pass has their types, so each is made at once."""
        if not self.plainly.issuperset(writers) or not {dict, NOTHING}.issuperset(map(type, values)):
            return {}
        with suppress(*UNFIT):  # a number that fits no column, or only after rounding
            arrays = pa.array(values, self.plain).flatten()
            return dict(zip((field.name for field in self.plain), arrays, strict=True))
        return {}

    def _with_rest(self, fine: list[int], rows: pa.Array, writers: list[int]) -> list[int]:
        """The rows, among those that are fine, that may have more than their columns: most batches have none."""
        if self.rest is None:
            return []
        if self.drops or self.rest.is_in(rows if self.is_object else rows.field(0)):
            return fine
        # What no column keeps is what the reader's schema forbids: only another one has let it pass.
        return [row for row in fine if self.foreign[writers[row]]] if self.rest.has_closed else []

    def _counted(self, values: Values, rows: list[int]) -> dict[str, npt.NDArray[np.int64]]:
        sums: dict[str, npt.NDArray[np.int64]] = {}
        found: dict[str, int] = {}
        if self.count is None:
            return sums
        for row in rows:
            value = values[row] if self.is_object else values[row][0]
            if value is not None:
                self.count(value, found)
            if found:
                for path, properties in found.items():
                    sums.setdefault(path, np.zeros(len(values), np.int64))[row] = properties
                found.clear()
        return sums

    def _whole(self, value: Any) -> Any:
        """A null is a row as well: of an object it has no properties."""
        if not self.is_object:
            return (value,)
        if self.takes_any and not isinstance(value, dict | None):
            return NoObject(value)
        if not isinstance(value, dict | None):
            why = f"{JSON_TYPES[type(value)]} where the reader's schema has object"
            raise DecodeFailed(Reason.INCOMPATIBLE_READER, f"does not fit: {why}")
        return value or {}


class _Shapes:
    """The columns of one schema. References lead where the registry's own checker is led."""

    def __init__(self, source: Source, additional: Additional, reader: Writer) -> None:
        self.schema = schema_of(source)
        self.keeps = additional is Additional.KEEP
        self.budget = Budget()
        try:
            draft = draft_of(self.schema)
            self.resources = Resources(self.schema, source.references, draft.id)
        except Malformed as malformed:
            raise Unreadable(Reason.BAD_SCHEMA, malformed.reason) from None
        self.closing = CLOSING if draft.lazy else CLOSING_MODERN
        self.tags = JsonTags(source, reader.tags, self.resources)
        self.formats = formats_of(reader.times)
        self.path = ROOT
        self.whole = NO_TAGS

    def root(self) -> "Shape":
        # Nothing is around the root: what is said of it as a whole is said of its columns.
        self.whole = self.tags.of([(self.schema, self.resources.home)], ROOT)
        try:
            return self.column(self.schema, self.resources.home, (id(self.schema),))
        except RecursionError:
            raise Unreadable(Reason.BAD_SCHEMA, "the schema is nested too deeply") from None

    def column(self, schema: Any, home: Home, around: tuple[int, ...], beside: Iterable[Said] = ()) -> "Shape":
        """around: what was referred to on the way here. beside: what else speaks of the value."""
        self.budget.spend()
        if not isinstance(schema, dict):
            return TEXT
        home = self.resources.entered(home, schema)
        said = (*beside, (schema, home))
        shape = self.shape(schema, home, around, said)
        tags = shape.note.tags | self.tags.of(said, self.path)
        if shape.build is TEXT.build:
            tags |= self.tags.within(said, self.path)
        return replace(shape, note=with_unit(Note(description(schema) or shape.note.doc, tags), shape.unit))

    def shape(self, schema: Mapping[str, Any], home: Home, around: tuple[int, ...], said: tuple[Said, ...]) -> "Shape":
        """The columns of a value, with the notes of what in it has none of its own."""
        if isinstance(schema.get("$ref"), str):
            return self.referred(schema["$ref"], home, around, said)
        kind = _kind(schema)
        if kind in SCALARS:
            return self.formats.get(str(schema.get("format")), SCALARS[kind]) if kind == "string" else SCALARS[kind]
        if kind in ("array", "object"):
            return (self.array if kind == "array" else self.object)(schema, home, around, said)
        only = only_branch(schema)
        return TEXT if only is None else self.column(only, home, around, said)

    def referred(self, name: str, home: Home, around: tuple[int, ...], said: Iterable[Said]) -> "Shape":
        try:
            target, at = self.resources.find(name, home)
        except Malformed as malformed:
            raise Unreadable(Reason.BAD_SCHEMA, malformed.reason) from None
        if around.count(id(target)) >= UNROLLED:
            return TEXT
        return self.column(target, at, (*around, id(target)), said)

    def array(self, schema: Mapping[str, Any], home: Home, around: tuple[int, ...], said: Iterable[Said]) -> "Shape":
        items = schema.get("items")
        if not isinstance(items, dict | bool) or "prefixItems" in schema:
            return TEXT
        beside = of_items(together(said, self.resources))
        shape = self.column(items, home, around, beside)
        listed = shape_of(columns.listed(shape), list, rest=rest_of_each(shape.rest, iter, attrgetter("values")))
        return replace(listed, note=Note(tags=shape.note.tags), plain=shape.plain)

    def object(self, schema: Mapping[str, Any], home: Home, around: tuple[int, ...], said: Iterable[Said]) -> "Shape":
        properties, others = schema.get("properties"), schema.get("additionalProperties", False)
        said = together(said, self.resources)
        if isinstance(properties, dict) and properties:
            shapes = self.properties(properties, home, around, said)
            is_open = not self.closes(schema) or open_beyond(properties, said)
            return self.struct(shapes, schema, said, is_open=is_open)
        if isinstance(others, dict) and not schema.get("patternProperties"):
            items = self.column(others, home, around, of_properties(said))
            pairs = columns.mapped(SCALARS["string"], items)
            build = Column(
                pairs.type,
                lambda values: pairs.build(list(map(_pairs, values))),
                count=lambda values: pairs.count(list(map(_pairs, values))),
                width=pairs.width,
            )
            found = shape_of(build, dict, rest=rest_of_each(items.rest, dict[str, Any].values, attrgetter("items")))
            return replace(found, note=Note(tags=items.note.tags), plain=items.plain)
        return TEXT

    def properties(
        self, properties: Mapping[str, Any], home: Home, around: tuple[int, ...], said: list[Said]
    ) -> dict[str, "Shape"]:
        above, whole = self.path, self.whole
        self.whole = NO_TAGS
        shapes = {}
        for name, inner in properties.items():
            self.path = f"{above}.{name}"
            shape = self.column(inner, home, around, of_property(name, said))
            shapes[name] = replace(shape, note=Note(shape.note.doc, shape.note.tags | whole))
        self.path, self.whole = above, whole
        return shapes

    def closes(self, schema: Mapping[str, Any]) -> bool:
        """Whether this schema by itself allows nothing but objects of its properties."""
        return not TYPING.isdisjoint(schema) and any(schema.get(word) is False for word in self.closing)

    def struct(
        self, shapes: Mapping[str, "Shape"], schema: Mapping[str, Any], said: list[Said], *, is_open: bool
    ) -> "Shape":
        """is_open: whether there may be more than these properties."""
        names = frozenset(shapes)
        members = [StructMember(name, _getter(name), shape, shape.note) for name, shape in shapes.items()]
        additional = free_name(names) if is_open and self.keeps else ""
        if additional:
            self.budget.spend()
            tags = self.tags.within(said, self.path, names) | self.whole
            members.append(StructMember(additional, others_than(names), TEXT, Note(tags=tags)))
        inner = [(name, shape.rest) for name, shape in shapes.items() if shape.rest]
        rest = rest_of_object(list(shapes), additional, inner)
        if additional and TYPING.isdisjoint(schema):
            return of_any(columns.struct(members), rest)
        plain = not is_open and all(shape.plain for shape in shapes.values())
        return replace(shape_of(columns.struct(members), dict, rest=rest), plain=plain, is_closed=not is_open)


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


def _is_plain(member: StructMember) -> bool:
    return isinstance(member.column, Shape) and member.column.plain


def _getter(name: str) -> Callable[[Any], Any]:
    return lambda value: value.get(name)


def _pairs(value: Any) -> Any:
    return None if value is None else list(value.items())


TYPING: Final = frozenset(("type", "enum", "const"))
"""Words that keep values of other types out."""

CLOSING: Final = ("additionalProperties",)
CLOSING_MODERN: Final = ("additionalProperties", "unevaluatedProperties")
