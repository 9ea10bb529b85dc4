"""Which members an object has: for readers that refuse others, as of files that people write.

Requests of clients may have any (`requests`).
"""

from typing import Final

METADATA: Final = "metadata"
RULE_SET: Final = "ruleSet"

OF_METADATA: Final = ("tags", "properties", "sensitive")
RULE_LISTS: Final = ("migrationRules", "domainRules", "encodingRules")
OF_RULE_SET: Final = (*RULE_LISTS, "enableAt")
OF_RULE: Final = ("name", "doc", "kind", "mode", "type", "tags", "params", "expr", "onSuccess", "onFailure", "disabled")
