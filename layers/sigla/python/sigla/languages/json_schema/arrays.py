"""Arrays: one schema for all items, or one for each position and a rest (C.7.4)."""

from itertools import zip_longest
from typing import Final

from sigla.languages.json_schema.nodes import Anything, Array, Nothing, Schema
from sigla.languages.json_schema.outcome import Check, Covered, Outcome, Walk
from sigla.languages.json_schema.rest import Rest, additional, lets_all_through, rest_schema, unevaluated
from sigla.languages.json_schema.scalars import Limit, compare_limits

ITEM_REMOVED: Final = Covered(
    "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
)
ITEM_ADDED: Final = Covered(
    "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL",
)
ADDITIONAL_ITEMS: Final = Rest(
    "additionalItems",
    "ADDITIONAL_ITEMS_ADDED",
    "ADDITIONAL_ITEMS_REMOVED",
    "ADDITIONAL_ITEMS_NARROWED",
    "ADDITIONAL_ITEMS_EXTENDED",
)
UNEVALUATED_ITEMS: Final = Rest(
    "unevaluatedItems",
    "UNEVALUATED_ITEMS_ADDED",
    "UNEVALUATED_ITEMS_REMOVED",
    "UNEVALUATED_ITEMS_NARROWED",
    "UNEVALUATED_ITEMS_EXTENDED",
)
MAX_ITEMS: Final = Limit(
    "maxItems", "MAX_ITEMS_ADDED", "MAX_ITEMS_REMOVED", "MAX_ITEMS_INCREASED", "MAX_ITEMS_DECREASED"
)
MIN_ITEMS: Final = Limit(
    "minItems", "MIN_ITEMS_ADDED", "MIN_ITEMS_REMOVED", "MIN_ITEMS_INCREASED", "MIN_ITEMS_DECREASED"
)
MAX_CONTAINS: Final = Limit(
    "maxContains", "MAX_CONTAINS_ADDED", "MAX_CONTAINS_REMOVED", "MAX_CONTAINS_INCREASED", "MAX_CONTAINS_DECREASED"
)
MIN_CONTAINS: Final = Limit(
    "minContains", "MIN_CONTAINS_ADDED", "MIN_CONTAINS_REMOVED", "MIN_CONTAINS_INCREASED", "MIN_CONTAINS_DECREASED"
)


def arrays(reader: Array, writer: Array, found: Outcome, _: Check) -> Walk:
    yield from items(reader.items, writer.items, found)
    yield from positions(reader, writer, found)
    yield from additional(reader, writer, found, ADDITIONAL_ITEMS)
    yield from unevaluated(reader, writer, found, UNEVALUATED_ITEMS)
    compare_limits(found, MAX_ITEMS, reader.max_items, writer.max_items)
    compare_limits(found, MIN_ITEMS, reader.min_items, writer.min_items)
    if reader.unique != writer.unique:
        found.add("UNIQUE_ITEMS_ADDED" if reader.unique else "UNIQUE_ITEMS_REMOVED", "uniqueItems")
    compare_limits(found, MAX_CONTAINS, reader.max_contains, writer.max_contains)
    compare_limits(found, MIN_CONTAINS, reader.min_contains, writer.min_contains)


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
        found.cover(ITEM_REMOVED, (yield rest, written), *at)
    elif isinstance(written, Nothing):
        found.add("ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", *at)
    else:
        found.add("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", *at)


def added(writer: Array, read: Schema, found: Outcome, at: tuple[str, str]) -> Walk:
    """A position that the reader alone describes."""
    if lets_all_through(writer):
        is_empty = isinstance(read, Anything)
        found.add(
            "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL" if is_empty else "ITEM_ADDED_TO_OPEN_CONTENT_MODEL",
            *at,
        )
    elif (rest := rest_schema(writer)) is not None:
        found.cover(ITEM_ADDED, (yield read, rest), *at)
    else:
        found.add("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", *at)
