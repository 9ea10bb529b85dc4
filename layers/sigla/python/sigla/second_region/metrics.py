"""What `/metrics` of a server says of two regions."""

from collections.abc import Iterator

from sigla.regions.followed import PolledFollower
from sigla.regions.handing import HandsOver
from sigla.second_region.keeper import RegionKeeper
from sigla.web.local.forwarding import ForwardCounts
from sigla.web.local.metrics import metric_lines


def region_lines(polled: PolledFollower, over: HandsOver, keeper: RegionKeeper) -> Iterator[str]:
    """As the registry is the one that is followed, or follows."""
    ago, following = polled.asked_ms_ago, keeper.follower
    if ago is not None and following is None:
        about = "Seconds since the region that follows has asked for what comes next."
        yield from metric_lines("sigla_region_asked_seconds", "gauge", about, [("", round(ago / 1000, 3))])
    if over.hands:
        about = "Commits with new schemas that the region that follows did not take before they were made."
        yield from metric_lines("sigla_region_bodies_out_of_step_total", "counter", about, [("", over.out_of_step)])
    if following is not None or keeper.sent_to:
        yield from _forwarded(keeper.sent_on)
    stopped = "1 where the follower does not go on, as the log says."
    if following is None:
        if keeper.problem:
            yield from metric_lines("sigla_region_stopped", "gauge", stopped, [("", 1)])
        return
    found = following.how_far
    if found.behind_ms is not None:
        about = "Seconds by which what is known here is behind the primary, at most."
        yield from metric_lines("sigla_region_behind_seconds", "gauge", about, [("", round(found.behind_ms / 1000, 3))])
    yield from metric_lines("sigla_region_stopped", "gauge", stopped, [("", int(bool(found.problem)))])


def _forwarded(counts: ForwardCounts) -> Iterator[str]:
    by_outcome = [('{outcome="sent"}', counts.sent), ('{outcome="failed"}', counts.failed)]
    about = "Requests that were sent on to the region that takes writes, and those of them that it did not answer."
    yield from metric_lines("sigla_region_forwarded_total", "counter", about, by_outcome)
