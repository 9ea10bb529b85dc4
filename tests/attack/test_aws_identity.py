"""`sigla init` under attack: cut off at any call, or with another person between any two, it gives nothing away."""

from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress

from sigla.aws.inventory import AwsInventory
from sigla.aws.marks import BucketMark, TableMark
from sigla.aws.objects import Objects
from sigla.errors import StoreError
from sigla.ports import Marks
from sigla.registry.claiming import InTheWay, NotClaimed, claim
from sigla.registry.holdings import Holdings
from tests.attack.aws import failing, faults_of
from tests.attack.ports import At, Between, Call, Recorder, client
from tests.build import FixedClock
from tests.contract.aws import Account, AwsStores
from tests.contract.engines import BUCKET
from tests.unit.aws.faults import Killed

OURS, THEIRS = "a" * 32, "b" * 32


@contextmanager
def person(stores: AwsStores, between: Between) -> Iterator[Holdings]:
    """What `sigla init` works on; whoever stands in between stands between it and AWS."""
    clock = FixedClock()
    dynamodb, s3 = client("dynamodb", stores.dynamodb, between), client("s3", stores.s3, between)
    with closing(Objects(s3, BUCKET, clock=clock)) as objects:
        marks = Marks(
            TableMark(dynamodb, stores.table, clock, registry=stores.registry),
            BucketMark(objects, BUCKET, registry=stores.registry),
        )
        inventory = AwsInventory(objects, stores.catalog, clock, registry=stores.registry)
        yield Holdings(stores.catalog, stores.bodies, stores.journal, inventory, clock, marks)


def borne(stores: AwsStores) -> tuple[str, str]:
    with person(stores, Recorder()) as held:
        assert held.marks
        return held.marks.catalog.read(), held.marks.bodies.read()


def undisturbed(account: Account) -> list[Call]:
    recorder = Recorder()
    with account.stores() as stores, person(stores, recorder) as held:
        assert claim(held, OURS)
    return recorder.calls


def test_cut_off_anywhere_it_is_finished_by_saying_it_again(engine: Account) -> None:
    """Whatever was done when the answer was lost, it was our own, and nobody has to insist."""
    calls = undisturbed(engine)
    assert [call.name for call in calls if "put" in call.name or "update" in call.name]
    for number, call in enumerate(calls):
        for fault in faults_of(call):
            with engine.stores() as stores:
                with person(stores, At(number, failing(fault))) as held, suppress(StoreError, Killed):
                    claim(held, OURS)
                assert set(borne(stores)) <= {"", OURS}, (call.name, fault)
                with person(stores, Recorder()) as held:
                    claim(held, OURS)
                assert borne(stores) == (OURS, OURS), (call.name, fault)


def test_of_two_people_one_at_most_is_told_that_it_is_theirs(engine: Account) -> None:
    """Between any two calls of the first the second does it all; then both stores are one deployment's, or nobody's."""
    for number in range(len(undisturbed(engine))):
        with engine.stores() as stores:
            owners = met(stores, number)
            assert len(owners) <= 1, number
            assert not owners or borne(stores) == (owners[0], owners[0]), number


def met(stores: AwsStores, number: int) -> list[str]:
    """Who succeeds where the second person goes first at this call of the first."""
    owners: list[str] = []

    def act(identity: str, held: Holdings) -> None:
        with suppress(NotClaimed, InTheWay):
            claim(held, identity)
            owners.append(identity)

    def overtake(_: Call, carry_out: Callable[[], object]) -> object:
        act(THEIRS, other)
        return carry_out()

    with person(stores, Recorder()) as other, person(stores, At(number, overtake)) as first:
        act(OURS, first)
    return owners
