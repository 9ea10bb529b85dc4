"""Associations in the table `association`: found by the topic's id, by its name, and by the subject."""

import sqlite3
from collections.abc import Iterator, Sequence
from typing import Any

from sigla.associations.nouns import STRONG, WEAK, Association, Associations, Resource, in_order
from sigla.model import Subject
from sigla.ports.inventory import UnreadableRow
from sigla.stores.sqlite import rows

COLUMNS = (
    "SELECT s.context, s.name, a.resource, a.kind, a.type, a.name, a.namespace, a.strong, a.guid, a.created, a.updated"
    " FROM association a JOIN subject s ON s.num = a.subject"
)


def of_resource(db: sqlite3.Connection, id: str) -> Associations:
    return in_order(_associations_in(db, "a.resource = ?", (id,)))


def of_subject(db: sqlite3.Connection, subject: Subject) -> Associations:
    return in_order(_associations_in(db, "s.key = ?", (rows.subject_key(subject),)))


def of_name(db: sqlite3.Connection, name: str | None, namespace: str | None) -> Iterator[Association]:
    wanted = {"a.name = ?": name, "a.namespace = ?": namespace}
    said = {clause: value for clause, value in wanted.items() if value is not None}
    yield from in_order(_associations_in(db, " AND ".join(said) or "TRUE", tuple(said.values())))


def all_rows(db: sqlite3.Connection) -> Iterator[Association | UnreadableRow]:
    """Every row, also of a subject that is not there."""
    asked = db.execute(COLUMNS.replace(" JOIN ", " LEFT JOIN "))
    for columns in asked.fetchall():
        place = f"the {columns[4]} of {columns[3]} {columns[2]}"
        yield UnreadableRow(place) if columns[0] is None else association_of(columns)


def write(db: sqlite3.Connection, number: int, one: Association) -> None:
    """number: of its subject. Its place is free."""
    resource = one.resource
    place = (resource.id, resource.type, one.type, resource.name, resource.namespace)
    columns = (*place, number, one.strong, one.guid, one.created, one.updated)
    db.execute("INSERT INTO association VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)", columns)


def remove(db: sqlite3.Connection, one: Association) -> None:
    key = (one.resource.id, one.resource.type, one.type)
    db.execute("DELETE FROM association WHERE resource = ? AND kind = ? AND type = ?", key)


def _associations_in(db: sqlite3.Connection, where: str, parameters: Sequence[object]) -> list[Association]:
    return [association_of(columns) for columns in db.execute(f"{COLUMNS} WHERE {where}", parameters)]


def association_of(columns: Sequence[Any]) -> Association:
    context, subject, id, kind, type, name, namespace, strong, guid, created, updated = columns
    return Association(
        Subject(context, subject),
        guid,
        Resource(name, namespace, id, kind),
        type,
        STRONG if strong else WEAK,
        created,
        updated,
    )
