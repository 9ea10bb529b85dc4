"""The fields of a config entry by all their names: on the wire in an answer, on the wire in a PUT, in `Config`."""

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Field:
    wire: str
    name: str
    kind: str


CONFIG = (
    Field("alias", "alias", "text"),
    Field("aliasForDeks", "alias_for_deks", "text"),
    Field("normalize", "normalize", "flag"),
    Field("validateFields", "validate_fields", "flag"),
    Field("validateNewSchemas", "validate_new_schemas", "flag"),
    Field("validateRules", "validate_rules", "flag"),
    Field("compatibilityLevel", "level", "text"),
    Field("compatibilityPolicy", "policy", "text"),
    Field("compatibilityGroup", "group", "text"),
    Field("defaultMetadata", "default_metadata", "metadata"),
    Field("overrideMetadata", "override_metadata", "metadata"),
    Field("defaultRuleSet", "default_rule_set", "rule set"),
    Field("overrideRuleSet", "override_rule_set", "rule set"),
)

# PUT calls the level by another name, in both directions (CFG-1).
CONFIG_UPDATE = tuple(replace(field, wire="compatibility") if field.name == "level" else field for field in CONFIG)
