"""Rows of the table ↔ our nouns: for each kind of row one function that writes it and one that reads it.

    HEAD          context, name, revision, nonce, at, generation, highest, newest, hidden, referred; associations,
                  strong: how many it has, and whether its one is strong
    V#…           row, nonce, targets, digests
    C#…           commit: an entry of the history; carried: it is of another journal than this registry's
    SETTINGS      config, mode, revision, at; asker, while its scope is being cleared for an import
                  and its copy in the list: context, name, config, mode, …
                  that of the whole registry also has role, kind, turn: what the region is (`fence`)
    NEXT          next: the last id given; ceiling, epoch, first, once the registry has a role (`regions`)
    ROLE          epoch, kind, open, turn: what the region is, for commits to check
    ID            ids: every id that stands for the content, the one last written first; at: when imports decided that
    HOLDERS       count, buried, displaced: name, version, generation, ts and revision of the last holder, where an
                  import has written over it; good only without a holder, and while something stands in that place
    @… (holder)   context, name, version, generation, deleted, ts, revision
    referrer      context, name, generation, version, id, referenced, nonce
    name, context, list     context, name; the list also active, a context also count
    carried       context, name of a subject whose history is also another registry's
    KEK           kek (absent: removed for good; the row keeps its time), revision, at, stored, active: its DEKs
    DEK           dek, revision    and its copy in the list: kek, subject, deleted
    ASSOCIATED    guids: of the associations of a resource, by which a commit tells that they are as they were seen
    association   association: in the partition of its resource, of its subject, of its resource's name, in the list
    EXPORTER      exporter (absent: removed; the row keeps its time), revision, at; state, position, ts, trace: its
                  progress, of which all but the state are changed without a revision
    principals    name, token, until, expires: of who changed something
    reads         by, subject, day, expires: who read an id last, and on which day; and day: since when that is noted
    journal       form, expires; then segment: the number of the segment that tells it, or aside: why none does
    aside, apart  row, position: a commit of another region that waits for another one, or that diverges
    COPYING       owner, since, after, copied, bodies, pointers, complete: how far the copy of another region's table is
                  (`copying`); rows, objects: how many it has; and on a row for each lane the owner (`copy_writing`)
    COMPLETE      at: the moment up to which all that was committed in the other region is here (`comparing`)
    INSTALLED     at, form, peer: which release the stack runs with which options, which other region its settings name,
                  and when it said so last (`installed`)
    ALONE         until: how long others leave the copy to whoever is at it (`region_turns`)
    LAST          number, rows, open: the last segment of the journal, open while its object may not be there;
                  hash: its SHA-256; follows, before: number and hash of the one before it
    CAUGHT_UP     at: every journal row before it has a segment
    DELIVERED     through: a number; a bus has taken the events of every segment up to it
    TALLY         versions: how many the registry holds, where that is bounded; counted: when they were counted last

known: of HOLDERS, of an id that an import has brought (`ids`). followed: in a region that follows, too (`stamped`).
moves: of SETTINGS, a context, KEK and EXPORTER, in a registry with a second region (`numbers`).

hidden: rows with an older revision are soft-deleted, whatever they say: the mark of a subject's soft delete.

Every item has a `form` besides (`actions`, `forms.ITEM`); that of a journal row is the row, which says its own. What
is to be obeyed, as a ceiling of ids would be, raises it; an attribute that may be passed by is kept by updates.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

from sigla import records
from sigla.associations import records as association_records
from sigla.associations.nouns import Association
from sigla.changes import Head
from sigla.model import Config, Holder, Referrer, Row, SchemaId, Settings, Subject, Version
from sigla.stores.dynamodb.values import Item, packed, unpacked

NO_SETTINGS = Settings()


# --- heads -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SubjectState:
    """A head with what only this store knows of a subject. hidden, at: as in the table above."""

    head: Head
    hidden: int = 0
    at: int = 0

    def shown(self, row: Row) -> Row:
        """The row with the mark of a soft delete of the whole subject."""
        return replace(row, deleted=True) if row.revision < self.hidden and not row.deleted else row


def state(subject: Subject, item: Item | None) -> SubjectState:
    if item is None:
        return SubjectState(Head(subject))
    head = Head(
        subject,
        item.get("revision", 0),
        item.get("referred", 0),
        item.get("generation", 0),
        item.get("highest", 0),
        records.row(unpacked(item["newest"])) if "newest" in item else None,
        item.get("nonce", ""),
        item.get("associations", 0),
        item.get("strong", False),
    )
    return SubjectState(head, item.get("hidden", 0), item.get("at", 0))


# --- versions --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Stored:
    """A version's row with what its removal has to know. targets: what it references, as (subject, version)."""

    row: Row
    nonce: str
    targets: tuple[tuple[Subject, Version], ...] = ()
    digests: tuple[str, ...] = ()


def version_item(stored: Stored) -> Item:
    targets = [[target.context, target.name, version] for target, version in stored.targets]
    return {
        "row": row_value(stored.row),
        "nonce": stored.nonce,
        "targets": packed(targets) if targets else None,
        "digests": list(stored.digests),
    }


def version(item: Item) -> Stored:
    targets = unpacked(item["targets"]) if "targets" in item else ()
    return Stored(
        records.row(unpacked(item["row"])),
        item["nonce"],
        tuple((Subject(context, name), Version(number)) for context, name, number in targets),
        tuple(item["digests"]),
    )


def row_value(row: Row | None) -> str | bytes | None:
    return packed(records.row_json(row)) if row else None


# --- settings --------------------------------------------------------------------------------------------------------


def settings_item(settings: Settings) -> Item:
    return {
        "config": packed(records.config_json(settings.config)) if settings.config is not None else None,
        "mode": settings.mode,
        "revision": settings.revision,
    }


def settings(item: Item | None) -> Settings:
    if item is None:
        return NO_SETTINGS
    config: Config | None = records.config(unpacked(item["config"])) if "config" in item else None
    # A row that has the region's role need not have had settings.
    return Settings(config, item.get("mode"), item.get("revision", ""))


# --- who holds, who refers -------------------------------------------------------------------------------------------


def named_item(subject: Subject) -> Item:
    return {"context": subject.context, "name": subject.name}


def subject_of(item: Mapping[str, Any]) -> Subject:
    return Subject(item["context"], item["name"])


def holder_item(subject: Subject, row: Row, generation: int) -> Item:
    return named_item(subject) | {
        "version": row.version,
        "generation": generation,
        "deleted": row.deleted,
        "ts": row.ts,
        "revision": row.revision,
    }


def holder(item: Item, of: SubjectState) -> Holder | None:
    """None if the subject has begun a new generation since."""
    if item["generation"] != of.head.generation:
        return None
    deleted = item["deleted"] or item["revision"] < of.hidden
    return Holder(of.head.subject, Version(item["version"]), deleted, item["ts"], item["revision"])


@dataclass(frozen=True, slots=True)
class LastHolder:
    """The version that was the last to hold an id before it was written over."""

    name: str
    version: Version
    generation: int
    ts: int
    revision: int

    @classmethod
    def of(cls, subject: Subject, row: Row, generation: int) -> "LastHolder":
        return cls(subject.name, row.version, generation, row.ts, row.revision)

    def value(self) -> str | bytes:
        return packed([self.name, self.version, self.generation, self.ts, self.revision])


def is_unheld(item: Item | None) -> bool:
    """By the counts of an id: no version holds it, and none was written over that did."""
    return item is None or (item.get("count", 0) <= 0 and "displaced" not in item)


def last_holder(item: Item | None) -> LastHolder | None:
    """By the counts of an id: None while a version holds it, or where none was written over."""
    if item is None or item["count"] > 0 or "displaced" not in item:
        return None
    name, version, generation, ts, revision = unpacked(item["displaced"])
    return LastHolder(name, Version(version), generation, ts, revision)


def referrer_item(referrer: Subject, generation: int, row: Row, referenced: Version, nonce: str) -> Item:
    return named_item(referrer) | {
        "generation": generation,
        "version": row.version,
        "id": row.id,
        "referenced": referenced,
        "nonce": nonce,
    }


def referrer(item: Item, of: SubjectState, stored: Item | None) -> tuple[Version, Referrer] | None:
    """None if the version that claimed to refer was never committed, or is gone. stored: its row."""
    if stored is None or stored["nonce"] != item["nonce"] or item["generation"] != of.head.generation:
        return None
    row = of.shown(version(stored).row)
    found = Referrer(of.head.subject, row.version, SchemaId(item["id"]), row.deleted)
    return Version(item["referenced"]), found


def ids(item: Item | None) -> Sequence[SchemaId]:
    """The ids that stand for a content, the one last written first."""
    return [SchemaId(number) for number in item["ids"]] if item else []


def association_item(one: Association) -> Item:
    return {"association": packed(association_records.row(one))}


def association(item: Item) -> Association:
    return association_records.from_row(unpacked(item["association"]))


def is_listed(context: Item | None) -> bool:
    """Whether a context is in the list, by its row."""
    return context is not None and "dropped" not in context
