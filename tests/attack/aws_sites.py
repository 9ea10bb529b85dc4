"""A region of two in AWS: a table and a bucket, and its way to the other region's, over which anything gets lost."""

import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from dataclasses import replace
from itertools import count
from types import SimpleNamespace
from typing import Any, Final, TypeVar
from unittest.mock import patch

import orjson

from sigla import observe
from sigla.errors import Refusal, StoreError
from sigla.model import BodyKey
from sigla.ports.clock import Clock
from sigla.region_parts import OtherRegionParts
from sigla.regions.nouns import RegionKind, Role
from sigla.registry import Options, Registry
from sigla.settings import BEST_EFFORT, FOLLOWER, REQUIRED, Settings
from sigla.stores.dynamodb.journal import AwsJournal
from sigla.stores.dynamodb.store import AwsStore
from tests.attack.aws import Store, failing, faults_of
from tests.attack.ports import Between, Call, client
from tests.attack.world import Rows, World
from tests.build import FixedClock
from tests.contract.aws import Account, AwsStores, make_table
from tests.unit.aws.faults import Fault, Killed, failure

T = TypeVar("T")

_buckets = count()
EVERYTHING_TOLD: Final = frozenset({"versions", "configs", "modes", "contexts", "keys", "associations"})
"""What the journal of a registry adds up to (`World.replayed`)."""
ENDS: Final = (Fault.KILLED, Fault.KILLED_AFTER)
LONG: Final = 40
"""So many calls fail when all of those fail that the adapters repeat."""


class Skewed:
    """The clock of a region, which differs from the one of the other region."""

    def __init__(self, clock: FixedClock, skew_ms: int) -> None:
        self._clock, self._skew_ms = clock, skew_ms

    def now(self) -> int:
        return self._clock.now() + self._skew_ms

    def elapsed(self) -> int:
        return self._clock.elapsed()

    def sleep(self, seconds: float) -> None:
        self._clock.sleep(seconds)


class Gate:
    """Before the calls of one client. cuts: what is to come between, as long as it is there."""

    def __init__(self) -> None:
        self.cuts: Between | None = None
        self.commits = 0

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        answer = self.cuts(call, carry_out) if self.cuts else carry_out()
        self.commits += call.is_commit
        return answer


class Link(Gate):
    """The way to the other region, in one direction. is_cut: nothing gets there. failing: how often a call fails."""

    def __init__(self, dice: random.Random, failing: float) -> None:
        super().__init__()
        self.is_cut = False
        self.failing = failing
        self._dice = dice
        self._left = 0
        self._fault = Fault.SILENT

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        if self.is_cut:
            raise failure(Fault.UNREACHED)
        if not self._left and self._dice.random() < self.failing:
            self._left = self._dice.choice((1, 1, LONG))
            self._fault = self._dice.choice([each for each in faults_of(call) if each not in ENDS])
        if self._left:
            self._left -= 1
            return failing(self._fault if self._fault in faults_of(call) else Fault.SILENT)(call, carry_out)
        return super().__call__(call, carry_out)

    def mend(self) -> None:
        self.is_cut, self.failing, self._left = False, 0.0, 0


class Killing:
    """Ends the process before or after the `number`-th of its calls; those of threads beside it are lost, too."""

    def __init__(self, number: int, fault: Fault) -> None:
        self._number = number
        self._fault = fault
        self._calls = count()
        self.is_over = False

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        if self.is_over:
            raise Killed
        if next(self._calls) != self._number:
            return carry_out()
        self.is_over = True
        return failing(self._fault)(call, carry_out)


class _OwnCommits:
    """The journal of a region without commits that it had alone, and that came back to it in another way."""

    def __init__(self, journal: AwsJournal) -> None:
        self._journal = journal

    def read(self) -> Iterator[tuple[int, Any]]:
        return ((at, row) for at, row, _ in self._journal.rows(0, brought=False))


class _Held(Store):
    """The data of a region, as the suites want them."""

    def __init__(self, aws: AwsStore, account: Account, place: tuple[Any, Any, str, str], bucket: str) -> None:
        self._aws = aws
        self.stores = AwsStores(aws.catalog, aws.bodies, aws.journal, account.clients, *place, aws.objects, bucket)
        journal: Any = _OwnCommits(aws.journal)
        self.catalog, self.bodies, self.journal = aws.catalog, aws.bodies, journal

    def close(self) -> None:
        self._aws.close()


class TableSite(World):
    """Another region's is given to it by `connect`.

    told: of bodies that the other region did not take in time. untold: what its journal does not tell from the
    beginning: of a region that was filled from a copy, nothing. network: what stands behind the gates of both ways.
    """

    store: _Held
    aws: AwsStore

    def __init__(self, account: Account, registry: str, clock: Clock) -> None:
        self.account, self.name = account, registry
        self.clock: Any = clock
        self.gate = Gate()
        self.raw = SimpleNamespace(dynamodb=account.dynamodb, s3=account.s3)
        self.table, self.bucket = make_table(account.dynamodb), f"region-{next(_buckets)}"
        account.s3.create_bucket(Bucket=self.bucket)
        self.told: list[Any] = []
        self.untold: frozenset[str] = frozenset()
        self._opened: list[Any] = []
        self.link: Link | None = None
        self.there: AwsStore | None = None
        self.network: Between | None = None

    def seen_from(self, gate: Gate, clock: Clock, there: AwsStore | None = None) -> AwsStore:
        """The registry of this table and this bucket, through a gate."""
        raw = {"dynamodb": self.raw.dynamodb, "s3": self.raw.s3}
        if self.network:
            raw = {name: client(name, each, self.network) for name, each in raw.items()}
        gated = {name: client(name, each, gate) for name, each in raw.items()}
        clients: Any = SimpleNamespace(**gated, region="eu-west-1")
        made = AwsStore(clients, self.table, self.bucket, clock, registry=self.name, there=there)
        self._opened.append(made)
        return made

    def connect(self, other: "TableSite", link: Link, *, required: bool) -> None:
        self.link = link
        self.there = other.seen_from(link, self.clock)
        self.aws = self.seen_from(self.gate, self.clock, self.there)
        place = self.raw.dynamodb, self.raw.s3, self.table, self.name
        self.store = _Held(self.aws, self.account, place, self.bucket)
        bodies = REQUIRED if required else BEST_EFFORT
        settings = Settings(
            store=self.aws.url,
            registry_name=self.name,
            region_peer=self.there.url,
            region_role=FOLLOWER,
            region_bodies=bodies,
        )
        with patch.object(observe, "tell", self.told.append):
            self.parts = OtherRegionParts.of(settings, self.aws, self.there)
        self.standing, self.bodies = self.parts.standing, self.parts.in_step
        self.registry = self.registry_with()

    def is_followed(self) -> bool:
        """As a function does when it is asked to write: for a minute by what it has read, if it was a primary."""
        if self.standing.kind() is not RegionKind.PRIMARY:
            self.standing.kind_now()
        return self.standing.is_followed()

    @property
    def role(self) -> Role:
        role = self.aws.region.role()
        assert role
        return role

    def registry_with(self, between: Between | None = None, options: Options | None = None) -> Registry:
        assert between is None
        registry = Registry(self.parts.keys, self.bodies, self.clock, options or Options())
        return replace(registry, catalog=self.parts.catalog(registry))

    def answered(self, question: Callable[[Registry], T]) -> T:
        """As `web.two_regions` does: that something is not here is told by the role as it is now."""
        adopted = self.standing.adopts()
        try:
            return question(self.registry)
        except Refusal as absent:
            if absent.status == 404 and self.standing.concludes_now() and not adopted and self.standing.adopts():
                return question(self.registry)
            raise

    @contextmanager
    def killed(self, killing: Killing | None) -> Iterator[None]:
        """What is done here may be cut off: at calls to this region, and to the other one."""
        gates = [self.gate, *([self.link] if self.link else [])]
        for gate in gates:
            gate.cuts = killing
        try:
            with suppress(Killed, StoreError):
                yield
        finally:
            for gate in gates:
                gate.cuts = None

    def is_known(self, key: BodyKey) -> bool:
        return self.aws.catalog.speaker(key) is not None

    def replayed(self) -> dict[str, Any]:
        return self._compared(super().replayed())

    def catalogued(self, rows: Rows) -> dict[str, Any]:
        return self._compared(super().catalogued(rows))

    def _compared(self, told: dict[str, Any]) -> dict[str, Any]:
        return {name: each for name, each in told.items() if name not in self.untold}

    def close(self) -> None:
        self.parts.close()
        for made in self._opened:
            made.close()

    def _check_authors(self) -> None:
        """Each region keeps the names of its own callers."""


def shared(found: dict[Any, Any]) -> dict[Any, Any]:
    """Without commits that only one side had, and that came to the other one in another way.

    Bodies are what they mean, which is promised. Who registered one first is not: where one was deleted for good and
    brought anew, or came by a rejoin, each side may have another registration there.
    """
    bodies = {key: orjson.loads(form) for key, form in found.items() if isinstance(key, str) and "/schemas/" in key}
    kept = {key: form for key, form in found.items() if not (isinstance(form, dict) and "brought" in form)}
    return kept | {key: {name: form.get(name) for name in ("schema", "guid", "gone")} for key, form in bodies.items()}
