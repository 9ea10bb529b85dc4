"""Soft and permanent deletes, with every precondition (DEL-1 to DEL-14).

The order of the checks is part of the contract: it decides which refusal a client meets first (docs/api.md §6).
"""

from collections.abc import Sequence

from sigla.associations.refusals import LastAssociatedVersion, SubjectAssociated
from sigla.changes import SubjectDeleted, SubjectPurged, VersionDeleted, VersionPurged
from sigla.errors import (
    Conflict,
    Referenced,
    Refusal,
    SubjectNotFound,
    SubjectNotSoftDeleted,
    SubjectSoftDeleted,
    VersionNotFound,
)
from sigla.model import LATEST, Row, Subject, Version
from sigla.registry.resources import Resources, View
from sigla.registry.steps.committing import commit, nonce, until_committed
from sigla.rules.subject import LIFE, Act, State, check_writable


def delete_version(resources: Resources, subject: Subject, version: Version, *, permanent: bool = False) -> Version:
    """The number that was deleted.

    Raises VersionSoftDeleted, SubjectNotFound, VersionNotFound, ReadOnly, Referenced, VersionNotSoftDeleted, in this
    order.
    """

    def attempt() -> Version:
        view = resources.ask(subject, versions=(version,))
        row = _existing(view, version)  # DEL-3
        if not permanent:
            _check_act(view, row, Act.DELETE)  # DEL-2
        check_writable(view.subject, view.mode)  # DEL-4
        if not permanent:
            _check_not_last_associated(resources, view, row)  # ASC-8
        _check_version_unreferenced(resources, view, row, permanent=permanent)  # DEL-5
        if permanent:
            _check_act(view, row, Act.PURGE)  # DEL-6, DEL-7
        change = VersionPurged if permanent else VersionDeleted  # DEL-8
        commit(resources, change(view.head, row, resources.clock.now(), nonce()))
        return row.version

    return until_committed(resources, "Delete Schema Version operation", attempt)


def delete_subject(resources: Resources, subject: Subject, *, permanent: bool = False) -> list[Version]:
    """The numbers that were deleted: the active ones, or with `permanent` all.

    Nothing changes if one of them may not go.

    Raises SubjectNotFound, SubjectSoftDeleted, ReadOnly, Referenced, SubjectNotSoftDeleted.
    """

    def attempt() -> list[Version]:
        view = resources.ask(subject)
        if not view.head.highest:  # DEL-9
            raise SubjectNotFound(subject=view.subject)
        if not permanent and view.head.newest is None:  # DEL-10
            raise SubjectSoftDeleted(subject=view.subject)
        check_writable(view.subject, view.mode)  # DEL-11
        if view.head.associations:  # ASC-8
            raise SubjectAssociated(subject=view.subject)
        rows = [row for row in resources.catalog.history(view.subject) if permanent or not row.deleted]
        if not rows:
            raise Conflict  # another writer has deleted them since we asked
        _check_subject_may_go(resources, view, rows, permanent=permanent)  # DEL-12, DEL-13
        ts, mark = resources.clock.now(), nonce()
        if permanent:
            commit(resources, SubjectPurged(view.head, tuple(rows), ts, mark))
        else:
            commit(resources, SubjectDeleted(view.head, rows[-1].version, ts, mark))
        return [row.version for row in rows]  # DEL-14

    return until_committed(resources, "Delete subject operation", attempt)


def _existing(view: View, version: Version) -> Row:
    row = view.row(version)
    if row is not None:
        return row
    if version == LATEST and view.head.highest:
        raise VersionNotFound(version=version)
    raise VersionNotFound(version=version) if view.head.highest else SubjectNotFound(subject=view.subject)


def _check_act(view: View, row: Row, act: Act) -> None:
    """Whether the row's state allows the act (`LIFE`)."""
    outcome = LIFE[State.SOFT_DELETED if row.deleted else State.LIVE, act]
    if isinstance(outcome, type) and issubclass(outcome, Refusal):
        raise outcome(subject=view.subject, version=row.version)


def _check_not_last_associated(resources: Resources, view: View, row: Row) -> None:
    """A topic goes on using its subject: one active version stays."""
    if not view.head.associations:
        return
    if all(each.deleted or each.version == row.version for each in resources.catalog.history(view.subject)):
        raise LastAssociatedVersion(subject=view.subject)


def _check_version_unreferenced(resources: Resources, view: View, row: Row, *, permanent: bool) -> None:
    """A soft delete minds active referrers, a permanent one all; the subject's own versions count."""
    for _, referrer in resources.catalog.referrers(view.subject, row.version):
        if permanent or not referrer.deleted:
            raise Referenced(subject=view.subject, version=row.version)


def _check_subject_may_go(resources: Resources, view: View, rows: Sequence[Row], *, permanent: bool) -> None:
    """Version by version, ascending: is it referenced from another subject, is it still active?

    References within the subject do not hold it back.
    """
    held = {
        version
        for version, referrer in resources.catalog.referrers(view.subject)
        if referrer.subject != view.subject and (permanent or not referrer.deleted)
    }
    for row in rows:
        if row.version in held:
            raise Referenced(subject=view.subject, version=row.version)
        if permanent and not row.deleted:
            raise SubjectNotSoftDeleted(subject=view.subject)
