"""What the console asks beyond the API: useful by itself, and in no client's way."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Final

from sigla.decoding.reasons import Reason
from sigla.errors import SubjectNotFound
from sigla.journal.log_entries import form_of_entry
from sigla.model import Page, Version
from sigla.registry import Registry, graphs, settings, verdicts
from sigla.registry import fields as schema_fields
from sigla.registry import stakes as registry_stakes
from sigla.registry.explaining import explain_part
from sigla.rules import names as read_names
from sigla.web.api.endpoints.subjects import known_names
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer
from sigla.web.api.wire import answers, requests
from sigla.web.api.wire import console as wire
from sigla.web.api.wire.parts import read_graph_end, read_version_place
from sigla.web.http.answer import Answer
from sigla.web.http.refusals import NoSuchArgument

_ABSENT: Final = (Reason.UNKNOWN_ID.value, Reason.UNKNOWN_GUID.value)
MOST_ENDS: Final = 5
"""So many ends of a graph are gone on from at once: with 14 versions beyond them for 20 read units of DynamoDB."""


def found(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    contains: str,
    type: str,
    deleted: bool,
    after: str,
    names: bool,
    offset: int,
    limit: int,
) -> Answer:
    search, page = read_names.search(subject_prefix), Page(offset, limit)
    if after:
        search = replace(search, after=read_names.subject(after))
    if names:
        found = registry.found_names(search, contains=contains, deleted=deleted, page=page)
        return json_answer([{"subject": each.qualified} for each in found])
    rows = registry.found_subjects(search, contains=contains, schema_type=type, deleted=deleted, page=page)
    return json_answer([answers.found_subject(subject, row) for subject, row in rows])


def search(
    exchange: Exchange,  # noqa: ARG001 - every endpoint is called alike
    registry: Registry,
    *,
    subject_prefix: str,
    contains: str,
    type: str,
    deleted: bool,
    after: str,
    limit: int,
) -> Answer:
    wanted = read_names.search(subject_prefix)
    if after:
        wanted = replace(wanted, after=read_names.subject(after))
    looked = registry.search(wanted, contains=contains, schema_type=type, deleted=deleted, limit=limit)
    return json_answer(wire.looked(looked))


def in_force(exchange: Exchange, registry: Registry) -> Answer:
    return json_answer(wire.in_force(settings.in_force(registry, exchange.subject)))


def verdict(exchange: Exchange, registry: Registry, *, normalize: bool) -> Answer:
    draft = requests.read_draft(exchange.body, exchange.operation)
    sees_all = exchange.reaches_everything
    found = verdicts.verdict(registry, exchange.subject, draft, normalize=normalize, sees_all=sees_all)
    return json_answer(wire.draft_verdict(found))


def graph(
    exchange: Exchange, registry: Registry, *, subject: str, version: str, limit: int, step: bool, at: Sequence[str]
) -> Answer:
    scope = exchange.scope(subject)
    if scope is None:
        raise SubjectNotFound(subject=subject)
    if at:
        found = graphs.graph_beyond(registry, scope, [read_graph_end(each) for each in at[:MOST_ENDS]], limit)
        return json_answer(wire.graph(found, tells_ends=True))
    number: Version | None = read_names.version(version) if version else None
    found = graphs.graph(registry, scope, version=number, most=limit, is_step=step)
    return json_answer(wire.graph(found, tells_ends=step))


def token_names(exchange: Exchange, registry: Registry, *, token: Sequence[str], after: str, limit: int) -> Answer:
    """A place among names is a name itself, perhaps of whoever changed a hidden subject: not for a key with a reach."""
    if exchange.is_for_administrators and exchange.reaches_everything:
        known, further = registry.names_among(token, after, limit)
    else:
        known, further = known_names(exchange, registry, token), None
    told: dict[str, Any] = {"found": [{"by": by, "name": name} for by, name in known.items()]}
    return json_answer(told if further is None else {**told, "after": further})


def stakes(exchange: Exchange, registry: Registry, *, version: str, tokens: bool) -> Answer:
    """The name of one reader is told, as `subjects.usage` tells names."""
    number = read_version_place(version)
    found = registry_stakes.stakes(registry, exchange.subject, number)
    known = {} if tokens else known_names(exchange, registry, [each.by for each in found.readers[:1]])
    return json_answer(wire.stakes(found, number, known))


def fields(exchange: Exchange, registry: Registry, *, after: str) -> Answer:
    """after: the version through which the part before looked; what that one has says since when fields are there."""
    version = exchange.version if not after else read_names.version(after)
    return json_answer(wire.schema_fields(schema_fields.fields(registry, exchange.subject, version)))


def decode(exchange: Exchange, registry: Registry) -> Answer:
    asked = wire.read_record(exchange.body, exchange.operation)
    found = explain_part(registry, asked.part, context=asked.context, id=asked.id)
    answer = json_answer(wire.explained_record(found, asked.part))
    answer.is_absent = found.failure is not None and found.failure["reason"] in _ABSENT
    return answer


def log(exchange: Exchange, registry: Registry, *, subject: str, offset: int, limit: int) -> Answer:
    if registry.recent_log is None:
        raise NoSuchArgument
    scope = exchange.scope(subject)
    entries = registry.recent_changes(subject=scope.qualified if scope else "", page=Page(offset, limit))
    known = registry.names_of(entry.by for entry in entries)
    return json_answer([form_of_entry(entry, known.get(entry.by)) for entry in entries])


def own_region(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    found = registry.region_views().here()
    if found is None:
        raise NoSuchArgument
    return json_answer(wire.region_shown(found))


def other_region(exchange: Exchange, registry: Registry) -> Answer:  # noqa: ARG001 - every endpoint is called alike
    views = registry.region_views()
    if not views.is_there():
        raise NoSuchArgument
    return json_answer(wire.other_region_shown(views.other()))


def caller(exchange: Exchange, registry: Registry) -> Answer:
    """Tells the caller what it may do: so that a page shows nothing that would be refused."""
    may = exchange.may
    told = ["read", "write", "delete", "admin"] if may is None else [each.value for each in may]
    has = {
        "log": registry.recent_log is not None,
        "zones": registry.directory is not None,
        "regions": registry.region_views().is_there(),
        "keys": exchange.keys is not None,
        "counters": "/metrics" in exchange.beside,
        "paid-reads": registry.pays_for_reads,
    }
    return json_answer(
        {
            "name": exchange.caller,
            "may": told,
            "everything": exchange.reaches_everything,
            "has": [name for name, is_here in has.items() if is_here],
        }
    )
