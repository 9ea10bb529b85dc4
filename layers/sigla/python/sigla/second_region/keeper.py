"""What a served registry does as its role says: it leads, or follows, or does neither, and changes while it runs."""

import secrets
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import replace
from functools import partial
from typing import Final, Protocol, TypeGuard

from sigla.errors import StoreError
from sigla.observe import Teller
from sigla.ports.regions import RegionReport, Roles
from sigla.regions import promotion
from sigla.regions.followed import PolledFollower
from sigla.regions.follower import STOPPED, Here, RegionFollower, check_follows
from sigla.regions.giving import carried_out
from sigla.regions.names import drawn_name
from sigla.regions.nouns import Joins, KnownBy, RegionKind, Role
from sigla.regions.refusals import NotFollowed, RoleChanged
from sigla.regions.replay import JournalPlace
from sigla.remote.failures import RemoteMisused
from sigla.remote.primary import RemotePrimary
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url, shown_url
from sigla.second_region.elsewhere import url_there, writer_of
from sigla.second_region.failures import FailuresTold
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.web.local.following import Following
from sigla.web.local.forwarding import ForwardCounts, Forwarding, Nowhere, Sends
from sigla.web.local.news import News
from sigla.web.local.role_tables import RoleTables

LOOK_S: Final = 1.0
"""Between two looks at a region that was passed over, or that may have passed this one over."""
LOOK_MS: Final = 1_000
LOOKED_MS: Final = 10_000
"""The same, where it has answered."""
FAREWELL_S: Final = 5.0
"""For so long the end waits for what a follower carries out."""
SILENT_MS: Final = 5_000
"""A follower that has not asked for so long may have been promoted."""

OLDER_COPY: Final = (
    "{url} has followed this registry to commits that are not here: this directory is an older copy. Run "
    "`sigla promote` with that URL and --force, then `sigla rejoin` with the URL of this one"
)
"""Why a primary takes no writes that its follower is ahead of: it would give ids of those commits once more."""
OTHER_COPY: Final = (
    "{url} follows {other}, which is served from another copy of this directory. Stop this server, and keep that one. "
    "If this one has taken writes, run `sigla promote` with {url}, then `sigla rejoin` with the URL of this one"
)
"""Why a primary takes no writes that its follower does not follow: both would give the same ids."""

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
        self._polled = polled
        self._other = other
        self._user = user
        self._served = served
        self._tell = tell
        self._changed = threading.Event()
        self._over = False
        self._thread: threading.Thread | None = None
        self._acted_on: Role | None = None
        self._tell_failure = FailuresTold(tell, store.clock)
        self._next_looks: dict[str, int] = {}
        """When another region is looked at, by its URL and `Clock.elapsed`."""
        self._next_search = 0
        """When the region that takes writes is looked for, by `Clock.elapsed`."""
        self.heard: dict[str, int] = {}
        """When another region was heard of last, by its URL; in milliseconds since the epoch."""
        self.sent_to = ""
        """The URL of the region to which requests go on, where this one neither leads nor follows."""
        self.follower: RegionFollower | None = None
        self.sent_on = ForwardCounts()
        self.begins_anew = ""
        """The URL of the primary that is to be copied, once that is so."""
        self.problem = ""
        """Why that is not so yet."""
        self.run_name = secrets.token_hex(8)
        """As of `RegionReport`."""
        self._is_copy = ""
        """Why its directory is a copy of another one, as far as that was found since the start."""

    def begin(self, role: Role | None, url: str) -> None:
        """Acts on the role as it stands, before the first request. url: of the primary, where the command says it.

        Raises BeginsAnew, RemoteMisused; NotFollowed where one that has a copy, and never followed, is refused.
        """
        if begins_anew(role) and self._may_copy(role):
            raise BeginsAnew(role.peer.url)
        if role is not None and role.kind is not RegionKind.PRIMARY:
            role = self._named(role)
        if role is not None and role.writes:
            self._look_at_all(role)
            role = self._region.role()
        if role is not None:
            self._act_on(role, None, url)
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
            self._next_looks.clear()
            self._next_search = 0
            self._act_on(role, self._acted_on)
            if _as_told(role) != _as_told(self._acted_on):
                self._tell({"event": ROLE, "role": role.kind.value, "epoch": role.epoch, "writes": role.writes})
            self._acted_on = role  # what failed halfway is done again with the next look
        if role.writes:
            self._look_across(role)
        else:
            self._look_for_writer(role)
        if begins_anew(role) and not self.begins_anew and self._may_copy(role):
            self.begins_anew = role.peer.url

    def _act_on(self, role: Role, before: Role | None, url: str = "") -> None:
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
        elif self.follower is None or _as_followed(role) != _as_followed(before):
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

    # --- the other region --------------------------------------------------------------------------------------------

    def _look_at_all(self, role: Role) -> None:
        """Before the first request: no write is taken here while a region answers that is to take it."""
        urls = [url for url in role.elsewhere if is_url(url)]
        if urls:
            with ThreadPoolExecutor(len(urls), "sigla-looks") as looks:
                found = [looks.submit(self._close_passed_over, role, url) for url in urls]
            for problem in filter(None, (each.exception() for each in found)):
                self._tell_failure(problem)

    def _look_across(self, role: Role) -> None:
        """Who was passed over by force is closed: by itself, where it hears of a greater epoch, or by the other one.

        One region at a time: a machine that is gone lets a look wait.
        """
        ago = self._polled.asked_ms_ago
        is_followed = ago is not None and ago <= SILENT_MS
        urls = [url for url in role.elsewhere if is_url(url) and not (is_followed and url == role.at)]
        due = [url for url in urls if self._store.clock.elapsed() >= self._next_looks.get(url, 0)]
        if due:
            url = min(due, key=lambda url: self._next_looks.get(url, 0))
            is_slow = url in [each.url for each in role.abandoned]
            try:
                is_slow |= self._close_passed_over(role, url)
            finally:  # the others have their turn, whatever fails at this one
                self._next_looks[url] = self._store.clock.elapsed() + (LOOKED_MS if is_slow else 1)

    def _close_passed_over(self, role: Role, url: str) -> bool:
        """Whether another region answers at the URL. If both take writes, one is closed, and told of the other."""
        try:
            other = self._other(url)
            report = other.report()
            found = report.role
            if found is None or not found.is_of(role):  # another registry has that address by now
                return False
            self.heard[url] = self._store.clock.now()
            is_primary = found.kind is RegionKind.PRIMARY
            if found.epoch > role.epoch or (is_primary and found.outranks(role)):
                carried_out(promotion.closed(self._region, role.epoch, at=url if is_primary else ""))
            elif found.follows(role):
                if why := self._why_a_copy(role, url, report):
                    self._is_copy = why
                    self._tell({"event": STOPPED, "why": why, "again": "after that"})
                    carried_out(promotion.closed(self._region, role.epoch, lacks=True))
                return report.behind is not None and not report.problem  # else it may soon follow another copy
            elif is_primary and role.outranks(found):
                at = url_there(self._served, url)
                if found.open or (at and at != found.at and not found.token):
                    carried_out(promotion.closed(other, role.epoch, at=at))
        except (StoreError, RemoteMisused, RoleChanged):
            return False
        return True

    def _why_a_copy(self, role: Role, url: str, follower: RegionReport) -> str:
        """Why this directory is a copy of that which the follower at a URL knows; empty where none is known."""
        where = follower.role.peer.url if follower.role else ""
        # It may be the URL of this server, which answers nothing before it has begun; nor does it tell the follower.
        has_begun = self._acted_on is not None or not follower.problem
        if has_begun and where != url_there(self._served, url) and self._is_served_at(where, role):
            return OTHER_COPY.format(url=shown_url(url), other=shown_url(where))
        return OLDER_COPY.format(url=shown_url(url)) if self._lacks(follower.journal) else ""

    def _is_served_at(self, url: str, role: Role) -> bool:
        """Whether another server answers there as this primary."""
        with suppress(StoreError, RemoteMisused):
            there = self._other(url).report()
            found = there.role
            is_alike = found is not None and found.writes and found.is_of(role) and found.epoch == role.epoch
            return is_alike and there.run != self.run_name
        return False

    def _lacks(self, there: JournalPlace) -> bool:
        """Whether another journal goes on where this one does not. It was read before: what comes meanwhile is here."""
        return there.position > 0 and self._store.journal.place(there.position) != there

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
            self.problem = self._is_copy or found.why
        self._next_search = self._store.clock.elapsed() + (LOOKED_MS if found.url else LOOK_MS)


def _as_followed(role: Role | None) -> tuple[KnownBy, int] | None:
    return None if role is None or role.kind is RegionKind.PRIMARY else (role.peer, role.epoch)


def _as_told(role: Role | None) -> tuple[RegionKind, int, bool] | None:
    return None if role is None else (role.kind, role.epoch, role.writes)
