"""Objects: which names may be there, which must, and what they hold (C.7.3).

A content model is open (any other name may be there and be anything), partially open for a name (there is a schema
that it must satisfy) or closed for it. Whether a property may come or go depends on the model of the other side.
"""

from typing import Final, NamedTuple

from sigla.languages.json_schema.nodes import ABSENT, Anything, Nothing, Object, Schema
from sigla.languages.json_schema.outcome import Check, Covered, Outcome, Walk
from sigla.languages.json_schema.rest import Rest, additional, lets_all_through, rest_schema, unevaluated
from sigla.languages.json_schema.scalars import Limit, compare_limits

PER_STEP: Final = 8
"""So many names are looked up in one step."""


class Added(NamedTuple):
    """The kinds of a property that the reader alone describes, by the writer's content model."""

    to_open: str
    to_unopen: str


OPTIONAL: Final = Added(
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
)
REQUIRED: Final = Added(
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL"
)
REQUIRED_WITH_DEFAULT: Final = Added(
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL",
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL",
)
PROPERTY_REMOVED: Final = Covered(
    "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
)
PROPERTY_ADDED: Final = Covered(
    "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
)
ADDITIONAL_PROPERTIES: Final = Rest(
    "additionalProperties",
    "ADDITIONAL_PROPERTIES_ADDED",
    "ADDITIONAL_PROPERTIES_REMOVED",
    "ADDITIONAL_PROPERTIES_NARROWED",
    "ADDITIONAL_PROPERTIES_EXTENDED",
)
UNEVALUATED_PROPERTIES: Final = Rest(
    "unevaluatedProperties",
    "UNEVALUATED_PROPERTIES_ADDED",
    "UNEVALUATED_PROPERTIES_REMOVED",
    "UNEVALUATED_PROPERTIES_NARROWED",
    "UNEVALUATED_PROPERTIES_EXTENDED",
)
MAX_PROPERTIES: Final = Limit(
    "maxProperties",
    "MAX_PROPERTIES_ADDED",
    "MAX_PROPERTIES_REMOVED",
    "MAX_PROPERTIES_INCREASED",
    "MAX_PROPERTIES_DECREASED",
)
MIN_PROPERTIES: Final = Limit(
    "minProperties",
    "MIN_PROPERTIES_ADDED",
    "MIN_PROPERTIES_REMOVED",
    "MIN_PROPERTIES_INCREASED",
    "MIN_PROPERTIES_DECREASED",
)


def objects(reader: Object, writer: Object, found: Outcome, check: Check) -> Walk:
    names = (reader.properties, writer.properties, reader.required, writer.required)
    check.spend(sum(map(len, names)) // PER_STEP)
    required(reader, writer, found)
    begin = len(found.found)
    yield from described_by_writer(reader, writer, found, check)
    yield from described_by_reader(reader, writer, found, check)
    found.order(begin, writer.properties, reader.properties)
    yield from dependencies(reader, writer, found, check)
    yield from additional(reader, writer, found, ADDITIONAL_PROPERTIES)
    yield from unevaluated(reader, writer, found, UNEVALUATED_PROPERTIES)
    compare_limits(found, MAX_PROPERTIES, reader.max_properties, writer.max_properties)
    compare_limits(found, MIN_PROPERTIES, reader.min_properties, writer.min_properties)


def required(reader: Object, writer: Object, found: Outcome) -> None:
    """Names that both describe. A name that only `required` knows does not count as a property."""
    if reader.required == writer.required:
        return
    for name in writer.properties:
        schema = reader.properties.get(name)
        if schema is None or (name in reader.required) == (name in writer.required):
            continue
        if name in writer.required:
            found.add("REQUIRED_ATTRIBUTE_REMOVED", "required", name)
        elif has_default(schema):
            found.add("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "required", name)
        else:
            found.add("REQUIRED_ATTRIBUTE_ADDED", "required", name)


def has_default(schema: Schema) -> bool:
    """A reference has none: neither its target's nor one written beside it."""
    return schema.default is not ABSENT and schema.kind != "reference"


def described_by_writer(reader: Object, writer: Object, found: Outcome, check: Check) -> Walk:
    """What the reader describes too is compared; the rest its model must let through."""
    is_open = is_open_model(reader)
    for name, schema in writer.properties.items():
        read = reader.properties.get(name)
        if read is not None:
            found.take((yield read, schema), "properties", name)
            continue
        check.spend(1)
        if is_open:
            found.add("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", "properties", name)
        elif (covering := covering_schema(reader, name, check)) is not None:
            found.cover(PROPERTY_REMOVED, (yield covering, schema), "properties", name)
        elif isinstance(schema, Nothing):
            found.add("PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", "properties", name)
        else:
            found.add("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "properties", name)


def described_by_reader(reader: Object, writer: Object, found: Outcome, check: Check) -> Walk:
    """What it alone describes: what may the writer's model have let through under that name?"""
    is_open = is_open_model(writer)
    for name, schema in reader.properties.items():
        if name in writer.properties:
            continue
        check.spend(1)
        if is_open and isinstance(schema, Anything):
            found.add("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", "properties", name)
        elif is_open:
            found.add(added_kinds(reader, name).to_open, "properties", name)
        else:
            covering = covering_schema(writer, name, check)
            if covering is not None:
                found.cover(PROPERTY_ADDED, (yield schema, covering), "properties", name)
            found.add(added_kinds(reader, name).to_unopen, "properties", name)


def added_kinds(reader: Object, name: str) -> Added:
    if name not in reader.required:
        return OPTIONAL
    return REQUIRED_WITH_DEFAULT if has_default(reader.properties[name]) else REQUIRED


def is_open_model(schema: Object) -> bool:
    return not schema.pattern_properties and lets_all_through(schema)


def covering_schema(schema: Object, name: str, check: Check) -> Schema | None:
    """The schema for a name that has no property of its own; None in a model that is closed for it."""
    for pattern, covering in schema.pattern_properties.items():
        if check.patterns.found(pattern, name):
            return covering
    return rest_schema(schema)


def dependencies(reader: Object, writer: Object, found: Outcome, check: Check) -> Walk:
    begin = len(found.found)
    for name in {**writer.needed_by, **reader.needed_by}:
        read, written = reader.needed_by.get(name), writer.needed_by.get(name)
        check.spend(2 + (len(read or ()) + len(written or ())) // PER_STEP)
        change = of_needed(read, written)
        if change is not None:
            found.add(change, "dependencies", name)
    found.order(begin, writer.needed_by, reader.needed_by)
    begin = len(found.found)
    for name in {**writer.needed_schemas, **reader.needed_schemas}:
        check.spend(1)
        demanded, given = reader.needed_schemas.get(name), writer.needed_schemas.get(name)
        if given is None:
            found.add("DEPENDENCY_SCHEMA_ADDED", "dependencies", name)
        elif demanded is None:
            found.add("DEPENDENCY_SCHEMA_REMOVED", "dependencies", name)
        else:
            found.take((yield demanded, given), "dependencies", name)
    found.order(begin, writer.needed_schemas, reader.needed_schemas)


def of_needed(reader: frozenset[str] | None, writer: frozenset[str] | None) -> str | None:
    if reader == writer:
        return None
    if writer is None:
        return "DEPENDENCY_ARRAY_ADDED"
    if reader is None:
        return "DEPENDENCY_ARRAY_REMOVED"
    if reader > writer:
        return "DEPENDENCY_ARRAY_EXTENDED"
    return "DEPENDENCY_ARRAY_NARROWED" if reader < writer else "DEPENDENCY_ARRAY_CHANGED"
