"""Bodies of requests. Unknown fields are ignored, of fields given twice the last one counts."""

from contextlib import suppress
from typing import Any

from sigla.contract import (
    CONFIG_UPDATE,
    DEFAULT_TYPE,
    ENTITY_KINDS,
    ENVIRONMENTS,
    RULE_KINDS,
    RULE_MODES,
    TRANSFORM,
    WRITEREAD,
)
from sigla.model import Draft, Entity, Metadata, OfferedReference, Rule, RuleSet, Tagged, TagRequest
from sigla.web.api.wire import bind, text
from sigla.web.http.refusals import BadRequest, MissingBody


def read_draft(body: bytes, operation: str) -> Draft:
    """A schema to register, look up or check."""
    return text.read(body, draft_of, operation=operation)


def read_tag_request(body: bytes, operation: str) -> TagRequest:
    return text.read(body, _tag_request, operation=operation)


def read_config_patch(body: bytes, operation: str) -> dict[str, object]:
    """Field names of `Config` and their new values: what is absent here stays, what is None is cleared (CFG-2)."""
    return text.read(body, _config_patch, operation=operation)


def read_mode(body: bytes, operation: str) -> str | None:
    """The name of a mode as it was sent; None to remove the entry. A body that does not say is refused (MODE-2)."""
    return text.read(body, _mode, operation=operation)


def check_root(body: bytes) -> None:
    """Refuses what is neither nothing nor an object of strings."""
    with suppress(MissingBody):
        text.read(body, lambda tree: bind.mapping(bind.members(tree, "Map>"), _word), operation="")


def _word(value: Any) -> str:
    return bind.text(value) or ""


def draft_of(tree: Any) -> Draft:
    """A schema as a member of a body, or the body itself."""
    sent = bind.members(tree, "RegisterSchemaRequest")
    if len(sent) == 1 and type(sent.get("schema")) is str:  # what nearly every producer sends
        return Draft(text=bind.text(sent["schema"]))
    return Draft(
        text=bind.text(sent.get("schema")),
        type=_type(bind.text(sent.get("schemaType"))),
        references=bind.items(sent.get("references"), _reference, "SchemaReference>") or (),
        metadata=_metadata(sent.get("metadata")),
        rule_set=_rule_set(sent.get("ruleSet")),
        version=bind.integer(sent.get("version")),
        id=bind.integer(sent.get("id")),
        tags_to_add=bind.items(sent.get("schemaTagsToAdd"), _tagged, "SchemaTags>") or (),
        tags_to_remove=bind.items(sent.get("schemaTagsToRemove"), _tagged, "SchemaTags>") or (),
        propagate_tags=bind.flag(sent.get("propagateSchemaTags")) or False,
    )


def _type(said: str | None) -> str:
    return DEFAULT_TYPE if said is None else said


def _reference(tree: Any) -> OfferedReference | None:
    if tree is None:
        return None
    sent = bind.members(tree, "SchemaReference")
    return OfferedReference(
        bind.text(sent.get("name")), bind.text(sent.get("subject")), bind.integer(sent.get("version"))
    )


def _metadata(tree: Any) -> Metadata | None:
    if tree is None:
        return None
    sent = bind.members(tree, "Metadata")
    return Metadata(
        tags=bind.mapping(sent.get("tags"), bind.words) or {},
        properties=bind.mapping(sent.get("properties"), bind.text) or {},
        sensitive=bind.words(sent.get("sensitive")) or (),
    )


def _rule_set(tree: Any) -> RuleSet | None:
    if tree is None:
        return None
    sent = bind.members(tree, "RuleSet")
    return RuleSet(
        migration=bind.items(sent.get("migrationRules"), _rule, "Rule>") or (),
        domain=bind.items(sent.get("domainRules"), _rule, "Rule>") or (),
        encoding=bind.items(sent.get("encodingRules"), _rule, "Rule>") or (),
        enable_at=bind.choice(sent.get("enableAt"), "ExecutionEnvironment", ENVIRONMENTS),
    )


def _rule(tree: Any) -> Rule | None:
    if tree is None:
        return None
    sent = bind.members(tree, "Rule")
    return Rule(
        name=bind.text(sent.get("name")),
        doc=bind.text(sent.get("doc")),
        kind=bind.choice(sent.get("kind"), "RuleKind", RULE_KINDS) or TRANSFORM,
        mode=bind.choice(sent.get("mode"), "RuleMode", RULE_MODES) or WRITEREAD,
        type=bind.text(sent.get("type")),
        tags=bind.words(sent.get("tags")),
        params=bind.mapping(sent.get("params"), bind.text),
        expr=bind.text(sent.get("expr")),
        on_success=bind.text(sent.get("onSuccess")),
        on_failure=bind.text(sent.get("onFailure")),
        disabled=bind.flag(sent.get("disabled")) or False,
    )


def _tagged(tree: Any) -> Tagged | None:
    if tree is None:
        return None
    sent = bind.members(tree, "SchemaTags")
    if sent.get("schemaEntity") is None:
        raise BadRequest(reason="A tag object needs a `schemaEntity`")
    entity = bind.members(sent["schemaEntity"], "SchemaEntity")
    path, kind = bind.text(entity.get("entityPath")), bind.choice(entity.get("entityType"), "EntityType", ENTITY_KINDS)
    if path is None or kind is None:
        raise BadRequest(reason="A `schemaEntity` needs an `entityPath` and an `entityType`")
    return Tagged(Entity(path, kind), bind.items(sent.get("tags"), bind.text, "String>") or ())


def _tag_request(tree: Any) -> TagRequest:
    sent = bind.members(tree, "TagSchemaRequest")
    return TagRequest(
        new_version=bind.integer(sent.get("newVersion")),
        add=bind.items(sent.get("tagsToAdd"), _tagged, "SchemaTags>") or (),
        remove=bind.items(sent.get("tagsToRemove"), _tagged, "SchemaTags>") or (),
        metadata=_metadata(sent.get("metadata")),
        rule_set=_rule_set(sent.get("ruleSet")),
        rules_to_merge=_rule_set(sent.get("rulesToMerge")),
        rules_to_remove=bind.items(sent.get("rulesToRemove"), bind.text, "String>") or (),
    )


_BINDERS = {"text": bind.text, "flag": bind.flag, "metadata": _metadata, "rule set": _rule_set}


def _config_patch(tree: Any) -> dict[str, object]:
    sent = bind.members(tree, "ConfigUpdateRequest")
    return {field.name: _BINDERS[field.kind](sent[field.wire]) for field in CONFIG_UPDATE if field.wire in sent}


def _mode(tree: Any) -> str | None:
    sent = bind.members(tree, "ModeUpdateRequest")
    if "mode" not in sent:
        raise BadRequest(reason="A `mode` is missing; null removes it")
    return bind.text(sent["mode"])
