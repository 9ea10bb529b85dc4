"""Keys in SQLite: the questions to their tables, and what a change does to them.

The order of names is that of their UTF-16 code units, so that names are kept as such.
"""

import sqlite3
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, Final, TypeVar

import orjson

from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.errors import Conflict
from sigla.keks import records
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek
from sigla.keys import after, utf16
from sigla.ports.inventory import MISPLACED, UNFIT, UnreadableRow

Noun = TypeVar("Noun")

KEK: Final = "SELECT key, kek FROM kek"
_DEK: Final = "SELECT kek, subject, algorithm, version, dek FROM dek"

# --- questions -------------------------------------------------------------------------------------------------------


def kek(db: sqlite3.Connection, name: str) -> Kek | None:
    found = db.execute(f"{KEK} WHERE key = ?", (utf16(name),)).fetchone()
    return found and kek_of(found)


def is_stored(db: sqlite3.Connection, key: Mapping[str, Any]) -> bool:
    """key: of a record of the topic of keys."""
    if key["type"] == records.KEK:
        return kek(db, key["name"]) is not None
    name = (utf16(key["kekName"]), utf16(key["subject"]), key["algorithm"], key["version"])
    asked = "SELECT 1 FROM dek WHERE kek = ? AND subject = ? AND algorithm = ? AND version = ?"
    return db.execute(asked, name).fetchone() is not None


def keks(db: sqlite3.Connection) -> Iterator[Kek]:
    return map(kek_of, db.execute(f"{KEK} ORDER BY key").fetchall())


def deks_counted(db: sqlite3.Connection, kek: str) -> CountedDeks:
    """They are counted one by one, so that only a KEK that is to go has to wait for it."""
    asked = "SELECT count(*), count(*) FILTER (WHERE NOT deleted) FROM dek WHERE kek = ?"
    return CountedDeks(*db.execute(asked, (utf16(kek),)).fetchone())


def deks_of(db: sqlite3.Connection, name: DekName, version: int | None) -> KeysSeen:
    """Two questions: the connection must show one state."""
    one = "" if version is None else " AND version = ?"
    found = db.execute(
        f"{_DEK} WHERE kek = ? AND subject = ? AND algorithm = ?{one} ORDER BY version",
        (*_name(name), *(() if version is None else (version,))),
    )
    return KeysSeen(kek(db, name.kek), tuple(map(_dek, found.fetchall())))


def deks(db: sqlite3.Connection, kek: str) -> Iterator[Dek]:
    return map(_dek, db.execute(f"{_DEK} WHERE kek = ?", (utf16(kek),)).fetchall())


def deks_listed(db: sqlite3.Connection, prefix: str) -> Iterator[ListedDek]:
    low = utf16(prefix)
    high = after(low)
    ends = "" if high is None else " AND spelled < ?"
    found = db.execute(
        f"SELECT DISTINCT kek, spelled, deleted FROM dek WHERE spelled >= ?{ends}",
        (low, *(() if high is None else (high,))),
    )
    for key, spelled, deleted in found.fetchall():
        yield ListedDek(_text(key), _text(spelled), bool(deleted))


def count(db: sqlite3.Connection) -> tuple[int, int, int]:
    """KEKs, shared ones among them, and DEKs."""
    found: tuple[int, int, int] = db.execute(
        "SELECT count(*), coalesce(sum(json_extract(kek, '$.shared')), 0), (SELECT count(*) FROM dek) FROM kek"
    ).fetchone()
    return found


def all_rows(db: sqlite3.Connection) -> Iterator[Kek | Dek | UnreadableRow]:
    """Every row of both tables."""
    for row in db.execute(f"{KEK} ORDER BY key").fetchall():
        yield _readable(kek_of, row, f"KEK {_text(row[0])}")
    for row in db.execute(f"{_DEK} ORDER BY kek, subject, algorithm, version").fetchall():
        kek, subject, algorithm, version, _ = row
        yield _readable(_dek, row, f"DEK {_text(subject)} {algorithm} version {version} under KEK {_text(kek)}")


def _readable(parse: Callable[[tuple[Any, ...]], Noun], row: tuple[Any, ...], place: str) -> Noun | UnreadableRow:
    try:
        return parse(row)
    except UNFIT:
        return UnreadableRow(place)


def kek_of(row: Sequence[Any]) -> Kek:
    """The KEK of a row. Raises one of UNFIT where it cannot be read, or belongs to another place."""
    *place, form = row
    found = records.kek(orjson.loads(form))
    if [utf16(found.name)] != place:
        raise ValueError(MISPLACED)
    return found


def _dek(row: tuple[Any, ...]) -> Dek:
    """The DEK of a row; raises as `kek_of` does."""
    *place, form = row
    found = records.dek(orjson.loads(form))
    if [*_name(found.name), found.version] != place:
        raise ValueError(MISPLACED)
    return found


def _name(name: DekName) -> tuple[bytes, bytes, str]:
    return utf16(name.kek), utf16(name.subject.qualified), name.algorithm.value


def _text(key: bytes) -> str:
    """Bytes that are not text, which no commit writes, are shown as replaced characters."""
    return key.decode("utf-16-be", "replace")


# --- changes ---------------------------------------------------------------------------------------------------------


def change_kek(db: sqlite3.Connection, change: KekChanged) -> None:
    """Raises Conflict."""
    found = kek(db, change.name)
    _agree(change.seen, found)
    if change.unused or change.kek is None:
        under = deks_counted(db, change.name)
        if under.active if change.kek else under.stored:
            raise Conflict
    key = utf16(change.name)
    if change.kek is None:
        db.execute("DELETE FROM kek WHERE key = ?", (key,))
    else:
        form = orjson.dumps(records.kek_json(change.kek)).decode()
        db.execute("INSERT OR REPLACE INTO kek VALUES (?, ?, ?)", (key, change.kek.revision, form))


def change_deks(db: sqlite3.Connection, change: DeksChanged) -> None:
    """Raises Conflict."""
    _agree(change.kek, kek(db, change.kek.name))
    for each in change.deks:
        _write(db, each)


def _write(db: sqlite3.Connection, write: DekWrite) -> None:
    place = (*_name(write.name), write.about.version)
    where = "WHERE kek = ? AND subject = ? AND algorithm = ? AND version = ?"
    found = db.execute(f"{_DEK} {where}", place).fetchone()
    _agree(write.seen, found and _dek(found))
    if write.dek is None:
        db.execute(f"DELETE FROM dek {where}", place)
        return
    _put(db, write.dek)


def _put(db: sqlite3.Connection, dek: Dek) -> None:
    form = orjson.dumps(records.dek_json(dek)).decode()
    row = (*_name(dek.name), dek.version, utf16(dek.subject), dek.deleted, dek.revision, form)
    db.execute("INSERT OR REPLACE INTO dek VALUES (?, ?, ?, ?, ?, ?, ?, ?)", row)


def rewrite(db: sqlite3.Connection, kek: str) -> None:
    """Each DEK under a KEK is found and counted as what it is."""
    for dek in list(deks(db, kek)):
        _put(db, dek)


def _agree(seen: Kek | Dek | None, found: Kek | Dek | None) -> None:
    if (seen and seen.revision) != (found and found.revision):
        raise Conflict
