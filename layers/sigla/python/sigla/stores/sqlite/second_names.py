"""Second names of subjects, which an earlier release let in: `:.ctx:foo` in the default context (`rules.names`).

The tables keep subjects by their qualified name, so a second name shares the row of the subject that its text is read
as. What was registered under it bears the default context all the same, and its ids are of that context.
"""

import secrets
import sqlite3
from collections.abc import Iterator

from sigla.changes import Head, SubjectPurged
from sigla.keys import after, utf16
from sigla.model import DEFAULT_CONTEXT, BodyKey, Row, Subject
from sigla.rules import names
from sigla.stores.sqlite import journal, rows
from sigla.stores.sqlite.unit import Reader
from sigla.stores.sqlite.versions import bump, remove

_BEGINNINGS = (utf16(":."), utf16(":*:"))
"""What a name begins with that is read as one in another context."""


def stored(unit: Reader) -> Iterator[Subject]:
    """Those with versions or settings, or that stand in a list in the place of the subject they are read as."""
    db, found = unit.connection, set[bytes]()
    for low in _BEGINNINGS:
        within = (low, after(low))
        found.update(
            key
            for (key,) in db.execute(
                "SELECT s.key FROM subject s WHERE s.key >= ? AND s.key < ? AND (s.context = '.' OR EXISTS"
                " (SELECT 1 FROM version v WHERE v.subject = s.num AND v.context = '.'))"
                " UNION SELECT key FROM settings WHERE key >= ? AND key < ? AND context = '.'"
                " AND (config IS NOT NULL OR mode IS NOT NULL)",
                within + within,
            )
        )
    for key in sorted(found):
        named = Subject(DEFAULT_CONTEXT, key.decode("utf-16-be", "surrogatepass"))
        if _shares_rows(named) or rows.head(db, named).highest or rows.settings_of(db, named) != rows.NO_SETTINGS:
            yield named


def take_away(unit: Reader, named: Subject, at: int) -> tuple[BodyKey, ...]:
    """Removes what was registered under it, and gives its rows back to the subject it is read as; the ids it buried."""
    nonce = secrets.token_hex(8)
    with unit.step():
        db = unit.connection
        gone = _versions_under(db, named)
        number = rows.subject_number(db, named)
        ids = remove(db, number, [row.version for row in gone]) if number is not None else set()
        if number is not None:
            bump(db, number, nonce)
        _give_back(db, named)
        lost = sorted(id for id in ids if not rows.is_held(db, DEFAULT_CONTEXT, id))
        db.executemany("INSERT OR IGNORE INTO buried VALUES (?, ?)", [(DEFAULT_CONTEXT, id) for id in lost])
        journal.append(db, SubjectPurged(Head(named), tuple(gone), at, nonce))
        unit.touched |= {BodyKey(DEFAULT_CONTEXT, id) for id in ids}
        return tuple(BodyKey(DEFAULT_CONTEXT, id) for id in lost)


def _shares_rows(named: Subject) -> bool:
    """Whether its rows are also those of the subject that it is read as."""
    return names.subject(named.qualified).qualified == named.qualified


def _versions_under(db: sqlite3.Connection, named: Subject) -> list[Row]:
    found = db.execute(
        f"SELECT {rows.ROW} FROM subject s JOIN version v ON v.subject = s.num WHERE s.key = ? AND v.context = '.'",
        (rows.subject_key(named),),
    )
    return [rows.row(columns) for columns in found]


def _give_back(db: sqlite3.Connection, named: Subject) -> None:
    """Settings were in force for the subject, whoever wrote them: they stay. Settings without a writer go."""
    key = rows.subject_key(named)
    if _shares_rows(named):
        meant = names.subject(named.qualified)
        name_key = utf16(meant.name)
        db.execute(
            "UPDATE subject SET context = ?, name = ?, name_key = ? WHERE key = ?",
            (meant.context, meant.name, name_key, key),
        )
        db.execute("UPDATE settings SET context = ?, name = ? WHERE key = ?", (meant.context, meant.name, key))
    else:
        db.execute("DELETE FROM settings WHERE key = ?", (key,))
