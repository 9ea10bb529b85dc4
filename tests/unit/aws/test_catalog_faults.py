"""A failure at every call that a verb makes to DynamoDB: nothing is half done, and trying again succeeds."""

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import pytest

from sigla.errors import OutcomeUnknown, Refusal, StoreError
from sigla.ports import Bodies, Catalog, Journal
from tests.attack.stories import WRITES, Story
from tests.attack.world import World, outcome
from tests.contract.aws import Account, AwsStores, account
from tests.contract.engines import dynamodb_local
from tests.unit.aws.faults import Call, Fault, Faults, Killed, no_fault, once

__all__ = ["dynamodb_local"]

FAULTS = [Fault.SILENT, Fault.LOST, Fault.UNDECIDED, Fault.KILLED, Fault.KILLED_AFTER]
PIECEWISE = {"import of a subject", "import of everything"}
"""Between its mode and its purges an import can be cut off; the mark that it leaves says so."""

QUICK = ["a permanent delete of the last version", "a config"]
LOST = ["a second version", "a soft delete of the latest", "a permanent delete of a subject", *QUICK]


@pytest.fixture(scope="module")
def moto() -> Iterator[Account]:
    with account() as made:
        yield made


@pytest.fixture(scope="module")
def engine(dynamodb_local: str) -> Iterator[Account]:
    with account(dynamodb_local) as made:
        yield made


class Store:
    """A fresh registry for a world."""

    def __init__(self, of: Account) -> None:
        self._opened = ExitStack()
        self.stores: AwsStores = self._opened.enter_context(of.stores())
        self.catalog: Catalog = self.stores.catalog
        self.bodies: Bodies = self.stores.bodies
        self.journal: Journal = self.stores.journal

    def close(self) -> None:
        self._opened.close()


class Measure:
    """What a verb does when nothing fails, on the embedded stores: where it begins and where it ends."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.story: Story = WRITES[name]
        story = self.story
        with World(*story.before) as world:
            self.before = world.picture()
            self.answer = outcome(world, story.verb)
            self.after = world.picture()


def disturbed(of: Account, faults: Faults, measure: Measure, number: int, fault: Fault) -> bool:
    """One run with a failure at one call; whether the verb made so many calls."""
    story, name = measure.story, measure.name
    with World(*story.before, store=Store(of)) as world:
        assert world.picture() == measure.before
        begun = len(faults.calls)
        faults.plan = once(lambda call: call.number == begun + number, fault)
        answer: Any = None
        try:
            answer = outcome(world, story.verb)
        except (Refusal, StoreError, OutcomeUnknown, Killed):
            assert fault is not Fault.UNDECIDED, "a conflict of transactions is ours to repeat"
        finally:
            made = len(faults.calls) - begun
            faults.plan = no_fault
        seen = world.picture()
        if name not in PIECEWISE and not story.piecewise:
            assert seen in (measure.before, measure.after), f"{fault} at call {number} of {name}: half done"
        world.check_sound(imported=story.imported)
        if answer is not None and not isinstance(answer, tuple):
            assert seen == measure.after, f"{fault} at call {number} of {name}: said to be done"
        return made > number


def every_call(of: Account, name: str) -> int:
    """How many calls were disturbed."""
    faults, measure = Faults(of.clients.dynamodb), Measure(name)
    number = 0
    while all(disturbed(of, faults, measure, number, fault) for fault in FAULTS):
        number += 1
    return number


@pytest.mark.parametrize("name", QUICK)
def test_a_failure_at_any_call_leaves_all_or_nothing(engine: Account, name: str) -> None:
    """Silent before or after, undecided, the process killed before or after."""
    assert every_call(engine, name) > 1


@pytest.mark.parametrize("name", LOST)
def test_a_lost_answer_is_recognised_by_the_nonce(moto: Account, name: str) -> None:
    """Moto knows no tokens: the repeated transaction fails, on a head that bears the writer's own mark."""
    measure = Measure(name)
    story = measure.story
    faults = Faults(moto.clients.dynamodb)
    with World(*story.before, store=Store(moto)) as world:
        faults.plan = once(_is_commit, Fault.LOST)
        assert outcome(world, story.verb) == measure.answer
        assert world.picture() == measure.after
        world.check_sound()
    faults.plan = no_fault


@pytest.mark.soak
@pytest.mark.parametrize("name", [name for name in WRITES if name not in QUICK])
def test_a_failure_at_any_call_of_any_verb_leaves_all_or_nothing(engine: Account, name: str) -> None:
    """The whole matrix: minutes."""
    every_call(engine, name)


def _is_commit(call: Call) -> bool:
    return call.operation == "TransactWriteItems"
