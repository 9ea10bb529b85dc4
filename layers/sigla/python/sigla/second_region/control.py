"""What an administrator asks of a served registry about its two regions: a `ports.regions.RegionControl`.

The region that is asked goes the course, with the other one over HTTP: whoever asked may be cut off meanwhile.
"""

import secrets
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import cache, partial
from typing import Final, TypeVar

from sigla.errors import StoreError
from sigla.model import Body, BodyKey
from sigla.ports.bodies import Bodies
from sigla.ports.in_front import BodiesInFront
from sigla.ports.regions import BroughtBack, Joining, Promoted, RegionReport
from sigla.ports.replaying import Shipment
from sigla.regions import promotion, rejoining
from sigla.regions.adoption import adopted, given_before
from sigla.regions.draining import PATIENCE_S, OrderedDrain, ToldShipper
from sigla.regions.followed import PolledFollower, check_may_follow
from sigla.regions.follower import check_follows
from sigla.regions.giving import Course, carried_out, without_ids
from sigla.regions.installed import Installed, unlike
from sigla.regions.nouns import KnownBy, RegionKind, Role, Trace
from sigla.regions.promotion import Promotion
from sigla.regions.refusals import (
    AlreadyPromoted,
    GivenUp,
    NoSecondRegion,
    NotFollowed,
    NotOneRegistry,
    RegionNotDone,
    RegionRefused,
    RoleChanged,
)
from sigla.regions.replay import JournalPlace, last_common
from sigla.registry import Resources
from sigla.remote.failures import RemoteMisused
from sigla.remote.primary import RemotePrimary
from sigla.remote.region import MERGE_S, RemoteRegion, role_if_it_answers, why_not_lost
from sigla.remote.urls import is_url
from sigla.second_region.keeper import RegionKeeper
from sigla.second_region.stopped_courses import as_sentence, told_as_api
from sigla.second_region.under_way import WorkUnderWay
from sigla.stores.sqlite.promoting import promote_by_force
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.rejoining import Rejoined, merge

T = TypeVar("T")

_TRIES: Final = 3
BROUGHT_AT_ONCE: Final = 20
"""Things of a region that comes back which become durable together: clients of this one wait as long."""
NOT_ASKED: Final = "The other region was not asked to close: it may take writes until it is told of this epoch."
DISK_FULL: Final = "its disk takes no writes, so this region takes none: make room there"
TO_BE_REACHED: Final = (
    "See to it that the primary reaches this one, or name another URL with --url; where keys are asked for, the server "
    "of the primary needs that of an administrator in SIGLA_USER and SIGLA_SECRET."
)


class ServedRegion:
    """keeper, polled, other, user: as of `RegionKeeper`. installed: what this server runs."""

    def __init__(
        self,
        store: EmbeddedStore,
        keeper: RegionKeeper,
        *,
        polled: PolledFollower,
        other: Callable[[str], RemoteRegion],
        user: str,
        installed: Installed,
    ) -> None:
        self._store = store
        self._region = store.region
        self._keeper = keeper
        self._polled = polled
        self._other = other
        self._user = user
        self._installed = installed
        self._one_at_a_time = threading.Lock()
        self._brings = WorkUnderWay[BroughtBack](MERGE_S + 60)  # whoever asked has left by then, and asks again
        self._one_brings = threading.Lock()
        """All that a region has alone is in memory meanwhile."""

    def report(self) -> RegionReport:
        follower, journal = self._keeper.follower, self._store.journal
        how_far, role = follower.how_far if follower else None, self._region.role()
        return RegionReport(
            role,
            journal.last_place(),
            journal.newest(),
            how_far.behind_ms if how_far else None,
            how_far.problem if how_far else self._keeper.problem or self._full(role),
            self._installed,
            self._out(role) if role else (),
            self._keeper.one_writer.run_name,
        )

    def _full(self, role: Role | None) -> str:
        return DISK_FULL if role is not None and role.writes and not self._store.writable else ""

    def _out(self, role: Role) -> Sequence[Trace]:
        heard = dict(self._keeper.one_writer.heard)
        return [each._replace(seen=max(each.seen, heard.get(each.url, 0))) for each in role.out]

    def set_role(self, seen: Role | None, role: Role) -> bool:
        return self._region.set_role(seen, role)

    def why_not_reached(self, url: str) -> str:
        try:
            found = self._other(url).report()
        except (StoreError, RemoteMisused) as silence:
            return str(silence).removesuffix(".")
        ours = self._region.role()
        if found.role is None or ours is None or not found.role.is_of(ours):
            return f"another registry answers at {url}"
        if not _may_be_followed(found.role, ours):
            return f"{url} is the {found.role.kind.value} of epoch {found.role.epoch}"
        return ""

    def promote(self, url: str, primary: str) -> Promoted:
        with self._course("; if that machine is lost, promote with --force"):
            if not is_url(url):
                raise RegionRefused(why="The URL by which the primary is to reach this region is missing: give --url")
            role = self._role()
            _check_not_passed_over(role)
            self._check_goes_on()
            if role.kind is RegionKind.PRIMARY and not is_url(primary or role.peer.url):
                return Promoted(role, changed=False)  # the other one has followed since
            there = self._other(primary or str(role.peer))
            done = carried_out(
                promotion.planned(
                    self._region,
                    there,
                    self._drain(primary or str(role.peer), there, role),
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
            if role.writes:  # a caller that asks again may not have got the first answer
                return self._forced(Promotion(role, changed=False))
            if role.is_closed:
                return self._open(role, primary)
            self._check_goes_on()
            promotion.check_promotable(role, self._store.clock.now())
            there, follower = self._other(primary or str(role.peer)), self._keeper.follower
            closed = self._closed(there, role)
            given_up = follower is not None and follower.given_up
            behind = follower.how_far.behind_ms if follower else None
            done = self._go_on(seen=0 if behind is None else self._store.clock.now() - behind)
            return done._replace(other=there.shown, closed=closed, given_up=given_up)

    def _open(self, role: Role, other: str) -> Promoted:
        """A primary that was closed, and whose other region is lost. other: its URL; empty: those that are known."""
        promotion.check_may_be_opened(role)
        for url in dict.fromkeys((other, *role.elsewhere)):
            if is_url(url) and (why := why_not_lost(self._other(url), role, promotion.why_not_opened)):
                raise RegionRefused(why=f"Nothing was changed. {why}")
        return self._go_on()._replace(other=other or role.other_url, closed=NOT_ASKED)

    def _go_on(self, *, seen: int = 0) -> Promoted:
        """By force. seen: when the other region was heard of last, as of `Trace`."""
        return self._forced(promote_by_force(self._store, now=self._store.clock.now(), seen=seen))

    def _forced(self, done: Promotion) -> Promoted:
        """What holds from then on, until the region that was passed over is back, or given up."""
        role, store = done.role, self._store
        if not role.adopts or role.reconciled:
            return Promoted(role, done.changed)
        ids = adopted(store.inventory.unheld(), store.bodies, given_before(cache(self._region.look)))
        return Promoted(role, done.changed, adopted=tuple(ids), without_ids=without_ids(self._region))

    def undo(self, primary: str) -> Promoted:
        with self._course():
            role = self._role()
            if not is_url(primary or role.peer.url):
                raise AlreadyPromoted(epoch=role.epoch)
            there = self._other(primary or role.peer.url)
            done = carried_out(promotion.undone(self._region, there))
            return Promoted(self._role(), done.changed, other=there.shown)

    def abandon(self, region: str) -> Promoted:
        with self._course():
            ours = self._role()
            given_up = promotion.to_be_abandoned(ours, region)
            if given_up is None:
                return Promoted(ours, changed=False)
            if is_url(given_up.url) and (
                why := why_not_lost(self._other(given_up.url), ours, promotion.why_not_abandoned)
            ):
                raise RegionRefused(why=f"Nothing was changed. {why}")
            done = carried_out(promotion.abandoned(self._region, given_up.name))
            return Promoted(done.role, done.changed, other=given_up.name)

    def dismiss(self, follower: str) -> Promoted:
        with self._course():
            ours = self._role()
            if ours.writes and is_url(ours.other_url):
                there = self._other(ours.other_url)
                theirs = role_if_it_answers(there, ours)
                if theirs is not None and (why := promotion.why_not_dismissed(there.shown, theirs, ours)):
                    raise RegionRefused(why=f"Nothing was changed. {why}")
            ago = self._polled.asked_ms_ago
            seen = 0 if ago is None else self._store.clock.now() - ago
            done = carried_out(promotion.dismissed(self._region, follower, seen=seen))
            return Promoted(done.role, done.changed, other=follower)

    def bring(self, url: str) -> BroughtBack:
        try:
            return self._brings(url, partial(self._bring, url))
        except TimeoutError:
            raise RegionNotDone(why=f"What {url} has is still being brought. Run it again.") from None

    def _bring(self, url: str) -> BroughtBack:
        """It may take minutes, and no other course waits for it: each commit looks whether this is the primary."""
        with told_as_api(), self._one_brings:
            there = self._known(url)
            done: list[Rejoined] = []
            store = self._store

            def bring() -> None:
                bodies = _BodiesToo(store.bodies)
                told = bodies.told_with(there.rows(self._common(there)))
                here = Resources(store.catalog, store.bodies, store.clock)
                done.append(merge(told, bodies, here, group=store.group, at_once=BROUGHT_AT_ONCE))

            changed = _carried_out_again(lambda: rejoining.brought(self._region, there, bring=bring))
            end = there.report().journal
            if not done:
                return BroughtBack(changed, 0, {}, (), end)
            return BroughtBack(changed, done[0].commits, done[0].report.form(), done[0].left, end)

    def rejoin(self, url: str, follow: str, end: JournalPlace) -> Joining:
        with self._course():
            there = self._known(url)
            if why := there.why_not_reached(follow):
                raise RegionRefused(why=f"That region could not follow this one: {why}. {TO_BE_REACHED}")

            def check_brought() -> None:
                if there.report().journal != end:
                    raise RoleChanged

            changed = _carried_out_again(
                lambda: rejoining.rejoined(self._region, there, bring=check_brought, forget=None, url=follow)
            )
            return Joining(changed, self._why_it_waits(there, follow))

    def _known(self, url: str) -> RemoteRegion:
        """The other region of this registry. Raises RegionRefused, RemoteMisused, StoreError."""
        there = self._other(url)
        if not self._role().is_of(there.role()):
            raise RegionRefused(why=f"Another registry answers at {there.shown}")
        return there

    def _check_goes_on(self) -> None:
        """Raises RegionRefused."""
        follower = self._keeper.follower
        if follower is not None and follower.ended:
            raise RegionRefused(why=f"Nothing was changed. {follower.how_far.problem}")

    def _why_it_waits(self, there: RemoteRegion, follow: str) -> str:
        """Why the region that is to join gets no copy as yet, a sentence; empty where it does. follow: the URL here."""
        try:
            role, theirs = self._role(), there.role()
            if theirs is not None and role.peer != KnownBy(theirs.name):
                check_may_follow(role, "")
        except NotFollowed as taken:
            return as_sentence(NotFollowed(why=taken.why, registry=follow))
        except StoreError:
            pass  # it begins anew, and does not answer for a moment
        return ""

    def _common(self, there: RemoteRegion) -> int:
        """The last row that both journals have."""
        here = self._store.journal
        end = min(here.end(), there.report().journal.position)
        return last_common(end, lambda position: there.place(position) == here.place(position))

    def _role(self) -> Role:
        """Raises NoSecondRegion."""
        role = self._region.role()
        if role is None:
            raise NoSecondRegion
        return role

    def _drain(self, url: str, there: RemoteRegion, role: Role) -> OrderedDrain:
        here = self._store.journal.last_place
        primary = RemotePrimary(url, self._user, self._store.clock)
        source = ToldShipper(primary, role.epoch, here, self._role)
        target = self._store.replayer(partial(check_follows, self._region, role.epoch))
        return OrderedDrain(source, target, there=lambda: there.report().journal, here=here)

    def _rehearsed(self, there: RemoteRegion, url: str) -> Sequence[str]:
        """Why not: both are alike, what is told now is here soon, and the other region finds this one afterwards."""
        found = there.report()
        if differing := [*unlike(self._installed, found.installed)]:
            return differing
        if found.problem:
            return [f"The primary says: {found.problem}."]
        if not self._store.writable:
            return ["The disk of this region takes no writes: make room there first."]
        wanted, follower = found.journal.position, self._keeper.follower_of(self._role(), PATIENCE_S)
        if follower is None or not follower.wait_for(wanted, PATIENCE_S):
            why = follower.how_far.problem if follower else ""
            yet = f"This region does not go on: {why}." if why else "Wait until it is."
            return [f"What was committed more than {PATIENCE_S} s ago is not here. {yet}"]
        why = there.why_not_reached(url)
        return [f"The primary could not follow this region: {why}. {TO_BE_REACHED}"] if why else []

    def _closed(self, there: RemoteRegion, ours: Role) -> str:
        """Raises GivenUp where the other region is of a later epoch: it would close this one at once."""
        try:
            theirs = there.role()
            if theirs is not None and theirs.is_of(ours) and theirs.epoch > ours.epoch:
                raise GivenUp(epoch=ours.epoch, theirs=theirs.epoch)
            closed = carried_out(promotion.passed_over(ours, there))
        except NotOneRegistry:
            return f"Another registry answers at {there.shown}: it is left alone."
        except (StoreError, RoleChanged) as silence:
            return f"The other region could not be closed ({silence}): it may take writes until this one reaches it."
        return "The other region is closed." if closed else "The other region still takes writes."

    @contextmanager
    def _course(self, otherwise: str = "") -> Iterator[None]:
        """One at a time. otherwise, and what it raises: as of `told_as_api`."""
        with told_as_api(otherwise), self._one_at_a_time:
            yield


def _carried_out_again(course: Callable[[], Course[T]]) -> T:
    """What a course comes to, with a region that may be closing itself at the same time. Raises RoleChanged."""
    for _ in range(_TRIES):
        with suppress(RoleChanged):
            return carried_out(course())
    return carried_out(course())


class _BodiesToo(BodiesInFront):
    """Bodies that come with commits of the other region, before those that stand here."""

    def __init__(self, here: Bodies) -> None:
        super().__init__(here)
        self._told: dict[BodyKey, Body] = {}

    def told_with(self, shipments: Iterable[Shipment]) -> Iterator[Shipment]:
        """The same commits; of each its bodies alone are kept."""
        for each in shipments:
            self._told.update(each.bodies)
            yield each

    def get(self, key: BodyKey) -> Body:
        told = self._told.get(key)
        return super().get(key) if told is None else told


def _check_not_passed_over(role: Role) -> None:
    """Raises RegionRefused: a primary that is closed does not take writes because it is promoted."""
    if role.kind is RegionKind.PRIMARY and not role.open:
        raise RegionRefused(
            why=f"This region is the primary of epoch {role.epoch} and closed. If the other one was promoted by force,"
            " run `sigla rejoin` for this one; if a promotion of the other one was cut off, run that again,"
            " or with --undo."
        )


def _may_be_followed(there: Role, here: Role) -> bool:
    """By a primary after a promotion by plan, or by a region that was passed over: then the other one is primary."""
    if there.kind is RegionKind.FOLLOWER:
        return there.epoch == here.epoch
    if here.kind is RegionKind.PRIMARY:
        return there.writes and there.outranks(here)
    return there.writes and there.epoch >= here.epoch
