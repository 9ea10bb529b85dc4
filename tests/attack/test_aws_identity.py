"""`sigla init` under attack: cut off at any call, or with another person between any two, it gives nothing away."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

import pytest

from sigla import keys
from sigla.errors import StoreError
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId
from sigla.ports.marks import Marks
from sigla.ports.store import Store
from sigla.registry import Registry
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.inventory import AwsInventory
from sigla.stores.dynamodb.marks import BucketMark, TableMark
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from sigla.upkeep.claiming import InTheWay, NotClaimed, claim
from tests.attack.aws import failing, faults_of
from tests.attack.ports import At, Between, Call, Recorder, client
from tests.attack.stories import ONE, register
from tests.build import FixedClock, StoreOf, a_body
from tests.contract.aws import Account, AwsStores, of_two_parts
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import Fault, Killed

OURS, THEIRS = "a" * 32, "b" * 32
WRITES = ("s3.put_object", "dynamodb.update_item")


@contextmanager
def person(stores: AwsStores, between: Between) -> Iterator[Store]:
    """What `sigla init` works on; whoever stands in between stands between it and AWS."""
    clock = FixedClock()
    dynamodb, s3 = client("dynamodb", stores.dynamodb, between), client("s3", stores.s3, between)
    name = stores.registry
    with (
        closing(Objects(s3, BUCKET, clock=clock)) as objects,
        closing(AwsCatalog(dynamodb, stores.table, clock, registry=name)) as catalog,
    ):
        marks = Marks(
            TableMark(dynamodb, stores.table, clock, registry=name), BucketMark(objects, BUCKET, registry=name)
        )
        inventory = AwsInventory(objects, catalog, clock, registry=name)
        yield StoreOf(catalog, AwsBodies(objects, registry=name), stores.journal, inventory, clock, marks)


def borne(stores: AwsStores) -> tuple[str, str]:
    with person(stores, Recorder()) as held:
        assert held.marks
        return held.marks.catalog.read(), held.marks.bodies.read()


@pytest.fixture(params=[False, True], ids=["new", "in use"])
def stores(engine: Account, monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[AwsStores]:
    """A table and a bucket that bear nothing, and belong together."""
    of_two_parts(monkeypatch)
    with engine.stores() as made:
        if request.param:
            register("orders", ONE)(Registry(made.catalog, made.bodies, FixedClock()))
        yield made


def undisturbed(stores: AwsStores) -> list[Call]:
    recorder = Recorder()
    with person(stores, recorder) as held:
        assert claim(held, OURS)
    forget(stores)
    return recorder.calls


def forget(stores: AwsStores) -> None:
    """They bear nothing again."""
    pk = {"pk": {"S": keys.identity_pk(stores.registry)}, "sk": {"S": keys.IDENTITY}}
    stores.dynamodb.delete_item(TableName=stores.table, Key=pk)
    stores.s3.delete_object(Bucket=BUCKET, Key=keys.identity_object(stores.registry))
    assert borne(stores) == ("", "")


def every_fault(_: int, call: Call) -> tuple[Fault, ...]:
    return faults_of(call)


def few_faults(number: int, call: Call) -> tuple[Fault, ...]:
    """All of them at a write; at a read one, another at each call: what was to be read makes no difference to it."""
    faults = faults_of(call)
    return faults if call.name in WRITES else (faults[number % len(faults)],)


@pytest.mark.parametrize("faults", [few_faults, pytest.param(every_fault, marks=pytest.mark.soak)])
def test_cut_off_anywhere_it_is_finished_by_saying_it_again(
    stores: AwsStores, faults: Callable[[int, Call], tuple[Fault, ...]]
) -> None:
    """Whatever was done when the answer was lost, it was our own, and no operator has to insist.

    Meanwhile the table is never the only one that bears it: ids would not be read beside a bucket that bears nothing.
    """
    calls = undisturbed(stores)
    assert [call.name for call in calls if call.name in WRITES] == list(WRITES)
    for number, call in enumerate(calls):
        for fault in faults(number, call):
            interrupted(stores, number, fault)
            assert borne(stores) in {("", ""), ("", OURS), (OURS, OURS)}, (call.name, fault)
            with person(stores, Recorder()) as held:
                claim(held, OURS)
            assert borne(stores) == (OURS, OURS), (call.name, fault)
            forget(stores)


def test_what_does_not_belong_together_is_not_claimed_because_a_call_failed(
    engine: Account, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A body that could not be read does not count as agreement; and once AWS answers, the sentence is the true one."""
    of_two_parts(monkeypatch)
    with engine.stores() as stores:
        register("orders", ONE)(Registry(stores.catalog, stores.bodies, FixedClock()))
        key = BodyKey(DEFAULT_CONTEXT, SchemaId(1))
        stores.bodies.mend(key, a_body('"string"'), stores.bodies.get(key))
        recorder = Recorder()
        with person(stores, recorder) as held, pytest.raises(NotClaimed, match="the body of that id is another schema"):
            claim(held, OURS)
        for number, call in enumerate(recorder.calls):
            for fault in faults_of(call):
                with suppress(NotClaimed):
                    interrupted(stores, number, fault)
        assert borne(stores) == ("", "")


def interrupted(stores: AwsStores, number: int, fault: Fault) -> None:
    """What comes of it is told as silence, or not at all: never as a reason that there is not."""
    with person(stores, At(number, failing(fault))) as held, suppress(StoreError, Killed):
        claim(held, OURS)


def test_of_two_people_one_at_most_is_told_that_it_is_theirs(stores: AwsStores) -> None:
    """Between any two calls of the first the second does all its own; then both stores have one owner, or none."""
    for number in range(len(undisturbed(stores))):
        owners = met(stores, number)
        assert len(owners) <= 1, number
        assert not owners or borne(stores) == (owners[0], owners[0]), number
        forget(stores)


def met(stores: AwsStores, number: int) -> list[str]:
    """Who succeeds where the second person goes first at this call of the first."""
    owners: list[str] = []

    def act(identity: str, held: Store) -> None:
        with suppress(NotClaimed, InTheWay):
            claim(held, identity)
            owners.append(identity)

    def overtake(_: Call, carry_out: Callable[[], object]) -> object:
        act(THEIRS, other)
        return carry_out()

    with person(stores, Recorder()) as other, person(stores, At(number, overtake)) as first:
        act(OURS, first)
    return owners
