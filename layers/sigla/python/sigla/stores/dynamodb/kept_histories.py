"""Histories, for who compares them with the journal, puts them right, or carries them elsewhere."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import Any, Final

from sigla import keys
from sigla.journal.subject_histories import entry_about
from sigla.model import Search, Show, Subject
from sigla.ports.log import LogEntry
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import Condition, delete, put
from sigla.stores.dynamodb.histories import put_entry
from sigla.stores.dynamodb.journal import position_at, time_of
from sigla.stores.dynamodb.lists import Lists
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.values import Item

_EVERYTHING: Final = Search(context=None)
_BEYOND: Final = f"{keys.COMMIT}~"
"""Greater than every key of an item."""


@dataclass(frozen=True, slots=True)
class KeptHistories:
    tools: Tools
    lists: Lists

    def subjects(self, known: Iterable[Subject]) -> Iterator[Subject]:
        """Yields what `ports.Inventory.with_history` promises."""
        listed = self.lists.subjects(_EVERYTHING, Show.ALL)
        scopes = (scope for scope, _ in self.lists.settings(_EVERYTHING) if scope.name)
        carried = map(items.subject_of, self.tools.table.query(keys.carried_pk(self.tools.places.registry)))
        yield from dict.fromkeys(chain(known, listed, scopes, carried))

    def positions(self, subject: Subject, since: int) -> Iterator[int]:
        """Those of commits since a time that the journal of this registry tells."""
        where = Condition("#sk BETWEEN :low AND :high", {"low": keys.commit_sk(since, ""), "high": _BEYOND})
        return (_position(item) for item in self._items(subject, where) if "carried" not in item)

    def has(self, subject: Subject, position: int) -> bool:
        return self._standing(subject, position) is not None

    def mend(self, subject: Subject, position: int, row: Mapping[str, Any] | None) -> None:
        """Does what `ports.Inventory.mend_history` promises."""
        standing = self._standing(subject, position)
        if row is not None and standing is None:
            entry = entry_about(row, subject, time_of(position))
            self.tools.table.write_all([put_entry(self.tools.places, subject, entry)])
        elif row is None and standing is not None:
            self.tools.table.write_all([delete((standing["pk"], standing["sk"]))])

    def bring(self, subject: Subject, entries: Sequence[LogEntry]) -> None:
        """Does what `ports.Inventory.bring_history` promises."""
        places = self.tools.places
        found = [put_entry(places, subject, entry, carried=True) for entry in entries]
        self.tools.table.write_all([put(places.carried(subject), items.named_item(subject)), *found])

    def _standing(self, subject: Subject, position: int) -> Item | None:
        where = Condition("begins_with(#sk, :sk)", {"sk": keys.commit_sk(time_of(position), "")})
        found = list(self._items(subject, where))
        return next((item for item in found if _position(item) == position), None)

    def _items(self, subject: Subject, where: Condition) -> Iterator[Item]:
        return self.tools.table.query(keys.subject_pk(self.tools.places.registry, subject), where)


def _position(item: Item) -> int:
    return position_at(*keys.commit_of(item["sk"]))
