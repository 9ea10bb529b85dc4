"""A replay in AWS sleeps within a commit until its region leads, and has given its id another meaning."""

from dataclasses import replace

from sigla.model import BodyKey, Draft, SchemaId
from sigla.registry import Registry
from sigla.rules import names
from tests.attack.paused_checks import meaning
from tests.attack.paused_land import Function, Land, in_one_thread, unpaused
from tests.attack.paused_matrix import COMMANDS, healthy, text
from tests.attack.test_paused import Pausing
from tests.build import a_body

SUBJECT = names.subject(":.imported:orders")
KEY = BodyKey(SUBJECT.context, SchemaId(77))
THEIRS, OURS = text(1001), text(1002)


def left_by_an_import_that_was_refused(land: Land) -> None:
    """B has a body under the id that no commit names, of when it was the primary; A has given the id, alone."""
    b, a = land.function("B"), land.function("A")
    b.here.bodies.put(KEY, replace(a_body(OURS), brought=True))
    registry = Registry(a.here.catalog, a.here.bodies, land.clock)  # the other region was silent for two seconds
    registry.register(SUBJECT, Draft(THEIRS, id=KEY.id, version=1))


def gives_the_id_itself(land: Land) -> None:
    """A is lost for good, and what it had: the import is tried again. It is refused where that came here before."""
    for step in ("force B alone", "abandon at B"):
        done = COMMANDS[step](land, unpaused)
        assert done is not None
        assert done.status == 0, done.said
    Function(land, "B").register(str(SUBJECT), OURS, id=KEY.id, version=1)


def test_a_replay_that_slept_replaces_nothing_that_its_region_has_given_since() -> None:
    """Wherever it fell asleep."""
    with in_one_thread():
        healthy(land := Land())
        land.turn()
        left_by_an_import_that_was_refused(land)
        moment, given = land.copied(), list[bool]()
        while True:
            land.put_back(moment)
            pausing = Pausing(land, len(given), lambda land, _: gives_the_id_itself(land))
            land.turn(pausing, which="B")
            if not pausing.is_over:
                break
            given.append(any(ack.id == KEY.id for ack in land.known.acks))
            if given[-1]:
                assert meaning(Function(land, "B"), KEY) == OURS, f"paused before request {len(given) - 1}"
    assert (any(given), all(given)) == (True, False)
