"""Everything that two files can differ in, and which of it a reader of old data can live with (contract D.5.5).

`compare` lists all differences; whether they matter is decided here alone. There is no variant by policy.
"""

from typing import Final

from sigla.contract import STRICT
from sigla.languages.language import Rule

HARMLESS: Final = frozenset((STRICT,))
_UPDATING: Final = "Protocol Buffers language guide, Updating a message type"

RULES: Final = (
    Rule("PACKAGE_CHANGED", "contract D.5.1 step 1"),
    Rule("MESSAGE_REMOVED", "contract D.5.1 step 2"),
    Rule("MESSAGE_ADDED", "contract D.5.1 step 3", HARMLESS),
    Rule("MESSAGE_MOVED", "contract D.5.1 step 4", HARMLESS),
    Rule("ENUM_REMOVED", "contract D.5.1 step 5", HARMLESS),
    Rule("ENUM_ADDED", "contract D.5.1 step 5", HARMLESS),
    Rule("ENUM_CONST_REMOVED", "contract D.5.1 step 6", HARMLESS),
    Rule("ENUM_CONST_ADDED", "contract D.5.1 step 6", HARMLESS),
    Rule("ENUM_CONST_CHANGED", "contract D.5.1 step 6", HARMLESS),
    Rule("MULTIPLE_FIELDS_MOVED_TO_ONEOF", f"{_UPDATING}: oneof; contract D.5.2 step 2"),
    Rule("FIELD_MOVED_TO_EXISTING_ONEOF", f"{_UPDATING}: oneof; contract D.5.2 step 2"),
    Rule("ONEOF_REMOVED", "contract D.5.2 step 3", HARMLESS),
    Rule("ONEOF_ADDED", "contract D.5.2 step 3", HARMLESS),
    Rule("ONEOF_FIELD_REMOVED", f"{_UPDATING}: oneof; contract D.5.2 step 4"),
    Rule("ONEOF_FIELD_ADDED", "contract D.5.2 step 4", HARMLESS),
    Rule("ONEOF_FIELD_MOVED_TO_TOP_LEVEL", "contract D.5.2 step 4", HARMLESS),
    Rule("REQUIRED_FIELD_REMOVED", f"{_UPDATING}: required; contract D.5.2 step 4"),
    Rule("REQUIRED_FIELD_ADDED", f"{_UPDATING}: required; contract D.5.2 step 4"),
    Rule("FIELD_REMOVED", "contract D.5.2 step 4", HARMLESS),
    Rule("FIELD_ADDED", "contract D.5.2 step 4", HARMLESS),
    Rule("FIELD_NAME_CHANGED", "contract D.5.3 step 1", HARMLESS),
    Rule("FIELD_KIND_CHANGED", f"{_UPDATING}; contract D.5.3 step 2"),
    Rule("FIELD_SCALAR_KIND_CHANGED", f"{_UPDATING}: compatible scalars; contract D.5.3 step 3"),
    Rule("FIELD_NUMERIC_LABEL_CHANGED", f"{_UPDATING}: packed; contract D.5.3 step 4"),
    Rule("FIELD_STRING_OR_BYTES_LABEL_CHANGED", f"{_UPDATING}: repeated; contract D.5.3 step 4", HARMLESS),
    Rule("FIELD_NAMED_TYPE_CHANGED", "contract D.5.4"),
)

COMPATIBLE: Final = frozenset(rule.id for rule in RULES if rule.compatible)
