"""The kinds of differences, under which policies a reader can live with them, and where that is written down (C.8).

The walks (`objects`, `arrays`, `scalars`, `combined`) find differences and call them by these names; what a difference
means for the verdict is said here alone. RESERVED_PROPERTY_… and PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL have no row: the
reference has the names, and nothing that finds them.
"""

from collections.abc import Mapping
from typing import Final

from sigla.contract import STRICT
from sigla.languages.language import Rule

LENIENT: Final = "LENIENT"

ALWAYS: Final = frozenset((STRICT, LENIENT))
LENIENTLY: Final = frozenset((LENIENT,))
NEVER: Final[frozenset[str]] = frozenset()


RULES: Final = (
    Rule("SCHEMA_ADDED", "contract C.6, step 1", NEVER),
    Rule("SCHEMA_REMOVED", "contract C.6, step 1", ALWAYS),
    Rule("TYPE_CHANGED", "contract C.6, step 6", NEVER),
    Rule("ID_CHANGED", "contract C.6, step 7", ALWAYS),
    Rule("TITLE_CHANGED", "contract C.6, step 7", ALWAYS),
    Rule("DESCRIPTION_CHANGED", "contract C.6, step 7", ALWAYS),
    Rule("DEFAULT_CHANGED", "contract C.6, step 7", ALWAYS),
    # strings
    Rule("MAX_LENGTH_ADDED", "contract C.7.1", NEVER),
    Rule("MAX_LENGTH_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MAX_LENGTH_INCREASED", "contract C.7.1", ALWAYS),
    Rule("MAX_LENGTH_DECREASED", "contract C.7.1", NEVER),
    Rule("MIN_LENGTH_ADDED", "contract C.7.1", NEVER),
    Rule("MIN_LENGTH_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MIN_LENGTH_INCREASED", "contract C.7.1", NEVER),
    Rule("MIN_LENGTH_DECREASED", "contract C.7.1", ALWAYS),
    Rule("PATTERN_ADDED", "contract C.7.2", NEVER),
    Rule("PATTERN_REMOVED", "contract C.7.2", ALWAYS),
    Rule("PATTERN_CHANGED", "contract C.7.2", NEVER),
    # numbers
    Rule("MAXIMUM_ADDED", "contract C.7.1", NEVER),
    Rule("MAXIMUM_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MAXIMUM_INCREASED", "contract C.7.1", ALWAYS),
    Rule("MAXIMUM_DECREASED", "contract C.7.1", NEVER),
    Rule("MINIMUM_ADDED", "contract C.7.1", NEVER),
    Rule("MINIMUM_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MINIMUM_INCREASED", "contract C.7.1", NEVER),
    Rule("MINIMUM_DECREASED", "contract C.7.1", ALWAYS),
    Rule("EXCLUSIVE_MAXIMUM_ADDED", "contract C.7.1", NEVER),
    Rule("EXCLUSIVE_MAXIMUM_REMOVED", "contract C.7.1", ALWAYS),
    Rule("EXCLUSIVE_MAXIMUM_INCREASED", "contract C.7.1", ALWAYS),
    Rule("EXCLUSIVE_MAXIMUM_DECREASED", "contract C.7.1, DV-9", NEVER),
    Rule("EXCLUSIVE_MINIMUM_ADDED", "contract C.7.1", NEVER),
    Rule("EXCLUSIVE_MINIMUM_REMOVED", "contract C.7.1", ALWAYS),
    Rule("EXCLUSIVE_MINIMUM_INCREASED", "contract C.7.1", NEVER),
    Rule("EXCLUSIVE_MINIMUM_DECREASED", "contract C.7.1", ALWAYS),
    Rule("MULTIPLE_OF_ADDED", "contract C.7.2", NEVER),
    Rule("MULTIPLE_OF_REMOVED", "contract C.7.2", ALWAYS),
    Rule("MULTIPLE_OF_EXPANDED", "contract C.7.2", NEVER),
    Rule("MULTIPLE_OF_REDUCED", "contract C.7.2", ALWAYS),
    Rule("MULTIPLE_OF_CHANGED", "contract C.7.2", NEVER),
    Rule("TYPE_EXTENDED", "contract C.7.2", ALWAYS),
    Rule("TYPE_NARROWED", "contract C.7.2", NEVER),
    # values, not
    Rule("ENUM_ARRAY_EXTENDED", "contract C.7.2", ALWAYS),
    Rule("ENUM_ARRAY_NARROWED", "contract C.7.2", NEVER),
    Rule("ENUM_ARRAY_CHANGED", "contract C.7.2, DV-10", NEVER),
    Rule("NOT_TYPE_NARROWED", "contract C.7.2", ALWAYS),
    Rule("NOT_TYPE_EXTENDED", "contract C.7.2", NEVER),
    # objects
    Rule("REQUIRED_ATTRIBUTE_ADDED", "contract C.7.3, required", NEVER),
    Rule("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", "contract C.7.3, required", ALWAYS),
    Rule("REQUIRED_ATTRIBUTE_REMOVED", "contract C.7.3, required", ALWAYS),
    Rule("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.3, properties", LENIENTLY),
    Rule("PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", "contract C.7.3, properties", LENIENTLY),
    Rule("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.3, properties", LENIENTLY),
    Rule("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.3, properties", NEVER),
    Rule("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.3, properties", LENIENTLY),
    Rule("PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.3, properties", LENIENTLY),
    Rule("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "contract C.7.3, properties", NEVER),
    Rule("OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", "contract C.7.3, properties", ALWAYS),
    Rule("DEPENDENCY_ARRAY_ADDED", "contract C.7.3, dependencies", NEVER),
    Rule("DEPENDENCY_ARRAY_REMOVED", "contract C.7.3, dependencies", ALWAYS),
    Rule("DEPENDENCY_ARRAY_EXTENDED", "contract C.7.3, dependencies", NEVER),
    Rule("DEPENDENCY_ARRAY_NARROWED", "contract C.7.3, dependencies", ALWAYS),
    Rule("DEPENDENCY_ARRAY_CHANGED", "contract C.7.3, dependencies", NEVER),
    Rule("DEPENDENCY_SCHEMA_ADDED", "contract C.7.3, dependencies", NEVER),
    Rule("DEPENDENCY_SCHEMA_REMOVED", "contract C.7.3, dependencies", ALWAYS),
    Rule("ADDITIONAL_PROPERTIES_ADDED", "contract C.7.3, additionalProperties", ALWAYS),
    Rule("ADDITIONAL_PROPERTIES_REMOVED", "contract C.7.3, additionalProperties", LENIENTLY),
    Rule("ADDITIONAL_PROPERTIES_NARROWED", "contract C.7.3, additionalProperties", LENIENTLY),
    Rule("ADDITIONAL_PROPERTIES_EXTENDED", "contract C.7.3, additionalProperties", ALWAYS),
    Rule("UNEVALUATED_PROPERTIES_ADDED", "contract C.7.3, unevaluatedProperties", ALWAYS),
    Rule("UNEVALUATED_PROPERTIES_REMOVED", "contract C.7.3, unevaluatedProperties", LENIENTLY),
    Rule("UNEVALUATED_PROPERTIES_NARROWED", "contract C.7.3, unevaluatedProperties", LENIENTLY),
    Rule("UNEVALUATED_PROPERTIES_EXTENDED", "contract C.7.3, unevaluatedProperties", ALWAYS),
    Rule("MAX_PROPERTIES_ADDED", "contract C.7.1", NEVER),
    Rule("MAX_PROPERTIES_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MAX_PROPERTIES_INCREASED", "contract C.7.1", ALWAYS),
    Rule("MAX_PROPERTIES_DECREASED", "contract C.7.1", NEVER),
    Rule("MIN_PROPERTIES_ADDED", "contract C.7.1", NEVER),
    Rule("MIN_PROPERTIES_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MIN_PROPERTIES_INCREASED", "contract C.7.1", NEVER),
    Rule("MIN_PROPERTIES_DECREASED", "contract C.7.1", ALWAYS),
    # arrays
    Rule("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", NEVER),
    Rule("ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", "contract C.7.4, tuple", NEVER),
    Rule("ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", NEVER),
    Rule("ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", "contract C.7.4, tuple", NEVER),
    Rule("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", "contract C.7.4, tuple", ALWAYS),
    Rule("ADDITIONAL_ITEMS_ADDED", "contract C.7.4, additionalItems", ALWAYS),
    Rule("ADDITIONAL_ITEMS_REMOVED", "contract C.7.4, additionalItems", NEVER),
    Rule("ADDITIONAL_ITEMS_NARROWED", "contract C.7.4, additionalItems", NEVER),
    Rule("ADDITIONAL_ITEMS_EXTENDED", "contract C.7.4, additionalItems", ALWAYS),
    Rule("UNEVALUATED_ITEMS_ADDED", "contract C.7.4, unevaluatedItems", ALWAYS),
    Rule("UNEVALUATED_ITEMS_REMOVED", "contract C.7.4, unevaluatedItems", NEVER),
    Rule("UNEVALUATED_ITEMS_NARROWED", "contract C.7.4, unevaluatedItems", NEVER),
    Rule("UNEVALUATED_ITEMS_EXTENDED", "contract C.7.4, unevaluatedItems", ALWAYS),
    Rule("MAX_ITEMS_ADDED", "contract C.7.1", NEVER),
    Rule("MAX_ITEMS_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MAX_ITEMS_INCREASED", "contract C.7.1", ALWAYS),
    Rule("MAX_ITEMS_DECREASED", "contract C.7.1", NEVER),
    Rule("MIN_ITEMS_ADDED", "contract C.7.1", NEVER),
    Rule("MIN_ITEMS_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MIN_ITEMS_INCREASED", "contract C.7.1", NEVER),
    Rule("MIN_ITEMS_DECREASED", "contract C.7.1", ALWAYS),
    Rule("UNIQUE_ITEMS_ADDED", "contract C.7.4", NEVER),
    Rule("UNIQUE_ITEMS_REMOVED", "contract C.7.4", ALWAYS),
    Rule("MAX_CONTAINS_ADDED", "contract C.7.1", NEVER),
    Rule("MAX_CONTAINS_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MAX_CONTAINS_INCREASED", "contract C.7.1", ALWAYS),
    Rule("MAX_CONTAINS_DECREASED", "contract C.7.1", NEVER),
    Rule("MIN_CONTAINS_ADDED", "contract C.7.1", NEVER),
    Rule("MIN_CONTAINS_REMOVED", "contract C.7.1", ALWAYS),
    Rule("MIN_CONTAINS_INCREASED", "contract C.7.1", NEVER),
    Rule("MIN_CONTAINS_DECREASED", "contract C.7.1", ALWAYS),
    # allOf, anyOf, oneOf
    Rule("COMBINED_TYPE_EXTENDED", "contract C.7.5, step 1", ALWAYS),
    Rule("COMBINED_TYPE_CHANGED", "contract C.7.5, step 1", NEVER),
    Rule("PRODUCT_TYPE_EXTENDED", "contract C.7.5, step 3", NEVER),
    Rule("PRODUCT_TYPE_NARROWED", "contract C.6, step 5; C.7.5, step 3", ALWAYS),
    Rule("SUM_TYPE_EXTENDED", "contract C.6, step 4; C.7.5, step 3", ALWAYS),
    Rule("SUM_TYPE_NARROWED", "contract C.7.5, step 3", NEVER),
    Rule("COMBINED_TYPE_SUBSCHEMAS_CHANGED", "contract C.7.5, step 5", NEVER),
)

COMPATIBLE: Final[Mapping[str, frozenset[str]]] = {
    policy: frozenset(rule.id for rule in RULES if policy in rule.compatible) for policy in (STRICT, LENIENT)
}
"""By policy, the kinds that do no harm. Any other policy is as STRICT (DV-14)."""


def compatible(policy: str) -> frozenset[str]:
    return COMPATIBLE.get(policy, COMPATIBLE[STRICT])
