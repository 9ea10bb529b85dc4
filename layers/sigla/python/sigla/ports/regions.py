"""What two regions need of each other's tables: roles and counters. Each method is one request, carried out whole.

What takes several of them is in `regions.giving`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple, Protocol

from sigla.model import SchemaId
from sigla.regions.installed import Installed
from sigla.regions.nouns import Counter, RegionSeen, Role, Trace
from sigla.regions.replay import JournalPlace


class Peer(Protocol):
    """The other region, asked by this one. Raises StoreError, and then what was asked may be done, or not, or later."""

    def look(self, context: str) -> RegionSeen:
        """The role there, and the counter of a context. Sees every write that has returned."""
        ...

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        """Ids of the context are given up to this ceiling, and in this epoch: whoever is promoted begins above it.

        False, and nothing is written, if the counter is not as it was seen, or of a later epoch; where the region has
        no role, or is joining, because it may have forgotten what it gave.
        """
        ...


class Roles(Protocol):
    """What a region is."""

    def role(self) -> Role | None:
        """None for a registry without a second region. Sees every write that has returned."""
        ...

    def set_role(self, seen: Role | None, role: Role) -> bool:
        """Puts a role in the place of the one that was seen; False if another stands there by now.

        When it returns, each commit is of the new role. One that was cut off is finished by the same call with the role
        as it stands in both places. A role is never taken away.
        """
        ...


class Region(Peer, Roles, Protocol):
    """Roles and counters of this region itself."""

    def met(self) -> Role | None:
        """The role as it was read last, with whatever else; None also where it never was. Asks no other machine."""
        ...

    def installed(self) -> Installed | None:
        """What runs there, as its data say; None where that is not known of late."""
        ...

    def kept(self) -> dict[str, int]:
        """How many commits of the other region are here and not carried out, by what they do, as in a sentence."""
        ...

    def counters(self) -> Iterator[tuple[str, Counter]]:
        """Those of the default context, and of all that were ever listed here."""
        ...

    def draw(self, context: str, epoch: int) -> Counter | None:
        """The counter with one id more given; None if it is not of this epoch, or no id is left below its ceiling."""
        ...

    def set_counter(self, context: str, seen: Counter | None, counter: Counter) -> bool:
        """Puts a counter in the place of the one that was seen; False if it is another by now."""
        ...

    def raise_own(self, context: str, epoch: int, ceiling: SchemaId) -> bool:
        """Ids may be given up to this ceiling, if it is higher; False if the counter is not of this epoch."""
        ...

    def pass_over(self, context: str, epoch: int, to: SchemaId) -> bool:
        """Ids up to this one are not given any more; False if it is above the ceiling, or of another epoch."""
        ...

    def copy_ceiling(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        """As `raise_for`, of a region that is joining, by whoever makes it one that has forgotten nothing."""
        ...


class RegionReport(NamedTuple):
    """What a served registry tells of its region.

    role: None without a second region. journal: its end. newest: when the newest commit was made, in milliseconds since
    the epoch; 0 before the first one. behind: how old what a follower knows is at most, in milliseconds; None where
    that is not known. problem: why a follower does not go on. installed: what it runs. out: of its role, as they were
    heard of last. run: drawn at each start: two servers of copies of one directory tell different ones.
    """

    role: Role | None
    journal: JournalPlace
    newest: int
    behind: int | None
    problem: str
    installed: Installed
    out: Sequence[Trace] = ()
    run: str = ""


class Promoted(NamedTuple):
    """What became of a promotion. role: of the region that was asked. brought: commits, at the end.

    other: where the other region is; empty where that is not known. closed: what became of it, a sentence, where it was
    passed over. given_up: whether it had given this region up, as far as that is known: then this one is to rejoin.
    adopted: ids that mean something here though their versions did not come, a sentence each. without_ids: contexts
    that get no new id until that region is back, or given up.
    """

    role: Role
    changed: bool
    brought: int = 0
    other: str = ""
    closed: str = ""
    given_up: bool = False
    adopted: Sequence[str] = ()
    without_ids: Sequence[str] = ()


class BroughtBack(NamedTuple):
    """What came here of a region that was passed over. changed: False where it joins or follows already.

    commits: that were missing. report: of their import, as `upkeep.importing.Report` has it. left: what was not brought
    as it was, a sentence each. end: of the journal of that region, which is closed.
    """

    changed: bool
    commits: int
    report: Mapping[str, object]
    left: Sequence[str]
    end: JournalPlace


class Joining(NamedTuple):
    """changed: whether it did not join already. waits: why it gets no copy as yet, a sentence; empty where it does."""

    changed: bool
    waits: str = ""


class RegionControl(Protocol):
    """What an administrator asks of a registry that is served, about its two regions.

    All raise RegionRefused where nothing was changed, RegionNotDone where it may be asked again.
    """

    def report(self) -> RegionReport: ...

    def set_role(self, seen: Role | None, role: Role) -> bool:
        """As `Roles.set_role`, for the other region, which goes a course with this one."""
        ...

    def why_not_reached(self, url: str) -> str:
        """Why this region could not follow the one that is served at a URL, a sentence; empty where it could."""
        ...

    def promote(self, url: str, primary: str) -> Promoted:
        """Promotes by plan. url: where the other region reaches this one. primary: its URL; empty: as the role says."""
        ...

    def force(self, primary: str) -> Promoted:
        """Goes on with what is here."""
        ...

    def undo(self, primary: str) -> Promoted:
        """Takes back what was promoted by plan, and was cut off. The role is that of this region."""
        ...

    def bring(self, url: str) -> BroughtBack:
        """Closes the region at a URL, which was passed over, and brings what this one lacks of it."""
        ...

    def rejoin(self, url: str, follow: str, end: JournalPlace) -> "Joining":
        """That region joins, with a copy of this one.

        follow: the URL where it reaches this one. end: of its journal, as it was brought.
        """
        ...

    def abandon(self, region: str) -> Promoted:
        """Gives up a region that does not come back: by its name or URL; empty: the only one that is out.

        One that answers is refused: it can rejoin.
        """
        ...

    def dismiss(self, follower: str) -> Promoted:
        """Gives up the region that follows, by its name, so that another one may."""
        ...
