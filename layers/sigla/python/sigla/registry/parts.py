"""Parts of lists, for a person who pages through them: from a place in the list on, of a moment ago (PART-1 to 4)."""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain, groupby
from operator import attrgetter
from typing import Generic, TypeVar

from sigla.associations.nouns import Association
from sigla.errors import SchemaNotFound, SubjectNotFound
from sigla.keks.nouns import Kek
from sigla.model import DEFAULT_CONTEXT, BodyKey, Page, Referrer, Row, SchemaId, Search, Settings, Subject, Version
from sigla.ports.glances import AssociationPlace, ReferrerPlace
from sigla.registry.id_holders import renamed
from sigla.registry.lookup import is_known
from sigla.registry.paging import paged
from sigla.registry.resources import Resources
from sigla.registry.settings import scopes_above, settings_of_all
from sigla.registry.side_by_side import beside_its_view, both, side_by_side

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class ListPart(Generic[T]):
    """Some of a list. goes_on: whether there is something behind the last of them."""

    found: tuple[T, ...]
    goes_on: bool


def part_of(items: Iterator[T], most: int) -> ListPart[T]:
    some = paged(items, Page(0, most + 1))
    return ListPart(tuple(some[:most]), len(some) > most)


@dataclass(frozen=True, slots=True)
class VersionPart:
    """Versions of a subject, from the highest down, soft-deleted ones too.

    subject: whose they are; another one than was asked for where that has an alias. name: by which others find them
    soonest: the same, but where it has an alias itself, which would lead elsewhere. latest: the highest active one.
    near: the version that was asked for and the one before it, as far as they are.
    """

    subject: Subject
    name: Subject
    listed: ListPart[Row]
    latest: Version | None
    near: tuple[Row, ...]


def version_part(
    resources: Resources, subject: Subject, below: Version | None, most: int, wanted: Version | None = None
) -> VersionPart:
    """Raises SubjectNotFound for a subject that has no version at all."""

    def rows(of: Subject, under: Version | None, number: int) -> ListPart[Row]:
        return part_of(resources.catalog.versions_below(of, under, glance=number + 1), number)

    def told(of: Subject) -> list[ListPart[Row]]:
        asks = [partial(rows, of, below, most)]
        if wanted is not None:
            asks.append(partial(rows, of, Version(wanted + 1), 2))
        return side_by_side(resources, asks)

    view, found = beside_its_view(resources, subject, told)
    if not is_known(view, deleted=True):  # VER-1
        raise SubjectNotFound(subject=view.subject)
    listed, *asked = found
    near = next((each.found for each in asked if each.found and each.found[0].version == wanted), ())
    newest = view.head.newest
    name = view.subject if view.alias_target is None else subject
    return VersionPart(view.subject, name, listed, newest.version if newest else None, near)


def context_part(resources: Resources, after: str, most: int) -> ListPart[str]:
    """The default context, then the named ones."""
    named = resources.catalog.contexts_after(after, glance=most + 1)
    return part_of(named if after else chain([DEFAULT_CONTEXT], named), most)


def holder_part(
    resources: Resources, schema_id: SchemaId, scope: Subject | None, after: Subject | None, most: int
) -> ListPart[tuple[Subject, Version]]:
    """The version written last of each subject that holds the id, soft-deleted ones too, in the context of the scope.

    Another id of the same content is another one. Raises SchemaNotFound for an id that has no holder.
    """
    context = Subject(DEFAULT_CONTEXT if scope is None else scope.context, "")
    meant, found = both(
        resources,
        lambda: renamed(resources, context),
        lambda: _holders_in(resources, BodyKey(context.context, schema_id), after, most),
    )
    if meant is not None and meant.context != context.context:
        found = _holders_in(resources, BodyKey(meant.context, schema_id), after, most)
    if found is None:
        resources.catalog.check_absent(BodyKey((meant or context).context, schema_id))
        raise SchemaNotFound
    return found


def _holders_in(
    resources: Resources, key: BodyKey, after: Subject | None, most: int
) -> ListPart[tuple[Subject, Version]] | None:
    """None for an id that nothing holds."""
    # All versions of a subject are there when the next one begins: one more is read than of other lists.
    holders = resources.catalog.holders_after(key, after, glance=most + 2)
    last = (max(some, key=attrgetter("written")) for _, some in groupby(holders, attrgetter("subject")))
    found = part_of(((each.subject, each.version) for each in last), most)
    if found.found or after is not None:
        return found
    displaced = resources.catalog.displaced(key)
    if displaced is not None:
        return ListPart(((displaced.subject, displaced.version),), goes_on=False)
    # One whose version has not come means something all the same (`regions.adoption`).
    return ListPart((), goes_on=False) if resources.catalog.speaker(key) is not None else None


def referrer_part(
    resources: Resources, subject: Subject, version: Version | None, after: ReferrerPlace | None, most: int
) -> ListPart[tuple[Version, Referrer]]:
    """Who references a version of the subject, or any of them, soft-deleted ones too.

    Raises SubjectNotFound for a subject that has no version at all.
    """

    def told(of: Subject) -> ListPart[tuple[Version, Referrer]]:
        return part_of(resources.catalog.referrers_after(of, version, after, glance=most + 1), most)

    view, found = beside_its_view(resources, subject, told)
    if not is_known(view, deleted=True):
        raise SubjectNotFound(subject=view.subject)
    return found


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
