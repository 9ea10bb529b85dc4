"""A served primary looks at the other regions that it knows: of two that take writes, one is closed."""

import secrets
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from typing import Final

from sigla.errors import StoreError
from sigla.observe import Teller
from sigla.ports.regions import RegionReport, Roles
from sigla.regions import promotion
from sigla.regions.followed import PolledFollower
from sigla.regions.follower import STOPPED
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.refusals import RoleChanged
from sigla.regions.replay import JournalPlace
from sigla.remote.failures import RemoteMisused
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url, shown_url
from sigla.second_region.elsewhere import url_there
from sigla.second_region.failures import FailuresTold
from sigla.stores.sqlite.store import EmbeddedStore

LOOKED_MS: Final = 10_000
"""Between two looks at a region that has answered."""
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


class OneWriter:
    """polled, other, served: as of `RegionKeeper`."""

    def __init__(
        self,
        store: EmbeddedStore,
        *,
        polled: PolledFollower,
        other: Callable[[str], RemoteRegion],
        served: str,
        tell: Teller,
        tell_failure: FailuresTold,
    ) -> None:
        self._store = store
        self._region: Roles = store.region
        self._polled = polled
        self._other = other
        self._served = served
        self._tell = tell
        self._tell_failure = tell_failure
        self._has_begun = False
        """Whether this server answers by now."""
        self._next_looks: dict[str, int] = {}
        """When another region is looked at, by its URL and `Clock.elapsed`."""
        self.heard: dict[str, int] = {}
        """When another region was heard of last, by its URL; in milliseconds since the epoch."""
        self.run_name = secrets.token_hex(8)
        """As of `RegionReport`."""
        self.is_copy = ""
        """Why its directory is a copy of another one, as far as that was found since the start."""

    def look_at_all(self, role: Role) -> None:
        """Before the first request: no write is taken here while a region answers that is to take it."""
        urls = [url for url in role.elsewhere if is_url(url)]
        if urls:
            with ThreadPoolExecutor(len(urls), "sigla-looks") as looks:
                found = [looks.submit(self._close_passed_over, role, url) for url in urls]
            for problem in filter(None, (each.exception() for each in found)):
                self._tell_failure(problem)

    def hear(self) -> None:
        """The role is another one, under which no region has been looked at yet."""
        self._next_looks.clear()

    def look_across(self, role: Role) -> None:
        """Who was passed over by force is closed: by itself, where it hears of a greater epoch, or by the other one.

        One region at a time: a machine that is gone lets a look wait.
        """
        self._has_begun = True
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
                    self.is_copy = why
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
        has_begun = self._has_begun or not follower.problem
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
