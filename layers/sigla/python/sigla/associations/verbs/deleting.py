"""Delete: associations go, and strong ones take their subjects along (ASC-11 of docs/api.md, §12)."""

from collections.abc import Iterator, Mapping
from contextlib import suppress

from sigla.associations.nouns import Association, Associations, Selection
from sigla.associations.refusals import AssociationFrozen, AssociationNotFound
from sigla.associations.verbs.writing import check_writable
from sigla.changes import AssociationsChanged, SubjectPurged
from sigla.contract import IMPORT
from sigla.errors import Denied, Referenced
from sigla.model import Subject
from sigla.registry.resources import Resources, View
from sigla.registry.steps.committing import commit, nonce, until_committed


def delete(
    resources: Resources,
    resource: str,
    selection: Selection,
    *,
    cascade: bool = False,
    dry: bool = False,
    missing: bool = False,
) -> Associations:
    """The associations that went: of the selection all that the client can see, or none. resource: its id.

    cascade: strong ones may go, with every version of their subjects. missing: it is fine if nothing is found.

    Raises AssociationNotFound, ReadOnly, AssociationFrozen, Referenced.
    """

    def attempt() -> Associations:
        seen = resources.catalog.associations_of_resource(resource)
        views: dict[Subject, View] = {}
        for one in filter(selection.takes, seen):
            with suppress(Denied):  # what is outside of the client's prefixes is not there for it, and stays
                views[one.subject] = resources.look(one.subject)
        gone = tuple(one for one in seen if selection.takes(one) and one.subject in views)
        if not gone and not missing:  # ASC-11
            raise AssociationNotFound(resource=resource)
        for one in gone:  # ASC-11
            check_writable(views[one.subject])
            if one.strong and not cascade:
                raise AssociationFrozen(type=one.type, subject=one.subject)
        if gone:
            now, mark = resources.clock.now(), nonce()
            purged = tuple(_purged(resources, gone, views, now, mark))
            heads = tuple(view.head for view in views.values())
            change = AssociationsChanged(resource, seen, heads, now, mark, removed=gone, purged=purged)
            if dry:
                resources.catalog.rehearse(change)
            else:
                commit(resources, change)
        return gone

    return until_committed(resources, "Delete association operation", attempt)


def _purged(
    resources: Resources, gone: Associations, views: Mapping[Subject, View], now: int, mark: str
) -> Iterator[SubjectPurged]:
    """The subjects that go along (ASC-11)."""
    for one in gone:
        view = views[one.subject]
        if one.strong and view.mode != IMPORT and view.head.highest:
            _check_unreferenced(resources, one)
            yield SubjectPurged(view.head, resources.catalog.history(one.subject), now, mark)


def _check_unreferenced(resources: Resources, one: Association) -> None:
    """What belongs to a topic alone is not referenced, but an import may have brought such a reference."""
    for version, referrer in resources.catalog.referrers(one.subject):
        if referrer.subject != one.subject:
            raise Referenced(subject=one.subject, version=version)
