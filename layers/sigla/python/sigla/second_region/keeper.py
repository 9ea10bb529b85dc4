"""What a served registry does as its role says: it leads, or follows, or does neither, and changes while it runs."""

import threading
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, TypeGuard

from sigla.errors import StoreError
from sigla.observe import Teller
from sigla.ports.regions import Roles
from sigla.regions.followed import PolledFollower
from sigla.regions.follower import STOPPED, Here, RegionFollower, check_follows
from sigla.regions.names import drawn_name
from sigla.regions.nouns import Joins, RegionKind, Role
from sigla.regions.refusals import NotFollowed
from sigla.remote.failures import RemoteMisused
from sigla.remote.primary import RemotePrimary
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url
from sigla.second_region.elsewhere import writer_of
from sigla.second_region.failures import FailuresTold
from sigla.second_region.one_writer import LOOKED_MS, OneWriter
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local.following import Following
from sigla.web.local.forwarding import ForwardCounts, Forwarding, Nowhere, Sends
from sigla.web.local.news import News
from sigla.web.local.role_tables import RoleTables

LOOK_S: Final = 1.0
"""Between two looks at a region that was passed over, or that may have passed this one over."""
LOOK_MS: Final = 1_000
BEGINS_S: Final = 0.02
"""Between two looks whether a new role is acted on."""
FAREWELL_S: Final = 5.0
"""For so long the end waits for what a follower carries out."""

ROLE: Final = "region-role"
"""The event of the line that tells what this region is from now on."""


class BeginsAnew(Exception):
    """What the directory has is to be replaced by a copy of the registry at a URL, and is not served any more.

    handed_over: whether the sockets were those of a supervisor, and are gone.
    """

    def __init__(self, url: str) -> None:
        super().__init__(url)
        self.url = url
        self.handed_over = False


def begins_anew(role: Role | None) -> TypeGuard[Role]:
    """Whether the region was passed over, and has given what it had alone."""
    return role is not None and role.kind is RegionKind.JOINING and role.joins is Joins.ANEW


class Exporters(Protocol):
    """They run at a primary alone."""

    def start(self) -> None: ...
    def stop(self) -> None: ...


class RegionKeeper:
    """One for each served registry. Its thread begins with the first role.

    polled: the region that follows, as far as it asks. other: asks the region at a URL. user: NAME:SECRET, with which
    that is asked. served: the URL of this server.
    """

    def __init__(
        self,
        store: EmbeddedStore,
        tables: RoleTables,
        exporters: Exporters,
        *,
        polled: PolledFollower,
        other: Callable[[str], RemoteRegion],
        user: str,
        served: str,
        tell: Teller,
    ) -> None:
        self._store = store
        self._region: Roles = store.region
        self._tables = tables
        self._exporters = exporters
        self._other = other
        self._user = user
        self._served = served
        self._tell = tell
        self._changed = threading.Event()
        self._over = False
        self._thread: threading.Thread | None = None
        self._acted_on: Role | None = None
        self._tell_failure = FailuresTold(tell, store.clock)
        self.one_writer = OneWriter(
            store, polled=polled, other=other, served=served, tell=tell, tell_failure=self._tell_failure
        )
        self._next_search = 0
        """When the region that takes writes is looked for, by `Clock.elapsed`."""
        self.sent_to = ""
        """The URL of the region to which requests go on, where this one neither leads nor follows."""
        self.follower: RegionFollower | None = None
        self.sent_on = ForwardCounts()
        self.begins_anew = ""
        """The URL of the primary that is to be copied, once that is so."""
        self.problem = ""
        """Why that is not so yet."""

    def begin(self, role: Role | None, url: str) -> None:
        """Acts on the role as it stands, before the first request. url: of the primary, where the command says it.

        Raises BeginsAnew, RemoteMisused; NotFollowed where one that has a copy, and never followed, is refused.
        """
        if begins_anew(role) and self._may_copy(role):
            raise BeginsAnew(role.peer.url)
        if role is not None and role.kind is not RegionKind.PRIMARY:
            role = self._named(role)
        if role is not None and role.writes:
            self.one_writer.look_at_all(role)
            role = self._region.role()
        if role is not None:
            self._act_on(role, url)
            self._acted_on = role
        self._store.on_role_changed(self.hear)  # nothing but what follows has changed it before the first request
        if role is not None:
            self._start()

    def hear(self, role: Role) -> None:
        """The role has changed. In the thread that wrote, which goes on at once."""
        if role.writes:
            self._tables.lead(adopts=role.adopts, pair=role.pair)
        elif role.kind is RegionKind.PRIMARY:
            self._tables.follow(self._closed(role, Nowhere()))
        self._changed.set()
        self._start()

    def follower_of(self, role: Role, patience_s: float) -> RegionFollower | None:
        """What follows as a role says, which may be a moment old; None where that does not begin in time."""
        clock = self._store.clock
        until = clock.elapsed() + patience_s * 1000
        while (follower := self.follower) is None or not follower.follows(role):
            if clock.elapsed() >= until:
                return None
            clock.sleep(BEGINS_S)
        return follower

    def stop(self) -> None:
        self._over = True
        self._changed.set()
        if self._thread is not None:
            self._thread.join(FAREWELL_S)
        self._stop_following()

    # --- in its thread -----------------------------------------------------------------------------------------------

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="sigla-region", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while not self._over:
            self._changed.wait(LOOK_S)
            if self._over:
                return
            self._changed.clear()
            try:
                self._look()
            except Exception as problem:  # noqa: BLE001 - whatever it is, it is told, and looked at again
                self._tell_failure(problem)

    def _look(self) -> None:
        role = self._region.role()
        if role is None:
            return
        if role != self._acted_on:
            self.one_writer.hear()
            self._next_search = 0
            self._act_on(role)
            if _as_told(role) != _as_told(self._acted_on):
                self._tell({"event": ROLE, "role": role.kind.value, "epoch": role.epoch, "writes": role.writes})
            self._acted_on = role  # what failed halfway is done again with the next look
        if role.writes:
            self.one_writer.look_across(role)
        else:
            self._look_for_writer(role)
        if begins_anew(role) and not self.begins_anew and self._may_copy(role):
            self.begins_anew = role.peer.url

    def _act_on(self, role: Role, url: str = "") -> None:
        self.problem = self.problem if begins_anew(role) else ""
        if role.writes:
            self._stop_following()
            self._tables.lead(adopts=role.adopts, pair=role.pair)
            self._exporters.start()
            return
        self._exporters.stop()
        if role.kind is RegionKind.PRIMARY or begins_anew(role):
            self._stop_following()
            self._tables.follow(self._closed(role, self._towards(role, self._towards_url(role))))
        elif self.follower is None or not self.follower.follows(role):
            self._follow(role, url or str(role.peer), is_begin=bool(url))

    def _follow(self, role: Role, url: str, *, is_begin: bool) -> None:
        self._stop_following()
        self.sent_to = ""
        role = self._named(role)
        store, primary = self._store, RemotePrimary(url, self._user, self._store.clock, pair=role.pair)
        replayer = store.replayer(partial(check_follows, store.region, role.epoch))
        here = Here(store.region, replayer, store.group, store.journal.last_place, store.clock)
        news = News()
        follower = RegionFollower(here, primary, role, tell=self._tell, moved=news.tell, served=self._served)
        if role.kind is RegionKind.JOINING and is_begin:
            with suppress(StoreError):  # it answers later, perhaps
                follower.turn()
        self.follower = follower
        follower.start()
        self._tables.follow(
            Following(
                Forwarding(primary, store.clock, self.sent_on),
                lambda: follower.complete_at,
                follower.reaches,
                news,
                store.clock,
                comes_back=lambda: not follower.how_far.problem,
                pair=role.pair,
            )
        )

    def _may_copy(self, role: Role) -> bool:
        """Whether the primary gives a copy. While it does not, this region goes on as it is, and says why."""
        try:
            RemotePrimary(str(role.peer), self._user, self._store.clock).check_copy()
        except (StoreError, NotFollowed, RemoteMisused) as problem:
            words = problem.message if isinstance(problem, NotFollowed) else str(problem)
            if words != self.problem:
                self._tell({"event": STOPPED, "why": words, "again": "in some seconds"})
            self.problem = words
            return False
        self.problem = ""
        return True

    def _named(self, role: Role) -> Role:
        """A primary of before has no name yet by which it follows."""
        while not role.name:
            self._region.set_role(role, replace(role, name=drawn_name()))
            role = self._region.role() or role
        return role

    def _stop_following(self) -> None:
        follower, self.follower = self.follower, None
        if follower is not None:
            follower.stop(FAREWELL_S)

    def _towards_url(self, role: Role) -> str:
        """The other region that is likely to take writes by now; empty where none is known."""
        first = role.peer.url if begins_anew(role) else role.at
        self.sent_to = next((url for url in (first, *role.elsewhere) if is_url(url)), "")
        return self.sent_to

    def _towards(self, role: Role, url: str) -> Sends:
        if not url:
            return Nowhere()
        primary = RemotePrimary(url, self._user, self._store.clock, pair=role.pair)
        return Forwarding(primary, self._store.clock, self.sent_on)

    def _closed(self, role: Role, forwarding: Sends) -> Following:
        """A primary that takes no writes. While a promotion by plan is under way, no other region knows more."""
        clock = self._store.clock

        def complete_at() -> int | None:
            return clock.elapsed() if role.token and role.kind is RegionKind.PRIMARY else None

        def reaches(position: int) -> bool:
            return position == 0

        return Following(
            forwarding, complete_at, reaches, News(), clock, has_alone=True, comes_back=lambda: False, pair=role.pair
        )

    def _look_for_writer(self, role: Role) -> None:
        """Where this region neither leads nor goes on following, requests go to the one that takes writes by now."""
        follower = self.follower
        is_apart = role.kind is RegionKind.PRIMARY or begins_anew(role)
        if not is_apart and (follower is None or not follower.is_refused):
            if self.sent_to:
                self._follow(role, str(role.peer), is_begin=False)
            return
        if self._store.clock.elapsed() < self._next_search:
            return
        starts = dict.fromkeys(url for url in (self.sent_to or role.peer.url, *role.elsewhere) if is_url(url))
        found = writer_of(role, starts, self._other)
        if found.url and found.url != (self.sent_to or role.peer.url):
            self.sent_to = found.url
            self._tables.follow(self._closed(role, self._towards(role, found.url)))
        if role.kind is RegionKind.PRIMARY and not role.token:
            self.problem = self.one_writer.is_copy or found.why
        self._next_search = self._store.clock.elapsed() + (LOOKED_MS if found.url else LOOK_MS)


def _as_told(role: Role | None) -> tuple[RegionKind, int, bool] | None:
    return None if role is None else (role.kind, role.epoch, role.writes)
