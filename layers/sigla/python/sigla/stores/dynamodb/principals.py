"""The names of those who changed something, as rows of the table: each goes by itself when it was not needed any more.

principals    name, token, until, expires

A name is written before the commit that needs its token: a token without a commit tells nothing.
"""

from collections.abc import Iterable, Iterator
from typing import Final, NamedTuple

from sigla import keys
from sigla.bounded import BoundedMemory
from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.journal import fresh_token, plain_token
from sigla.ports.principals import KeptName
from sigla.stores.dynamodb.actions import ABSENT, Condition, delete, equals, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.stores.dynamodb.values import Item

REMEMBERED_MS: Final = 300_000
MOST_REMEMBERED: Final = 4_096


class _TokenRead(NamedTuple):
    token: str
    read: int


class AwsPrincipals:
    """A `ports.Principals`, and who gives out tokens. Any thread may use it."""

    def __init__(self, table: Table, places: Places) -> None:
        self._table = table
        self._places = places
        self._known: BoundedMemory[str, _TokenRead] = BoundedMemory(MOST_REMEMBERED)

    def token_of(self, author: Author | None, now: int) -> str:
        """The author's token, made if need be. One that was asked for a moment ago is remembered. Raises StoreError."""
        if (plain := plain_token(author)) or author is None:
            return plain
        known = self._known.get(author.name)
        if known is None or not 0 <= now - known.read < REMEMBERED_MS:
            known = _TokenRead(self._ask(author, now), now)
            self._known.keep(author.name, known)
        return known.token

    def names(self, now: int) -> Iterator[KeptName]:
        found = self._table.query(keys.principals_pk(self._places.registry))
        return iter(sorted(_kept(found, now)))

    def kept(self, name: str, now: int) -> KeptName | None:
        found = self._table.get(self._places.principal(name))
        return next(_kept([] if found is None else [found], now), None)

    def names_after(self, name: str, now: int, *, glance: int) -> Iterator[KeptName]:
        pk, behind = self._places.principal(name)
        where = Condition("#sk > :sk", {"sk": behind}) if name else None
        return _kept(self._table.query(pk, where, page=glance, consistent=False), now)

    def forget(self, name: str) -> bool:
        place = self._places.principal(name)
        kept = self._table.get(place) is not None
        self._table.write_all([delete(place)])
        return kept

    def _ask(self, author: Author, now: int) -> str:
        """The end of a name is put off once a day."""
        place, until = self._places.principal(author.name), now + author.kept_ms
        found = self._table.get(place)
        while not _lasts(found, max(now, until - DAY_MS)):
            token = found["token"] if found and _lasts(found, now) else fresh_token()
            sets = {"name": author.name, "token": token, "until": until, "expires": until // 1000}
            unmoved = ABSENT if found is None else equals(token=found["token"], until=found["until"])
            try:
                found = self._table.update(update(place, sets, when=unmoved))
            except Cancelled as cancelled:
                found = next(iter(cancelled.items), None)
        return str(found["token"]) if found else ""


def _kept(found: Iterable[Item], now: int) -> Iterator[KeptName]:
    kept = (KeptName(item["name"], item["token"], item["until"]) for item in found)
    return (each for each in kept if each.until > now)


def _lasts(found: Item | None, until: int) -> bool:
    return found is not None and found["until"] > until
