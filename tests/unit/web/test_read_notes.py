"""Who reads ids is counted beside the requests: no read asks a store for it, waits for it, or fails by it."""

import threading
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import pytest

from sigla.changes.kinds import DAY_MS
from sigla.errors import StoreError
from sigla.model import BodyKey, SchemaId
from sigla.observe import Seen
from sigla.ports.clock import day_of
from sigla.ports.reads import LastRead, Read, SomeReads, some_of
from sigla.web.threads import read_notes
from sigla.web.threads.read_notes import ReadNotes
from tests.build import NOW, FixedClock

ONE = BodyKey(".", SchemaId(1))


@dataclass
class Kept:
    """A `ports.Reads` that keeps what was noted, day by day. open: notes wait until it is set."""

    is_narrowed = False
    noted: list[tuple[str, Read]] = field(default_factory=list)
    calls: int = 0
    failing: bool = False
    open: threading.Event = field(default_factory=threading.Event)
    asked: threading.Event = field(default_factory=threading.Event)

    def __post_init__(self) -> None:
        self.open.set()

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None:
        assert kept_ms == DAY_MS
        self.asked.set()
        assert self.open.wait(10)
        self.calls += 1
        if self.failing:
            raise StoreError("the table does not answer")
        self.noted += [(day_of(now), read) for read in reads]

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        return {key: [] for key in keys}

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        return some_of(self.last(keys), most)

    def since(self) -> str:
        return ""

    def count_of(self, principal: str, first: str) -> int | None:  # noqa: ARG002 - as `Reads` has it
        return None


Told = list[dict[str, object]]
Made = Callable[..., ReadNotes]


@pytest.fixture
def kept() -> Kept:
    return Kept()


@pytest.fixture
def told() -> Told:
    return []


@pytest.fixture
def clock() -> FixedClock:
    return FixedClock()


@pytest.fixture
def noting(kept: Kept, told: Told, clock: FixedClock) -> Iterator[Made]:
    made: list[ReadNotes] = []

    def make(gathered_s: float | None = 0, again_s: float = 0.01) -> ReadNotes:
        made.append(ReadNotes(kept, clock, told.append, names_ms=DAY_MS, gathered_s=gathered_s, again_s=again_s))
        return made[-1]

    yield make
    kept.open.set()
    for each in made:
        each.close()


def seen(id: int = 1, subject: str = "", principal: str = "ada") -> Seen:
    key = BodyKey(".", SchemaId(id))
    return Seen("GET", "/schemas/ids/{id}", 200, 0, b"", 0, principal=principal, read=(key, subject))


def test_a_read_is_noted_once_a_day_however_often_it_is_made(noting: Made, kept: Kept, clock: FixedClock) -> None:
    """A million reads of a day are a row that is looked at once."""
    notes = noting()
    for _ in range(3):
        for _ in range(100):
            notes(seen())
        notes.settle()
        clock.time += DAY_MS
    assert kept.noted == [(day_of(NOW + days * DAY_MS), Read(ONE, "", "ada")) for days in range(3)]


def test_ids_subjects_and_principals_are_told_apart(noting: Made, kept: Kept) -> None:
    notes = noting()
    some = [seen(1), seen(2), seen(1, "orders"), seen(1, principal="")]
    for each in (*some, *some):
        notes(each)
    notes.settle()
    assert sorted(read for _, read in kept.noted) == sorted(Read(*one.read, one.principal) for one in some if one.read)


def test_requests_that_read_no_id_are_passed_by(noting: Made, kept: Kept) -> None:
    notes = noting()
    notes(Seen("GET", "/subjects", 200, 0, b"", 0))
    notes.settle()
    assert kept.calls == 0


def test_a_server_writes_what_it_gathered_together(noting: Made, kept: Kept) -> None:
    """Each write of a directory is synced to disk."""
    notes = noting(gathered_s=60)
    for number in range(1, 101):
        notes(seen(number))
    assert kept.calls == 0
    notes.close()
    assert (kept.calls, len(kept.noted)) == (1, 100)


def test_no_request_waits_for_a_note(noting: Made, kept: Kept) -> None:
    notes = noting()
    kept.open.clear()
    notes(seen(1))
    assert kept.asked.wait(10)
    for number in range(2, 100):
        notes(seen(number))
    assert not kept.noted
    kept.open.set()
    notes.settle()
    assert len(kept.noted) == 99


def test_a_read_has_the_day_on_which_it_was_made_however_late_it_is_noted(
    noting: Made, kept: Kept, clock: FixedClock
) -> None:
    notes = noting(gathered_s=60)
    notes(seen(1))
    clock.time += DAY_MS
    notes(seen(2))
    clock.time += 5 * DAY_MS
    notes.close()
    assert [(day, read.key.id) for day, read in kept.noted] == [(day_of(NOW), 1), (day_of(NOW + DAY_MS), 2)]


def test_a_store_that_fails_is_told_once_and_gets_all_of_it_when_it_answers(
    noting: Made, kept: Kept, told: Told
) -> None:
    """Within its window: it is tried again all the time."""
    notes = noting()
    kept.failing = True
    notes(seen(1))
    notes(seen(2))
    while kept.calls < 3:
        kept.asked.clear()
        assert kept.asked.wait(10)
    kept.failing = False
    notes.close()
    assert {read.key.id for _, read in kept.noted} == {1, 2}
    assert [line["message"] for line in told] == [
        "Reads by id are not noted for now, because the table does not answer.",
        f"Reads by id are noted again. Tries that failed: {kept.calls - 1}.",
    ]


def test_nothing_waits_for_a_store_that_fails(noting: Made, kept: Kept) -> None:
    """The end of an invocation of a function, which is paid for."""
    notes = noting(again_s=60)
    kept.failing = True
    notes(seen(1))
    notes.settle(10)
    notes(seen(2))
    notes.settle(60)
    assert kept.calls == 1


def test_what_waits_for_an_answer_is_noted_when_it_is_settled_and_not_before(noting: Made, kept: Kept) -> None:
    """The end of an invocation, after which a process may be frozen."""
    notes = noting(gathered_s=None)
    notes(seen(1))
    assert not kept.asked.wait(0.1)
    assert notes.are_waiting
    notes.settle(10)
    assert kept.calls == 1
    assert not notes.are_waiting
    notes(seen(2))
    notes.close()
    assert len(kept.noted) == 2


def test_what_a_long_failure_keeps_waiting_has_a_bound_and_is_told(
    noting: Made, kept: Kept, told: Told, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_notes, "MOST_WAITING", 10)
    notes = noting(gathered_s=60)
    for number in range(1, 14):
        notes(seen(number))
    notes.close()
    assert len(kept.noted) == 10
    assert told == [{"event": "usage", "message": "3 reads by id were not counted: too many were waiting."}]


def test_what_is_not_remembered_any_more_is_noted_again_and_changes_nothing(
    noting: Made, kept: Kept, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(read_notes, "MOST_KNOWN", 2)
    notes = noting()
    for _ in range(2):
        for number in (1, 2, 3):
            notes(seen(number))
            notes.settle()
    assert len(kept.noted) == 6
    assert len(set(kept.noted)) == 3
