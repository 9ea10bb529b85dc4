"""Reads: the associations of a subject, of a resource by its id, and of resources by their names (ASC-15)."""

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any, Final

from sigla.associations.nouns import Association, Associations, Selection
from sigla.model import Page, Record, Search, Subject
from sigla.registry import listing
from sigla.registry.paging import paged
from sigla.registry.resources import Resources

ANY: Final = "-"
"""Stands for every name, or every namespace (ASC-15)."""


def of_subject(resources: Resources, subject: Subject, selection: Selection, page: Page) -> list[Association]:
    """An alias is followed; an unknown subject has none."""
    found = resources.ask(subject).subject
    return _selected(resources.catalog.associations_of_subject(found), selection, page)


def of_resource(resources: Resources, id: str, selection: Selection, page: Page) -> list[Association]:
    return _selected(resources.catalog.associations_of_resource(id), selection, page)


def of_name(resources: Resources, namespace: str, name: str, selection: Selection, page: Page) -> list[Association]:
    """Those of every resource that is meant; where `-` stands for any, resources of any type are (ASC-15)."""
    if ANY in (namespace, name):
        selection = replace(selection, resource_type=None)
    return _selected(named_any(resources, namespace, name), selection, page)


@dataclass(frozen=True, slots=True)
class SubjectFilter:
    """Which subjects a list of schemas is about (ASC-10): those with such an association, those without, or both."""

    selection: Selection
    those_with: bool
    those_without: bool


def schemas(
    resources: Resources, wanted: SubjectFilter, search: Search, *, page: Page, **options: Any
) -> list[tuple[Record, Associations]]:
    """Schemas of subjects by their associations, each with those that match. options: as of `listing.schemas`."""
    any_lifecycle = replace(wanted.selection, lifecycles=())
    found: dict[Subject, Associations] = {}
    for one in resources.catalog.associations_named():
        if any_lifecycle.takes(one):
            matching = (one,) if wanted.selection.takes(one) else ()
            found[one.subject] = (*found.get(one.subject, ()), *matching)

    def keeps(subject: Subject) -> bool:
        if subject not in found:
            return wanted.those_without
        return wanted.those_with and bool(found[subject])

    records = listing.schemas(resources, search, keeps=keeps, page=page, **options)
    return [(record, found.get(record.subject, ()) if record.subject else ()) for record in records]


def named_any(resources: Resources, namespace: str, name: str) -> Associations:
    """Those of every resource that is meant: `-` is any."""
    wanted = (None if said == ANY else said for said in (name, namespace))
    return tuple(resources.catalog.associations_named(*wanted))


def _selected(found: Iterable[Association], selection: Selection, page: Page) -> list[Association]:
    return paged((one for one in found if selection.takes(one)), page)
