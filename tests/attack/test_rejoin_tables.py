"""`sigla rejoin` and `sigla regions dismiss` of tables, cut off at each call of AWS and run again."""

from argparse import Namespace
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing, contextmanager, suppress
from itertools import count
from pathlib import Path

import pytest

from sigla.aws.clients import Clients
from sigla.cli import rejoin
from sigla.errors import Refusal, StoreError
from sigla.model import SchemaId, Search, Show
from sigla.opening import TwoRegions
from sigla.ports.regions import Region
from sigla.regions import promotion, rules
from sigla.regions.giving import carried_out
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.standing import REMEMBERED_MS, RegionStanding
from sigla.registry import Registry
from sigla.settings import Address
from sigla.stores.dynamodb import fence
from sigla.stores.dynamodb.arming import give_second_region
from sigla.stores.dynamodb.promoting import TablePair
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.store import AwsStore
from tests.build import FixedClock, a_draft, a_text
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, in_process
from tests.contract.tables import Tables
from tests.unit.aws.faults import Call, Fault, Faults, Killed, no_fault
from tests.unit.registry.tell import s

THERE = f"{BUCKET}-there"
Picture = tuple[dict[str, list[tuple[int, int, bool]]], dict[int, str]]


class Regions:
    """A, which was the first primary, and B, its follower; each call of either meets the fault that is planned."""

    def __init__(self, clients: Clients, opened: ExitStack) -> None:
        self.clock = FixedClock()
        self.a, self.b = (
            opened.enter_context(closing(AwsStore(clients, make_table(clients.dynamodb), bucket, self.clock)))
            for bucket in (BUCKET, THERE)
        )
        self.register(self.a, "orders", "Orders")
        give_second_region(self.a, self.b)
        self.clock.time += rules.KNOWN_MS
        self.turn(self.b, self.a)
        self._faults = [Faults(client) for client in (clients.dynamodb, clients.s3)]

    def turn(self, here: AwsStore, there: AwsStore) -> None:
        self.clock.time += 60_000
        RegionTurns(here, there)()

    def register(self, at: AwsStore, subject: str, name: str) -> int:
        return int(Registry(at.catalog, at.bodies, self.clock).register(s(subject), a_draft(a_text(name))).id or 0)

    def cut(self, number: int, fault: Fault, run: Callable[[], object]) -> bool:
        """Whether it came as far as this call."""
        calls = count()
        struck = []

        def plan(call: Call) -> Fault | None:
            if next(calls) != number:
                return None
            struck.append(call)
            return fault

        for each in self._faults:
            each.plan = plan
        try:
            with suppress(Killed, StoreError, Refusal):
                run()
        finally:
            for each in self._faults:
                each.plan = no_fault
        return bool(struck)

    def rejoin(self, old: AwsStore, new: AwsStore, report: Path) -> int:
        """As the command does it."""
        args = Namespace(yes=True, report=report, old=old.url, primary=new.url)
        return rejoin._rejoin(args, Address(old.url), Address(new.url), TwoRegions(new, old, TablePair(new, old)))

    def picture(self, at: AwsStore) -> Picture:
        """Which versions there are, and what each id means that either region has ever given."""
        registry = Registry(at.catalog, at.bodies, self.clock)
        subjects = at.catalog.subjects(Search(context=None), Show.ALL)
        versions = {
            each.qualified: [(int(row.version), int(row.id), row.deleted) for row in at.catalog.history(each)]
            for each in subjects
        }
        known = dict[int, str]()
        for block in range(3):
            for id in range(block * rules.BLOCK + 1, block * rules.BLOCK + 5):
                with suppress(Refusal):
                    known[id] = registry.schema_by_id(SchemaId(id)).schema.text
        return versions, known


Story = Callable[[Regions, Path], Callable[[], object]]


def passed_over(regions: Regions, report: Path) -> Callable[[], object]:
    """B was promoted by force, and A has acknowledged what that lacks: A rejoins."""
    carried_out(promotion.forced(regions.b.region, now=regions.clock.now()))
    regions.register(regions.a, "free", "Free")
    regions.register(regions.a, "taken", "There")
    regions.register(regions.b, "taken", "Here")
    return lambda: regions.rejoin(regions.a, regions.b, report)


def given_up(regions: Regions, report: Path) -> Callable[[], object]:
    """A has given B up, which has written nothing: B rejoins."""
    dismiss(regions.a.region)
    regions.register(regions.a, "alone", "Alone")
    return lambda: regions.rejoin(regions.b, regions.a, report)


def given_up_and_forced(regions: Regions, report: Path) -> Callable[[], object]:
    """B was promoted by force besides."""
    dismiss(regions.a.region)
    carried_out(promotion.forced(regions.b.region, now=regions.clock.now()))
    regions.register(regions.b, "apart", "Apart")
    regions.register(regions.a, "alone", "Alone")
    return lambda: regions.rejoin(regions.b, regions.a, report)


def to_be_given_up(regions: Regions, _: Path) -> Callable[[], object]:
    return lambda: dismiss(regions.a.region)


def opened_again(regions: Regions, report: Path) -> Callable[[], object]:
    """A promotion of B had closed A, which was opened by force: B, which follows as yet, rejoins."""
    carried_out(promotion.closed(regions.a.region, 1))
    carried_out(promotion.forced(regions.a.region, now=regions.clock.now()))
    regions.register(regions.a, "alone", "Alone")
    return lambda: regions.rejoin(regions.b, regions.a, report)


def opened_and_forced(regions: Regions, report: Path) -> Callable[[], object]:
    """B had taken over before, and has acknowledged what A lacks."""
    carried_out(promotion.closed(regions.a.region, 1))
    carried_out(promotion.forced(regions.b.region, now=regions.clock.now()))
    regions.register(regions.b, "apart", "Apart")
    return opened_again(regions, report)


def dismiss(region: Region) -> None:
    """As the command does it."""
    role = region.role()
    assert role is not None
    carried_out(promotion.dismissed(region, str(role.peer) if role.is_followed else ""))


@contextmanager
def begun(monkeypatch: pytest.MonkeyPatch) -> Iterator[Regions]:
    with monkeypatch.context() as patched, ExitStack() as opened:
        patched.setattr(fence, "COPIES", 2)
        patched.setattr(fence, "AT_ONCE", 1)
        clients = opened.enter_context(in_process(tables=Tables()))
        clients.s3.create_bucket(Bucket=THERE)
        yield Regions(clients, opened)


def ended(regions: Regions) -> object:
    """The roles, without what is counted and drawn; both pictures once the one that came back was filled."""
    roles = [shown(regions, each) for each in (regions.a, regions.b)]
    for here, there in ((regions.a, regions.b), (regions.b, regions.a)):
        role = here.region.role()
        if role is not None and role.kind is RegionKind.JOINING:
            for _ in range(2):
                regions.turn(here, there)
            assert regions.picture(here) == regions.picture(there)
            roles.append(shown(regions, here))
    return roles, regions.picture(regions.a), regions.picture(regions.b)


def shown(regions: Regions, at: AwsStore) -> tuple[object, ...]:
    role: Role | None = at.region.role()
    assert role is not None
    both = {"A": regions.a, "B": regions.b}
    names = {each.url: which for which, each in both.items()} | {_name(each): which for which, each in both.items()}
    return (
        *(role.kind, role.epoch, role.open, role.reconciled, role.token, role.joins),
        *(names.get(str(role.peer), str(role.peer)), [names[each] for each in role.given_up], role.is_followed),
    )


def _name(at: AwsStore) -> str:
    role = at.region.role()
    return role.name if role else ""


STORIES: tuple[Story, ...] = (
    *(passed_over, given_up, given_up_and_forced, to_be_given_up),
    *(opened_again, opened_and_forced),
)


def test_a_region_that_rejoins_has_its_catalog_until_all_who_answer_from_it_know_that_it_joins(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """An environment of the function that remembers a primary lists what is there, and not what is left of it."""
    with begun(monkeypatch) as regions:
        run, kept = passed_over(regions, tmp_path / "report"), regions.picture(regions.a)
        remembers = RegionStanding(regions.a.region.state, regions.clock, follows=False)
        answers = []

        def sleep(seconds: float) -> None:
            now = remembers.kind()
            regions.clock.time += round(seconds * 1000)
            answers.append((now, remembers.kind(), regions.picture(regions.a) == kept))

        assert remembers.kind() is RegionKind.PRIMARY
        monkeypatch.setattr(regions.clock, "sleep", sleep)
        run()
        assert answers == [(RegionKind.PRIMARY, RegionKind.JOINING, True)]
        assert rejoin.HEARD_S * 1000 > REMEMBERED_MS
        assert regions.picture(regions.a)[0] == {}


FAULTS = pytest.mark.parametrize(
    "fault", [Fault.KILLED, Fault.KILLED_AFTER, Fault.LOST], ids=lambda fault: str(fault.name)
)


@pytest.mark.soak
@pytest.mark.parametrize("story", STORIES, ids=lambda story: str(story.__name__))
@FAULTS
def test_who_is_cut_off_at_any_call_of_aws_runs_it_again(
    story: Story, fault: Fault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each time once, on regions of its own."""
    wanted = uncut(story, monkeypatch, tmp_path)
    for number in count():
        with begun(monkeypatch) as regions:
            run = story(regions, tmp_path / "report")
            struck = regions.cut(number, fault, run)
            run()
            assert ended(regions) == wanted, number
        if not struck:
            break
    assert number > 2


@pytest.mark.parametrize(
    "story", [given_up_and_forced, to_be_given_up, opened_and_forced], ids=lambda story: str(story.__name__)
)
@pytest.mark.parametrize("fault", [Fault.KILLED_AFTER, Fault.LOST], ids=lambda fault: str(fault.name))
def test_who_is_cut_off_again_and_again_comes_to_the_same_end(
    story: Story, fault: Fault, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Each time a call later, on the same regions, until it ends by itself."""
    wanted = uncut(story, monkeypatch, tmp_path)
    with begun(monkeypatch) as regions:
        run, cuts = story(regions, tmp_path / "report"), 0
        while regions.cut(cuts, fault, run):
            cuts += 1
        assert cuts > 1
        assert ended(regions) == wanted


def uncut(story: Story, monkeypatch: pytest.MonkeyPatch, folder: Path) -> object:
    with begun(monkeypatch) as regions:
        story(regions, folder / "uncut")()
        return ended(regions)
