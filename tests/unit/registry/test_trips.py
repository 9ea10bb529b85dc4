"""How often a verb asks the stores: for a known schema once or twice, for a new one four or five times."""

import pytest

from sigla.model import LATEST, Draft, SchemaId, Version
from sigla.registry import Registry
from sigla.stores.sqlite.store import EmbeddedStore
from tests.attack.ports import Recorder, watched
from tests.build import FixedClock
from tests.unit.registry.tell import BASE, ONE, TWO, UNSORTED, USING, register, s


@pytest.fixture
def recorder() -> Recorder:
    return Recorder()


@pytest.fixture
def counted(store: EmbeddedStore, clock: FixedClock, recorder: Recorder) -> Registry:
    return Registry(*watched(store.catalog, store.bodies, recorder), clock)


def test_a_known_schema_costs_one_trip_and_its_body(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """What producers do at every start: the guess is right, for text that is canonical. The body is at hand mostly."""
    register(registry, "a", ONE)
    register(counted, "a", ONE)
    assert recorder.names == ["catalog.snapshot", "bodies.get"]


def test_a_known_schema_in_other_words_costs_two(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """The guess was wrong: one question more."""
    register(registry, "a", ONE)
    register(counted, "a", f" {ONE} ")
    assert recorder.names == ["catalog.snapshot", "catalog.id_of", "bodies.get"]


def test_the_first_schema_of_a_subject_costs_four(counted: Registry, recorder: Recorder) -> None:
    """Ask, counter, body, commit; an id that was drawn a moment ago cannot have a holder."""
    register(counted, "a", ONE)
    assert recorder.names == ["catalog.snapshot", "catalog.next_id", "bodies.put", "catalog.commit"]


def test_a_new_version_costs_five(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """One question for candidates; older bodies come from memory."""
    register(registry, "a", ONE)
    register(counted, "a", TWO)
    assert [name for name in recorder.names if name != "bodies.get"] == [
        "catalog.snapshot",
        "catalog.candidates",
        "catalog.next_id",
        "bodies.put",
        "catalog.commit",
    ]


def test_an_id_costs_its_holders_and_its_body(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """Both of which are remembered further down."""
    register(registry, "a", ONE)
    counted.schema_by_id(SchemaId(1))
    assert recorder.names == ["catalog.speaker", "bodies.get"]


def test_an_alias_costs_one_trip_more(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """Its target is asked for in turn."""
    register(registry, "a", ONE)
    registry.change_config(s("alias"), {"alias": "a"})
    register(counted, "alias", ONE)
    assert recorder.names == ["catalog.snapshot"] * 2 + ["bodies.get"]


def test_references_are_asked_for_with_everything_else(
    registry: Registry, counted: Registry, recorder: Recorder
) -> None:
    """Heads and rows of what a schema refers to come with the first answer."""
    register(registry, "base", BASE)
    register(counted, "using", USING, "base")
    assert recorder.names[0] == "catalog.snapshot"
    assert recorder.names.count("catalog.snapshot") == 1


def test_other_reads_are_one_question_and_their_bodies(
    registry: Registry, counted: Registry, recorder: Recorder
) -> None:
    """A version; its latest; a setting."""
    register(registry, "a", ONE)
    counted.version(s("a"), Version(1))
    counted.version(s("a"), LATEST)
    counted.config(s("a"), default_to_global=True)
    assert recorder.names == ["catalog.snapshot", "bodies.get"] * 2 + ["catalog.snapshot"]


def test_writes_of_settings_are_a_question_and_a_commit(counted: Registry, recorder: Recorder) -> None:
    """No more."""
    counted.change_config(s("a"), {"level": "FULL"})
    counted.change_mode(s("a"), "READONLY")
    assert recorder.names == ["catalog.snapshot", "catalog.commit"] * 2


def test_a_check_of_the_newest_reads_no_other(registry: Registry, counted: Registry, recorder: Recorder) -> None:
    """A plain level needs one older body, however long the history."""
    for text in (ONE, TWO, UNSORTED):
        register(registry, "a", text, force=True)
    counted.check(s("a"), Draft(ONE))
    assert "catalog.history" not in recorder.names
    assert recorder.names.count("bodies.get") == 1
