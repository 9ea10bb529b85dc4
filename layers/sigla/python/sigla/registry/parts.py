"""Parts of lists, for a person who pages through them: from a place in the list on, of a moment ago (PART-1 to 4)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain
from typing import Generic, TypeVar

from sigla.associations.nouns import Association
from sigla.keks.nouns import Kek
from sigla.model import DEFAULT_CONTEXT, Page, Search, Settings, Subject
from sigla.ports.glances import AssociationPlace
from sigla.registry.paging import paged
from sigla.registry.resources import Resources
from sigla.registry.settings import scopes_above, settings_of_all

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPart(Generic[T]):
    """Some of a list. goes_on: whether there is something behind the last of them."""

    found: tuple[T, ...]
    goes_on: bool


def part_of(items: Iterator[T], most: int) -> ListPart[T]:
    some = paged(items, Page(0, most + 1))
    return ListPart(tuple(some[:most]), len(some) > most)


def context_part(resources: Resources, after: str, most: int) -> ListPart[str]:
    """The default context, then the named ones."""
    named = resources.catalog.contexts_after(after, glance=most + 1)
    return part_of(named if after else chain([DEFAULT_CONTEXT], named), most)


def kek_part(resources: Resources, after: str, most: int) -> ListPart[Kek]:
    """Soft-deleted ones too."""
    return part_of(resources.catalog.keks_after(after, glance=most + 1), most)


def association_part(resources: Resources, after: AssociationPlace | None, most: int) -> ListPart[Association]:
    return part_of(resources.catalog.associations_after(after, glance=most + 1), most)


def settings_part(resources: Resources, search: Search, most: int) -> ListPart[tuple[Subject, Settings]]:
    """Scopes with an entry of their own, as `settings.listed_settings` has them.

    Those above all that is searched stand at the beginning, and do not count.
    """
    above = scopes_above(search)
    told = settings_of_all(resources, above) if search.after is None else {}
    listed = resources.catalog.settings(replace(search, glance=most + len(above) + 1))
    below = part_of((each for each in listed if each[0] not in above), most)
    return ListPart((*told.items(), *below.found), below.goes_on)
