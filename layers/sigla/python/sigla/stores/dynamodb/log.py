"""The log of a registry in AWS: rows of the table as long as they are kept, and the segments in the bucket for ever."""

from collections import defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from hashlib import sha256
from heapq import heappop, heappush
from itertools import islice
from typing import Any, Final

import orjson

from sigla import keys
from sigla.bounded import BoundedMemory
from sigla.changes.kinds import DAY_MS
from sigla.errors import FormTooNew, StoreError
from sigla.forms import SEGMENT_LINE, newer
from sigla.journal.log_entries import entry_of_lines, entry_of_row
from sigla.ports.clock import Clock
from sigla.ports.log import Link, LogEntry
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.journal import AwsJournal
from sigla.stores.s3.objects import SIDE_BY_SIDE, Objects

LATE_MS: Final = 3_600_000
"""By how much a row may be older than others that were told before it, to be put among them."""
REMEMBERED: Final = 65_536
"""So many rows are recognised when they are told once more, as after a restore."""


class AwsLog:
    """A `ports.Log`, whose links are segments. The table alone is asked for what is so young that it is still there."""

    link: Final = "segment"

    def __init__(self, journal: AwsJournal, objects: Objects, clock: Clock, *, registry: str) -> None:
        self._journal = journal
        self._registry = registry
        self._objects = objects
        self._clock = clock
        self._prefix = keys.journal_prefix(registry)

    def entries(self, since: int = 0) -> Iterator[LogEntry]:
        if since > self._clock.now() - 1000 * JOURNAL_KEPT_S + DAY_MS:
            yield from (entry_of_row(row, at) for at, row, _ in self._journal.rows(since))
            return
        yield from (entry for entry in _by_time(self._told(since)) if entry.at >= since)
        yield from (entry_of_row(row, at) for at, row, segment in self._journal.rows(since) if segment is None)

    def links(self) -> Iterator[Link]:
        return (_link(segment_number(name), content) for name, content in self._segments())

    def end(self) -> Link | None:
        """While the last one is still being written, this is the one before it."""
        last = self._journal.last_segment()
        if last is None:
            return None
        number, hash = (
            (last.get("follows"), last.get("before")) if "open" in last else (last["number"], last.get("hash"))
        )
        return Link(number, hash) if number and hash else None

    def newest(self) -> int:
        """As the table knows it: a segment is claimed there before its object is written."""
        last = self._journal.last_segment()
        return 0 if last is None else int(last["number"])

    def untold(self) -> Iterator[str]:
        """Rows that bear the number of a segment which does not tell them, are put aside, or wait for too long."""
        wanted: dict[int, set[str]] = defaultdict(set)
        waits_since = self._clock.now() - LATE_MS
        for row in self._journal.marks():
            if row.is_aside:
                yield f"The row {row.sk} of the journal cannot be read, and is in no segment."
            elif row.segment:
                wanted[row.segment].add(row.sk)
            elif row.at < waits_since:
                yield f"The row {row.sk} of the journal is in no segment, though it is more than an hour old."
        numbers = iter(sorted(wanted))
        while some := list(islice(numbers, SIDE_BY_SIDE)):
            names = [keys.segment_object(self._registry, number) for number in some]
            for number, stored in zip(some, self._objects.read_many(names), strict=True):
                told = set() if stored is None else _rows_of(stored.content)
                for sk in sorted(wanted[number] - told):
                    yield f"The row {sk} of the journal is not in the segment {number}, which has told it."

    def _told(self, since: int) -> Iterator[tuple[int, LogEntry]]:
        """What segments tell, with the time of each. A row is told after it was written."""
        begin = datetime.fromtimestamp(max(0, since - LATE_MS) / 1000, UTC)
        for name, content in self._segments(f"{self._prefix}{begin:%Y/%m/%d}/"):
            for lines in rows_told(name, content):
                yield segment_number(name), entry_of_lines(lines)

    def _segments(self, after: str = "") -> Iterator[tuple[str, bytes]]:
        """Name and content of each, by their numbers."""
        listed = self._objects.names(self._prefix, after=after)
        while names := list(islice(listed, SIDE_BY_SIDE)):
            for name, stored in zip(names, self._objects.read_many(names), strict=True):
                if stored is not None:
                    yield name, stored.content


def segment_number(name: str) -> int:
    """The number in the name of a segment's object."""
    return int(name.rpartition("/")[2].partition(".")[0])


def _link(number: int, content: bytes) -> Link:
    hash = sha256(content).hexdigest()
    try:
        first = orjson.loads(content.partition(b"\n")[0]) if content else {}
        return Link(number, hash, str(first.get("before", "")), int(first.get("follows", 0)))
    except (ValueError, TypeError, AttributeError):
        return Link(number, hash, damage="cannot be read")


def _rows_of(content: bytes) -> set[str]:
    """The rows that a segment tells, by their sort keys."""
    try:
        return {keys.journal_sk(line["at"], line["nonce"]) for line in map(orjson.loads, content.splitlines())}
    except (ValueError, TypeError, LookupError):
        return set()


def rows_told(name: str, content: bytes) -> Iterator[list[dict[str, Any]]]:
    """The lines of each row that a segment tells, in order. Raises StoreError, FormTooNew."""
    rows: dict[tuple[int, str], list[dict[str, Any]]] = defaultdict(list)
    for text in content.splitlines():
        try:
            line = orjson.loads(text)
        except orjson.JSONDecodeError as damage:
            raise StoreError(f"{name} is damaged: call sigla log --verify") from damage
        if form := newer(line, SEGMENT_LINE):
            raise FormTooNew(name, form, SEGMENT_LINE)
        rows[line["at"], line["nonce"]].append(line)
    for lines in rows.values():
        yield sorted(lines, key=lambda line: line["part"])


def _by_time(told: Iterator[tuple[int, LogEntry]]) -> Iterator[LogEntry]:
    """By their times, each once: rows come to segments in the order of a stream."""
    waiting: list[tuple[int, str, LogEntry]] = []
    met: BoundedMemory[tuple[int, str], bool] = BoundedMemory(REMEMBERED)
    for number, entry in told:
        if met.get((entry.at, entry.nonce)) is None:
            met.keep((entry.at, entry.nonce), True)  # noqa: FBT003 - a value of the memory
            heappush(waiting, (entry.at, entry.nonce, entry))
        while waiting and waiting[0][0] < number - LATE_MS:
            yield heappop(waiting)[2]
    while waiting:
        yield heappop(waiting)[2]
