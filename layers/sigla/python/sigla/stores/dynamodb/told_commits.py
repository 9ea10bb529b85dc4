"""A commit of another table as it came: what it moves, what it rests on, and by which numbers it is known to come next.

Rows that wait here, or that are kept because they diverge:

    aside, apart    row, position: of a commit, by its time
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Final

import orjson

from sigla import journal, keys
from sigla.journal import Effects, ToldHead
from sigla.model import BodyKey, Subject
from sigla.ports.bodies import Bodies
from sigla.ports.replaying import Shipment
from sigla.regions import shipping
from sigla.regions.replay import Needs
from sigla.regions.shipping import BodyDiverged
from sigla.stores.dynamodb.actions import Action, Key, delete, put
from sigla.stores.dynamodb.journal import time_of
from sigla.stores.dynamodb.numbers import MOVES, named_key, number_name
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item, packed, unpacked

REVISION: Final = "revision"
_REFERRED: Final = "referred"
_BEHIND: Final = "\t"
"""Between the name of a row and that of its number; no key has it at its end."""


@dataclass(frozen=True, slots=True)
class ToldCommit:
    """at: its hybrid time. heads: subjects that it moves. seen: those that it rests on besides."""

    at: int
    row: Mapping[str, Any]
    effects: Effects
    heads: Sequence[ToldHead]
    seen: Sequence[ToldHead]

    @classmethod
    def of(cls, shipment: Shipment) -> "ToldCommit":
        """Raises UnknownCommit, RowUnreadable, FormTooNew."""
        row = journal.row_at(shipment.position, partial(orjson.loads, shipment.form))
        return cls.of_row(time_of(shipment.position), row)

    @classmethod
    def of_row(cls, at: int, row: Mapping[str, Any]) -> "ToldCommit":
        """Raises UnknownCommit."""
        effects = journal.effects_of(row)
        heads, seen = journal.heads_of(row)
        moved = [*heads, *((subject, revision, 0) for subject, revision in effects.cleared)]
        return cls(at, row, effects, moved, seen)

    @property
    def targets(self) -> frozenset[Subject]:
        """Subjects that its schemas reference."""
        return journal.targets_of(self.row)

    @property
    def nonce(self) -> str:
        nonce: str = self.row["nonce"]
        return nonce

    def needs(self, places: Places) -> Needs:
        moves = {_of_head(places, subject, REVISION): revision + 1 for subject, revision, _ in self.heads}
        moves |= {f"{name}{_BEHIND}{MOVES}": number for name, number in self.effects.moved.items()}
        rests = {_of_head(places, subject, _REFERRED): referred for subject, _, referred in self.heads}
        rests |= {_of_head(places, subject, REVISION): revision for subject, revision, _ in self.seen}
        return Needs(moves, rests)


def _of_head(places: Places, subject: Subject, number: str) -> str:
    return name_of_number(places.head(subject), number)


def name_of_number(row: Key, number: str) -> str:
    """How `Needs` calls a number of a row."""
    return f"{number_name(row)}{_BEHIND}{number}"


def row_of_number(places: Places, name: str) -> Key:
    """The row that has a number, by its name in `Needs`."""
    return named_key(places, name.rpartition(_BEHIND)[0])


def numbers_of(places: Places, names: Iterable[str], found: Mapping[Key, Item]) -> dict[str, int]:
    """The numbers themselves. found: the rows that have them."""
    return {name: found.get(row_of_number(places, name), {}).get(name.rpartition(_BEHIND)[2], 0) for name in names}


class KeptCommits:
    """Those that wait for others, and those that diverge, as `ports.replaying.WaitingReplayer` has them.

    since: the epoch in which this region began to follow. What it had kept before is of a primary that it has passed
    over: it has made other commits since, to which these may look like the next ones.
    """

    def __init__(self, tools: Tools, bodies: Bodies, since: int) -> None:
        self._table = tools.table
        self._places = tools.places
        self._bodies = bodies
        self._since = since

    def put_aside(self, shipment: Shipment) -> None:
        """Its bodies are there then, where no row names them yet; one of which another is in its place diverges."""
        try:
            for key, body in shipment.bodies.items():
                shipping.bring_ahead(self._bodies, key, body, is_known=self.is_known)
        except BodyDiverged:
            self.set_apart(shipment)
            return
        self._keep(self._places.aside, shipment)

    def aside(self) -> Iterator[Shipment]:
        return self._kept(keys.aside_pk(self._places.registry), self._places.aside)

    def take(self, shipment: Shipment) -> None:
        self._table.write_all([delete(self._places.aside(*_mark(shipment)))])

    def set_apart(self, shipment: Shipment) -> None:
        self._keep(self._places.apart, shipment)
        self.take(shipment)

    def apart(self) -> Iterator[Shipment]:
        return self._kept(keys.apart_pk(self._places.registry), self._places.apart)

    def is_known(self, key: BodyKey) -> bool:
        """Whether a commit has named the id here: its row stays when it is held no more."""
        return self._table.get(self._places.holders(key)) is not None

    def is_told(self, shipment: Shipment) -> bool:
        """Whether the journal here has its row."""
        return self._table.get(self._places.journal(*_mark(shipment))) is not None

    def numbers(self, names: Iterable[str]) -> dict[str, int]:
        wanted = list(names)
        found = self._table.get_many([row_of_number(self._places, name) for name in wanted])
        return numbers_of(self._places, wanted, found)

    def _keep(self, place: Callable[[int, str], Key], shipment: Shipment) -> None:
        form = {"row": packed(orjson.loads(shipment.form)), "position": shipment.position}
        self._table.write_all([put(place(*_mark(shipment)), form)])

    def _kept(self, pk: str, place: Callable[[int, str], Key]) -> Iterator[Shipment]:
        """What is of a primary that was passed over goes when it is met."""
        gone: list[Action] = []
        for each in self._all(pk):
            if self._is_current(each):
                yield each
            else:
                gone.append(delete(place(*_mark(each))))
        if gone:
            self._table.write_all(gone)

    def _is_current(self, shipment: Shipment) -> bool:
        """A row that tells no epoch is of before the registry had a role."""
        return int(orjson.loads(shipment.form).get("epoch", self._since)) >= self._since

    def _all(self, pk: str) -> Iterator[Shipment]:
        for item in self._table.query(pk):
            yield Shipment(item["position"], orjson.dumps(unpacked(item["row"])), {})


def _mark(shipment: Shipment) -> tuple[int, str]:
    """Time and nonce."""
    return time_of(shipment.position), orjson.loads(shipment.form)["nonce"]
