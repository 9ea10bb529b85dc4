"""A registry of one machine and another region: who tells whom, what answers, what `/metrics` says of it."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial

from starlette.routing import Route

from sigla.regions.followed import PolledFollower
from sigla.regions.follower import RegionFollower
from sigla.web.app import RouteTable
from sigla.web.local.following import Following, FollowingTable, LeadingTable
from sigla.web.local.leading import Leading
from sigla.web.local.metrics import metric_lines


@dataclass(frozen=True, slots=True)
class RegionOfServer:
    """What the server has of it. table: makes what answers. routes: beside the API. lines: of `/metrics`.

    stopping: answers who waits, at the end.
    """

    table: Callable[..., RouteTable]
    routes: Sequence[Route]
    lines: Callable[[], Iterator[str]]
    stopping: Callable[[], None] = lambda: None


def led(leading: Leading, follower: PolledFollower, end: Callable[[], int]) -> RegionOfServer:
    """What the server of a registry has that another one may follow."""

    def lines() -> Iterator[str]:
        ago = follower.asked_ms_ago
        if ago is not None:
            about = "Seconds since the region that follows has asked for what comes next."
            yield from metric_lines("sigla_region_asked_seconds", "gauge", about, [("", round(ago / 1000, 3))])

    return RegionOfServer(partial(LeadingTable, end), leading.routes(), lines, leading.close)


def follows(leading: Leading, follower: RegionFollower, following: Following) -> RegionOfServer:
    """What the server of a follower has. leading: refuses who would follow it."""
    forwarding = following.forwarding

    def lines() -> Iterator[str]:
        found = follower.how_far
        if found.behind_ms is not None:
            about = "Seconds by which what is known here is behind the primary, at most."
            yield from metric_lines(
                "sigla_region_behind_seconds", "gauge", about, [("", round(found.behind_ms / 1000, 3))]
            )
        about = "1 where the follower does not go on, as the log says."
        yield from metric_lines("sigla_region_stopped", "gauge", about, [("", int(bool(found.problem)))])
        counts = [('{outcome="sent"}', forwarding.sent), ('{outcome="failed"}', forwarding.failed)]
        about = "Requests that were sent on to the primary, and those of them that it did not answer."
        yield from metric_lines("sigla_region_forwarded_total", "counter", about, counts)

    return RegionOfServer(partial(FollowingTable, following), leading.routes(), lines, leading.close)
