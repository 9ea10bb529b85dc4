"""Two regions in AWS, and a network that brings what is written late, or twice: after a promotion, a rejoin, a copy.

Whoever has written it was told that no answer came, or that it was done; nothing is brought later than a minute.
"""

import random
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, NamedTuple

from botocore.exceptions import ClientError

from tests.attack.aws_sites import TableSite
from tests.attack.aws_two_regions import MINUTE_MS, TwoTables
from tests.attack.ports import Call
from tests.build import FixedClock
from tests.unit.aws.faults import Fault, failure

WRITES: Final = frozenset(
    {"dynamodb.batch_write_item", "dynamodb.transact_write_items", "dynamodb.update_item", "s3.put_object"}
)
LATE, TWICE, BROUGHT = 0.01, 0.03, 0.08
"""How often a request is late, or comes twice; how often one that is under way comes in a step."""


class UnderWay(NamedTuple):
    since: int
    name: str
    carry_out: Callable[[], Any]


class Network:
    """Before all calls of both regions, as they reach AWS."""

    def __init__(self, dice: random.Random) -> None:
        self.clock = FixedClock()
        self._dice = dice
        self._under_way: list[UnderWay] = []
        self.is_calm = True
        self.brought = 0

    def __call__(self, call: Call, carry_out: Callable[[], Any]) -> Any:
        if self.is_calm or call.name not in WRITES:
            return carry_out()
        drawn = self._dice.random()
        if drawn < LATE + TWICE:
            self._under_way.append(UnderWay(self.clock.now(), call.name, carry_out))
        if drawn < LATE:
            raise failure(Fault.SILENT)
        return carry_out()

    def bring(self, often: float, *, since: int | None = None) -> None:
        """What is under way, in any order. since: all that is older."""
        for each in self._dice.sample(self._under_way, len(self._under_way)):
            if self._dice.random() < often or (since is not None and each.since <= since):
                self._under_way.remove(each)
                self.brought += 1
                with suppress(ClientError):
                    each.carry_out()


class LateTables(TwoTables):
    """As `TwoTables`, over such a network."""

    def __init__(self, account: Any, seed: int, *, required: bool) -> None:
        self.network = Network(random.Random(-seed - 1))
        super().__init__(account, seed, required=required)

    def fresh(self) -> TableSite:
        site = super().fresh()
        site.network = self.network
        return site

    def step(self) -> None:
        self.network.clock = self.clock
        self.network.bring(BROUGHT)
        self.network.is_calm = False
        super().step()
        self.tally["brought late"] = self.network.brought

    def pass_time(self, ms: int) -> None:
        self.network.bring(0.0, since=self.clock.now() + ms - MINUTE_MS)
        super().pass_time(ms)

    def mended(self) -> None:
        """From here to the next step nothing more is late, or comes twice; what is under way stays so."""
        self.network.is_calm = True
        super().mended()

    def force(self) -> None:
        self.network.is_calm = True
        super().force()

    def check(self) -> None:
        self.network.bring(1.0)
        super().check()
