"""Records of `_schemas` as a topic has them, written down in a line each."""

import json
from collections.abc import Sequence
from typing import Any

from sigla.journal.replay import State, TopicRecord, replayed
from sigla.model import Subject, Version
from sigla.rules import names

TEXT = '{"type":"record","name":"Order","fields":[{"name":"a","type":"int"}]}'
OTHER = '{"type":"record","name":"Order","fields":[{"name":"a","type":"long"}]}'
THIRD = '{"type":"record","name":"Order","fields":[]}'

Said = tuple[dict[str, Any], dict[str, Any] | None]


def s(text: str) -> Subject:
    return names.subject(text)


def schema(subject: str, version: int, id: int, text: str | None = TEXT, **fields: Any) -> Said:
    key = {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}
    value = {"subject": subject, "version": version, "id": id, "schemaType": "AVRO", "deleted": False} | fields
    return key, value if text is None else value | {"schema": text}


def purged(subject: str, version: int) -> Said:
    return {"keytype": "SCHEMA", "subject": subject, "version": version, "magic": 1}, None


def hidden(subject: str, through: int) -> Said:
    return {"keytype": "DELETE_SUBJECT", "subject": subject, "magic": 0}, {"subject": subject, "version": through}


def cleared(scope: str = "") -> Said:
    named = {"subject": scope} if scope else {}
    return {"keytype": "CLEAR_SUBJECT", **named, "magic": 0}, named


def config(scope: str, **fields: Any) -> Said:
    named = {"subject": scope} if scope else {}
    return {"keytype": "CONFIG", **named, "magic": 0}, named | fields


def mode(scope: str, wanted: str | None) -> Said:
    named = {"subject": scope} if scope else {}
    return {"keytype": "MODE", **named, "magic": 0}, None if wanted is None else named | {"mode": wanted}


def context(name: str, *, listed: bool = True) -> Said:
    value = {"tenant": "default", "context": name}
    return {"keytype": "CONTEXT", **value, "magic": 0}, value if listed else None


def continued(context: object, after: object) -> Said:
    return {"keytype": "NOOP", "magic": 0}, {"context": context, "continueAfter": after}


def topic(*said: Said, at: int = 1_000) -> list[TopicRecord]:
    """Each a second after the one before, the first at `at`."""
    return [
        TopicRecord(json.dumps(key), None if value is None else json.dumps(value), at + 1000 * offset, offset)
        for offset, (key, value) in enumerate(said)
    ]


def state(*said: Said) -> State:
    return replayed(topic(*said))


def stored(state: State, subject: str) -> list[tuple[Version, int, bool, int]]:
    """Number, id, whether deleted, time in seconds, by number."""
    puts = state.subjects.get(s(subject), ())
    return sorted((put.version, put.id, put.deleted, put.ts // 1000) for put in puts)


def reasons(state: State) -> Sequence[tuple[int, str]]:
    return [(skipped.offset, skipped.why) for skipped in state.skipped]
