"""What may become of a registry: a commit is one of these, all of it or nothing.

All that a decision rests on is in the change, as it was seen; a store that finds it otherwise raises `Conflict` and
has written nothing.
"""

from dataclasses import dataclass

from sigla.model import Config, Row, SchemaId, Search, Settings, Subject, Target, Version


@dataclass(frozen=True, slots=True)
class Head:
    """One subject as last committed. A subject never heard of has a head of zeros.

    revision: goes up by one with each commit to the subject. referred: goes up with each commit by which a schema of
    any subject begins to reference this one. generation: goes up with each permanent delete of the whole subject.
    highest: the highest stored version, soft-deleted ones included; 0 if none. newest: the highest active version.
    nonce: of the last commit, by which a writer recognises its own after an unknown outcome.
    """

    subject: Subject
    revision: int = 0
    referred: int = 0
    generation: int = 0
    highest: int = 0
    newest: Row | None = None
    nonce: str = ""


@dataclass(frozen=True, slots=True)
class Registered:
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
    """

    head: Head
    row: Row
    ts: int
    nonce: str
    purged: tuple[Row, ...] = ()
    targets: tuple[Target, ...] = ()
    seen: tuple[Head, ...] = ()
    digests: tuple[str, ...] = ()
    imported: bool = False


@dataclass(frozen=True, slots=True)
class VersionDeleted:
    """A version is soft-deleted.

    Its row is marked, with the time of the delete. Conflict also if `referred` has moved.
    """

    head: Head
    row: Row
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class SubjectDeleted:
    """Every version up to `through` (the highest active one) is soft-deleted.

    Rows keep their time. Conflict also if `referred` has moved.
    """

    head: Head
    through: Version
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class VersionPurged:
    """A soft-deleted version is removed for good.

    With the last one go the subject's config and mode. Conflict as above.
    """

    head: Head
    row: Row
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class SubjectPurged:
    """Every version of a soft-deleted subject, its config and its mode are removed for good. Conflict as above."""

    head: Head
    rows: tuple[Row, ...]
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ConfigChanged:
    """The config entry of a scope is replaced, or removed (None).

    Conflict if its settings have another revision than seen.
    """

    scope: Subject
    seen: Settings
    config: Config | None
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ModeChanged:
    """The mode entry of a scope is replaced, or removed (None).

    Conflict if its settings have another revision than seen.
    """

    scope: Subject
    seen: Settings
    mode: str | None
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ImportBegun:
    """A scope goes into IMPORT: all that is soft-deleted in it is purged and the mode set.

    search: the subjects in scope. Conflict if the settings moved, if anything in scope is active, or if anything
    soft-deleted in scope is referenced by a stored schema.
    """

    scope: Subject
    search: Search
    seen: Settings
    ts: int
    nonce: str


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
class Imported:
    """Versions of one subject are written as another registry had them.

    At most `IMPORTED_AT_ONCE`, and several of them reference at most `REFERENCED_AT_ONCE` subjects together.

    Each is stored anew: Conflict if one of these numbers is stored. Their ids may be held by others and the content may
    have other ids beside them; a buried id of the same content comes back to life. They are written in the order of
    `versions`, which tells by which id a content is known: the one written last, deleted or not. Who speaks for an id
    that several of them hold is the one with the highest number.
    seen: the heads of referenced subjects (its own excepted); Conflict if one has another revision by now.
    """

    head: Head
    versions: tuple[ImportedVersion, ...]
    ts: int
    nonce: str
    seen: tuple[Head, ...] = ()


@dataclass(frozen=True, slots=True)
class Displaced:
    """An id is said to be displaced: another registry had it in the place of a version that was written over there.

    row: as that registry had it; its number is that of the place, which need not be stored here. standing: versions of
    the subject that the journal tells again after it: the one in its place, and those by whose ids its content and that
    one's are known. known: whether its content is known by this id from now on; else it comes after those by which it
    is known already. Conflict if a version holds the id.
    """

    head: Head
    row: Row
    standing: tuple[Row, ...]
    ts: int
    nonce: str
    known: bool = False


IMPORTED_AT_ONCE = 8
REFERENCED_AT_ONCE = 60
"""What fits into one transaction of every store, with what each version brings along."""


@dataclass(frozen=True, slots=True)
class ContextDropped:
    """A context is no longer listed. Conflict if a version is stored in it."""

    context: str
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class ContextListed:
    """A context is listed, also without a version in it; one that is listed stays so. The default context never is."""

    context: str
    ts: int
    nonce: str


@dataclass(frozen=True, slots=True)
class NumberingSet:
    """New ids of a context go on after a number, which may be lower than the one given out last.

    seen: that one, as `Catalog.max_id` told it; Conflict if another was given out meanwhile.
    """

    context: str
    seen: SchemaId
    after: SchemaId
    ts: int
    nonce: str


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
)
