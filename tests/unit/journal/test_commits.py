"""A change is told by a row of the journal, and read where the same stands as stood before it: then it is the same."""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any, get_args

import orjson
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla import journal
from sigla.associations.nouns import STRONG, WEAK, Association, Resource
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
from sigla.errors import StoreError
from sigla.exporters.nouns import START, ContextType, Exporter, ExporterState
from sigla.journal import Effects, UnknownCommit
from sigla.keks.nouns import Algorithm, Dek, Kek
from sigla.model import (
    Chain,
    Config,
    Guid,
    Metadata,
    Reference,
    Row,
    Rule,
    RuleSet,
    SchemaId,
    Settings,
    Subject,
    Target,
    Version,
)
from sigla.ports.subjects import Snapshot, VersionKey
from tests.build import NOW, a_registered, a_row


@dataclass
class Stands:
    """What stood before a change, as a follower's catalog would tell it."""

    heads: dict[Subject, Head] = field(default_factory=dict)
    histories: dict[Subject, tuple[Row, ...]] = field(default_factory=dict)
    settings: dict[Subject, Settings] = field(default_factory=dict)

    def snapshot(self, subject: Subject, *, wanted: Sequence[VersionKey] = ()) -> Snapshot:
        heads = {each: self.heads.get(each, Head(each)) for each in (subject, *(key.subject for key in wanted))}
        rows = {key: row for key in wanted for row in self.history(key.subject) if row.version == key.version}
        return Snapshot(heads[subject], Chain(own=self.settings.get(subject, Settings())), rows, heads)

    def history(self, subject: Subject) -> tuple[Row, ...]:
        return self.histories.get(subject, ())


TEXTS = st.text(max_size=6)
NUMBERS = st.integers(0, 9)
MAYBE = st.booleans()
SUBJECTS = st.builds(Subject, st.sampled_from([".", ".c"]), TEXTS)
NAMED = SUBJECTS.filter(lambda subject: bool(subject.name))
TIMES = {"ts": st.integers(0, NOW), "nonce": TEXTS}
ROWS = st.builds(
    Row,
    NUMBERS,
    NUMBERS,
    TEXTS,
    TEXTS,
    st.lists(st.builds(Reference, TEXTS, TEXTS, NUMBERS), max_size=2).map(tuple),
    MAYBE,
    NUMBERS,
    NUMBERS,
)
HISTORIES = st.lists(ROWS, max_size=4, unique_by=lambda row: row.version).map(
    lambda rows: tuple(sorted(rows, key=lambda row: row.version))
)
TARGETS = st.lists(st.builds(Target, TEXTS, TEXTS, NUMBERS, NUMBERS), max_size=2).map(tuple)
DIGESTS = st.lists(TEXTS, max_size=2).map(tuple)
VERSIONS = st.builds(ImportedVersion, ROWS, TARGETS, DIGESTS)
RULES = st.builds(Rule, name=TEXTS, tags=st.none() | DIGESTS, disabled=MAYBE)
CONFIGS = st.builds(
    Config,
    alias=st.none() | TEXTS,
    normalize=st.none() | MAYBE,
    level=st.none() | TEXTS,
    override_metadata=st.none() | st.builds(Metadata, properties=st.dictionaries(TEXTS, TEXTS, max_size=2)),
    default_rule_set=st.none() | st.builds(RuleSet, domain=st.lists(RULES, max_size=1).map(tuple)),
)
SETTINGS = st.builds(Settings, st.none() | CONFIGS, st.none() | TEXTS, TEXTS)
KEKS = st.builds(Kek, TEXTS, TEXTS, TEXTS, st.dictionaries(TEXTS, st.none() | TEXTS, max_size=2), st.none() | TEXTS)
DEKS = st.builds(Dek, TEXTS, TEXTS, st.sampled_from(Algorithm), NUMBERS, TEXTS, MAYBE, NUMBERS, TEXTS)
WRITES = st.builds(DekWrite, st.none() | DEKS, st.none() | DEKS).filter(lambda write: bool(write.seen or write.dek))
EXPORTERS = st.builds(
    Exporter,
    TEXTS,
    DIGESTS,
    st.sampled_from(ContextType),
    config=st.dictionaries(TEXTS, TEXTS, max_size=2),
    hidden=DIGESTS,
    credentials=TEXTS,
    revision=TEXTS,
)
RESOURCES = st.builds(Resource, TEXTS, TEXTS, TEXTS)
ASSOCIATIONS = st.lists(
    st.builds(Association, NAMED, TEXTS, RESOURCES, TEXTS, st.sampled_from([WEAK, STRONG]), NUMBERS, NUMBERS),
    max_size=2,
).map(tuple)


@dataclass
class Drawn:
    """Draws changes of one registry, and notes what has to stand before them."""

    draw: st.DrawFn
    stands: Stands = field(default_factory=Stands)

    def head(self, subject: Subject | None = None) -> Head:
        subject = subject or self.draw(NAMED)
        if subject not in self.stands.heads:
            rows = self.stands.histories[subject] = self.draw(HISTORIES)
            newest = self.draw(st.none() | st.sampled_from(rows)) if rows else None
            self.stands.heads[subject] = self.draw(
                st.builds(Head, st.just(subject), NUMBERS, NUMBERS, NUMBERS, NUMBERS, st.just(newest), TEXTS, NUMBERS)
            )
        return self.stands.heads[subject]

    def heads(self, most: int = 2) -> tuple[Head, ...]:
        return tuple(map(self.head, self.draw(st.lists(NAMED, max_size=most, unique=True))))

    def some_rows(self, head: Head) -> tuple[Row, ...]:
        rows = self.stands.histories[head.subject]
        return tuple(row for row in rows if self.draw(MAYBE))

    def one_row(self, head: Head) -> Row:
        rows = self.stands.histories[head.subject]
        if not rows:
            rows = self.stands.histories[head.subject] = (self.draw(ROWS),)
        return self.draw(st.sampled_from(rows))

    def seen(self) -> tuple[Subject, Settings]:
        scope = self.draw(SUBJECTS)
        return scope, self.stands.settings.setdefault(scope, self.draw(SETTINGS))

    def times(self) -> dict[str, Any]:
        return {name: self.draw(values) for name, values in TIMES.items()}

    def registered(self, head: Head) -> Registered:
        brought, purged, seen = self.draw(VERSIONS), self.some_rows(head), self.heads()
        more: dict[str, Any] = {"purged": purged, "seen": seen, "imported": self.draw(MAYBE)}
        return Registered(head, brought.row, targets=brought.targets, digests=brought.digests, **self.times(), **more)

    def associated(self) -> AssociationsChanged:
        heads = self.heads(3) or (self.head(),)
        return AssociationsChanged(
            self.draw(TEXTS),
            self.draw(ASSOCIATIONS),
            heads,
            **self.times(),
            written=self.draw(ASSOCIATIONS),
            removed=self.draw(ASSOCIATIONS),
            registered=tuple(self.registered(head) for head in heads if self.draw(MAYBE)),
            purged=tuple(
                SubjectPurged(head, self.stands.history(head.subject), **self.times())
                for head in heads
                if self.draw(MAYBE)
            ),
        )

    def of(self, kind: type[Change]) -> Change:
        draw, times = self.draw, self.times()
        match kind.__name__:
            case "Registered":
                return self.registered(self.head())
            case "Imported":
                versions = tuple(draw(st.lists(VERSIONS, max_size=3)))
                return Imported(self.head(), versions, seen=self.heads(), **times)
            case "Displaced":
                head = self.head()
                return Displaced(head, draw(ROWS), self.some_rows(head), known=draw(MAYBE), **times)
            case "VersionDeleted":
                head = self.head()
                return VersionDeleted(head, self.one_row(head), **times)
            case "VersionPurged":
                head = self.head()
                return VersionPurged(head, self.one_row(head), **times)
            case "SubjectDeleted":
                return SubjectDeleted(self.head(), Version(draw(NUMBERS)), **times)
            case "SubjectPurged":
                head = self.head()
                return SubjectPurged(head, self.stands.history(head.subject), **times)
            case "ConfigChanged":
                return ConfigChanged(*self.seen(), draw(st.none() | CONFIGS), **times)
            case "ModeChanged":
                return ModeChanged(*self.seen(), draw(st.none() | TEXTS), **times)
            case "ImportBegun":
                return ImportBegun(*self.seen(), **times)
            case "ContextListed":
                return ContextListed(draw(TEXTS), **times)
            case "ContextDropped":
                return ContextDropped(draw(TEXTS), **times)
            case "NumberingSet":
                return NumberingSet(draw(TEXTS), SchemaId(draw(NUMBERS)), SchemaId(draw(NUMBERS)), **times)
            case "IdBuried":
                version, id = Version(draw(NUMBERS)), SchemaId(draw(NUMBERS))
                return IdBuried(self.head().subject, version, id, Guid(draw(TEXTS)), **times)
            case "KekChanged":
                return KekChanged(
                    draw(TEXTS), draw(st.none() | KEKS), draw(st.none() | KEKS), unused=draw(MAYBE), **times
                )
            case "DeksChanged":
                return DeksChanged(draw(KEKS), tuple(draw(st.lists(WRITES, min_size=1, max_size=2))), **times)
            case "AssociationsChanged":
                return self.associated()
            case "ExporterChanged":
                exporters = draw(st.none() | EXPORTERS), draw(st.none() | EXPORTERS)
                state, position = draw(st.sampled_from(ExporterState)), draw(st.sampled_from([None, START]))
                return ExporterChanged(draw(TEXTS), *exporters, state=state, position=position, **times)
            case _:
                raise AssertionError(kind)


def told(change: Change, effects: Effects = journal.NO_EFFECTS) -> dict[str, Any]:
    """As a follower reads its row: through JSON, and without whoever asked for it, who is told beside."""
    row = {
        "change": type(change).__name__,
        "ts": change.ts,
        "nonce": change.nonce,
        "commit": journal.commit_form(change, effects),
    }
    read: dict[str, Any] = orjson.loads(orjson.dumps(row))
    return read


@pytest.mark.parametrize("kind", get_args(Change), ids=lambda kind: kind.__name__)
@given(data=st.data())
def test_every_change_is_read_as_it_was_told(kind: type[Change], data: st.DataObject) -> None:
    """What got lost on the way would be lost in the other region, and be found the day it takes over."""

    @st.composite
    def changes(draw: st.DrawFn) -> tuple[Change, Stands]:
        drawn = Drawn(draw)
        return drawn.of(kind), drawn.stands

    change, stands = data.draw(changes())
    assert journal.change_of(told(change), stands) == change


PURGED = st.lists(st.tuples(NAMED, NUMBERS), max_size=3).map(lambda found: tuple(sorted(found, key=str)))
FLAT = st.builds(Effects, MAYBE, PURGED, MAYBE, MAYBE, MAYBE)
EFFECTS = FLAT | st.builds(Effects, parts=st.lists(FLAT, min_size=1, max_size=2).map(tuple))


@given(EFFECTS)
def test_what_a_commit_found_is_read_as_it_was_told(effects: Effects) -> None:
    """A row is made of a change and of what it found: a segment's reader makes it of both."""
    read = journal.effects_of(told(ContextListed(".c", NOW, "n"), effects))
    assert read == replace(effects, purged=read.purged)
    assert sorted(read.purged, key=str) == sorted(effects.purged, key=str)


def test_a_purge_of_a_large_subject_is_a_small_row() -> None:
    """DynamoDB takes 400 KB for an item: what goes is named by its subject, however much it is."""
    rows = tuple(a_row(number, number) for number in range(1, 10_001))
    form = journal.commit_form(SubjectPurged(Head(Subject(".", "orders"), 10_000), rows, NOW, "n"), journal.NO_EFFECTS)
    assert len(orjson.dumps(form)) < 100


@pytest.mark.parametrize(
    "wrong",
    [
        {"change": "SchemaFrozen"},
        {"change": None},
        {"commit": {"change": {"head": "orders"}}},
        {"commit": {"change": []}},
        {"commit": {}},
        {"ts": None, "commit": {"change": {}}},
    ],
    ids=["a newer kind", "no kind", "a head of another shape", "no form", "no change", "an empty form"],
)
def test_nothing_is_concluded_from_what_cannot_be_read(wrong: dict[str, Any]) -> None:
    """A newer release may commit what this one does not know: it is told, and waits for an upgrade."""
    row = told(a_registered(Head(Subject(".", "orders")))) | wrong
    with pytest.raises(UnknownCommit) as unknown:
        journal.change_of(row, Stands())
    assert isinstance(unknown.value, StoreError)


def test_a_row_without_its_commit_is_of_a_registry_without_a_second_region() -> None:
    """Rows of former releases, and those before a registry got its region: they cannot be carried out again."""
    row = told(a_registered(Head(Subject(".", "orders"))))
    del row["commit"]
    with pytest.raises(UnknownCommit, match="what a Registered needs"):
        journal.change_of(row, Stands())
