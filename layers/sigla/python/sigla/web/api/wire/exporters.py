"""Exporters: their requests into drafts, and exporters into answers."""

from collections.abc import Mapping
from typing import Any

from sigla.exporters import records
from sigla.exporters.nouns import BEGIN, ContextType, Exporter, ExporterDraft, ExporterProgress
from sigla.exporters.verbs.asking import shown_config
from sigla.web.api.wire import bind, text

Json = dict[str, Any]
CONTEXT_TYPES = frozenset(each.value for each in ContextType)


def read_exporter(body: bytes, operation: str) -> ExporterDraft:
    return text.read(body, _draft, operation=operation)


def read_config(body: bytes, operation: str) -> Mapping[str, str]:
    return text.read(body, lambda tree: bind.mapping(bind.members(tree, "Map"), bind.text) or {}, operation=operation)


def _draft(tree: Any) -> ExporterDraft:
    sent = bind.members(tree, "ExporterInfo")
    kind = bind.choice(sent.get("contextType"), "ContextType", CONTEXT_TYPES)
    return ExporterDraft(
        name=bind.text(sent.get("name")),
        subjects=bind.items(sent.get("subjects"), bind.text, "List>"),
        context_type=None if kind is None else ContextType(kind),
        context=bind.text(sent.get("context")),
        subject_rename_format=bind.text(sent.get("subjectRenameFormat")),
        kek_rename_format=bind.text(sent.get("kekRenameFormat")),
        config=bind.mapping(sent.get("config"), bind.text),
    )


def exporter(said: Exporter) -> Json:
    return records.exporter_value(said) | {"config": shown_config(said)}


def status(name: str, said: ExporterProgress) -> Json:
    return {
        "name": name,
        "state": said.state.value,
        "offset": 0 if said.position.walked == BEGIN else said.position.offset,
        "ts": said.ts,
        "trace": said.trace,
    }
