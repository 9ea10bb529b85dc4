"""What a person sees of two regions that are served: a `ports.RegionViews`."""

from collections.abc import Callable
from typing import Final

from sigla.errors import StoreError
from sigla.model import DEFAULT_CONTEXT
from sigla.ports.region_views import MOST_CONTEXTS, OtherRegionView, RegionView
from sigla.ports.regions import RegionReport
from sigla.regions import rules
from sigla.regions.lacking import lacking
from sigla.regions.nouns import Counter, RegionKind, Role
from sigla.remote.failures import RemoteMisused
from sigla.remote.region import RemoteRegion
from sigla.remote.urls import is_url
from sigla.second_region.control import ServedRegion
from sigla.stores.sqlite.store import EmbeddedStore

_SILENT: Final = "It has not said yet where it is served."


class ServedRegionViews:
    """other: asks the region at a URL."""

    def __init__(self, store: EmbeddedStore, control: ServedRegion, other: Callable[[str], RemoteRegion]) -> None:
        self._store = store
        self._control = control
        self._other = other

    def is_there(self) -> bool:
        return self._store.region.role() is not None

    def here(self) -> RegionView | None:
        report = self._control.report()
        if report.role is None:
            return None
        known: dict[str, Counter | None] = {DEFAULT_CONTEXT: None, **dict(self._store.region.counters())}
        shown = sorted(known)[:MOST_CONTEXTS]
        ids = [(context, rules.as_of(known[context], report.role.epoch)) for context in shown]
        return _view("", report.role, report)._replace(ids=ids, more_contexts=len(shown) < len(known))

    def other(self) -> OtherRegionView:
        ours = self._control.report()
        if ours.role is None:
            return OtherRegionView("", None)
        url = _url_of_other(ours.role)
        if not is_url(url):
            return OtherRegionView("", None, _SILENT if ours.role.peer else "None follows yet.")
        try:
            there = self._other(url)
            theirs = there.report()
        except (StoreError, RemoteMisused) as silence:
            return OtherRegionView(url, None, f"{str(silence).removesuffix('.')}.")
        if theirs.role is None or not theirs.role.is_of(ours.role):
            return OtherRegionView(there.shown, None, "Another registry answers there.")
        missing = lacking(ours, theirs) if ours.role.follows(theirs.role) else lacking(theirs, ours)
        return OtherRegionView(there.shown, _view(there.shown, theirs.role, theirs), lacking=missing)


def _url_of_other(role: Role) -> str:
    """A primary knows its follower by a name, and where that is served as it said last."""
    return role.at if role.kind is RegionKind.PRIMARY and not is_url(role.peer.url) else role.peer.url


def _view(url: str, role: Role, report: RegionReport) -> RegionView:
    return RegionView(url, role, report.behind, report.problem, report.journal.position, report.newest)
