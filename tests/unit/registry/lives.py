"""A registry's life in a few records, and all that can be asked about it afterwards."""

from dataclasses import replace
from typing import Any

from sigla.model import BodyKey, Holder, Row, Search, Subject
from sigla.registry import Registry
from sigla.registry.steps import parsing
from tests.unit.journal.topic import OTHER, THIRD, config, context, hidden, mode, purged, schema

BASE = '{"type":"record","name":"Base","fields":[]}'
USING = '{"type":"record","name":"Using","fields":[{"name":"base","type":"Base"}]}'
TO_BASE = [{"name": "Base", "subject": "base", "version": 1}]

A_LIFE = (
    context(".c"),
    context(".empty"),
    schema("using", 1, 2, USING, references=TO_BASE, deleted=True),
    schema("base", 1, 1, BASE),
    schema("o", 1, 3),
    schema("o", 2, 4, OTHER),
    schema("o", 5, 3),
    hidden("o", 2),
    schema("o", 7, 9, THIRD),
    purged("o", 7),
    schema(":.c:o", 1, 1, OTHER),
    schema(":.c:o", 2, 8, OTHER),
    schema("p", 1, 5, '"string"'),
    schema("p", 2, 6, '"string"', deleted=True),
    config("", compatibilityLevel="NONE"),
    config("p", alias="q", compatibilityLevel="FULL"),
    mode(":.c:", "READONLY"),
)
"""References before what they refer to, gaps, deletes of all kinds, an id with two versions, a content with two ids."""


def contents(registry: Registry) -> dict[str, Any]:
    """All that can be asked, for comparison; revisions and nonces are a store's own."""
    catalog = registry.catalog
    rows = [
        (subject, replace(row, revision=0))
        for subject, row in catalog.versions(Search(context=None), deleted=True, latest_only=False)
    ]
    keys = sorted({BodyKey(subject.context, row.id) for subject, row in rows})
    return {
        "versions": rows,
        "settings": [(scope, each.config, each.mode) for scope, each in catalog.settings(Search(context=None))],
        "contexts": catalog.contexts(),
        "highest": [(name, catalog.max_id(name)) for name in (".", ".c", ".empty")],
        "speakers": [(key, said(catalog.speaker(key))) for key in keys],
        "known": [(subject, catalog.id_of(subject.context, row.guid)) for subject, row in rows],
        "bodies": [(key, (body := registry.bodies.get(key)).schema, body.targets) for key in keys],
        "referrers": [
            (each, *pair) for each in catalog.subjects(Search(context=None)) for pair in catalog.referrers(each)
        ],
        "candidates": [
            (subject, [row.version for row in catalog.candidates(subject, digests_of(registry, key_of(subject, row)))])
            for subject, row in rows
        ],
    }


def said(speaker: Holder | None) -> object:
    return speaker and (speaker.subject, speaker.version, speaker.deleted, speaker.ts)


def key_of(subject: Subject, row: Row) -> BodyKey:
    return BodyKey(subject.context, row.id)


def digests_of(registry: Registry, key: BodyKey) -> tuple[str, ...]:
    parsed = parsing.stored(registry, key)
    return (parsing.language_of(parsed.language).digest(parsed),)
