"""Subjects and their versions: register, look up, list, delete, check."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

from sigla.errors import InvalidSchema
from sigla.journal.log_entries import form_of_entry, without_address
from sigla.keks.rules import completed
from sigla.model import LATEST, Page, Show, Version
from sigla.registry import Registry
from sigla.registry.usages import Usage, deleted_in_use, form_of_usage, usage_if_known
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import bare, json_answer
from sigla.web.api.wire import answers, requests
from sigla.web.http.answer import Answer


def register(exchange: Exchange, registry: Registry, *, normalize: bool, format: str, force: bool) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    draft = replace(draft, rule_set=completed(draft.rule_set)) if draft.rule_set else draft  # KEY-12
    record = registry.register(exchange.subject, draft, normalize=normalize, force=force, form=format)
    return json_answer(answers.registration(record))


def lookup(exchange: Exchange, registry: Registry, *, normalize: bool, deleted: bool, format: str) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    record = registry.lookup(exchange.subject, draft, normalize=normalize, deleted=deleted, form=format)
    return json_answer(answers.entity(record))


def tag(exchange: Exchange, registry: Registry) -> Answer:
    request = requests.read_tag_request(exchange.body, exchange.operation)
    request = replace(request, rule_set=completed(request.rule_set))  # KEY-12
    return json_answer(answers.registration(registry.tag(exchange.subject, exchange.params["version"], request)))


def check(exchange: Exchange, registry: Registry, *, normalize: bool, verbose: bool) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    version = exchange.version if "version" in exchange.params else None
    try:
        messages = registry.check(exchange.subject, draft, version=version, normalize=normalize)
    except InvalidSchema as refusal:
        if not verbose:
            raise
        messages = (refusal.message,)  # COMPAT-4
    return json_answer(answers.verdict(messages, verbose=verbose))


def diff(exchange: Exchange, registry: Registry, *, deleted: bool) -> Answer:
    old, new = (names.version(exchange.params[name]) for name in ("old", "new"))
    return json_answer(answers.compared(registry.compare_versions(exchange.subject, old, new, deleted=deleted)))


def subjects(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    deleted: bool,
    deleted_only: bool,
    offset: int,
    limit: int,
) -> Answer:
    show = Show.DELETED if deleted_only else Show.ALL if deleted else Show.ACTIVE
    found = registry.subjects(names.search(subject_prefix), show=show, page=Page(offset, limit))
    return json_answer([subject.qualified for subject in found])


def versions(
    exchange: Exchange,
    registry: Registry,
    *,
    deleted: bool,
    deleted_only: bool,
    deleted_as_negative: bool,
    offset: int,
    limit: int,
) -> Answer:
    found = registry.versions(
        exchange.subject,
        deleted=deleted,
        deleted_only=deleted_only,
        deleted_as_negative=deleted_as_negative,
        page=Page(offset, limit),
    )
    return json_answer(found)


def version(
    exchange: Exchange,
    registry: Registry,
    *,
    format: str,
    reference_format: str,
    deleted: bool,
    find_tags: Sequence[str],
) -> Answer:
    record = registry.version(
        exchange.subject,
        exchange.version,
        deleted=deleted,
        form=format,
        qualified_references=reference_format == "qualified",
        find_tags=find_tags,
    )
    return json_answer(answers.entity(record))


def version_text(exchange: Exchange, registry: Registry, *, format: str, deleted: bool) -> Answer:
    return bare(registry.version(exchange.subject, exchange.version, deleted=deleted, form=format).schema.text)


def referenced_by(exchange: Exchange, registry: Registry, *, deleted: bool, offset: int, limit: int) -> Answer:
    page = Page(offset, limit)
    return json_answer(registry.referenced_by(exchange.subject, exchange.version, deleted=deleted, page=page))


def metadata(
    exchange: Exchange, registry: Registry, *, key: Sequence[str], value: Sequence[str], format: str, deleted: bool
) -> Answer:
    pairs = list(zip(key, value, strict=False))
    return json_answer(answers.entity(registry.find_by_metadata(exchange.subject, pairs, deleted=deleted, form=format)))


def history(exchange: Exchange, registry: Registry, *, tokens: bool, offset: int, limit: int) -> Answer:
    """Names of others, and addresses, are told to administrators; each caller is told its own name."""
    entries = registry.subject_history(exchange.subject, page=Page(offset, limit))
    known = {} if tokens else known_names(exchange, registry, {entry.by for entry in entries})
    if not exchange.is_for_administrators:
        entries = [without_address(entry) for entry in entries]
    return json_answer([form_of_entry(entry, known.get(entry.by)) for entry in entries])


def usage(exchange: Exchange, registry: Registry, *, version: str) -> Answer:
    found = registry.usage(exchange.subject, names.version(version) if version else None)
    return json_answer(told_usage(exchange, registry, found, known_names(exchange, registry, found.tokens)))


def told_usage(exchange: Exchange, registry: Registry, found: Usage, known: Mapping[str, str]) -> dict[str, Any]:
    """known: names behind tokens."""
    found = found if exchange.is_for_administrators else found.without_places()
    return form_of_usage(found, known, is_counting=registry.options.counts_reads)


def known_names(exchange: Exchange, registry: Registry, tokens: Iterable[str]) -> Mapping[str, str]:
    """Names of others are told to administrators; each caller is told its own name."""
    if exchange.is_for_administrators:
        return registry.names_of(tokens)
    return registry.own_name(exchange.caller, tokens)


def delete_version(exchange: Exchange, registry: Registry, *, permanent: bool) -> Answer:
    # The latest one is not known yet: that of usage may be soft-deleted.
    used = usage_if_known(registry, exchange.subject, None if exchange.version == LATEST else exchange.version)
    version = registry.delete_version(exchange.subject, exchange.version, permanent=permanent)
    return _deleted(json_answer(version), registry, used, [version])


def delete_subject(exchange: Exchange, registry: Registry, *, permanent: bool) -> Answer:
    used = usage_if_known(registry, exchange.subject)
    versions = registry.delete_subject(exchange.subject, permanent=permanent)
    return _deleted(json_answer(versions), registry, used, versions)


def _deleted(answer: Answer, registry: Registry, used: Usage | None, versions: Sequence[Version]) -> Answer:
    """The answer, with what counters and the log are told of it. used: what was known before."""
    answer.deleted = len(versions)
    answer.told = deleted_in_use(used, versions, registry.names_of)
    return answer
