"""Who read which id last, in SQLite: a row for each id, subject that was named, and principal."""

from collections.abc import Collection, Mapping, Sequence

from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.model import BodyKey
from sigla.ports.clock import day_of
from sigla.ports.reads import KEPT_DAYS, LastRead, Read, SomeReads, newest_first, some_of
from sigla.stores.sqlite.principals import token_of
from sigla.stores.sqlite.unit import Reader


class EmbeddedReads:
    """A `ports.Reads`. What only reads data of an older release finds nothing."""

    is_narrowed = False

    def __init__(self, unit: Reader) -> None:
        self._unit = unit

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None:
        day = day_of(now)
        with self._unit.step(), self._unit.unremembered():
            db = self._unit.connection
            principals = dict.fromkeys(read.principal for read in reads)
            tokens = {name: token_of(db, Author(name, "api", kept_ms=kept_ms), now) for name in principals}
            if self._begins(day):
                db.execute("DELETE FROM last_read WHERE day < ?", (day_of(now - KEPT_DAYS * DAY_MS),))
            db.executemany(
                "INSERT INTO last_read VALUES (?, ?, ?, ?, ?) "
                "ON CONFLICT DO UPDATE SET day = excluded.day WHERE day < excluded.day",
                [(read.key.context, read.key.id, read.subject, tokens[read.principal], day) for read in reads],
            )

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        question = "SELECT subject, by, day FROM last_read WHERE context = ? AND id = ?"
        ask = self._unit.connection.execute
        return {key: newest_first([LastRead(*row) for row in ask(question, (key.context, key.id))]) for key in keys}

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        return some_of(self.last(keys), most)

    def since(self) -> str:
        found = self._unit.connection.execute("SELECT first FROM reads_noted").fetchone()
        return "" if found is None else str(found[0])

    def count_of(self, principal: str, first: str) -> int | None:
        found = self._unit.connection.execute(
            "SELECT count(*) FROM (SELECT DISTINCT context, id FROM last_read, principal "
            "WHERE last_read.by = principal.token AND principal.name = ? AND day >= ?)",
            (principal, first),
        ).fetchone()
        return int(found[0])

    def _begins(self, day: str) -> bool:
        """Whether this is the first note of a day; the very first is written down."""
        db = self._unit.connection
        db.execute("INSERT OR IGNORE INTO reads_noted VALUES (1, ?, '')", (day,))
        return db.execute("UPDATE reads_noted SET tidied = ? WHERE tidied < ?", (day, day)).rowcount > 0
