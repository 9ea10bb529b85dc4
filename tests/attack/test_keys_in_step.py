"""Keys for field encryption of two regions in AWS, attacked: what was acknowledged is in the survivor.

It is one thing there, wherever a call fails, a process ends, a region is promoted by force, or others write meanwhile.
"""

import random
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from dataclasses import replace
from functools import partial
from itertools import count
from threading import Thread
from typing import Any

import pytest

from sigla.errors import Refusal, StoreError
from sigla.keks.nouns import DEFAULT_ALGORITHM
from sigla.keks.refusals import KeyExists
from sigla.keks.verbs import deks
from sigla.model import Version
from sigla.regions.handed_keys import KeysInStep
from sigla.regions.nouns import KnownBy, RegionKind
from sigla.registry import Registry
from sigla.rules import names
from tests.attack.aws import failing
from tests.attack.keys import LIFE, Keys, dek, kek, keys_of
from tests.attack.ports import At, Between
from tests.attack.test_aws_copying import account, two
from tests.attack.test_aws_region_turns import Regions
from tests.attack.world import Verb, World
from tests.contract.aws import Account
from tests.unit.aws.faults import Fault, Killed

__all__ = ["account"]

S = names.subject("s")
FAULTS = (Fault.UNREACHED, Fault.LOST, Fault.SILENT, Fault.KILLED, Fault.KILLED_AFTER)

OFTEN = {(0, Fault.KILLED_AFTER), (2, Fault.UNREACHED), (5, Fault.LOST)}
"""Verbs and failures with which all calls are tried in each run; the others are tried in `make soak`."""

Name = tuple[str, int]


class TwoTables(Regions):
    """A writes, and B follows it."""

    def __init__(self, a: World, b: World) -> None:
        super().__init__(a, b)
        self.arm()
        self.join()

    @contextmanager
    def registry(
        self, world: World, between: Between | None = None, there: Between | None = None, patience_s: float = 30
    ) -> Iterator[Registry]:
        """As a function of that region has it. between: before its calls to its own stores; there: to the others."""
        other = self.b if world is self.a else self.a
        with ExitStack() as opened:
            own, others = self.store(world, between), self.store(other, there or between)
            self.opened = own
            opened.callback(own.close)
            opened.callback(others.close)
            in_step = KeysInStep(
                own.catalog,
                own.key_commits,
                own.key_adoption,
                others.handed_keys,
                region="there",
                clock=self.clock,
                patience_s=patience_s,
            )
            opened.enter_context(closing(in_step))
            yield Registry(in_step, own.bodies, self.clock)

    def ask(self, world: World, *verbs: Verb) -> None:
        with self.registry(world) as registry:
            for verb in verbs:
                verb(registry)

    def keys(self, world: World) -> Keys:
        """What is stored there: all that clients see but times."""
        return keys_of(self.store(world).catalog)

    def promote_by_force(self) -> None:
        role = self.role(self.b)
        primary = replace(role, kind=RegionKind.PRIMARY, epoch=2, peer=KnownBy(url="dynamodb+s3://A"))
        self.become(self.b, replace(primary, reconciled=False, adopts=True))

    def adopted(self) -> Keys:
        """What B has once each key was asked for, and all of it as well."""
        self.store(self.b).key_adoption.adopt_all()
        return self.keys(self.b)


@contextmanager
def two_tables(account: Account) -> Iterator[TwoTables]:
    with two(account) as (a, b):
        yield TwoTables(a, b)


def material(registry: Registry, version: int = 1) -> str:
    return deks.read_dek(registry, "k", S, Version(version), DEFAULT_ALGORITHM).dek.material


def test_all_that_becomes_of_keys_is_in_the_survivor(account: Account) -> None:
    with two_tables(account) as regions:
        for number in range(len(LIFE)):
            regions.ask(regions.a, LIFE[number])
        assert not regions.keys(regions.b)
        regions.promote_by_force()
        assert regions.adopted() == regions.keys(regions.a)
        assert regions.adopted() == regions.keys(regions.a), "done again, it changes nothing"


def test_replay_brings_the_same_commits(account: Account) -> None:
    """What was handed over is what the journal tells: nothing waits, and nothing diverges."""
    with two_tables(account) as regions:
        for verb in LIFE:
            regions.ask(regions.a, verb)
            told = regions.turn(regions.b)
            assert (told["waiting"], told["apart"]) == (0, 0)
        assert regions.keys(regions.b) == regions.keys(regions.a)
        regions.promote_by_force()
        assert regions.store(regions.b).key_adoption.adopt_all() == 0


@pytest.mark.parametrize(
    "verb, fault",
    [
        pytest.param(verb, fault, id=f"{verb}-{fault.name}", marks=() if (verb, fault) in OFTEN else pytest.mark.soak)
        for verb in range(len(LIFE))
        for fault in FAULTS
    ],
)
def test_wherever_a_call_fails_the_survivor_has_what_was_acknowledged(
    account: Account, verb: int, fault: Fault
) -> None:
    """And of what was not, all or nothing."""
    for number in count():
        with two_tables(account) as regions:
            for each in LIFE[:verb]:
                regions.ask(regions.a, each)
            before = regions.keys(regions.a)
            at = At(number, failing(fault))
            done = False
            with suppress(Killed, StoreError, Refusal), regions.registry(regions.a, at) as registry:
                LIFE[verb](registry)
                done = True
            if not at.acted:
                break
            left = regions.keys(regions.a)
            regions.promote_by_force()
            found = regions.adopted()
            if done:
                assert found == left
            else:
                assert found in (before, left) or found == after(account, verb), (number, at.call)


def after(account: Account, verb: int) -> Keys:
    with two_tables(account) as undisturbed:
        for each in LIFE[: verb + 1]:
            undisturbed.ask(undisturbed.a, each)
        return undisturbed.keys(undisturbed.a)


# --- others at the same moment ---------------------------------------------------------------------------------------


def acknowledged(registry: Registry, verb: Verb) -> str:
    """The material that a client goes on with, as it does: where one stands it takes that."""
    for _ in range(9):
        with suppress(KeyExists):
            verb(registry)
        with suppress(Refusal, StoreError):
            return material(registry)
    return ""


def promoted(regions: TwoTables, seen: list[str], reads: bool, _: Any, carry_out: Callable[[], Any]) -> Any:
    regions.promote_by_force()
    with regions.registry(regions.b) as registry:
        if not reads:
            seen.append(acknowledged(registry, dek("k", "s", material="of B")))
        else:
            with suppress(Refusal):
                seen.append(material(registry))
    return carry_out()


@pytest.mark.parametrize("reads", [True, False], ids=["read", "made"])
def test_a_survivor_and_the_region_before_it_give_a_key_one_material(account: Account, reads: bool) -> None:
    """B is promoted at any moment of a create at A, and asked for the same key: A is not heard of, and goes on."""
    for number in count():
        with two_tables(account) as regions:
            regions.ask(regions.a, kek("k"))
            regions.turn(regions.b)
            seen: list[str] = []

            at = At(number, partial(promoted, regions, seen, reads))
            told = ""
            with suppress(Refusal, StoreError), regions.registry(regions.a, at) as registry:
                dek("k", "s", material="of A")(registry)
                told = "of A"
            if not at.acted:
                break
            with regions.registry(regions.b) as registry:
                for material_told in {told, *seen} - {""}:
                    assert material(registry) == material_told, (number, at.call)
            regions.adopted()
            with regions.registry(regions.b) as registry, suppress(Refusal):
                assert {material(registry)} >= {told, *seen} - {""}


def test_a_key_of_an_epoch_that_is_over_is_not_made_in_a_later_one(account: Account) -> None:
    """Its list has ended with its epoch: the region that follows now reads that of the later one."""
    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"))
        regions.turn(regions.b)

        def promoted_there_and_back(call: Any, carry_out: Callable[[], Any]) -> Any:
            answer = carry_out()
            if call.name != "s3.put_object" or regions.role(regions.a).epoch > 1:
                return answer
            for world, other in ((regions.b, regions.a), (regions.a, regions.b)):
                epoch = regions.role(other).epoch + 1
                regions.become(other, replace(regions.role(other), epoch=epoch, kind=RegionKind.FOLLOWER))
                regions.become(world, replace(regions.role(world), epoch=epoch, kind=RegionKind.PRIMARY))
            own.key_commits.look("k")  # another request of the same process
            return answer

        told = ""
        with regions.registry(regions.a, None, promoted_there_and_back) as registry:
            own = regions.opened
            with suppress(Refusal, StoreError):
                told = dek("k", "s", material="of an epoch that is over")(registry).dek.material
        if not told:
            with regions.registry(regions.a) as registry:
                told = dek("k", "s", material="of a later one")(registry).dek.material
        regions.become(regions.b, replace(regions.role(regions.b), epoch=4, kind=RegionKind.PRIMARY, peer=KnownBy("A")))
        regions.become(regions.b, replace(regions.role(regions.b), reconciled=False, adopts=True))
        with regions.registry(regions.b) as registry:
            assert material(registry) == told


def writing(regions: TwoTables, dice: random.Random, told: list[tuple[Name, str]], subject: str) -> None:
    """One client that makes versions of its own, and the same first one as all others."""
    with regions.registry(regions.a) as registry:
        for version in range(1, 5):
            for name in ("shared", subject):
                text = f"{subject} {version} {dice.random()}"
                with suppress(KeyExists):
                    told.append(((name, version), dek("k", name, version, material=text)(registry).dek.material))


def test_writers_at_the_same_moment_have_each_key_once(account: Account) -> None:
    """Whoever finds the next number taken carries that commit out, and comes after it."""
    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"))
        told: list[tuple[Name, str]] = []
        dice = random.Random(5)
        threads = [Thread(target=writing, args=(regions, dice, told, f"s{number}")) for number in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        regions.promote_by_force()
        found = regions.adopted()
        assert found == regions.keys(regions.a)
        by_name = {(key[1], key[3]): value[0] for key, value in found.items() if isinstance(key, tuple)}
        assert all(by_name[name] == material_told for name, material_told in told)
        assert len(by_name) == 4 + 4 * 4
        assert len({name for name, _ in told}) == len(told), "nobody is told of a key that another one made"


def test_a_dek_takes_five_calls_one_after_the_other(account: Account) -> None:
    """Two more than in one region, of which one goes to the other region; to read it takes no more."""
    asked = list[str]()

    def count_call(call: Any, carry_out: Callable[[], Any]) -> Any:
        asked.append(call.name)
        return carry_out()

    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"))
        with regions.registry(regions.a, count_call) as registry:
            dek("k", "s")(registry)
            looked, placed, committed = "dynamodb.batch_get_item", "s3.put_object", "dynamodb.transact_write_items"
            assert asked == [looked, looked, looked, placed, committed]
            asked.clear()
            assert material(registry)
            assert asked == [looked, looked]


def torn(write: Callable[[], None], late: str, _: Any, carry_out: Callable[[], Any]) -> Any:
    """An answer of two moments, between which another writer commits. late: the rows that are told as of the later."""
    before = carry_out()
    write()
    after = carry_out()
    for table, items in after.get("Responses", {}).items():
        earlier = [each for each in before["Responses"][table] if late not in each]
        after["Responses"][table] = [*earlier, *(each for each in items if late in each)]
    return after


@pytest.mark.parametrize("late", ["kek", "dek"])
def test_rows_that_are_read_of_two_moments_take_no_key_away(account: Account, late: str) -> None:
    """DynamoDB tells rows that are read together one by one: a commit may lie between them."""
    for number in range(3):
        with two_tables(account) as regions:
            regions.ask(regions.a, kek("k"))
            write = partial(regions.ask, regions.a, dek("k", "s", material="of another"))
            told = ""
            between = At(number, partial(torn, write, late))
            with suppress(KeyExists), regions.registry(regions.a, between) as registry:
                told = dek("k", "s", material="mine")(registry).dek.material
            assert between.acted
            assert not told
            with regions.registry(regions.a) as registry:
                assert material(registry) == "of another"
            regions.promote_by_force()
            assert regions.adopted() == regions.keys(regions.a)


def test_what_a_command_wrote_and_was_lost_keeps_nothing_else_out(account: Account) -> None:
    """`sigla import` writes to a store without telling the other region; the number is passed over there."""
    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"))
        regions.turn(regions.b)
        alone = Registry(regions.store(regions.a).catalog, regions.store(regions.a).bodies, regions.clock)
        dek("k", "imported")(alone)
        regions.ask(regions.a, dek("k", "s", material="told"))
        regions.promote_by_force()
        with regions.registry(regions.b) as registry:
            assert material(registry) == "told"


def test_a_region_that_is_silent_refuses_keys_and_is_not_waited_for_again(account: Account) -> None:
    with two_tables(account) as regions:
        regions.ask(regions.a, kek("k"))
        asked = []

        def cut(call: Any, _: Callable[[], Any]) -> Any:
            asked.append(call.name)
            raise failing(Fault.UNREACHED)(call, lambda: None)

        with regions.registry(regions.a, lambda _, go: go(), cut) as registry:
            for _ in range(3):
                with pytest.raises(Refusal) as refused:
                    dek("k", "s")(registry)
                assert refused.value.code == 50002
            assert asked == ["s3.put_object"]
            assert regions.keys(regions.a) == {"k": ("id", None, False)}
