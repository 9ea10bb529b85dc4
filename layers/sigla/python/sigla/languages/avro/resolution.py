"""What a reader takes from what a writer wrote, fact by fact (Avro specification, Schema Resolution).

The check asks these questions to list what hinders a reader (`compare`), the decoder to make a plan for it
(`sigla.decoding.avro_plan`). Where both must answer otherwise for compatibility's sake, docs/compatibility.md says so.
"""

from typing import Final

from sigla.languages.avro.tree import KEYWORDS, Enum, Field, Fixed, Named, Record

PROMOTIONS: Final = frozenset(
    {
        ("int", "long"),
        ("int", "float"),
        ("int", "double"),
        ("long", "float"),
        ("long", "double"),
        ("float", "double"),
        ("string", "bytes"),
        ("bytes", "string"),
    }
)
"""Writer's and reader's kind, where the reader takes another kind than its own."""

_INSIDE: Final = frozenset(("record", "enum", "fixed", "array", "map", "union"))
READABLE: Final = {
    writer: frozenset(
        reader
        for reader in KEYWORDS - _INSIDE
        if writer not in _INSIDE and (writer == reader or (writer, reader) in PROMOTIONS)
    )
    for writer in KEYWORDS
}
"""As which kinds a writer's kind can be read, where the kinds alone tell. Others need a look at what is inside."""


def same_name(writer: Named, reader: Named) -> bool:
    """Their unqualified names are equal, or an alias of the reader is the full name of the writer (AR-N1, AR-N2)."""
    return writer.name == reader.name or writer.full in reader.aliases


def same_size(writer: Fixed, reader: Fixed) -> bool:
    return writer.size == reader.size


def unknown_symbols(writer: Enum, reader: Enum) -> frozenset[str]:
    """The writer's symbols that the reader does not know, and has no default for (AR-E1)."""
    return frozenset() if reader.default is not None else frozenset(writer.symbols).difference(reader.symbols)


def candidates(writer: Record, field: Field) -> list[Field]:
    """The writer's fields that a field of the reader may be read from: of its name, then of its aliases in order."""
    return [writer.by_name[name] for name in (field.name, *field.aliases) if name in writer.by_name]
