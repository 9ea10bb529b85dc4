"""Which ids are held and which content they stand for, as one transaction leaves them.

An id is buried in the transaction that takes its last holder, and its content then forgets it: so what the ID row of a
content says is always held, or displaced by what was written over its last holder, and a question needs that one row.

Only imports give one content several ids. Which of them was written last is decided by such a commit, and each decides
later than all before it, whatever the clocks of those who write say: so times alone tell their order, also to a region
that carries them out in another one (`stamped`).

    known         of HOLDERS: when the place of the id among those of its content was decided last
    at            of ID: the time of the last such decision on any of them
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple, Self

from sigla.changes.conflicts import GoneMeanwhile
from sigla.errors import Conflict
from sigla.model import BodyKey, Guid, Row, SchemaId
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import (
    ABSENT,
    Action,
    Condition,
    condition_check,
    delete,
    earlier,
    equals,
    put,
    update,
)
from sigla.stores.dynamodb.items import LastHolder
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import Table
from sigla.stores.dynamodb.values import Item, packed, unpacked

Stamp = tuple[int, str]
"""Time and nonce of a commit."""
NEVER: Final[Stamp] = (0, "")
KNOWN: Final = "known"


class TooEarly(Exception):
    """Another commit has decided later which id of a content was written last. at: when."""

    def __init__(self, at: int) -> None:
        super().__init__(f"it has to be later than {at}")
        self.at = at


class Decision(NamedTuple):
    """Which place an id has among those of its content. first: before all others; else behind them.

    number: of several decisions of one commit.
    """

    at: int
    nonce: str
    number: int
    first: bool

    @classmethod
    def of(cls, item: Item | None) -> Self | None:
        return cls(*unpacked(item[KNOWN])) if item and KNOWN in item else None

    def value(self) -> Any:
        return packed([*self])


def place(known: Decision | None) -> tuple[int, int, str, int]:
    """The greatest one comes first; an id of which nothing was decided stands between those of which it was."""
    if known is None:
        return 1, 0, "", 0
    return 2 * known.first, known.at if known.first else -known.at, known.nonce, known.number


def held_once_more(places: Places, key: BodyKey, guid: Guid) -> list[Action]:
    """One holder more, without having looked.

    It fails if the content has another id, or if the id is buried.
    """
    same = Condition("attribute_not_exists(#pk) OR #ids[0] = :id", {"id": key.id})
    return [
        update(places.content(key.context, guid), {"ids": [key.id]}, when=same, keep="ids"),
        update(places.holders(key), {"displaced": None}, add={"count": 1}, when=equals(buried=None)),
    ]


@dataclass(slots=True)
class _Held:
    """exact: it must still be as it was seen. An id that an import gives to more holders may have moved meanwhile."""

    seen: Item | None
    count: int
    buried: bool
    displaced: LastHolder | None = None
    exact: bool = False
    known: Decision | None = None


@dataclass(slots=True)
class Ledger:
    """Counts in memory what a transaction adds and removes, from rows that it has read; then says it in actions.

    stamp: of the commit, where that may decide on the order of ids.
    """

    table: Table
    places: Places
    context: str
    stamp: Stamp = NEVER
    _held: dict[SchemaId, _Held] = field(default_factory=dict)
    _seen: dict[Guid, list[SchemaId]] = field(default_factory=dict)
    _contents: dict[Guid, list[SchemaId]] = field(default_factory=dict)
    _at: dict[Guid, int | None] = field(default_factory=dict)
    _decided: list[Guid] = field(default_factory=list)
    _guids: dict[SchemaId, Guid] = field(default_factory=dict)

    def read(self, rows: Iterable[Row]) -> None:
        """To be told first of all rows that are added or removed."""
        rows = list(rows)
        of_id = {row.id: self.places.holders(BodyKey(self.context, row.id)) for row in rows}
        of_guid = {row.guid: self.places.content(self.context, row.guid) for row in rows}
        found = self.table.get_many([*of_id.values(), *of_guid.values()])
        for id, key in of_id.items():
            item = found.get(key)
            buried, last = bool(item and item.get("buried")), items.last_holder(item)
            self._held[id] = _Held(item, item["count"] if item else 0, buried, last, known=Decision.of(item))
        for guid, key in of_guid.items():
            self._read_content(guid, found.get(key))
            self._contents[guid] = list(self._seen[guid])

    def _read_content(self, guid: Guid, item: Item | None) -> None:
        self._seen[guid] = list(items.ids(item))
        self._at[guid] = item.get("at") if item else None

    def add(self, row: Row, *, imported: bool, lives: bool = False) -> None:
        """Raises Conflict where only an import may go on, GoneMeanwhile where that took the id to live, TooEarly."""
        held, content = self._held[row.id], self._contents[row.guid]
        if lives and held.buried:
            raise GoneMeanwhile(BodyKey(self.context, row.id))
        if not imported and (held.buried or content[:1] not in ([], [row.id])):
            raise Conflict
        held.count += 1
        held.displaced = None
        held.exact |= not imported
        if imported:
            self._decide(row, first=True)
        self._guids[row.id] = row.guid
        self._contents[row.guid] = [row.id, *(id for id in content if id != row.id)]

    def remove(self, row: Row, last: LastHolder | None = None) -> None:
        """last: where it is written over: then its id is displaced, if nothing else holds it."""
        held = self._held[row.id]
        held.count -= 1
        held.displaced = last
        held.exact = True
        self._guids.setdefault(row.id, row.guid)

    def displace(self, row: Row, last: LastHolder, *, known: bool) -> None:
        """An id that no version holds. known: the content is known by it from now on. Raises Conflict, TooEarly."""
        held, content = self._held[row.id], self._contents[row.guid]
        if held.count > 0:
            raise Conflict
        held.displaced, held.buried, held.exact = last, False, True
        others = [id for id in content if id != row.id]
        self._contents[row.guid] = [row.id, *others] if known else [*others, row.id]
        self._decide(row, first=known)

    def _decide(self, row: Row, *, first: bool) -> None:
        held = self._held[row.id]
        is_other = held.known is not None and (held.known.at, held.known.nonce) != self.stamp
        before = max(self._at[row.guid] or 0, held.known.at if held.known and is_other else 0)
        if before >= self.stamp[0]:
            raise TooEarly(before)
        held.known = Decision(*self.stamp, len(self._decided), first)
        self._decided.append(row.guid)

    def settle(self) -> tuple[BodyKey, ...]:
        """The ids that lost their last holder; where something is removed to be called once, before `actions`."""
        lost = []
        for id, held in self._held.items():
            gone = held.count <= 0 and held.displaced is None
            if gone and not held.buried:
                lost.append(BodyKey(self.context, id))
                content = self._contents[self._guids[id]]
                self._contents[self._guids[id]] = [each for each in content if each != id]
            held.buried = gone
        return tuple(sorted(lost))

    def actions(self) -> list[Action]:
        return [
            *(self._hold(id, held) for id, held in self._held.items()),
            *(self._mean(guid, ids) for guid, ids in self._contents.items()),
        ]

    def _hold(self, id: SchemaId, held: _Held) -> Action:
        key = self.places.holders(BodyKey(self.context, id))
        seen = held.seen
        if not held.exact:
            alive: Item = {"buried": None, "displaced": None, KNOWN: held.known.value() if held.known else None}
            return update(key, alive, add={"count": held.count - (seen["count"] if seen else 0)})
        when = equals(count=seen["count"], buried=seen.get("buried")) if seen else ABSENT
        displaced = held.displaced.value() if held.displaced is not None and held.count <= 0 else None
        known = held.known.value() if held.known else None
        after: Item = {"count": held.count, "buried": held.buried or None, "displaced": displaced, KNOWN: known}
        if seen and all(seen.get(name) == value for name, value in after.items()):
            return condition_check(key, when)
        return put(key, after, when)

    def _mean(self, guid: Guid, ids: list[SchemaId]) -> Action:
        key, seen = self.places.content(self.context, guid), self._seen[guid]
        when = equals(ids=list(seen)) if seen else ABSENT
        if guid in self._decided:
            # Whoever imports the same ids meanwhile is not in the way: one of both is planned anew with a later time.
            return put(key, {"ids": list(ids), "at": self.stamp[0]}, when & earlier(self.stamp[0]))
        if ids == seen:
            return condition_check(key, when)
        return update(key, {"ids": list(ids)}, when=when) if ids else delete(key, when)
