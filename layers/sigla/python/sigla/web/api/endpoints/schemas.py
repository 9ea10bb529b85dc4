"""Schemas by id, by GUID, and as a list."""

from collections.abc import Sequence
from dataclasses import replace

from sigla.associations.nouns import NONE, Selection
from sigla.associations.verbs import reading
from sigla.associations.verbs.reading import SubjectFilter
from sigla.contract import MOST_CONTENTS
from sigla.languages import LANGUAGES
from sigla.model import DEFAULT_CONTEXT, GLOBAL, BodyKey, Page, Record, Subject
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.rendered import named_for
from sigla.web.api.replies import bare, json_answer
from sigla.web.api.wire import answers
from sigla.web.api.wire import associations as wire
from sigla.web.http.answer import Answer


def schema_by_id(
    exchange: Exchange,
    registry: Registry,
    *,
    subject: str,
    format: str,
    reference_format: str,
    find_tags: Sequence[str],
    fetch_max_id: bool,
) -> Answer:
    scope = exchange.scope(subject)
    if not (fetch_max_id or reference_format or find_tags or format.strip()):
        if scope is not None and scope.name:
            return exchange.rendered.by_id_in(registry, scope, exchange.id)
        return exchange.rendered.by_id(registry, DEFAULT_CONTEXT if scope is None else scope.context, exchange.id)
    record = registry.schema_by_id(
        exchange.id,
        subject=scope,
        form=format,
        qualified_references=reference_format == "qualified",
        find_tags=find_tags,
        with_max_id=fetch_max_id,
    )
    return _read(json_answer(answers.by_id(record)), record, scope)


def text_by_id(exchange: Exchange, registry: Registry, *, subject: str, format: str) -> Answer:
    scope = exchange.scope(subject)
    record = registry.schema_by_id(exchange.id, subject=scope, form=format)
    return _read(bare(record.schema.text), record, scope)


def _read(answer: Answer, record: Record, scope: Subject | None = None) -> Answer:
    """The answer, with what is counted of it. scope: what the caller has named."""
    if record.subject is not None and record.id is not None:
        named = named_for(scope.name if scope else "", record.subject)
        answer.read = BodyKey(record.subject.context, record.id), named
    return answer


def subjects_by_id(
    exchange: Exchange, registry: Registry, *, subject: str, deleted: bool, offset: int, limit: int
) -> Answer:
    scope, page = exchange.scope(subject), Page(offset, limit)
    found = registry.subjects_of(exchange.id, subject=scope, deleted=deleted, page=page)
    return json_answer([each.qualified for each in found])


def versions_by_id(
    exchange: Exchange, registry: Registry, *, subject: str, deleted: bool, offset: int, limit: int
) -> Answer:
    scope, page = exchange.scope(subject), Page(offset, limit)
    found = registry.holders_of(exchange.id, subject=scope, deleted=deleted, page=page)
    return json_answer([answers.subject_version(held) for held in found])


def schema_by_guid(exchange: Exchange, registry: Registry, *, format: str) -> Answer:
    record = registry.schema_by_guid(exchange.params["guid"], form=format)
    told = replace(record, subject=None, version=None, id=None)  # GUID-3
    return _read(json_answer(answers.by_id(told)), record)


def known_contents(exchange: Exchange, registry: Registry, *, guids: str, subject: str) -> Answer:
    scope = exchange.scope(subject) or GLOBAL
    found = registry.known_contents(scope.context, guids.split(",")[:MOST_CONTENTS])
    return json_answer([answers.known_content(each) for each in found])


def ids_by_guid(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer([answers.context_id(key) for key in registry.ids_of(exchange.params["guid"])])


def schemas(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    deleted: bool,
    latest_only: bool,
    aliases: bool,
    rule_type: str,
    resource_type: str | None,
    association_type: Sequence[str],
    lifecycle: Sequence[str],
    offset: int,
    limit: int,
) -> Answer:
    search, page = names.search(subject_prefix), Page(offset, limit)
    if resource_type is None and not association_type and not lifecycle:
        found = registry.schemas(
            search, deleted=deleted, latest_only=latest_only, aliases=aliases, rule_type=rule_type, page=page
        )
        return json_answer([answers.entity(record) for record in found])
    wanted = SubjectFilter(
        Selection(resource_type, association_type, [each for each in lifecycle if each != NONE]),
        those_with=set(lifecycle) != {NONE},
        those_without=NONE in lifecycle,
    )
    associated = reading.schemas(
        registry,
        wanted,
        search,
        page=page,
        deleted=deleted,
        latest_only=latest_only,
        aliases=aliases,
        rule_type=rule_type,
    )
    return json_answer([wire.entity(record, those) for record, those in associated])


def schema_types(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    return json_answer(list(LANGUAGES))
