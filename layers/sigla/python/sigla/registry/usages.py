"""Is a version in use? What is known of that, and what is not; never that a version is safe to delete."""

from collections.abc import Callable, Collection, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any, Final

from sigla.errors import Refusal, StoreError, SubjectNotFound, VersionNotFound
from sigla.model import LATEST, BodyKey, Row, Subject, Version
from sigla.ports.reads import KEPT_DAYS, LastRead
from sigla.registry.resources import Resources

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
IN_USE: Final = "Of {subject} versions were deleted that are read ({versions}): last by {who} on {day}."
OWN_ALONE: Final = "Reads for subjects that you may not read are left out."


@dataclass(frozen=True, slots=True)
class VersionUsage:
    """reads: of its id, the last one first."""

    row: Row
    reads: tuple[LastRead, ...]


@dataclass(frozen=True, slots=True)
class Usage:
    """since: the day of the first note of all, or an empty text. sees_all: whether all reads are told."""

    subject: Subject
    versions: tuple[VersionUsage, ...]
    since: str
    sees_all: bool

    @property
    def tokens(self) -> set[str]:
        return {read.by for each in self.versions for read in each.reads}


def usage(resources: Resources, subject: Subject, version: Version | None = None) -> Usage:
    """Tells of all versions, soft-deleted ones included, or of one. Raises SubjectNotFound, VersionNotFound."""
    view = resources.ask(subject)
    rows = resources.catalog.history(view.subject)
    if not rows:
        raise SubjectNotFound(subject=view.subject)
    if version is not None:
        wanted = rows[-1].version if version == LATEST else version
        rows = tuple(row for row in rows if row.version == wanted)
        if not rows:
            raise VersionNotFound(version=wanted)
    keys = [BodyKey(view.subject.context, row.id) for row in rows]
    reads = resources.reads.last(list(dict.fromkeys(keys)))
    found = tuple(VersionUsage(row, tuple(reads[key])) for row, key in zip(rows, keys, strict=True))
    return Usage(view.subject, found, resources.reads.since(), not resources.reads.is_narrowed)


def usage_if_known(resources: Resources, subject: Subject) -> Usage | None:
    """As `usage`; None where there is no such subject, or nothing can be told now."""
    try:
        return usage(resources, subject)
    except (Refusal, StoreError):
        return None


def deleted_in_use(
    found: Usage | None, deleted: Collection[Version], names: Callable[[Iterable[str]], Mapping[str, str]]
) -> dict[str, object] | None:
    """What the log is told of versions that were deleted though they are read; None where no read is known.

    names: finds those behind tokens.
    """
    used = [each for each in found.versions if each.reads and each.row.version in deleted] if found else []
    if not found or not used:
        return None
    last = max((each.reads[0] for each in used), key=lambda read: read.day)
    numbers = [each.row.version for each in used]
    listed = ", ".join(map(str, numbers))
    who = last.by
    with suppress(StoreError):  # the token will do, and the delete is done
        who = names([last.by]).get(last.by, last.by)
    return {
        "event": "deleted-in-use",
        "message": IN_USE.format(subject=found.subject.qualified, versions=listed, who=who, day=last.day),
        "subject": found.subject.qualified,
        "versions": numbers,
        "last_read": last.day,
    }


def form_of_usage(found: Usage, names: Mapping[str, str], *, is_counting: bool | None) -> dict[str, Any]:
    """What the API answers. names: behind tokens. is_counting: whether reads are counted now; None: that is unknown."""
    form: dict[str, Any] = {"subject": found.subject.qualified}
    if is_counting is not None:
        form["counting"] = is_counting
    if found.since:
        form["since"] = found.since
    form["versions"] = [_version_form(each, names) for each in found.versions]
    form["limits"] = limits(found, is_counting=is_counting)
    return form


def limits(found: Usage, *, is_counting: bool | None) -> list[str]:
    """What the answer cannot say, in sentences."""
    return [
        *([NOT_COUNTING] if is_counting is False else []),
        SINCE.format(since=found.since, days=KEPT_DAYS) if found.since else NEVER_COUNTED,
        *([] if found.sees_all else [OWN_ALONE]),
        LAST_WINDOW,
        BY_ID_ALONE,
        CACHING,
    ]


def _version_form(each: VersionUsage, names: Mapping[str, str]) -> dict[str, Any]:
    row = each.row
    return {
        "version": row.version,
        "id": row.id,
        "deleted": row.deleted,
        "reads": [_read_form(read, names) for read in each.reads],
    }


def _read_form(read: LastRead, names: Mapping[str, str]) -> dict[str, str]:
    said = {"day": read.day, "by": read.by, "name": names.get(read.by, ""), "subject": read.subject}
    return {name: value for name, value in said.items() if value}
