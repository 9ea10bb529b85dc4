"""Avro payloads → values, by the schema that wrote them and resolved to the one they are wanted in.

What is stricter here than in most readers, because a record that was read by the wrong schema shows there first:
booleans are 0 or 1, ints have 32 bits, numbers at most ten bytes, lengths, branches and symbols are in range, texts are
UTF-8 (also of fields that the reader leaves out), and the value ends where the payload does.
"""

from typing import Final

from sigla.decoding import avro_walk
from sigla.decoding.avro_plan import plan
from sigla.decoding.decoder import Decode, Limits, Source, Unreadable
from sigla.decoding.reasons import Reason
from sigla.errors import Malformed
from sigla.languages.avro.parse import read
from sigla.languages.avro.tree import Record, Type

LANGUAGE: Final = "AVRO"
STANDARD: Final = Limits()


def decoder(
    writer: Source,
    reader: Source | None = None,
    *,
    indexes: tuple[int, ...] = (),  # noqa: ARG001 - only Protobuf has some; the signature is that of all languages
    limits: Limits = STANDARD,
) -> Decode:
    """What a payload comes to is told in `avro_walk`. Raises Unreadable."""
    written = understood(writer)
    return avro_walk.decode(plan(written, understood(reader) if reader else written), limits)


def record_name(source: Source, indexes: tuple[int, ...] = ()) -> str:  # noqa: ARG001 - as above
    """The full name of the record that the schema is. Raises Unreadable."""
    root = understood(source)
    if not isinstance(root, Record):
        raise Unreadable(Reason.BAD_SCHEMA, f"Only a record has a name; the schema is {root.kind}.")
    return root.full


def understood(source: Source) -> Type:
    """The type that the text defines, with those of its references in place. Raises Unreadable."""
    if source.type != LANGUAGE:
        raise Unreadable(Reason.TYPE_MISMATCH, f"The schema is {source.type} and not {LANGUAGE}.")
    try:
        return read(source.text, source.references, strict=False).root
    except Malformed as problem:
        raise Unreadable(Reason.BAD_SCHEMA, str(problem)) from None
