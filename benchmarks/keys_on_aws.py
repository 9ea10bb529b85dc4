"""DEKs per second under one KEK over DynamoDB and S3, by 1, 8 and 32 producers at the same time, in one region and two.

Each producer is a thread with an instance of its own over the same table, as environments of a function are, and makes
DEKs of subjects of its own. Commits under one KEK come one after the other: its counts of DEKs move with each. With two
regions a commit is put into the other region's bucket first, under the next number of the KEK; once as if that region
were beside this one, and once 70 ms away, there and back.

It may mislead: DynamoDB's engine and moto's S3 share this machine's processors with the producers, and all producers
share one interpreter.
"""

import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, suppress
from dataclasses import dataclass
from functools import partial
from itertools import count, islice
from statistics import median
from typing import Final

from benchmarks.account import BUCKET, Account, account
from benchmarks.harness import Line, Lines, in_turns, main
from sigla.errors import NotDone
from sigla.keks.nouns import FIRST_VERSION, DekDraft, KekDraft
from sigla.keks.refusals import KeyExists, KeyNotFound
from sigla.keks.verbs import deks, keks
from sigla.model import Version
from sigla.ports.clock import Clock
from sigla.ports.handed_keys import HandedKeys
from sigla.ports.replaying import Shipment
from sigla.regions import rules
from sigla.regions.handed_keys import KeysInStep
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.rules import names
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.store import AwsStore

PRODUCERS = (1, 8, 32)
PAUSE_S: Final = 0.1
AWAY_S: Final = 0.07
"""From Ireland to Frankfurt and back it takes less, from Ireland to Virginia that much."""


def lines(*, quick: bool = False) -> Lines:
    (rounds, each), crowds = ((1, 4), (1, 2)) if quick else ((3, 96), PRODUCERS)
    with account() as made, ExitStack() as opened, ThreadPoolExecutor(max(crowds)) as pool:
        regions = [Region(made, opened), TwoRegions(made, opened), TwoRegions(made, opened, away_s=AWAY_S)]
        for crowd in crowds:
            works = [partial(region.per_second, pool, crowd, each) for region in regions]
            one, *others = (median(figures) for figures in in_turns(rounds, *works))
            by = f"by {crowd} producer{'s' * (crowd > 1)}"
            yield Line(f"DEKs under one KEK, {by}", one, "/s")
            for figure, where in zip(others, ("beside it", f"{AWAY_S * 1000:.0f} ms away"), strict=True):
                yield Line(f"with another region {where}, {by}", figure, "/s", one, "in one region")


class Region:
    """A table with one KEK, and as many instances over it as there are producers."""

    def __init__(self, made: Account, opened: ExitStack) -> None:
        self._made, self._opened = made, opened
        self._table, self._clock, self._numbers = made.another_table(), SystemClock(), count(1)
        self._instances: list[Registry] = []
        keks.create_kek(self._instance(0), KekDraft("k", "aws-kms", "arn:aws:kms:eu-west-1:111122223333:key/k"))

    def per_second(self, pool: ThreadPoolExecutor, producers: int, each: int) -> float:
        """DEKs, of which each producer makes its share, one after the other."""
        shares = [list(islice(self._numbers, each // producers)) for _ in range(producers)]
        instances = [self._instance(number) for number in range(producers)]

        def work(registry: Registry, share: list[int]) -> None:
            for number in share:
                _make(registry, number)

        begun = time.perf_counter()
        list(pool.map(work, instances, shares))
        return sum(map(len, shares)) / (time.perf_counter() - begun)

    def _instance(self, number: int) -> Registry:
        while number >= len(self._instances):
            self._instances.append(self._begun())
        return self._instances[number]

    def _begun(self) -> Registry:
        store = self._store(self._table, BUCKET)
        return Registry(store.catalog, store.bodies, self._clock)

    def _store(self, table: str, bucket: str) -> AwsStore:
        return self._opened.enter_context(closing(AwsStore(self._made.clients, table, bucket, self._clock)))


class TwoRegions(Region):
    """away_s: how long a question to the other one takes besides."""

    def __init__(self, made: Account, opened: ExitStack, *, away_s: float = 0.0) -> None:
        self._away_s, self._other = away_s, made.another_table()
        made.clients.s3.create_bucket(Bucket=f"bucket-of-{self._other}")
        super().__init__(made, opened)

    def _begun(self) -> Registry:
        own, other = self._store(self._table, BUCKET), self._store(self._other, f"bucket-of-{self._other}")
        if own.region.role() is None:
            armed = self._clock.now() - rules.KNOWN_MS
            own.region.set_role(None, Role(1, RegionKind.PRIMARY, peer=KnownBy("b"), armed=armed))
            other.region.set_role(None, Role(1, RegionKind.FOLLOWER, peer=KnownBy("a"), armed=armed))
        there = Away(other.handed_keys, self._away_s, self._clock)
        in_step = KeysInStep(own.catalog, own.key_commits, own.key_adoption, there, region="b", clock=self._clock)
        return Registry(self._opened.enter_context(closing(in_step)), own.bodies, self._clock)


@dataclass(frozen=True)
class Away:
    """What the other region has been handed, so far away."""

    keys: HandedKeys
    away_s: float
    clock: Clock

    def put(self, epoch: int, kek: str, number: int, handed: Shipment | None) -> bool:
        self.clock.sleep(self.away_s)
        return self.keys.put(epoch, kek, number, handed)

    def read(self, epoch: int, kek: str, number: int) -> Shipment | None:
        self.clock.sleep(self.away_s)
        return self.keys.read(epoch, kek, number)

    def after(self, epoch: int, kek: str, number: int) -> Sequence[int]:
        self.clock.sleep(self.away_s)
        return self.keys.after(epoch, kek, number)

    def keks(self, epoch: int) -> Iterator[str]:
        self.clock.sleep(self.away_s)
        return self.keys.keks(epoch)


def _make(registry: Registry, number: int) -> None:
    """As clients do: who is refused asks again in a moment, and takes the key that stands there then."""
    draft = DekDraft(material=f"wrapped-{number}")
    while True:
        with suppress(NotDone), suppress(KeyExists):
            deks.create_dek(registry, "k", names.subject(f"orders-{number}"), draft)
            return
        with suppress(KeyNotFound, NotDone):
            deks.read_dek(registry, "k", names.subject(f"orders-{number}"), Version(FIRST_VERSION), draft.algorithm)
            return
        registry.clock.sleep(PAUSE_S)


if __name__ == "__main__":
    main(lines, __doc__)
