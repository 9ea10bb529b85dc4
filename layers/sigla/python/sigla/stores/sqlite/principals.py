"""The names of those who changed something, in SQLite: each is written by the commit that needs its token."""

import sqlite3
from collections.abc import Iterator

from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.journal import fresh_token, plain_token
from sigla.ports.principals import KeptName
from sigla.stores.sqlite.unit import Reader


def token_of(db: sqlite3.Connection, author: Author | None, now: int) -> str:
    """The author's token, made if need be; inside a step. The end of a name is put off once a day."""
    if (plain := plain_token(author)) or author is None:
        return plain
    until = now + author.kept_ms
    found = db.execute("SELECT token, until FROM principal WHERE name = ?", (author.name,)).fetchone()
    if found and found[1] > max(now, until - DAY_MS):
        return str(found[0])
    db.execute("DELETE FROM principal WHERE until <= ?", (now,))
    token = str(found[0]) if found and found[1] > now else fresh_token()
    db.execute("INSERT OR REPLACE INTO principal VALUES (?, ?, ?)", (author.name, token, until))
    return token


class EmbeddedPrincipals:
    """A `ports.Principals`."""

    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def names(self, now: int) -> Iterator[KeptName]:
        return self._ask("until > ? ORDER BY name", now)

    def kept(self, name: str, now: int) -> KeptName | None:
        return next(self._ask("name = ? AND until > ?", name, now), None)

    def names_after(self, name: str, now: int, *, glance: int) -> Iterator[KeptName]:
        return self._ask("name > ? AND until > ? ORDER BY name LIMIT ?", name, now, glance)

    def _ask(self, where: str, *values: str | int) -> Iterator[KeptName]:
        found = self._unit.connection.execute(f"SELECT name, token, until FROM principal WHERE {where}", values)
        return iter([KeptName(*columns) for columns in found])

    def forget(self, name: str) -> bool:
        with self._unit.step(), self._unit.unremembered():
            found = self._unit.connection.execute("DELETE FROM principal WHERE name = ?", (name,))
            return found.rowcount > 0
