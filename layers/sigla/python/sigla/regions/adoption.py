"""Ids that were given before a promotion by force, and whose versions did not get here: their bodies did.

A new body stands in both regions before its commit (`regions.bodies`, `regions.handing`). So what was acknowledged in
the last moments of a region that is lost is here, though nothing names it. Such an id is adopted: it means what its
body says, and the same content gets it again. No version is invented, and no row is written: it is so at once, and
nothing can be cut off. A body that was deleted for good is a tombstone, and means nothing any more, unless the other
region has said that it brings the id back.

Bodies of registrations that were never committed are adopted as well: their ids are never given for anything else. That
holds of ids that were drawn. One that was brought may be brought again with another content at the other region, after
an import was refused: so of tables its body is adopted only where that region has handed it over (`ports.handed_ids`).
Servers need no mark: what is refused there becomes a tombstone.

Once a version is committed under such an id in a table, its body is another one than before: a replay in AWS that has
slept since this region followed may have decided to replace it, by an import of the other region that brought the same
id. That of a server sleeps in no other process, and its body stays as the region that follows has it.

What is not here at all may be in the region that was passed over: until that is back, or given up, such an id is not
told to mean nothing.
"""

from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import replace
from typing import Final

from sigla.bounded import BoundedMemory
from sigla.changes import Change
from sigla.errors import BodyLost, Conflict
from sigla.model import DEFAULT_CONTEXT, Body, BodyKey, Guid, Holder, SchemaId, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.in_front import CatalogInFront
from sigla.ports.subjects import Snapshot, VersionKey
from sigla.regions import rules
from sigla.regions.nouns import RegionSeen
from sigla.regions.refusals import MayBeElsewhere

IsMarked = Callable[[BodyKey, Guid, str], bool]
"""As of `HandedIds`."""
REMEMBERED: Final = 1_000
"""Adopted ids by which contents are known, until one is committed."""


class AdoptedIds(CatalogInFront):
    """is_adopted: whether an id is one of those; asked only where the catalog knows nothing of it.

    adopts: whether there may be some; before anything else is asked. is_out: whether a region that is out may have
    given an id, or any, to subjects of which nothing is known here. is_marked: as of `HandedIds`. buried: as of
    `ports.Inventory`: an id that was deleted for good means what it did while its body stands, for an import may have
    brought it back; but no content gets it again. replays_sleep: whether a replay may have decided to replace a body,
    and do so after this region was promoted.
    """

    def __init__(
        self,
        catalog: Catalog,
        bodies: Bodies,
        is_adopted: Callable[[BodyKey], bool],
        adopts: Callable[[], bool] = lambda: True,
        *,
        is_out: Callable[[BodyKey | None], bool] = lambda _: False,
        is_marked: IsMarked = lambda _key, _guid, over: not over,
        buried: Callable[[Iterable[BodyKey]], Collection[BodyKey]] = lambda _: (),
        replays_sleep: bool = False,
    ) -> None:
        super().__init__(catalog)
        self._bodies = bodies
        self._is_adopted = is_adopted
        self._adopts = adopts
        self._is_out = is_out
        self._is_marked = is_marked
        self._buried = buried
        self._replays_sleep = replays_sleep
        self._by_content = BoundedMemory[BodyKey, Guid](REMEMBERED)

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        for key in change.ids:
            if (guid := self._by_content.get(key)) is not None:
                self._write_anew(key, guid, change.nonce)
        return self._catalog.commit(change)

    def _write_anew(self, key: BodyKey, guid: Guid, nonce: str) -> None:
        """Raises Conflict where it was replaced before."""
        body = self._bodies.get(key)
        if body.guid != guid:
            raise Conflict
        if not body.gone:
            self._bodies.mend(key, replace(body, nonce=nonce), body)
        self._by_content.forget([key])

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """The first registrant speaks for an adopted id."""
        return self._catalog.speaker(key, by) or self._adopted(key, by)

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        found = self._catalog.snapshot(subject, wanted=wanted, guess=guess)
        if guess is None or found.known is not None or not self._adopts():
            return found
        return replace(found, known=self._id_of(subject.context, guess))

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        found = self._catalog.id_of(context, guid)
        return self._id_of(context, guid) if found is None else found

    def ids_of(self, context: str, guids: Collection[Guid]) -> dict[Guid, SchemaId]:
        found = self._catalog.ids_of(context, guids)
        missing = (guid for guid in guids if guid not in found)
        return found | {guid: id for guid in missing if (id := self._id_of(context, guid)) is not None}

    def check_absent(self, key: BodyKey | None, knows: Callable[[BodyKey], bool] = lambda _: True) -> None:
        if not self._adopts() or not self._is_out(key):
            return
        if key is None or not self._buried((key,)) or not knows(key):
            raise MayBeElsewhere

    def _id_of(self, context: str, guid: Guid) -> SchemaId | None:
        if not self._adopts():
            return None
        named = (key for key in self._bodies.named(guid) if key.context == context)
        found = (key for key in named if not self._catalog.speaker(key) and self._adopted(key))
        for key in found:
            if not self._buried((key,)):
                if self._replays_sleep:
                    self._by_content.keep(key, guid)
                return key.id
        return None

    def _adopted(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        if not self._adopts() or not self._is_adopted(key):
            return None
        try:
            body = self._bodies.get(key)
        except BodyLost:
            return None
        if by not in (None, body.subject):
            return None
        if not _means(key, body, self._is_marked):
            return None
        return Holder(body.subject, body.version, deleted=False, ts=body.ts, revision=1, displaced=True)


def adopted(
    unheld: Iterable[BodyKey],
    bodies: Bodies,
    is_adopted: Callable[[BodyKey], bool] = lambda _: True,
    is_marked: IsMarked = lambda _key, _guid, over: not over,
) -> Iterator[str]:
    """What people are told of ids without a version. unheld: as of `ports.Inventory`; the others as of `AdoptedIds`."""
    for key in filter(is_adopted, unheld):
        with suppress(BodyLost):
            body = bodies.get(key)
            if _means(key, body, is_marked):
                where = "" if key.context == DEFAULT_CONTEXT else f" of context {key.context}"
                yield f"Id {key.id}{where} was registered for {body.subject}: it means what it did, without a version."


def _means(key: BodyKey, body: Body, is_marked: IsMarked) -> bool:
    """Whether an id without a version means what its body says. A tombstone of one that was brought back does."""
    return not (body.gone or body.brought) or is_marked(key, body.guid, body.nonce if body.gone else "")


def given_before(look: Callable[[str], RegionSeen]) -> Callable[[BodyKey], bool]:
    """Whether an id was given before this region was promoted by force. look: as of `Peer.look`, at this region.

    Where a later epoch gives ids, this region gives none, and any may be of the other one.
    """

    def is_given_before(key: BodyKey) -> bool:
        role, counter = look(key.context)
        if role is None or not role.adopts:
            return False
        return counter is None or counter.epoch != role.epoch or key.id < counter.first

    return is_given_before


def out_since(look: Callable[[str], RegionSeen]) -> Callable[[BodyKey | None], bool]:
    """Whether an id may be of a region that was passed over by force, and is not back. look: as of `Peer.look`.

    None: whether there is such a region, that may have given any id. One that was given up while it followed is not
    waited for.
    """

    def is_out(key: BodyKey | None) -> bool:
        role, counter = look(key.context if key else DEFAULT_CONTEXT)
        if role is None or not role.adopts or not role.has_passed_over:
            return False
        return key is None or 0 < key.id < rules.as_of(counter, role.epoch).first

    return is_out
