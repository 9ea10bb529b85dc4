"""Keys that are committed by the number that their KEK has then: the same commit, whoever carries it out.

A commit is foretold from what stands: its row of the journal, with the next number, and a time behind that of the last
one. Whatever moves a KEK or its DEKs gives the KEK a number more, so that while the number stays, all of it stays: who
holds the next number rests on nothing else (`replaying`).
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from secrets import token_hex
from typing import TYPE_CHECKING, Final

import orjson

from sigla import journal
from sigla.changes import DeksChanged, KekChanged
from sigla.errors import Conflict, OutcomeUnknown, RowUnreadable, StoreError
from sigla.journal import Effects, UnknownCommit
from sigla.keks.nouns import Dek, DekName, Kek, KeysSeen
from sigla.ports.handed_keys import HandedUnread, KeysStanding
from sigla.ports.replaying import Shipment
from sigla.regions import moved
from sigla.regions.replay import Verdict
from sigla.regions.shipping import NotAllowed
from sigla.stores.dynamodb import keks
from sigla.stores.dynamodb.actions import put
from sigla.stores.dynamodb.journal import position_at, time_of
from sigla.stores.dynamodb.numbers import MOVES, number_name
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.principals import AwsPrincipals

if TYPE_CHECKING:
    from sigla.stores.dynamodb.catalog import AwsCatalog
    from sigla.stores.s3.bodies import AwsBodies

TRIES: Final = 8


class AwsKeyCommits:
    """A `ports.KeyCommits`."""

    def __init__(self, catalog: "AwsCatalog", tools: Tools, bodies: "AwsBodies") -> None:
        self._catalog = catalog
        self._tools = tools
        self._bodies = bodies
        self._principals = AwsPrincipals(tools.table, tools.places)

    def look(self, kek: str, deks: Iterable[tuple[DekName, int]] = ()) -> KeysStanding:
        places, since = self._tools.places, self._tools.fence.begin()
        wanted = [places.dek(name, version) for name, version in deks]
        found = self._tools.table.get_many([places.role(), *([places.kek(kek)] if kek else ()), *wanted])
        role, row = self._tools.fence.met(found.get(places.role()), since), found.get(places.kek(kek), {})
        seen = KeysSeen(
            keks.kek_in(places, row), tuple(keks.dek_in(places, found[each]) for each in wanted if each in found)
        )
        return KeysStanding(role, row.get(MOVES, 0), row.get("stored", 0), row.get("active", 0), row.get("at", 0), seen)

    def foretold(self, change: KekChanged | DeksChanged, standing: KeysStanding) -> Shipment:
        epoch = self._tools.fence.guard(change.epoch).epoch
        if isinstance(change, KekChanged):
            name = change.name
            _check_kek(change, standing)
        else:
            name = change.kek.name
            _check_deks(change, standing)
        at = max(change.ts, standing.at + 1)
        effects = Effects(moved={number_name(self._tools.places.kek(name)): standing.number + 1})
        by = self._principals.token_of(change.author, change.ts)
        row = journal.row(change, effects, journal.origin(change, by) | journal.for_region(change, effects, epoch))
        return Shipment(position_at(at, change.nonce), orjson.dumps(row), {})

    def verdict(self, handed: Shipment) -> Verdict:
        with _unread():
            return self._catalog.replayer(self._bodies).verdict(handed)

    def carry_out(self, handed: Shipment, epoch: int, *, is_next: bool = False) -> Verdict:
        fence = self._tools.fence
        for _ in range(TRIES):
            guard = fence.guard(epoch)
            allowed = [guard.check] if guard.check else []
            try:
                replayer = self._catalog.replayer(self._bodies, allowed)
                with _unread():
                    verdict = replayer.carry_out_next(handed) if is_next else replayer.carry_out(handed)
            except OutcomeUnknown:
                _note(handed)
                raise
            except NotAllowed:
                fence.refused(guard)  # one of the copies of the role was behind, or it is another role
            else:
                if verdict in (Verdict.CARRY_OUT, Verdict.KNOWN):
                    _note(handed)
                return verdict
        raise Conflict

    def tell_unread(self, epoch: int, kek: str, number: int, *, many: int = 1) -> None:
        place = self._tools.places.unread_keys(epoch, kek, number)
        self._tools.table.write_all([put(place, {"kek": kek, "epoch": epoch, "many": many})])

    def pass_over(self, handed: Shipment) -> None:
        row = journal.row_at(handed.position, partial(orjson.loads, handed.form))
        match journal.change_of(row, self._catalog):
            case KekChanged(name=name, seen=before, kek=kek):
                told = before or kek
            case DeksChanged(kek=told):
                name = told.name
            case other:
                raise StoreError(f"a {type(other).__name__} was handed over as a commit of keys")
        self._catalog.region.role()  # a command may not have asked for it yet, and a commit rests on it
        seen, nonce = self._catalog.kek(name), token_hex(8)
        kek = seen or told
        if kek is None:
            raise StoreError(f"it is not known what KEK {name} was")
        self._catalog.commit(KekChanged(name, seen, replace(kek, revision=nonce), kek.ts, nonce))


@contextmanager
def _unread() -> Iterator[None]:
    """A row that no other try reads, either. Raises HandedUnread."""
    try:
        yield
    except (RowUnreadable, UnknownCommit) as unread:
        raise HandedUnread(f"a commit of keys cannot be carried out: {unread}") from unread


def _note(handed: Shipment) -> None:
    """A request that came through the other region is answered there when that has it, too."""
    moved.committed(time_of(handed.position), orjson.loads(handed.form)["nonce"])


def _check_kek(change: KekChanged, standing: KeysStanding) -> None:
    in_use = standing.stored if change.kek is None else standing.active if change.unused else 0
    if in_use or _revision(standing.seen.kek) != _revision(change.seen):
        raise Conflict


def _check_deks(change: DeksChanged, standing: KeysStanding) -> None:
    found = {(dek.name, dek.version): dek for dek in standing.seen.deks}
    if _revision(standing.seen.kek) != change.kek.revision:
        raise Conflict
    if any(_revision(found.get((each.name, each.about.version))) != _revision(each.seen) for each in change.deks):
        raise Conflict


def _revision(seen: Kek | Dek | None) -> str:
    return seen.revision if seen else ""
