"""Associations for tests: made by the hand of a catalog's caller, without the checks of the verbs."""

from collections.abc import Sequence
from uuid import uuid4

from sigla.associations.nouns import STRONG, WEAK, Association, Associations, Resource
from sigla.changes import AssociationsChanged, Head, Registered, SubjectPurged
from tests.build import NOW, a_nonce

TOPIC = Resource("orders", "lkc-1", "topic-1")


def an_association(
    head: Head, resource: Resource = TOPIC, *, type: str = "value", lifecycle: str = WEAK
) -> Association:
    return Association(head.subject, str(uuid4()), resource, type, lifecycle, NOW, NOW)


def a_change(
    *heads: Head,
    seen: Associations = (),
    written: Sequence[Association] = (),
    removed: Sequence[Association] = (),
    registered: Sequence[Registered] = (),
    purged: Sequence[SubjectPurged] = (),
) -> AssociationsChanged:
    resource = next(one.resource.id for one in (*written, *removed, *seen))
    return AssociationsChanged(
        resource,
        seen,
        heads,
        NOW,
        a_nonce(),
        written=tuple(written),
        removed=tuple(removed),
        registered=tuple(registered),
        purged=tuple(purged),
    )


def a_weak(
    head: Head, resource: Resource = TOPIC, *, seen: Associations = (), type: str = "value"
) -> AssociationsChanged:
    """A weak association more of the resource."""
    return a_change(head, seen=seen, written=[an_association(head, resource, type=type)])


def a_strong(head: Head, registered: Registered | None = None, resource: Resource = TOPIC) -> AssociationsChanged:
    """A strong association of the resource, with a version or without."""
    written = [an_association(head, resource, lifecycle=STRONG)]
    return a_change(head, written=written, registered=[registered] if registered else [])
