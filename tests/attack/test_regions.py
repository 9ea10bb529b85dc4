"""A registry gets a role while others write to it and know nothing of that."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field, replace
from functools import partial

import pytest

from sigla.changes import Author, ContextListed
from sigla.errors import Closed, StoreError
from sigla.model import SchemaId
from sigla.ports.regions import Region
from sigla.regions import giving, rules
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.regions.refusals import NoBlock
from sigla.registry import Registry
from sigla.registry.attributed import attributed
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.sqlite.store import EmbeddedStore
from tests.build import NOW, FixedClock, a_draft, a_nonce, a_text
from tests.contract.aws import Account, AwsStores, moto
from tests.unit.aws.faults import Call, Fault, Faults, no_fault
from tests.unit.registry.tell import s

__all__ = ["moto"]

PRIMARY = Role(1, RegionKind.PRIMARY, peer=KnownBy("B"), armed=NOW)
CALLS = ["BatchGetItem", "UpdateItem", "TransactWriteItems"]
"""The registration of a subject's first version."""
BEFORE_EACH = range(len(CALLS))


@pytest.fixture(autouse=True)
def _small(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(rules, "BLOCK", 6)
    monkeypatch.setattr(fence, "COPIES", 3)
    monkeypatch.setattr(fence, "AT_ONCE", 1)


@dataclass
class Deployment:
    """A registry with any number of instances, and whoever gives it roles."""

    stores: AwsStores
    clock: FixedClock = field(default_factory=FixedClock)
    called: list[str] = field(default_factory=list)

    @property
    def region(self) -> Region:
        return AwsRegion.of(self.stores.dynamodb, self.stores.table, self.clock, registry=self.stores.registry)

    def catalog(self) -> AwsCatalog:
        """That of another instance."""
        return AwsCatalog(self.stores.dynamodb, self.stores.table, self.clock, registry=self.stores.registry)

    def instance(self) -> Registry:
        return Registry(self.catalog(), self.stores.bodies, self.clock)

    def become(self, role: Role) -> None:
        assert self.region.set_role(self.region.role(), role)

    def close(self) -> None:
        self.become(replace(PRIMARY, open=False))

    @contextmanager
    def before(self, number: int, do: Callable[[], None]) -> Iterator[None]:
        """Does something before the n-th call to the table, beside the one who calls."""
        doing = False

        def plan(call: Call) -> Fault | None:
            nonlocal doing
            if not doing:
                self.called.append(call.operation)
                if len(self.called) == number + 1:
                    doing = True
                    do()
                    doing = False
            return None

        faults = Faults(self.stores.dynamodb, plan)
        try:
            yield
        finally:
            faults.plan = no_fault


@pytest.fixture
def deployment(moto: Account) -> Iterator[Deployment]:
    with moto.stores() as stores:
        yield Deployment(stores)


def register(registry: Registry, name: str) -> int:
    """As a request does, which is of one epoch."""
    asked = attributed(registry, Author("", "api"))
    return int(asked.register(s(name), a_draft(a_text(name))).id or 0)


@pytest.mark.parametrize("number", BEFORE_EACH)
def test_a_registry_gets_a_role_without_a_pause(deployment: Deployment, number: int) -> None:
    """Whoever registers at that moment is answered as ever, and the next id is the next one."""
    writer = deployment.instance()
    assert register(writer, "before") == 1
    with deployment.before(number, lambda: deployment.become(PRIMARY)):
        assert register(writer, "meanwhile") == 2
    assert deployment.called[0] == CALLS[0]
    assert [register(each, f"after{n}") for n, each in enumerate((writer, deployment.instance()))] == [3, 4]


@pytest.mark.parametrize("number", BEFORE_EACH[:-1])
def test_who_does_not_know_of_the_role_is_stopped_when_the_region_is_closed(
    deployment: Deployment, number: int
) -> None:
    """A minute may have passed since it found no role: that is not believed for longer."""
    writer = deployment.instance()
    register(writer, "before")

    def closed() -> None:
        deployment.become(PRIMARY)
        deployment.clock.sleep(fence.LONE_MS / 1000)
        deployment.close()

    with deployment.before(number, closed), pytest.raises(Closed):
        register(writer, "meanwhile")
    assert deployment.called[: number + 1] == CALLS[: number + 1]
    assert deployment.stores.catalog.history(s("meanwhile")) == ()


@pytest.mark.parametrize("number", BEFORE_EACH)
def test_who_knows_of_the_role_commits_nothing_once_the_region_is_closed(deployment: Deployment, number: int) -> None:
    """Its commit checks it, whenever it was asked for: what comes before that call is not seen in time by any other."""
    deployment.become(PRIMARY)
    writer = deployment.instance()
    register(writer, "before")
    with deployment.before(number, deployment.close), pytest.raises(Closed):
        register(writer, "meanwhile")
    assert deployment.stores.catalog.history(s("meanwhile")) == ()


def test_a_commit_that_begins_without_a_question_looks_at_the_role(deployment: Deployment) -> None:
    """An instance that changes nothing but keys or exporters would otherwise never hear of it."""
    late = deployment.catalog()
    late.commit(ContextListed(".a", NOW, a_nonce()))
    deployment.become(PRIMARY)
    deployment.close()
    with pytest.raises(Closed):
        late.commit(ContextListed(".b", NOW, a_nonce()))
    assert deployment.stores.catalog.contexts() == (".a",)


@pytest.mark.parametrize("number", BEFORE_EACH)
def test_who_does_not_know_of_the_role_keeps_to_the_ceiling(deployment: Deployment, number: int) -> None:
    """Ids rest on the counter alone: by no clock, and whatever the writer believes."""
    writer = deployment.instance()
    given = [register(writer, f"before{n}") for n in range(4)]
    with EmbeddedStore() as other:
        other.region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy("A")))

        def told() -> None:
            deployment.become(PRIMARY)
            giving.carried_out(giving.tell_ceiling(deployment.region, other.region, "."))
            other.region.set_role(other.region.role(), Role(2, RegionKind.PRIMARY, peer=KnownBy("A"), reconciled=False))
            given.append(giving.carried_out(giving.drawn(other.region, None, ".")))

        with deployment.before(number, told):
            given.append(register(writer, "meanwhile"))
    assert len(set(given)) == len(given)
    assert given == [1, 2, 3, 4, 7, 5]


class CutOff(BaseException):
    """The end of the process that changes a role."""


@pytest.mark.parametrize("copies", range(4))
def test_a_change_of_the_role_that_is_cut_off_is_as_good_as_done(deployment: Deployment, copies: int) -> None:
    """The row decides: a region that was closed stays so, and one that was opened is put right by those who write."""
    deployment.become(PRIMARY)
    deployment.close()
    writer = deployment.instance()

    def end() -> None:
        raise CutOff

    with deployment.before(1 + copies, end), pytest.raises(CutOff):
        deployment.region.set_role(deployment.region.role(), replace(PRIMARY, epoch=3))
    role = deployment.region.role()
    if role is not None and role.epoch == 3:
        assert [register(writer, f"s{n}") for n in range(6)] == [13, 14, 15, 16, 17, 18]
        assert deployment.region.set_role(role, role), "and the same call again puts all of it right"
    else:
        with pytest.raises(Closed):
            register(writer, "s")


@pytest.mark.parametrize("copies", range(1, 4))
def test_a_region_whose_close_was_cut_off_is_closed_by_the_next_call(deployment: Deployment, copies: int) -> None:
    """A writer that does not know of it may go on until then, in the epoch that was not over: nothing is lost."""
    deployment.become(PRIMARY)
    writer = deployment.instance()
    register(writer, "before")

    def end() -> None:
        raise CutOff

    with deployment.before(1 + copies, end), pytest.raises(CutOff):
        deployment.close()
    closed = deployment.region.role()
    assert closed is not None
    assert not closed.open
    with pytest.raises(Closed):
        register(deployment.instance(), "new")
    assert deployment.region.set_role(closed, closed)
    late = deployment.catalog()
    late.snapshot(s("a"))
    for n in range(6):
        with pytest.raises(Closed):
            late.commit(ContextListed(f".c{n}", NOW, a_nonce()))


FAULTS = (Fault.UNREACHED, Fault.SILENT, Fault.LOST, Fault.FAULTY, Fault.THROTTLED, Fault.UNDECIDED)
DRAWS = 10


@pytest.mark.parametrize("fault", FAULTS, ids=lambda fault: fault.name.lower())
def test_whatever_fails_in_a_raise_no_id_is_given_by_both(deployment: Deployment, fault: Fault) -> None:
    """Each call in turn fails, once or for a while, on its way to either region; then the other one is promoted."""
    here, there = deployment.region, following(deployment)
    for number in range(12):
        for many in (1, 3, 50):
            context = f".c{number}-{many}"
            given = drawn(deployment, partial(giving.drawn, here, there, context), range(number, number + many), fault)
            seen, own = there.look(context).counter, here.look(context).counter
            assert own is None or own.ceiling <= rules.ceiling_of(seen, 1), "beyond what the other region knows of"
            begins = rules.begun(seen, 2).first
            assert len(set(given)) == len(given)
            assert all(id < begins for id in given)
            assert many > 1 or len(given) >= DRAWS - 1, "one failure costs one draw at most"


def following(deployment: Deployment) -> Region:
    """The other region of a registry that gets its first role."""
    stores = deployment.stores
    other = AwsRegion.of(stores.dynamodb, stores.table, deployment.clock, registry=f"{stores.registry}-b")
    deployment.become(PRIMARY)
    assert other.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy("A")))
    return other


def drawn(
    deployment: Deployment, draw: Callable[[], giving.Course[SchemaId]], failing: range, fault: Fault
) -> list[SchemaId]:
    """What is given in ten draws, of whose calls some fail."""
    faults = Faults(deployment.stores.dynamodb, lambda call: fault if call.number in failing else None)
    given = []
    for _ in range(DRAWS):
        with suppress(StoreError, NoBlock):
            given.append(giving.carried_out(draw()))
    faults.plan = no_fault
    return given
