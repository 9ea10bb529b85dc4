"""The sentences of the findings, from kind to template (contract A.4). Facts are inserted literally, `%` and all.

A difference is seen from the reader, the {reader} schema, which must read what the {writer} schema wrote.
"""

from collections.abc import Mapping
from typing import Final

from sigla.model import Finding

_LIMIT_ADDED: Final = "The {reader} schema sets a limit at path '{path}' where the {writer} schema sets none"
_LIMIT_REMOVED: Final = "The {writer} schema sets a limit at path '{path}' where the {reader} schema sets none"
_LIMIT_INCREASED: Final = "The limit at path '{path}' is higher in the {reader} schema than in the {writer} schema"
_LIMIT_DECREASED: Final = "The limit at path '{path}' is lower in the {reader} schema than in the {writer} schema"
_REST_ADDED: Final = "The {reader} schema permits at path '{path}' what the {writer} schema forbids"
_REST_REMOVED: Final = "The {reader} schema forbids at path '{path}' what the {writer} schema permits"
_REST_NARROWED: Final = "The {reader} schema demands more at path '{path}' than the {writer} schema does"
_REST_EXTENDED: Final = "The {reader} schema demands less at path '{path}' than the {writer} schema does"

SENTENCES: Final[Mapping[str, str]] = {
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
        "The number at path '{path}' in the {reader} schema and the one in the {writer} schema are not multiples of "
        "each "
        "other"
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
    "MAX_LENGTH_ADDED": _LIMIT_ADDED,
    "MAX_LENGTH_REMOVED": _LIMIT_REMOVED,
    "MAX_LENGTH_INCREASED": _LIMIT_INCREASED,
    "MAX_LENGTH_DECREASED": _LIMIT_DECREASED,
    "MIN_LENGTH_ADDED": _LIMIT_ADDED,
    "MIN_LENGTH_REMOVED": _LIMIT_REMOVED,
    "MIN_LENGTH_INCREASED": _LIMIT_INCREASED,
    "MIN_LENGTH_DECREASED": _LIMIT_DECREASED,
    "MAXIMUM_ADDED": _LIMIT_ADDED,
    "MAXIMUM_REMOVED": _LIMIT_REMOVED,
    "MAXIMUM_INCREASED": _LIMIT_INCREASED,
    "MAXIMUM_DECREASED": _LIMIT_DECREASED,
    "MINIMUM_ADDED": _LIMIT_ADDED,
    "MINIMUM_REMOVED": _LIMIT_REMOVED,
    "MINIMUM_INCREASED": _LIMIT_INCREASED,
    "MINIMUM_DECREASED": _LIMIT_DECREASED,
    "EXCLUSIVE_MAXIMUM_ADDED": _LIMIT_ADDED,
    "EXCLUSIVE_MAXIMUM_REMOVED": _LIMIT_REMOVED,
    "EXCLUSIVE_MAXIMUM_INCREASED": _LIMIT_INCREASED,
    "EXCLUSIVE_MAXIMUM_DECREASED": _LIMIT_DECREASED,
    "EXCLUSIVE_MINIMUM_ADDED": _LIMIT_ADDED,
    "EXCLUSIVE_MINIMUM_REMOVED": _LIMIT_REMOVED,
    "EXCLUSIVE_MINIMUM_INCREASED": _LIMIT_INCREASED,
    "EXCLUSIVE_MINIMUM_DECREASED": _LIMIT_DECREASED,
    "MAX_PROPERTIES_ADDED": _LIMIT_ADDED,
    "MAX_PROPERTIES_REMOVED": _LIMIT_REMOVED,
    "MAX_PROPERTIES_INCREASED": _LIMIT_INCREASED,
    "MAX_PROPERTIES_DECREASED": _LIMIT_DECREASED,
    "MIN_PROPERTIES_ADDED": _LIMIT_ADDED,
    "MIN_PROPERTIES_REMOVED": _LIMIT_REMOVED,
    "MIN_PROPERTIES_INCREASED": _LIMIT_INCREASED,
    "MIN_PROPERTIES_DECREASED": _LIMIT_DECREASED,
    "MAX_ITEMS_ADDED": _LIMIT_ADDED,
    "MAX_ITEMS_REMOVED": _LIMIT_REMOVED,
    "MAX_ITEMS_INCREASED": _LIMIT_INCREASED,
    "MAX_ITEMS_DECREASED": _LIMIT_DECREASED,
    "MIN_ITEMS_ADDED": _LIMIT_ADDED,
    "MIN_ITEMS_REMOVED": _LIMIT_REMOVED,
    "MIN_ITEMS_INCREASED": _LIMIT_INCREASED,
    "MIN_ITEMS_DECREASED": _LIMIT_DECREASED,
    "MAX_CONTAINS_ADDED": _LIMIT_ADDED,
    "MAX_CONTAINS_REMOVED": _LIMIT_REMOVED,
    "MAX_CONTAINS_INCREASED": _LIMIT_INCREASED,
    "MAX_CONTAINS_DECREASED": _LIMIT_DECREASED,
    "MIN_CONTAINS_ADDED": _LIMIT_ADDED,
    "MIN_CONTAINS_REMOVED": _LIMIT_REMOVED,
    "MIN_CONTAINS_INCREASED": _LIMIT_INCREASED,
    "MIN_CONTAINS_DECREASED": _LIMIT_DECREASED,
    "ADDITIONAL_PROPERTIES_ADDED": _REST_ADDED,
    "ADDITIONAL_PROPERTIES_REMOVED": _REST_REMOVED,
    "ADDITIONAL_PROPERTIES_NARROWED": _REST_NARROWED,
    "ADDITIONAL_PROPERTIES_EXTENDED": _REST_EXTENDED,
    "UNEVALUATED_PROPERTIES_ADDED": _REST_ADDED,
    "UNEVALUATED_PROPERTIES_REMOVED": _REST_REMOVED,
    "UNEVALUATED_PROPERTIES_NARROWED": _REST_NARROWED,
    "UNEVALUATED_PROPERTIES_EXTENDED": _REST_EXTENDED,
    "ADDITIONAL_ITEMS_ADDED": _REST_ADDED,
    "ADDITIONAL_ITEMS_REMOVED": _REST_REMOVED,
    "ADDITIONAL_ITEMS_NARROWED": _REST_NARROWED,
    "ADDITIONAL_ITEMS_EXTENDED": _REST_EXTENDED,
    "UNEVALUATED_ITEMS_ADDED": _REST_ADDED,
    "UNEVALUATED_ITEMS_REMOVED": _REST_REMOVED,
    "UNEVALUATED_ITEMS_NARROWED": _REST_NARROWED,
    "UNEVALUATED_ITEMS_EXTENDED": _REST_EXTENDED,
    "PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL": (
        "The {reader} schema has an open content model and lacks the property at path '{path}' of the {writer} schema"
    ),
    "PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that covers the property at path '{path}' of the "
        "{writer} schema"
    ),
    "PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that does not cover the property at path "
        "'{path}' of the {writer} schema"
    ),
    "PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the property at path '{path}', which is false "
        "in the {writer} schema"
    ),
    "PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the property at path '{path}' of the {writer} schema"
    ),
    "PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the property at path '{path}', which may be "
        "anything in the {reader} schema"
    ),
    "PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is covered by the property at path '{path}' "
        "of the {reader} schema"
    ),
    "PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is not covered by the property at path "
        "'{path}' of the {reader} schema"
    ),
    "ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL": (
        "The {reader} schema has an open content model and lacks the item at path '{path}' of the {writer} schema"
    ),
    "ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that covers the item at path '{path}' of the "
        "{writer} schema"
    ),
    "ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {reader} schema has a partially open content model that does not cover the item at path '{path}' of "
        "the {writer} schema"
    ),
    "ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the item at path '{path}', which is false in "
        "the {writer} schema"
    ),
    "ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL": (
        "The {reader} schema has a closed content model and lacks the item at path '{path}' of the {writer} schema"
    ),
    "ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the item at path '{path}', which may be "
        "anything in the {reader} schema"
    ),
    "ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is covered by the item at path '{path}' of "
        "the {reader} schema"
    ),
    "ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL": (
        "The {writer} schema has a partially open content model that is not covered by the item at path '{path}' "
        "of the {reader} schema"
    ),
    "OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the optional property at path '{path}' of the "
        "{reader} schema"
    ),
    "OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        "The {writer} schema has no open content model and lacks the optional property at path '{path}' of the "
        "{reader} schema"
    ),
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the required property with a default at path "
        "'{path}' of the {reader} schema"
    ),
    "REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        "The {writer} schema has no open content model and lacks the required property with a default at path "
        "'{path}' of the {reader} schema"
    ),
    "REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL": (
        "The {writer} schema has an open content model and lacks the required property without a default at path "
        "'{path}' of the {reader} schema"
    ),
    "REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL": (
        "The {writer} schema has no open content model and lacks the required property without a default at path "
        "'{path}' of the {reader} schema"
    ),
}


def sentence(finding: Finding, reader: str, writer: str) -> str:
    """The message of a finding; reader and writer are `new` or `old`. The odd quotes are what clients know (A.4)."""
    text = SENTENCES[finding.rule].format(path=finding.path, reader=reader, writer=writer)
    return f'{{errorType:"{finding.rule}", description:"{text}\'}}'
