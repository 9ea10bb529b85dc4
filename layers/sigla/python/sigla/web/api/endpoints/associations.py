"""Associations: reads, create, update, delete, batches."""

from collections.abc import Sequence

from sigla.associations.nouns import CREATE, TOPIC, UPSERT, Selection
from sigla.associations.verbs import batches, deleting, reading, writing
from sigla.associations.verbs.writing import Manner
from sigla.auth.permissions import ADMIN, DELETE
from sigla.model import DEFAULT_CONTEXT, Page
from sigla.registry import Registry
from sigla.rules import names
from sigla.web.api.exchange import Exchange
from sigla.web.api.replies import json_answer, nothing
from sigla.web.api.wire import associations as wire
from sigla.web.http.answer import Answer

MULTI_STATUS = 207


def of_subject(
    exchange: Exchange,
    registry: Registry,
    *,
    resource_type: str,
    association_type: Sequence[str],
    lifecycle: str,
    offset: int,
    limit: int,
) -> Answer:
    selection, page = _selection(resource_type, association_type, lifecycle), Page(offset, limit)
    found = reading.of_subject(registry, exchange.subject, selection, page)
    return json_answer([wire.listed(one) for one in found])


def of_resource(
    exchange: Exchange,
    registry: Registry,
    *,
    resource_type: str,
    association_type: Sequence[str],
    lifecycle: str,
    offset: int,
    limit: int,
) -> Answer:
    selection, page = _selection(resource_type, association_type, lifecycle), Page(offset, limit)
    found = reading.of_resource(registry, exchange.params["resource"], selection, page)
    return json_answer([wire.listed(one) for one in found])


def of_name(
    exchange: Exchange,
    registry: Registry,
    *,
    resource_type: str,
    association_type: Sequence[str],
    lifecycle: str,
    offset: int,
    limit: int,
) -> Answer:
    selection, page = _selection(resource_type, association_type, lifecycle), Page(offset, limit)
    found = reading.of_name(registry, exchange.params["namespace"], exchange.params["resource"], selection, page)
    return json_answer([wire.listed(one) for one in found])


def create(exchange: Exchange, registry: Registry, *, context: str, dry_run: bool) -> Answer:
    request = wire.read_request(exchange.body, exchange.operation, CREATE)
    return json_answer(wire.outcome(writing.write(registry, request, _manner(exchange, context, dry_run=dry_run))))


def update(exchange: Exchange, registry: Registry, *, context: str, dry_run: bool) -> Answer:
    request = wire.read_request(exchange.body, exchange.operation, UPSERT)
    request = writing.with_id(request, exchange.params["resource"])
    return json_answer(wire.outcome(writing.write(registry, request, _manner(exchange, context, dry_run=dry_run))))


def delete(
    exchange: Exchange,
    registry: Registry,
    *,
    resource_type: str,
    association_type: Sequence[str],
    cascade_lifecycle: bool,
    dry_run: bool,
) -> Answer:
    selection = _selection(resource_type, association_type, "")
    deleting.delete(registry, exchange.params["resource"], selection, cascade=cascade_lifecycle, dry=dry_run)
    return nothing()


def batch_get(exchange: Exchange, registry: Registry, *, include_schemas: bool) -> Answer:
    questions = wire.read_batch_get(exchange.body, exchange.operation)
    found = batches.get_all(registry, questions, with_schemas=include_schemas)
    return json_answer({"results": [wire.result(one) for one in found]}, MULTI_STATUS)


def batch_mutate(exchange: Exchange, registry: Registry, *, context: str, dry_run: bool) -> Answer:
    """What deletes associations, or subjects with them, asks for as much as it does by itself."""
    batch = wire.read_batch(exchange.body, exchange.operation)
    if batch.deletes:
        exchange.check(DELETE)
    if batch.cascades:
        exchange.check(ADMIN)
    became = batches.mutate_all(registry, batch, _manner(exchange, context, dry_run=dry_run))
    return json_answer({"results": [wire.result(one) for one in became]}, MULTI_STATUS)


def _selection(resource_type: str, association_type: Sequence[str], lifecycle: str) -> Selection:
    return Selection(resource_type or TOPIC, association_type, (lifecycle,) if lifecycle else ())


def _manner(exchange: Exchange, context: str, *, dry_run: bool) -> Manner:
    """The context of the path, or else of the query, which counts in the form `:.name:` alone."""
    if exchange.context != DEFAULT_CONTEXT:
        return Manner(exchange.context, dry_run)
    said = names.subject(context)
    whole = context.startswith(":.") and context.endswith(":") and not said.name
    return Manner(said.context if whole else DEFAULT_CONTEXT, dry_run)
