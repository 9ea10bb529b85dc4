"""A commit on its way to another region, with the bodies of the ids that it brings."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from typing import Any, Final

from sigla import journal
from sigla.errors import BodyDamaged, BodyLost, StoreError
from sigla.model import Body, BodyKey
from sigla.ports.bodies import Bodies
from sigla.ports.replaying import Shipment
from sigla.rules.bodies import stays

BRINGING: Final = frozenset({"Registered", "Imported", "Displaced", "AssociationsChanged"})
"""Kinds of changes whose ids may be new."""
OF_KEYS: Final = frozenset({"KekChanged", "DeksChanged"})
"""Kinds of changes whose KEKs or DEKs may be new."""


class BodyDiverged(StoreError):
    """Another content stands under an id than at the source."""


class NotAllowed(StoreError):
    """A region that does not follow any more: nothing was written."""


def shipment(position: int, form: bytes, row: Mapping[str, Any], bodies: Bodies) -> Shipment:
    return Shipment(position, form, dict(_brought(row, bodies)))


def _brought(row: Mapping[str, Any], bodies: Bodies) -> Iterator[tuple[BodyKey, Body]]:
    told = journal.ids([row]) if row.get("change") in BRINGING else journal.buried_ids([row])
    for key in sorted(told):
        with suppress(BodyLost):
            yield key, bodies.get(key)


def bring(
    bodies: Bodies,
    key: BodyKey,
    told: Body | None,
    *,
    held: bool = True,
    is_known: Callable[[BodyKey], bool] = lambda _: True,
) -> None:
    """The body of an id is there; alive, where a version holds it from now on.

    is_known: whether a commit that is here has named the id; asked only where another content stands.
    What was decided upon is replaced, and nothing that was written meanwhile, as by a later epoch of this region.
    Raises BodyLost where it is neither here nor told, Conflict where that was so, BodyDiverged, StoreError.
    """
    try:
        standing = bodies.get(key)
    except BodyLost as lost:
        if told is None:
            raise
        meant = replace(told, gone=not held)
        if isinstance(lost, BodyDamaged):
            bodies.mend(key, meant, None)
        else:
            bodies.put(key, meant)
        return
    if told is not None and told.schema != standing.schema:
        if not standing.gone and is_known(key):
            raise BodyDiverged(f"id {key.id} of context {key.context} has another content here")
        # It is of a registration that was refused here, or cut off, when this region was the primary: it never meant
        # anything.
        bodies.mend(key, replace(told, gone=not held), standing)
        return
    if standing.gone and held:
        bodies.revive(key, replace(told or standing, gone=False))


def bring_ahead(bodies: Bodies, key: BodyKey, told: Body, *, is_known: Callable[[BodyKey], bool]) -> None:
    """The body of a commit that waits: it is there before anything names it, and means something by that commit.

    So it is not marked as of an import any more, which may have been refused. One that stands means what it does at
    any moment, for a client may have its id. is_known: as of `bring`. Raises as `bring`.
    """
    meant, standing = replace(told, gone=False, brought=False), None
    with suppress(BodyLost):
        standing = bodies.get(key)
        if stays(standing, meant):
            return
        if standing.schema != told.schema and not standing.gone and is_known(key):
            raise BodyDiverged(f"id {key.id} of context {key.context} has another content here")
    bodies.mend(key, meant, standing)
