"""What may become of a registry: a commit is one of these, all of it or nothing.

All that a decision rests on is in the change, as it was seen; a store that finds it otherwise raises `Conflict` and
has written nothing.

A change is about the versions of one subject, the settings of one scope, one context (`changes.contexts`), keys
(`changes.keys`), the associations of one resource, or an exporter (`changes.exporters`). Whatever it is about, it knows
what others have to know of it:

    author            who asked for it
    scope, leads_to   whose it is: a principal needs rights to these
    ids, concerns     which ids may have another speaker once it is written
    revision          the subject's, once it is written
    was_written       whether it was, where a store could not tell

What it does to rows is the business of each store (`stores/*/changes`), what it is in the journal that of
`journal/rows`: they tell changes apart by `match`, and a change that one of them forgets is an error of types.
"""

from dataclasses import dataclass

from sigla.associations.nouns import Associations
from sigla.changes.contexts import ContextDropped, ContextListed, NumberingSet
from sigla.changes.exporters import ExporterChanged
from sigla.changes.keys import DEKS_AT_ONCE, DeksChanged, DekWrite, KekChanged
from sigla.changes.kinds import AnyChange, Author, Evidence, Head, SettingsChange, SubjectChange
from sigla.model import DEFAULT_CONTEXT, BodyKey, Config, Guid, Row, SchemaId, Search, Subject, Target, Version
from sigla.rules import names

__all__ = [
    "DEKS_AT_ONCE",
    "IMPORTED_AT_ONCE",
    "REFERENCED_AT_ONCE",
    "AssociationsChanged",
    "Author",
    "Change",
    "ConfigChanged",
    "ContextDropped",
    "ContextListed",
    "DekWrite",
    "DeksChanged",
    "Displaced",
    "ExporterChanged",
    "Head",
    "IdBuried",
    "ImportBegun",
    "Imported",
    "ImportedVersion",
    "KekChanged",
    "ModeChanged",
    "NumberingSet",
    "Registered",
    "SubjectChange",
    "SubjectDeleted",
    "SubjectPurged",
    "VersionDeleted",
    "VersionPurged",
]

# --- versions of a subject -------------------------------------------------------------------------------------------

IMPORTED_AT_ONCE = 8
REFERENCED_AT_ONCE = 60
"""What fits into one transaction of every store, with what each version brings along."""


@dataclass(frozen=True, slots=True)
class Registered(SubjectChange):
    """A version is written.

    row: what to store; its revision is `head.revision + 1`. A version of the same number is overwritten (import), and
        if it was the last to hold its id, that is displaced (`Catalog.displaced`).
    purged: soft-deleted versions that go in the same commit, because the new one supersedes them; Conflict also if
        `referred` has moved, then.
    targets, seen: what its references resolved to, and the heads of those subjects (the subject's own excepted);
        Conflict if one of them has another revision by now.
    digests: equivalence digests by which `candidates` will find the version.
    imported: the client brought the id: the content may have other ids beside it, and a buried id of the same content
        comes back to life. Otherwise Conflict if the content has another live id in the context, or the id is buried.
    lives: of an id that was brought: its body does not say that it was deleted for good. GoneMeanwhile if it is buried.
    """

    row: Row
    ts: int
    nonce: str
    purged: tuple[Row, ...] = ()
    targets: tuple[Target, ...] = ()
    seen: tuple[Head, ...] = ()
    digests: tuple[str, ...] = ()
    imported: bool = False
    lives: bool = False

    @property
    def ids(self) -> frozenset[BodyKey]:
        return _keys(self.scope, self.row)


@dataclass(frozen=True, slots=True)
class ImportedVersion:
    """A version as another registry had it.

    row: with its own time and its own `deleted`; its revision is `head.revision + 1`. targets, digests: as of a
    registration.
    """

    row: Row
    targets: tuple[Target, ...] = ()
    digests: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Imported(SubjectChange):
    """Versions of one subject are written as another registry had them.

    At most `IMPORTED_AT_ONCE`, and several of them reference at most `REFERENCED_AT_ONCE` subjects together.

    Each is stored anew: Conflict if one of these numbers is stored. Their ids may be held by others and the content may
    have other ids beside them; a buried id of the same content comes back to life. They are written in the order of
    `versions`, which tells by which id a content is known: the one written last, deleted or not. Who speaks for an id
    that several of them hold is the one with the highest number.
    seen: the heads of referenced subjects (its own excepted); Conflict if one has another revision by now.
    """

    versions: tuple[ImportedVersion, ...]
    ts: int
    nonce: str
    seen: tuple[Head, ...] = ()

    @property
    def ids(self) -> frozenset[BodyKey]:
        return _keys(self.scope, *(each.row for each in self.versions))


@dataclass(frozen=True, slots=True)
class Displaced(SubjectChange):
    """An id is said to be displaced: another registry had it in the place of a version that was written over there.

    row: as that registry had it; its number is that of the place, which need not be stored here. standing: versions of
    the subject that the journal tells again after it: the one in its place, and those by whose ids its content and that
    one's are known. known: whether its content is known by this id from now on; else it comes after those by which it
    is known already. Conflict if a version holds the id.
    """

    row: Row
    standing: tuple[Row, ...]
    ts: int
    nonce: str
    known: bool = False

    @property
    def ids(self) -> frozenset[BodyKey]:
        return _keys(self.scope, self.row)


@dataclass(frozen=True, slots=True)
class VersionDeleted(SubjectChange):
    """A version is soft-deleted.

    Its row is marked, with the time of the delete. Conflict also if `referred` has moved.
    """

    row: Row
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class SubjectDeleted(SubjectChange):
    """Every version up to `through` (the highest active one) is soft-deleted.

    Rows keep their time. Conflict also if `referred` has moved.
    """

    through: Version
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class VersionPurged(SubjectChange):
    """A soft-deleted version is removed for good.

    With the last one go the subject's config and mode. Conflict as above.
    """

    row: Row
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class SubjectPurged(SubjectChange):
    """Every version of a soft-deleted subject, its config and its mode are removed for good. Conflict as above."""

    rows: tuple[Row, ...]
    ts: int
    nonce: str


def _keys(subject: Subject, *rows: Row) -> frozenset[BodyKey]:
    return frozenset(BodyKey(subject.context, row.id) for row in rows)


@dataclass(frozen=True, slots=True)
class IdBuried(AnyChange):
    """An import has brought what an id means that no version holds, so that records which bear it stay readable.

    subject, version: which held it where it comes from. The catalog stays as it is: the commit is for the journal, and
    for a region that follows.
    """

    subject: Subject
    version: Version
    id: SchemaId
    guid: Guid
    ts: int
    nonce: str

    @property
    def scope(self) -> Subject:
        return self.subject

    @property
    def ids(self) -> frozenset[BodyKey]:
        return frozenset({BodyKey(self.subject.context, self.id)})

    def was_written(self, catalog: Evidence) -> bool:
        """By its mark, as no revision tells it."""
        return any(entry.nonce == self.nonce for entry in catalog.commits_about(self.subject))


# --- settings of a scope ---------------------------------------------------------------------------------------------


def _aliases(config: Config | None) -> tuple[str | None, str | None]:
    """The one that is followed for schemas, and the one for DEKs (KEY-10)."""
    return (config.alias, config.alias_for_deks or config.alias) if config else (None, None)


@dataclass(frozen=True, slots=True)
class ConfigChanged(SettingsChange):
    """The config entry of a scope is replaced, or removed (None)."""

    config: Config | None
    ts: int
    nonce: str

    @property
    def leads_to(self) -> tuple[Subject, ...]:
        """By whatever path its aliases are followed: under the default context, and under the scope's own."""
        followed = zip(_aliases(self.seen.config), _aliases(self.config), strict=True)
        led = dict.fromkeys(now for before, now in followed if now and now != before)
        return tuple(
            names.alias_target(alias, under) for alias in led for under in (DEFAULT_CONTEXT, self.scope.context)
        )

    def concerns(self, subject: Subject) -> bool:
        """What a subject with an alias holds is answered for by another (`Catalog.speaker`)."""
        return subject == self.scope


@dataclass(frozen=True, slots=True)
class ModeChanged(SettingsChange):
    """The mode entry of a scope is replaced, or removed (None)."""

    mode: str | None
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ImportBegun(SettingsChange):
    """A scope goes into IMPORT: all that is soft-deleted in it is purged and the mode set.

    Conflict also if anything in scope is active, or if anything soft-deleted in scope is referenced by a stored schema.
    """

    ts: int
    nonce: str

    @property
    def search(self) -> Search:
        """The subjects in scope."""
        return Search.under(self.scope)

    def concerns(self, subject: Subject) -> bool:
        return self.search.matches(subject)


# --- associations ----------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class AssociationsChanged(AnyChange):
    """Associations of one resource are written or removed, with the schemas and the subjects that go with them.

    resource: its id. seen: its associations, as they were seen; Conflict if they are others by now.
    heads: of every subject that this is about; Conflict if one has another revision by now, and of one that is or was
        to be strongly associated also if something began to reference it. Each of them has the next revision once this
        is written, so that whoever decides about such a subject decides with its associations as they are.
    registered: versions that the request brings, of some of these subjects. purged: subjects that go with their
        associations; they need not be soft-deleted before.
    """

    resource: str
    seen: Associations
    heads: tuple[Head, ...]
    ts: int
    nonce: str
    written: Associations = ()
    removed: Associations = ()
    registered: tuple[Registered, ...] = ()
    purged: tuple[SubjectPurged, ...] = ()

    @property
    def scope(self) -> Subject:
        return self.heads[0].subject

    @property
    def leads_to(self) -> tuple[Subject, ...]:
        """The other subjects: a principal needs rights to each of them."""
        return tuple(head.subject for head in self.heads[1:])

    @property
    def ids(self) -> frozenset[BodyKey]:
        return frozenset(key for each in self.registered for key in each.ids)

    @property
    def after(self) -> Associations:
        """Those of the resource, once this is written."""
        return tuple(each for each in self.seen if each not in self.removed) + self.written

    def concerns(self, subject: Subject) -> bool:
        return any(head.subject == subject for head in self.heads)

    def rests_on_referrers(self, subject: Subject) -> bool:
        """Whether a new reference to the subject comes in the way."""
        strong = {each.subject for each in self.written + self.removed if each.strong}
        return subject in strong

    def associations_of(self, head: Head) -> tuple[int, bool]:
        """How many its subject has once this is written, and whether its one is strong."""
        written = [each for each in self.written if each.subject == head.subject]
        removed = [each for each in self.removed if each.subject == head.subject]
        count = head.associations + len(written) - len(removed)
        return count, count > 0 and (head.strong or any(each.strong for each in written))

    def was_written(self, catalog: Evidence) -> bool:
        """Every head bears the mark."""
        return catalog.snapshot(self.scope).head.nonce == self.nonce


Change = (
    Registered
    | Imported
    | Displaced
    | VersionDeleted
    | SubjectDeleted
    | VersionPurged
    | SubjectPurged
    | ConfigChanged
    | ModeChanged
    | ImportBegun
    | ContextDropped
    | ContextListed
    | NumberingSet
    | IdBuried
    | KekChanged
    | DeksChanged
    | AssociationsChanged
    | ExporterChanged
)
