"""The other region of a table, as the data say which one that is: who is told how far ids are given, where one is."""

from typing import TYPE_CHECKING

from sigla.errors import StoreError
from sigla.model import SchemaId
from sigla.ports.regions import Peer
from sigla.regions.nouns import Counter, RegionKind, RegionSeen, Role

if TYPE_CHECKING:
    from sigla.stores.dynamodb.regions import AwsRegion


class PeerByRole:
    """A `ports.regions.Peer`. there, url: the region of which the settings know; None, and empty: of none.

    A registry that no region follows raises its ceilings alone, in one transaction with a look at its role: whoever is
    given to it as a second region finds all of them (`regions.arming`). Settings that name a region which does not
    follow any more reach nothing.
    """

    def __init__(self, here: "AwsRegion", there: Peer | None, url: str) -> None:
        self._here = here
        self._there = there
        self._url = url

    def look(self, context: str) -> RegionSeen:
        role = self._role()
        if role.is_alone:
            return RegionSeen(Role(role.epoch, RegionKind.FOLLOWER), None)
        return self._other(role).look(context)

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        role = self._role()
        if role.is_alone:
            return role.epoch == epoch and self._here.raise_alone(context, role, ceiling)
        return self._other(role).raise_for(context, epoch, seen, ceiling)

    def _role(self) -> Role:
        """Raises StoreError."""
        role = self._here.role()
        if role is None:
            raise StoreError("this registry has no role")
        return role

    def _other(self, role: Role) -> Peer:
        """Raises StoreError."""
        if self._there is None:
            raise StoreError("the other region is not asked from here")
        if role.is_elsewhere(self._url):
            raise StoreError(f"{role.peer} is the other region, and the settings name {self._url}")
        return self._there
