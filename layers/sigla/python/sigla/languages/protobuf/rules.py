"""Everything that two files can differ in, and which of it a reader of old data can live with (contract D.5.5).

`compare` lists all differences; whether they matter is decided here alone. There is no variant by policy.
"""

from typing import Final


class Rule:
    """id: what messages call the difference. compatible: readers can live with it. source: where it is written down."""

    __slots__ = ("compatible", "id", "source")

    def __init__(self, id_: str, source: str, *, compatible: bool) -> None:
        self.id = id_
        self.source = source
        self.compatible = compatible


def harmless(id_: str, source: str) -> Rule:
    return Rule(id_, source, compatible=True)


def breaking(id_: str, source: str) -> Rule:
    return Rule(id_, source, compatible=False)


_UPDATING: Final = "Protocol Buffers language guide, Updating a message type"

RULES: Final = (
    breaking("PACKAGE_CHANGED", "contract D.5.1 step 1"),
    breaking("MESSAGE_REMOVED", "contract D.5.1 step 2"),
    harmless("MESSAGE_ADDED", "contract D.5.1 step 3"),
    harmless("MESSAGE_MOVED", "contract D.5.1 step 4"),
    harmless("ENUM_REMOVED", "contract D.5.1 step 5"),
    harmless("ENUM_ADDED", "contract D.5.1 step 5"),
    harmless("ENUM_CONST_REMOVED", "contract D.5.1 step 6"),
    harmless("ENUM_CONST_ADDED", "contract D.5.1 step 6"),
    harmless("ENUM_CONST_CHANGED", "contract D.5.1 step 6"),
    breaking("MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{_UPDATING}: oneof; contract D.5.2 step 2"),
    breaking("FIELD_MOVED_TO_EXISTING_ONEOF", f"{_UPDATING}: oneof; contract D.5.2 step 2"),
    harmless("ONEOF_REMOVED", "contract D.5.2 step 3"),
    harmless("ONEOF_ADDED", "contract D.5.2 step 3"),
    breaking("ONEOF_FIELD_REMOVED", f"{_UPDATING}: oneof; contract D.5.2 step 4"),
    harmless("ONEOF_FIELD_ADDED", "contract D.5.2 step 4"),
    harmless("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", "contract D.5.2 step 4"),
    breaking("REQUIRED_FIELD_REMOVED", f"{_UPDATING}: required; contract D.5.2 step 4"),
    breaking("REQUIRED_FIELD_ADDED", f"{_UPDATING}: required; contract D.5.2 step 4"),
    harmless("FIELD_REMOVED", "contract D.5.2 step 4"),
    harmless("FIELD_ADDED", "contract D.5.2 step 4"),
    harmless("FIELD_NAME_CHANGED", "contract D.5.3 step 1"),
    breaking("FIELD_KIND_CHANGED", f"{_UPDATING}; contract D.5.3 step 2"),
    breaking("FIELD_SCALAR_KIND_CHANGED", f"{_UPDATING}: compatible scalars; contract D.5.3 step 3"),
    breaking("FIELD_NUMERIC_LABEL_CHANGED", f"{_UPDATING}: packed; contract D.5.3 step 4"),
    harmless("FIELD_STRING_OR_BYTES_LABEL_CHANGED", f"{_UPDATING}: repeated; contract D.5.3 step 4"),
    breaking("FIELD_NAMED_TYPE_CHANGED", "contract D.5.4"),
)

COMPATIBLE: Final = frozenset(rule.id for rule in RULES if rule.compatible)
