"""A promotion of a directory whose primary is another one: who promotes opens both, and they are not served then."""

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

from sigla.ports.replaying import Drain
from sigla.regions.draining import OrderedDrain
from sigla.regions.nouns import RegionKind
from sigla.regions.replay import JournalPlace
from sigla.regions.shipping import NotAllowed
from sigla.stores.sqlite.journal import hash_of

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

    def _check_follows(self) -> None:
        role = self._here.region.role()
        if role is None or role.kind is not RegionKind.FOLLOWER:
            raise NotAllowed("this region does not follow any more")


def _end(store: "EmbeddedStore") -> JournalPlace:
    link = store.log.end()
    return JournalPlace(link.number, link.hash) if link else JournalPlace(0, "")
