"""Versions with their ids: what is there already, bodies put in place, commits of several versions."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace

from sigla.changes import IMPORTED_AT_ONCE, REFERENCED_AT_ONCE, Displaced, IdBuried, Imported, ImportedVersion
from sigla.errors import BodyDamaged, BodyLost, BodyMissing, Malformed, Taken
from sigla.journal.replay import Put
from sigla.languages import LANGUAGES
from sigla.model import Body, BodyKey, Row, SchemaId, Subject, Target, Version
from sigla.ports.subjects import VersionKey
from sigla.regions.refusals import IdMayBeGiven
from sigla.registry.resources import Resources
from sigla.registry.steps.committing import commit, nonce
from sigla.rules import names, references
from sigla.upkeep.importing.insisting import insist
from sigla.upkeep.importing.report import CONFLICTING, IDENTICAL, IMPORTED, SKIPPED, Report

NOWHERE = SchemaId(-1)
"""What a reference means whose target is unknown: no body can stand under it."""

TargetOf = Callable[[Subject, Version], SchemaId | None]
"""Which id a version has, as far as the source or this registry knows."""

OTHER_VERSION = "another version stands under its number"
OTHER_LIFE = "the same version stands here, with another time or another state of deletion"
OTHER_MEANING = "its id belongs to another schema here"
USED_UP = (
    "its id belonged to another schema here, which was deleted for good, or whose registration was cut off, and keeps "
    "that meaning: import into a new context, or into a registry of a new name or directory"
)
TOO_LONG = "its text is longer than this registry takes"
TOO_MANY = f"it references more than {references.MOST_SUBJECTS} subjects"
NOT_UNDERSTOOD = "stored as it is; this registry does not understand its text, so nothing can be compared with it"
PUT_BACK = "its body was lost, and is put back"
UNRESOLVED = "stored as it is; what it references is not known"


@dataclass(frozen=True, slots=True)
class Placed:
    """A version whose body stands. body: to be revived once more after the commit, where one stood before."""

    put: Put
    targets: tuple[Target, ...]
    digests: tuple[str, ...]
    body: Body | None = None

    @property
    def key(self) -> BodyKey:
        return BodyKey(self.put.subject.context, self.put.id)

    @property
    def others(self) -> set[Subject]:
        """The subjects it references, its own excepted."""
        return {Subject(each.context, each.subject) for each in self.targets} - {self.put.subject}


def compare(
    resources: Resources, subject: Subject, puts: Sequence[Put], report: Report, *, bodies: bool = False
) -> list[Put]:
    """Which of a subject's versions are still to be written; what becomes of the others is told.

    bodies: also those whose body is missing or damaged, which costs a look at each. Their place is told by `write`.
    """
    stored = {row.version: row for row in resources.catalog.history(subject)}

    def wanted(put: Put) -> bool:
        row = stored.get(put.version)
        if bodies and row is not None and _lost(resources, put, row):
            report.remark(PUT_BACK, named(put))
            return True
        return not _settled(put, row, report) and _storable(resources, put, report)

    return [put for put in puts if wanted(put)]


def place_body(
    resources: Resources, put: Put, target_of: TargetOf, report: Report, *, mend: bool = False
) -> Placed | str:
    """The body is there when it returns: put, found equal, or brought back to life. Or why not: the id means another.

    What the version references should have a body by now, or its text cannot be understood. mend: replace a damaged
    body, where this is what it was. Raises BodyDamaged where it is not replaced.
    """
    targets = tuple(targets_of(put, target_of))
    if any(target.id == NOWHERE for target in targets):
        report.remark(UNRESOLVED, named(put))
    body = Body(put.schema, put.guid, targets, put.subject, put.version, put.ts, nonce(), brought=True)
    digests, body = _understood(resources, body)
    if not digests:
        report.remark(NOT_UNDERSTOOD, named(put))
    key = BodyKey(put.subject.context, put.id)
    try:
        _put(resources, put, body, mend=mend)
    except IdMayBeGiven as refused:
        return refused.message
    except Taken as taken:
        if taken.standing.schema != put.schema:
            return USED_UP if taken.standing.gone else OTHER_MEANING
        # What its references resolved to is part of what the id has always meant.
        body = replace(body, targets=taken.standing.targets, compiled=taken.standing.compiled)
        resources.bodies.revive(key, body)
        return Placed(put, body.targets, digests, body)
    return Placed(put, targets, digests)


def displace(
    resources: Resources, put: Put, target_of: TargetOf, report: Report, *, known: bool = False, mend: bool = False
) -> None:
    """An id whose last version was written over in the source goes on meaning what it did (`changes.Displaced`).

    To be told when all versions are written. known: of all that had this content there it was written last. mend: as of
    `place_body`.
    """
    key = BodyKey(put.subject.context, put.id)
    placed = place_body(resources, put, target_of, Report(), mend=mend)
    if isinstance(placed, str):
        report.tell(CONFLICTING, "id", _shown(key), placed)
        return

    def attempt() -> bool:
        last = resources.catalog.displaced(key)
        here = last is not None and (last.subject, last.version) == (put.subject, put.version)
        if here or resources.catalog.holders(key):
            return False
        head = resources.catalog.snapshot(put.subject).head
        # What is not known by this id was written before all that stands: 0 would say that no catalog told it.
        row = _imported_row(put, head.revision + 1 if known else 1)
        standing = tuple(_told_again(resources, put, known=known))
        commit(resources, Displaced(head, row, standing, resources.clock.now(), nonce(), known=known))
        return True

    report.tell(IMPORTED if insist(resources, attempt) else IDENTICAL, "id", _shown(key))
    if placed.body is not None:
        # It may have been buried meanwhile; the burial looks once more after its tombstone.
        resources.bodies.revive(key, placed.body)


def _told_again(resources: Resources, put: Put, *, known: bool) -> Iterator[Row]:
    """What stands in the place of a displaced version; then the last words on both contents, where they are here."""
    rows = {row.version: row for row in resources.catalog.history(put.subject)}
    standing = rows.get(put.version)
    guids = [put.guid] if not known else []
    if standing is not None:
        yield standing
        guids.append(standing.guid)
    ids = {resources.catalog.id_of(put.subject.context, guid) for guid in guids}
    yield from (row for row in rows.values() if row.id in ids and row != standing)


def bury(resources: Resources, put: Put, target_of: TargetOf, report: Report, *, mend: bool = False) -> None:
    """What an id meant that no version holds any more stays readable, for records that bear it.

    mend: as of `place_body`.
    """
    key = BodyKey(put.subject.context, put.id)
    targets = tuple(targets_of(put, target_of))
    _, body = _understood(resources, Body(put.schema, put.guid, targets, put.subject, put.version, put.ts, nonce()))
    try:
        _put(resources, put, replace(body, gone=True), mend=mend)
    except Taken as taken:
        if taken.standing.schema != put.schema:
            report.tell(CONFLICTING, "id", _shown(key), OTHER_MEANING)
            return
        # Whoever was cut off between the body and its commit does it again.
        if _is_told(resources, key, taken.standing.subject) or _is_told(resources, key, put.subject):
            report.tell(IDENTICAL, "id", _shown(key))
            return
    change = IdBuried(put.subject, put.version, put.id, put.guid, resources.clock.now(), nonce())
    insist(resources, lambda: commit(resources, change))
    report.tell(IMPORTED, "id", _shown(key))


def _is_told(resources: Resources, key: BodyKey, subject: Subject) -> bool:
    """Whether a commit has said what the id is, as far back as anything keeps them."""
    return subject.context == key.context and any(
        matter.id == key.id for entry in resources.catalog.commits_about(subject) for matter in entry.matters
    )


def targets_of(put: Put, target_of: TargetOf) -> Iterator[Target]:
    """What each of the version's references means."""
    for reference in put.schema.references:
        subject = names.reference_target(reference.subject, put.subject.context)
        id = target_of(subject, reference.version)
        yield Target(subject.context, subject.name, reference.version, NOWHERE if id is None else id)


def batches(placed: Iterable[Placed]) -> Iterator[list[Placed]]:
    """The versions of one subject, in batches for one commit each.

    The later of two versions with one id speaks for it, whatever their numbers: they go one after the other.
    """
    batch: list[Placed] = []
    others: set[Subject] = set()
    for each in sorted(placed, key=lambda each: each.put.offset):
        full = len(batch) == IMPORTED_AT_ONCE or len(others | each.others) > REFERENCED_AT_ONCE
        if batch and (full or any(each.put.id == before.put.id for before in batch)):
            yield batch
            batch, others = [], set()
        batch.append(each)
        others |= each.others
    if batch:
        yield batch


def write(resources: Resources, subject: Subject, batch: Sequence[Placed], report: Report) -> None:
    """Commits versions of one subject; what another writer has stored meanwhile is told as it is found."""

    def attempt() -> tuple[list[Placed], Report]:
        found = Report()
        seen = sorted(set().union(*(each.others for each in batch)), key=str)
        wanted = [VersionKey(subject, each.put.version) for each in batch]
        snapshot = resources.catalog.snapshot(
            subject, wanted=wanted + [VersionKey(other, Version(1)) for other in seen]
        )
        left = [
            each
            for each, key in zip(batch, wanted, strict=True)
            if not _settled(each.put, snapshot.rows.get(key), found)
        ]
        if left:
            versions = tuple(
                ImportedVersion(_imported_row(each.put, snapshot.head.revision + 1), each.targets, each.digests)
                for each in left
            )
            heads = tuple(snapshot.heads[other] for other in seen)
            commit(resources, Imported(snapshot.head, versions, resources.clock.now(), nonce(), seen=heads))
        return left, found

    left, found = insist(resources, attempt)
    for each in left:
        if each.body is not None:
            # It may have been buried meanwhile; the burial looks once more after its tombstone.
            resources.bodies.revive(each.key, each.body)
        report.tell(IMPORTED, "version", named(each.put))
    report.add(found)


def named(put: Put) -> str:
    return f"{put.subject} version {put.version} id {put.id}"


# --- one version -----------------------------------------------------------------------------------------------------


def _settled(put: Put, row: Row | None, report: Report) -> bool:
    """Whether its number is taken, by itself or by another."""
    if row is None:
        return False
    ours, theirs = _imported_row(put, row.revision), row
    if ours == theirs:
        report.tell(IDENTICAL, "version", named(put))
    else:
        same = replace(ours, deleted=theirs.deleted, ts=theirs.ts) == theirs
        report.tell(CONFLICTING, "version", named(put), OTHER_LIFE if same else OTHER_VERSION)
    return True


def _lost(resources: Resources, put: Put, row: Row) -> bool:
    """Whether the same content stands under its number and no body says what it is."""
    if (row.id, row.guid) != (put.id, put.guid):
        return False
    try:
        resources.bodies.get(BodyKey(put.subject.context, put.id))
    except BodyLost:
        return True
    return False


def _put(resources: Resources, put: Put, body: Body, *, mend: bool) -> None:
    """Puts the body, over a damaged one only where that was this one. Raises Taken, BodyDamaged, IdMayBeGiven."""
    key = BodyKey(put.subject.context, put.id)
    resources.catalog.admit(key, put.guid)
    try:
        resources.bodies.put(key, body)
    except BodyDamaged:
        if not mend or not _was(resources, put, key):
            raise
        resources.bodies.mend(key, body, None)


def _was(resources: Resources, put: Put, key: BodyKey) -> bool:
    """Whether the id had this content: a version says so, or the way from its guid, if the id has no holder."""
    holders = resources.catalog.holders(key)
    if not holders:
        return key in resources.bodies.named(put.guid)
    row = resources.look(holders[0].subject, versions=(holders[0].version,)).row(holders[0].version)
    return row is not None and (row.id, row.guid, row.type) == (put.id, put.guid, put.schema.type)


def _storable(resources: Resources, put: Put, report: Report) -> bool:
    why = ""
    if len(put.schema.text.encode("utf-8", "replace")) > resources.options.schema_bytes:
        why = TOO_LONG
    elif len({names.reference_target(each.subject, put.subject.context) for each in put.schema.references}) > (
        references.MOST_SUBJECTS
    ):
        why = TOO_MANY
    if why:
        report.tell(SKIPPED, "version", named(put), why)
    return not why


def _imported_row(put: Put, revision: int) -> Row:
    schema = put.schema
    return Row(
        put.version, put.id, put.guid, schema.type, schema.references, deleted=put.deleted, ts=put.ts, revision=revision
    )


def _understood(resources: Resources, body: Body) -> tuple[tuple[str, ...], Body]:
    """Its equivalence digest, and the body with its compiled form; nothing where our languages cannot read it."""
    language = LANGUAGES.get(body.schema.type)
    if language is None:
        return (), body
    try:
        texts = references.resolve(body.schema.references, body.targets, resources.bodies.get)
        parsed = language.parse(body.schema.text, texts, False)  # noqa: FBT003 - leniently; a plain function
        return (language.digest(parsed),), replace(body, compiled=language.compiled(parsed))
    except (Malformed, BodyMissing):
        return (), body


def _shown(key: BodyKey) -> str:
    return f"id {key.id} of context {key.context}"
