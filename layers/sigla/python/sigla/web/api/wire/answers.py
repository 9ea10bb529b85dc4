"""Bodies of answers. A field that has nothing to say is left out; booleans and numbers always have (§1.6)."""

from collections.abc import Callable, Mapping, Sequence
from operator import attrgetter
from typing import Any

from sigla.contract import CONFIG, CONFIG_UPDATE, ConfigField
from sigla.keys import utf16
from sigla.model import (
    BodyKey,
    Config,
    Metadata,
    Record,
    Reference,
    Row,
    Rule,
    RuleSet,
    Settings,
    Subject,
    Tagged,
    Version,
)
from sigla.ports.zones import Zone
from sigla.registry.differences import Compared
from sigla.registry.guids import KnownContent
from sigla.rules.difference import form_of

Json = dict[str, Any]


def entity(record: Record) -> Json:
    """A schema as a version of a subject."""
    told = _parts_of(record, "subject", "version", "id", "guid", "type", "references", "metadata", "rule_set", "schema",
                     "tags", "ts", "deleted")  # fmt: skip
    if record.aliases:
        told["aliases"] = [alias.qualified for alias in record.aliases]
    return told


def by_id(record: Record) -> Json:
    """A schema as the meaning of an id, which is the one thing the answer does not repeat."""
    return _parts_of(record, "subject", "version", "guid", "type", "schema", "references", "metadata", "rule_set",
                     "tags", "max_id", "ts", "deleted")  # fmt: skip


def registration(record: Record) -> Json:
    return _parts_of(record, "id", "version", "guid", "type", "references", "metadata", "rule_set", "schema", "ts",
                     "deleted")  # fmt: skip


_PARTS: Mapping[str, tuple[str, Callable[[Record], Any]]] = {
    "subject": ("subject", lambda record: record.subject and record.subject.qualified),
    "version": ("version", attrgetter("version")),
    "id": ("id", attrgetter("id")),
    "guid": ("guid", attrgetter("guid")),
    "type": ("schemaType", attrgetter("schema.type")),
    "references": ("references", lambda record: [reference(one) for one in record.schema.references]),
    "metadata": ("metadata", lambda record: metadata(record.schema.metadata)),
    "rule_set": ("ruleSet", lambda record: rule_set(record.schema.rule_set)),
    "schema": ("schema", attrgetter("schema.text")),
    "tags": ("schemaTags", lambda record: [tagged(one) for one in record.tags or ()]),
    "max_id": ("maxId", attrgetter("max_id")),
    "ts": ("ts", attrgetter("ts")),
    "deleted": ("deleted", attrgetter("deleted")),
}


def _parts_of(record: Record, *parts: str) -> Json:
    told: Json = {}
    for part in parts:
        name, take = _PARTS[part]
        value = take(record)
        if value not in (None, "", []):
            told[name] = value
    return told


def reference(one: Reference) -> Json:
    return {"name": one.name, "subject": one.subject, "version": one.version}


def tagged(one: Tagged) -> Json:
    return {"schemaEntity": {"entityPath": one.entity.path, "entityType": one.entity.kind}, "tags": list(one.tags)}


def metadata(said: Metadata | None) -> Json | None:
    """Metadata with nothing in it is something: `{}`."""
    if said is None:
        return None
    tags = {path: sorted(said.tags[path], key=utf16) for path in sorted(said.tags, key=utf16)}
    return _full(tags=tags, properties=_sorted(said.properties), sensitive=sorted(said.sensitive, key=utf16))


def rule_set(said: RuleSet | None) -> Json | None:
    if said is None:
        return None
    lists = {"migrationRules": said.migration, "domainRules": said.domain, "encodingRules": said.encoding}
    return _full(**{name: [_rule(one) for one in rules] for name, rules in lists.items()}, enableAt=said.enable_at)


def _rule(one: Rule) -> Json:
    told = _full(
        name=one.name,
        doc=one.doc,
        kind=one.kind,
        mode=one.mode,
        type=one.type,
        tags=sorted(one.tags or (), key=utf16),
        params=_sorted(one.params or {}),
        expr=one.expr,
        onSuccess=one.on_success,
        onFailure=one.on_failure,
    )
    return {**told, "disabled": one.disabled}


def compared(found: Compared) -> Json:
    """What is between two versions: which they are, and what the rules tell of them."""
    old, new = (
        {"version": row.version, "id": row.id, "guid": row.guid, "schemaType": row.type, "deleted": row.deleted}
        for row in (found.old, found.new)
    )
    return {"subject": found.subject.qualified, "old": old, "new": new, **form_of(found.told)}


def found_subject(subject: Subject, highest: Row) -> Json:
    """A subject in a list, with what its highest version is."""
    version = {"version": highest.version, "id": highest.id, "schemaType": highest.type, "deleted": highest.deleted}
    return {"subject": subject.qualified, **version}


def config(said: Config) -> Json:
    """A config entry as GET and DELETE show it."""
    return _settings(said, CONFIG, {})


def scope_settings(scope: Subject, said: Settings) -> Json:
    """What is set for a scope itself. The global one has no name."""
    told: Json = {"subject": scope.qualified}
    if said.config is not None:
        told["config"] = config(said.config)
    if said.mode is not None:
        told["mode"] = said.mode
    return told


def config_update(said: Config, patch: Mapping[str, object]) -> Json:
    """A config entry as PUT shows it: all that is stored. An empty text is shown to the request that sent it."""
    return _settings(said, CONFIG_UPDATE, {name: value for name, value in patch.items() if value == ""})


def _settings(said: Config, fields: Sequence[ConfigField], emptied: Mapping[str, object]) -> Json:
    told: Json = {}
    for field in fields:
        value = _RENDER[field.kind](getattr(said, field.name))
        if field.name in emptied:
            told[field.wire] = ""
        elif value is not None and value != "":
            told[field.wire] = value
    return told


_RENDER: Mapping[str, Callable[[Any], Any]] = {
    "text": lambda value: value,
    "flag": lambda value: value,
    "metadata": metadata,
    "rule set": rule_set,
}


def mode(name: str | None) -> Json:
    return {"mode": name}


def verdict(messages: Sequence[str], *, verbose: bool) -> Json:
    told: Json = {"is_compatible": not messages}
    return {**told, "messages": list(messages)} if verbose else told


def subject_version(held: tuple[Subject, Version]) -> Json:
    return {"subject": held[0].qualified, "version": held[1]}


def known_content(known: KnownContent) -> Json:
    holder = known.holder
    told: Json = {"guid": known.guid, "id": known.id, **subject_version((holder.subject, holder.version))}
    return told | {name: True for name in ("deleted", "displaced") if getattr(holder, name)}


def context_id(key: BodyKey) -> Json:
    return {"context": key.context, "id": key.id}


def zone(found: Zone) -> Json:
    return _full(
        id=found.id,
        name=found.name,
        url=found.url,
        healthy=found.healthy,
        checked=found.checked,
        reason=found.reason,
    )


def error(code: int, message: str) -> Json:
    return {"error_code": code, "message": message}


def _sorted(said: Mapping[str, str]) -> Json:
    return {name: said[name] for name in sorted(said, key=utf16)}


def _full(**parts: Any) -> Json:
    """The parts that have something to say."""
    return {name: value for name, value in parts.items() if value not in (None, "", [], {})}
