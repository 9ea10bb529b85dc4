"""What a server brings of a region that comes back: in parts, and nothing else waits for the end of it."""

import threading
from collections.abc import Callable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass

import pytest

from sigla import second_region
from sigla.auth.guesses import Guesses
from sigla.errors import StoreError
from sigla.model import Subject
from sigla.ports.regions import BroughtBack, RegionControl, RegionReport
from sigla.ports.replaying import Shipment
from sigla.regions.installed import Installed
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import RegionNotDone
from sigla.regions.replay import JournalPlace
from sigla.registry import Registry
from sigla.second_region import control, under_way
from sigla.second_region.under_way import WorkUnderWay
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import FixedClock, a_draft, a_text
from tests.served_region import region_alone
from tests.waiting import PATIENCE_S

URL = "http://127.0.0.1:1"


@dataclass
class Back:
    """A region that was passed over, as the primary asks it. reading: called before its commits are told."""

    store: EmbeddedStore
    reading: Callable[[], object] = lambda: None
    shown: str = URL

    def role(self) -> Role | None:
        return self.store.region.role()

    def set_role(self, seen: Role | None, role: Role) -> bool:
        return self.store.region.set_role(seen, role)

    def report(self) -> RegionReport:
        return RegionReport(self.role(), self.store.journal.last_place(), 0, None, "", Installed("", {}))

    def place(self, position: int) -> JournalPlace | None:
        return self.store.journal.place(position)

    def rows(self, after: int) -> Iterator[Shipment]:
        self.reading()
        return self.store.shipper().shipments(after)


@dataclass
class Regions:
    old: EmbeddedStore
    new: EmbeddedStore
    back: Back
    control: RegionControl


@pytest.fixture
def regions(monkeypatch: pytest.MonkeyPatch) -> Iterator[Regions]:
    """The new one was promoted by force. The old one has what it registered alone."""
    with EmbeddedStore() as old, EmbeddedStore() as new, ExitStack() as until:
        old.region.set_role(None, Role(1, RegionKind.PRIMARY, pair="p"))
        forced = Role(2, RegionKind.PRIMARY, peer=KnownBy("gone"), pair="p", reconciled=False, adopts=True)
        new.region.set_role(None, forced)
        back = Back(old)
        monkeypatch.setattr(second_region, "RemoteRegion", lambda *_, **__: back)
        yield Regions(old, new, back, region_alone(new, None, Guesses(FixedClock()), until).control)


def register(store: EmbeddedStore, number: int) -> None:
    registry = Registry(store.catalog, store.bodies, store.clock)
    with store.group():
        for at in range(number):
            registry.register(Subject(".", f"subject-{at}"), a_draft(a_text(f"R{at}")))


def test_what_a_region_has_alone_becomes_durable_in_parts(regions: Regions, monkeypatch: pytest.MonkeyPatch) -> None:
    """One by one some thousands took minutes; in one piece clients would wait for the end of it."""
    versions = 3 * control.BROUGHT_AT_ONCE
    register(regions.old, versions)
    commits = list[int]()
    regions.new.on_committed(lambda _: commits.append(1))
    group, grown = regions.new.group, list[int]()

    @contextmanager
    def counted() -> Iterator[None]:
        before = regions.new.count()
        with group():
            yield
        grown.append(regions.new.count() - before)

    monkeypatch.setattr(regions.new, "group", counted)
    assert regions.control.bring(URL).commits == versions
    assert [each for each in grown if each] == [control.BROUGHT_AT_ONCE] * 3
    assert len(commits) < versions, "bodies are put in parts as well"


class Counted(Shipment):
    """A commit as it was told, which is in memory as long as anything has it."""

    alive = most = 0

    def __init__(self, *_: object) -> None:
        Counted.alive += 1
        Counted.most = max(Counted.most, Counted.alive)

    def __del__(self) -> None:
        Counted.alive -= 1


def test_commits_are_let_go_as_they_come(regions: Regions, monkeypatch: pytest.MonkeyPatch) -> None:
    """What a region has alone is in memory, and its commits as they came are not."""
    register(regions.old, 20)
    told = (Counted(*each) for each in regions.back.rows(0))
    monkeypatch.setattr(regions.back, "rows", lambda _: told)
    assert regions.control.bring(URL).commits == 20
    assert Counted.most <= 2, "one, and the one that comes next"


def test_another_course_goes_on_while_a_region_is_brought(regions: Regions) -> None:
    register(regions.old, 1)
    is_read, goes_on = threading.Event(), threading.Event()

    def reading() -> None:
        is_read.set()
        goes_on.wait(PATIENCE_S)

    regions.back.reading = reading
    with ThreadPoolExecutor(2) as pool:
        brought = pool.submit(regions.control.bring, URL)
        assert is_read.wait(PATIENCE_S)
        try:
            assert not pool.submit(regions.control.force, "").result(PATIENCE_S).changed, "it is the primary already"
        finally:
            goes_on.set()
        assert brought.result(PATIENCE_S).commits == 1


def test_who_asks_for_what_is_under_way_gets_what_comes_of_it(
    regions: Regions, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A client waits for ten minutes, and asks again: nothing is brought once more for it."""
    register(regions.old, 1)
    is_read, is_waited_for, readings = threading.Event(), threading.Event(), list[None]()

    class Watched(Future[BroughtBack]):
        def result(self, timeout: float | None = None) -> BroughtBack:
            is_waited_for.set()
            return super().result(timeout)

    def reading() -> None:
        readings.append(None)
        is_read.set()
        assert is_waited_for.wait(PATIENCE_S)

    monkeypatch.setattr(under_way, "Future", Watched)
    regions.back.reading = reading
    with ThreadPoolExecutor(2) as pool:
        first = pool.submit(regions.control.bring, URL)
        assert is_read.wait(PATIENCE_S)
        again = pool.submit(regions.control.bring, URL)
        assert first.result(PATIENCE_S) == again.result(PATIENCE_S)
    assert first.result().commits == 1
    assert len(readings) == 1


def test_what_stops_the_one_that_was_under_way_is_told_to_all_and_the_next_one_begins(regions: Regions) -> None:
    def reading() -> None:
        regions.back.reading = lambda: None
        raise StoreError("it is gone")

    register(regions.old, 1)
    regions.back.reading = reading
    with pytest.raises(RegionNotDone, match="it is gone"):
        regions.control.bring(URL)
    assert regions.control.bring(URL).commits == 1


def test_who_has_waited_for_long_is_told_that_it_goes_on() -> None:
    """A thread of the server is not kept for a client that has left."""
    work, goes_on, begun = WorkUnderWay[int](0), threading.Event(), threading.Event()

    def slow() -> int:
        begun.set()
        assert goes_on.wait(PATIENCE_S)
        return 1

    with ThreadPoolExecutor(1) as pool:
        first = pool.submit(work, "a", slow)
        assert begun.wait(PATIENCE_S)
        try:
            with pytest.raises(TimeoutError):
                work("a", lambda: 2)
            assert work("b", lambda: 3) == 3
        finally:
            goes_on.set()
        assert first.result(PATIENCE_S) == 1
    assert work("a", lambda: 2) == 2, "the one before has ended"
