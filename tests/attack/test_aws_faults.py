"""A failure at every call that a verb makes to DynamoDB or S3: nothing is half done, and trying again succeeds."""

import random
from dataclasses import replace
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.keys import LIST_SHARDS
from sigla.stores.dynamodb.table import TRIES
from tests.attack.aws import READS as AT_READS
from tests.attack.aws import Store, failing, faults_of
from tests.attack.ports import Between, Call, Recorder
from tests.attack.stories import READS, WRITES, Story
from tests.attack.test_crash import Undisturbed, disturb
from tests.attack.world import Fresh, World, outcome
from tests.contract.aws import Account
from tests.unit.aws.faults import Fault

FEW = 1
"""Failures at a write of each chosen story that every run tries; the others, those at reads and the other stories wait
for the long attacks. On one machine every failure of every story is tried (tests/attack/test_crash.py)."""

CHOSEN = (
    "a second version",
    "a schema with a reference into another context",
    "what was deleted",
    "an import over a version",
    "several versions brought",
    "tags",
    "a soft delete of the latest",
    "a permanent delete of the last version",
    "a permanent delete of a subject",
    "a mode dropped",
    "import of a subject",
    "a permanent delete of DEKs",
    "a permanent delete of a KEK",
)
STORIES = WRITES | READS
for each in ("import of a subject", "import of everything"):
    # Between its mode and its purges an import can be cut off: it is told to the journal when another call has finished
    # it.
    STORIES[each] = replace(STORIES[each], piecewise=True)


def in_soaks(*names: str) -> list[Any]:
    """Stories that wait for the long attacks."""
    return [pytest.param(name, marks=pytest.mark.soak) for name in names]


def matrix(calls: list[Call]) -> list[tuple[int, Fault]]:
    """Every call with every failure it can have."""
    return [(number, fault) for number, call in enumerate(calls) for fault in faults_of(call)]


def chosen(name: str, calls: list[Call]) -> list[tuple[int, Fault]]:
    """Other ones for each story, and the same in each run."""
    at_writes = [(number, fault) for number, fault in matrix(calls) if calls[number].name not in AT_READS]
    return random.Random(name).sample(at_writes, FEW)


def measured(name: str, fresh: Fresh) -> Undisturbed:
    """A story that nothing disturbs, which ends on AWS as on one machine."""
    story = STORIES[name]
    on_aws, on_one_machine = Undisturbed(story, fresh), Undisturbed(story)
    assert (on_aws.answer, on_aws.before) == (on_one_machine.answer, on_one_machine.before)
    assert (on_aws.after, on_aws.end) == (on_one_machine.after, on_one_machine.end)
    return on_aws


def recorded(story: Story, measure: Undisturbed, fresh: Fresh) -> list[Call]:
    """The calls of a story that nothing disturbs, which ends on AWS as it was measured on one machine."""
    recorder = Recorder()
    with World(*story.before, store=fresh()) as world:
        assert outcome(world, story.verb, world.registry_with(recorder)) == measure.answer
        assert world.picture() == measure.after
    return recorder.calls


def disturb_each(
    name: str, measure: Undisturbed, calls: list[Call], failures: list[tuple[int, Fault]], fresh: Fresh
) -> None:
    for number, fault in failures:
        try:
            disturb(STORIES[name], measure, number, failing(fault), fresh)
        except AssertionError as error:
            error.add_note(f"{name}: {fault} at call {number} of {[call.name for call in calls]}")
            raise


@pytest.mark.parametrize("name", CHOSEN)
def test_a_failure_at_a_call_leaves_all_or_nothing(name: str, small: Fresh) -> None:
    """Not reached, silent before or after, faulty, throttled, undecided, the process killed before or after."""
    measure = Undisturbed(STORIES[name])
    calls = recorded(STORIES[name], measure, small)
    disturb_each(name, measure, calls, chosen(name, calls), small)


@pytest.mark.soak
@pytest.mark.parametrize("name", STORIES)
def test_a_failure_at_any_call_leaves_all_or_nothing(name: str, small: Fresh) -> None:
    """The whole matrix: a second for each failure, an hour in all."""
    measure = measured(name, small)
    disturb_each(name, measure, measure.calls, matrix(measure.calls), small)


LOST = (
    "a second version",
    "several versions brought",
    "a permanent delete of a subject",
    *in_soaks(
        "a soft delete of the latest",
        "a permanent delete of the last version",
        "a config",
    ),
)


@pytest.mark.parametrize("name", LOST)
def test_a_lost_answer_is_recognised_by_the_nonce(name: str, forgetful: Account) -> None:
    """Where tokens are forgotten, the repeated transaction fails: on a head that bears the writer's own mark."""
    story, measure, lose = STORIES[name], Undisturbed(STORIES[name]), failing(Fault.LOST)
    lost: list[Call] = []

    def once(call: Call, carry_out: Any) -> Any:
        if lost or not call.is_commit:
            return carry_out()
        lost.append(call)
        return lose(call, carry_out)

    with World(*story.before, store=Store(forgetful)) as world:
        assert outcome(world, story.verb, world.registry_with(once)) == measure.answer
        assert lost
        assert world.picture() == measure.after
        world.check_sound()


# --- too fast --------------------------------------------------------------------------------------------------------


def throttling(one_in: int, seed: str = "") -> Between:
    """One call in so many is refused: too fast."""
    draw, refuse = random.Random(seed), failing(Fault.THROTTLED)

    def act(call: Call, carry_out: Any) -> Any:
        return carry_out() if draw.randrange(one_in) else refuse(call, carry_out)

    return act


THROTTLED = (
    "the first schema of a context",
    "an import over a version",
    "a permanent delete of a subject",
    "a context dropped",
    *in_soaks(
        "a context listed",
        "a schema with a reference",
        "what was deleted",
        "a permanent delete of the last version",
        "a config",
    ),
)


@pytest.mark.parametrize("one_in", [3, pytest.param(8, marks=pytest.mark.soak)])
@pytest.mark.parametrize("name", THROTTLED)
def test_throttled_verbs_succeed_or_refuse_aloud(name: str, one_in: int, small: Fresh) -> None:
    """What DynamoDB refuses is asked again; what S3 refuses fails the request, and the client's retry succeeds."""
    story, measure = STORIES[name], Undisturbed(STORIES[name])
    with World(*story.before, store=small()) as world:
        registry = world.registry_with(throttling(one_in, name))
        seen = measure.before
        for _ in range(20):
            begun = seen
            try:
                answer = outcome(world, story.verb, registry)
            except StoreError:
                seen = world.picture()
                assert seen in (measure.before, measure.after), "half done"
                continue
            assert answer == (measure.answer if begun == measure.before else measure.repeated)
            break
        else:
            pytest.fail("never answered")
        assert world.picture() in (measure.after, measure.end)
        world.check_sound(imported=story.imported)
        world.store.check()


@pytest.mark.parametrize("name", THROTTLED)
def test_who_is_throttled_for_ever_gives_up(name: str, small: Fresh) -> None:
    """A refusal with a number, after as many tries as were budgeted, and nothing has happened."""
    story, recorder, refuse = STORIES[name], Recorder(), throttling(1)
    with World(*story.before, store=small()) as world:
        before = world.picture()
        with pytest.raises(StoreError):  # what the web tells as 50001
            story.verb(world.registry_with(lambda call, carry_out: recorder(call, lambda: refuse(call, carry_out))))
        assert len(recorder.calls) <= TRIES * LIST_SHARDS
        assert world.picture() == before
