"""Two tables of which one follows the other: how long the copy takes, how far behind it is, how long own writes wait.

The primary has 20,000 schemas. Another table joins it; beside that, bare calls copy the same rows and objects into a
third one, as many at a time. The second table misses 1,000 registrations, and then follows by what is told at
once, while a second writer registers at the primary as fast as it gets answers. For each commit the two functions of
the regions run one after the other, as Lambda would start them: one names it, the other one reads it in the primary's
table and carries it out.

It may mislead: the engines of DynamoDB and S3 share this machine's processors with all that. What is not here, and not
measured: the second in which the stream gathers commits, the event bus, starts of functions, and the way between two
regions (70 ms for each question). docs/regions.md says what these come to.
"""

import time
from base64 import b64encode
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack, closing, contextmanager
from itertools import count, islice
from statistics import quantiles
from threading import Event, Thread
from typing import Any, Final

import orjson

from benchmarks import filled
from benchmarks.account import BUCKET, Account, account
from benchmarks.harness import Goal, Line, Lines, main
from sigla.functions.replay import SOURCE, OtherRegionTold, Replaying
from sigla.model import Draft
from sigla.regions import rules
from sigla.regions.installed import Installed
from sigla.regions.moved import Moved, noted
from sigla.regions.nouns import KnownBy, RegionKind, Role
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.bringing import BroughtBack
from sigla.stores.dynamodb.copy_writing import LANES
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.region_turns import RegionTurns
from sigla.stores.dynamodb.store import AwsStore
from sigla.stores.dynamodb.table import MOST_SCANNED
from sigla.stores.s3.copied_objects import AT_ONCE

SCHEMAS, FEW = 20_000, 40
MISSED, FEW_MISSED = 1_000, 10
TOLD, FEW_TOLD = 300, 8
OTHER_BUCKET: Final = "sigla-bodies-of-the-other-region"
THIRD_BUCKET: Final = "sigla-bodies-of-no-region"
LAG_GOAL_S: Final = 10
WRITERS: Final = 8
"""So many fill the primary side by side."""


def lines(*, quick: bool = False, schemas: int = SCHEMAS) -> Lines:
    schemas, missed, told = (FEW, FEW_MISSED, FEW_TOLD) if quick else (schemas, MISSED, TOLD)
    with account() as made, ExitStack() as opened:
        pair = Pair(made, opened)
        begun = time.perf_counter()
        pair.register(schemas)
        filled_s = time.perf_counter() - begun
        joined_s = pair.join()
        yield Line(
            f"a table that joins one of {schemas:,} schemas, until it follows",
            joined_s,
            "s",
            pair.bare_copy(),
            "the same rows and objects by bare calls",
        )
        yield Line("that takes, for each schema", joined_s / schemas, "s", filled_s / schemas, "to register it")
        pair.register(missed)
        begun = time.perf_counter()
        while RegionTurns(pair.b, pair.a)()["carry_out"]:
            """The last turn finds nothing."""
        yield Line(
            f"{missed:,} registrations that it has missed, until a turn finds no more", time.perf_counter() - begun, "s"
        )
        with pair.written_beside() as beside:
            lags = [pair.lag() for _ in range(told)]
            waits = [pair.own_write() for _ in range(told)]
        half, most = _half_and_most(lags)
        while_written = f"while another writer has made {beside()} besides"
        what = "from the primary's answer until the follower has it"
        yield Line(f"{what}, median", half, "s", against=while_written)
        yield Line(f"{what}, p99", most, "s", goal=Goal(LAG_GOAL_S, "s"))
        half, most = _half_and_most(waits)
        what = "what the answer to a write through the follower waits for"
        yield Line(f"{what}, median", half, "s")
        yield Line(f"{what}, p99", most, "s")


def _half_and_most(seconds: list[float]) -> tuple[float, float]:
    found = quantiles(seconds, n=100, method="inclusive")
    return found[49], found[98]


class Pair:
    """A primary and its follower, of one account."""

    def __init__(self, made: Account, opened: ExitStack) -> None:
        made.clients.s3.create_bucket(Bucket=OTHER_BUCKET)
        self._made, self._clients, self._clock = made, made.clients, SystemClock()
        tables = ((made.table, BUCKET), (made.another_table(), OTHER_BUCKET))
        self.a, self.b = (
            opened.enter_context(closing(AwsStore(made.clients, table, bucket, self._clock)))
            for table, bucket in tables
        )
        self._table, self._numbers, self._heard = made.table, count(1), list[Any]()
        self._leads = self._function(self.a, self.b, RegionKind.PRIMARY)
        self._follows = self._function(self.b, self.a, RegionKind.FOLLOWER)
        self._registry = Registry(self.a.catalog, self.a.bodies, self._clock)
        self._set(self.a, Role(1, RegionKind.PRIMARY, peer=KnownBy("b"), armed=self._clock.now() - rules.KNOWN_MS))
        self._set(self.b, Role(0, RegionKind.JOINING, peer=KnownBy("a")))

    def _function(self, here: AwsStore, there: AwsStore, becomes: RegionKind) -> Replaying:
        told = OtherRegionTold(self, there.url, "default")
        return Replaying(
            here, there, told, registry="default", becomes=becomes, installed=Installed("", {}), tell=lambda _: None
        )

    def _set(self, store: AwsStore, role: Role) -> None:
        if not store.region.set_role(store.region.role(), role):
            raise RuntimeError("the role was not set")

    def put_events(self, Entries: list[Any]) -> Any:  # noqa: N803 - as the client of EventBridge calls it
        self._heard += Entries
        return {"Entries": [{} for _ in Entries]}

    def register(self, schemas: int) -> None:
        with ThreadPoolExecutor(WRITERS) as pool:
            list(pool.map(self._register, islice(self._numbers, schemas)))

    def _register(self, number: int) -> Moved:
        with noted() as notes:
            self._registry.register(filled.subject(number), Draft(filled.text(number)))
        return notes.moved

    def join(self) -> float:
        begun = time.perf_counter()
        while not RegionTurns(self.b, self.a)().get("follows"):
            """A turn works for 50 s at most."""
        return time.perf_counter() - begun

    def bare_copy(self) -> float:
        """Seconds for what the two stores hold, to a third table and bucket: nothing is compared, or checked."""
        clients, table = self._clients, self._made.another_table()
        clients.s3.create_bucket(Bucket=THIRD_BUCKET)

        def write(rows: list[Any]) -> None:
            left = {table: [{"PutRequest": {"Item": row}} for row in rows]}
            while left:
                left = clients.dynamodb.batch_write_item(RequestItems=left)["UnprocessedItems"]

        def copy(name: str) -> None:
            body = clients.s3.get_object(Bucket=BUCKET, Key=name)["Body"].read()
            clients.s3.put_object(Bucket=THIRD_BUCKET, Key=name, Body=body)

        begun = time.perf_counter()
        with ThreadPoolExecutor(LANES) as pool:
            for page in clients.dynamodb.get_paginator("scan").paginate(
                TableName=self._table, ConsistentRead=True, PaginationConfig={"PageSize": MOST_SCANNED}
            ):
                list(pool.map(write, (page["Items"][at : at + 25] for at in range(0, len(page["Items"]), 25))))
        with ThreadPoolExecutor(AT_ONCE) as pool:
            for page in clients.s3.get_paginator("list_objects_v2").paginate(Bucket=BUCKET):
                list(pool.map(copy, (each["Key"] for each in page["Contents"])))
        return time.perf_counter() - begun

    def lag(self) -> float:
        """Seconds from a commit's end until it is carried out by the two functions."""
        (name,) = self._register(next(self._numbers)).commits
        begun = time.perf_counter()
        pk, sk = Places("default").journal(*name)
        row = self._clients.dynamodb.get_item(TableName=self._table, Key={"pk": {"S": pk}, "sk": {"S": sk}})["Item"]
        image = {key: {"B": b64encode(each["B"]).decode()} if "B" in each else each for key, each in row.items()}
        record = {"eventName": "INSERT", "dynamodb": {"Keys": {"pk": row["pk"]}, "NewImage": image}}
        self._leads({"Records": [record]})
        done = self._follows({"source": SOURCE, "detail": orjson.loads(self._heard.pop()["Detail"])})
        if done.get("carry_out") != 1:
            raise RuntimeError(f"a commit was not carried out: {done}")
        return time.perf_counter() - begun

    def own_write(self) -> float:
        moved = self._register(next(self._numbers))
        begun = time.perf_counter()
        if not BroughtBack(self.b, self.a)(moved):
            raise RuntimeError("a write did not come back")
        return time.perf_counter() - begun

    @contextmanager
    def written_beside(self) -> Iterator[Any]:
        """Another writer at the primary; how many registrations it has made."""
        over, made = Event(), list[int]()

        def write() -> None:
            with closing(AwsStore(self._clients, self._table, BUCKET, self._clock)) as store:
                registry = Registry(store.catalog, store.bodies, self._clock)
                while not over.is_set():
                    number = 500_000 + len(made)
                    registry.register(filled.subject(number), Draft(filled.text(number)))
                    made.append(number)

        writer = Thread(target=write)
        writer.start()
        try:
            yield lambda: len(made)
        finally:
            over.set()
            writer.join()


if __name__ == "__main__":
    main(lines, __doc__)
