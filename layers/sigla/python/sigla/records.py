"""What is stored and journaled, as JSON in Confluent's spelling: bodies, rows, settings and the records of `_schemas`.

Every form here is written by `*_json` and read by the noun it makes; reading what was written gives an equal value.
"""

from base64 import b64decode, b64encode
from collections.abc import Callable, Iterable, Mapping
from hashlib import blake2b
from itertools import zip_longest
from typing import Any, NamedTuple

import orjson

from sigla import forms
from sigla.contract import CONFIG
from sigla.errors import FormTooNew
from sigla.keys import utf16
from sigla.model import (
    Body,
    BodyKey,
    Config,
    Guid,
    Metadata,
    Reference,
    Row,
    Rule,
    RuleSet,
    Schema,
    SchemaId,
    Subject,
    Target,
    Version,
)
from sigla.shapes import fits

Json = dict[str, Any]

_RULE_FIELDS = (
    ("name", "name"),
    ("doc", "doc"),
    ("kind", "kind"),
    ("mode", "mode"),
    ("type", "type"),
    ("tags", "tags"),
    ("params", "params"),
    ("expr", "expr"),
    ("on_success", "onSuccess"),
    ("on_failure", "onFailure"),
    ("disabled", "disabled"),
)
_RULE_LISTS = (("migration", "migrationRules"), ("domain", "domainRules"), ("encoding", "encodingRules"))
_PLAIN_SETTINGS = tuple((each.name, each.wire) for each in CONFIG if each.kind in ("text", "flag"))
_METADATA_SETTINGS = tuple((each.name, each.wire) for each in CONFIG if each.kind == "metadata")
_RULE_SETTINGS = tuple((each.name, each.wire) for each in CONFIG if each.kind == "rule set")


def _sorted_map(values: Mapping[str, Any]) -> Json:
    return {key: values[key] for key in sorted(values, key=utf16)}


# --- metadata and rule sets ------------------------------------------------------------------------------------------


def metadata_json(metadata: Metadata) -> Json:
    """Empty members are left out; keys in UTF-16 order."""
    members: Json = {
        "tags": {path: list(tags) for path, tags in _sorted_map(metadata.tags).items()},
        "properties": _sorted_map(metadata.properties),
        "sensitive": list(metadata.sensitive),
    }
    return {name: member for name, member in members.items() if member}


def metadata(form: Mapping[str, Any]) -> Metadata:
    tags = {path: tuple(tags) for path, tags in form.get("tags", {}).items()}
    return Metadata(tags, form.get("properties", {}), tuple(form.get("sensitive", ())))


def rule_json(rule: Rule) -> Json:
    """Nulls are left out; `disabled` is always there."""
    form = {name: getattr(rule, field) for field, name in _RULE_FIELDS}
    if rule.params is not None:
        form["params"] = _sorted_map(rule.params)
    return {name: value for name, value in form.items() if value is not None}


def rule(form: Mapping[str, Any]) -> Rule:
    fields = {field: form[name] for field, name in _RULE_FIELDS if name in form}
    if "tags" in fields:
        fields["tags"] = tuple(fields["tags"])
    return Rule(**fields)


def rule_set_json(rules: RuleSet) -> Json:
    """Empty lists are left out."""
    form: Json = {name: [rule_json(each) for each in getattr(rules, field)] for field, name in _RULE_LISTS}
    form["enableAt"] = rules.enable_at
    return {name: value for name, value in form.items() if value}


def rule_set(form: Mapping[str, Any]) -> RuleSet:
    lists = {field: tuple(rule(each) for each in form.get(name, ())) for field, name in _RULE_LISTS}
    return RuleSet(**lists, enable_at=form.get("enableAt"))


# --- settings --------------------------------------------------------------------------------------------------------


def config_json(config: Config) -> Json:
    """What is not set is left out; the order of the fields is that of a CONFIG record."""
    form: Json = {name: getattr(config, field) for field, name in _PLAIN_SETTINGS}
    form |= {name: _maybe(metadata_json, getattr(config, field)) for field, name in _METADATA_SETTINGS}
    form |= {name: _maybe(rule_set_json, getattr(config, field)) for field, name in _RULE_SETTINGS}
    return {name: value for name, value in form.items() if value is not None}


def config(form: Mapping[str, Any]) -> Config:
    fields = {field: form[name] for field, name in _PLAIN_SETTINGS if name in form}
    fields |= {field: metadata(form[name]) for field, name in _METADATA_SETTINGS if name in form}
    fields |= {field: rule_set(form[name]) for field, name in _RULE_SETTINGS if name in form}
    return Config(**fields)


def _maybe(write: Any, value: Any) -> Any:
    return None if value is None else write(value)


# --- references ------------------------------------------------------------------------------------------------------


def reference_json(reference: Reference) -> Json:
    return {"name": reference.name, "subject": reference.subject, "version": reference.version}


def reference(form: Mapping[str, Any]) -> Reference:
    return Reference(form["name"], form["subject"], Version(form["version"]))


def references_text(references: Iterable[Reference]) -> str:
    return orjson.dumps([reference_json(each) for each in references]).decode()


def references(text: str) -> tuple[Reference, ...]:
    return () if text == "[]" else tuple(reference(each) for each in orjson.loads(text))


def _used_json(reference: Reference | None, target: Target | None) -> Json:
    form = reference_json(reference) if reference else {}
    if target:
        form["resolved"] = {
            "context": target.context,
            "subject": target.subject,
            "version": target.version,
            "id": target.id,
        }
    return form


def _target(form: Mapping[str, Any]) -> Target:
    return Target(form["context"], form["subject"], Version(form["version"]), SchemaId(form["id"]))


# --- bodies and rows -------------------------------------------------------------------------------------------------


def schema_json(schema: Schema) -> Json:
    """What a SCHEMA record and a body share, in the record's order; empty members are left out."""
    form: Json = {"schemaType": schema.type}
    if schema.references:
        form["references"] = [reference_json(each) for each in schema.references]
    if schema.metadata is not None:
        form["metadata"] = metadata_json(schema.metadata)
    if schema.rule_set is not None:
        form["ruleSet"] = rule_set_json(schema.rule_set)
    form["schema"] = schema.text
    return form


def schema(form: Mapping[str, Any]) -> Schema:
    """A record without a type is Avro's; one without a text was imported blank."""
    return Schema(
        type=form.get("schemaType", "AVRO"),
        text=form.get("schema", ""),
        references=tuple(map(reference, form.get("references", ()))),
        metadata=metadata(form["metadata"]) if "metadata" in form else None,
        rule_set=rule_set(form["ruleSet"]) if "ruleSet" in form else None,
    )


_DIGEST = b',"digest":"'
_DIGEST_BYTES = 16
_SEALED = 1
_SEAL_LENGTH = len(_DIGEST) + 2 * _DIGEST_BYTES + len(b'"}')


def body_bytes(key: BodyKey, body: Body) -> bytes:
    """A body as it is stored, in the newest form."""
    return BODY_CODECS[forms.BODY].write(key, body)


def _write_sealed(key: BodyKey, body: Body) -> bytes:
    """Whose it is, each reference with what it `resolved` to, its birth, its compiled form.

    The last member is a digest of all the others.
    """
    form: Json = {forms.FORM: _SEALED, "context": key.context, "id": key.id} | schema_json(body.schema)
    form["references"] = [_used_json(*each) for each in zip_longest(body.schema.references, body.targets)]
    subject = {"context": body.subject.context, "name": body.subject.name}
    form |= {"guid": body.guid, "subject": subject, "version": body.version}
    form |= {"ts": body.ts, "nonce": body.nonce, "gone": body.gone}
    if body.compiled is not None:
        form["fileDescriptorSet"] = b64encode(body.compiled).decode()
    if body.epoch is not None:
        form["epoch"] = body.epoch
    if body.brought:
        form["brought"] = True
    return sealed(orjson.dumps(form))


def sealed(form: bytes) -> bytes:
    """A JSON object with a digest of its bytes as its last member."""
    return b"".join((form[:-1], _DIGEST, _body_digest(form[:-1]), b'"}'))


def body(key: BodyKey, stored: bytes) -> Body:
    """Raises ValueError if these bytes are not a body, or JSON of another shape, or the body of another id.

    Raises FormTooNew before anything else is asked of it: another form may be sealed otherwise.
    """
    form = orjson.loads(stored)
    try:
        if newer := forms.newer(form, forms.BODY):
            raise FormTooNew(f"the body of id {key.id} in context {key.context}", newer, forms.BODY)
        codec = BODY_CODECS[form.get(forms.FORM, _SEALED)]
        return codec.read(key, form, stored)
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not a body") from wrong


def _read_sealed(key: BodyKey, form: Json, stored: bytes) -> Body:
    """Reads bodies of earlier releases, too.

    Those before 2026-11-22 neither name their id nor bear a digest, those before 2026-11-23 say no form.
    """
    if "id" in form:
        _check_seal(key, form, stored)
    return body_of(form)


class BodyCodec(NamedTuple):
    """How bodies are written and read in one form.

    read: given the JSON object that the bytes are, and the bytes. Raises ValueError for what is not the key's body.
    """

    write: Callable[[BodyKey, Body], bytes]
    read: Callable[[BodyKey, Json, bytes], Body]


BODY_CODECS: dict[int, BodyCodec] = {_SEALED: BodyCodec(_write_sealed, _read_sealed)}
"""By the number of the form. All bytes of bodies are made and read here, for files, objects and rings. A body that is
encrypted or packed is one more row, an object that says its number; the form that is written is `forms.BODY`."""


def body_of(form: Any) -> Body:
    """The body that a JSON form is, whosever it is. Raises ValueError for a form of another shape."""
    try:
        found = _body(form)
    except (LookupError, TypeError, AttributeError) as wrong:
        raise ValueError("this is not a body") from wrong
    if not fits(found, Body):
        raise ValueError("this is not a body")
    return found


def _check_seal(key: BodyKey, form: Mapping[str, Any], stored: bytes) -> None:
    if (form["context"], form["id"]) != key:
        raise ValueError("this is the body of another id")
    rest, seal = memoryview(stored)[:-_SEAL_LENGTH], stored[-_SEAL_LENGTH:]
    if seal != b"".join((_DIGEST, _body_digest(rest), b'"}')):
        raise ValueError("this body was changed")


def _body_digest(content: bytes | memoryview) -> bytes:
    return blake2b(content, digest_size=_DIGEST_BYTES).hexdigest().encode()


def _body(form: Any) -> Body:
    used = form["references"]
    if not isinstance(used, list) or not all(isinstance(each, dict) for each in used):
        raise TypeError(used)
    schema = Schema(
        type=form["schemaType"],
        text=form["schema"],
        references=tuple(reference(each) for each in used if "name" in each),
        metadata=metadata(form["metadata"]) if "metadata" in form else None,
        rule_set=rule_set(form["ruleSet"]) if "ruleSet" in form else None,
    )
    return Body(
        schema=schema,
        guid=Guid(form["guid"]),
        targets=tuple(_target(each["resolved"]) for each in used if "resolved" in each),
        subject=Subject(form["subject"]["context"], form["subject"]["name"]),
        version=Version(form["version"]),
        ts=form["ts"],
        nonce=form["nonce"],
        gone=form["gone"],
        compiled=b64decode(form["fileDescriptorSet"]) if "fileDescriptorSet" in form else None,
        epoch=form.get("epoch"),
        brought=form.get("brought", False),
    )


def row_json(row: Row) -> Json:
    return {
        "version": row.version,
        "id": row.id,
        "guid": row.guid,
        "schemaType": row.type,
        "references": [reference_json(each) for each in row.references],
        "deleted": row.deleted,
        "ts": row.ts,
        "revision": row.revision,
    }


def row(form: Mapping[str, Any]) -> Row:
    return Row(
        version=Version(form["version"]),
        id=SchemaId(form["id"]),
        guid=Guid(form["guid"]),
        type=form["schemaType"],
        references=tuple(reference(each) for each in form["references"]),
        deleted=form["deleted"],
        ts=form["ts"],
        revision=form["revision"],
    )


# --- records of `_schemas` -------------------------------------------------------------------------------------------

Pair = tuple[bytes, bytes | None]
"""Key and value of a record; a value of None is a tombstone.

The topic is compacted by the bytes of its keys, so the order of a key's fields is part of the format.
"""


def schema_record(
    subject: Subject, version: Version, id: SchemaId | None, schema: Schema | None, *, deleted: bool
) -> Pair:
    """A stored version, or its purge (no schema)."""
    key = {"keytype": "SCHEMA", "subject": subject.qualified, "version": version, "magic": 1}
    value = {"subject": subject.qualified, "version": version, "id": id}
    return pair(key, value | schema_json(schema) | {"deleted": deleted} if schema else None)


def context_record(context: str, *, listed: bool) -> Pair:
    value = {"tenant": "default", "context": context}
    return pair({"keytype": "CONTEXT", **value, "magic": 0}, value if listed else None)


def delete_subject_record(subject: Subject, through: Version) -> Pair:
    return _about("DELETE_SUBJECT", subject, {"version": through})


def clear_subject_record(scope: Subject) -> Pair:
    return _about("CLEAR_SUBJECT", scope, {})


def config_record(scope: Subject, config: Mapping[str, Any] | None) -> Pair:
    """config: as `config_json` writes it; what is empty has no place in the topic."""
    return _about(
        "CONFIG", scope, None if config is None else {name: each for name, each in config.items() if each != ""}
    )


def mode_record(scope: Subject, mode: str | None) -> Pair:
    return _about("MODE", scope, None if mode is None else {"mode": mode})


def noop_record(value: Json) -> Pair:
    """What Confluent's topic has no record for: to a registry of theirs this is one that says nothing."""
    return pair({"keytype": "NOOP", "magic": 0}, value)


def _about(keytype: str, scope: Subject, value: Json | None) -> Pair:
    """A record about a subject or a context; about the default context it names none."""
    named = {"subject": scope.qualified} if scope.qualified else {}
    return pair({"keytype": keytype, **named, "magic": 0}, None if value is None else named | value)


def type_of_key(key: Mapping[str, Any]) -> str:
    """What a record is about, by its key; those of `_dek_registry_keys` say it by another name."""
    return str(key.get("keytype") or key["type"])


def pair(key: Json, value: Json | None) -> Pair:
    """A record of this key and value; None: a tombstone."""
    return orjson.dumps(key), None if value is None else orjson.dumps(value)
