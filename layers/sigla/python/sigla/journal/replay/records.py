"""Records of the topic `_schemas`, read: one record, one event (docs/api.md has the rules; JRN-1 to JRN-9)."""

from base64 import b64decode
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any, NamedTuple
from uuid import UUID

import orjson

from sigla import records
from sigla.associations import records as association_records
from sigla.associations.nouns import LIFECYCLES, TYPES
from sigla.contract import ENVIRONMENTS, HIGHEST, LEVELS, MODES, POLICIES, RULE_KINDS, RULE_MODES
from sigla.errors import InvalidSubject
from sigla.exporters import records as exporter_records
from sigla.journal.replay import keys
from sigla.journal.replay.events import (
    Associated,
    Cleared,
    ConfigSet,
    ContextSet,
    Continued,
    Event,
    Hidden,
    ModeSet,
    Nothing,
    Purged,
    Put,
    Skipped,
)
from sigla.keks.refusals import InvalidKeyField
from sigla.keys import utf16
from sigla.model import Config, Guid, Metadata, Rule, RuleSet, Schema, SchemaId, Search, Subject, Version
from sigla.rules import names
from sigla.rules.guid import guid_of, is_encrypted
from sigla.shapes import fits

Json = dict[str, Any]

LATEST_TIME = 2**53
"""Milliseconds; beyond that JSON readers lose digits. -1 is Kafka's word for no time."""
QUOTED = 200
"""Characters of a key that are told of a record that is skipped."""

NO_KEY = "its key is not one of this topic"
UNKNOWN = "no record of that type is known"
MAGIC = "it was written in a form of another time"
NUMBER = "a version is 1 to 2147483647, an id 0 to 2147483647"
TIME = "no record can have that time"
NAME = "no subject can be stored under that name"
VALUE = "its value cannot be read"

EXPORTER = "an exporter is created by its API, as no record has its credentials"

FOREIGN = frozenset({UNKNOWN, EXPORTER})
"""Why records are skipped that are not missed here: they are of kinds that an import does not bring."""

ENABLED_AT = (*ENVIRONMENTS, None)

_BROKEN = (ValueError, LookupError, TypeError, AttributeError, RecursionError)
"""What reading a form raises if no writer should have written it."""


class TopicRecord(NamedTuple):
    """A record as it stands in the topic: JSON texts, None for a tombstone; `ts` in milliseconds since the epoch."""

    key: str | bytes
    value: str | bytes | None
    ts: int
    offset: int


class _UnfitRecord(Exception):
    """Why a record is skipped."""


def read(record: TopicRecord) -> Event:
    """What the record says. One that cannot be followed is Skipped; nothing is raised."""
    try:
        return _read_record(record)
    except _UnfitRecord as unfit:
        why = str(unfit)
    except InvalidSubject:
        why = NAME
    except InvalidKeyField:
        why = keys.NOT_STORABLE
    except _BROKEN:
        why = VALUE
    return Skipped(record.offset, _quoted(record.key), why)


def from_answer(answer: Mapping[str, Any]) -> TopicRecord:
    """The record that a registry wrote for a version that its API answers with; they share their fields.

    Registries of old tell no time; theirs is the beginning of time. Raises KeyError.
    """
    key = {"keytype": "SCHEMA", "subject": answer["subject"], "version": answer["version"], "magic": 1}
    return TopicRecord(orjson.dumps(key), orjson.dumps(answer), answer.get("ts") or 0, 0)


ASK_HIGHEST = {"fetchMaxId": "true"}
"""What to ask an API for, beside an id, so that `highest_of` finds something."""


def highest_of(answer: Mapping[str, Any], id: SchemaId) -> SchemaId:
    """The highest id of a context, as an answer about the id `id` tells it; that itself, where it does not."""
    return SchemaId(max(id, _number_from(answer.get("maxId", id), 0)))


def _read_record(record: TopicRecord) -> Event:
    key = _object(record.key, NO_KEY)
    if "keytype" not in key and (of_a_key := keys.READERS.get(str(key.get("type")))):
        return of_a_key(
            record.offset, _time(record), key, None if record.value is None else _object(record.value, VALUE)
        )
    keytype = key.get("keytype")
    reader = _READERS.get(keytype) if isinstance(keytype, str) else None
    if reader is None:
        raise _UnfitRecord(UNKNOWN if isinstance(keytype, str) else NO_KEY)
    _time(record)
    value = None if record.value is None else _pruned(_object(record.value, VALUE))
    return reader(record, key, value)


def _time(record: TopicRecord) -> int:
    if not fits(record.ts, int) or not -1 <= record.ts < LATEST_TIME:
        raise _UnfitRecord(TIME)
    return record.ts


def _object(text: str | bytes, why: str) -> Json:
    try:
        form = orjson.loads(text)
    except _BROKEN:
        raise _UnfitRecord(why) from None
    if not isinstance(form, dict):
        raise _UnfitRecord(why)
    return form


def _pruned(form: Any) -> Any:
    """Without nulls: to the reference a null is a field that is not there."""
    if isinstance(form, dict):
        return {name: _pruned(value) for name, value in form.items() if value is not None}
    return [_pruned(each) for each in form] if isinstance(form, list) else form


def _quoted(key: str | bytes) -> str:
    text = key if isinstance(key, str) else key.decode("utf-8", "replace")
    return text if len(text) <= QUOTED else f"{text[:QUOTED]}…"


# --- kinds of records ------------------------------------------------------------------------------------------------


def _schema(record: TopicRecord, key: Json, value: Json | None) -> Event:
    if key.get("magic", 0) not in (0, 1):
        raise _UnfitRecord(MAGIC)
    subject, version = _subject(key), _version(key)
    names.check_registrable(subject)
    if value is None:
        return Purged(record.offset, subject, version)
    schema, deleted = _meaning(value), value.get("deleted", False)
    if not fits(deleted, bool):
        raise _UnfitRecord(VALUE)
    # If metadata is encrypted, the hash is of what it was before. Any other can be made, and is.
    told = Guid(str(UUID(bytes=b64decode(value["md5"])))) if "md5" in value else None
    guid = told if told is not None and is_encrypted(schema.metadata) else guid_of(schema)
    return Put(
        record.offset,
        subject,
        version,
        SchemaId(_number_from(value["id"], 0)),
        schema,
        guid,
        deleted=deleted,
        ts=record.ts,
    )


def _delete_subject(record: TopicRecord, key: Json, value: Json | None) -> Event:
    return Nothing(record.offset) if value is None else Hidden(record.offset, _subject(key), _version(value))


def _clear_subject(record: TopicRecord, key: Json, value: Json | None) -> Event:
    return Nothing(record.offset) if value is None else Cleared(record.offset, Search.under(_subject(key)))


def _config(record: TopicRecord, key: Json, value: Json | None) -> Event:
    scope = _subject(key)
    names.check_configurable(scope)
    return ConfigSet(record.offset, scope, None if value is None else _config_from(value))


def _mode(record: TopicRecord, key: Json, value: Json | None) -> Event:
    scope = _subject(key)
    names.check_configurable(scope)
    if value is not None and value["mode"] not in MODES:
        raise _UnfitRecord(VALUE)
    return ModeSet(record.offset, scope, None if value is None else value["mode"])


def _context(record: TopicRecord, key: Json, value: Json | None) -> Event:
    context = key["context"]
    if not isinstance(context, str) or not context.startswith("."):
        raise _UnfitRecord(NAME)
    # As a subject would be: a context of this name has to be possible.
    scope = names.subject(f":{context}:")
    names.check_configurable(scope)
    if scope.context != context or scope.in_default_context:
        raise _UnfitRecord(NAME)
    return ContextSet(record.offset, context, listed=value is not None)


def _noop(record: TopicRecord, _: Json, value: Json | None) -> Event:
    """To the reference it says nothing, whatever is in it; in a journal of ours it may say where numbering goes on."""
    if value is None or "continueAfter" not in value:
        return Nothing(record.offset)
    context = value["context"]
    if not isinstance(context, str) or names.subject(f":{context}:") != Subject(context, ""):
        raise _UnfitRecord(NAME)
    return Continued(record.offset, context, SchemaId(_number_from(value["continueAfter"], 0)))


def _exporter(_: TopicRecord, __: Json, ___: Json | None) -> Event:
    """Only the journal has such records. Raises _UnfitRecord."""
    raise _UnfitRecord(EXPORTER)


def _association(record: TopicRecord, key: Json, value: Json | None) -> Event:
    told = association_records.key_of(key)
    if value is None:
        return Associated(record.offset, told, None)
    one = association_records.from_value(value, record.ts, record.ts)
    names.check_registrable(one.subject)
    if association_records.key_of(association_records.key(one)) != told:
        raise _UnfitRecord(VALUE)
    if one.type not in TYPES or one.lifecycle not in LIFECYCLES or not one.resource.id:
        raise _UnfitRecord(VALUE)
    return Associated(record.offset, told, one)


_READERS: Mapping[str, Callable[[TopicRecord, Json, Json | None], Event]] = {
    "SCHEMA": _schema,
    "DELETE_SUBJECT": _delete_subject,
    "CLEAR_SUBJECT": _clear_subject,
    "CONFIG": _config,
    "MODE": _mode,
    "CONTEXT": _context,
    "NOOP": _noop,
    "ASSOC": _association,
    exporter_records.EXPORTER: _exporter,
}


# --- their parts -----------------------------------------------------------------------------------------------------


def _subject(form: Json) -> Subject:
    """Old servers wrote a null where there is no subject."""
    text = form.get("subject")
    if text is None:
        text = ""
    if not isinstance(text, str):
        raise _UnfitRecord(NAME)
    named = names.subject(text)
    return Subject(named.context, named.name)


def _version(form: Json) -> Version:
    return Version(_number_from(form["version"], 1))


def _number_from(number: object, least: int) -> int:
    if not isinstance(number, int) or isinstance(number, bool) or not least <= number <= HIGHEST:
        raise _UnfitRecord(NUMBER)
    return number


def _meaning(value: Json) -> Schema:
    """A record without a type is Avro's; one without a text was imported blank."""
    schema = Schema(
        type=value.get("schemaType", "AVRO"),
        text=value.get("schema", ""),
        references=tuple(records.reference(each) for each in value.get("references", ())),
        metadata=_metadata(value.get("metadata")),
        rule_set=_rule_set(value.get("ruleSet")),
    )
    if not fits(schema, Schema):
        raise _UnfitRecord(VALUE)
    return schema


def _config_from(value: Json) -> Config:
    config = records.config(value)
    config = replace(
        config,
        policy=config.policy if config.policy in POLICIES else None,
        default_metadata=_sorted_sets(config.default_metadata),
        override_metadata=_sorted_sets(config.override_metadata),
    )
    rules = (config.default_rule_set, config.override_rule_set)
    if (
        not fits(config, Config)
        or not (config.level is None or config.level in LEVELS)
        or not all(map(_is_known, rules))
    ):
        raise _UnfitRecord(VALUE)
    return config


def _metadata(form: Json | None) -> Metadata | None:
    return None if form is None else _sorted_sets(records.metadata(form))


def _sorted_sets(metadata: Metadata | None) -> Metadata | None:
    if metadata is None:
        return None
    tags = {path: tuple(sorted(set(tags), key=utf16)) for path, tags in metadata.tags.items()}
    return replace(metadata, tags=tags, sensitive=tuple(sorted(set(metadata.sensitive), key=utf16)))


def _rule_set(form: Json | None) -> RuleSet | None:
    rule_set = None if form is None else records.rule_set(form)
    if not _is_known(rule_set):
        raise _UnfitRecord(VALUE)
    return rule_set


def _is_known(rule_set: RuleSet | None) -> bool:
    """Whether its words are those of the contract; others would have stopped the reference's own reader."""

    def is_known(rule: Rule) -> bool:
        return rule.kind in RULE_KINDS and rule.mode in RULE_MODES

    return rule_set is None or (rule_set.enable_at in ENABLED_AT and all(map(is_known, rule_set.rules)))
