"""What the console asks beyond the API: useful by itself, and in no client's way."""

from sigla.errors import SubjectNotFound
from sigla.model import Page, Version
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import answers, requests
from sigla.web.api.wire import console as wire
from sigla.web.http.answer import Answer


def found(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    contains: str,
    type: str,
    deleted: bool,
    offset: int,
    limit: int,
) -> Answer:
    rows = registry.found_subjects(
        names.search(subject_prefix),
        contains=contains,
        schema_type=type,
        deleted=deleted,
        page=Page(offset, limit),
    )
    return json_answer([answers.found_subject(subject, row) for subject, row in rows])


def verdict(exchange: Exchange, registry: Registry, *, normalize: bool) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    return json_answer(wire.draft_verdict(registry.verdict(exchange.subject, draft, normalize=normalize)))


def graph(exchange: Exchange, registry: Registry, *, subject: str, version: str) -> Answer:
    scope = exchange.scope(subject)
    if scope is None:
        raise SubjectNotFound(subject=subject)
    number: Version | None = names.version(version) if version else None
    return json_answer(wire.graph(registry.graph(scope, version=number)))


def caller(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    """Tells the caller what it may do: so that a page shows nothing that would be refused."""
    may = exchange.may
    told = ["read", "write", "delete", "admin"] if may is None else [each.value for each in may]
    return json_answer({"name": exchange.caller, "may": told, "everything": exchange.reaches_everything, "has": []})
