"""A change as a row of the journal tells it to another region, which carries it out once more (`told_changes`).

What a change brings is told whole. What stood before it is named, by a revision or a number, and read where the change
is carried out, since it stands there as well: so a row grows by what is new, and a subject of ten thousand versions is
purged by a line. Keys, associations and exporters are told whole, before and after: they are small.

    "commit": {"change": {…}, "effects": {…}}

A row has it where its registry has a second region; its kind, its time and its nonce are the row's own.

    head                [context, name, revision, referred], as of `Head`
    scope, subject      [context, name]
    target              [context, name, version, id]
    row, config, …      as `records` and those of the other rooms have them
"""

from collections.abc import Sequence
from typing import Any, assert_never

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
from sigla.exporters import records as exporter_records
from sigla.journal.origins import Origin
from sigla.journal.rows import Effects
from sigla.keks import records as key_records
from sigla.model import Subject, Version

Json = dict[str, Any]


def for_region(change: Change, effects: Effects, epoch: int) -> Origin:
    """What a row has for another region. epoch: of this one; 0 without another one, and then nothing."""
    return {"epoch": epoch, "commit": commit_form(change, effects)} if epoch else {}


def commit_form(change: Change, effects: Effects) -> Json:
    """What a row tells of its commit, beside the row's own members."""
    form: Json = {"change": _change_form(change)}
    if found := _effects_form(effects):
        form["effects"] = found
    return form


def _change_form(change: Change) -> Json:
    match change:
        case Registered():
            return _registered_form(change)
        case Imported(head=head, versions=versions, seen=seen):
            return {"head": _head_form(head), "versions": [*map(_version_form, versions)]} | _several("seen", seen)
        case Displaced(head=head, row=row, standing=standing, known=known):
            numbers = [each.version for each in standing]
            return {"head": _head_form(head), "row": records.row_json(row), "standing": numbers, "known": known}
        case VersionDeleted(head=head, row=row) | VersionPurged(head=head, row=row):
            return {"head": _head_form(head), "version": row.version}
        case SubjectDeleted(head=head, through=through):
            return {"head": _head_form(head), "through": through}
        case SubjectPurged(head=head):
            return {"head": _head_form(head)}
        case ConfigChanged(config=config):
            return _scope_form(change) | {"config": None if config is None else records.config_json(config)}
        case ModeChanged(mode=mode):
            return _scope_form(change) | {"mode": mode}
        case ImportBegun():
            return _scope_form(change)
        case ContextListed(context=context) | ContextDropped(context=context):
            return {"context": context}
        case NumberingSet(context=context, seen=before, after=after):
            return {"context": context, "seen": before, "after": after}
        case IdBuried(subject=subject, version=version, id=id, guid=guid):
            return {"subject": [subject.context, subject.name], "version": version, "id": id, "guid": guid}
        case KekChanged(name=name, seen=kek_before, kek=kek, unused=unused):
            before_and_after = {"seen": kek_before and key_records.kek_json(kek_before)}
            return {"name": name, **before_and_after, "kek": kek and key_records.kek_json(kek), "unused": unused}
        case DeksChanged(kek=kek, deks=deks):
            return {"kek": key_records.kek_json(kek), "deks": [*map(_dek_write_form, deks)]}
        case AssociationsChanged():
            return _associations_form(change)
        case ExporterChanged():
            return _exporter_form(change)
        case _:
            assert_never(change)


def _registered_form(change: Registered) -> Json:
    form = {
        "head": _head_form(change.head),
        **_version_form(ImportedVersion(change.row, change.targets, change.digests)),
    }
    if change.purged:
        form["purged"] = [each.version for each in change.purged]
    if change.imported:
        form["imported"] = True
    return form | _several("seen", change.seen)


def _version_form(version: ImportedVersion) -> Json:
    form: Json = {"row": records.row_json(version.row), "digests": [*version.digests]}
    if version.targets:
        form["targets"] = [[each.context, each.subject, each.version, each.id] for each in version.targets]
    return form


def _associations_form(change: AssociationsChanged) -> Json:
    marks = [{"ts": each.ts, "nonce": each.nonce, **_registered_form(each)} for each in change.registered]
    form = {
        "seen": _association_rows(change.seen),
        "written": _association_rows(change.written),
        "removed": _association_rows(change.removed),
        "registered": marks,
        "purged": [{"ts": each.ts, "nonce": each.nonce, "head": _head_form(each.head)} for each in change.purged],
    }
    told = {name: several for name, several in form.items() if several}
    return {"resource": change.resource, "heads": [*map(_head_form, change.heads)], **told}


def _exporter_form(change: ExporterChanged) -> Json:
    seen, exporter = change.seen, change.exporter
    return {
        "name": change.name,
        "seen": seen and exporter_records.exporter_json(seen),
        "exporter": exporter and exporter_records.exporter_json(exporter),
        "state": change.state.value,
        "restarted": change.position is not None,
    }


def _head_form(head: Head) -> list[Any]:
    return [head.subject.context, head.subject.name, head.revision, head.referred]


def _several(name: str, heads: Sequence[Head]) -> Json:
    return {name: [*map(_head_form, heads)]} if heads else {}


def _scope_form(change: ConfigChanged | ModeChanged | ImportBegun) -> Json:
    return {"scope": [change.scope.context, change.scope.name], "seen": change.seen.revision}


def _dek_write_form(write: DekWrite) -> list[Any]:
    return [each and key_records.dek_json(each) for each in write]


def _association_rows(associations: Associations) -> list[Json]:
    return [*map(association_records.row, associations)]


def _effects_form(effects: Effects) -> Json:
    purged: dict[Subject, list[Version]] = {}
    for subject, version in effects.purged:
        purged.setdefault(subject, []).append(version)
    form: Json = {
        "listed": effects.listed,
        "purged": [[each.context, each.name, versions] for each, versions in purged.items()],
        "partial": effects.partial,
        "config": effects.config,
        "mode": effects.mode,
        "parts": [*map(_effects_form, effects.parts)],
        "cleared": [[each.context, each.name, revision] for each, revision in effects.cleared],
        "moved": dict(effects.moved),
    }
    return {name: effect for name, effect in form.items() if effect}
