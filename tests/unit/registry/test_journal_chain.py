"""The journal is a chain: what is changed, taken away or told twice does not fit together any more."""

import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla.ports.log import Link, Log, Misfit
from sigla.registry import Registry
from sigla.stores.sqlite.reading import ReadingStore
from sigla.stores.sqlite.store import EmbeddedStore
from sigla.upkeep.chain import Break, verify
from tests.build import FixedClock, a_draft, a_text
from tests.unit.registry.tell import s

ROWS = 6


def write(data: Path, *names: str) -> None:
    with EmbeddedStore(data) as store:
        registry = Registry(store.catalog, store.bodies, FixedClock())
        for name in names:
            registry.register(s(name), a_draft(a_text(name)))


@pytest.fixture
def data(tmp_path: Path) -> Path:
    write(tmp_path / "data", *(f"s{number}" for number in range(ROWS)))
    return tmp_path / "data"


def tamper(data: Path, *statements: tuple[str, tuple[object, ...]]) -> None:
    with closing(sqlite3.connect(data / "catalog.sqlite")) as database:
        for statement, parameters in statements:
            database.execute(statement, parameters)
        database.commit()


def kinds(data: Path, since: str = "") -> list[Break]:
    with closing(ReadingStore(data)) as store:
        return [flaw.kind for flaw in verify(store.log, since=since).flaws]


def last_hash(data: Path) -> str:
    with closing(ReadingStore(data)) as store:
        return verify(store.log).hash


# --- a directory -----------------------------------------------------------------------------------------------------


def test_what_was_written_fits_together(data: Path) -> None:
    with closing(ReadingStore(data)) as store:
        found = verify(store.log)
    assert (found.links, found.first, found.last, found.unchained, found.flaws) == (ROWS, 1, ROWS, 0, [])


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    data = tmp_path_factory.mktemp("whole") / "data"
    write(data, *(f"s{number}" for number in range(ROWS)))
    return data


@given(position=st.integers(1, ROWS), at=st.integers(0), to=st.integers(1, 255))
def test_another_byte_anywhere_in_a_row_is_noticed(whole: Path, position: int, at: int, to: int) -> None:
    """Whichever it is, also in the hash of the row before."""
    with closing(sqlite3.connect(whole / "catalog.sqlite")) as database:
        (form,) = database.execute("SELECT form FROM journal WHERE position = ?", (position,)).fetchone()
    changed = bytearray(form)
    changed[at % len(form)] ^= to
    put = "UPDATE journal SET form = ? WHERE position = ?"
    tamper(whole, (put, (bytes(changed), position)))
    try:
        assert Break.DAMAGED in kinds(whole)
    finally:
        tamper(whole, (put, (form, position)))


@given(at=st.integers(0, 63), to=st.sampled_from("0123456789abcdef"))
def test_another_digit_of_the_last_hash_is_noticed(whole: Path, at: int, to: str) -> None:
    with closing(sqlite3.connect(whole / "catalog.sqlite")) as database:
        (hash,) = database.execute("SELECT hash FROM journal_end").fetchone()
    put = "UPDATE journal_end SET hash = ?"
    tamper(whole, (put, (hash[:at] + to + hash[at + 1 :],)))
    try:
        assert (kinds(whole) == [Break.DAMAGED]) == (to != hash[at])
    finally:
        tamper(whole, (put, (hash,)))


@pytest.mark.parametrize("gone", range(1, ROWS + 1))
def test_a_row_that_is_taken_away_is_missing(data: Path, gone: int) -> None:
    """The first, the last, or one between: it is named by the one after it, and the last one by the table."""
    tamper(data, ("DELETE FROM journal WHERE position = ?", (gone,)))
    assert kinds(data) == [Break.MISSING]


def test_rows_that_changed_places_do_not_fit_together(data: Path) -> None:
    move = "UPDATE journal SET position = ? WHERE position = ?"
    tamper(data, (move, (99, 2)), (move, (2, 3)), (move, (3, 99)))
    assert set(kinds(data)) == {Break.DAMAGED}


def test_the_end_of_the_chain_is_missed(data: Path) -> None:
    tamper(data, ("DELETE FROM journal_end", ()))
    assert kinds(data) == [Break.DAMAGED]


def test_what_is_written_after_a_change_does_not_hide_it(data: Path) -> None:
    """The next commit names the row as it was written, and not as it stands by then."""
    tamper(data, ("UPDATE journal SET form = ? WHERE position = ?", (b'{"ts": 1}', ROWS)))
    write(data, "Later")
    assert kinds(data) == [Break.DAMAGED]


def test_a_chain_that_was_written_anew_lacks_the_hash_that_was_kept(data: Path, tmp_path: Path) -> None:
    """Whoever can write the table can write all of it; but not what was noted down elsewhere."""
    noted = last_hash(data)
    write(data, "Later")
    assert kinds(data, noted) == []
    write(tmp_path / "other", *(f"s{number}" for number in range(ROWS + 1)))
    assert kinds(tmp_path / "other") == []
    assert kinds(tmp_path / "other", noted) == [Break.MISSING]


def test_what_came_before_the_hash_is_not_looked_at(data: Path) -> None:
    noted = last_hash(data)
    write(data, "Later")
    tamper(data, ("DELETE FROM journal WHERE position < 3", ()))
    assert kinds(data) == [Break.MISSING]
    assert kinds(data, noted) == []


def test_rows_of_an_earlier_release_name_none_and_are_held_by_the_next_one(data: Path) -> None:
    """Also where that release was installed again for a while: it knows nothing of the end of the chain."""
    strip = "UPDATE journal SET form = CAST(json_remove(CAST(form AS TEXT), '$.before') AS BLOB)"
    tamper(data, (strip, ()), ("DELETE FROM journal_end", ()))
    assert kinds(data) == []
    write(data, "Later")
    tamper(data, ("INSERT INTO journal (form) SELECT form FROM journal WHERE position = 1", ()))
    write(data, "LaterStill")
    with closing(ReadingStore(data)) as store:
        found = verify(store.log)
    assert (found.links, found.unchained, found.flaws) == (ROWS + 3, ROWS, [])
    tamper(data, ("UPDATE journal SET form = ? WHERE position = ?", (b"{}", ROWS + 2)))
    assert kinds(data) == [Break.DAMAGED]


# --- any chain -------------------------------------------------------------------------------------------------------


class Chain:
    """A `ports.Log` of links that are put together by hand."""

    link = "segment"

    def __init__(self, *links: Link, end: Link | None = None) -> None:
        self._links = links
        self._end = end or links[-1]

    entries: Callable[..., Iterator[object]]

    def links(self) -> Iterator[Link]:
        return iter(self._links)

    def end(self) -> Link:
        return self._end

    def misfits(self) -> Iterator[Misfit]:
        return iter(())


def flaws(chain: object) -> list[tuple[Break, str]]:
    log: Log = chain  # type: ignore[assignment]  # nothing asks for its entries
    return [(flaw.kind, flaw.sentence) for flaw in verify(log).flaws]


ONE, TWO, THREE = Link(10, "a"), Link(20, "b", "a", 10), Link(30, "c", "b", 20)


def test_two_segments_that_follow_one_are_a_fork() -> None:
    """A table that was restored goes on from an earlier segment; what was told after that stays in the bucket."""
    after_restore = Link(40, "d", "a", 10)
    assert flaws(Chain(ONE, TWO, THREE, after_restore)) == [
        (
            Break.FORKED,
            "The segments 20 and 40 both follow 10: the table was restored to an earlier moment.",
        )
    ]


def test_a_missing_segment_is_not_taken_for_a_changed_one() -> None:
    assert [kind for kind, _ in flaws(Chain(ONE, THREE))] == [Break.MISSING]
    assert [kind for kind, _ in flaws(Chain(ONE, TWO._replace(hash="x"), THREE))] == [Break.DAMAGED]
    assert [kind for kind, _ in flaws(Chain(ONE, TWO, end=THREE))] == [Break.MISSING]
    assert flaws(Chain(ONE, TWO, THREE)) == []
