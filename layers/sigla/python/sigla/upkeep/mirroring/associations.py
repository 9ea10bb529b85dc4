"""Associations that the source has no longer, or otherwise; what is new is imported."""

from collections.abc import Collection

from sigla.associations.nouns import Association
from sigla.changes import AssociationsChanged
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing.insisting import insist


def keep(resources: Resources, topic: str, wanted: Collection[Association]) -> int:
    """Removes a topic's associations but for those that are told; how many went. Their subjects stay.

    topic: the id of its resource.
    """
    meant = {_meaning(one) for one in wanted}

    def attempt() -> int:
        seen = resources.catalog.associations_of_resource(topic)
        gone = tuple(one for one in seen if _meaning(one) not in meant)
        if gone:
            subjects = sorted({one.subject for one in gone}, key=str)
            heads = tuple(resources.catalog.snapshot(subject).head for subject in subjects)
            commit(resources, AssociationsChanged(topic, seen, heads, resources.clock.now(), nonce(), removed=gone))
        return len(gone)

    return insist(resources, attempt)


def _meaning(one: Association) -> tuple[object, ...]:
    return one.subject, one.resource, one.type, one.lifecycle
