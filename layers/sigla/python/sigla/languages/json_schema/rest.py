"""What holds for the properties or items that nothing names: additional… and unevaluated… (C.7.3, C.7.4).

The tests for `true`, `{}` and `false` look at the node itself, not through a reference.
"""

from operator import attrgetter
from typing import Final, NamedTuple

from sigla.languages.json_schema.nodes import Anything, Array, Nothing, Object, Schema
from sigla.languages.json_schema.outcome import Outcome, Walk


class Rest(NamedTuple):
    """A keyword about what nothing names, and the kinds of its differences."""

    keyword: str
    added: str
    removed: str
    narrowed: str
    extended: str


def lets_all_through(schema: Object | Array) -> bool:
    """Whether whatever nothing names may be there and be anything, as far as additional… and unevaluated… say."""
    permits_all = schema.unevaluated is None or isinstance(schema.unevaluated, Anything)
    return schema.additional and schema.additional_schema is None and permits_all


def rest_schema(schema: Object | Array) -> Schema | None:
    """What must hold for whatever nothing names, where a schema says so; None where it may be anything, or not be."""
    if schema.additional_schema is not None or not schema.additional:
        return schema.additional_schema
    return None if isinstance(schema.unevaluated, Anything | Nothing) else schema.unevaluated


def additional(reader: Object | Array, writer: Object | Array, found: Outcome, rest: Rest) -> Walk:
    if reader.additional != writer.additional:
        found.add(rest.added if reader.additional else rest.removed, rest.keyword)
    elif reader.additional_schema is None:
        if writer.additional_schema is not None:
            found.add(rest.extended, rest.keyword)
    elif writer.additional_schema is None:
        found.add(rest.narrowed, rest.keyword)
    else:
        found.take((yield reader.additional_schema, writer.additional_schema), rest.keyword)


_ADDED, _REMOVED, _NARROWED, _EXTENDED = map(attrgetter, ("added", "removed", "narrowed", "extended"))
ABSENT: Final = "absent"
FALSE: Final = "false"
TRUE: Final = "true"
SCHEMA: Final = "schema"
UNEVALUATED: Final = {
    (ABSENT, FALSE): _REMOVED,
    (ABSENT, TRUE): _NARROWED,
    (ABSENT, SCHEMA): _NARROWED,
    (FALSE, ABSENT): _ADDED,
    (FALSE, TRUE): _ADDED,
    (FALSE, SCHEMA): _ADDED,
    (TRUE, ABSENT): _EXTENDED,
    (TRUE, FALSE): _REMOVED,
    (TRUE, SCHEMA): _NARROWED,
    (SCHEMA, ABSENT): _EXTENDED,
    (SCHEMA, FALSE): _REMOVED,
    (SCHEMA, TRUE): _EXTENDED,
}
"""What the writer says, what the reader says: what that is. Where both say the same it is nothing."""


def unevaluated(reader: Object | Array, writer: Object | Array, found: Outcome, rest: Rest) -> Walk:
    if reader.unevaluated is None and writer.unevaluated is None:
        return
    change = UNEVALUATED.get((says(writer.unevaluated), says(reader.unevaluated)))
    if change is not None:
        found.add(change(rest), rest.keyword)
    elif reader.unevaluated is not None and writer.unevaluated is not None:
        found.take((yield reader.unevaluated, writer.unevaluated), rest.keyword)


def says(schema: Schema | None) -> str:
    if schema is None:
        return ABSENT
    if isinstance(schema, Nothing):
        return FALSE
    return TRUE if isinstance(schema, Anything) else SCHEMA
