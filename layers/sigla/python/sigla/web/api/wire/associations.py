"""Requests about associations, and their answers."""

from collections.abc import Mapping
from typing import Any

from sigla.associations.nouns import LIFECYCLES, OPERATIONS, Association, Associations, Request, Resource, Wanted
from sigla.associations.verbs.batches import BatchGet, BatchRequest, FoundAssociations
from sigla.associations.verbs.writing import AssociationOutcome
from sigla.errors import Refusal
from sigla.model import Record
from sigla.web.api.wire import answers, bind, text
from sigla.web.api.wire.answers import Json
from sigla.web.api.wire.requests import draft_of
from sigla.web.http.refusals import BadRequest

REQUEST = "AssociationCreateOrUpdateRequest"


# --- requests --------------------------------------------------------------------------------------------------------


def read_request(body: bytes, operation: str, wanted: str) -> Request:
    """What is to become of one resource. wanted: the operation of each association in it."""
    return text.read(body, lambda tree: _request(tree, REQUEST, lambda one: _wanted(one, wanted)), operation=operation)


def read_batch(body: bytes, operation: str) -> BatchRequest:
    """Requests about many resources, each with operations of its own."""

    def request(tree: Any) -> Request | None:
        return None if tree is None else _request(tree, "AssociationOpRequest", _operation)

    def batch(tree: Any) -> BatchRequest:
        sent = bind.members(tree, "AssociationBatchRequest")
        return BatchRequest(bind.items(sent.get("requests"), request, "AssociationOpRequest>") or ())

    return text.read(body, batch, operation=operation)


def read_batch_get(body: bytes, operation: str) -> tuple[BatchGet, ...]:
    """Questions about many resources."""

    def batch(tree: Any) -> tuple[BatchGet, ...]:
        sent = bind.members(tree, "AssociationBatchGetRequest")
        return bind.items(sent.get("requests"), _question, "AssociationGetRequest>") or ()

    return text.read(body, batch, operation=operation)


def _request(tree: Any, name: str, wanted: Any) -> Request:
    sent = bind.members(tree, name)
    return Request(
        bind.text(sent.get("resourceName")),
        bind.text(sent.get("resourceNamespace")),
        bind.text(sent.get("resourceId")),
        bind.text(sent.get("resourceType")),
        bind.items(sent.get("associations"), wanted, "AssociationCreateOrUpdateInfo>") or (),
    )


def _wanted(tree: Any, operation: str) -> Wanted | None:
    if tree is None:
        return None
    sent = bind.members(tree, "AssociationCreateOrUpdateInfo")
    schema = sent.get("schema")
    return Wanted(
        operation,
        bind.text(sent.get("subject")),
        bind.text(sent.get("associationType")),
        bind.choice(sent.get("lifecycle"), "LifecyclePolicy", LIFECYCLES),
        bind.flag(sent.get("frozen")),
        None if schema is None else draft_of(schema),
        normalize=bind.flag(sent.get("normalize")) or False,
        cascade=bind.flag(sent.get("cascadeLifecycle")) or False,
    )


def _operation(tree: Any) -> Wanted | None:
    if tree is None:
        return None
    said = bind.choice(bind.members(tree, "AssociationOp").get("opType"), "OpType", OPERATIONS)
    if said is None:
        raise BadRequest(reason="An association operation needs an `opType`")
    return _wanted(tree, said)


def _question(tree: Any) -> BatchGet | None:
    if tree is None:
        return None
    sent = bind.members(tree, "AssociationGetRequest")
    return BatchGet(
        bind.text(sent.get("resourceName")) or "",
        bind.text(sent.get("resourceNamespace")) or "",
        bind.text(sent.get("resourceId")) or "",
        bind.text(sent.get("resourceType")) or "",
        bind.items(sent.get("associationTypes"), bind.text, "String>") or (),
        bind.choice(sent.get("lifecycle"), "LifecyclePolicy", LIFECYCLES),
    )


# --- answers ---------------------------------------------------------------------------------------------------------


def listed(one: Association) -> Json:
    """`frozen` is left out: it is always what the lifecycle implies."""
    return {
        "subject": one.subject.qualified,
        "guid": one.guid,
        **_resource(one.resource),
        "associationType": one.type,
        "lifecycle": one.lifecycle,
        "createTs": one.created,
        "updateTs": one.updated,
    }


def entity(record: Record, associations: Associations) -> Json:
    """A schema with the associations of its subject that were asked for."""
    told = answers.entity(record)
    return {**told, "associations": [listed(one) for one in associations]} if associations else told


def outcome(became: AssociationOutcome) -> Json:
    """Only what this request has written."""
    return _told(became.resource, [_info(one, became.schemas) for one in became.written])


def resource_found(one: FoundAssociations) -> Json:
    return _told(one.resource, [_info(each, one.schemas) for each in one.associations])


def result(one: FoundAssociations | Refusal) -> Json:
    """One of a batch."""
    if isinstance(one, Refusal):
        return {"error": answers.error(one.code, one.message)}
    return {"result": resource_found(one)}


def _told(resource: Resource, associations: list[Json]) -> Json:
    told = {name: said for name, said in _resource(resource).items() if said}
    return {**told, "associations": associations} if associations else told


def _resource(resource: Resource) -> Json:
    return {
        "resourceName": resource.name,
        "resourceNamespace": resource.namespace,
        "resourceId": resource.id,
        "resourceType": resource.type,
    }


def _info(one: Association, schemas: Mapping[str, Record]) -> Json:
    told = {"subject": one.subject.qualified, "associationType": one.type, "lifecycle": one.lifecycle}
    record = schemas.get(one.type)
    return told if record is None else {**told, "schema": answers.entity(record)}
