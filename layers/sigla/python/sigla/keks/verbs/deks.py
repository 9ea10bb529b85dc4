"""DEKs: create, read, delete, undelete (KEY-8 to KEY-11, KEY-14)."""

from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from sigla.changes import DEKS_AT_ONCE, DeksChanged, DekWrite
from sigla.errors import InvalidVersion
from sigla.keks.material import Material, offered
from sigla.keks.nouns import FIRST_VERSION, HIGHEST_VERSION, Algorithm, Dek, DekDraft, DekName, Kek, named
from sigla.keks.refusals import KekSoftDeleted, KeyExists, KeyNotSoftDeleted
from sigla.keks.rules import check_kek_name, check_material, check_subject, replaces_dek
from sigla.keks.verbs.asking import Place, Standing, existing, found_kek, placed
from sigla.model import Subject, Version
from sigla.registry import Resources
from sigla.registry.steps.committing import commit, nonce, until_committed

CREATING, DELETING, UNDELETING = "Create key operation", "Delete key operation", "Undelete key operation"


class ShownDek(NamedTuple):
    """A DEK as it is answered. raw: its key, under a KEK that is shared (KEY-14)."""

    dek: Dek
    raw: str | None = None

    def __repr__(self) -> str:
        """Leaves the raw key out: a text may end in a log."""
        return f"ShownDek(dek={self.dek!r})"


# --- creating --------------------------------------------------------------------------------------------------------


def create_dek(resources: Resources, kek: str, subject: Subject, draft: DekDraft) -> ShownDek:
    """A version is stored as it is offered; the path says whose it is. Raises as `_create` does."""
    return _create(resources, placed(resources, kek, subject, draft.algorithm), draft)


def create_dek_named(resources: Resources, kek: str, draft: DekDraft) -> ShownDek:
    """The deprecated form: the body says whose it is, and no alias is followed (KEY-10). Raises as `_create` does."""
    check_kek_name(kek)
    subject = check_subject(draft.subject)
    name = DekName(kek, named(subject), draft.algorithm)
    return _create(resources, Place(subject, name, resources.look(name.subject).importing), draft)


def _create(resources: Resources, place: Place, draft: DekDraft) -> ShownDek:
    """Raises InvalidKeyField, InvalidVersion, KeyNotFound, KeyExists, KmsFailed."""
    check_material(draft.material)
    made: dict[tuple[str, str], Material] = {}  # an attempt that lost a race leaves it to the next one

    def attempt() -> ShownDek:
        seen = resources.catalog.deks_of(place.name, draft.version)
        kek = found_kek(seen.kek, place.name.kek, deleted=draft.deleted)  # KEY-8
        if not FIRST_VERSION <= draft.version <= HIGHEST_VERSION:  # others could not be listed (KEY-8)
            raise InvalidVersion(version=draft.version)
        stands = seen.deks[0] if seen.deks else None
        _check_free(stands, place, draft)  # KEY-9
        seen_as = kek.revision, stands.revision if stands else ""
        if seen_as not in made:
            made[seen_as] = _material(resources, kek, place, draft, stands)  # KEY-8, KEY-14
        material = made[seen_as]
        ts, mark = resources.clock.now(), nonce()
        spelled = stands.subject if stands else place.subject  # KEY-10
        dek = Dek(
            kek.name, spelled, draft.algorithm, draft.version, material.wrapped, draft.deleted, ts=ts, revision=mark
        )
        commit(resources, DeksChanged(kek, (DekWrite(stands, dek),), ts, mark))
        return ShownDek(dek, material.raw)

    return until_committed(resources, CREATING, attempt)


def _check_free(stands: Dek | None, place: Place, draft: DekDraft) -> None:
    if stands is None or draft.rewrap or replaces_dek(stands, deleted=draft.deleted, material=draft.material):
        return
    raise KeyExists(key=place.subject)


def _material(resources: Resources, kek: Kek, place: Place, draft: DekDraft, stands: Dek | None) -> Material:
    if not kek.shared:
        return offered(draft)
    return resources.materials.made(kek, draft, place.subject, stands, importing=place.importing)


# --- reading ---------------------------------------------------------------------------------------------------------


def read_dek(
    resources: Resources, kek: str, subject: Subject, version: Version, algorithm: Algorithm, *, deleted: bool = False
) -> ShownDek:
    """One version; LATEST is the highest that may be seen (KEY-11). Raises InvalidKeyField, KeyNotFound, KmsFailed."""
    place = placed(resources, kek, subject, algorithm)
    found = existing(resources, place, version, deleted=deleted)
    dek = found.deks[0]
    return ShownDek(dek, resources.materials.shown(found.kek, dek) if found.kek.shared else None)


# --- deleting and undeleting -----------------------------------------------------------------------------------------


def delete_deks(
    resources: Resources,
    kek: str,
    subject: Subject,
    version: Version | None,
    algorithm: Algorithm,
    *,
    permanent: bool = False,
) -> None:
    """Softly, or for good what is soft-deleted. version: None for all of the algorithm.

    Raises InvalidKeyField, KeyNotFound, KeyNotSoftDeleted.
    """
    place = placed(resources, kek, subject, algorithm)

    def attempt() -> None:
        found = existing(resources, place, version)
        if not permanent:
            _mark(resources, found, deleted=True)
            return
        if not all(dek.deleted for dek in found.deks):
            raise KeyNotSoftDeleted(key=place.subject)
        _commit(resources, found.kek, [DekWrite(dek, None) for dek in found.deks])

    until_committed(resources, DELETING, attempt)


def undelete_deks(
    resources: Resources, kek: str, subject: Subject, version: Version | None, algorithm: Algorithm
) -> None:
    """version: None for all of the algorithm. Raises InvalidKeyField, KeyNotFound, KekSoftDeleted."""
    place = placed(resources, kek, subject, algorithm)

    def attempt() -> None:
        found = existing(resources, place, version)
        if found.kek.deleted:
            raise KekSoftDeleted(key=kek)
        _mark(resources, found, deleted=False)

    until_committed(resources, UNDELETING, attempt)


def _mark(resources: Resources, found: Standing, *, deleted: bool) -> None:
    """Those that are so already keep their time."""
    others = [dek for dek in found.deks if dek.deleted != deleted]
    _commit(resources, found.kek, [DekWrite(dek, replace(dek, deleted=deleted)) for dek in others])


def _commit(resources: Resources, kek: Kek, writes: Sequence[DekWrite]) -> None:
    """In one commit, as long as there are no more than fit into one; ascending, as the topic has them."""
    for at in range(0, len(writes), DEKS_AT_ONCE):
        ts, mark = resources.clock.now(), nonce()
        some = writes[at : at + DEKS_AT_ONCE]
        marked = tuple(DekWrite(each.seen, each.dek and replace(each.dek, ts=ts, revision=mark)) for each in some)
        commit(resources, DeksChanged(kek, marked, ts, mark))
