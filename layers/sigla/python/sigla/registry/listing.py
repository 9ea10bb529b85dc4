"""Lists: schemas, subjects, versions, referrers."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import replace
from itertools import islice

from sigla.errors import SubjectNotFound
from sigla.keys import utf16
from sigla.model import LATEST, Page, Record, Row, SchemaId, Search, Show, Subject, Version
from sigla.ports.lists import Looked
from sigla.ports.subjects import VersionKey
from sigla.registry.lookup import is_known, locate
from sigla.registry.paging import paged, pulsing
from sigla.registry.resources import Resources, View
from sigla.rules import names

FOUND_TOGETHER = 51
"""Subjects of which the highest version is asked in one question: a page of the console, and whether there are more."""
LOOKED_AT_TOGETHER = 500
BATCH = 200
"""Bodies read at once, so that memory is bounded by the batch and the answer."""


def subjects(resources: Resources, search: Search, *, show: Show, page: Page) -> list[Subject]:
    """Ascending by UTF-16 code units of the qualified name (SUB-1, SUB-2)."""
    found = resources.catalog.subjects(search, show, skip=page.offset)
    return paged(found, Page(0, page.limit))


def found_subjects(
    resources: Resources, search: Search, *, contains: str, schema_type: str, deleted: bool, page: Page
) -> list[tuple[Subject, Row]]:
    """Subjects by a part of their names, in any case, and by the type of their highest version; with that version.

    Both may be empty: every subject is found then. No body is read, so one that is lost hides nothing (FIND-1 to 4).
    """
    skip = 0 if schema_type else page.offset
    if contains:
        matching = _subjects_named(resources, search, contains.casefold(), schema_type, deleted=deleted, skip=skip)
        return paged(matching, Page(page.offset - skip, page.limit))
    glanced = search if schema_type else _glanced(search, page)
    rows = resources.catalog.versions(glanced, deleted=deleted, latest_only=True, skip=skip)
    found = ((subject, row) for subject, row in pulsing(rows) if schema_type in ("", row.type))
    return paged(found, Page(page.offset - skip, page.limit))


def found_names(resources: Resources, search: Search, *, contains: str, deleted: bool, page: Page) -> list[Subject]:
    """The same, without their versions."""
    show = Show.ALL if deleted else Show.ACTIVE
    if not contains:
        return subjects(resources, _glanced(search, page), show=show, page=page)
    return paged(_having_part(resources, search, contains.casefold(), show), page)


def search(
    resources: Resources, search: Search, *, contains: str, schema_type: str, deleted: bool, limit: int
) -> Looked:
    """The next subjects by a part of their names and by their type, as `found_subjects`: `limit` of them at most.

    Where each read costs money it goes as far as one look, and tells how far that was: there may be more behind.
    """
    found: list[tuple[Subject, Row]] = []
    searched, after = 0, search.after
    while True:
        part = replace(search, part=contains.casefold(), after=after)
        # Few may be of the type: a store of this machine is asked for many at once.
        most = limit - len(found) if resources.pays_for_reads or not schema_type else LOOKED_AT_TOGETHER
        looked = resources.catalog.look(part, deleted=deleted, most=most)
        searched, after = searched + looked.searched, looked.through
        found += (each for each in looked.found if schema_type in ("", each[1].type))
        if len(found) > limit:
            return Looked(tuple(found[:limit]), searched, found[limit - 1][0])
        if after is None or len(found) == limit or resources.pays_for_reads:
            return Looked(tuple(found), searched, after)


def _glanced(search: Search, page: Page) -> Search:
    """A long list is read as it always is."""
    return replace(search, glance=page.offset + page.limit) if page.limit <= FOUND_TOGETHER else search


def _having_part(resources: Resources, search: Search, part: str, show: Show) -> Iterator[Subject]:
    everything = pulsing(resources.catalog.subjects(replace(search, part=part), show))
    return (subject for subject in everything if part in subject.name.casefold())


def _subjects_named(
    resources: Resources, search: Search, part: str, schema_type: str, *, deleted: bool, skip: int
) -> Iterator[tuple[Subject, Row]]:
    """Those with the part in their names. Versions are read of them alone: there may be few among very many."""
    matching = islice(_having_part(resources, search, part, Show.ALL if deleted else Show.ACTIVE), skip, None)
    while some := list(islice(matching, FOUND_TOGETHER)):
        for subject, row in _highest(resources, some, deleted=deleted).items():
            if schema_type in ("", row.type):
                yield subject, row


def _highest(resources: Resources, subjects: Sequence[Subject], *, deleted: bool) -> dict[Subject, Row]:
    """The highest version of each that has one, in one question; in two where the highest may be soft-deleted."""
    ask = resources.catalog.snapshot
    heads = ask(subjects[0], wanted=[VersionKey(subject, LATEST) for subject in subjects]).heads
    if not deleted:
        return {subject: newest for subject in subjects if (newest := heads[subject].newest) is not None}
    wanted = [VersionKey(subject, Version(heads[subject].highest)) for subject in subjects if heads[subject].highest]
    rows = ask(subjects[0], wanted=wanted).rows
    return {key.subject: rows[key] for key in wanted if key in rows}


def versions(
    resources: Resources,
    subject: Subject,
    *,
    deleted: bool = False,
    deleted_only: bool = False,
    deleted_as_negative: bool = False,
    page: Page,
) -> list[int]:
    """Numbers, ascending by absolute value. Raises SubjectNotFound where nothing may be seen (VER-1)."""
    view = resources.ask(subject)
    if not is_known(view, deleted=deleted or deleted_only):  # VER-1
        raise SubjectNotFound(subject=view.subject)
    rows = resources.catalog.history(view.subject)
    if deleted_as_negative:  # VER-2
        numbers = (-row.version if row.deleted else row.version for row in rows)
    elif deleted_only:  # VER-3
        numbers = (row.version for row in rows if row.deleted)
    else:
        numbers = (row.version for row in rows if deleted or not row.deleted)
    return paged(numbers, page)


def referenced_by(
    resources: Resources, subject: Subject, version: Version, *, deleted: bool, page: Page
) -> list[SchemaId]:
    """Ids of the schemas that reference a version, by context, then id. The version itself may be soft-deleted."""

    def stored(view: View) -> Row | None:
        return view.row(version)

    view, row = locate(resources, subject, (version,), stored, deleted=True)  # LIST-5
    ids = (
        (referrer.subject.context, referrer.id)
        for _, referrer in resources.catalog.referrers(view.subject, row.version)
        if deleted or not referrer.deleted
    )
    return paged((schema_id for _, schema_id in dict.fromkeys(ids)), page)


def schemas(
    resources: Resources,
    search: Search,
    *,
    deleted: bool = False,
    latest_only: bool = False,
    aliases: bool = False,
    rule_type: str = "",
    keeps: Callable[[Subject], bool] | None = None,
    page: Page,
) -> list[Record]:
    """Versions with their content, by subject, then number. rule_type: only schemas with such a rule.

    keeps: which subjects are meant; None: all.

    Raises BodyLost where one cannot be read: a list that leaves it out would be believed.

    aliases: also the schemas of subjects that a matching subject's config names as its alias, which then say so.
    """
    aliased = _aliased(resources, search) if aliases else {}  # LIST-4
    targets = [subject for subject in aliased if not search.matches(subject)]
    skip = 0 if rule_type or targets or keeps else page.offset
    rows: Iterable[tuple[Subject, Row]] = resources.catalog.versions(  # LIST-1, LIST-2, LIST-3
        search, deleted=deleted, latest_only=latest_only, skip=skip
    )
    if targets:
        rows = _with_targets(resources, rows, targets, deleted=deleted, latest_only=latest_only)
    if keeps is not None:
        rows = (each for each in rows if keeps(each[0]))
    records = _records(resources, rows)
    if rule_type:
        records = (record for record in records if _has_rule(record, rule_type))
    window = paged(records, Page(page.offset - skip, page.limit))
    return [
        replace(record, aliases=aliased[record.subject]) if record.subject in aliased else record for record in window
    ]


def _records(resources: Resources, rows: Iterable[tuple[Subject, Row]]) -> Iterator[Record]:
    remaining = iter(rows)
    while batch := list(islice(remaining, BATCH)):
        for (subject, row), body in zip(batch, resources.bodies_of(batch), strict=True):
            yield Record(body.schema, row.guid, subject, row.version, row.id, row.ts, deleted=row.deleted)


def _aliased(resources: Resources, search: Search) -> dict[Subject, tuple[Subject, ...]]:
    """The targets of the aliases that match, each with the subjects that lead to it."""
    found: dict[Subject, tuple[Subject, ...]] = {}
    for subject, settings in resources.catalog.settings(search):
        if settings.config is not None and settings.config.alias and subject.name:
            target = names.subject(settings.config.alias)
            found[target] = (*found.get(target, ()), subject)
    return found


def _with_targets(
    resources: Resources,
    rows: Iterable[tuple[Subject, Row]],
    targets: Sequence[Subject],
    *,
    deleted: bool,
    latest_only: bool,
) -> Iterable[tuple[Subject, Row]]:
    """The rows that match and those of the targets, in one order."""
    more = [
        entry
        for target in targets
        for entry in resources.catalog.versions(
            Search(target.name, target.context, exact=True), deleted=deleted, latest_only=latest_only
        )
    ]
    return sorted([*rows, *more], key=lambda entry: (utf16(entry[0].qualified), entry[1].version))


def _has_rule(record: Record, rule_type: str) -> bool:
    rule_set = record.schema.rule_set
    return rule_set is not None and any(rule.type == rule_type for rule in rule_set.rules)
