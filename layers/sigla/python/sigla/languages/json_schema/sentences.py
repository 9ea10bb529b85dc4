"""The sentences of the findings, from kind to template (contract A.4). Facts are inserted literally, `%` and all.

A difference is seen from the reader, the {reader} schema, which must read what the {writer} schema wrote.
"""

from collections.abc import Iterator, Mapping
from typing import Final

from sigla.model import Finding

LIMITS: Final = (
    "MAX_LENGTH",
    "MIN_LENGTH",
    "MAXIMUM",
    "MINIMUM",
    "EXCLUSIVE_MAXIMUM",
    "EXCLUSIVE_MINIMUM",
    "MAX_PROPERTIES",
    "MIN_PROPERTIES",
    "MAX_ITEMS",
    "MIN_ITEMS",
    "MAX_CONTAINS",
    "MIN_CONTAINS",
)
OF_LIMITS: Final = {
    "ADDED": "The {reader} schema sets a limit at path '{path}' where the {writer} schema sets none",
    "REMOVED": "The {writer} schema sets a limit at path '{path}' where the {reader} schema sets none",
    "INCREASED": "The limit at path '{path}' is higher in the {reader} schema than in the {writer} schema",
    "DECREASED": "The limit at path '{path}' is lower in the {reader} schema than in the {writer} schema",
}
RESTS: Final = ("ADDITIONAL_PROPERTIES", "UNEVALUATED_PROPERTIES", "ADDITIONAL_ITEMS", "UNEVALUATED_ITEMS")
OF_RESTS: Final = {
    "ADDED": "The {reader} schema permits at path '{path}' what the {writer} schema forbids",
    "REMOVED": "The {reader} schema forbids at path '{path}' what the {writer} schema permits",
    "NARROWED": "The {reader} schema demands more at path '{path}' than the {writer} schema does",
    "EXTENDED": "The {reader} schema demands less at path '{path}' than the {writer} schema does",
}
PLACES: Final = {"PROPERTY": "property", "ITEM": "item"}
OF_PLACES: Final = {
    "_REMOVED_FROM_OPEN_CONTENT_MODEL": (
        "The {reader} schema has an open content model and lacks the {place} at path '{path}' of the {writer} schema"
    ),
    "_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that covers the {place} at path '{path}' "
        "of the {writer} schema"
    ),
    "_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that does not cover the {place} at path '{path}' "
        "of the {writer} schema"
    ),
    "_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the {place} at path '{path}', "
        "which is false in the {writer} schema"
    ),
    "_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the {place} at path '{path}' of the {writer} schema"
    ),
    "_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the {place} at path '{path}', "
        "which may be anything in the {reader} schema"
    ),
    "_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is covered by the {place} at path '{path}' "
        "of the {reader} schema"
    ),
    "_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is not covered by the {place} at path '{path}' "
        "of the {reader} schema"
    ),
}
NEEDS: Final = {
    "OPTIONAL_PROPERTY": "the optional property at path '{path}'",
    "REQUIRED_PROPERTY_WITH_DEFAULT": "the required property with a default at path '{path}'",
    "REQUIRED_PROPERTY": "the required property without a default at path '{path}'",
}
OF_NEEDS: Final = {
    "_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks {need} of the {reader} schema"
    ),
    "_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        "The {writer} schema has no open content model and lacks {need} of the {reader} schema"
    ),
}
OTHERS: Final = {
    "SCHEMA_ADDED": "The {reader} schema has a schema at path '{path}' where the {writer} schema has none",
    "SCHEMA_REMOVED": "The {writer} schema has a schema at path '{path}' where the {reader} schema has none",
    "TYPE_CHANGED": "The type at path '{path}' in the {reader} schema is not the one in the {writer} schema",
    "TYPE_EXTENDED": "The type at path '{path}' is number in the {reader} schema and integer in the {writer} schema",
    "TYPE_NARROWED": "The type at path '{path}' is integer in the {reader} schema and number in the {writer} schema",
    "ID_CHANGED": "The id at path '{path}' in the {reader} schema is not the one in the {writer} schema",
    "TITLE_CHANGED": "The title at path '{path}' in the {reader} schema is not the one in the {writer} schema",
    "DESCRIPTION_CHANGED": (
        "The description at path '{path}' in the {reader} schema is not the one in the {writer} schema"
    ),
    "DEFAULT_CHANGED": "The default at path '{path}' in the {reader} schema is not the one in the {writer} schema",
    "PATTERN_ADDED": "The {reader} schema demands a pattern at path '{path}' and the {writer} schema demands none",
    "PATTERN_REMOVED": "The {writer} schema demands a pattern at path '{path}' and the {reader} schema demands none",
    "PATTERN_CHANGED": "The pattern at path '{path}' in the {reader} schema is not the one in the {writer} schema",
    "MULTIPLE_OF_ADDED": "The {reader} schema demands a multiple at path '{path}' and the {writer} schema demands none",
    "MULTIPLE_OF_REMOVED": (
        "The {writer} schema demands a multiple at path '{path}' and the {reader} schema demands none"
    ),
    "MULTIPLE_OF_EXPANDED": (
        "The number at path '{path}' in the {reader} schema is a multiple of the one in the {writer} schema"
    ),
    "MULTIPLE_OF_REDUCED": (
        "The number at path '{path}' in the {writer} schema is a multiple of the one in the {reader} schema"
    ),
    "MULTIPLE_OF_CHANGED": (
        "The numbers at path '{path}' in the {reader} schema and the {writer} schema are no multiples of each other"
    ),
    "ENUM_ARRAY_EXTENDED": "The {reader} schema allows more values at path '{path}' than the {writer} schema does",
    "ENUM_ARRAY_NARROWED": "The {reader} schema allows fewer values at path '{path}' than the {writer} schema does",
    "ENUM_ARRAY_CHANGED": "The {reader} schema allows other values at path '{path}' than the {writer} schema does",
    "NOT_TYPE_NARROWED": "The {reader} schema rules out no more at path '{path}' than the {writer} schema does",
    "NOT_TYPE_EXTENDED": "The {reader} schema rules out more at path '{path}' than the {writer} schema does",
    "REQUIRED_ATTRIBUTE_ADDED": (
        "The property at path '{path}' has no default and is required in the {reader} schema, "
        "but not in the {writer} schema"
    ),
    "REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED": (
        "The property at path '{path}' has a default and is required in the {reader} schema, "
        "but not in the {writer} schema"
    ),
    "REQUIRED_ATTRIBUTE_REMOVED": (
        "The property at path '{path}' is required in the {writer} schema, but not in the {reader} schema"
    ),
    "DEPENDENCY_ARRAY_ADDED": (
        "The {reader} schema makes a property depend on others at path '{path}' and the {writer} schema does not"
    ),
    "DEPENDENCY_ARRAY_REMOVED": (
        "The {writer} schema makes a property depend on others at path '{path}' and the {reader} schema does not"
    ),
    "DEPENDENCY_ARRAY_EXTENDED": (
        "A property depends on more others at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "DEPENDENCY_ARRAY_NARROWED": (
        "A property depends on fewer others at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "DEPENDENCY_ARRAY_CHANGED": (
        "A property depends on different others at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "DEPENDENCY_SCHEMA_ADDED": (
        "The {reader} schema makes a property depend on a schema at path '{path}' and the {writer} schema does not"
    ),
    "DEPENDENCY_SCHEMA_REMOVED": (
        "The {writer} schema makes a property depend on a schema at path '{path}' and the {reader} schema does not"
    ),
    "UNIQUE_ITEMS_ADDED": "The {reader} schema demands unique items at path '{path}' and the {writer} schema does not",
    "UNIQUE_ITEMS_REMOVED": (
        "The {writer} schema demands unique items at path '{path}' and the {reader} schema does not"
    ),
    "ITEM_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the item at path '{path}' of the {reader} schema"
    ),
    "ITEM_ADDED_TO_CLOSED_CONTENT_MODEL": (
        "The {writer} schema has a closed content model and lacks the item at path '{path}' of the {reader} schema"
    ),
    "COMBINED_TYPE_EXTENDED": (
        "The {reader} schema combines schemas at path '{path}' in a wider way than the {writer} schema does"
    ),
    "COMBINED_TYPE_CHANGED": (
        "The {reader} schema combines schemas at path '{path}' in another way than the {writer} schema does"
    ),
    "PRODUCT_TYPE_EXTENDED": (
        "More schemas must hold at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "PRODUCT_TYPE_NARROWED": (
        "Fewer schemas must hold at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "SUM_TYPE_EXTENDED": (
        "There are more alternatives at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "SUM_TYPE_NARROWED": (
        "There are fewer alternatives at path '{path}' in the {reader} schema than in the {writer} schema"
    ),
    "COMBINED_TYPE_SUBSCHEMAS_CHANGED": (
        "The schemas combined at path '{path}' in the {reader} schema do not pair off with those of the {writer} schema"
    ),
}


def templates() -> Iterator[tuple[str, str]]:
    yield from OTHERS.items()
    for name in LIMITS:
        for change, text in OF_LIMITS.items():
            yield f"{name}_{change}", text
    for name in RESTS:
        for change, text in OF_RESTS.items():
            yield f"{name}_{change}", text
    for name, place in PLACES.items():
        for change, text in OF_PLACES.items():
            yield f"{name}{change}", text.replace("{place}", place)
    for name, need in NEEDS.items():
        for change, text in OF_NEEDS.items():
            yield f"{name}{change}", text.replace("{need}", need)


SENTENCES: Final[Mapping[str, str]] = dict(templates())


def sentence(finding: Finding, reader: str, writer: str) -> str:
    """The message of a finding; reader and writer are `new` or `old`. The odd quotes are what clients know (A.4)."""
    text = SENTENCES[finding.rule].format(path=finding.path, reader=reader, writer=writer)
    return f'{{errorType:"{finding.rule}", description:"{text}\'}}'
