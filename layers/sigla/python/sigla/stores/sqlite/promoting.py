"""A promotion of a directory: by plan, whose primary is another one, and by force.

By plan, who promotes opens both, and they are not served then. By force, the keys that the primary has handed over come
with the role, in one commit: no request meets a primary without them, and none is in their way.
"""

from collections.abc import Iterator, Sequence
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING

import orjson

from sigla.ports.replaying import Drain, Shipment
from sigla.regions import promotion
from sigla.regions.draining import OrderedDrain
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind
from sigla.regions.promotion import Promotion
from sigla.regions.replay import JournalPlace, last_common
from sigla.regions.shipping import NotAllowed
from sigla.registry.resources import Resources
from sigla.stores.sqlite.journal import hash_of
from sigla.upkeep.adopting import adopt_keys

if TYPE_CHECKING:
    from sigla.stores.sqlite.store import EmbeddedStore


class DirectoryPair:
    """A `ports.RegionPair`. here: the follower."""

    def __init__(self, here: "EmbeddedStore", there: "EmbeddedStore") -> None:
        self._here = here
        self._there = there

    @property
    def drain(self) -> Drain:
        ends = {"there": partial(_end, self._there), "here": partial(_end, self._here)}
        return OrderedDrain(self._there.shipper(), self._here.replayer(self._check_follows), **ends)

    def rehearse(self) -> Sequence[str]:
        """What it lacks is brought, however much; what it has besides cannot be."""
        end = _end(self._here)
        _, form = next(self._there.journal.forms(end.position - 1), (0, b"")) if end.position else (0, b"")
        if end.position and hash_of(form) != end.hash:
            return [f"The journal here went its own way before row {end.position}: it has what its primary has not."]
        return []

    def would_be_lost(self) -> Sequence[str]:
        return self.drain.differences()

    def held_up(self) -> Sequence[str]:
        """What the primary hands over is committed at once, or taken back."""
        return ()

    def missing(self) -> Iterator[Shipment]:
        """From the first row on that differs."""
        here, there = self._here.journal, self._there.journal
        end = min(here.end(), there.end())
        return self._there.shipper().shipments(last_common(end, lambda at: here.place(at) == there.place(at)))

    def make_way(self, shipments: Sequence[Shipment]) -> None:
        """What is refused here becomes a tombstone at once."""

    def unread(self) -> Sequence[int]:
        """In a journal of one order nothing goes on behind a row that cannot be read."""
        return ()

    def lapsed_since(self) -> int:
        """Its rows are kept for ever."""
        return 0

    def mark_brought(self, shipments: Sequence[Shipment]) -> None:
        """They are met again, and found."""

    forget = None
    urls = None

    def bring_back(self) -> None:
        """Both servers are stopped: no client has written."""

    def _check_follows(self) -> None:
        role = self._here.region.role()
        if role is None or role.kind is not RegionKind.FOLLOWER:
            raise NotAllowed("this region does not follow any more")


def promote_by_force(store: "EmbeddedStore", *, now: int, seen: int = 0) -> Promotion:
    """now, seen: as of `promotion.forced`. Raises as that does: nothing is changed then."""
    with store.group():
        before, end = store.region.role(), store.journal.end()
        done = carried_out(promotion.forced(store.region, now=now, seen=seen))
        if before is not None and done.changed:
            # Files of an epoch before are those that a crash has left. A commit of this one that came is up to the end.
            handed = store.handed.after(end, lambda each: _epoch(each) == before.epoch)
            adopt_keys(handed, Resources(store.catalog, store.bodies, store.clock))
    with suppress(OSError):
        store.handed.forget()
    return done


def _epoch(told: Shipment) -> int:
    return int(orjson.loads(told.form).get("epoch", 0))


def _end(store: "EmbeddedStore") -> JournalPlace:
    link = store.log.end()
    return JournalPlace(link.number, link.hash) if link else JournalPlace(0, "")
