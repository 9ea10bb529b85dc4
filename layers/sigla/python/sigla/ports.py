"""What the verbs need of the world, in our words.

The comments are part of the promise: `tests/contract/` holds every adapter to them.

A registration asks once (`snapshot`), decides purely, commits once (`commit`). All a decision rests on is in the
`Change`, as it was seen.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from sigla.changes import Change, Head
from sigla.model import (
    Body,
    BodyKey,
    Chain,
    Guid,
    Holder,
    Referrer,
    Row,
    SchemaId,
    Search,
    Settings,
    Show,
    Subject,
    Version,
)


class VersionKey(NamedTuple):
    """A tuple, because each snapshot is looked up by some."""

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


class Catalog(Protocol):
    """Ids, versions, settings. Every read sees every commit that has returned (linearizable per subject)."""

    @property
    def state(self) -> int | None:
        """A number that stays for as long as every question has the answer that it had.

        None where nobody can tell, as where others write, too, and while this thread may have changed something.
        """
        ...

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
        """The id that stands for this content in a context: the one last written, of those held or displaced."""
        ...

    def standing(self, guid: Guid) -> SchemaId | None:
        """`id_of` in the default context, for who can find the content by its bodies, too.

        None also where the catalog does not answer, and soon.
        """
        ...

    def speaker(self, key: BodyKey, by: Subject | None = None) -> Holder | None:
        """Who answers for an id; None if nobody holds it. Costs the same for one holder and for thousands.

        The smallest subject in which the id is active, or else the smallest; of it the version written last. Of an id
        that nobody holds what `displaced` says, and never `deleted`.
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

    def displaced(self, key: BodyKey) -> Holder | None:
        """The version that was the last to hold the id, until an import wrote another one over it.

        `deleted` says whether what stands in its place now is. None where a version holds the id, and where nothing
        stands in that place any more: then the id is gone for good.
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
        """The number after `max_id`, never given out before but where a change set that lower; the first is 1.

        Raises errors.IdsExhausted past 2^31 - 1.
        """
        ...

    def raise_counter(self, context: str, to: SchemaId) -> None:
        """Numbers up to `to` are not given out any more."""
        ...

    def max_id(self, context: str) -> SchemaId:
        """The highest number given out or raised to, or where numbering was made to go on since; 0 if none."""
        ...

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        """All of the change and its journal row, or nothing. Yields the ids it buried: they lost their last holder.

        One that lost it to a version that overwrites it is not buried, but displaced.

        Raises Conflict if what the change saw is no longer so, OutcomeUnknown if it cannot say.
        """
        ...


class Bodies(Protocol):
    """What ids mean: write-once, readable without the catalog."""

    def put(self, key: BodyKey, body: Body) -> None:
        """Writes the body and its pointer by GUID. The same writer's body again (equal nonce) is no error.

        Raises Taken with the standing body if there is another, BodyDamaged if what stands there cannot be believed.
        """
        ...

    def get(self, key: BodyKey) -> Body:
        """What `rules.bodies` believes. Raises BodyMissing, BodyDamaged.

        A tombstone is returned like any body: what it means does not change.
        """
        ...

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        """As `get`, in the order asked, side by side where the store allows it."""
        ...

    def named(self, guid: Guid) -> tuple[BodyKey, ...]:
        """Where this content was ever written: the default context first, then named ones; ids ascending.

        Also where its body is lost by now: whoever reads that is told so.
        """
        ...

    def last(self, context: str) -> SchemaId:
        """The highest id with a body in the context; 0 if none."""
        ...

    def next_above(self, key: BodyKey) -> SchemaId | None:
        """The lowest id above this one with a body in its context, living or gone; None if there is none."""
        ...

    def bury(self, key: BodyKey) -> None:
        """Marks the body gone; repeated, or without a body, it changes nothing."""
        ...

    def revive(self, key: BodyKey, body: Body) -> None:
        """Replaces a tombstone by a living body of the same content."""
        ...

    def mend(self, key: BodyKey, body: Body) -> None:
        """Puts the body in the place of nothing, of a damaged one or of other content; of its own content it stays.

        Only for who knows from the catalog that the id means this. Raises StoreError.
        """
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


class Mark(Protocol):
    """The identity of a deployment, borne by a store of its data: written by a person, read by everybody.

    kind, name: of the store, as people call it: the table orders.
    """

    @property
    def kind(self) -> str: ...
    @property
    def name(self) -> str: ...

    def read(self) -> str:
        """Empty if there is none, `errors.GARBLED` if what is there is none. Sees every write that has returned."""
        ...

    def write(self, identity: str, seen: str) -> bool:
        """Puts it in the place of what was seen, which may be nothing; False if something else is there by now.

        Also False where our own answer was lost: whoever reads again finds it written.
        """
        ...


class Marks(NamedTuple):
    """Those of the two stores that have to be of one deployment."""

    catalog: Mark
    bodies: Mark


class Clock(Protocol):
    def now(self) -> int:
        """Milliseconds since the epoch."""
        ...

    def elapsed(self) -> int:
        """Milliseconds since any moment, for measuring how long something lasts: nobody can set this clock back."""
        ...

    def sleep(self, seconds: float) -> None: ...


@dataclass(frozen=True, slots=True)
class Moment:
    """By both clocks: one can be set back, the other stands still while a machine sleeps, or a function is frozen."""

    now: int
    elapsed: int

    @classmethod
    def of(cls, clock: Clock) -> "Moment":
        return cls(clock.now(), clock.elapsed())

    def is_younger(self, ms: int, clock: Clock) -> bool:
        return 0 <= clock.now() - self.now < ms and clock.elapsed() - self.elapsed < ms
