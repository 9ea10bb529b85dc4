"""Notes of who read an id last: one for each id, subject that was named, and principal, with the day."""

from concurrent.futures import ThreadPoolExecutor

from sigla.changes.kinds import DAY_MS
from sigla.journal import ANYONE
from sigla.model import BodyKey, SchemaId
from sigla.ports.clock import day_of
from sigla.ports.reads import KEPT_DAYS, LastRead, Read
from tests.build import NOW
from tests.contract.conftest import Stores

ONE, TWO, THREE = (BodyKey(".", SchemaId(number)) for number in (1, 2, 3))
KEPT_MS = 400 * DAY_MS
TODAY, TOMORROW = day_of(NOW), day_of(NOW + DAY_MS)


def note(stores: Stores, *reads: Read, at: int = NOW) -> None:
    stores.reads.note(reads, at, KEPT_MS)


def token(stores: Stores, name: str) -> str:
    return next(kept.token for kept in stores.principals.names(NOW) if kept.name == name)


def test_a_read_is_told_with_its_subject_its_principal_and_its_day(stores: Stores) -> None:
    note(stores, Read(ONE, "orders-value", "ada"), Read(ONE, "", ""), Read(TWO, "", "ada"))
    ada = token(stores, "ada")
    assert stores.reads.last([ONE, TWO]) == {
        ONE: [LastRead("", ANYONE, TODAY), LastRead("orders-value", ada, TODAY)],
        TWO: [LastRead("", ada, TODAY)],
    }


def test_an_id_that_nobody_read_has_no_reads(stores: Stores) -> None:
    assert stores.reads.last([ONE]) == {ONE: []}
    assert stores.reads.last([]) == {}


def test_the_same_number_is_another_id_in_another_context(stores: Stores) -> None:
    note(stores, Read(BodyKey(".eu", SchemaId(1)), "", "ada"))
    assert stores.reads.last([ONE]) == {ONE: []}


def test_a_later_day_takes_the_place_of_an_earlier_one_and_never_the_other_way_round(stores: Stores) -> None:
    """Clocks of instances differ."""
    read = Read(ONE, "", "")
    for at in (NOW, NOW + DAY_MS, NOW):
        note(stores, read, at=at)
    assert stores.reads.last([ONE]) == {ONE: [LastRead("", ANYONE, TOMORROW)]}


def test_the_last_reader_comes_first(stores: Stores) -> None:
    for days, subject in enumerate(("b", "c", "a")):
        note(stores, Read(ONE, subject, ""), at=NOW + days * DAY_MS)
    assert [read.subject for read in stores.reads.last([ONE])[ONE]] == ["a", "c", "b"]


def test_of_many_readers_some_are_told_and_that_there_are_others(stores: Stores) -> None:
    for days, name in enumerate(("ada", "bob", "eve")):
        note(stores, Read(ONE, "", name), Read(TWO, "", "ada"), at=NOW + days * DAY_MS)
    everything = stores.reads.last([ONE])[ONE]
    told = stores.reads.some([ONE, TWO, THREE], 2)
    assert set(told[ONE].found) < set(everything)
    assert [each.day for each in told[ONE].found] == sorted((each.day for each in told[ONE].found), reverse=True)
    assert [(len(each.found), each.goes_on) for each in told.values()] == [(2, True), (1, False), (0, False)]
    assert stores.reads.some([ONE], 3) == {ONE: (everything, False)}


def test_the_first_note_of_all_says_since_when_there_are_any(stores: Stores) -> None:
    """Before that day an id without reads says nothing."""
    assert stores.reads.since() == ""
    for at in (NOW, NOW + DAY_MS):
        note(stores, Read(ONE, "", ""), at=at)
        assert stores.reads.since() == TODAY


def test_a_forgotten_name_leaves_its_reads_with_a_token(stores: Stores) -> None:
    note(stores, Read(ONE, "", "ada"))
    ada = token(stores, "ada")
    assert stores.principals.forget("ada")
    assert stores.reads.last([ONE])[ONE] == [LastRead("", ada, TODAY)]
    assert not list(stores.principals.names(NOW))


def test_many_reads_are_noted_at_once(stores: Stores) -> None:
    """More than a call to a table takes."""
    keys = [BodyKey(".", SchemaId(number)) for number in range(1, 131)]
    note(stores, *(Read(key, "", "ada") for key in keys))
    assert all(len(found) == 1 for found in stores.reads.last(keys).values())


def test_names_of_subjects_may_be_long_and_strange(stores: Stores) -> None:
    names = ["s#p0#x", "n" * 5000, "n" * 5000 + "m", ":.eu:orders / value", "\u2028%"]
    note(stores, *(Read(ONE, name, "ada") for name in names))
    assert sorted(read.subject for read in stores.reads.last([ONE])[ONE]) == sorted(names)


def test_a_note_changes_nothing_that_is_remembered_of_the_catalog(stores: Stores) -> None:
    """Reads are noted all day: what readers remember must outlive it."""
    before = stores.catalog.state
    note(stores, Read(ONE, "", "ada"))
    assert stores.catalog.state == before


def test_what_is_older_than_all_that_is_kept_goes(stores: Stores) -> None:
    """In a table it goes by itself, by its `expires`."""
    note(stores, Read(ONE, "", ""))
    note(stores, Read(TWO, "", ""), at=NOW + (KEPT_DAYS + 1) * DAY_MS)
    found = stores.reads.last([ONE])[ONE]
    assert found in ([], [LastRead("", ANYONE, TODAY)])


def test_instances_that_note_the_same_at_once_note_it_once(stores: Stores) -> None:
    """A consumer group of a hundred members starts at one moment, and is spread over all instances."""
    with ThreadPoolExecutor(4) as executor:
        list(executor.map(lambda _: note(stores, Read(ONE, "", "ada"), Read(TWO, "", "ada")), range(4)))
    ada = token(stores, "ada")
    assert stores.reads.last([ONE, TWO]) == {key: [LastRead("", ada, TODAY)] for key in (ONE, TWO)}


def test_what_a_principal_has_read_is_counted_by_id_from_a_day_on_where_that_is_cheap(stores: Stores) -> None:
    """Once, for whichever subjects; a table has no way to it but a scan, and says so."""
    note(stores, Read(ONE, "", "ada"), Read(ONE, "a", "ada"), Read(ONE, "", "bob"))
    note(stores, Read(TWO, "", "ada"), at=NOW + DAY_MS)
    counted = [stores.reads.count_of(name, day) for name, day in (("ada", TODAY), ("ada", TOMORROW), ("eve", TODAY))]
    assert counted in ([2, 1, 0], [None, None, None])
