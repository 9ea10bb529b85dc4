"""A mirror is what its source is, whatever happens there, and whenever it was cut off."""

import pytest

from sigla.contract import IMPORT
from sigla.model import REGISTRY_WIDE
from sigla.upkeep.mirroring import NotAMirror, TooMuchGone, begin, cut_over, writable
from tests.unit.exporting.places import AVRO, Place, places
from tests.unit.exporting.stories import AFTERWARDS, ask, delete, register
from tests.unit.mirroring.mirrored import Mirrored, told


def test_the_first_turn_brings_everything_and_the_second_nothing(mirrored: Mirrored) -> None:
    assert mirrored.turn().is_complete
    mirrored.check()
    assert mirrored.turn().is_quiet
    assert mirrored.again().turn().is_quiet


@pytest.mark.parametrize("story", AFTERWARDS)
def test_what_happens_afterwards_is_mirrored_step_by_step(story: str, mirrored: Mirrored) -> None:
    mirrored.turn()
    for step in AFTERWARDS[story]:
        mirrored.source.clock.sleep(1)
        step(mirrored.source)
        assert mirrored.turn().is_complete
        mirrored.check()


@pytest.mark.parametrize("story", [name for name, steps in AFTERWARDS.items() if len(steps) > 1])
def test_a_mirror_that_was_away_finds_what_has_become_of_it(story: str, mirrored: Mirrored) -> None:
    """Several changes of one subject, of which only the last still holds; by a process that knows nothing of before."""
    mirrored.turn()
    for step in AFTERWARDS[story]:
        mirrored.source.clock.sleep(1)
        step(mirrored.source)
    assert mirrored.again().turn().is_complete
    mirrored.check()
    assert mirrored.turn().is_quiet


# --- whose registry it is --------------------------------------------------------------------------------------------


def test_clients_write_nothing_to_a_mirror(mirrored: Mirrored) -> None:
    """What they wrote the next turn would remove."""
    mirrored.turn()
    answer = mirrored.target.client("POST", "/subjects/mine/versions", {"schema": AVRO % 1})
    assert (answer.status, answer.json["error_code"]) == (422, 42205)
    assert mirrored.target.store.catalog.snapshot(REGISTRY_WIDE).chain.own.mode == IMPORT


def test_a_registry_with_schemas_of_its_own_never_becomes_a_mirror() -> None:
    """A wrong --data would cost them."""
    with places(1) as (own,):
        own.register("mine", AVRO % 1)
        with pytest.raises(NotAMirror):
            begin(own.registry)
        assert own.get("/subjects") == (200, ["mine"])


@pytest.mark.parametrize("kept", [0, 9])
def test_a_source_that_lacks_most_of_what_was_there_is_asked_about_first(kept: int) -> None:
    """It may be another one, or a topic that was made anew. Nothing is written until it is meant."""
    with places(3) as (source, other, target):
        for number in range(20):
            source.register(f"s{number}", AVRO % number)
        for number in range(kept):
            other.register(f"s{number}", AVRO % number)
        Mirrored(source, target).turn()
        wrong = Mirrored(other, target)
        with pytest.raises(TooMuchGone) as much:
            wrong.turn()
        assert (much.value.gone, much.value.stored) == (20 - kept, 20)
        assert len(target("GET", "/subjects")) == 20
        wrong.mirror.may_remove = True
        wrong.turn()
        assert target("GET", "/subjects") == other("GET", "/subjects")


def test_what_the_source_cannot_say_twice_is_told(mirrored: Mirrored) -> None:
    """An id that means something else here already: the version is left out, and the mirror is not complete."""
    source, target = mirrored.source, mirrored.target
    with places(1) as (other,):
        other.register("other", '"double"')
        Mirrored(other, target).mirror.turn(told(other))
    mirrored.mirror.may_remove = True
    tally = mirrored.turn()
    assert not tally.is_complete
    assert source.picture() != target.picture()


# --- the end of it ---------------------------------------------------------------------------------------------------


def test_a_source_is_frozen_when_nothing_of_it_takes_writes(source: Place) -> None:
    """Its own mode is not that of other contexts, nor of subjects that have one."""
    ask("PUT", "/mode/alone", {"mode": "READWRITE"})(source)
    assert {scope.qualified for scope in writable(told(source))} >= {"", ":.c:", "orders", ":.c:orders", "alone"}
    ask("PUT", "/mode", {"mode": "READONLY"})(source)
    assert {scope.qualified for scope in writable(told(source))} == {":.c:", ":.c:orders", ":.c:uses", "alone"}
    ask("PUT", "/mode/:.c:", {"mode": "READONLY"})(source)
    ask("PUT", "/mode/alone", {"mode": "READONLY_OVERRIDE"})(source)
    assert writable(told(source)) == []


def test_after_it_clients_write_with_the_next_ids_and_the_modes_of_the_source(mirrored: Mirrored) -> None:
    source, target = mirrored.source, mirrored.target
    ask("PUT", "/mode/orders", {"mode": "READONLY"})(source)
    mirrored.turn()
    assert target.get("/mode/orders") == (
        404,
        {"error_code": 40409, "message": target.get("/mode/orders")[1]["message"]},
    )
    ask("PUT", "/mode", {"mode": "READONLY"})(source)
    mirrored.turn()
    assert cut_over(target.registry, told(source)) == 1
    assert (target.get("/mode"), target.get("/mode/orders")) == (
        (200, {"mode": "READWRITE"}),
        (200, {"mode": "READONLY"}),
    )
    highest = source.store.catalog.max_id(".")
    assert target.register("new", AVRO % 99) == highest + 1
    mirrored.target("DELETE", "/subjects/new")
    mirrored.target("DELETE", "/subjects/new?permanent=true")
    with pytest.raises(NotAMirror):
        begin(target.registry)


def test_a_subject_that_was_deleted_and_goes_on_keeps_only_what_came_after(mirrored: Mirrored) -> None:
    """Between two turns: what is new is not hidden along with what was there."""
    register("again", 60)(mirrored.source)
    mirrored.turn()
    for step in (delete("again"), register("again", 61)):
        step(mirrored.source)
    mirrored.turn()
    mirrored.check()


def test_versions_that_go_while_others_come_leave_no_id_unknown_in_between(mirrored: Mirrored) -> None:
    """A subject that is made anew with the same schema keeps its id: whoever reads it meanwhile finds it."""
    mirrored.turn()
    id = register("moved", 50)(mirrored.source)
    mirrored.turn()
    for step in (delete("moved"), ask("DELETE", "/subjects/moved?permanent=true"), register("moved-on", 50)):
        step(mirrored.source)
    assert mirrored.source.get(f"/schemas/ids/{id}")[0] in {200, 404}
    mirrored.turn()
    mirrored.check()
