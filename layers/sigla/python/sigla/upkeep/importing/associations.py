"""Associations, after the subjects that they are about: a strong one is written beside its subject, or not at all."""

from functools import partial

from sigla.associations.nouns import Association
from sigla.changes import AssociationsChanged
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Outcome, Report

NO_SUBJECT = "its subject has no active version here"
OTHER_ASSOCIATION = "another association stands in its place"
OTHER_LIFECYCLE = "other associations of its topic have another lifecycle"
OTHER_NAME = "its topic has another name here"
OWNED = "its subject is associated otherwise"
REFERENCED = "its subject belongs to its topic alone, and is referenced"

Verdict = tuple[Outcome, str]


def associate(resources: Resources, one: Association, report: Report, *, imagined: bool = False) -> None:
    """The association is there as it was, or told why not.

    imagined: an import that is only rehearsed has an active version of its subject.
    """
    outcome, why = insist(resources, partial(_attempt, resources, one, imagined=imagined))
    about = f"{one.subject} as the {one.type} of {one.resource.namespace}/{one.resource.name}"
    report.tell(outcome, "association", about, why)


def _attempt(resources: Resources, one: Association, *, imagined: bool) -> Verdict:
    seen = resources.catalog.associations_of_resource(one.resource.id)
    standing = next((each for each in seen if each.type == one.type), None)
    if standing is not None:
        same = (standing.subject, standing.resource, standing.lifecycle) == (one.subject, one.resource, one.lifecycle)
        return (IDENTICAL, "") if same else (CONFLICTING, OTHER_ASSOCIATION)
    if any(each.resource != one.resource for each in seen):
        return CONFLICTING, OTHER_NAME
    if any(each.lifecycle != one.lifecycle for each in seen):
        return CONFLICTING, OTHER_LIFECYCLE
    head = resources.catalog.snapshot(one.subject).head
    if head.newest is None and not imagined:
        return SKIPPED, NO_SUBJECT
    if head.strong or (one.strong and head.associations) or _is_taken(resources, one):
        return CONFLICTING, OWNED
    if one.strong and next(resources.catalog.referrers(one.subject), None) is not None:
        return CONFLICTING, REFERENCED
    marks = resources.clock.now(), nonce()
    commit(resources, AssociationsChanged(one.resource.id, seen, (head,), *marks, written=(one,)))
    return IMPORTED, ""


def _is_taken(resources: Resources, one: Association) -> bool:
    """Whether a topic of the same name with another id has the association."""
    named = resources.catalog.associations_named(one.resource.name, one.resource.namespace)
    return any((each.type, each.subject) == (one.type, one.subject) for each in named)
