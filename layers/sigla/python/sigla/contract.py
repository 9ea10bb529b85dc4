"""Confluent's words and limits, once: what clients send, stores keep, the journal tells and a deployer may choose.

The rules that go with them are where they are obeyed: levels in `rules/compatibility.py`, modes and config in
`rules/settings.py`, rule sets in `rules/rule_sets.py`; the refusals and their sentences are in `errors.py`.
"""

from dataclasses import dataclass, replace
from typing import Final

DEFAULT_TYPE: Final = "AVRO"
"""The language of a schema that names none."""

# --- numbers ---------------------------------------------------------------------------------------------------------

HIGHEST: Final = 2**31 - 1
"""The greatest of ids and versions, which are 32-bit integers in the reference."""
INTEGERS: Final = range(-HIGHEST - 1, HIGHEST + 1)
"""The numbers that a request may have."""

SCHEMA_BYTES: Final = 2**20
"""The longest text of a schema, unless an operator says otherwise (LIM-2)."""
REQUEST_BYTES: Final = 4_000_000
"""The longest body of a request, unless an operator says otherwise (LIM-1)."""
MOST_CONTENTS: Final = 200
"""GUIDs that are asked about at once: more would be a longer line of a request than servers take."""
LONGEST_RULE_NAME: Final = 256
"""Characters of a rule's name."""

# --- compatibility ---------------------------------------------------------------------------------------------------

LEVELS: Final = (
    "NONE",
    "BACKWARD",
    "BACKWARD_TRANSITIVE",
    "FORWARD",
    "FORWARD_TRANSITIVE",
    "FULL",
    "FULL_TRANSITIVE",
)
DEFAULT_LEVEL: Final = "BACKWARD"
STRICT: Final = "STRICT"
"""The policy of a check without another one. Others (GR-6) mean something to some languages, and to all others this."""
POLICIES: Final = frozenset({STRICT, "LENIENT", "LOGICAL"})

# --- modes -----------------------------------------------------------------------------------------------------------

READWRITE: Final = "READWRITE"
READONLY: Final = "READONLY"
READONLY_OVERRIDE: Final = "READONLY_OVERRIDE"
IMPORT: Final = "IMPORT"
FORWARD: Final = "FORWARD"
MODES: Final = (READWRITE, READONLY, READONLY_OVERRIDE, IMPORT, FORWARD)

# --- rule sets and tags, in the order in which the published document has them ---------------------------------------

TRANSFORM: Final = "TRANSFORM"
WRITEREAD: Final = "WRITEREAD"
UPDOWN: Final = "UPDOWN"
RULE_KINDS: Final = (TRANSFORM, "CONDITION")
MIGRATION_MODES: Final = ("UPGRADE", "DOWNGRADE", UPDOWN)
DATA_MODES: Final = ("WRITE", "READ", WRITEREAD)
"""The kinds of domain rules and of encoding rules."""
RULE_MODES: Final = MIGRATION_MODES + DATA_MODES
ENVIRONMENTS: Final = ("ALL", "CLIENT", "GATEWAY", "SERVER", "NONE")
"""Where a rule set is enabled."""
ENTITY_KINDS: Final = ("sr_record", "sr_field")
"""What a tag is attached to."""

# --- config ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ConfigField:
    """One field of a config entry. wire: its name in an answer. name: in `Config`. kind: of its value."""

    wire: str
    name: str
    kind: str


CONFIG: Final = (
    ConfigField("alias", "alias", "text"),
    ConfigField("aliasForDeks", "alias_for_deks", "text"),
    ConfigField("normalize", "normalize", "flag"),
    ConfigField("validateFields", "validate_fields", "flag"),
    ConfigField("validateNewSchemas", "validate_new_schemas", "flag"),
    ConfigField("validateRules", "validate_rules", "flag"),
    ConfigField("compatibilityLevel", "level", "text"),
    ConfigField("compatibilityPolicy", "policy", "text"),
    ConfigField("compatibilityGroup", "group", "text"),
    ConfigField("defaultMetadata", "default_metadata", "metadata"),
    ConfigField("overrideMetadata", "override_metadata", "metadata"),
    ConfigField("defaultRuleSet", "default_rule_set", "rule set"),
    ConfigField("overrideRuleSet", "override_rule_set", "rule set"),
)
"""In the order of an answer and of a CONFIG record of the journal."""

CONFIG_UPDATE: Final = tuple(
    replace(field, wire="compatibility") if field.name == "level" else field for field in CONFIG
)
"""PUT calls the level by another name, in both directions (CFG-1)."""
