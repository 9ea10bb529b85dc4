"""The log of a registry in AWS: rows of the table as long as they are kept, and the segments in the bucket for ever."""

from collections import defaultdict
from collections.abc import Iterator, Mapping
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
from sigla.journal.log_entries import entry_of_lines, entry_of_row, form_of_entry
from sigla.ports.clock import Clock
from sigla.ports.log import Link, LogEntry, Misfit
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.journal import AwsJournal, RowMark
from sigla.stores.dynamodb.values import unpacked
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

    def misfits(self) -> Iterator[Misfit]:
        """Rows that a segment should tell and does not, or in another way; that are put aside, or wait for too long."""
        wanted: dict[int, dict[str, bytes]] = defaultdict(dict)
        waits_since = self._clock.now() - LATE_MS
        for row in self._journal.marks():
            if row.is_aside:
                yield Misfit(f"The row {row.sk} of the journal cannot be read, and is in no segment.")
            elif row.segment:
                wanted[row.segment][row.sk] = _digest_of_row(row)
            elif row.at < waits_since:
                yield Misfit(f"The row {row.sk} of the journal is in no segment, though it is more than an hour old.")
        numbers = iter(sorted(wanted))
        while some := list(islice(numbers, SIDE_BY_SIDE)):
            names = [keys.segment_object(self._registry, number) for number in some]
            for number, stored in zip(some, self._objects.read_many(names), strict=True):
                told = {} if stored is None else _digests_of(stored.content)
                yield from _compared(number, wanted[number], told)

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


def _compared(number: int, rows: Mapping[str, bytes], told: Mapping[str, bytes]) -> Iterator[Misfit]:
    """rows, told: what the table and a segment say of each row, by its sort key."""
    for sk, digest in sorted(rows.items()):
        if sk not in told:
            yield Misfit(f"The row {sk} of the journal is not in the segment {number}, which has told it.")
        elif told[sk] != digest:
            sentence = f"The row {sk} of the journal is another one in the segment {number}: one of them was changed."
            yield Misfit(sentence, is_told=True)


def _digests_of(content: bytes) -> dict[str, bytes]:
    """What is told of each row of a segment, by the sort key of the row."""
    try:
        entries = map(entry_of_lines, rows_told("a segment", content))
        return {keys.journal_sk(entry.at, entry.nonce): _digest(entry) for entry in entries}
    except (StoreError, ValueError, TypeError, LookupError):
        return {}


def _digest_of_row(row: RowMark) -> bytes:
    """Empty where the row cannot be read."""
    try:
        return _digest(entry_of_row(unpacked(row.form), row.at))
    except (StoreError, ValueError, TypeError, LookupError, AttributeError):
        return b""


def _digest(entry: LogEntry) -> bytes:
    """What the log shows of it, in a few bytes: there are as many at a time as rows of five weeks."""
    return sha256(orjson.dumps(form_of_entry(entry, None), option=orjson.OPT_SORT_KEYS)).digest()[:16]


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
