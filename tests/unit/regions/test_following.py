"""A follower and its primary in one process: what is told, what is refused, and how far ids may be given."""

import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from types import SimpleNamespace
from typing import Any

import pytest

from sigla.errors import Closed, StoreError
from sigla.model import SchemaId
from sigla.ports.primary import NextAsked, NextTold
from sigla.regions import promotion, rules, wire
from sigla.regions.draining import ToldShipper
from sigla.regions.followed import AT_ONCE, SILENT_MS, Followed
from sigla.regions.follower import STOPPED, Here, RegionFollower, check_follows
from sigla.regions.giving import carried_out
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import NotFollowed
from sigla.regions.replay import JournalPlace
from sigla.second_region import followed, polled_follower
from sigla.stores.sqlite.regions import EmbeddedRegion
from tests.attack.region_sites import role_of
from tests.attack.replay import STORIES, ask, check_equal, embedded
from tests.attack.stories import ONE, THREE, register
from tests.attack.world import Embedded, World
from tests.build import FixedClock

NAME = "other.example-5c0f3a9d1e2b4f60"


NOWHERE = JournalPlace(0, "")


def asked(end: JournalPlace = NOWHERE, **more: Any) -> NextAsked:
    return NextAsked(NAME, end, 1, 0, all_ceilings=False, heard={}, run="r")._replace(**more)


@dataclass
class Pair:
    """A primary and a registry that follows it. lines: what that tells operators. link: what comes between them.

    waits: while the primary has nothing to tell. back: while its answer is on the way.
    """

    here: World
    there: World
    followed: Followed
    lines: list[dict[str, Any]] = field(default_factory=list)
    link: Callable[[NextAsked], None] = lambda _: None
    waits: Callable[[], None] = lambda: None
    back: Callable[[], None] = lambda: None

    def told(self, said: NextAsked) -> NextTold:
        """As `ports.Primary`, over what is sent: bytes."""
        self.link(said)
        since = embedded(self.here).clock.elapsed()
        self.followed.check(said)
        self.followed.follower.asks(said)
        self.waits()
        told = wire.told_bytes(self.followed.tell(said, since))
        self.back()
        return wire.told_of(told)

    def copy(self, write: Callable[[bytes], object]) -> None:
        raise NotImplementedError

    def interrupt(self) -> None:
        """Nothing waits."""

    def follower(self) -> RegionFollower:
        store = embedded(self.there)
        role = store.region.role()
        assert role
        here = Here(
            store.region,
            store.replayer(partial(check_follows, store.region, role.epoch)),
            store.group,
            store.journal.last_place,
            store.clock,
        )
        return RegionFollower(here, self, role, tell=self.lines.append)


@contextmanager
def pair(kind: RegionKind = RegionKind.JOINING, clock: FixedClock | None = None) -> Iterator[Pair]:
    with World(store=Embedded()) as here, World(store=Embedded()) as there:
        for world in (here, there) if clock else ():
            embedded(world).clock = clock  # type: ignore[assignment]  # the one that a test moves
        store = embedded(here)
        follower = polled_follower(store)
        store.follow_ceilings(follower)
        primary = followed(store, follower)
        primary.begin()
        embedded(there).region.set_role(None, Role(1, kind, name=NAME, peer=KnownBy(url="http://here")))
        yield Pair(here, there, primary)


@contextmanager
def asking(follower: RegionFollower) -> Iterator[None]:
    """It asks all the time."""
    over = threading.Event()

    def run() -> None:
        while not over.is_set():
            follower.turn()

    thread = threading.Thread(target=run)
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


def turns(follower: RegionFollower, count: int = 3) -> None:
    for _ in range(count):
        follower.turn()


@pytest.mark.parametrize("name", STORIES)
def test_a_follower_has_what_its_primary_has_over_the_wire(name: str) -> None:
    """Every kind of change, as bytes."""
    with pair() as each:
        ask(each.here, STORIES[name])
        turns(each.follower())
        check_registries(each)


def check_registries(each: Pair) -> None:
    """Equal, but for what each region is."""
    for world in (each.here, each.there):
        store = embedded(world)
        with store.group():
            store._unit.connection.execute("DELETE FROM region")
            store._unit.connection.execute("DELETE FROM ceiling")
    check_equal(each.here, each.there)


def test_whoever_joins_is_a_follower_once_it_knows_how_far_ids_are_given() -> None:
    with pair() as each:
        store = embedded(each.here)
        store.region.set_counter(".", None, rules.begun(None, 1)._replace(ceiling=SchemaId(3 * rules.BLOCK)))
        follower = each.follower()
        assert role_of(each.there).kind is RegionKind.JOINING
        follower.turn()
        there = embedded(each.there).region
        assert role_of(each.there).kind is RegionKind.FOLLOWER
        counter = there.look(".").counter
        assert counter
        assert counter.ceiling == 3 * rules.BLOCK
        assert follower.how_far.behind_ms is not None


def test_more_commits_than_one_answer_holds_come_in_several() -> None:
    with pair() as each:
        ask(each.here, [register(f"s{at}", f'"{kind}"') for at in range(AT_ONCE) for kind in ("int", "long")])
        follower = each.follower()
        follower.turn()
        assert follower.how_far.position == AT_ONCE
        assert follower.how_far.behind_ms is None, "it does not know everything yet"
        turns(follower)
        assert (follower.how_far.position, follower.how_far.problem) == (2 * AT_ONCE, "")
        assert follower.how_far.behind_ms is not None


def test_what_a_follower_says_of_its_age_is_never_too_little() -> None:
    """The way of the answer counts, during which the primary may have gone on; that it waited for news does not."""
    clock = FixedClock()
    with pair(clock=clock) as each:
        for waited_ms, way_ms in ((0, 0), (0, 7_000), (20_000, 0), (20_000, 300)):
            each.waits, each.back = (partial(_pass, clock, passed_ms) for passed_ms in (waited_ms, way_ms))
            follower = each.follower()
            turns(follower, 2)
            assert follower.how_far.behind_ms == way_ms


def _pass(clock: FixedClock, passed_ms: int) -> None:
    clock.time += passed_ms


def test_there_is_one_follower() -> None:
    """The first one that asks. Before that, whoever has a copy may be the one."""
    with pair() as each:
        each.followed.begin()
        turns(each.follower())
        for ask_for in (each.followed.begin, lambda: each.told(asked(follower="another"))):
            with pytest.raises(NotFollowed, match=f"{NAME} follows it already.*sigla regions dismiss"):
                ask_for()
        each.told(asked())


def test_after_a_planned_promotion_the_region_of_before_follows_and_no_other_one() -> None:
    """It may have been told of ceilings, and be promoted by force."""
    with pair() as each:
        region = embedded(each.here).region
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, peer=KnownBy(url="http://before"), token="t"))
        for ask_for in (each.followed.begin, lambda: each.told(asked())):
            with pytest.raises(NotFollowed, match="was the primary before it, and is to follow it"):
                ask_for()
        each.told(asked(token="t"))
        assert role_of(each.here).peer.name == NAME


def test_a_region_that_was_promoted_by_force_is_followed_once_it_is_reconciled() -> None:
    with pair() as each:
        region = embedded(each.here).region
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, peer=KnownBy(url="http://before"), reconciled=False))
        for ask_for in (each.followed.begin, lambda: each.told(asked())):
            with pytest.raises(NotFollowed, match="promoted by force, and http://before may have what it lacks"):
                ask_for()
        carried_out(promotion.abandoned(region))
        each.followed.begin()
        each.told(asked(epoch=3))


def test_a_follower_is_not_followed() -> None:
    with pair() as each:
        store = embedded(each.there)
        with pytest.raises(NotFollowed, match="follows another one itself"):
            followed(store, polled_follower(store)).begin()


def test_another_journal_is_told_nothing() -> None:
    """Whoever answers at the URL now, or has gone back to a backup, is another registry."""
    with pair() as each:
        ask(each.here, [register("a", ONE)])
        turns(each.follower())
        end = embedded(each.there).journal.last_place()
        with pytest.raises(NotFollowed, match="gone apart"):
            each.told(asked(end._replace(hash="0" * 64)))
        with pytest.raises(NotFollowed, match="gone apart"):
            each.told(asked(JournalPlace(end.position + 1, "0" * 64)))
        with pytest.raises(NotFollowed, match="is in epoch 1, and the follower in epoch 2"):
            each.told(asked(end, epoch=2))


def test_what_diverges_stops_there_and_is_told_once() -> None:
    with pair() as each:
        ask(each.here, [register("a", ONE)])
        follower = each.follower()
        turns(follower)
        ask(each.here, [register("b", ONE), register("c", THREE)])
        store = embedded(each.there)
        with store.group():  # by hand
            store._unit.connection.execute("DELETE FROM content")
            store._unit.connection.execute("UPDATE subject SET revision = revision + 1")
        ask(each.here, [register("a", THREE)])
        with pytest.raises(StoreError, match="row 4 of the primary's journal does not fit"):
            turns(follower)
        assert store.journal.end() == 3, "what came before it is there"


def test_a_promoted_region_carries_out_nothing_more() -> None:
    with pair(RegionKind.FOLLOWER) as each:
        follower = each.follower()
        turns(follower)
        ask(each.here, [register("a", ONE)])
        region = embedded(each.there).region
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, kind=RegionKind.PRIMARY, epoch=2))
        with pytest.raises(Closed):
            follower.turn()
        assert embedded(each.there).journal.end() == 0


# --- how far ids may be given ----------------------------------------------------------------------------------------


def raising(each: Pair, ceiling: int) -> tuple[threading.Thread, list[object]]:
    """A writer of the primary that waits until the follower knows."""
    found: list[object] = []

    def run() -> None:
        try:
            found.append(each.followed.follower.raise_for(".", 1, None, SchemaId(ceiling)))
        except StoreError as problem:
            found.append(problem)

    thread = threading.Thread(target=run)
    thread.start()
    return thread, found


def test_a_ceiling_is_raised_once_the_follower_has_it_on_its_disk() -> None:
    with pair() as each:
        follower = each.follower()
        turns(follower)
        woken = threading.Event()
        each.followed.follower.wake = woken.set
        thread, found = raising(each, 5 * rules.BLOCK)
        assert woken.wait(5)
        follower.turn()  # it is told
        assert not found, "it has not said that it knows"
        counter = embedded(each.there).region.look(".").counter
        assert counter
        assert counter.ceiling == 5 * rules.BLOCK
        follower.turn()  # it says so
        thread.join(5)
        assert found == [True]
        assert not each.followed.follower.wanted


def test_a_follower_that_does_not_ask_is_not_waited_for() -> None:
    """An id beyond what it knows is not given, and what is within goes on at once."""
    with pair() as each:
        region = embedded(each.here).region
        seen = region.role()
        assert seen
        assert region.set_role(seen, replace(seen, peer=KnownBy(NAME)))
        thread, found = raising(each, 5 * rules.BLOCK)
        thread.join(5)
        assert isinstance(found[0], StoreError)
        turns(each.follower())
        each.here.clock.time += SILENT_MS + 1
        clock = embedded(each.here).clock
        ago = each.followed.follower.asked_ms_ago
        assert ago is not None
        assert clock.elapsed() >= ago


def test_ids_that_are_brought_go_beyond_the_block_that_is_taken_for_granted() -> None:
    """The registration waits for the follower, which asks meanwhile."""
    with pair() as each:
        follower = each.follower()
        turns(follower)
        with asking(follower):
            embedded(each.here).catalog.raise_counter(".", SchemaId(7 * rules.BLOCK))
        counter = embedded(each.there).region.look(".").counter
        assert counter
        assert counter.ceiling >= 7 * rules.BLOCK


def test_a_primary_that_is_silent_is_told_once_and_asked_again() -> None:
    with pair() as each:
        follower = each.follower()
        ask(each.here, STORIES["exporters"])
        calls = iter([True, True])

        def link(_: NextAsked) -> None:
            if next(calls, False):
                raise StoreError("silent")

        each.link = link
        follower.start()
        end = embedded(each.here).journal.end()
        assert follower.wait_for(end, 30)
        follower.stop(5)
        assert [line["event"] for line in each.lines] == [STOPPED]
        check_registries(each)


def test_a_primary_that_was_promoted_by_plan_is_followed_also_once_a_later_promotion_was_taken_back() -> None:
    """The token of both changes then, and it is that by which the one that was the primary before may follow."""
    with pair(RegionKind.FOLLOWER) as each:
        here, there = embedded(each.here).region, embedded(each.there).region
        _change(here, peer=KnownBy(url="http://there"), token="t")
        _change(there, token="t")
        follower = each.follower()
        for token in ("", "u"):
            _change(here, peer=KnownBy(url="http://there"), token=token)
            _change(there, token=token)
            role = partial(Role, 1, RegionKind.FOLLOWER, name=NAME, token=token)
            assert [*ToldShipper(each, 1, lambda: NOWHERE, role).shipments()] == []
            _change(here, peer=KnownBy(url="http://there"))
            follower.turn()
            assert here.role() == replace(here.role() or Role(1, RegionKind.PRIMARY), peer=KnownBy(NAME))
        _change(here, peer=KnownBy(url="http://there"))
        with pytest.raises(NotFollowed, match="was the primary before it"):
            each.told(asked(token="t"))


def test_who_was_the_primary_until_a_moment_ago_asks_by_the_name_that_it_has_drawn_since() -> None:
    with pair(RegionKind.FOLLOWER) as each:
        roles, asked_by = [Role(1, RegionKind.FOLLOWER)], list[str]()

        def told(asked: NextAsked) -> NextTold:
            asked_by.append(asked.follower)
            return each.told(asked)

        primary: Any = SimpleNamespace(told=told)
        shipper = ToldShipper(primary, 1, lambda: NOWHERE, lambda: roles[-1])
        roles.append(replace(roles[0], name=NAME))
        assert [*shipper.shipments()] == []
        assert asked_by == [NAME]


def _change(region: EmbeddedRegion, **changes: Any) -> None:
    seen = region.role()
    assert seen
    assert region.set_role(seen, replace(seen, **changes))
