"""Which ids are held, counted in a region that follows: commits that share an id come in any order, and end the same.

The count of holders is a sum, and an id without holders is buried: that rests on no order. Two things do, and only
imports bring them about. Which of several ids of one content was written last is told by the decisions on each
(`ids.Decision`), of which the latest counts. Whether the last holder was written over (`Catalog.displaced`) is told by
a time beside the count of the id, as no other row has it:

    followed      of HOLDERS: when the id was last written, removed or displaced, as time and nonce; and the holder that
                  this has displaced

What is older than that changes neither.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

from sigla.model import BodyKey, Guid, Row, SchemaId
from sigla.stores.dynamodb.actions import ABSENT, Action, condition_check, delete, equals, put
from sigla.stores.dynamodb.ids import KNOWN, NEVER, Decision, Ledger, Stamp, place
from sigla.stores.dynamodb.items import LastHolder
from sigla.stores.dynamodb.values import Item, packed, unpacked

FOLLOWED: Final = "followed"


@dataclass(slots=True)
class _StampedId:
    seen: Item | None
    count: int
    known: Decision | None
    last: Stamp
    displaced: Any
    touched: bool = False

    @classmethod
    def of(cls, item: Item | None) -> "_StampedId":
        if item is None:
            return cls(None, 0, None, NEVER, None)
        if FOLLOWED not in item:
            displaced = unpacked(item["displaced"]) if "displaced" in item else None
            return cls(item, item["count"], Decision.of(item), NEVER, displaced)
        *_, at, nonce, displaced = unpacked(item[FOLLOWED])
        return cls(item, item["count"], Decision.of(item), (at, nonce), displaced)

    @property
    def is_displaced(self) -> bool:
        return self.count <= 0 and self.displaced is not None

    @property
    def is_gone(self) -> bool:
        return self.count <= 0 and self.displaced is None

    def decided(self, decision: Decision) -> None:
        self.known = max(self.known or decision, decision)

    def happened(self, stamp: Stamp, displaced: LastHolder | None) -> None:
        """Something was done with it then, which leaves it displaced or not."""
        self.touched = True
        if stamp >= self.last:
            self.last, self.displaced = stamp, unpacked(displaced.value()) if displaced is not None else None

    def item(self) -> Item:
        return {
            "count": self.count,
            "buried": self.is_gone or None,
            "displaced": packed(self.displaced) if self.is_displaced else None,
            KNOWN: self.known.value() if self.known else None,
            FOLLOWED: packed([*self.last, self.displaced]),
        }


@dataclass(slots=True)
class StampedLedger(Ledger):
    """stamp: of the commit that is carried out. brought: ids that it has decided on; one that is displaced besides."""

    brought: frozenset[SchemaId] = frozenset()
    _ids: dict[SchemaId, _StampedId] = field(default_factory=dict)

    def read(self, rows: Iterable[Row]) -> None:
        rows = list(rows)
        of_guid = {row.guid: self.places.content(self.context, row.guid) for row in rows}
        found = self.table.get_many([*of_guid.values(), *map(self._place, {row.id for row in rows})])
        for guid, key in of_guid.items():
            self._read_content(guid, found.get(key))
        others = {id for ids in self._seen.values() for id in ids} - {row.id for row in rows}
        found |= self.table.get_many([self._place(id) for id in others])
        for id in others | {row.id for row in rows}:
            self._ids[id] = _StampedId.of(found.get(self._place(id)))
        self._guids |= {row.id: row.guid for row in rows}

    def add(self, row: Row, *, imported: bool, lives: bool = False) -> None:  # noqa: ARG002 - each is as it was at the source
        held = self._ids[row.id]
        held.count += 1
        if row.id in self.brought:
            self._decide(row, first=True)
        held.happened(self.stamp, None)

    def remove(self, row: Row, last: LastHolder | None = None) -> None:
        held = self._ids[row.id]
        held.count -= 1
        held.happened(self.stamp, last)

    def displace(self, row: Row, last: LastHolder, *, known: bool) -> None:
        self._decide(row, first=known)
        self._ids[row.id].happened(self.stamp, last)

    def _decide(self, row: Row, *, first: bool) -> None:
        self._ids[row.id].decided(Decision(*self.stamp, len(self._decided), first))
        self._decided.append(row.guid)

    def settle(self) -> tuple[BodyKey, ...]:
        lost = (id for id, held in self._ids.items() if held.touched and held.is_gone and not _was_buried(held))
        return tuple(sorted(BodyKey(self.context, id) for id in lost))

    def actions(self) -> list[Action]:
        touched = [(id, held) for id, held in self._ids.items() if held.touched]
        contents = {self._guids[id] for id, _ in touched}
        return [*(self._written(id, held) for id, held in touched), *map(self._known_by, sorted(contents))]

    def _written(self, id: SchemaId, held: _StampedId) -> Action:
        seen = held.seen
        when = equals(count=seen["count"], **{FOLLOWED: seen.get(FOLLOWED)}) if seen else ABSENT
        return put(self._place(id), held.item(), when)

    def _known_by(self, guid: Guid) -> Action:
        """The ids of a content that mean something, the one last written first."""
        key, seen, at = self.places.content(self.context, guid), self._seen[guid], self._at[guid]
        own = {id for id, of in self._guids.items() if of == guid}
        alive = [id for id in dict.fromkeys([*seen, *own]) if not self._ids[id].is_gone]
        ids = sorted(alive, key=lambda each: place(self._ids[each].known), reverse=True)
        when = equals(ids=list(seen), at=at) if seen else ABSENT
        decided = max((known.at for each in ids if (known := self._ids[each].known)), default=None)
        if (ids, decided) == (seen, at):
            return condition_check(key, when)
        return put(key, {"ids": ids, "at": decided}, when) if ids else delete(key, when)

    def _place(self, id: SchemaId) -> tuple[str, str]:
        return self.places.holders(BodyKey(self.context, id))


def _was_buried(held: _StampedId) -> bool:
    return held.seen is not None and bool(held.seen.get("buried"))
