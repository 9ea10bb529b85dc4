"""A registry in two regions: one tells its commits, the other carries them out once more, and is equal to it."""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from sigla.model import Body, BodyKey
from sigla.regions.replay import Needs, Verdict


class Shipment(NamedTuple):
    """One commit, as it is told to the other region.

    position: in the journal that tells it. form: its row there, byte by byte. bodies: of the ids that it brings, as far
    as they are there; whether they are gone by now says nothing.
    """

    position: int
    form: bytes
    bodies: Mapping[BodyKey, Body]


class Shipper(Protocol):
    """What tells its commits."""

    def shipments(self, after: int = 0) -> Iterator[Shipment]:
        """Commits in the order of the journal, from the one after a position."""
        ...


class Replayer(Protocol):
    """What carries them out: in any order, and as often as they come."""

    def carry_out(self, shipment: Shipment) -> Verdict:
        """Carries a commit out as it was at its source, whole or not at all, if it is one to be carried out now.

        Raises UnknownCommit for what this release cannot carry out, StoreError; what the store was given to be asked
        first (whether it still follows) raises what it raises. Then nothing is changed, or it is not known: repeated,
        it comes to the same end.
        """
        ...


class OrderedReplayer(Replayer, Protocol):
    """What has the journal of its source: what comes too early is told again, from where that ends."""

    def end(self) -> int:
        """The position up to which everything is carried out."""
        ...

    def keep(self, shipments: Sequence[Shipment]) -> bool | None:
        """Keeps the bodies of commits that are perhaps made later; nothing names them before.

        False where another body stands under one of their ids; None where that is not known before what comes first is
        carried out: it may delete the id for good. Raises as `carry_out`; what was given to be asked first
        is asked.
        """
        ...


class WaitingReplayer(Replayer, Protocol):
    """What keeps commits that it cannot carry out yet, so that they need not be told again."""

    def put_aside(self, shipment: Shipment) -> None:
        """It waits, durably. Repeated, it changes nothing."""
        ...

    def aside(self) -> Iterator[Shipment]:
        """What waits, by its time; without bodies, which are there."""
        ...

    def take(self, shipment: Shipment) -> None:
        """It waits no longer."""
        ...

    def needs(self, shipment: Shipment) -> Needs:
        """What it waits for. Raises UnknownCommit."""
        ...

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """Those that stand here, by the names of `Needs`; 0 for what is not here."""
        ...

    def set_apart(self, shipment: Shipment) -> None:
        """It diverges: it waits no longer, and is kept for whoever looks into it. Repeated, it changes nothing."""
        ...

    def apart(self) -> Iterator[Shipment]:
        """What diverges, by its time; without bodies."""
        ...


class Numbers(Protocol):
    """The numbers of everything that commits move in one region, by the names of `Needs`."""

    def names(self) -> Mapping[str, str]:
        """Those of all that is there, each with what people call it."""
        ...

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        """As they stand; 0 for what is not there."""
        ...


class Drain(Protocol):
    """What a primary that is closed has committed, brought to its follower."""

    def look(self) -> int:
        """Carries out what is not here yet; how many commits that were. 0: everything is here."""
        ...

    def differences(self) -> Sequence[str]:
        """What is not the same in both regions of all that was brought, a sentence each."""
        ...


class RegionPair(Protocol):
    """A follower and its primary, before one of them is promoted."""

    @property
    def drain(self) -> Drain:
        """What brings the rest, once the primary is closed."""
        ...

    def rehearse(self) -> Sequence[str]:
        """Why the follower should not be promoted by plan now, a sentence each. Takes some seconds at most."""
        ...

    def would_be_lost(self) -> Sequence[str]:
        """What a forced promotion would lose at this moment, a sentence each."""
        ...

    def held_up(self) -> Sequence[str]:
        """What the primary, the other region, refuses until something damaged here is deleted, a sentence each."""
        ...

    def missing(self) -> Iterator[Shipment]:
        """What the other region has committed and the one here lacks, in the order of its journal."""
        ...

    def make_way(self, shipments: Sequence[Shipment]) -> None:
        """What imports that were refused here have left under their ids gives way: it means nothing."""
        ...

    def unread(self) -> Sequence[int]:
        """Times of commits that `missing` has met, that are not here and that cannot be read; in milliseconds."""
        ...

    def lapsed_since(self) -> int:
        """Since when commits that `missing` should have met may be gone from the journal there, if they may; else 0."""
        ...

    def mark_brought(self, shipments: Sequence[Shipment]) -> None:
        """These are not missing any more: they came here in another way. Nor is what cannot be read: it is told.

        Raises RoleChanged where the other region is not any more what it was when they were read.
        """
        ...

    @property
    def forget(self) -> Callable[[], None] | None:
        """Takes the catalog of the other region away; None where a region that joins begins with nothing anyway."""
        ...

    @property
    def urls(self) -> tuple[str, str] | None:
        """By which their data name each other, here first; None where a region says itself where it is served."""
        ...

    def bring_back(self) -> None:
        """After a promotion by plan: the other region, which follows, hears of what was committed here meanwhile."""
        ...
