"""The rules of the checker: what hinders a reader, and where that is written down.

A judge returns the detail of what it found, or None. `compare` walks the pairs and asks the judges.
"""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from sigla.languages.avro.resolution import READABLE, same_name, same_size, unknown_symbols
from sigla.languages.avro.tree import ABSENT, Definition, Enum, Field, Fixed, Type
from sigla.languages.language import Rule


@dataclass(frozen=True, slots=True)
class Judged:
    """A rule with what finds it. suffix: where in the type it is found. judge: of what it needs to see."""

    rule: Rule
    suffix: str
    judge: Callable[..., str | None]


def type_mismatch(reader: Type, writer: Type) -> str | None:
    """Two types other than unions must be of one kind, or promotable. Logical types are not looked at."""
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


_RESOLUTION: Final = "Avro specification, Schema Resolution"
TYPE_MISMATCH: Final = Rule("TYPE_MISMATCH", f"{_RESOLUTION}; contract B.3.1, AR-R3")
NAME_MISMATCH: Final = Rule("NAME_MISMATCH", "Avro specification, Aliases; contract AR-N1, AR-N2")
MISSING_ENUM_SYMBOLS: Final = Rule("MISSING_ENUM_SYMBOLS", f"{_RESOLUTION}: enums; AR-E1")
FIXED_SIZE_MISMATCH: Final = Rule("FIXED_SIZE_MISMATCH", f"{_RESOLUTION}; AR-F1")
MISSING_UNION_BRANCH: Final = Rule("MISSING_UNION_BRANCH", f"{_RESOLUTION}: unions; AR-U1, AR-U3")
READER_FIELD_MISSING_DEFAULT_VALUE: Final = Rule("READER_FIELD_MISSING_DEFAULT_VALUE", f"{_RESOLUTION}: records; AR-R2")
RULES: Final = (
    TYPE_MISMATCH,
    NAME_MISMATCH,
    MISSING_ENUM_SYMBOLS,
    FIXED_SIZE_MISMATCH,
    MISSING_UNION_BRANCH,
    READER_FIELD_MISSING_DEFAULT_VALUE,
)

TYPE: Final = Judged(TYPE_MISMATCH, "", type_mismatch)
NAME: Final = Judged(NAME_MISMATCH, "/name", name_mismatch)
SYMBOLS: Final = Judged(MISSING_ENUM_SYMBOLS, "/symbols", missing_enum_symbols)
SIZE: Final = Judged(FIXED_SIZE_MISMATCH, "/size", fixed_size_mismatch)
BRANCH: Final = Judged(MISSING_UNION_BRANCH, "", missing_union_branch)
DEFAULT: Final = Judged(READER_FIELD_MISSING_DEFAULT_VALUE, "", missing_default)
ENUM_DEFAULT: Final = Judged(TYPE_MISMATCH, "/type", enum_default_only)

OF_DEFINITIONS: Final[dict[Any, tuple[Judged, ...]]] = {
    "record": (NAME,),
    "enum": (NAME, SYMBOLS),
    "fixed": (NAME, SIZE),
}
"""What is asked of two definitions of one kind, in the order in which it is reported."""
OF_MISSING_FIELDS: Final = (ENUM_DEFAULT, DEFAULT)
"""What is asked of a field that the writer lacks; the first finding is the only one."""
