"""A registry of one machine and another region: who tells whom, what answers, what `/metrics` says of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from starlette.routing import Route
from starlette.types import ASGIApp

from sigla.ports.region_views import RegionViews
from sigla.ports.regions import RegionControl
from sigla.regions.followed import PolledFollower
from sigla.regions.follower import RegionFollower
from sigla.regions.handing import HandsOver
from sigla.web.local.metrics import metric_lines
from sigla.web.local.role_tables import RoleTables


@dataclass(frozen=True, slots=True)
class RegionOfServer:
    """What the server has of it. table: makes what answers. routes: beside the API. lines: of `/metrics`.

    control: for administrators. views: what these see of it. stopping: answers who waits, at the end. begins_anew: the
    URL of the registry that is to be copied into the place of this one, which is not served any more then; empty while
    it is.
    """

    table: Callable[..., ASGIApp]
    routes: Sequence[Route]
    lines: Callable[[], Iterator[str]]
    control: RegionControl
    views: RegionViews
    stopping: Callable[[], None]
    begins_anew: Callable[[], str]


def region_lines(
    polled: PolledFollower,
    tables: RoleTables,
    over: HandsOver,
    follower: Callable[[], RegionFollower | None],
    problem: Callable[[], str],
) -> Iterator[str]:
    """As the registry is the one that is followed, or follows. problem: why one that joins has no copy yet."""
    ago, following = polled.asked_ms_ago, follower()
    if ago is not None and following is None:
        about = "Seconds since the region that follows has asked for what comes next."
        yield from metric_lines("sigla_region_asked_seconds", "gauge", about, [("", round(ago / 1000, 3))])
    if over.hands:
        about = "Commits with new schemas that the region that follows did not take before they were made."
        yield from metric_lines("sigla_region_bodies_out_of_step_total", "counter", about, [("", over.out_of_step)])
    stopped = "1 where the follower does not go on, as the log says."
    if following is None:
        if problem():
            yield from metric_lines("sigla_region_stopped", "gauge", stopped, [("", 1)])
        return
    found = following.how_far
    if found.behind_ms is not None:
        about = "Seconds by which what is known here is behind the primary, at most."
        yield from metric_lines("sigla_region_behind_seconds", "gauge", about, [("", round(found.behind_ms / 1000, 3))])
    yield from metric_lines("sigla_region_stopped", "gauge", stopped, [("", int(bool(found.problem)))])
    counts = [
        (f'{{outcome="{outcome}"}}', number)
        for outcome, number in zip(("sent", "failed"), tables.sent_on(), strict=True)
    ]
    about = "Requests that were sent on to the primary, and those of them that it did not answer."
    yield from metric_lines("sigla_region_forwarded_total", "counter", about, counts)
