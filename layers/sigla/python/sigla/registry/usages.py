"""Is a version in use? What is known of that, and what is not; never that a version is safe to delete."""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import islice
from operator import attrgetter
from typing import Any, Final

from sigla.errors import Refusal, StoreError, SubjectNotFound, VersionNotFound
from sigla.journal.log_entries import time_text
from sigla.model import LATEST, BodyKey, Row, Subject, Version
from sigla.ports.audits import FoundRecords, Occurrence
from sigla.ports.clock import day_of
from sigla.ports.reads import KEPT_DAYS, LastRead, SomeReads
from sigla.registry.audits import unpacked
from sigla.registry.lookup import is_known
from sigla.registry.parts import part_of
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import beside_its_view, both

MOST_READERS_PAID: Final = 20
"""So many readers of each id are looked at where each read costs money: of ten ids that is ten read units."""

CACHING: Final = (
    "Clients ask for an id once and keep it as long as they live: one that runs may use what it read long ago."
)
BY_ID_ALONE: Final = (
    "Reads by id and by GUID are counted, and nothing else: no reads by subject and version, and no registrations and "
    "lookups of producers."
)
LAST_WINDOW: Final = "Where a process was killed, reads of its last five minutes may be missing."
NOT_COUNTING: Final = "Reads are not counted at present: SIGLA_USAGE is false."
NEVER_COUNTED: Final = "Nothing was counted yet, so nothing is known of reads."
SINCE: Final = "Reads are counted since {since}, and each for {days} days: what was read before is unknown."
NO_AUDIT: Final = "No audit has told what is in topics (`sigla audit --for-usage`), so nothing is known of records."
AUDITED: Final = "Records were looked for on {day} in {places}: nothing is known of later ones, or of those elsewhere."
AUDIT_DAMAGED: Final = "What the last audit found cannot be read, so nothing is known of records: run it again."
PLACES_HIDDEN: Final = "places that only administrators are told"
NO_RETENTION: Final = "How long the topic {topic} keeps records is not known."
IN_USE: Final = "Of {subject} versions were deleted that are in use ({versions}): {evidence}."
OWN_ALONE: Final = "Reads for subjects that you may not read are left out."


@dataclass(frozen=True, slots=True)
class VersionUsage:
    """reads: of its id, the last one first. records: of its id, by topic. has_more_reads: whether there are others."""

    row: Row
    reads: tuple[LastRead, ...]
    records: tuple[Occurrence, ...] = ()
    has_more_reads: bool = False


@dataclass(frozen=True, slots=True)
class Usage:
    """since: the day of the first note of all, or an empty text. sees_all: whether all reads are told.

    audit: what is known of records; None where none were looked for.
    """

    subject: Subject
    versions: tuple[VersionUsage, ...]
    since: str
    sees_all: bool
    audit: FoundRecords | None = None
    is_audit_damaged: bool = False

    def without_places(self) -> "Usage":
        """The same without the places where records lie: administrators alone are told of these."""
        return replace(self, audit=replace(self.audit, places=())) if self.audit else self

    @property
    def tokens(self) -> set[str]:
        return {read.by for each in self.versions for read in each.reads}


def usage(resources: Resources, subject: Subject, version: Version | None = None) -> Usage:
    """Tells of all versions, soft-deleted ones included, or of one. Raises SubjectNotFound, VersionNotFound."""
    view = resources.ask(subject, versions=() if version in (None, LATEST) else (version,))
    if version is None:
        rows = resources.catalog.history(view.subject)
    elif version == LATEST:
        rows = tuple(islice(resources.catalog.versions_below(view.subject, None, glance=1), 1))
    else:
        rows = tuple(row for row in [view.row(version)] if row is not None)
    if rows:
        return _usage_of(resources, view.subject, rows)
    if version is None or not is_known(view, deleted=True):
        raise SubjectNotFound(subject=view.subject)
    raise VersionNotFound(version=version)


def usage_part(resources: Resources, subject: Subject, below: Version | None, most: int) -> tuple[Usage, bool]:
    """Tells of the highest versions, and whether there are lower ones. Raises SubjectNotFound."""

    def told(of: Subject) -> tuple[Usage, bool]:
        listed = part_of(resources.catalog.versions_below(of, below, glance=most + 1), most)
        most_readers = MOST_READERS_PAID if resources.pays_for_reads else None
        return _usage_of(resources, of, listed.found, most_readers), listed.goes_on

    view, found = beside_its_view(resources, subject, told)
    if not is_known(view, deleted=True):
        raise SubjectNotFound(subject=view.subject)
    return found


def _usage_of(resources: Resources, subject: Subject, rows: Sequence[Row], most_readers: int | None = None) -> Usage:
    keys = [BodyKey(subject.context, row.id) for row in rows]
    (reads, since), (audit, is_damaged) = both(
        resources,
        lambda: last_reads(resources, keys, most_readers),
        lambda: _last_audit(resources, keys),
    )
    records: dict[BodyKey, list[Occurrence]] = {}
    for each in audit.occurrences if audit else ():
        if resources.audits.shows(each.key.context, each.topic):
            records.setdefault(each.key, []).append(each)
    found = tuple(
        VersionUsage(
            row,
            tuple(reads[key].found),
            tuple(sorted(records.get(key, ()), key=attrgetter("topic"))),
            reads[key].goes_on,
        )
        for row, key in zip(rows, keys, strict=True)
    )
    return Usage(subject, found, since, not resources.reads.is_narrowed, audit, is_damaged)


def last_reads(
    resources: Resources, keys: Iterable[BodyKey], most: int | None
) -> tuple[Mapping[BodyKey, SomeReads], str]:
    """Who read these ids, the last one first, and since when that is noted. most: readers of each; None: all."""
    distinct = list(dict.fromkeys(keys))

    def told() -> Mapping[BodyKey, SomeReads]:
        if most is not None:
            return resources.reads.some(distinct, most)
        return {key: SomeReads(reads, goes_on=False) for key, reads in resources.reads.last(distinct).items()}

    return both(resources, told, resources.reads.since)


def _last_audit(resources: Resources, keys: Collection[BodyKey]) -> tuple[FoundRecords | None, bool]:
    """What it found of these ids, and whether that is damaged: then reads are told without it."""
    try:
        content = resources.audits.get()
        return (unpacked(content, keys) if content is not None else None), False
    except StoreError:
        return None, True


def usage_if_known(resources: Resources, subject: Subject, version: Version | None = None) -> Usage | None:
    """As `usage`; None where there is no such subject or version, or nothing can be told now."""
    try:
        return usage(resources, subject, version)
    except (Refusal, StoreError):
        return None


def deleted_in_use(
    found: Usage | None, deleted: Collection[Version], names: Callable[[Iterable[str]], Mapping[str, str]]
) -> dict[str, object] | None:
    """What the log is told of versions that were deleted though they are used; None where no use is known.

    names: finds those behind tokens.
    """
    used = (
        [each for each in found.versions if each.row.version in deleted and (each.reads or each.records)]
        if found
        else []
    )
    if not found or not used:
        return None
    numbers = [each.row.version for each in used]
    said = {"subject": found.subject.qualified, "versions": numbers}
    last = max((each.reads[0] for each in used if each.reads), key=attrgetter("day"), default=None)
    topics = sorted({record.topic for each in used for record in each.records})
    evidence = []
    if last is not None:
        who = last.by
        with suppress(StoreError):  # the token will do, and the delete is done
            who = names([last.by]).get(last.by, last.by)
        evidence.append(f"last read by {who} on {last.day}")
        said["last_read"] = last.day
    if topics:
        evidence.append(f"found in records of {', '.join(topics)}")
        said["topics"] = topics
    message = IN_USE.format(
        subject=found.subject.qualified, versions=", ".join(map(str, numbers)), evidence=", ".join(evidence)
    )
    return {"event": "deleted-in-use", "message": message, **said}


def form_of_usage(found: Usage, names: Mapping[str, str], *, is_counting: bool | None) -> dict[str, Any]:
    """What the API answers. names: behind tokens. is_counting: whether reads are counted now; None: that is unknown."""
    form: dict[str, Any] = {"subject": found.subject.qualified}
    if is_counting is not None:
        form["counting"] = is_counting
    if found.since:
        form["since"] = found.since
    if found.audit:
        form["audit"] = {"at": time_text(found.audit.at), "places": list(found.audit.places)}
    retention = found.audit.retention_ms if found.audit else {}
    form["versions"] = [_version_form(each, names, retention) for each in found.versions]
    form["limits"] = limits(found, is_counting=is_counting)
    return form


def limits(found: Usage, *, is_counting: bool | None) -> list[str]:
    """What the answer cannot say, in sentences."""
    return [
        *([NOT_COUNTING] if is_counting is False else []),
        SINCE.format(since=found.since, days=KEPT_DAYS) if found.since else NEVER_COUNTED,
        *([] if found.sees_all else [OWN_ALONE]),
        AUDIT_DAMAGED if found.is_audit_damaged else _looked_for(found.audit),
        *(NO_RETENTION.format(topic=topic) for topic in _unknown_retention(found)),
        LAST_WINDOW,
        BY_ID_ALONE,
        CACHING,
    ]


def _looked_for(audit: FoundRecords | None) -> str:
    if audit is None:
        return NO_AUDIT
    return AUDITED.format(day=day_of(audit.at), places=", ".join(audit.places) or PLACES_HIDDEN)


def _unknown_retention(found: Usage) -> list[str]:
    known = found.audit.retention_ms if found.audit else {}
    return sorted({record.topic for each in found.versions for record in each.records} - known.keys())


def _version_form(each: VersionUsage, names: Mapping[str, str], retention_ms: Mapping[str, int]) -> dict[str, Any]:
    row = each.row
    return {
        "version": row.version,
        "id": row.id,
        "deleted": row.deleted,
        "reads": [form_of_read(read, names) for read in each.reads],
        "records": [_record_form(record, retention_ms) for record in each.records],
        **({"more": True} if each.has_more_reads else {}),
    }


def _record_form(record: Occurrence, retention_ms: Mapping[str, int]) -> dict[str, Any]:
    said = {
        "topic": record.topic,
        "rows": record.rows,
        "last": None if record.last is None else time_text(record.last),
        "retentionMs": retention_ms.get(record.topic),
    }
    return {name: value for name, value in said.items() if value is not None}


def form_of_read(read: LastRead, names: Mapping[str, str]) -> dict[str, str]:
    said = {"day": read.day, "by": read.by, "name": names.get(read.by, ""), "subject": read.subject}
    return {name: value for name, value in said.items() if value}
