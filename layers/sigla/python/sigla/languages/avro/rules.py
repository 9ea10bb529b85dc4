"""The rules of the checker: what hinders a reader, and where that is written down.

A judge returns the detail of what it found, or None. `compare` walks the pairs and asks the judges.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sigla.languages.avro.resolution import READABLE, same_name, same_size, unknown_symbols
from sigla.languages.avro.tree import ABSENT, Definition, Enum, Field, Fixed, Type


@dataclass(frozen=True, slots=True)
class Rule:
    """id: what messages call it. suffix: where in the type it is found. judge: of what it needs to see."""

    id: str
    suffix: str
    judge: Callable[..., str | None]
    source: str


def type_mismatch(reader: Type, writer: Type) -> str | None:
    """Two types that are no unions must be of one kind, or promotable. Logical types are not looked at."""
    if reader.kind == writer.kind or reader.kind in READABLE[writer.kind]:
        return None
    return f"reader type: {reader.kind.upper()} not compatible with writer type: {writer.kind.upper()}"


def name_mismatch(reader: Definition, writer: Definition) -> str | None:
    """The unqualified names are equal, or an alias of the reader is the full name of the writer."""
    return None if same_name(writer, reader) else f"expected: {writer.full}"


def missing_enum_symbols(reader: Enum, writer: Enum) -> str | None:
    """Each symbol of the writer is one of the reader, or the reader has a default for those it does not know."""
    missing = unknown_symbols(writer, reader)
    return f"[{', '.join(sorted(missing))}]" if missing else None


def fixed_size_mismatch(reader: Fixed, writer: Fixed) -> str | None:
    return None if same_size(writer, reader) else f"expected: {writer.size}, found: {reader.size}"


def missing_union_branch(writer: Type) -> str:
    """Asked once no branch of the reader can read the writer's type."""
    return f"reader union lacking writer type: {writer.kind.upper()}"


def missing_default(field: Field) -> str | None:
    """Asked of a reader's field that the writer lacks. Whether it has a default counts, not which."""
    return field.name if field.default is ABSENT else None


def enum_default_only(field: Field) -> str | None:
    """An enum's own default does not stand in for the field's, but changes how its absence is reported."""
    if field.default is ABSENT and isinstance(field.type, Enum) and field.type.default is not None:
        return "reader type: ENUM not compatible with writer type: RECORD"
    return None


TYPE: Final = Rule("TYPE_MISMATCH", "", type_mismatch, "Avro specification, Schema Resolution; contract B.3.1")
NAME: Final = Rule("NAME_MISMATCH", "/name", name_mismatch, "Avro specification, Aliases; contract AR-N1, AR-N2")
SYMBOLS: Final = Rule(
    "MISSING_ENUM_SYMBOLS", "/symbols", missing_enum_symbols, "Avro specification, Schema Resolution: enums; AR-E1"
)
SIZE: Final = Rule("FIXED_SIZE_MISMATCH", "/size", fixed_size_mismatch, "Avro specification, Schema Resolution; AR-F1")
BRANCH: Final = Rule(
    "MISSING_UNION_BRANCH", "", missing_union_branch, "Avro specification, Schema Resolution: unions; AR-U1, AR-U3"
)
DEFAULT: Final = Rule(
    "READER_FIELD_MISSING_DEFAULT_VALUE", "", missing_default, "Avro specification, Schema Resolution: records; AR-R2"
)
ENUM_DEFAULT: Final = Rule("TYPE_MISMATCH", "/type", enum_default_only, "contract AR-R3")

RULES: Final = (TYPE, NAME, SYMBOLS, SIZE, BRANCH, DEFAULT, ENUM_DEFAULT)
OF_DEFINITIONS: Final[dict[Any, tuple[Rule, ...]]] = {
    "record": (NAME,),
    "enum": (NAME, SYMBOLS),
    "fixed": (NAME, SIZE),
}
"""What is asked of two definitions of one kind, in the order in which it is reported."""
OF_MISSING_FIELDS: Final = (ENUM_DEFAULT, DEFAULT)
"""What is asked of a field that the writer lacks; the first finding is the only one."""
