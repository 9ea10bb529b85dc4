"""What hangs on a subject, or on one of its versions: for a person who is about to delete or to restore it.

Where each read costs money that is 20 read units and two trips, however much there is: of each list a part is told.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Final, NamedTuple

from sigla.errors import SubjectNotFound
from sigla.model import BodyKey, Referrer, Row, Subject, Version
from sigla.ports.reads import LastRead, SomeReads
from sigla.registry.lookup import is_known
from sigla.registry.parts import ListPart, part_of
from sigla.registry.resources import Resources
from sigla.registry.side_by_side import beside_its_view, both
from sigla.registry.usages import MOST_READERS_PAID, last_reads


class Most(NamedTuple):
    """How much is looked at: versions from the highest down, referrers, and of how many versions who has read them.

    readers: of each of these; None: all.
    """

    versions: int
    referrers: int
    read: int
    readers: int | None = None


MOST: Final = Most(versions=10_000, referrers=100, read=1000)
MOST_PAID: Final = Most(versions=20, referrers=5, read=7, readers=MOST_READERS_PAID)


@dataclass(frozen=True, slots=True)
class Stakes:
    """subject: what an alias led to. latest: its highest active version.

    reads: of the ids of so many versions as were `looked` at, by id. since: when reads were noted first, or nothing.
    """

    subject: Subject
    latest: Version | None
    versions: ListPart[Row]
    referrers: ListPart[tuple[Version, Referrer]]
    looked: int
    reads: Mapping[BodyKey, SomeReads]
    since: str

    @property
    def readers(self) -> list[LastRead]:
        """What each principal has read last, the latest first."""
        reads = sorted((each for some in self.reads.values() for each in some.found), key=lambda each: each.day)
        return sorted({each.by: each for each in reads}.values(), key=lambda each: each.day, reverse=True)

    @property
    def has_more_readers(self) -> bool:
        """Whether there are others than were looked at."""
        return any(some.goes_on for some in self.reads.values())


class _VersionsRead(NamedTuple):
    """What one chain of questions brings; as of `Stakes`."""

    versions: ListPart[Row]
    looked: int
    reads: Mapping[BodyKey, SomeReads]
    since: str


def stakes(resources: Resources, subject: Subject, version: Version | None = None) -> Stakes:
    """version: only who refers to this one, and who reads it. Raises SubjectNotFound."""
    catalog = resources.catalog
    most = MOST_PAID if resources.pays_for_reads else MOST

    def listed(of: Subject) -> ListPart[Row]:
        return part_of(catalog.versions_below(of, None, glance=most.versions + 1), most.versions)

    def named(of: Subject) -> list[Row]:
        near = catalog.versions_below(of, None if version is None else Version(version + 1), glance=1)
        return [row for row in islice(near, 1) if row.version == version]

    def read(of: Subject) -> _VersionsRead:
        if version is None:
            versions = listed(of)
            rows = [*versions.found[: most.read]]
        else:
            versions, rows = both(resources, lambda: listed(of), lambda: named(of))
        reads, since = last_reads(resources, [BodyKey(of.context, row.id) for row in rows], most.readers)
        return _VersionsRead(versions, len(rows), reads, since)

    def referrers(of: Subject) -> ListPart[tuple[Version, Referrer]]:
        return part_of(catalog.referrers_after(of, version, None, glance=most.referrers + 1), most.referrers)

    def told(of: Subject) -> tuple[_VersionsRead, ListPart[tuple[Version, Referrer]]]:
        return both(resources, lambda: read(of), lambda: referrers(of))

    view, (one, refer) = beside_its_view(resources, subject, told)
    if not is_known(view, deleted=True):
        raise SubjectNotFound(subject=view.subject)
    newest = view.head.newest
    return Stakes(
        view.subject, newest.version if newest else None, one.versions, refer, one.looked, one.reads, one.since
    )
