"""Versions of one subject that stand here otherwise than in the source."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from sigla.changes import (
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.journal.replay import Put, State, key_of
from sigla.model import BodyKey, Row, Subject, Version
from sigla.ports.subjects import VersionKey
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.upkeep.importing import CONFLICTING, Report, TargetOf, place_body
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.versions import named


@dataclass(frozen=True, slots=True)
class Differences:
    """free: their number is free here. changed: they stand in the place of what is here, or stand here otherwise.

    hidden: up to this version all that is active here is soft-deleted there, each with the time that it has.
    gone: what stands here and not there. again: their number is taken by what goes.
    """

    free: tuple[Put, ...] = ()
    changed: tuple[Put, ...] = ()
    hidden: Version | None = None
    gone: tuple[Row, ...] = ()
    again: tuple[Put, ...] = ()


def compared(rows: Sequence[Row], puts: Sequence[Put], state: State, context: str) -> Differences:
    """rows: what stands here. puts: what stands there.

    An id whose version was written over there goes on meaning what it did, and so it is written over here. One whose
    version was purged, before its number was given again, is gone.
    """
    wanted = {put.version: put for put in puts}
    stored = {row.version: row for row in rows}
    held = {put.id for put in puts}
    gone = [row for row in rows if row.version not in wanted]
    changed, again = [], []
    for version, row in stored.items():
        put = wanted.get(version)
        if put is None or _same(row, put):
            continue
        old = BodyKey(context, row.id)
        if put.id == row.id or old in state.displaced or row.id in held:
            changed.append(put)
        else:
            gone.append(row)
            again.append(put)
    free = tuple(put for put in puts if put.version not in stored)
    hidden = None if gone else _hidden(rows, wanted, free)
    return Differences(free, tuple(changed) if hidden is None else (), hidden, tuple(gone), tuple(again))


def _same(row: Row, put: Put) -> bool:
    return (row.id, row.guid, row.deleted, row.ts) == (put.id, put.guid, put.deleted, put.ts)


def _hidden(rows: Sequence[Row], wanted: dict[Version, Put], free: Sequence[Put]) -> Version | None:
    """Through which version all is to be hidden by one commit; None where that is not the whole difference."""
    through = max((row.version for row in rows if not row.deleted), default=None)
    only_that = all(_same(replace(row, deleted=True), wanted[row.version]) for row in rows)
    if through is None or not only_that or any(put.version < through for put in free):
        return None
    return through


def hide(resources: Resources, subject: Subject, through: Version) -> int:
    """What is active up to the version is soft-deleted, and keeps its time; how many versions that were."""

    def attempt() -> int:
        head = resources.catalog.snapshot(subject).head
        active = [row for row in resources.catalog.history(subject) if not row.deleted and row.version <= through]
        if active:
            commit(resources, SubjectDeleted(head, through, resources.clock.now(), nonce()))
        return len(active)

    return insist(resources, attempt)


def write_over(resources: Resources, put: Put, target_of: TargetOf, report: Report, *, once_more: bool = False) -> bool:
    """The version stands as it is told, in the place of what stood there. False where its id means another schema.

    once_more: also where it stands like that, so that it is what was written last.
    """
    placed = place_body(resources, put, target_of, report)
    if isinstance(placed, str):
        report.tell(CONFLICTING, "version", named(put), placed)
        return False
    others = sorted(placed.others, key=str)

    def attempt() -> None:
        place = VersionKey(put.subject, put.version)
        snapshot = resources.catalog.snapshot(
            put.subject, wanted=[place, *(VersionKey(other, Version(1)) for other in others)]
        )
        standing = snapshot.rows.get(place)
        if standing is not None and _same(standing, put) and not once_more:
            return
        schema = put.schema
        revision = snapshot.head.revision + 1
        row = Row(put.version, put.id, put.guid, schema.type, schema.references, put.deleted, put.ts, revision)
        commit(
            resources,
            Registered(
                snapshot.head,
                row,
                resources.clock.now(),
                nonce(),
                targets=placed.targets,
                seen=tuple(snapshot.heads[other] for other in others),
                digests=placed.digests,
                imported=True,
            ),
        )

    insist(resources, attempt)
    if placed.body is not None:
        # It may have been buried meanwhile; the burial looks once more after its tombstone.
        resources.bodies.revive(key_of(put), placed.body)
    return True


def remove(resources: Resources, subject: Subject, gone: Sequence[Row]) -> None:
    """These versions are gone for good; with the last one the subject's settings.

    First softly, as the verbs do it, so that a journal that is read elsewhere tells no step that is not one.
    """

    def attempt() -> None:
        head = resources.catalog.snapshot(subject).head
        rows = resources.catalog.history(subject)
        left = {row.version: row for row in rows if row.version in {each.version for each in gone}}
        if not left:
            return
        marks = resources.clock.now(), nonce()
        if len(left) == len(rows):
            if head.newest is not None:
                commit(resources, SubjectDeleted(head, head.newest.version, *marks))
                head = resources.catalog.snapshot(subject).head
                rows = resources.catalog.history(subject)
            commit(resources, SubjectPurged(head, rows, resources.clock.now(), nonce()))
            return
        for row in left.values():
            _remove_version(resources, subject, row.version)

    insist(resources, attempt)


def _remove_version(resources: Resources, subject: Subject, version: Version) -> None:
    place = VersionKey(subject, version)
    for change in (VersionDeleted, VersionPurged):
        seen = resources.catalog.snapshot(subject, wanted=[place])
        row = seen.rows.get(place)
        if row is not None and (change is VersionPurged or not row.deleted):
            commit(resources, change(seen.head, row, resources.clock.now(), nonce()))
