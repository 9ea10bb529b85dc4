"""A replay in AWS sleeps within a commit until its region leads, and has given its id another meaning."""

from collections.abc import Callable
from dataclasses import replace

import pytest

from sigla.errors import Taken
from sigla.model import Body, BodyKey, Draft, SchemaId
from sigla.ports.in_front import BodiesInFront
from sigla.registry import Registry
from sigla.rules import names
from tests.attack.paused_checks import meaning
from tests.attack.paused_land import Function, Land, in_one_thread, unpaused
from tests.attack.paused_matrix import COMMANDS, healthy, text
from tests.attack.test_paused import Pausing
from tests.build import a_body

SUBJECT = names.subject(":.imported:orders")
KEY = BodyKey(SUBJECT.context, SchemaId(77))
DRAWN = BodyKey(".", SchemaId(78))
THEIRS, OURS = text(1001), text(1002)


class AlreadyPut(BodiesInFront):
    """As an import knows them that has put its own before."""

    def put(self, key: BodyKey, body: Body) -> None:  # noqa: ARG002 - as all bodies have it
        raise Taken(body)

    def revive(self, key: BodyKey, body: Body) -> None:
        """It lives."""


def left_by_an_import_that_was_refused(land: Land) -> BodyKey:
    """B has a body under the id that no commit names, of when it was the primary; A has given the id, alone."""
    b, a = land.function("B"), land.function("A")
    b.here.bodies.put(KEY, replace(a_body(OURS), brought=True))
    registry = Registry(a.here.catalog, a.here.bodies, land.clock)  # the other region was silent for two seconds
    registry.register(SUBJECT, Draft(THEIRS, id=KEY.id, version=1))
    return KEY


def left_by_a_registration_that_was_cut_off(land: Land) -> BodyKey:
    """The same of an id that B has drawn, and that was brought to A from elsewhere since."""
    b, a = land.function("B"), land.function("A")
    b.here.bodies.put(DRAWN, a_body(OURS))
    registry = Registry(a.here.catalog, a.here.bodies, land.clock)
    registry.change_mode(names.subject("theirs"), "IMPORT")
    registry.register(names.subject("theirs"), Draft(THEIRS, id=DRAWN.id, version=1))
    return DRAWN


def imports_it(land: Land) -> None:
    Function(land, "B").register(str(SUBJECT), OURS, id=KEY.id, version=1)


def imports_it_in_a_stack_without_the_setting(land: Land) -> None:
    Function(land, "B", peer=False).register(str(SUBJECT), OURS, id=KEY.id, version=1)


def registers_its_content(land: Land) -> None:
    Function(land, "B").register("orders", OURS)


@pytest.mark.parametrize(
    "left, gives",
    [
        (left_by_an_import_that_was_refused, imports_it),
        (left_by_an_import_that_was_refused, imports_it_in_a_stack_without_the_setting),
        (left_by_a_registration_that_was_cut_off, registers_its_content),
    ],
)
def test_a_replay_that_slept_replaces_nothing_that_its_region_has_given_since(
    left: Callable[[Land], BodyKey], gives: Callable[[Land], None]
) -> None:
    """Wherever it fell asleep. A is lost for good, and what it had; where that came here before, B refuses."""

    def leads_and_gives(land: Land) -> None:
        for step in ("force B alone", "abandon at B"):
            done = COMMANDS[step](land, unpaused)
            assert done is not None
            assert done.status == 0, done.said
        gives(land)

    with in_one_thread():
        healthy(land := Land())
        land.turn()
        key = left(land)
        moment, given = land.copied(), list[bool]()
        while True:
            land.put_back(moment)
            pausing = Pausing(land, len(given), lambda land, _: leads_and_gives(land))
            land.turn(pausing, which="B")
            if not pausing.is_over:
                break
            given.append(any(ack.id == key.id for ack in land.known.acks))
            if given[-1]:
                assert meaning(Function(land, "B"), key) == OURS, f"paused before request {len(given) - 1}"
    assert (any(given), all(given)) == (True, False)


def test_a_replay_that_slept_replaces_nothing_that_an_import_is_about_to_commit() -> None:
    """An import puts all of its bodies first, which may take minutes."""

    def begins(land: Land) -> None:
        for step in ("force B alone", "abandon at B"):
            COMMANDS[step](land, unpaused)
        b = Function(land, "B", peer=False)
        b.here.region.role()
        with pytest.raises(Taken) as taken:
            b.registry.bodies.put(KEY, replace(a_body(OURS), brought=True))
        begun.append(taken.value.standing.schema.text == OURS)

    def commits(land: Land) -> None:
        b = Function(land, "B", peer=False)
        bodies = AlreadyPut(b.here.bodies)
        Registry(b.here.catalog, bodies, land.clock).register(SUBJECT, Draft(OURS, id=KEY.id, version=1))

    with in_one_thread():
        healthy(land := Land())
        land.turn()
        left_by_an_import_that_was_refused(land)
        moment, begun = land.copied(), list[bool]()
        while True:
            land.put_back(moment)
            pausing = Pausing(land, len(begun), lambda land, _: begins(land))
            land.turn(pausing, which="B")
            if not pausing.is_over:
                break
            if begun[-1]:
                commits(land)
                assert meaning(Function(land, "B"), KEY) == OURS, f"paused before request {len(begun) - 1}"
    assert (any(begun), all(begun)) == (True, False)
