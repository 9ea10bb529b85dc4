"""What the verbs need of the world, in our words.

The comments are part of the promise: `tests/contract/` holds every adapter to them.

A registration asks once (`snapshot`), decides purely, commits once (`commit`). All a decision rests on is in the
`Change`, as it was
seen; a store that finds it otherwise raises `Conflict` and has written nothing.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Protocol

from sigla.model import (
    Body,
    BodyKey,
    Chain,
    Config,
    Guid,
    Holder,
    Referrer,
    Row,
    SchemaId,
    Search,
    Settings,
    Show,
    Subject,
    Target,
    Version,
)


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
class VersionKey:
    subject: Subject
    version: Version
    """LATEST means the highest active one."""


@dataclass(frozen=True, slots=True)
class Snapshot:
    """What one question was answered with.

    rows: the versions asked for, by the key they were asked by; absent if not stored. Soft-deleted ones are present.
    heads: of every subject named in the question, also those never heard of.
    known: the id that the guessed content has in the subject's context, as `Catalog.id_of` would say.
    """

    head: Head
    chain: Chain
    rows: Mapping[VersionKey, Row]
    heads: Mapping[Subject, Head]
    known: SchemaId | None = None


@dataclass(frozen=True, slots=True)
class Registered:
    """A version is written.

    row: what to store; its revision is `head.revision + 1`. A version of the same number is overwritten (import).
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


Change = (
    Registered
    | Imported
    | VersionDeleted
    | SubjectDeleted
    | VersionPurged
    | SubjectPurged
    | ConfigChanged
    | ModeChanged
    | ImportBegun
    | ContextDropped
    | ContextListed
)


class Catalog(Protocol):
    """Ids, versions, settings. Every read sees every commit that has returned (linearizable per subject)."""

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = (), guess: Guid | None = None) -> Snapshot:
        """All that a decision about one subject rests on, in one round trip."""
        ...

    def history(self, subject: Subject) -> tuple[Row, ...]:
        """Every stored version, soft-deleted ones included, ascending."""
        ...

    def candidates(self, subject: Subject, digests: Sequence[str]) -> tuple[Row, ...]:
        """Stored versions registered with one of these digests, descending; soft-deleted ones included."""
        ...

    def id_of(self, context: str, guid: Guid) -> SchemaId | None:
        """The id that stands for this content in a context: the one last written, of those a stored version holds."""
        ...

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """Who answers for an id; None if nobody holds it. Costs the same for one holder and for thousands.

        The smallest subject in which the id is active, or else the smallest; of it the version written last.
        by: only this subject may answer. None then says that it does not hold the id, or that it is only another name:
        its config has an alias, and who answers is to be found out in another way.

        What it tells may be a minute old, and where nothing else is to be had, the first registrant of the body: a
        holder that is not `catalogued`.
        """
        ...

    def holders(self, key: BodyKey, by: Subject | None = None) -> tuple[Holder, ...]:
        """Every stored version that carries an id, or those of one subject.

        Ordered by subject (UTF-16 code units of its name), then version.
        """
        ...

    def referrers(self, subject: Subject, version: Version | None = None) -> Iterator[tuple[Version, Referrer]]:
        """Stored versions that reference a version of the subject (any if None), with the version they reference.

        Ordered by the referrer's context and id, the default context first.
        """
        ...

    def subjects(self, search: Search, show: Show = Show.ALL, *, skip: int = 0) -> Iterator[Subject]:
        """Subjects with a stored version, by UTF-16 code units of the qualified name.

        ACTIVE: with an active version.
        """
        ...

    def versions(
        self, search: Search, *, deleted: bool, latest_only: bool, skip: int = 0
    ) -> Iterator[tuple[Subject, Row]]:
        """Stored versions by subject, then number. latest_only: of each subject the highest of those included."""
        ...

    def settings(self, search: Search) -> Iterator[tuple[Subject, Settings]]:
        """Every scope with a config or a mode entry, also subjects without versions and contexts (empty names)."""
        ...

    def contexts(self) -> tuple[str, ...]:
        """Named contexts in which anything was registered since they were last dropped, by UTF-16 code units."""
        ...

    def contexts_of(self, name: str) -> tuple[str, ...]:
        """Named contexts with a stored version of a subject of this name, by UTF-16 code units."""
        ...

    def next_id(self, context: str) -> SchemaId:
        """A number never given out before in the context; the first is 1. Raises errors.IdsExhausted past 2^31 - 1."""
        ...

    def raise_counter(self, context: str, to: SchemaId) -> None:
        """Numbers up to `to` are not given out any more."""
        ...

    def max_id(self, context: str) -> SchemaId:
        """The highest number given out or raised to; 0 if none."""
        ...

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """All of the change and its journal row, or nothing. Yields the ids it buried: they lost their last holder.

        Raises Conflict if what the change saw is no longer so, OutcomeUnknown if it cannot say.
        """
        ...


class Bodies(Protocol):
    """What ids mean: write-once, readable without the catalog."""

    def put(self, key: BodyKey, body: Body) -> None:
        """Writes the body and its pointer by GUID. The same writer's body again (equal nonce) is no error.

        Raises Taken with the standing body if there is another.
        """
        ...

    def get(self, key: BodyKey) -> Body:
        """Raises errors.SchemaNamedNotFound. A tombstone is returned like any body: what it means does not change."""
        ...

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        """As `get`, in the order asked, side by side where the store allows it."""
        ...

    def named(self, guid: Guid) -> tuple[BodyKey, ...]:
        """Where this content was ever written: the default context first, then named ones; ids ascending."""
        ...

    def last(self, context: str) -> SchemaId:
        """The highest id with a body in the context; 0 if none."""
        ...

    def bury(self, key: BodyKey) -> None:
        """Marks the body gone; repeated, or without a body, it changes nothing."""
        ...

    def revive(self, key: BodyKey, body: Body) -> None:
        """Replaces a tombstone by a living body of the same content."""
        ...


class Journal(Protocol):
    """The ordered log of commits."""

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        """Rows in commit order with their position, from the one after `after`.

        The form is that of `sigla.journal.row`.
        """
        ...


@dataclass(frozen=True, slots=True)
class Zone:
    """An availability zone with an endpoint of its own, as its last heartbeat found it.

    id: equal in every account (use1-az1). name: in the account of the registry (us-east-1a). checked: when, in
    milliseconds since the epoch. reason: what is wrong with it, for everybody's eyes; empty if nothing is.
    """

    id: str
    name: str
    url: str
    healthy: bool
    checked: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Pulse:
    """A member of a zone's ring, asked whether it is there. failure: empty if it is, else a sentence."""

    name: str
    ms: float
    failure: str


class Zones(Protocol):
    """The directory of zones: what their heartbeats said last."""

    def beat(self, zone: Zone) -> None:
        """Replaces what the zone's last heartbeat said, unless that was later than this one."""
        ...

    def list(self) -> tuple[Zone, ...]:
        """Every zone heard of in the last hour, by id; there may be others."""
        ...


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def sleep(self, seconds: float) -> None: ...
