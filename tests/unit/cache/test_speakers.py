"""Who speaks for an id: remembered for a while, asked beside the body, and told by the body of a silent catalog."""

import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla.cache import speakers as module
from sigla.cache.speakers import Speakers
from sigla.changes import (
    Change,
    ConfigChanged,
    ContextDropped,
    ImportBegun,
    ModeChanged,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.errors import OutcomeUnknown, StoreError
from sigla.model import Body, BodyKey, Config, Holder, SchemaId, Settings, Subject
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, a_body, a_nonce, a_subject, registered, tiers_before
from tests.waiting import eventually

ONE, TWO = BodyKey(".", SchemaId(1)), BodyKey(".", SchemaId(2))
A, B = a_subject("a"), a_subject("b")
MINUTE_S = 60.0
DEADLOCK_S = 20.0
"""What would wait for ever ends after this, and the test fails."""


@dataclass
class Behind:
    """A catalog and bodies that note what they are asked, and may be held up or fall silent."""

    store: EmbeddedStore
    asked: int = 0
    before: Callable[[], object] = lambda: None
    after: Callable[[], object] = lambda: None
    reading: threading.Event = field(default_factory=threading.Event)
    lost: bool = False
    """Whether the answers to commits get lost."""

    def __getattr__(self, name: str) -> Any:
        return getattr(self.store.catalog, name)

    def speaker(self, key: BodyKey, *by: Subject) -> Holder | None:
        self.asked += 1
        self.before()
        found = self.store.catalog.speaker(key, *by)
        self.after()
        return found

    def commit(self, change: Change) -> tuple[BodyKey, ...]:
        buried = self.store.catalog.commit(change)
        if self.lost:
            raise OutcomeUnknown
        return buried

    def get(self, key: BodyKey) -> Body:
        self.reading.set()
        return self.store.bodies.get(key)

    def get_many(self, keys: Sequence[BodyKey]) -> list[Body]:
        return [self.get(key) for key in keys]

    def fall_silent(self) -> None:
        def refuse() -> None:
            raise StoreError("silent")

        self.before = refuse


@pytest.fixture
def behind() -> Iterator[Behind]:
    with EmbeddedStore() as store:
        yield Behind(store)


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def speakers(behind: Behind, clock: FixedClock) -> Iterator[Speakers]:
    with made_of(behind, clock) as made:
        yield made


def made_of(behind: Any, clock: FixedClock, **options: Any) -> closing[Speakers]:
    """Speakers that remember for a minute, with other options than usual."""
    return closing(Speakers(behind, tiers_before(behind), clock, remembered_ms=60_000, **options))


@pytest.fixture
def impatient(behind: Behind, clock: FixedClock) -> Iterator[Speakers]:
    with made_of(behind, clock, patience_s=0.01) as made:
        yield made


def put(behind: Behind, key: BodyKey = ONE, **fields: Any) -> None:
    behind.store.bodies.put(key, a_body(f"text {key.id}", subject=A, **fields))


def test_an_answer_is_the_same_object_for_a_minute(behind: Behind, speakers: Speakers, clock: FixedClock) -> None:
    """Those who keep what they made of it compare by identity; so it stays the same where nothing has changed."""
    registered(speakers, A)
    first = speakers.speaker(ONE)
    clock.sleep(MINUTE_S - 1)
    assert speakers.speaker(ONE) is first
    assert behind.asked == 1
    clock.sleep(1)
    assert speakers.speaker(ONE) is first
    assert behind.asked == 2


def test_a_minute_begins_with_the_question(behind: Behind, speakers: Speakers, clock: FixedClock) -> None:
    """An answer is as old as what it was read from."""
    registered(speakers, A)
    behind.after = lambda: clock.sleep(MINUTE_S)
    for asked in (1, 2):
        assert speakers.speaker(ONE)
        assert behind.asked == asked


def test_nothing_is_remembered_unless_it_is_wanted(behind: Behind, clock: FixedClock) -> None:
    """What others do is seen at once then."""
    catalog: Any = behind
    with closing(Speakers(catalog, behind.store.bodies, clock)) as speakers:
        registered(behind.store.catalog, B, text="t")
        assert subject_of(speakers.speaker(ONE)) == "b"
        registered(behind.store.catalog, A, text="t")
        assert subject_of(speakers.speaker(ONE)) == "a"


def test_that_nobody_holds_an_id_is_never_remembered(behind: Behind, speakers: Speakers) -> None:
    """What was acknowledged is there, whoever was told a moment before that it is not."""
    assert speakers.speaker(ONE) is None
    registered(behind.store.catalog, A)
    assert subject_of(speakers.speaker(ONE)) == "a"


def test_what_this_instance_commits_is_seen_at_once(speakers: Speakers) -> None:
    """A smaller subject speaks from now on; a deleted version says so; a purged one is gone."""
    row = registered(speakers, B, text="t")
    assert subject_of(speakers.speaker(ONE)) == "b"
    registered(speakers, A, text="t")
    assert subject_of(speakers.speaker(ONE)) == "a"
    speakers.commit(SubjectDeleted(speakers.snapshot(A).head, row.version, NOW, a_nonce()))
    assert subject_of(speakers.speaker(ONE)) == "b"
    speakers.commit(VersionDeleted(speakers.snapshot(B).head, row, NOW, a_nonce()))
    holder = speakers.speaker(ONE)
    assert holder is not None
    assert holder.deleted
    speakers.commit(VersionPurged(speakers.snapshot(B).head, speakers.history(B)[0], NOW, a_nonce()))
    assert subject_of(speakers.speaker(ONE)) == "a"
    speakers.commit(SubjectPurged(speakers.snapshot(A).head, speakers.history(A), NOW, a_nonce()))
    assert speakers.speaker(ONE) is None


def test_an_import_is_seen_at_once(speakers: Speakers) -> None:
    """It may purge anything in its scope."""
    row = registered(speakers, A)
    speakers.commit(SubjectDeleted(speakers.snapshot(A).head, row.version, NOW, a_nonce()))
    assert speakers.speaker(ONE)
    speakers.commit(ImportBegun(a_subject("", "."), Settings(), NOW, a_nonce()))
    assert speakers.speaker(ONE) is None


def test_what_does_not_concern_an_id_leaves_it_alone(behind: Behind, speakers: Speakers) -> None:
    """Writers do not make readers slow: another subject's versions, modes, contexts."""
    registered(speakers, A)
    first = speakers.speaker(ONE)
    registered(speakers, B, id=2)
    speakers.commit(ModeChanged(A, Settings(), "READONLY", NOW, a_nonce()))
    speakers.commit(ConfigChanged(B, Settings(), Config(level="FULL"), NOW, a_nonce()))
    speakers.commit(ContextDropped(".none", NOW, a_nonce()))
    assert speakers.speaker(ONE) is first
    assert behind.asked == 1


def test_a_commit_of_unknown_outcome_may_have_been_made(behind: Behind, speakers: Speakers) -> None:
    """So what it touches is asked again."""
    row = registered(speakers, A)
    change = SubjectDeleted(speakers.snapshot(A).head, row.version, NOW, a_nonce())
    assert speakers.speaker(ONE)

    behind.lost = True
    with pytest.raises(OutcomeUnknown):
        speakers.commit(change)
    holder = speakers.speaker(ONE)
    assert holder is not None
    assert holder.deleted


def test_an_answer_from_before_a_commit_is_not_remembered_after_it(behind: Behind, speakers: Speakers) -> None:
    """A question and a commit of one instance at the same time."""
    registered(speakers, B, text="t")
    read, written = threading.Event(), threading.Event()

    def wait() -> None:
        read.set()
        assert written.wait(DEADLOCK_S)

    behind.after = wait
    with ThreadPoolExecutor(1) as other:
        under_way = other.submit(speakers.speaker, ONE)
        assert read.wait(DEADLOCK_S)
        registered(speakers, A, text="t")
        written.set()
        under_way.result()
    assert subject_of(speakers.speaker(ONE)) == "a"


def test_the_answer_remembered_first_goes_first(behind: Behind, clock: FixedClock) -> None:
    """Memory has a bound."""
    with made_of(behind, clock, remembered=1) as speakers:
        for id in (1, 2):
            registered(speakers, A, id=id)
        for key in (ONE, TWO, TWO, ONE):
            assert speakers.speaker(key)
    assert behind.asked == 3


def test_a_body_is_read_while_the_catalog_thinks(behind: Behind, speakers: Speakers) -> None:
    """One trip instead of two, for a caller that asks who speaks for an id goes on to read it."""
    registered(speakers, A)
    put(behind)
    both = []
    behind.before = lambda: both.append(behind.reading.wait(DEADLOCK_S))
    assert subject_of(speakers.speaker(ONE)) == "a"
    assert both == [True]


def test_what_one_subject_answers_is_remembered_apart(behind: Behind, speakers: Speakers) -> None:
    """`?subject=` is what deserializers send: as quick as without, and never mixed up with it."""
    registered(speakers, A, text="t")
    registered(speakers, B, text="t")
    for _ in range(2):
        assert [subject_of(speakers.speaker(ONE, by)) for by in (None, A, B)] == ["a", "a", "b"]
    assert behind.asked == 3


def test_a_subject_that_becomes_another_name_answers_no_more(speakers: Speakers) -> None:
    """The alias leads to whoever answers."""
    registered(speakers, A)
    assert speakers.speaker(ONE, A)
    speakers.commit(ConfigChanged(A, Settings(), Config(alias="b"), NOW, a_nonce()))
    assert speakers.speaker(ONE, A) is None


def test_a_body_answers_for_its_first_registrant_and_nobody_else(behind: Behind, speakers: Speakers) -> None:
    """The same number may mean something else where another subject is at home: that only the catalog can tell."""
    put(behind)
    put(behind, TWO, gone=True)
    behind.fall_silent()
    assert subject_of(speakers.speaker(ONE, A)) == "a"
    for key, by in ((ONE, B), (TWO, A), (BodyKey(".", SchemaId(3)), A)):
        with pytest.raises(StoreError):
            speakers.speaker(key, by)


def test_a_silent_catalog_lets_the_body_answer(behind: Behind, speakers: Speakers) -> None:
    """Its first registrant; whether that one has deleted it, it does not say. A tombstone has no holder."""
    put(behind)
    put(behind, TWO, gone=True)
    behind.fall_silent()
    holder = speakers.speaker(ONE)
    assert holder is not None
    assert (holder.subject, holder.version, holder.ts, holder.catalogued) == (A, 1, NOW, False)
    assert speakers.speaker(TWO) is None


def test_an_id_without_a_body_is_told_by_nobody_while_the_catalog_is_silent(behind: Behind, speakers: Speakers) -> None:
    """It may have a holder, and its body is lost: a reader who is told that there is no such id gives a record up."""
    behind.fall_silent()
    with pytest.raises(StoreError):
        speakers.speaker(BodyKey(".", SchemaId(3)))


def test_what_a_body_told_is_not_remembered(behind: Behind, speakers: Speakers) -> None:
    """The catalog is heard of again at once."""
    put(behind)
    registered(behind.store.catalog, B)
    behind.fall_silent()
    assert subject_of(speakers.speaker(ONE)) == "a"
    behind.before = lambda: None
    assert subject_of(speakers.speaker(ONE)) == "b"


def test_a_catalog_that_keeps_waiting_is_not_waited_for_again(
    behind: Behind, impatient: Speakers, clock: FixedClock
) -> None:
    """Its silence costs one read in five seconds its patience, and no other anything."""
    put(behind)
    heard = threading.Event()
    behind.before = lambda: heard.wait(DEADLOCK_S)
    for _ in range(3):
        assert subject_of(impatient.speaker(ONE)) == "a"
    assert behind.asked == 1
    clock.sleep(module.REST_MS / 1000)
    assert subject_of(impatient.speaker(ONE)) == "a"
    assert behind.asked == 2
    heard.set()


def test_a_late_answer_ends_the_silence(behind: Behind, impatient: Speakers) -> None:
    """The catalog was slow once: no caller has to wait until it is asked again."""
    put(behind)
    registered(behind.store.catalog, B)
    heard = threading.Event()
    behind.before = lambda: heard.wait(DEADLOCK_S)
    assert subject_of(impatient.speaker(ONE)) == "a"
    heard.set()
    eventually(lambda: subject_of(impatient.speaker(ONE)) == "b")


def subject_of(holder: Holder | None) -> str:
    assert holder is not None
    return holder.subject.name
