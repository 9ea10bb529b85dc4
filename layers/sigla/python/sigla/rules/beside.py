"""What a version says beside its text (references, metadata, rules), as parts that can be compared."""

from json import dumps
from typing import Any

from sigla.languages.outline import SchemaPart
from sigla.model import RuleSet, Schema
from sigla.records import metadata_json, rule_json


def version_parts(schema: Schema) -> SchemaPart:
    """Keys have brackets: so nothing of a schema is called."""
    part = SchemaPart("version")
    references = part.add("(references)", SchemaPart("references", ordered=True))
    for reference in schema.references:
        references.say(reference.name, f"{reference.subject}:{reference.version}", "reference")
    part.add("(metadata)", valued("metadata", metadata_json(schema.metadata) if schema.metadata else {}))
    part.add("(rules)", rules(schema.rule_set or RuleSet()))
    return part


def rules(of: RuleSet) -> SchemaPart:
    part = SchemaPart("rule set")
    part.say("enabled at", of.enable_at)
    for key, each in (("migration", of.migration), ("domain", of.domain), ("encoding", of.encoding)):
        listed = part.add(key, SchemaPart("rules", ordered=True))
        for rule in each:
            listed.add(rule.name or "", valued("rule", rule_json(rule)))
    return part


def valued(noun: str, value: Any) -> SchemaPart:
    """Objects by their keys, whatever is empty left out; anything else as JSON."""
    if not isinstance(value, dict):
        return SchemaPart(noun, dumps(value, ensure_ascii=False))
    part = SchemaPart(noun, whole=lambda: dumps(value, ensure_ascii=False))
    for key, inner in value.items():
        if inner not in (None, (), {}):
            part.add(key, valued(key, inner))
    return part
