"""Batches: many resources in one call, each answered by itself (ASC-12 of docs/api.md)."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from itertools import groupby
from typing import Final

from sigla.associations.nouns import DELETE, TOPIC, Association, Associations, Request, Resource, Selection
from sigla.associations.verbs.deleting import delete
from sigla.associations.verbs.judging import check_resource_name
from sigla.associations.verbs.reading import ANY, named_any
from sigla.associations.verbs.wishes import EMPTY, Wish, check_types_once, placed, refused, resource_of, understood
from sigla.associations.verbs.writing import Manner, write_wishes
from sigla.errors import Refusal
from sigla.model import Record
from sigla.registry.lookup import stored_record
from sigla.registry.resources import Resources

MOST_REQUESTS: Final = 100
"""How many a batch may have: a function answers so many before its front door gives up."""


@dataclass(frozen=True, slots=True)
class BatchRequest:
    requests: tuple[Request, ...]

    @property
    def deletes(self) -> bool:
        return any(each.operation == DELETE for request in self.requests for each in request.wanted)

    @property
    def cascades(self) -> bool:
        """Whether subjects may go with their associations."""
        return any(each.cascade for request in self.requests for each in request.wanted if each.operation == DELETE)


@dataclass(frozen=True, slots=True)
class BatchGet:
    """A question about one resource, by its id or else by its names."""

    name: str
    namespace: str
    id: str
    type: str
    types: tuple[str, ...] = ()
    lifecycle: str | None = None


@dataclass(frozen=True, slots=True)
class FoundAssociations:
    """One answer. schemas: by type, as far as they are to be told."""

    resource: Resource
    associations: Associations = ()
    schemas: Mapping[str, Record] = field(default_factory=dict)


Result = FoundAssociations | Refusal


def get_all(resources: Resources, questions: Sequence[BatchGet], *, with_schemas: bool) -> list[Result]:
    """What each resource has; with_schemas: and the newest version of each subject. Raises InvalidAssociation."""
    _check_size(questions)
    return [_answered(partial(_resource_found, resources, each, with_schemas=with_schemas)) for each in questions]


def mutate_all(resources: Resources, batch: BatchRequest, manner: Manner) -> list[Result]:
    """What becomes of each request. Raises InvalidAssociation for a batch that is empty or too long."""
    _check_size(batch.requests)
    return [_answered(partial(_mutated, resources, each, manner)) for each in batch.requests]


def _check_size(requests: Sequence[object]) -> None:
    if not requests:  # ASC-12
        raise refused("requests", EMPTY)
    if len(requests) > MOST_REQUESTS:
        raise refused("requests", f"exceeds max size of {MOST_REQUESTS}")


def _answered(ask: Callable[[], FoundAssociations]) -> Result:
    try:
        return ask()
    except Refusal as refusal:
        return refusal


# --- get -------------------------------------------------------------------------------------------------------------


def _resource_found(resources: Resources, question: BatchGet, *, with_schemas: bool) -> FoundAssociations:
    selection = Selection(question.type or TOPIC, question.types, [question.lifecycle] if question.lifecycle else ())
    found = tuple(one for one in _asked(resources, question) if selection.takes(one))
    resource = _resource_of(question, found)
    schemas = dict(_newest(resources, found)) if with_schemas else {}
    return FoundAssociations(resource, found, schemas)


def _asked(resources: Resources, question: BatchGet) -> Associations:
    """Asks by the id, or else by the name (ASC-12)."""
    if question.id:
        return resources.catalog.associations_of_resource(question.id)
    if not question.name:
        raise refused("resourceId", "either resourceId or resourceName must be specified")
    if not question.namespace:
        raise refused("resourceNamespace", "resourceNamespace is required when resourceName is specified")
    if question.name == ANY:
        return ()
    return named_any(resources, question.namespace, question.name)


def _resource_of(question: BatchGet, found: Associations) -> Resource:
    """As it was asked for, completed by what was found. Raises InvalidAssociation where that is another one, or two."""
    first = found[0].resource if found else None
    sent = Resource(
        question.name or (first.name if first else ""),
        question.namespace if question.namespace not in ("", ANY) or first is None else first.namespace,
        question.id or (first.id if first else ""),
        question.type or TOPIC,
    )
    if any(one.resource != sent for one in found):
        detail = "the associations that were found belong to several resources, or to one of another name"
        raise refused("resourceId" if not question.id else "resourceName", detail)
    return sent


def _newest(resources: Resources, found: Iterable[Association]) -> Iterator[tuple[str, Record]]:
    for one in found:
        newest = resources.look(one.subject).head.newest
        if newest is not None:
            yield one.type, stored_record(resources, one.subject, newest)


# --- mutate ----------------------------------------------------------------------------------------------------------


def _mutated(resources: Resources, request: Request, manner: Manner) -> FoundAssociations:
    """All operations of one request: understood together, done from left to right (ASC-12)."""
    resource = resource_of(request, needs_id=not manner.dry)
    wishes = [understood(each, resource) for each in request.wanted]
    check_types_once(wishes)
    wishes = [placed(each) for each in wishes]
    schemas: dict[str, Record] = {}
    for operation, some in groupby(wishes, key=lambda wish: wish.operation):
        if operation == DELETE:
            for wish in some:
                _delete(resources, resource, wish, manner)
        else:
            schemas |= write_wishes(resources, resource, list(some), manner).schemas
    if manner.dry:
        return FoundAssociations(resource)
    return FoundAssociations(resource, _associations_left(resources, resource), schemas)


def _associations_left(resources: Resources, resource: Resource) -> Associations:
    """What the resource has in the end, as far as the client may see it: as a list by name tells it."""
    named = resources.catalog.associations_named(resource.name, resource.namespace)
    return tuple(one for one in named if one.resource.id == resource.id)


def _delete(resources: Resources, resource: Resource, wish: Wish, manner: Manner) -> None:
    check_resource_name(resources.catalog.associations_of_resource(resource.id), resource)
    selection = Selection(resource.type, (wish.type,))
    delete(resources, resource.id, selection, cascade=wish.wanted.cascade, dry=manner.dry, missing=True)
