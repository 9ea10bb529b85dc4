"""allOf, anyOf, oneOf, and `not`: schemas made of schemas (C.6, steps 4 and 5; C.7.2; C.7.5).

A sum (anyOf, oneOf) may gain members but not lose them; a product (allOf) may lose members but not gain them.
"""

from collections.abc import Generator
from typing import Final

from sigla.languages.json_schema.matching import NOBODY, maximum
from sigla.languages.json_schema.nodes import Combined, Not, Schema
from sigla.languages.json_schema.outcome import Check, Outcome, Walk

ALL: Final = "allOf"
ANY: Final = "anyOf"
ONE: Final = "oneOf"


def member_of_reader(
    reader: Combined, writer: Schema, found: Outcome
) -> Generator[tuple[Schema, Schema], Outcome, bool]:
    """Whether the only member, or some member of a sum, reads what the writer wrote; if so, its differences."""
    if len(reader.members) > 1 and reader.criterion == ALL:
        return False
    for member in reader.members:
        outcome = yield member, writer
        if outcome.compatible:
            found.take(outcome)
            if len(reader.members) > 1:
                found.add("SUM_TYPE_EXTENDED")
            return True
    return False


def member_of_writer(
    reader: Schema, writer: Combined, found: Outcome
) -> Generator[tuple[Schema, Schema], Outcome, bool]:
    """Whether the reader reads what the only member, or some member of a product, lets through."""
    if len(writer.members) > 1 and writer.criterion != ALL:
        return False
    for member in writer.members:
        outcome = yield reader, member
        if outcome.compatible:
            found.take(outcome)
            if len(writer.members) > 1:
                found.add("PRODUCT_TYPE_NARROWED")
            return True
    return False


def combined(reader: Combined, writer: Combined, found: Outcome, check: Check) -> Walk:
    """Members are paired off.

    What was found in a pair is harmless, or the two would not be a pair: nothing that counts is lost where pairing is
    given up.
    """
    if reader.criterion != writer.criterion:
        if not may_become(reader, writer):
            found.add("COMBINED_TYPE_CHANGED")
            return
        found.add("COMBINED_TYPE_EXTENDED")
    readers, writers = check.contents.distinct(reader.members), check.contents.distinct(writer.members)
    if len(writers) < len(readers):
        found.add("PRODUCT_TYPE_EXTENDED" if reader.criterion == ALL else "SUM_TYPE_EXTENDED")
    elif len(writers) > len(readers):
        found.add("PRODUCT_TYPE_NARROWED" if writer.criterion == ALL else "SUM_TYPE_NARROWED")

    def is_readable(written: int, read: int) -> Generator[tuple[Schema, Schema], Outcome, bool]:
        outcome = yield readers[read], writers[written]
        return outcome.compatible

    of_readers, of_writers = check.contents.hints(readers, writers)
    index = {hint: read for read, hint in enumerate(of_readers)}
    likely = {written: index.get(hint, NOBODY) for written, hint in enumerate(of_writers)}
    pairs = yield from maximum(len(writers), len(readers), likely, is_readable)
    for written, read in sorted(pairs.items()):
        found.take((yield readers[read], writers[written]), writer.criterion, str(written))
    if len(pairs) < min(len(writers), len(readers)):
        found.add("COMBINED_TYPE_SUBSCHEMAS_CHANGED")


def may_become(reader: Combined, writer: Combined) -> bool:
    """Whether the reader's criterion, another one, lets through all that the writer's does."""
    one_each = len(reader.members) == len(writer.members) == 1
    one_written = len(writer.members) == 1 and reader.criterion == ONE
    one_read = len(reader.members) == 1 and writer.criterion == ALL
    return reader.criterion == ANY or one_each or one_written or one_read


def negations(reader: Not, writer: Not, found: Outcome, _: Check) -> Walk:
    """The other way round: what the writer ruled out must be able to read what the reader rules out."""
    outcome = yield writer.schema, reader.schema
    found.add("NOT_TYPE_NARROWED" if outcome.compatible else "NOT_TYPE_EXTENDED", "not")
