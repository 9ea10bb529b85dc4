"""The kinds of differences, under which policies a reader can live with them, and where that is written down (C.8).

The walks (`objects`, `arrays`, `scalars`, `combined`) find differences and call them by these names; what a difference
means for the verdict is said here alone. RESERVED_PROPERTY_… and PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL have no row: the
reference has the names, and nothing that finds them.
"""

from collections.abc import Mapping
from typing import Final

from sigla.languages.language import STRICT

LENIENT: Final = "LENIENT"

ALWAYS: Final = frozenset((STRICT, LENIENT))
LENIENTLY: Final = frozenset((LENIENT,))
NEVER: Final[frozenset[str]] = frozenset()


class Rule:
    """id: what messages call it. compatible: the policies under which it does no harm. source: who says so."""

    __slots__ = ("compatible", "id", "source")

    def __init__(self, id: str, compatible: frozenset[str], source: str) -> None:
        self.id = id
        self.compatible = compatible
        self.source = source


RULES: Final = (
    Rule("SCHEMA_ADDED", NEVER, "contract C.6, step 1"),
    Rule("SCHEMA_REMOVED", ALWAYS, "contract C.6, step 1"),
    Rule("TYPE_CHANGED", NEVER, "contract C.6, step 6"),
    Rule("ID_CHANGED", ALWAYS, "contract C.6, step 7"),
    Rule("TITLE_CHANGED", ALWAYS, "contract C.6, step 7"),
    Rule("DESCRIPTION_CHANGED", ALWAYS, "contract C.6, step 7"),
    Rule("DEFAULT_CHANGED", ALWAYS, "contract C.6, step 7"),
    # strings
    Rule("MAX_LENGTH_ADDED", NEVER, "contract C.7.1"),
    Rule("MAX_LENGTH_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MAX_LENGTH_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("MAX_LENGTH_DECREASED", NEVER, "contract C.7.1"),
    Rule("MIN_LENGTH_ADDED", NEVER, "contract C.7.1"),
    Rule("MIN_LENGTH_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MIN_LENGTH_INCREASED", NEVER, "contract C.7.1"),
    Rule("MIN_LENGTH_DECREASED", ALWAYS, "contract C.7.1"),
    Rule("PATTERN_ADDED", NEVER, "contract C.7.2"),
    Rule("PATTERN_REMOVED", ALWAYS, "contract C.7.2"),
    Rule("PATTERN_CHANGED", NEVER, "contract C.7.2"),
    # numbers
    Rule("MAXIMUM_ADDED", NEVER, "contract C.7.1"),
    Rule("MAXIMUM_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MAXIMUM_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("MAXIMUM_DECREASED", NEVER, "contract C.7.1"),
    Rule("MINIMUM_ADDED", NEVER, "contract C.7.1"),
    Rule("MINIMUM_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MINIMUM_INCREASED", NEVER, "contract C.7.1"),
    Rule("MINIMUM_DECREASED", ALWAYS, "contract C.7.1"),
    Rule("EXCLUSIVE_MAXIMUM_ADDED", NEVER, "contract C.7.1"),
    Rule("EXCLUSIVE_MAXIMUM_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("EXCLUSIVE_MAXIMUM_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("EXCLUSIVE_MAXIMUM_DECREASED", NEVER, "contract C.7.1, DV-9"),
    Rule("EXCLUSIVE_MINIMUM_ADDED", NEVER, "contract C.7.1"),
    Rule("EXCLUSIVE_MINIMUM_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("EXCLUSIVE_MINIMUM_INCREASED", NEVER, "contract C.7.1"),
    Rule("EXCLUSIVE_MINIMUM_DECREASED", ALWAYS, "contract C.7.1"),
    Rule("MULTIPLE_OF_ADDED", NEVER, "contract C.7.2"),
    Rule("MULTIPLE_OF_REMOVED", ALWAYS, "contract C.7.2"),
    Rule("MULTIPLE_OF_EXPANDED", NEVER, "contract C.7.2"),
    Rule("MULTIPLE_OF_REDUCED", ALWAYS, "contract C.7.2"),
    Rule("MULTIPLE_OF_CHANGED", NEVER, "contract C.7.2"),
    Rule("TYPE_EXTENDED", ALWAYS, "contract C.7.2"),
    Rule("TYPE_NARROWED", NEVER, "contract C.7.2"),
    # values, not
    Rule("ENUM_ARRAY_EXTENDED", ALWAYS, "contract C.7.2"),
    Rule("ENUM_ARRAY_NARROWED", NEVER, "contract C.7.2"),
    Rule("ENUM_ARRAY_CHANGED", NEVER, "contract C.7.2, DV-10"),
    Rule("NOT_TYPE_NARROWED", ALWAYS, "contract C.7.2"),
    Rule("NOT_TYPE_EXTENDED", NEVER, "contract C.7.2"),
    # objects
    Rule("REQUIRED_ATTRIBUTE_ADDED", NEVER, "contract C.7.3, required"),
    Rule("REQUIRED_ATTRIBUTE_WITH_DEFAULT_ADDED", ALWAYS, "contract C.7.3, required"),
    Rule("REQUIRED_ATTRIBUTE_REMOVED", ALWAYS, "contract C.7.3, required"),
    Rule("PROPERTY_REMOVED_FROM_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("PROPERTY_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("PROPERTY_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", LENIENTLY, "contract C.7.3, properties"),
    Rule("PROPERTY_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("PROPERTY_REMOVED_FROM_CLOSED_CONTENT_MODEL", LENIENTLY, "contract C.7.3, properties"),
    Rule("PROPERTY_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_OPEN_CONTENT_MODEL", LENIENTLY, "contract C.7.3, properties"),
    Rule("REQUIRED_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", NEVER, "contract C.7.3, properties"),
    Rule("OPTIONAL_PROPERTY_ADDED_TO_OPEN_CONTENT_MODEL", LENIENTLY, "contract C.7.3, properties"),
    Rule("PROPERTY_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("PROPERTY_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", LENIENTLY, "contract C.7.3, properties"),
    Rule("REQUIRED_PROPERTY_WITH_DEFAULT_ADDED_TO_UNOPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("REQUIRED_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", NEVER, "contract C.7.3, properties"),
    Rule("OPTIONAL_PROPERTY_ADDED_TO_UNOPEN_CONTENT_MODEL", ALWAYS, "contract C.7.3, properties"),
    Rule("DEPENDENCY_ARRAY_ADDED", NEVER, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_ARRAY_REMOVED", ALWAYS, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_ARRAY_EXTENDED", NEVER, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_ARRAY_NARROWED", ALWAYS, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_ARRAY_CHANGED", NEVER, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_SCHEMA_ADDED", NEVER, "contract C.7.3, dependencies"),
    Rule("DEPENDENCY_SCHEMA_REMOVED", ALWAYS, "contract C.7.3, dependencies"),
    Rule("ADDITIONAL_PROPERTIES_ADDED", ALWAYS, "contract C.7.3, additionalProperties"),
    Rule("ADDITIONAL_PROPERTIES_REMOVED", LENIENTLY, "contract C.7.3, additionalProperties"),
    Rule("ADDITIONAL_PROPERTIES_NARROWED", LENIENTLY, "contract C.7.3, additionalProperties"),
    Rule("ADDITIONAL_PROPERTIES_EXTENDED", ALWAYS, "contract C.7.3, additionalProperties"),
    Rule("UNEVALUATED_PROPERTIES_ADDED", ALWAYS, "contract C.7.3, unevaluatedProperties"),
    Rule("UNEVALUATED_PROPERTIES_REMOVED", LENIENTLY, "contract C.7.3, unevaluatedProperties"),
    Rule("UNEVALUATED_PROPERTIES_NARROWED", LENIENTLY, "contract C.7.3, unevaluatedProperties"),
    Rule("UNEVALUATED_PROPERTIES_EXTENDED", ALWAYS, "contract C.7.3, unevaluatedProperties"),
    Rule("MAX_PROPERTIES_ADDED", NEVER, "contract C.7.1"),
    Rule("MAX_PROPERTIES_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MAX_PROPERTIES_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("MAX_PROPERTIES_DECREASED", NEVER, "contract C.7.1"),
    Rule("MIN_PROPERTIES_ADDED", NEVER, "contract C.7.1"),
    Rule("MIN_PROPERTIES_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MIN_PROPERTIES_INCREASED", NEVER, "contract C.7.1"),
    Rule("MIN_PROPERTIES_DECREASED", ALWAYS, "contract C.7.1"),
    # arrays
    Rule("ITEM_REMOVED_FROM_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ITEM_REMOVED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ITEM_REMOVED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", NEVER, "contract C.7.4, tuple"),
    Rule("ITEM_WITH_FALSE_REMOVED_FROM_CLOSED_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ITEM_REMOVED_FROM_CLOSED_CONTENT_MODEL", NEVER, "contract C.7.4, tuple"),
    Rule("ITEM_WITH_EMPTY_SCHEMA_ADDED_TO_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ITEM_ADDED_TO_OPEN_CONTENT_MODEL", NEVER, "contract C.7.4, tuple"),
    Rule("ITEM_ADDED_IS_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ITEM_ADDED_NOT_COVERED_BY_PARTIALLY_OPEN_CONTENT_MODEL", NEVER, "contract C.7.4, tuple"),
    Rule("ITEM_ADDED_TO_CLOSED_CONTENT_MODEL", ALWAYS, "contract C.7.4, tuple"),
    Rule("ADDITIONAL_ITEMS_ADDED", ALWAYS, "contract C.7.4, additionalItems"),
    Rule("ADDITIONAL_ITEMS_REMOVED", NEVER, "contract C.7.4, additionalItems"),
    Rule("ADDITIONAL_ITEMS_NARROWED", NEVER, "contract C.7.4, additionalItems"),
    Rule("ADDITIONAL_ITEMS_EXTENDED", ALWAYS, "contract C.7.4, additionalItems"),
    Rule("UNEVALUATED_ITEMS_ADDED", ALWAYS, "contract C.7.4, unevaluatedItems"),
    Rule("UNEVALUATED_ITEMS_REMOVED", NEVER, "contract C.7.4, unevaluatedItems"),
    Rule("UNEVALUATED_ITEMS_NARROWED", NEVER, "contract C.7.4, unevaluatedItems"),
    Rule("UNEVALUATED_ITEMS_EXTENDED", ALWAYS, "contract C.7.4, unevaluatedItems"),
    Rule("MAX_ITEMS_ADDED", NEVER, "contract C.7.1"),
    Rule("MAX_ITEMS_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MAX_ITEMS_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("MAX_ITEMS_DECREASED", NEVER, "contract C.7.1"),
    Rule("MIN_ITEMS_ADDED", NEVER, "contract C.7.1"),
    Rule("MIN_ITEMS_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MIN_ITEMS_INCREASED", NEVER, "contract C.7.1"),
    Rule("MIN_ITEMS_DECREASED", ALWAYS, "contract C.7.1"),
    Rule("UNIQUE_ITEMS_ADDED", NEVER, "contract C.7.4"),
    Rule("UNIQUE_ITEMS_REMOVED", ALWAYS, "contract C.7.4"),
    Rule("MAX_CONTAINS_ADDED", NEVER, "contract C.7.1"),
    Rule("MAX_CONTAINS_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MAX_CONTAINS_INCREASED", ALWAYS, "contract C.7.1"),
    Rule("MAX_CONTAINS_DECREASED", NEVER, "contract C.7.1"),
    Rule("MIN_CONTAINS_ADDED", NEVER, "contract C.7.1"),
    Rule("MIN_CONTAINS_REMOVED", ALWAYS, "contract C.7.1"),
    Rule("MIN_CONTAINS_INCREASED", NEVER, "contract C.7.1"),
    Rule("MIN_CONTAINS_DECREASED", ALWAYS, "contract C.7.1"),
    # allOf, anyOf, oneOf
    Rule("COMBINED_TYPE_EXTENDED", ALWAYS, "contract C.7.5, step 1"),
    Rule("COMBINED_TYPE_CHANGED", NEVER, "contract C.7.5, step 1"),
    Rule("PRODUCT_TYPE_EXTENDED", NEVER, "contract C.7.5, step 3"),
    Rule("PRODUCT_TYPE_NARROWED", ALWAYS, "contract C.6, step 5; C.7.5, step 3"),
    Rule("SUM_TYPE_EXTENDED", ALWAYS, "contract C.6, step 4; C.7.5, step 3"),
    Rule("SUM_TYPE_NARROWED", NEVER, "contract C.7.5, step 3"),
    Rule("COMBINED_TYPE_SUBSCHEMAS_CHANGED", NEVER, "contract C.7.5, step 5"),
)

COMPATIBLE: Final[Mapping[str, frozenset[str]]] = {
    policy: frozenset(rule.id for rule in RULES if policy in rule.compatible) for policy in (STRICT, LENIENT)
}
"""By policy, the kinds that do no harm. Any other policy is as STRICT (DV-14)."""


def compatible(policy: str) -> frozenset[str]:
    return COMPATIBLE.get(policy, COMPATIBLE[STRICT])
