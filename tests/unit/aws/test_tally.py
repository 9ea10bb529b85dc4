"""A quota of versions in AWS: one number for all instances, strict among those that ask at once."""

from collections import Counter
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest

from sigla.errors import QuotaReached, StoreError
from sigla.model import SchemaId, Search
from sigla.registry import Registry
from sigla.registry.steps.quota import COUNTED_MS, Quotas, SharedQuota
from sigla.stores.dynamodb import tally as module
from sigla.stores.dynamodb.tally import AwsTally
from tests.attack.aws import failing
from tests.attack.ports import At, Between, Call, client
from tests.attack.stories import BASE, ONE, TWO, delete, mode, purge, register
from tests.attack.world import Verb
from tests.build import FixedClock
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.faults import Fault, Killed
from tests.unit.aws.journaling import at_any_call


def let_pass(_: Call, carry_out: Callable[[], Any]) -> Any:
    return carry_out()


class Instances:
    """Any number of a registry with a quota, on one clock."""

    def __init__(self, stores: AwsStores) -> None:
        self.stores, self.clock, self.opened = stores, FixedClock(), ExitStack()

    def __call__(self, most: int, between: Between = let_pass) -> Registry:
        catalog = self.opened.enter_context(self.stores.another_catalog())
        dynamodb = client("dynamodb", self.stores.dynamodb, between)
        tally = AwsTally(dynamodb, self.stores.table, self.clock, catalog, registry=self.stores.registry)
        quotas = Quotas(SharedQuota(most, "versions", tally, self.clock))
        return Registry(catalog, self.stores.bodies, self.clock, quotas=quotas)

    @property
    def held(self) -> int:
        """Versions that are stored."""
        return sum(1 for _ in self.stores.catalog.versions(Search(context=None), deleted=True, latest_only=False))


@contextmanager
def instances_of(stores: AwsStores) -> Iterator[Instances]:
    made = Instances(stores)
    with made.opened:
        yield made


@pytest.fixture
def instances(stores: AwsStores) -> Iterator[Instances]:
    with instances_of(stores) as made:
        yield made


def refused(verb: Callable[[Registry], Any], registry: Registry) -> bool:
    try:
        verb(registry)
    except QuotaReached:
        return True
    return False


def test_what_was_there_before_the_quota_counts(stores: AwsStores, instances: Instances) -> None:
    """A fence that began at zero would let a full registry grow to twice its quota."""
    open_to_all = Registry(stores.catalog, stores.bodies, instances.clock)
    for verb in (register("a", ONE), register("a", TWO), register(":.c:b", ONE), delete("a", 1)):
        verb(open_to_all)
    one = instances(4)
    assert not refused(register("c"), one)
    assert refused(register("d"), one)
    assert instances.held == 4


def test_a_full_registry_takes_what_it_has(stores: AwsStores, instances: Instances) -> None:
    """Producers register on every start; what is refused uses up no id."""
    one = instances(1)
    register("a")(one)
    assert refused(register("b", TWO), one)
    for verb in (register("a"), lambda registry: registry.schema_by_id(SchemaId(1)), delete("a")):
        assert not refused(verb, one)
    assert stores.catalog.max_id(".") == 1


def test_instances_that_register_at_once_pass_the_fence_by_none(instances: Instances) -> None:
    """Each environment of a function has a client at a time; a deployment registers from all of them."""
    crowd = [instances(10) for _ in range(4)]
    register("a0")(crowd[0])  # counted
    with ThreadPoolExecutor(8) as pool:
        told = list(pool.map(lambda number: refused(register(f"a{number}"), crowd[number % 4]), range(1, 25)))
    assert told.count(False) == 9
    assert instances.held == 10


def test_what_was_deleted_for_good_makes_room_within_a_minute(instances: Instances) -> None:
    """It is counted again where the number is at its end, and then once a minute at most."""
    one = instances(2)
    for verb in (register("a"), register("b"), delete("a")):
        verb(one)
    instances.clock.sleep(COUNTED_MS / 1000)
    assert refused(register("c"), one), "what is deleted softly is there"
    purge("a")(one)
    assert refused(register("c"), one)
    instances.clock.sleep(COUNTED_MS / 1000)
    assert not refused(register("c"), one)
    assert refused(register("d"), one)


def test_a_client_that_comes_again_and_again_has_it_counted_once_a_minute(
    instances: Instances, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted: list[int] = []
    count = AwsTally._count

    def counting(self: AwsTally) -> int:
        counted.append(1)
        return count(self)

    monkeypatch.setattr(AwsTally, "_count", counting)
    one = instances(1)
    register("a")(one)
    for _ in range(20):
        assert refused(register("b"), one)
    assert len(counted) == 1
    instances.clock.sleep(COUNTED_MS / 1000)
    for _ in range(20):
        assert refused(register("b"), one)
    assert len(counted) == 2


def test_a_version_of_a_high_number_is_one_version(stores: AwsStores, instances: Instances) -> None:
    """A client chooses it in mode IMPORT: the count must not be what it says."""
    open_to_all = Registry(stores.catalog, stores.bodies, instances.clock)
    for verb in (mode("a", "IMPORT"), register("a", id=7, version=2_000_000_000)):
        verb(open_to_all)
    assert not refused(register("b"), instances(20))


def test_many_subjects_are_counted_in_parts(
    stores: AwsStores, instances: Instances, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "MOST_READ", 3)
    monkeypatch.setattr(module, "AT_ONCE", 2)
    open_to_all = Registry(stores.catalog, stores.bodies, instances.clock)
    for number in range(20):
        register(f"a{number}")(open_to_all)
    one = instances(21)
    assert not refused(register("b"), one)
    assert refused(register("c"), one)


def test_a_quota_costs_a_write_unit_for_what_is_new_and_nothing_for_anything_else(
    stores: AwsStores, instances: Instances
) -> None:
    """Most registrations are of producers that start, with schemas that are known."""
    one, without = instances(100), Registry(stores.catalog, stores.bodies, instances.clock)
    register("a")(one)

    def calls(verb: Verb, registry: Registry) -> Counter[str]:
        before = stores.clients.calls.read()
        verb(registry)
        return stores.clients.calls.read() - before

    new = calls(register("b", TWO), one) - calls(register("c", BASE), without)
    assert new == {"UpdateItem": 1}
    for verb in (register("b", TWO), lambda registry: registry.schema_by_id(SchemaId(1)), delete("a"), purge("a")):
        assert calls(verb, one)["UpdateItem"] == 0


@pytest.mark.parametrize("fault", at_any_call(Fault.KILLED, Fault.LOST))
def test_a_failure_at_any_call_shuts_no_registry_for_longer_than_a_minute(moto: Account, fault: Fault) -> None:
    """What was added and came to nothing goes with the next count; what is stored is never more than the quota."""
    number, met = 0, True
    while met:
        with moto.stores() as stores, instances_of(stores) as instances:
            disturbed = At(number, failing(fault))
            for subject in ("a", "b", "c"):  # the first is counted, the last is refused
                with suppress(QuotaReached, StoreError, Killed):
                    register(subject)(instances(2, disturbed))
            met = disturbed.acted
            assert instances.held <= 2
            instances.clock.sleep(COUNTED_MS / 1000)
            most = instances.held + 1
            assert not refused(register("later"), instances(most))
            assert refused(register("latest"), instances(most))
        number += 1
    assert number > 5
