"""A change as a row of the journal tells it (`commits`), read on what stands where it is carried out once more.

A kind that is not known here, or one that says something else, is an `UnknownCommit`: nothing is concluded from it.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Final, Protocol

from sigla import records
from sigla.associations import records as association_records
from sigla.associations.nouns import Associations
from sigla.changes import (
    AssociationsChanged,
    Change,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    DeksChanged,
    DekWrite,
    Displaced,
    ExporterChanged,
    Head,
    IdBuried,
    ImportBegun,
    Imported,
    ImportedVersion,
    KekChanged,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.errors import StoreError
from sigla.exporters import records as exporter_records
from sigla.exporters.nouns import START, ExporterState
from sigla.journal.rows import Effects
from sigla.keks import records as key_records
from sigla.model import LATEST, Guid, Row, SchemaId, Settings, Subject, Target, Version
from sigla.ports.inventory import UNFIT
from sigla.ports.subjects import Snapshot, VersionKey

Json = dict[str, Any]


class UnknownCommit(StoreError):
    """A row that does not say what was done, or says it in words that this release does not know."""


class StandingSubjects(Protocol):
    """The part of `ports.Catalog` that tells what stood before a change, where it is carried out once more."""

    def snapshot(self, subject: Subject, /, *, wanted: Sequence[VersionKey] = ()) -> Snapshot: ...
    def history(self, subject: Subject, /) -> tuple[Row, ...]: ...


def change_of(row: Mapping[str, Any], standing: StandingSubjects) -> Change:
    """The change that a row tells of, on what stands here. Raises UnknownCommit, StoreError.

    It rests on what it rested on there: a store that has come to something else finds a Conflict.
    """
    read = _READERS.get(row.get("change", ""))
    if read is None:
        raise UnknownCommit(f"the journal tells of a change of an unknown kind, {row.get('change')!r}")
    if "commit" not in row:
        raise UnknownCommit(f"the journal does not tell what a {row['change']} needs to be carried out once more")
    try:
        return read(_ToldChange(row["commit"]["change"], row["ts"], row["nonce"]), standing)
    except UNFIT as wrong:
        raise UnknownCommit(f"what the journal tells of a {row['change']} cannot be read") from wrong


def effects_of(row: Mapping[str, Any]) -> Effects:
    """What a commit found, as its row tells it. Raises UnknownCommit."""
    try:
        return _effects(row["commit"].get("effects", {}))
    except UNFIT as wrong:
        raise UnknownCommit(f"what a {row.get('change')!r} of the journal found cannot be read") from wrong


ToldHead = tuple[Subject, int, int]
"""A subject, its revision and how often it was referred to, before a commit."""


def heads_of(row: Mapping[str, Any]) -> tuple[Sequence[ToldHead], Sequence[ToldHead]]:
    """The subjects that the change of a row moves, and those that it rests on besides. Raises UnknownCommit."""
    try:
        change = row["commit"]["change"]
        moved = change["heads"] if "heads" in change else [change["head"]] if "head" in change else []
        within = change.get("registered", ()) if "heads" in change else [change] if "head" in change else []
        return _told_heads(moved), _told_heads([head for each in within for head in each.get("seen", ())])
    except UNFIT as wrong:
        raise UnknownCommit(f"what a {row.get('change')!r} of the journal is about cannot be read") from wrong


def targets_of(row: Mapping[str, Any]) -> frozenset[Subject]:
    """The subjects that the schemas of a row reference. Raises UnknownCommit."""
    try:
        change = row["commit"]["change"]
        within = [change, *change.get("registered", ())]
        versions = [version for each in within for version in (each, *each.get("versions", ()))]
        return frozenset(Subject(context, name) for each in versions for context, name, *_ in each.get("targets", ()))
    except UNFIT as wrong:
        raise UnknownCommit(f"what a {row.get('change')!r} of the journal references cannot be read") from wrong


def _told_heads(forms: Sequence[Sequence[Any]]) -> Sequence[ToldHead]:
    return [(Subject(context, name), revision, referred) for context, name, revision, referred in forms]


class _ToldChange:
    """The form of one change, with the marks that all have."""

    def __init__(self, form: Json, ts: int, nonce: str) -> None:
        self.form = form
        self.ts = ts
        self.nonce = nonce

    def __getitem__(self, name: str) -> Any:
        return self.form[name]

    @property
    def marks(self) -> Json:
        return {"ts": self.ts, "nonce": self.nonce}

    @property
    def head(self) -> list[Any]:
        found: list[Any] = self.form["head"]
        return found


class _Before:
    """What stood before a change, of the subjects that it names by their heads."""

    def __init__(self, standing: StandingSubjects, heads: Sequence[Sequence[Any]], numbers: Iterable[int] = ()) -> None:
        """numbers: versions of the first of them."""
        first, *others = _told_heads(heads)
        self._subject = first[0]
        wanted = [VersionKey(self._subject, Version(number)) for number in numbers]
        wanted += [VersionKey(subject, LATEST) for subject, _, _ in others]
        self._found = standing.snapshot(self._subject, wanted=wanted)
        self.heads = tuple(self._head(*each) for each in (first, *others))

    def rows(self, numbers: Sequence[int]) -> tuple[Row, ...]:
        """Raises LookupError for one that does not stand here."""
        return tuple(self._found.rows[VersionKey(self._subject, Version(number))] for number in numbers)

    def _head(self, subject: Subject, revision: int, referred: int) -> Head:
        return replace(self._found.heads[subject], revision=revision, referred=referred)


def _registered(told: _ToldChange, standing: StandingSubjects) -> Registered:
    purged = told.form.get("purged", ())
    before = _Before(standing, [told.head, *told.form.get("seen", ())], purged)
    version = _told_version(told.form)
    return Registered(
        before.heads[0],
        version.row,
        told.ts,
        told.nonce,
        before.rows(purged),
        version.targets,
        before.heads[1:],
        version.digests,
        imported=told.form.get("imported", False),
    )


def _imported(told: _ToldChange, standing: StandingSubjects) -> Imported:
    before = _Before(standing, [told.head, *told.form.get("seen", ())])
    versions = tuple(map(_told_version, told["versions"]))
    return Imported(before.heads[0], versions, told.ts, told.nonce, before.heads[1:])


def _displaced(told: _ToldChange, standing: StandingSubjects) -> Displaced:
    before = _Before(standing, [told.head], told["standing"])
    row, rows = records.row(told["row"]), before.rows(told["standing"])
    return Displaced(before.heads[0], row, rows, told.ts, told.nonce, told["known"])


def _version_deleted(told: _ToldChange, standing: StandingSubjects) -> VersionDeleted:
    head, row = _head_and_row(told, standing)
    return VersionDeleted(head, row, told.ts, told.nonce)


def _version_purged(told: _ToldChange, standing: StandingSubjects) -> VersionPurged:
    head, row = _head_and_row(told, standing)
    return VersionPurged(head, row, told.ts, told.nonce)


def _head_and_row(told: _ToldChange, standing: StandingSubjects) -> tuple[Head, Row]:
    before = _Before(standing, [told.head], [told["version"]])
    (row,) = before.rows([told["version"]])
    return before.heads[0], row


def _subject_deleted(told: _ToldChange, standing: StandingSubjects) -> SubjectDeleted:
    (head,) = _Before(standing, [told.head]).heads
    return SubjectDeleted(head, Version(told["through"]), **told.marks)


def _subject_purged(told: _ToldChange, standing: StandingSubjects) -> SubjectPurged:
    (head,) = _Before(standing, [told.head]).heads
    return SubjectPurged(head, standing.history(head.subject), **told.marks)


def _config_changed(told: _ToldChange, standing: StandingSubjects) -> ConfigChanged:
    config = None if told["config"] is None else records.config(told["config"])
    return ConfigChanged(*_scope_and_seen(told, standing), config, **told.marks)


def _mode_changed(told: _ToldChange, standing: StandingSubjects) -> ModeChanged:
    return ModeChanged(*_scope_and_seen(told, standing), told["mode"], **told.marks)


def _import_begun(told: _ToldChange, standing: StandingSubjects) -> ImportBegun:
    return ImportBegun(*_scope_and_seen(told, standing), **told.marks)


def _scope_and_seen(told: _ToldChange, standing: StandingSubjects) -> tuple[Subject, Settings]:
    scope = Subject(*told["scope"])
    return scope, replace(standing.snapshot(scope).chain.own, revision=told["seen"])


def _kek_changed(told: _ToldChange, _: StandingSubjects) -> KekChanged:
    seen, kek = (told[name] and key_records.kek(told[name]) for name in ("seen", "kek"))
    return KekChanged(told["name"], seen, kek, told.ts, told.nonce, told["unused"])


def _deks_changed(told: _ToldChange, _: StandingSubjects) -> DeksChanged:
    deks = (DekWrite(*(each and key_records.dek(each) for each in write)) for write in told["deks"])
    return DeksChanged(key_records.kek(told["kek"]), tuple(deks), **told.marks)


def _associations_changed(told: _ToldChange, standing: StandingSubjects) -> AssociationsChanged:
    within = [_ToldChange(each, each["ts"], each["nonce"]) for each in told.form.get("registered", ())]
    purged = [_ToldChange(each, each["ts"], each["nonce"]) for each in told.form.get("purged", ())]
    return AssociationsChanged(
        told["resource"],
        _associations(told, "seen"),
        _Before(standing, told["heads"]).heads,
        told.ts,
        told.nonce,
        _associations(told, "written"),
        _associations(told, "removed"),
        tuple(_registered(each, standing) for each in within),
        tuple(_subject_purged(each, standing) for each in purged),
    )


def _exporter_changed(told: _ToldChange, _: StandingSubjects) -> ExporterChanged:
    seen, exporter = (told[name] and exporter_records.exporter(told[name]) for name in ("seen", "exporter"))
    state, position = ExporterState(told["state"]), START if told["restarted"] else None
    return ExporterChanged(told["name"], seen, exporter, told.ts, told.nonce, state, position)


_READERS: Final[Mapping[str, Callable[[_ToldChange, StandingSubjects], Change]]] = {
    "Registered": _registered,
    "Imported": _imported,
    "Displaced": _displaced,
    "VersionDeleted": _version_deleted,
    "SubjectDeleted": _subject_deleted,
    "VersionPurged": _version_purged,
    "SubjectPurged": _subject_purged,
    "ConfigChanged": _config_changed,
    "ModeChanged": _mode_changed,
    "ImportBegun": _import_begun,
    "ContextListed": lambda told, _: ContextListed(told["context"], **told.marks),
    "ContextDropped": lambda told, _: ContextDropped(told["context"], **told.marks),
    "NumberingSet": lambda told, _: NumberingSet(
        told["context"], SchemaId(told["seen"]), SchemaId(told["after"]), **told.marks
    ),
    "IdBuried": lambda told, _: IdBuried(
        Subject(*told["subject"]), Version(told["version"]), SchemaId(told["id"]), Guid(told["guid"]), **told.marks
    ),
    "KekChanged": _kek_changed,
    "DeksChanged": _deks_changed,
    "AssociationsChanged": _associations_changed,
    "ExporterChanged": _exporter_changed,
}
"""By the name that a row says."""


def _told_version(form: Json) -> ImportedVersion:
    targets = (
        Target(context, subject, Version(version), SchemaId(id))
        for context, subject, version, id in form.get("targets", ())
    )
    return ImportedVersion(records.row(form["row"]), tuple(targets), tuple(form["digests"]))


def _associations(told: _ToldChange, name: str) -> Associations:
    return tuple(map(association_records.from_row, told.form.get(name, ())))


def _effects(form: Json) -> Effects:
    purged = ((Subject(context, name), versions) for context, name, versions in form.get("purged", ()))
    return Effects(
        form.get("listed", False),
        tuple((subject, Version(version)) for subject, versions in purged for version in versions),
        form.get("partial", False),
        form.get("config", False),
        form.get("mode", False),
        tuple(map(_effects, form.get("parts", ()))),
        tuple((Subject(context, name), revision) for context, name, revision in form.get("cleared", ())),
        {name: int(number) for name, number in form.get("moved", {}).items()},
    )
