"""Who is told how far ids are given, as the data of a table say it: the region that follows, or none at all."""

from collections.abc import Iterator
from contextlib import ExitStack, closing, suppress
from dataclasses import replace
from typing import Any

import pytest

from sigla.aws.clients import Clients
from sigla.errors import StoreError
from sigla.model import SchemaId
from sigla.regions import giving, promotion, rules
from sigla.regions.giving import Course, carried_out
from sigla.regions.nouns import RegionKind, RegionSeen
from sigla.regions.refusals import NoBlock
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.arming import give_second_region
from sigla.stores.dynamodb.peers import PeerByRole
from sigla.stores.dynamodb.store import AwsStore
from tests.build import FixedClock
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables

BLOCK = 6


class Three:
    """A registry that has lost its second region, and a place for another one."""

    def __init__(self, clients: Clients, opened: ExitStack) -> None:
        self.clients, self.clock, self._opened = clients, FixedClock(), opened
        self.tables = [make_table(clients.dynamodb) for _ in range(3)]
        self.a, self.b, self.c = map(self.store, self.tables)
        give_second_region(self.a, self.b)
        self.follow(self.b)

    def store(self, table: str, there: AwsStore | None = None) -> AwsStore:
        store = AwsStore(self.clients, table, BUCKET, self.clock, there=there)
        return self._opened.enter_context(closing(store))

    def follow(self, region: AwsStore) -> None:
        """Its copy has all that there is of ids."""
        ours, theirs = self.a.region.role(), region.region.role()
        assert ours is not None
        assert theirs is not None
        given, seen = self.a.region.look(".").counter, region.region.look(".").counter
        ceiling = rules.raised(rules.ceiling_of(given, ours.epoch), seen, ours.epoch)
        assert region.region.copy_ceiling(".", ours.epoch, seen, ceiling)
        assert region.region.set_role(theirs, replace(theirs, kind=RegionKind.FOLLOWER, epoch=ours.epoch))

    def dismiss(self) -> None:
        role = self.a.region.role()
        assert role is not None
        assert carried_out(promotion.dismissed(self.a.region, str(role.peer))).changed

    def draw(self) -> Course[SchemaId]:
        return giving.drawn(self.a.region, PeerByRole(self.a.region, self.c.region, self.c.url), ".")

    def complete(self) -> None:
        give_second_region(self.a, self.c)
        self.follow(self.c)

    def known_to(self, region: AwsStore) -> int:
        counter = region.region.look(".").counter
        return counter.ceiling if counter else 0


@pytest.fixture
def three(monkeypatch: pytest.MonkeyPatch) -> Iterator[Three]:
    monkeypatch.setattr(rules, "BLOCK", BLOCK)
    monkeypatch.setattr(fence, "COPIES", 2)
    with ExitStack() as opened:
        yield Three(opened.enter_context(in_process(tables=Tables())), opened)


class Unreached:
    def look(self, context: str) -> RegionSeen:
        raise AssertionError(context)

    def raise_for(self, *asked: Any) -> bool:
        raise AssertionError(asked)


def test_ids_go_on_while_no_region_follows_and_nothing_is_asked_elsewhere(three: Three) -> None:
    three.dismiss()
    peer = PeerByRole(three.a.region, Unreached(), three.b.url)
    drawn = [carried_out(giving.drawn(three.a.region, peer, ".")) for _ in range(3 * BLOCK)]
    assert drawn == list(range(2 * BLOCK + 1, 5 * BLOCK + 1))


def test_settings_that_name_a_region_which_does_not_follow_reach_nothing(three: Three) -> None:
    """Those of before: ids go on to the end of the block that the new region takes for granted, and no further."""
    three.dismiss()
    give_second_region(three.a, three.c)
    three.follow(three.c)
    stale = PeerByRole(three.a.region, Unreached(), three.b.url)
    for _ in range(BLOCK):
        carried_out(giving.drawn(three.a.region, stale, "."))
    with pytest.raises(NoBlock):
        carried_out(giving.drawn(three.a.region, stale, "."))
    fresh = three.store(three.tables[0], there=three.c)
    assert fresh.catalog.next_id(".") == 3 * BLOCK + 1
    assert three.known_to(three.c) >= 3 * BLOCK + 1


def test_a_block_that_was_raised_alone_is_refused_once_a_region_is_given(three: Three) -> None:
    """Whoever has read that none follows may be late: what it then asks of the table is not done."""
    three.dismiss()
    carried_out(giving.drawn(three.a.region, PeerByRole(three.a.region, None, ""), "."))
    alone = three.a.region.role()
    assert alone is not None
    give_second_region(three.a, three.c)
    before = three.known_to(three.a)
    assert not three.a.region.raise_alone(".", alone, SchemaId(99 * BLOCK))
    assert three.known_to(three.a) == before


@pytest.mark.parametrize("given", range(12))
def test_the_new_region_knows_of_every_id_wherever_it_comes_in_between(three: Three, given: int) -> None:
    """A block is used up, and after each request of a draw a region is given and is complete: no id is above its own.

    With the block, and to the end of what is raised then.
    """
    three.dismiss()
    three.a.catalog.raise_counter(".", SchemaId(3 * BLOCK))
    ceiling = three.known_to(three.a)
    three.a.catalog.raise_counter(".", SchemaId(ceiling))
    course, requests, drawn = three.draw(), 0, 0
    request: Any = next(course)
    with suppress(NoBlock, StopIteration):
        while True:
            if requests == given:
                three.complete()
            requests += 1
            answer, failure = _done(request)
            request = course.throw(failure) if failure else course.send(answer)
    if requests <= given:
        three.complete()
    with suppress(NoBlock):
        for _ in range(2 * BLOCK):
            drawn = carried_out(three.draw())
    assert drawn > ceiling
    assert drawn <= three.known_to(three.c)
    assert three.known_to(three.a) <= three.known_to(three.c)


def _done(request: Any) -> tuple[Any, StoreError | None]:
    try:
        return request(), None
    except StoreError as failure:
        return None, failure
