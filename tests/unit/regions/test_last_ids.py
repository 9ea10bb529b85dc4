"""A context whose ids have come to an end: what has no id left to be drawn still brings ids along, and never hangs."""

from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, replace

import pytest

from sigla.contract import HIGHEST
from sigla.errors import IdsExhausted
from sigla.model import SchemaId
from sigla.ports.regions import Peer
from sigla.regions import rules
from sigla.regions.giving import admitted, carried_out, drawn, reached
from sigla.regions.nouns import Counter, KnownBy, RegionKind, RegionSeen, Role
from sigla.stores.sqlite.store import EmbeddedStore

DEFAULT, BROUGHT = ".", SchemaId(3 * rules.BLOCK)


@dataclass
class Asked:
    """The other region. It ends a course that asks for ever."""

    peer: Peer
    raises: int = 0

    def look(self, context: str) -> RegionSeen:
        return self.peer.look(context)

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        self.raises += 1
        assert self.raises < 10, "it asks for ever"
        return self.peer.raise_for(context, epoch, seen, ceiling)


@pytest.fixture
def places() -> Iterator[tuple[EmbeddedStore, EmbeddedStore]]:
    """Two regions after a planned promotion. The one before has told the last id, and has not heard an answer."""
    with ExitStack() as opened:
        here, there = (opened.enter_context(EmbeddedStore()) for _ in range(2))
        following = Role(1, RegionKind.FOLLOWER, peer=KnownBy("there"))
        assert here.region.set_role(None, following)
        assert there.region.set_role(None, Role(2, RegionKind.FOLLOWER, peer=KnownBy("here")))
        assert here.region.raise_for(DEFAULT, 1, None, SchemaId(HIGHEST))
        seen = here.region.role()
        assert seen
        assert here.region.set_role(seen, replace(seen, epoch=2, kind=RegionKind.PRIMARY))
        yield here, there


def test_an_id_is_brought_after_the_last_one_was_given_in_an_epoch_before(
    places: tuple[EmbeddedStore, EmbeddedStore],
) -> None:
    """The other region hears that all ids may be given: whoever is promoted there gives none of them."""
    here, there = places
    other = Asked(there.region)
    carried_out(admitted(here.region, other, DEFAULT, BROUGHT, lambda: False))
    heard = there.region.look(DEFAULT).counter
    assert heard
    assert (heard.ceiling, heard.epoch) == (HIGHEST, 2)
    assert rules.begun(heard, 3).first > HIGHEST


def test_the_last_id_itself_is_within_reach_and_no_other_one_is_drawn(
    places: tuple[EmbeddedStore, EmbeddedStore],
) -> None:
    here, there = places
    other = Asked(there.region)
    assert carried_out(reached(here.region, other, DEFAULT, SchemaId(HIGHEST))).ceiling == HIGHEST
    with pytest.raises(IdsExhausted):
        carried_out(drawn(here.region, other, DEFAULT))
