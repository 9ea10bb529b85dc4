"""A data rule that is easy to follow: it writes tagged words backwards, and reads them so again."""

from typing import Any

from confluent_kafka.schema_registry.common.schema_registry_client import Rule, RuleKind, RuleMode, RuleSet
from confluent_kafka.schema_registry.rule_registry import RuleRegistry
from confluent_kafka.schema_registry.serde import FieldContext, FieldRuleExecutor, FieldTransform, RuleContext


class Backwards(FieldRuleExecutor):
    """Confluent's own executors want a key service or an expression engine; what finds the fields is the client."""

    def configure(self, client_conf: dict[str, Any], rule_conf: dict[str, Any]) -> None:
        """There is nothing to choose."""

    def type(self) -> str:
        return "BACKWARDS"

    def new_transform(self, ctx: RuleContext) -> FieldTransform:  # noqa: ARG002 - the rule says no more than its type
        return turned

    def close(self) -> None:
        """There is nothing to give back."""


def turned(ctx: RuleContext, field: FieldContext, value: Any) -> Any:
    return value[::-1]


def hiding() -> RuleRegistry:
    """What a client needs that shall follow the rule."""
    rules = RuleRegistry()  # type: ignore[no-untyped-call]  # as the client has it
    rules.register_executor(Backwards())
    return rules


def hiding_rules(*tags: str) -> RuleSet:
    rule = Rule(
        name="hide",
        doc=None,
        kind=RuleKind.TRANSFORM,
        mode=RuleMode.WRITEREAD,
        type="BACKWARDS",
        tags=list(tags),
        params=None,
        expr=None,
        on_success=None,
        on_failure=None,
        disabled=False,
    )
    return RuleSet(migration_rules=None, domain_rules=[rule], encoding_rules=None)
