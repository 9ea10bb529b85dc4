"""The sentences of the differences, from kind to template (contract A.4). Facts are inserted literally, `%` and all.

Only differences that matter reach a client, but each kind has its sentence: which of them matter is for `rules` to say.
"""

from typing import Final

from sigla.model import Finding

SENTENCES: Final = {
    "PACKAGE_CHANGED": "The package of the {reader} schema at '{path}' is not that of the {writer} schema",
    "MESSAGE_REMOVED": "The {reader} schema lacks the message at '{path}' that the {writer} schema has",
    "MESSAGE_ADDED": "The {reader} schema has a message at '{path}' that the {writer} schema lacks",
    "MESSAGE_MOVED": "The message at '{path}' has another index in the {reader} schema than in the {writer} schema",
    "ENUM_REMOVED": "The {reader} schema lacks the enum at '{path}' that the {writer} schema has",
    "ENUM_ADDED": "The {reader} schema has an enum at '{path}' that the {writer} schema lacks",
    "ENUM_CONST_REMOVED": "The {reader} schema lacks the enum constant at '{path}' that the {writer} schema has",
    "ENUM_CONST_ADDED": "The {reader} schema has an enum constant at '{path}' that the {writer} schema lacks",
    "ENUM_CONST_CHANGED": (
        "The enum constant at '{path}' has another name in the {reader} schema than in the {writer} schema"
    ),
    "MULTIPLE_FIELDS_MOVED_TO_ONEOF": (
        "The oneof at '{path}' in the {reader} schema holds several fields that could be set together "
        "in the {writer} schema"
    ),
    "FIELD_MOVED_TO_EXISTING_ONEOF": (
        "The oneof at '{path}' in the {reader} schema holds a field that stood outside of it in the {writer} schema"
    ),
    "ONEOF_REMOVED": "The {reader} schema lacks the oneof at '{path}' that the {writer} schema has",
    "ONEOF_ADDED": "The {reader} schema has a oneof at '{path}' that the {writer} schema lacks",
    "ONEOF_FIELD_REMOVED": (
        "The {reader} schema lacks the field at '{path}' that belongs to a oneof in the {writer} schema"
    ),
    "ONEOF_FIELD_ADDED": "The {reader} schema has a field at '{path}' in a oneof that the {writer} schema lacks",
    "ONEOF_FIELD_MOVED_TO_TOP_LEVEL": (
        "The field at '{path}' in the {reader} schema belongs to a oneof in the {writer} schema"
    ),
    "REQUIRED_FIELD_REMOVED": "The {reader} schema lacks the required field at '{path}' that the {writer} schema has",
    "REQUIRED_FIELD_ADDED": "The {reader} schema has a required field at '{path}' that the {writer} schema lacks",
    "FIELD_REMOVED": "The {reader} schema lacks the field at '{path}' that the {writer} schema has",
    "FIELD_ADDED": "The {reader} schema has a field at '{path}' that the {writer} schema lacks",
    "FIELD_NAME_CHANGED": "The field at '{path}' has another name in the {reader} schema than in the {writer} schema",
    "FIELD_KIND_CHANGED": (
        "The field at '{path}' in the {reader} schema is of another kind (scalar, map or message) "
        "than in the {writer} schema"
    ),
    "FIELD_SCALAR_KIND_CHANGED": (
        "The scalar type of the field at '{path}' in the {reader} schema is not encoded as that of the {writer} schema"
    ),
    "FIELD_NUMERIC_LABEL_CHANGED": (
        "The label of the numeric field at '{path}' in the {reader} schema is not that of the {writer} schema"
    ),
    "FIELD_STRING_OR_BYTES_LABEL_CHANGED": (
        "The label of the string or bytes field at '{path}' in the {reader} schema is not that of the {writer} schema"
    ),
    "FIELD_NAMED_TYPE_CHANGED": (
        "The message type of the field at '{path}' in the {reader} schema does not match that of the {writer} schema"
    ),
}


def sentence(finding: Finding, reader: str, writer: str) -> str:
    """The message of a finding; reader and writer are `new` or `old`."""
    text = SENTENCES[finding.rule].format(path=finding.path, reader=reader, writer=writer)
    return f'{{errorType:"{finding.rule}", description:"{text}"}}'
