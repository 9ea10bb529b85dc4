"""What a reader of records needs of a schema, from bodies alone."""

from collections.abc import Callable

from sigla.decoding.decoder import Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.errors import BodyLost, Malformed
from sigla.model import Body, BodyKey
from sigla.rules import references


def source(body: Body, body_of: Callable[[BodyKey], Body]) -> Source:
    """A body with the texts that it references, directly and indirectly.

    body_of: as `Bodies.get`. Raises Unreadable where they cannot be had: an import may bring references to nothing.
    """
    schema = body.schema
    if len(schema.references) != len(body.targets):
        raise Unreadable(Reason.BAD_SCHEMA, "it references schemas that were not there when it was imported")
    try:
        used = references.resolve(schema.references, body.targets, body_of)
    except (Malformed, BodyLost, ValueError) as problem:
        raise Unreadable(Reason.BAD_SCHEMA, f"its references cannot be read: {problem}") from problem
    return Source(schema.type, schema.text, used, body.compiled)
