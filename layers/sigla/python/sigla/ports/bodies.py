"""What ids mean."""

from collections.abc import Collection, Sequence
from typing import Protocol

from sigla.model import Body, BodyKey, Guid, SchemaId


class Bodies(Protocol):
    """What ids mean: write-once, readable without the catalog."""

    def put(self, key: BodyKey, body: Body) -> None:
        """Writes the body and its pointer by GUID. The same writer's body again (equal nonce) is accepted.

        Raises Taken with the standing body if there is another, BodyDamaged if what stands there cannot be believed.
        """
        ...

    def get(self, key: BodyKey) -> Body:
        """What `rules.bodies` believes. Raises BodyMissing, BodyDamaged.

        A tombstone is returned like any body: what it means does not change.
        """
        ...

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        """As `get`, in the order asked, side by side where the store allows it."""
        ...

    def named(self, guid: Guid, *, known: Collection[BodyKey] = ()) -> tuple[BodyKey, ...]:
        """Where this content was ever written: the default context first, then named ones; ids ascending.

        Also where its body is lost by now: whoever reads that is told so. known: keys that the caller has found to have
        this content; they need not be looked at again.
        """
        ...

    def last(self, context: str) -> SchemaId:
        """The highest id with a body in the context; 0 if none."""
        ...

    def next_above(self, key: BodyKey) -> SchemaId | None:
        """The lowest id above this one with a body in its context, living or gone; None if there are no more."""
        ...

    def bury(self, key: BodyKey) -> None:
        """Marks the body gone; repeated, or without a body, it changes nothing."""
        ...

    def revive(self, key: BodyKey, body: Body) -> None:
        """Replaces a tombstone by a living body of the same content."""
        ...

    def mend(self, key: BodyKey, body: Body, seen: Body | None) -> None:
        """Puts the body in the place of the one that was seen: at once, so that one is there at any moment.

        seen: what `get` has told when that was decided; None for nothing, and for a damaged one. Where another one
        stands by now, it stays: that is well if it has the same content (`rules.bodies.stays`). Only for who knows from
        the catalog that the id means this. Raises Conflict where it means something else, StoreError.
        """
        ...
