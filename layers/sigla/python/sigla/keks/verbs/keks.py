"""KEKs: create, read, update, delete, undelete, test (KEY-1 to KEY-7)."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from sigla.changes import KekChanged
from sigla.keks.nouns import Kek, KekDraft
from sigla.keks.refusals import InvalidKeyField, KekInUse, KeyNotFound, KeyNotSoftDeleted
from sigla.keks.rules import check_kek_name, check_kek_replaces, kek_from, same_kek, storable
from sigla.keks.verbs.asking import found_kek
from sigla.registry import Resources
from sigla.registry.steps.committing import commit, nonce, until_committed

CREATING, UPDATING, DELETING = "Create key operation", "Update key operation", "Delete key operation"


def create_kek(resources: Resources, draft: KekDraft, *, test_sharing: bool = False) -> Kek:
    """The KEK as it is stored. One that stands is undeleted or deleted by an equal one (KEY-4).

    Raises InvalidKeyField, KmsFailed, KeyExists.
    """
    offered = kek_from(draft)  # KEY-2
    if test_sharing and offered.shared:
        resources.materials.check(offered)  # KEY-7

    def attempt() -> Kek:
        seen = resources.catalog.kek(offered.name)
        check_kek_replaces(seen, offered)
        return _write(resources, seen, offered)

    return until_committed(resources, CREATING, attempt)


def read_kek(resources: Resources, name: str, *, deleted: bool = False) -> Kek:
    """Raises InvalidKeyField, KeyNotFound."""
    check_kek_name(name)
    return found_kek(resources.catalog.kek(name), name, deleted=deleted)


def update_kek(resources: Resources, name: str, patch: Mapping[str, Any], *, test_sharing: bool = False) -> Kek:
    """The KEK as it is stored. patch: fields of a `Kek` and their new values; what is absent stays (KEY-3).

    Raises InvalidKeyField, KeyNotFound, KmsFailed.
    """
    check_kek_name(name)

    def attempt() -> Kek:
        seen = found_kek(resources.catalog.kek(name), name, deleted=False)
        wanted = storable(replace(seen, **patch))
        if test_sharing and wanted.shared:
            resources.materials.check(wanted)  # KEY-7
        return seen if same_kek(seen, wanted) else _write(resources, seen, wanted)

    return until_committed(resources, UPDATING, attempt)


def delete_kek(resources: Resources, name: str, *, permanent: bool = False) -> None:
    """Softly, where no active DEK stands under it; for good, where no DEK does. Repeated, a soft one writes nothing.

    Raises InvalidKeyField, KeyNotFound, KekInUse, KeyNotSoftDeleted.
    """
    check_kek_name(name)

    def attempt() -> None:
        seen = _any_kek(resources, name)
        under = resources.catalog.deks_counted(name)
        if under.stored if permanent else under.active:
            raise KekInUse(key=name)
        if permanent and not seen.deleted:
            raise KeyNotSoftDeleted(key=name)
        if permanent:
            commit(resources, KekChanged(name, seen, None, resources.clock.now(), nonce()))
        elif not seen.deleted:
            _write(resources, seen, replace(seen, deleted=True), unused=True)

    until_committed(resources, DELETING, attempt)


def undelete_kek(resources: Resources, name: str) -> None:
    """Its DEKs keep their own state. Raises InvalidKeyField, KeyNotFound."""
    check_kek_name(name)

    def attempt() -> None:
        seen = _any_kek(resources, name)
        if seen.deleted:
            _write(resources, seen, replace(seen, deleted=False))

    until_committed(resources, UPDATING, attempt)


def try_kek(resources: Resources, name: str) -> Kek:
    """Whether the registry can use a shared KEK (KEY-7). Raises InvalidKeyField, KeyNotFound, KmsFailed."""
    kek = read_kek(resources, name)
    if not kek.shared:
        raise InvalidKeyField(field="shared")
    resources.materials.check(kek)
    return kek


def _any_kek(resources: Resources, name: str) -> Kek:
    """Whatever its state."""
    seen = resources.catalog.kek(name)
    if seen is None:
        raise KeyNotFound(key=name)
    return seen


def _write(resources: Resources, seen: Kek | None, wanted: Kek, *, unused: bool = False) -> Kek:
    """Each write gives the key a new time."""
    ts, mark = resources.clock.now(), nonce()
    written = replace(wanted, ts=ts, revision=mark)
    commit(resources, KekChanged(written.name, seen, written, ts, mark, unused=unused))
    return written
