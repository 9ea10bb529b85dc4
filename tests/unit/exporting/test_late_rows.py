"""Rows that come late, as those of a shared store may: none is passed by, and none is written twice."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import pytest

from sigla.exporters.running import turns
from sigla.ports.journal import Journal
from tests.attack.ports import Call, Recorder
from tests.unit.exporting.places import AVRO, Line, Place, places


@dataclass
class LateJournal:
    """A journal whose last rows are not settled yet. hidden: nonces of rows that are still on their way."""

    journal: Journal
    lag: int = 0
    hidden: set[object] = field(default_factory=set)
    lost: bool = False

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        return ((offset, row) for offset, row in self.journal.read(after) if row["nonce"] not in self.hidden)

    def end(self) -> int:
        return max(0, self.journal.end() - self.lag)

    def reaches(self, after: int) -> bool:
        return not self.lost and self.journal.reaches(after)


class SharedStore:
    """A store with such a journal."""

    def __init__(self, store: Any) -> None:
        self._store = store
        self.journal = LateJournal(store.journal)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


def last_nonce(place: Place) -> object:
    return list(place.store.journal.read())[-1][1]["nonce"]


def test_a_row_that_comes_late_is_written_and_the_others_are_not_asked_for_again() -> None:
    """Rows in AWS bear the time at which their commit was planned: an earlier one may be seen later."""
    with places() as (source, target):
        asked = Recorder()
        line, store = Line(source, target, between=asked).begin(), SharedStore(source.store)
        line.turn(store)
        source.register("late", AVRO % 1)
        store.journal.hidden.add(last_nonce(source))
        source.register("soon", AVRO % 2)
        store.journal.lag = 5
        line.turn(store)
        assert target("GET", "/subjects") == ["soon"]
        store.journal.hidden.clear()
        line.turn(store)
        assert target("GET", "/subjects") == ["late", "soon"]
        asked.calls.clear()
        line.turn(store)
        assert asked.calls == []
        seen = line.progress.position.seen
        assert len(seen) == 2
        store.journal.lag = 0
        line.turn(store)
        assert asked.calls == []
        assert line.progress.position.offset == source.store.journal.end()
        assert not line.progress.position.seen


def test_a_row_that_comes_while_earlier_ones_are_written_is_not_passed_by(monkeypatch: pytest.MonkeyPatch) -> None:
    """With a slow destination a reading of the journal takes minutes: what came meanwhile may stand before its end."""
    monkeypatch.setattr(turns, "ROWS", 1)
    with places() as (source, target):
        store = SharedStore(source.store)

        def time_passes(_: Call, carry_out: Callable[[], Any]) -> Any:
            store.journal.hidden.clear()
            store.journal.lag = 0
            return carry_out()

        line = Line(source, target, between=time_passes).begin()
        line.turn(store)
        for number, subject in enumerate(("late", "soon", "sooner")):
            source.register(subject, AVRO % number)
            if subject == "late":
                store.journal.hidden.add(last_nonce(source))
        store.journal.lag = 3
        for _ in range(2):
            line.turn(store)
        assert target("GET", "/subjects") == ["late", "soon", "sooner"]


def test_where_rows_are_not_kept_any_more_the_exporter_walks_through_everything_again() -> None:
    """One that was paused for longer than the journal is kept must not go on as if nothing had happened."""
    with places() as (source, target):
        line, store = Line(source, target).begin(), SharedStore(source.store)
        source.register("first", AVRO % 1)
        line.turn(store)
        source.register("told-by-no-row", AVRO % 2)
        store.journal.hidden.add(last_nonce(source))
        store.journal.lost = True
        line.turn(store)
        assert target("GET", "/subjects") == ["first", "told-by-no-row"]
