"""What would help against a finding: what to write in the new schema, for it alone can still be changed.

Which of two texts holds is a question of who reads: the new schema, or the earlier version.
"""

from collections.abc import Mapping
from typing import Final, NamedTuple

from sigla.model import Finding, Version
from sigla.rules.compatibility import Direction


class Remedy(NamedTuple):
    """new_reads: where the new schema cannot read data of the earlier version. old_reads: where it is the other way."""

    new_reads: str
    old_reads: str


_KEPT_TYPE: Final = Remedy(
    "Keep the type, or one that it can be read as: int as long, float or double; long as float or double; float as "
    "double; string and bytes as each other. Or add a field with another name and a default.",
    "Keep the type that version {version} has, or one that it can read as its own: int for long, float or double; long "
    "for float or double; float for double; string and bytes for each other.",
)
_KEPT_FIELD: Final = "Keep the type of the field as it is in version {version}, or add a field with another number."
_UNREQUIRED: Final = Remedy(
    "Do not require it, or give it a default.", "Keep it, and required: version {version} requires it."
)
_OPEN: Final = Remedy(
    "Version {version} allows additional properties, so its data may have anything under this name. If none has, set "
    "the subject's compatibilityPolicy to LENIENT.",
    "Keep it: in data of a schema that allows additional properties there may be anything under this name.",
)
_CLOSED: Final = Remedy(
    "Keep it, or allow additional ones.", "Leave it out: version {version} allows no additional ones."
)

AVRO: Final[Mapping[str, Remedy]] = {
    "TYPE_MISMATCH": _KEPT_TYPE,
    "NAME_MISMATCH": Remedy(
        "Keep the name, or add that of version {version} to the aliases.",
        "Keep the name: version {version} knows no other.",
    ),
    "MISSING_ENUM_SYMBOLS": Remedy(
        "Keep the symbols {detail}, or give the enum a default.",
        "Leave the symbols {detail} out: version {version} has no default for what it does not know.",
    ),
    "FIXED_SIZE_MISMATCH": Remedy(
        "Keep the size, or add a field with another name and a default.",
        "Keep the size that version {version} has.",
    ),
    "MISSING_UNION_BRANCH": Remedy(
        "Keep every type that the union has in version {version}.",
        "Add no type to the union: version {version} cannot read it.",
    ),
    "READER_FIELD_MISSING_DEFAULT_VALUE": Remedy(
        "Give the field {detail} a default.", "Keep the field {detail}: version {version} has no default for it."
    ),
}

PROTOBUF: Final[Mapping[str, Remedy]] = {
    "PACKAGE_CHANGED": Remedy("Keep the package.", "Keep the package."),
    "MESSAGE_REMOVED": Remedy("Keep the message.", "Leave the message out: version {version} does not know it."),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": Remedy(
        "Leave the fields outside of the oneof, or move one of them alone.", "Keep the fields in their oneof."
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": Remedy("Leave the field outside of the oneof.", "Keep the field in its oneof."),
    "ONEOF_FIELD_REMOVED": Remedy("Keep the field in its oneof.", "Add the field outside of the oneof."),
    "REQUIRED_FIELD_REMOVED": Remedy("Keep the field.", "Make the field optional."),
    "REQUIRED_FIELD_ADDED": Remedy("Make the field optional.", "Keep the field: version {version} requires it."),
    "FIELD_KIND_CHANGED": Remedy(_KEPT_FIELD, _KEPT_FIELD),
    "FIELD_SCALAR_KIND_CHANGED": Remedy(_KEPT_FIELD, _KEPT_FIELD),
    "FIELD_NUMERIC_LABEL_CHANGED": Remedy(_KEPT_FIELD, _KEPT_FIELD),
    "FIELD_NAMED_TYPE_CHANGED": Remedy(_KEPT_FIELD, _KEPT_FIELD),
}

JSON: Final[Mapping[str, Remedy]] = {
    "TYPE_CHANGED": Remedy(
        'Allow both types, as ["string", "integer"], or add another property.',
        "Keep the type that version {version} has.",
    ),
    "REQUIRED_ATTRIBUTE_ADDED": _UNREQUIRED,
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": _UNREQUIRED,
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": _OPEN,
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": _UNREQUIRED,
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": _CLOSED,
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": _CLOSED,
}

_ANY_JSON: Final = Remedy(
    "Allow there all that version {version} allows.", "Allow there only what version {version} allows."
)
"""What compatibility of JSON Schemas comes to: which documents are valid."""

OTHER_LANGUAGE: Final = "Write it in the language of version {version}, or register it for another subject."


def remedy(finding: Finding, direction: Direction, version: Version, language: str) -> str:
    """A sentence or two; empty for a difference that none is known for."""
    known = {"AVRO": AVRO, "PROTOBUF": PROTOBUF, "JSON": JSON}[language].get(finding.rule)
    found = known or (_ANY_JSON if language == "JSON" else None)
    if found is None:
        return ""
    text = found.new_reads if direction is Direction.NEW_READS_OLD else found.old_reads
    return text.format(version=version, detail=finding.detail)
