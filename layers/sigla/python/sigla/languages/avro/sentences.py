"""The sentences of the findings, from kind to template (contract B.3.4). Facts are inserted literally, `%` and all."""

from typing import Final

from sigla.model import Finding

SENTENCES: Final = {
    "FIXED_SIZE_MISMATCH": (
        "The size of FIXED type field at path '{path}' in the {reader} schema does not match with the {writer} schema"
    ),
    "TYPE_MISMATCH": (
        "The type (path '{path}') of a field in the {reader} schema does not match with the {writer} schema"
    ),
    "NAME_MISMATCH": "The name of the schema has changed (path '{path}')",
    "MISSING_ENUM_SYMBOLS": (
        "The {reader} schema is missing enum symbols '{detail}' at path '{path}' in the {writer} schema"
    ),
    "MISSING_UNION_BRANCH": (
        "The {reader} schema is missing a type inside a union field at path '{path}' in the {writer} schema"
    ),
    "READER_FIELD_MISSING_DEFAULT_VALUE": (
        "The field '{detail}' at path '{path}' in the {reader} schema has no default value "
        "and is missing in the {writer} schema"
    ),
}


def sentence(finding: Finding, reader: str, writer: str) -> str:
    """The message of a finding; reader and writer are `new` or `old`."""
    text = SENTENCES[finding.rule].format(path=finding.path, detail=finding.detail, reader=reader, writer=writer)
    return f"{{errorType:'{finding.rule}', description:'{text}', additionalInfo:'{finding.detail}'}}"
