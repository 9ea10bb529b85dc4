"""Ids in two regions, as a model: two tables, two buckets, and a link that loses requests, or brings them late.

Each method of `Site` is one request that its table or bucket carries out whole. What takes several is a generator that
yields them, so that anything may happen in between: another's request, the end of the process, a promotion.

A context's ids are given in blocks. Whoever gives has raised the ceiling at the other side first; whoever is promoted
begins above the ceiling that it sees. So neither has to ask the other for an id, or know what became of it.
"""

from collections.abc import Generator, Mapping
from copy import deepcopy
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

BLOCK = 6
"""For 100,000."""

PRIMARY, FOLLOWER, JOINING = "primary", "follower", "joining"


class Unreachable(Exception):
    """No answer came over the link. What was asked for is done, or not done, or will be."""


class Refused(Exception):
    """With what would be 50002 or 50003 for a client: nothing was given."""


class Role(NamedTuple):
    epoch: int
    kind: str
    open: bool = True
    token: int = 0
    """That of the planned promotion which is under way."""


class Next(NamedTuple):
    """The counter of a context. Above `ceiling` no id is given; below `first` another epoch has given them."""

    next: int
    ceiling: int
    epoch: int
    first: int


class Design(NamedTuple):
    """What the promise rests on; tests leave out one at a time and see an id given twice.

    marks: a raise writes its epoch at the other side, too. waits: a first draw gives nothing above what the other side
    has heard of. tells: nor is one brought that is above it. keeps: a counter outlives the rows of a registry that
    rejoins. joins: no ceiling is raised at a side that has forgotten what it gave. skips: who gives its follower up
    takes the epoch after the one that this may have begun. awaits: who was promoted by force is followed once it is
    reconciled. leaves: who opens a primary that was closed takes the epoch after the one for which it was. knows: it
    is opened only if it knows of no other region that is out. ends: nor once it has begun to rejoin.
    """

    marks: bool = True
    waits: bool = True
    tells: bool = True
    keeps: bool = True
    joins: bool = True
    skips: bool = True
    awaits: bool = True
    leaves: bool = True
    knows: bool = True
    ends: bool = True


@dataclass
class Table:
    """What a backup brings back."""

    role: Role
    counter: Next | None = None
    held: dict[int, str] = field(default_factory=dict)
    reconciled: bool = True
    alone: bool = False
    """Whether no region follows, and none is to be told how far ids are given."""
    forced: bool = False
    """Whether it was promoted by force, and the other one has not rejoined."""
    vacant: bool = False
    """Whether the one that was passed over is back and does not follow yet: none is told, and another may be faster."""
    lost: frozenset[str] = frozenset()
    """Followers that were given up and may have ids of their own."""


@dataclass
class Site:
    """A region. bucket: its bodies, which no backup brings back and nothing removes. given: by both, for ever."""

    name: str
    table: Table
    given: dict[int, set[str]]
    design: Design
    bucket: dict[int, str] = field(default_factory=dict)

    def read(self) -> Table:
        return deepcopy(self.table)

    def all(self) -> tuple[Table, dict[int, str]]:
        return self.read(), dict(self.bucket)

    def set_role(self, seen: Role, role: Role, **told: Any) -> bool:
        """told: what else changes of the table."""
        if self.table.role != seen:
            return False
        self.table = replace(self.table, role=role, **told)
        return True

    def draw(self, epoch: int) -> int | None:
        row = self.table.counter
        if row is None or row.epoch != epoch or row.next >= row.ceiling:
            return None
        self.table.counter = row._replace(next=row.next + 1)
        return row.next + 1

    def set_counter(self, seen: Next | None, row: Next) -> bool:
        if self.table.counter != seen:
            return False
        self.table.counter = row
        return True

    def raise_own(self, epoch: int, ceiling: int) -> bool:
        row = self.table.counter
        if row is None or row.epoch != epoch:
            return False
        self.table.counter = row._replace(ceiling=max(ceiling, row.ceiling))
        return True

    def raise_alone(self, epoch: int, ceiling: int) -> bool:
        return (self.table.alone or self.table.vacant) and self.raise_own(epoch, ceiling)

    def followed(self) -> Table | None:
        """By the first region that asks: from now on it is told. What it finds then it has to know."""
        table = self.table
        if table.role.kind != PRIMARY or (table.forced and self.design.awaits):
            return None
        table.alone = table.vacant = False
        return self.read()

    def raise_for(self, epoch: int, seen: Next | None, ceiling: int) -> bool:
        """What the other side asks for. Refused once ids of a later epoch are given here, or may have been."""
        if self.table.role.kind == JOINING and self.design.joins:
            return False
        return self.copy_ceiling(epoch, seen, ceiling)

    def copy_ceiling(self, epoch: int, seen: Next | None, ceiling: int) -> bool:
        row = self.table.counter
        if row is None:
            if seen is not None:
                return False
            row = Next(0, 0, epoch, 1)
        elif row.epoch > epoch or seen is None or row.ceiling != seen.ceiling:
            return False
        self.table.counter = row._replace(ceiling=ceiling, epoch=epoch if self.design.marks else row.epoch)
        return True

    def put(self, id: int, content: str) -> bool:
        return self.bucket.setdefault(id, content) == content

    def commit(self, epoch: int, id: int, content: str) -> bool:
        role = self.table.role
        if (role.epoch, role.kind, role.open) != (epoch, PRIMARY, True):
            return False
        self.table.held[id] = content
        self.given.setdefault(id, set()).add(content)
        return True

    def adopt(self, held: dict[int, str]) -> None:
        for id, content in held.items():
            self.table.held.setdefault(id, content)

    def restored(self, table: Table) -> None:
        """The table as it was. It does not serve before it has joined again."""
        self.table = replace(deepcopy(table), role=Role(table.role.epoch, JOINING))

    def give(self, there: "Site", epoch: int) -> "Course[int]":
        return drawn(self, there, epoch)

    def allow(self, there: "Site", epoch: int, wanted: int, content: str) -> "Course[None]":
        return allowed(self, there, epoch, wanted, content)

    def promote(self, old: "Site", token: int) -> "Course[Any]":
        return planned(old, self, token)

    def take_back(self, old: "Site") -> "Course[Any]":
        return undone(old, self)

    def promote_by_force(self) -> "Course[Any]":
        return forced(self)

    def forget_rows(self) -> None:
        self.table.held = {}
        if not self.design.keeps:
            self.table.counter = None


class Call(NamedTuple):
    """A request to `at`: one of its methods."""

    at: Site
    name: str
    given: tuple[Any, ...] = ()
    named: Mapping[str, Any] = {}

    def do(self) -> Any:
        return getattr(self.at, self.name)(*self.given, **self.named)


def ask(at: Site, name: str, *given: Any, **named: Any) -> Call:
    return Call(at, name, given, named)


T = TypeVar("T")
Course = Generator[Call, Any, T]


def ceiling_of(row: Next | None, epoch: int) -> int:
    """A context that has no counter yet has one block for each epoch."""
    return row.ceiling if row else epoch * BLOCK


# --- ids -------------------------------------------------------------------------------------------------------------


def registration(here: Site, there: Site, content: str, *, wanted: int = 0, required: bool = True) -> Course[int]:
    """Gives the content an id, or the one that is wanted. Returns it when it is acknowledged."""
    while True:
        epoch = yield from serving(here)
        if wanted:
            yield from here.allow(there, epoch, wanted, content)
        id = wanted or (yield from here.give(there, epoch))
        free = yield ask(here, "put", id, content)
        try:
            free = free and (yield ask(there, "put", id, content))
        except Unreachable:
            if required:
                raise Refused("the body is not in both regions") from None
        if free:
            done = yield ask(here, "commit", epoch, id, content)
            if done:
                return id
        elif wanted:
            raise Refused("the id has another content")


def serving(here: Site) -> Course[int]:
    role = (yield ask(here, "read")).role
    if role.kind != PRIMARY or not role.open:
        raise Refused("not the primary")
    return int(role.epoch)


def drawn(here: Site, there: Site, epoch: int) -> Course[int]:
    """The next id of this epoch."""
    while True:
        id = yield ask(here, "draw", epoch)
        if id is not None:
            return int(id)
        row = yield from own_row(here, epoch)
        if row.next >= row.ceiling:
            yield from raised(here, there, row, row.ceiling + BLOCK)


def own_row(here: Site, epoch: int) -> Course[Next]:
    """The counter, taken over for this epoch if another one wrote it last. That shuts out who gave ids then."""
    while True:
        table: Table = yield ask(here, "read")
        row, now = table.counter, table.role.epoch
        if now != epoch or (row and row.epoch > epoch):
            raise Refused("another epoch has begun")
        if row and row.epoch == epoch:
            return row
        before = max(ceiling_of(row, epoch - 1), (epoch - 1) * BLOCK)
        # What the other side takes for granted of this epoch ends at its block; for more it must have been told.
        ceiling = max(before, epoch * BLOCK) if here.design.waits else before + BLOCK
        begun = Next(before, ceiling, epoch, before + 1)
        yield ask(here, "set_counter", row, begun)


def raised(here: Site, there: Site, row: Next, ceiling: int) -> Course[None]:
    """The other side first: who begins there begins above it, whether or not the own side ever hears of it."""
    if (yield ask(here, "raise_alone", row.epoch, ceiling)):
        return
    try:
        seen = (yield ask(there, "read")).counter
        ceiling = max(ceiling, ceiling_of(seen, row.epoch))
        done = yield ask(there, "raise_for", row.epoch, seen, ceiling)
    except Unreachable:
        raise Refused("the other region does not answer, and the block is used up") from None
    if not done:
        raise Refused("the other region has gone on")
    yield ask(here, "raise_own", row.epoch, ceiling)


def allowed(here: Site, there: Site, epoch: int, wanted: int, content: str) -> Course[None]:
    """Whether an id may be brought: within the bounds of those that are drawn."""
    row = yield from own_row(here, epoch)
    # The ceiling of a first draw was told by the other side, which may have died before it knew that.
    is_heard_of = wanted <= epoch * BLOCK or row.ceiling >= row.first or not here.design.tells
    if wanted > row.ceiling or not is_heard_of:
        yield from raised(here, there, row, max(wanted, row.ceiling) + BLOCK)
    table = yield ask(here, "read")
    if wanted < row.first and not table.reconciled and table.held.get(wanted) != content:
        raise Refused("the id may have been given in the other region")


# --- who gives them --------------------------------------------------------------------------------------------------


def planned(old: Site, new: Site, token: int) -> Course[None]:
    """Nothing is lost. Cut off anywhere, it is run again, or undone."""
    was, will = (yield ask(old, "read")).role, (yield ask(new, "read")).role
    if was.kind == PRIMARY and will == Role(was.epoch, FOLLOWER, token=will.token):
        taken = will._replace(token=token)
        yield from written(new, will, taken)
        closed = was._replace(open=False)
        yield from written(old, was, closed)
        table, bodies = yield ask(old, "all")
        for id, content in bodies.items():
            yield ask(new, "put", id, content)
        yield ask(new, "adopt", table.held)
        was, will = closed, Role(was.epoch + 1, PRIMARY)
        yield from written(new, taken, will, reconciled=table.reconciled, lost=table.lost)
    if will.kind == PRIMARY and was == Role(will.epoch - 1, PRIMARY, open=False):
        yield from written(old, was, Role(will.epoch, FOLLOWER))


def undone(old: Site, new: Site) -> Course[None]:
    """Takes back a planned promotion that was cut off: its token first."""
    was, will = (yield ask(old, "read")).role, (yield ask(new, "read")).role
    if will.kind == FOLLOWER and was == Role(will.epoch, PRIMARY, open=False):
        yield from written(new, will, will._replace(token=0))
        yield from written(old, was, was._replace(open=True))


def forced(new: Site) -> Course[None]:
    """The other side is lost, or seems to be: it may go on meanwhile.

    A primary that was closed is opened: the epoch after its own is that of the region for which it was.
    """
    table = yield ask(new, "read")
    role, design = table.role, new.design
    is_closed = role.kind == PRIMARY and not role.open
    if is_closed and not table.alone and (table.reconciled or not design.knows):
        later = Role(role.epoch + (2 if design.leaves else 1), PRIMARY)
        yield from written(new, role, later, reconciled=False, forced=True)
    if role.kind == FOLLOWER:
        yield from written(new, role, Role(role.epoch + 1, PRIMARY), reconciled=False, forced=True)


def fenced(old: Site, new: Site) -> Course[None]:
    """A primary looks now and then whether a later epoch has begun without it."""
    was, now = (yield ask(old, "read")).role, (yield ask(new, "read")).role
    if was.kind == PRIMARY and was.epoch < now.epoch:
        yield from written(old, was, was._replace(open=False))


def dismissed(here: Site, follower: Site) -> Course[None]:
    """The follower is lost, and may be promoted by force: the next epoch is its own, with the block of that."""
    table = yield ask(here, "read")
    role = table.role
    if role.kind == PRIMARY and role.open and not table.alone and not table.forced:
        later = Role(role.epoch + (2 if here.design.skips else 1), PRIMARY)
        lost = table.lost | {follower.name}
        yield from written(here, role, later, reconciled=False, alone=True, lost=lost)


def abandoned(here: Site) -> Course[None]:
    """The region that was passed over never comes back, they say. If it does, it may take the next epoch."""
    table = yield ask(here, "read")
    role = table.role
    if role.kind == PRIMARY and role.open and table.forced:
        later = role._replace(epoch=role.epoch + (2 if here.design.skips else 0))
        yield from written(here, role, later, reconciled=not table.lost, forced=False, alone=True)


def written(site: Site, seen: Role, role: Role, **told: Any) -> Course[None]:
    if not (yield ask(site, "set_role", seen, role, **told)):
        raise Refused("the role has changed: look again")
