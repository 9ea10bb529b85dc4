"""Two writers on AWS: one runs, or stops half-way, between any two calls that the other makes to DynamoDB or S3.

Each race that the design names has a test of its name; the others wait for the long attacks.
"""

import random
import threading
from collections.abc import Callable
from itertools import product
from typing import Any

import pytest

from sigla.changes import ContextDropped, Head, SubjectDeleted, SubjectPurged
from sigla.errors import Incompatible
from tests.attack.aws import Store
from tests.attack.ports import At, Call, Recorder
from tests.attack.stories import HISTORY, ONE, config, register
from tests.attack.test_races import PAIRS, Happened, Pair, allowed, every_point, meet, without_ids
from tests.attack.world import Fresh, Verb, World, outcome
from tests.build import NOW, a_nonce, a_registered, a_subject, registered

PATIENCE_S = 60
"""Real time after which a verb waits in vain."""


def few(calls: list[str]) -> list[int]:
    """Before the last transaction, which decides; in a verb without one, before one of its calls."""
    distinct = [number for number in every_point(calls) if calls[number - 1] != calls[number]]
    commits = [number for number in distinct if calls[number] == "dynamodb.transact_write_items"][-1:]
    return commits or random.Random(len(calls)).sample(distinct, min(1, len(distinct)))


@pytest.mark.parametrize(
    "name",
    [
        "a reference against the soft delete of its target",
        "a permanent delete against a referrer in IMPORT",
        "a permanent subject delete against a referrer in IMPORT",
    ],
)
def test_a_delete_against_a_new_referrer(name: str, small: Fresh) -> None:
    """Either there is nothing left to refer to, or it is referred to and stays."""
    meet(name, small, few)


@pytest.mark.parametrize("name", ["same text, same subject", "same text, other subject"])
def test_two_writers_one_text(name: str, small: Fresh) -> None:
    """One id, whoever is first."""
    meet(name, small, few)


def test_the_drop_of_a_context_against_its_first_registration(small: Fresh) -> None:
    """A context with a schema in it is listed."""
    meet("a context dropped against its first schema", small, few)


def test_an_import_of_a_context_against_its_first_registration(small: Fresh) -> None:
    """What has begun before the mode was acknowledged may still be there; nothing is active that the mode forbade."""
    meet("IMPORT of a context against its first registration", small, few)


def test_an_id_taken_again_against_its_tombstone(small: Fresh) -> None:
    """Who lives has no tombstone, once the journal has been followed."""
    meet("an id taken again against its tombstone", small, few)


@pytest.mark.parametrize(
    "name",
    [
        "versions brought against a registration",
        "versions brought twice, in part the same",
        "an id brought against its tombstone",
    ],
)
def test_versions_brought_against_another_writer(name: str, small: Fresh) -> None:
    """All of them or none, and each number has one content, whoever is first."""
    meet(name, small, few)


@pytest.mark.parametrize(
    "name", ["an inherited level against a registration", "an inherited mode against a registration"]
)
def test_a_change_of_what_is_inherited_against_a_registration(name: str, small: Fresh) -> None:
    """It binds requests that begin after it was acknowledged; who began before may go by the old one."""
    meet(name, small, few)


def test_what_is_inherited_binds_every_instance_at_once(small: Fresh) -> None:
    """No instance remembers a level."""
    incompatible = register("orders", ONE.replace('"int"', '"string"'))
    with World(*HISTORY[:1], store=small()) as world:
        instances = [world.registry_with(Recorder()) for _ in range(2)]
        for asked, changed in (instances, instances[::-1]):
            config("", level="FULL")(changed)
            with pytest.raises(Incompatible):
                incompatible(asked)
        config("", level="NONE")(instances[0])
        assert incompatible(instances[1]).version == 2


@pytest.mark.soak
@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_at_once_end_on_aws_as_if_one_had_been_first(name: str, small: Fresh) -> None:
    """Whoever comes between any two calls of the other."""
    meet(name, small)


# --- both half-way ---------------------------------------------------------------------------------------------------


class HalfWay:
    """A verb that runs on a thread as far as a call of its own, and on when `go_on` is told."""

    def __init__(self, world: World, verb: Verb, until: int) -> None:
        self.answer: Any = None
        self._stopped, self._go_on = threading.Event(), threading.Event()
        self._registry = world.registry_with(At(until, self._wait))
        self._thread = threading.Thread(target=self._run, args=(world, verb))

    def __call__(self, _: Call, carry_out: Callable[[], Any]) -> Any:
        """Goes first, as far as it may."""
        self._thread.start()
        assert self._stopped.wait(PATIENCE_S)
        return carry_out()

    def end(self) -> None:
        self._go_on.set()
        self._thread.join(PATIENCE_S)

    def _run(self, world: World, verb: Verb) -> None:
        try:
            self.answer = outcome(world, verb, self._registry)
        finally:
            self._stopped.set()

    def _wait(self, _: Call, carry_out: Callable[[], Any]) -> Any:
        self._stopped.set()
        assert self._go_on.wait(PATIENCE_S)
        return carry_out()


def calls_of(pair: Pair, verb: Verb, fresh: Fresh) -> int:
    recorder = Recorder()
    with World(*pair.before, store=fresh()) as world:
        outcome(world, verb, world.registry_with(recorder))
    return len(recorder.calls)


def meet_half_way(pair: Pair, first: int, second: int, fresh: Fresh) -> Happened:
    """One verb stops before a call of its own, the other runs as far as a call of its own, then each to its end."""
    with World(*pair.before, store=fresh()) as world:
        other = HalfWay(world, pair.other, second)
        one = without_ids(outcome(world, pair.one, world.registry_with(At(first, other))))
        other.end()
        world.check_sound(imported=pair.imported)
        world.store.check()
        return one, without_ids(other.answer), world.picture()


def half_way(name: str, fresh: Fresh) -> list[tuple[int, int]]:
    pair = PAIRS[name]
    return list(product(range(calls_of(pair, pair.one, fresh)), range(calls_of(pair, pair.other, fresh))))


@pytest.mark.parametrize("name", ["same text, same subject", "same text, other subject"])
def test_two_writers_of_one_text_in_the_same_instant(name: str, small: Fresh) -> None:
    """Wherever the one and the other stand when they meet: some of the ways."""
    explained = allowed(PAIRS[name])
    for first, second in random.Random(name).sample(half_way(name, small), 5):
        assert meet_half_way(PAIRS[name], first, second, small) in explained, (first, second)


@pytest.mark.soak
@pytest.mark.parametrize("name", PAIRS)
def test_two_verbs_that_meet_half_way_end_as_if_one_had_been_first(name: str, small: Fresh) -> None:
    """Thirty of the ways in which they can, or all."""
    explained, ways = allowed(PAIRS[name]), half_way(name, small)
    for first, second in random.Random(name).sample(ways, min(30, len(ways))):
        assert meet_half_way(PAIRS[name], first, second, small) in explained, (first, second)


# --- clocks that disagree --------------------------------------------------------------------------------------------


def test_a_context_dropped_by_a_clock_that_is_fast_and_listed_again_is_replayed_in_order(small: Fresh) -> None:
    """The journal is put in order by time, and a later commit has a later one, whatever its writer's clock says."""
    store, first, hour = small(), a_subject("a", ".c"), 3_600_000
    assert isinstance(store, Store)
    with World(store=store) as world, store.stores.another_catalog() as slow:
        fast = store.catalog
        row = registered(fast, first)
        fast.commit(SubjectDeleted(fast.snapshot(first).head, row.version, NOW, a_nonce()))
        fast.commit(SubjectPurged(fast.snapshot(first).head, (row,), NOW, a_nonce()))
        fast.commit(ContextDropped(".c", NOW + hour, a_nonce()))
        assert fast.contexts() == ()
        slow.commit(a_registered(Head(a_subject("b", ".c")), id=2))
        assert fast.contexts() == (".c",)
        assert world.replayed()["contexts"] == {".c"}
