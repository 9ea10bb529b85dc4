"""Histories of a few keys, made by hypothesis, and what folding one gives: the model of a state."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import Any

from hypothesis import strategies as st

BEGAN = datetime(2026, 1, 1, tzinfo=UTC)


@dataclass(frozen=True)
class Change:
    """One record. at: its place in the order of all, and its time. value: None of a tombstone."""

    at: int
    partition: int
    offset: int
    key: str
    value: str | None

    @property
    def ts(self) -> datetime:
        return BEGAN + timedelta(seconds=self.at)

    @property
    def identity(self) -> tuple[int, int]:
        return self.partition, self.offset


History = Sequence[Change]


def folded(history: History) -> dict[str, Change]:
    """The state, as any reader would write it down: one change after another."""
    rows: dict[str, Change] = {}
    for change in history:
        if change.value is None:
            rows.pop(change.key, None)
        else:
            rows[change.key] = change
    return rows


@dataclass(frozen=True)
class Delivery:
    """A history, and when each of its changes comes: some late, out of a quarantine, and some twice."""

    history: History
    arrivals: tuple[int, ...]
    again: frozenset[int]

    def round(self, number: int) -> list[Change]:
        """What comes then. Whatever came in the round before and is to come again comes with it."""
        return [
            change
            for change, arrival in zip(self.history, self.arrivals, strict=True)
            if arrival == number or (arrival == number - 1 and change.at in self.again)
        ]


ROUNDS = 2


@st.composite
def deliveries(draw: st.DrawFn) -> Delivery:
    """Deliveries of up to three keys in up to two partitions; a key may move once, as when a topic is widened."""
    steps = draw(st.lists(st.tuples(st.sampled_from("abc"), st.booleans(), st.booleans()), min_size=1, max_size=12))
    moved, before = draw(st.dictionaries(st.sampled_from("abc"), st.integers(0, 12))), draw(st.integers(0, 1))
    ends = [0, 0]
    history: list[Any] = []
    for at, (key, deleted, gap) in enumerate(steps):
        partition = 1 - before if at >= moved.get(key, 99) else before
        ends[partition] += 1 + gap
        history.append(Change(at, partition, ends[partition], key, None if deleted else f"{key}{at}"))
    arrivals = draw(st.lists(st.integers(0, ROUNDS - 1), min_size=len(history), max_size=len(history)))
    again = draw(st.frozensets(st.integers(0, 12)))
    return Delivery(tuple(history), tuple(arrivals), again)
