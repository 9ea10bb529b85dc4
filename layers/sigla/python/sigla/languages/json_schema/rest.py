"""What holds for the properties or items that nothing names: additional… and unevaluated… (C.7.3, C.7.4).

The tests for `true`, `{}` and `false` look at the node itself, not through a reference.
"""

from typing import Final

from sigla.languages.json_schema.nodes import Anything, Array, Nothing, Object, Schema
from sigla.languages.json_schema.outcome import Outcome, Walk


def lets_all_through(schema: Object | Array) -> bool:
    """Whether whatever nothing names may be there and be anything, as far as additional… and unevaluated… say."""
    permits_all = schema.unevaluated is None or isinstance(schema.unevaluated, Anything)
    return schema.additional and schema.additional_schema is None and permits_all


def rest_schema(schema: Object | Array) -> Schema | None:
    """What must hold for whatever nothing names, where a schema says so; None where it may be anything, or not be."""
    if schema.additional_schema is not None or not schema.additional:
        return schema.additional_schema
    return None if isinstance(schema.unevaluated, Anything | Nothing) else schema.unevaluated


def additional(reader: Object | Array, writer: Object | Array, found: Outcome, kinds: str, keyword: str) -> Walk:
    if reader.additional != writer.additional:
        found.add(f"{kinds}_ADDED" if reader.additional else f"{kinds}_REMOVED", keyword)
    elif reader.additional_schema is None:
        if writer.additional_schema is not None:
            found.add(f"{kinds}_EXTENDED", keyword)
    elif writer.additional_schema is None:
        found.add(f"{kinds}_NARROWED", keyword)
    else:
        found.take((yield reader.additional_schema, writer.additional_schema), keyword)


ABSENT: Final = "absent"
FALSE: Final = "false"
TRUE: Final = "true"
SCHEMA: Final = "schema"
UNEVALUATED: Final = {
    (ABSENT, FALSE): "REMOVED",
    (ABSENT, TRUE): "NARROWED",
    (ABSENT, SCHEMA): "NARROWED",
    (FALSE, ABSENT): "ADDED",
    (FALSE, TRUE): "ADDED",
    (FALSE, SCHEMA): "ADDED",
    (TRUE, ABSENT): "EXTENDED",
    (TRUE, FALSE): "REMOVED",
    (TRUE, SCHEMA): "NARROWED",
    (SCHEMA, ABSENT): "EXTENDED",
    (SCHEMA, FALSE): "REMOVED",
    (SCHEMA, TRUE): "EXTENDED",
}
"""What the writer says, what the reader says: what that is. Where both say the same it is nothing."""


def unevaluated(reader: Object | Array, writer: Object | Array, found: Outcome, kinds: str, keyword: str) -> Walk:
    if reader.unevaluated is None and writer.unevaluated is None:
        return
    change = UNEVALUATED.get((says(writer.unevaluated), says(reader.unevaluated)))
    if change is not None:
        found.add(f"{kinds}_{change}", keyword)
    elif reader.unevaluated is not None and writer.unevaluated is not None:
        found.take((yield reader.unevaluated, writer.unevaluated), keyword)


def says(schema: Schema | None) -> str:
    if schema is None:
        return ABSENT
    if isinstance(schema, Nothing):
        return FALSE
    return TRUE if isinstance(schema, Anything) else SCHEMA
