"""What follows the table: its stream, batch by batch, and every quarter of an hour whatever the stream has not brought.

    journal rows         a purge or an import is swept first, then the row goes into a segment: of what a segment
                         tells, nothing is left to do
    HOLDERS of an id     its body is made to say what the catalog says: gone, or not
    the schedule         journal rows without a segment, an open segment, imports that were cut off

All of it may be repeated, cut off, and done by several instances at once. What fails is told, the rest is done, and
then the invocation fails, so that the batch comes again.
"""

from base64 import b64decode
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime
from itertools import islice
from math import inf
from typing import Any

from sigla import keys, observe
from sigla.errors import Closed
from sigla.functions.housekeeping import Tombstones, left_behind
from sigla.functions.segments import AT_ONCE, MOST_BYTES, MOST_ROWS, Segments, key_of, waits
from sigla.model import BodyKey, Subject
from sigla.observe import Facts, Teller
from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import Condition, update
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.places import JOURNAL_SHARDS
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item, read_item
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects

LATE_MS = 3_600_000
"""By how much a row may be older than another that was there before it: clocks differ, commits are tried again."""
CUT_OFF_MS = 900_000
"""An import that began so long ago is not under way any more: a function lives for 15 minutes at most."""

COUNTED = ("rows", "segments", "aside", "swept", "settled")
"""Rows that segments tell now, segments, rows that cannot be read, subjects swept, ids whose bodies were looked at."""

SCHEDULES = frozenset({"aws.events", "aws.scheduler"})

Event = Mapping[str, Any]


class Unfinished(Exception):
    """Something failed; the rest is done, and doing it all again finishes it."""


@dataclass
class Work:
    """What one invocation did. held: times of rows that have to wait. oldest: time of the oldest row that it met."""

    counted: Counter[str] = field(default_factory=Counter)
    failures: list[Exception] = field(default_factory=list)
    held: list[int] = field(default_factory=list)
    oldest: float = inf

    def attempt(self, act: Callable[..., Any], *args: Any) -> bool:
        """Whether it succeeded."""
        try:
            act(*args)
        except Exception as failure:  # noqa: BLE001 - whatever it is, the rest has to be done; it is raised in the end
            self.failures.append(failure)
            return False
        return True


@contextmanager
def following(
    dynamodb: Any,
    table: str,
    objects: Objects,
    clock: Clock,
    *,
    registry: str,
    tell: Teller = observe.tell,
    segment_bytes: int = MOST_BYTES,
) -> Iterator["Follower"]:
    """What Lambda calls, for one registry. dynamodb: a low-level client. segment_bytes: as `Segments` has them."""

    def tell_of_it(facts: Facts) -> None:
        tell(facts | {"registry": registry})

    tools, bodies = Tools.of(dynamodb, table, clock, registry), AwsBodies(objects, registry=registry)
    catalog = AwsCatalog(dynamodb, table, clock, registry=registry)
    with closing(catalog), ThreadPoolExecutor(AT_ONCE, thread_name_prefix="bodies") as executor:
        segments = Segments(tools, objects, bodies, clock, executor=executor, tell=tell_of_it, most_bytes=segment_bytes)
        yield Follower(tools, catalog, segments, Tombstones(catalog, bodies, executor), clock, tell=tell_of_it)


class Follower:
    """tools: of the same table as the catalog. tell: takes the line of each invocation."""

    def __init__(
        self,
        tools: Tools,
        catalog: AwsCatalog,
        segments: Segments,
        tombstones: Tombstones,
        clock: Clock,
        *,
        tell: Teller,
    ) -> None:
        self._tools = tools
        self._catalog = catalog
        self._segments = segments
        self._tombstones = tombstones
        self._clock = clock
        self._tell = tell

    def __call__(self, event: Event, context: Any = None) -> dict[str, Any]:
        """What was done. Raises Unfinished, ValueError for a foreign event."""
        begun, work = self._clock.now(), Work()
        if "Records" in event:
            self._follow(event["Records"], work)
        elif "catch_up" in event:
            self._catch_up(self._since(event["catch_up"]), work, again=True)
        elif event.get("source") in SCHEDULES:
            self._on_schedule(work)
        else:
            raise ValueError(f"neither of a stream nor of a schedule: an event with {sorted(event)}")
        done = self._report(work, begun)
        for failure in work.failures:
            self._tell(observe.failure(failure, request_id=getattr(context, "aws_request_id", "")))
        if work.failures:
            raise Unfinished(f"{len(work.failures)} of its tasks failed") from work.failures[0]
        return done

    # --- the stream --------------------------------------------------------------------------------------------------

    def _follow(self, records: Sequence[Mapping[str, Any]], work: Work) -> None:
        rows, ids = [], []
        for record in records:
            image = record["dynamodb"].get("NewImage", {})
            match record["eventName"], self._kind(record["dynamodb"]["Keys"]):
                case "INSERT", "j":
                    rows.append(_read_image(image))
                case "INSERT" | "MODIFY", "i" if image["sk"]["S"] == keys.HOLDERS:
                    ids.append(keys.id_of(image["pk"]["S"]))
        self._tell_rows(rows, work)
        work.attempt(self._settle, ids, work)

    def _kind(self, key: Mapping[str, Any]) -> str:
        """The letter of a partition; empty for another registry's."""
        registry, _, rest = key["pk"]["S"].partition("#")
        kind = rest.partition("#")[0]
        return kind if registry == keys.component(self._tools.places.registry) else ""

    def _tell_rows(self, rows: Sequence[Item], work: Work, *, again: bool = False) -> bool:
        """Sweeps what is to be swept and writes segments; whether they could be written."""
        work.oldest = min([work.oldest, *map(_at, rows)])
        wanted = {key_of(row): left_behind(row) for row in rows}
        plain = [row for row in rows if not wanted[key_of(row)]]
        done = self._write(plain, work, again=again)
        swept = []
        for row in rows:
            if subjects := wanted[key_of(row)]:
                if work.attempt(self._sweep, subjects, work):
                    swept.append(row)
                else:
                    work.held.append(_at(row))
        return self._write(swept, work, again=again) and done

    def _write(self, rows: Sequence[Item], work: Work, *, again: bool) -> bool:
        return work.attempt(lambda: work.counted.update(self._segments.write(map(key_of, rows), again=again)))

    def _sweep(self, subjects: Sequence[Subject], work: Work) -> None:
        for subject in subjects:
            self._settle(self._catalog.sweep(subject), work)
            work.counted["swept"] += 1

    def _settle(self, ids: Sequence[BodyKey], work: Work) -> None:
        work.counted["settled"] += self._tombstones.settle(ids)

    # --- the schedule ------------------------------------------------------------------------------------------------

    def _on_schedule(self, work: Work) -> None:
        """A few reads where nothing happened; where it is the first time, all that the table keeps."""
        now, place = self._clock.now(), self._tools.places.caught_up()
        work.attempt(self._segments.finish)
        marked = self._tools.table.get(place)
        if self._catch_up(marked["at"] if marked else now - JOURNAL_KEPT_S * 1000, work):
            work.attempt(self._mark, min([now - LATE_MS, *work.held]))
        work.attempt(self._resume, now - CUT_OFF_MS, work)

    def _catch_up(self, since: int, work: Work, *, again: bool = False) -> bool:
        """Journal rows from a time on that no segment tells; whether all were met. again: also what was put aside."""
        waiting, rows = self._waiting(since, again=again), list[Item]()

        def read() -> None:
            rows[:] = islice(waiting, MOST_ROWS)

        while work.attempt(read):
            if not rows:
                return True
            if not self._tell_rows(rows, work, again=again):
                break  # AWS does not answer: the next ones would fare no better
        return False

    def _waiting(self, since: int, *, again: bool) -> Iterator[Item]:
        where = Condition("#sk >= :sk", {"sk": keys.journal_sk(since, "")})
        for shard in range(JOURNAL_SHARDS):
            for item in self._tools.table.query(keys.journal_pk(self._tools.places.registry, shard), where):
                if waits(item, again=again):
                    yield item

    def _mark(self, at: int) -> None:
        later = Condition("attribute_not_exists(#at) OR #at < :at", {"at": at})
        try:
            self._tools.table.update(update(self._tools.places.caught_up(), {"at": at}, when=later))
        except Cancelled:
            return

    def _resume(self, before: int, work: Work) -> None:
        with suppress(Closed):  # in a region that follows: its primary finishes them
            self._settle(self._catalog.resume_imports(before), work)

    def _since(self, asked: Mapping[str, Any]) -> int:
        """Milliseconds; as far back as rows are kept if nothing is said."""
        return time_of(asked["since"]) if "since" in asked else self._clock.now() - JOURNAL_KEPT_S * 1000

    # --- telling -----------------------------------------------------------------------------------------------------

    def _report(self, work: Work, begun: int) -> Facts:
        """lag_ms: how long the oldest row has waited that was met; 0 without a row."""
        now = self._clock.now()
        counted = {name: work.counted[name] for name in COUNTED}
        lag_ms = max(0, now - work.oldest)
        facts: Facts = {"event": "journal", "ts": now, **counted, "took_ms": now - begun, "lag_ms": lag_ms}
        self._tell(facts)
        return facts


def time_of(text: str) -> int:
    """A time that a person wrote, in milliseconds; without a zone it is meant in UTC. Raises ValueError."""
    said = datetime.fromisoformat(text)
    return round((said if said.tzinfo else said.replace(tzinfo=UTC)).timestamp() * 1000)


def rows_inserted(event: Event, registry: str) -> Iterator[Item]:
    """The journal's rows of a registry that a batch of the stream brings."""
    begins = f"{keys.component(registry)}#j#"
    for record in event["Records"]:
        told = record["dynamodb"]
        if record["eventName"] == "INSERT" and told["Keys"]["pk"]["S"].startswith(begins):
            yield _read_image(told["NewImage"])


def _read_image(image: Mapping[str, Any]) -> Item:
    """An item as Lambda hands it over: bytes in base64."""
    return read_item({name: {"B": b64decode(each["B"])} if "B" in each else each for name, each in image.items()})


def _at(row: Item) -> int:
    return keys.journal_at(row["sk"])
