"""What a directory's primary hands to the region that follows before it commits: bodies of new ids, and keys.

    bodies in their places here          durable, and never taken back from then on: the other region may have them
    handed over, with the next answer    in what the follower is told next (`regions.followed`)
    kept there, and told                 by what is asked after that
    committed here                       and answered

A body whose commit never comes is known by no version; its id is given for nothing else. A key that is new, or is
another one than before, is kept with its commit; a delete is not handed over.
"""

from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, Protocol

from sigla.ports.replaying import Shipment
from sigla.regions.bodies import OUT_OF_STEP
from sigla.regions.followed import Taking
from sigla.regions.nouns import Role
from sigla.regions.refusals import BodyApart, BodyNotInBoth, KeyNotInBoth


class Takes(Protocol):
    """The region that follows, as far as new bodies are handed to it (`followed.PolledFollower`)."""

    @property
    def is_silent(self) -> bool: ...
    def take(self, shipments: Sequence[Shipment]) -> Taking: ...


class HandedCommits(NamedTuple):
    """Commits that another region is to have something of before they are made. keys: whether of KEKs or DEKs, too."""

    shipments: Sequence[Shipment]
    keys: bool


class HandsOver:
    """required: what the follower does not take in time is refused (BodyNotInBoth). Otherwise it is counted and told.

    Keys are always refused then (KeyNotInBoth): what was encrypted by one that is lost cannot be read any more.
    role: of this region, as it stands. tell: takes lines for operators.
    """

    def __init__(
        self, follower: Takes, role: Role | None, *, required: bool, tell: Callable[[dict[str, Any]], None]
    ) -> None:
        self.role = role
        self.out_of_step = 0
        """Commits with new ids whose bodies the follower did not take in time."""
        self._follower = follower
        self._required = required
        self._tell = tell

    def hear(self, role: Role) -> None:
        self.role = role

    @property
    def hands(self) -> bool:
        """Whether there is a region that follows."""
        return self.role is not None and self.role.writes and self.role.is_followed

    @property
    def may_refuse(self) -> bool:
        """Whether it is known that nothing will be taken: that is to be said before anything is written."""
        return self.hands and (self._follower.is_silent or self._is_to_come)

    def check(self, brought: HandedCommits) -> None:
        """Raises BodyNotInBoth, KeyNotInBoth where that cannot be committed by now."""
        if self.may_refuse:
            self._refuse(brought)

    def hand(self, brought: HandedCommits) -> None:
        """Takes the commits of one group. Raises BodyNotInBoth, KeyNotInBoth, BodyApart: then none may be made."""
        match Taking.SILENT if self._is_to_come else self._follower.take(brought.shipments):
            case Taking.APART:
                raise BodyApart(region=self.region)
            case Taking.SILENT:
                self._refuse(brought)
                self.out_of_step += len(brought.shipments)
                ids = [{"context": key.context, "id": key.id} for each in brought.shipments for key in each.bodies]
                self._tell({"event": OUT_OF_STEP, "ids": ids, "region": self.region})

    def _refuse(self, brought: HandedCommits) -> None:
        if brought.keys:
            raise KeyNotInBoth(region=self.region)
        if self._required:
            raise BodyNotInBoth(region=self.region)

    @property
    def _is_to_come(self) -> bool:
        """Whether it has not asked yet, as after a promotion by plan: its name is written down when it does.

        That is a commit of its own, and would wait for the one that waits for it.
        """
        return self.role is not None and bool(self.role.peer.url)

    @property
    def region(self) -> str:
        return str(self.role.peer) if self.role else ""
