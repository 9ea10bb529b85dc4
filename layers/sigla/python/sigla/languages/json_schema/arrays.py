"""Arrays: one schema for all items, or one for each position and a rest (C.7.4)."""

from itertools import zip_longest

from sigla.languages.json_schema.nodes import Anything, Array, Nothing, Schema
from sigla.languages.json_schema.outcome import Check, Outcome, Walk
from sigla.languages.json_schema.rest import additional, lets_all_through, rest_schema, unevaluated
from sigla.languages.json_schema.scalars import limit


def arrays(reader: Array, writer: Array, found: Outcome, _: Check) -> Walk:
    yield from items(reader.items, writer.items, found)
    yield from positions(reader, writer, found)
    yield from additional(reader, writer, found, "ADDITIONAL_ITEMS", "additionalItems")
    yield from unevaluated(reader, writer, found, "UNEVALUATED_ITEMS", "unevaluatedItems")
    limit(found, "MAX_ITEMS", "maxItems", reader.max_items, writer.max_items)
    limit(found, "MIN_ITEMS", "minItems", reader.min_items, writer.min_items)
    if reader.unique != writer.unique:
        found.add("UNIQUE_ITEMS_ADDED" if reader.unique else "UNIQUE_ITEMS_REMOVED", "uniqueItems")
    limit(found, "MAX_CONTAINS", "maxContains", reader.max_contains, writer.max_contains)
    limit(found, "MIN_CONTAINS", "minContains", reader.min_contains, writer.min_contains)


def items(reader: Schema | None, writer: Schema | None, found: Outcome) -> Walk:
    """Step 1 of C.6: the one place where a schema may simply be missing on one side."""
    if reader is not None and writer is not None:
        found.take((yield reader, writer), "items")
    elif reader is not None:
        found.add("SCHEMA_ADDED", "items")
    elif writer is not None:
        found.add("SCHEMA_REMOVED", "items")


def positions(reader: Array, writer: Array, found: Outcome) -> Walk:
    for index, (read, written) in enumerate(zip_longest(reader.positions or (), writer.positions or ())):
        at = ("items", str(index))
        if written is None:
            yield from added(writer, read, found, at)
        elif read is None:
            yield from removed(reader, written, found, at)
        else:
            found.take((yield read, written), *at)


def removed(reader: Array, written: Schema, found: Outcome, at: tuple[str, str]) -> Walk:
    """A position that the reader does not describe."""
    if lets_all_through(reader):
        found.add("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL", *at)
    elif (rest := rest_schema(reader)) is not None:
        found.cover("ITEM_REMOVED", (yield rest, written), *at)
    elif isinstance(written, Nothing):
        found.add("ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", *at)
    else:
        found.add("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", *at)


def added(writer: Array, read: Schema, found: Outcome, at: tuple[str, str]) -> Walk:
    """A position that the reader alone describes."""
    if lets_all_through(writer):
        kind = "ITEM_WITH_EMPTY_SCHEMA_ADDED" if isinstance(read, Anything) else "ITEM_ADDED"
        found.add(f"{kind}_TO_OPEN_CONTENT_MODEL", *at)
    elif (rest := rest_schema(writer)) is not None:
        found.cover("ITEM_ADDED", (yield read, rest), *at)
    else:
        found.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", *at)
