"""What an administrator asks of a served registry about its two regions: a `ports.regions.RegionControl`.

The region that is asked goes the course, with the other one over HTTP: whoever asked may be cut off meanwhile.
"""

import secrets
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from typing import Final

from sigla.errors import Refusal, StoreError
from sigla.ports.regions import Promoted, RegionReport
from sigla.regions import promotion
from sigla.regions.draining import PATIENCE_S, OrderedDrain, ToldShipper
from sigla.regions.follower import RegionFollower, check_follows
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import (
    AlreadyPromoted,
    NoSecondRegion,
    NotPromoted,
    RegionNotDone,
    RegionRefused,
    RegionsApart,
    RoleChanged,
)
from sigla.remote.failures import RemoteMisused
from sigla.remote.primary import RemotePrimary
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url
from sigla.stores.sqlite.store import EmbeddedStore

TO_BE_REACHED: Final = (
    "See to it that the primary reaches this one, or name another URL with --url; where keys are asked for, the server "
    "of the primary needs that of an administrator in SIGLA_USER and SIGLA_SECRET."
)


class ServedRegion:
    """user: NAME:SECRET, with which the other region is asked.

    follower: what follows now; None where nothing does.
    """

    def __init__(self, store: EmbeddedStore, *, user: str, follower: Callable[[], RegionFollower | None]) -> None:
        self._store = store
        self._region = store.region
        self._user = user
        self._follower = follower
        self._one_at_a_time = threading.Lock()

    def report(self) -> RegionReport:
        follower, journal = self._follower(), self._store.journal
        how_far = follower.how_far if follower else None
        first = journal.place(1)
        return RegionReport(
            self._region.role(),
            journal.last_place(),
            first.hash if first else "",
            journal.newest(),
            how_far.behind_ms if how_far else None,
            how_far.problem if how_far else "",
        )

    def set_role(self, seen: Role | None, role: Role) -> bool:
        return self._region.set_role(seen, role)

    def why_not_reached(self, url: str) -> str:
        try:
            found = self.other(url).report()
        except (StoreError, RemoteMisused) as silence:
            return str(silence).removesuffix(".")
        ours, first = self._region.role(), self._store.journal.place(1)
        if found.role is None or found.first != (first.hash if first else ""):
            return f"another registry answers at {url}"
        if found.role.kind is not RegionKind.FOLLOWER or ours is None or found.role.epoch != ours.epoch:
            return f"{url} is the {found.role.kind.value} of epoch {found.role.epoch}"
        return ""

    def promote(self, url: str, primary: str) -> Promoted:
        with self._course():
            if not is_url(url):
                raise RegionRefused(why="The URL by which the primary is to reach this region is missing: give --url")
            role = self._role()
            if role.kind is RegionKind.PRIMARY and not is_url(primary or role.peer):
                return Promoted(role, changed=False)  # the other one has followed since
            there = self.other(primary or role.peer)
            done = carried_out(
                promotion.planned(
                    self._region,
                    there,
                    self._drain(primary or role.peer, there, role),
                    rehearse=partial(self._rehearsed, there, url),
                    token=secrets.token_hex(8),
                    now=self._store.clock.now(),
                    url=url,
                )
            )
            return Promoted(done.role, done.changed, done.brought, there.shown)

    def force(self, primary: str) -> Promoted:
        with self._course():
            role = self._role()
            if role.kind is RegionKind.PRIMARY:
                return Promoted(role, changed=False)
            promotion.check_promotable(role, self._store.clock.now())
            there = self.other(primary or role.peer)
            closed = self._closed(there, role.epoch)
            done = carried_out(promotion.forced(self._region, now=self._store.clock.now()))
            return Promoted(done.role, done.changed, other=there.shown, closed=closed)

    def undo(self, primary: str) -> Promoted:
        with self._course():
            role = self._role()
            if not is_url(primary or role.peer):
                raise AlreadyPromoted(epoch=role.epoch)
            there = self.other(primary or role.peer)
            done = carried_out(promotion.undone(self._region, there))
            return Promoted(self._role(), done.changed, other=there.shown)

    def abandon(self) -> Promoted:
        with self._course():
            done = carried_out(promotion.abandoned(self._region))
            return Promoted(done.role, done.changed, other=done.role.peer)

    def dismiss(self, follower: str) -> Promoted:
        with self._course():
            done = carried_out(promotion.dismissed(self._region, follower))
            return Promoted(done.role, done.changed, other=follower)

    def other(self, url: str) -> RemoteRegion:
        """Raises RemoteMisused."""
        return RemoteRegion(url, self._user, self._store.clock)

    def _role(self) -> Role:
        """Raises NoSecondRegion."""
        role = self._region.role()
        if role is None:
            raise NoSecondRegion
        return role

    def _drain(self, url: str, there: RemoteRegion, role: Role) -> OrderedDrain:
        here = self._store.journal.last_place
        source = ToldShipper(RemotePrimary(url, self._user, self._store.clock), role.name, role.epoch, here)
        target = self._store.replayer(partial(check_follows, self._region, role.epoch))
        return OrderedDrain(source, target, there=lambda: there.report().journal, here=here)

    def _rehearsed(self, there: RemoteRegion, url: str) -> Sequence[str]:
        """What is told now has to be here soon, and the other region has to find this one afterwards."""
        follower, wanted = self._follower(), there.report().journal.position
        if follower is None or not follower.wait_for(wanted, PATIENCE_S):
            why = follower.how_far.problem if follower else ""
            yet = f"This region does not go on: {why}." if why else "Wait until it is."
            return [f"What was committed more than {PATIENCE_S} s ago is not here. {yet}"]
        why = there.why_not_reached(url)
        return [f"The primary could not follow this region: {why}. {TO_BE_REACHED}"] if why else []

    def _closed(self, there: RemoteRegion, epoch: int) -> str:
        try:
            closed = carried_out(promotion.closed(there, epoch))
        except (StoreError, RoleChanged) as silence:
            return f"The other region could not be closed ({silence}): it may take writes until this one reaches it."
        return "The other region is closed." if closed else "The other region still takes writes."

    @contextmanager
    def _course(self) -> Iterator[None]:
        """One at a time; what stops it is told as the API tells it. Raises RegionRefused, RegionNotDone."""
        try:
            with self._one_at_a_time:
                yield
        except (RegionsApart, RoleChanged) as apart:
            raise RegionNotDone(why=as_sentence(apart)) from None
        except (NotPromoted, RemoteMisused) as refused:
            raise RegionRefused(why=as_sentence(refused)) from None
        except StoreError as silent:
            raise RegionNotDone(why=f"{silent}. Run it again: it goes on where it was cut off.") from silent
        except Refusal as refused:
            if isinstance(refused, RegionRefused):
                raise
            raise RegionNotDone(why=refused.message) from None


def as_sentence(problem: Exception) -> str:
    return f"{str(problem).removesuffix('.')}."
