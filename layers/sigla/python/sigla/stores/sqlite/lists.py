"""The lists, in pages: each page is one question that starts where the last one ended.

So nothing is held open between two items, memory is bounded by the page, and a reader that stops early costs nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from heapq import merge
from itertools import islice
from operator import itemgetter
from typing import Any

from sigla import effort
from sigla.keys import after, utf16
from sigla.model import DEFAULT_CONTEXT, Referrer, Row, Search, Settings, Show, Subject, Version
from sigla.ports.lists import Looked
from sigla.stores.sqlite import rows
from sigla.stores.sqlite.unit import Reader

PAGE = 500
STEPS_OF_A_NAME = 10

_SHOWN = {Show.ALL: "s.highest", Show.ACTIVE: "s.newest", Show.DELETED: "s.highest AND s.newest IS NULL"}


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions in SQL, with their parameters in order."""

    conditions: tuple[str, ...] = ()
    parameters: tuple[Any, ...] = ()

    def __str__(self) -> str:
        return " AND ".join(self.conditions) or "TRUE"

    def but(self, condition: str, *parameters: Any) -> "Where":
        """Narrowed by one more condition."""
        return Where((*self.conditions, condition), self.parameters + parameters)


@dataclass(frozen=True, slots=True)
class Question:
    """A list, by its first `columns`.

    sql: with `{where}`, ordered by these columns. position: a condition on their values, true for what follows.
    seek: the same list with these columns alone, from an index: quicker to skip in, where there is one.
    """

    sql: str
    position: str
    columns: int
    seek: str = ""

    def pages(self, unit: Reader, where: Where, skip: int = 0) -> Iterator[Sequence[Any]]:
        """All rows, one page in memory at a time."""
        narrowed = where
        if skip and self.seek:
            text = self.seek.format(where=where) + " LIMIT 1 OFFSET ?"
            last = unit.connection.execute(text, (*where.parameters, skip - 1)).fetchone()
            if last is None:
                return
            narrowed, skip = where.but(self.position, *last), 0
        while True:
            text = self.sql.format(where=narrowed) + " LIMIT ? OFFSET ?"
            page = unit.connection.execute(text, (*narrowed.parameters, PAGE, skip)).fetchall()
            yield from page
            if len(page) < PAGE:
                return
            narrowed, skip = where.but(self.position, *page[-1][: self.columns]), 0

    def all(self, unit: Reader, parts: Sequence[Where], skip: int = 0) -> Iterator[Sequence[Any]]:
        """One part after the other."""
        for part in parts:
            yield from self.pages(unit, part, skip)
            skip = max(0, skip - self._count(unit, part)) if skip else 0

    def search(self, unit: Reader, search: Search, where: Where, skip: int = 0) -> Iterator[Sequence[Any]]:
        """The rows of a search, by the columns of `position`."""
        if search.context or not search.name_prefix:
            return self.all(unit, within(search, where), skip)
        # One name in many contexts is a range of keys in each, but not in all together.
        narrow = [replace(search, context=context) for context in _contexts(unit, search.context_prefix)]
        found = [self.all(unit, within(each, where)) for each in narrow]
        return islice(merge(*found, key=itemgetter(slice(self.columns))), skip, None)

    def _count(self, unit: Reader, where: Where) -> int:
        sql = f"SELECT count(*) FROM ({self.sql.format(where=where)})"
        counted: int = unit.connection.execute(sql, where.parameters).fetchone()[0]
        return counted


def within(search: Search, where: Where) -> list[Where]:
    """Narrowed to a search, in a table `s` with `key` and `context`: ranges of keys, ascending.

    The name counts in one context only. The default context lies around all named ones.
    """
    if search.part.isascii() and search.part:
        literal = _WILD.sub(r"!\g<0>", search.part)
        where = where.but(_HAS_PART, f"%{literal}%")
    if search.after:
        where = where.but("s.key > ?", rows.subject_key(search.after))
    if search.context and search.exact:
        return [where.but("s.key = ?", rows.subject_key(Subject(search.context, search.name_prefix)))]
    if search.context:
        where = where.but("s.context = ?", search.context)
        low = rows.subject_key(Subject(search.context, search.name_prefix))
    else:
        low = utf16(":" + search.context_prefix) if search.context_prefix.strip(".") else b""
    high = after(low)
    if search.context == DEFAULT_CONTEXT and _NAMED.startswith(low):
        return [_between(where, low, _NAMED), _between(where, _BEYOND_NAMED, high)]
    return [_between(where, low, high)]


def _between(where: Where, low: bytes, high: bytes | None) -> Where:
    where = where.but("s.key >= ?", low) if low else where
    return where.but("s.key < ?", high) if high else where


_HAS_PART = "(s.name LIKE ? ESCAPE '!' OR s.name GLOB '*[^ -~]*')"
"""As far as SQLite knows of upper and lower case: names with a letter beyond ASCII may have any part."""
_WILD = re.compile("[!%_]")

_NAMED = utf16(":.")
_BEYOND_NAMED = after(_NAMED) or b""


def _contexts(unit: Reader, prefix: str) -> list[str]:
    """Every context in which something may be stored."""
    found = {DEFAULT_CONTEXT, *(name for (name,) in unit.connection.execute("SELECT name FROM context"))}
    return [name for name in found if name.startswith(prefix)]


def subjects(unit: Reader, search: Search, show: Show, *, skip: int) -> Iterator[Subject]:
    sql = "SELECT s.key, s.context, s.name FROM subject s WHERE {where} ORDER BY s.key"
    found = Question(sql, "s.key > ?", 1).search(unit, search, Where((_SHOWN[show],)), skip)
    return (Subject(context, name) for _, context, name in found)


def look(unit: Reader, search: Search, *, deleted: bool, most: int) -> Looked:
    """Goes on until it has found so many: nothing here is paid for by the name."""
    searched = 0
    found: list[tuple[Subject, Row]] = []
    for subject in subjects(unit, search, Show.ALL if deleted else Show.ACTIVE, skip=0):
        effort.pulse(STEPS_OF_A_NAME)
        searched += 1
        if search.part in subject.name.casefold():
            found.append((subject, _newest(unit, subject)))
            if len(found) == most:
                return Looked(tuple(found), searched, subject)
    return Looked(tuple(found), searched)


def _newest(unit: Reader, subject: Subject) -> Row:
    only = Search(subject.name, subject.context, exact=True)
    active = versions(unit, only, deleted=False, latest_only=True, skip=0)
    _, row = next(active, None) or next(versions(unit, only, deleted=True, latest_only=True, skip=0))
    return row


def versions(
    unit: Reader, search: Search, *, deleted: bool, latest_only: bool, skip: int
) -> Iterator[tuple[Subject, Row]]:
    highest = "s.highest" if deleted else "s.newest"
    included = f"v.version = {highest}" if latest_only else "TRUE" if deleted else "v.deleted = 0"
    joined = "FROM subject s CROSS JOIN version v{index} ON v.subject = s.num WHERE {{where}} ORDER BY s.key, v.version"
    sql = f"SELECT s.key, s.key, v.version, s.context, s.name, v.context, {rows.ROW} {joined.format(index='')}"
    # The index knows the order of versions only among those alike in being deleted.
    by_life = f"SELECT s.key, s.key, v.version {joined.format(index=' INDEXED BY version_by_life')}"
    seek = "" if deleted or latest_only else by_life
    # A range of keys for the index, then what is exact.
    position = "s.key >= ? AND (s.key > ? OR v.version > ?)"
    where = Where((highest,)).but(included)
    found = Question(sql, position, 3, seek).search(unit, search, where, skip)
    for key, _, _, context, name, of, *columns in found:
        subject = rows.registered(of, key, context, name)
        if of == context or search.matches(subject):
            yield subject, rows.row(columns)


def settings(unit: Reader, search: Search) -> Iterator[tuple[Subject, Settings]]:
    sql = f"SELECT s.key, s.context, s.name, {rows.SETTINGS} FROM settings s WHERE {{where}} ORDER BY s.key"
    where = Where(("(s.config IS NOT NULL OR s.mode IS NOT NULL)",))
    found = Question(sql, "s.key > ?", 1).all(unit, within(search, where))
    scopes = ((Subject(context, name), columns) for _, context, name, *columns in found)
    return ((scope, rows.settings(columns)) for scope, columns in scopes if scope.name.startswith(search.name_prefix))


def referrers(unit: Reader, subject: Subject, version: Version | None) -> Iterator[tuple[Version, Referrer]]:
    """Asks nothing before the first item is wanted."""
    where = Where().but("r.target = (SELECT num FROM subject WHERE key = ?)", rows.subject_key(subject))
    if version is not None:
        where = where.but("r.target_version = ?", version)
    order = "r.context_key, r.id, r.subject, r.version, r.target_version"
    sql = (
        f"SELECT {order}, s.context, s.name, v.deleted FROM reference r"
        " JOIN subject s ON s.num = r.subject JOIN version v ON v.subject = r.subject AND v.version = r.version"
        " WHERE {where} ORDER BY " + order
    )
    found = Question(sql, f"({order}) > (?, ?, ?, ?, ?)", 5).pages(unit, where)
    return (
        (target_version, Referrer(Subject(context, name), referring, id, bool(deleted)))
        for _, id, _, referring, target_version, context, name, deleted in found
    )
