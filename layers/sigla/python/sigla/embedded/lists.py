"""The lists, in pages: each page is one question that starts where the last one ended.

So nothing is held open between two items, memory is bounded by the page, and a reader that stops early costs nothing.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from sigla.embedded import rows
from sigla.embedded.unit import Unit
from sigla.keys import after, utf16
from sigla.model import Referrer, Row, Search, Settings, Show, Subject, Version

PAGE = 500
EVERYTHING = -1

_SHOWN = {Show.ALL: "s.highest", Show.ACTIVE: "s.newest", Show.DELETED: "s.highest AND s.newest IS NULL"}


@dataclass(frozen=True, slots=True)
class Where:
    """Conditions of a search on a table with `key`, `context` and `name_key`, and their parameters."""

    conditions: tuple[str, ...]
    parameters: tuple[Any, ...]
    page: int

    def __str__(self) -> str:
        return " AND ".join(self.conditions)


def where(search: Search, *conditions: str) -> Where:
    """The search in SQL; ranges of keys wherever a prefix is one."""
    found, parameters = list(conditions), list[Any]()
    low = b""
    if search.context:
        found.append("s.context = ?")
        parameters.append(search.context)
        low = rows.subject_key(Subject(search.context, search.name_prefix))
    elif search.context_prefix.strip("."):
        low = utf16(":" + search.context_prefix)
    _in_range("s.key", low, found, parameters)
    wide = not search.context and bool(search.name_prefix)
    if wide:
        _in_range("s.name_key", utf16(search.name_prefix), found, parameters)
    # A name in all contexts is found by name and then sorted: in pages, that would be sorted again for each.
    return Where(tuple(found), tuple(parameters), EVERYTHING if wide else PAGE)


def _in_range(column: str, prefix: bytes, conditions: list[str], parameters: list[Any]) -> None:
    end = after(prefix)
    if prefix:
        conditions.append(f"{column} >= ?")
        parameters.append(prefix)
    if prefix and end:
        conditions.append(f"{column} < ?")
        parameters.append(end)


def _pages(unit: Unit, where: Where, sql: str, position: str, order: int, skip: int) -> Iterator[Sequence[Any]]:
    """Rows of a question, page by page.

    sql: with `{where}`. position: a condition that skips what was seen; its parameters are the first `order` columns.
    """
    conditions, parameters = str(where), where.parameters
    while True:
        text = sql.format(where=conditions) + " LIMIT ? OFFSET ?"
        page = unit.connection.execute(text, (*parameters, where.page, skip)).fetchall()
        yield from page
        if where.page == EVERYTHING or len(page) < where.page:
            return
        conditions, parameters, skip = f"{where} AND {position}", where.parameters + tuple(page[-1][:order]), 0


def subjects(unit: Unit, search: Search, show: Show, *, skip: int) -> Iterator[Subject]:
    sql = "SELECT s.key, s.context, s.name FROM subject s WHERE {where} ORDER BY s.key"
    found = _pages(unit, where(search, _SHOWN[show]), sql, "s.key > ?", 1, skip)
    return (Subject(context, name) for _, context, name in found)


def versions(
    unit: Unit, search: Search, *, deleted: bool, latest_only: bool, skip: int
) -> Iterator[tuple[Subject, Row]]:
    highest = "s.highest" if deleted else "s.newest"
    included = f"v.version = {highest}" if latest_only else "v.deleted <= ?"
    sql = (
        f"SELECT s.key, v.version, s.context, s.name, {rows.ROW}"
        " FROM subject s CROSS JOIN version v ON v.subject = s.num WHERE {where} ORDER BY s.key, v.version"
    )
    narrowed = where(search, highest)
    if not latest_only:
        narrowed = Where((*narrowed.conditions, included), (*narrowed.parameters, deleted), narrowed.page)
    else:
        narrowed = Where((*narrowed.conditions, included), narrowed.parameters, narrowed.page)
    found = _pages(unit, narrowed, sql, "(s.key, v.version) > (?, ?)", 2, skip)
    return ((Subject(context, name), rows.row(columns)) for _, _, context, name, *columns in found)


def settings(unit: Unit, search: Search) -> Iterator[tuple[Subject, Settings]]:
    sql = (
        f"SELECT s.key, s.context, s.name, {rows.SETTINGS} FROM settings s"
        " WHERE {where} AND (config IS NOT NULL OR mode IS NOT NULL) ORDER BY s.key"
    )
    found = _pages(unit, where(search, "TRUE"), sql, "s.key > ?", 1, 0)
    return ((Subject(context, name), rows.settings(columns)) for _, context, name, *columns in found)


def referrers(unit: Unit, subject: Subject, version: Version | None) -> Iterator[tuple[Version, Referrer]]:
    """Asks nothing before the first item is wanted, and one page at most for a caller who wants only to know if any."""
    conditions: tuple[str, ...] = ("r.target = (SELECT num FROM subject WHERE key = ?)",)
    parameters: tuple[Any, ...] = (rows.subject_key(subject),)
    if version is not None:
        conditions, parameters = (*conditions, "r.target_version = ?"), (*parameters, version)
    order = "r.context_key, r.id, r.subject, r.version, r.target_version"
    sql = (
        f"SELECT {order}, s.context, s.name, v.deleted FROM reference r"
        " JOIN subject s ON s.num = r.subject JOIN version v ON v.subject = r.subject AND v.version = r.version"
        " WHERE {where} ORDER BY " + order
    )
    found = _pages(unit, Where(conditions, parameters, PAGE), sql, f"({order}) > (?, ?, ?, ?, ?)", 5, 0)
    return (
        (target_version, Referrer(Subject(context, name), referring, id, bool(deleted)))
        for _, id, _, referring, target_version, context, name, deleted in found
    )
