"""The journal in S3: every row of the table's journal in one segment, exactly once.

Which rows a segment tells is decided by one transaction, and its object follows from that alone:

    claim    the row LAST says which rows the new segment has, and each of these rows bears its number
    object   `<registry>/journal/<yyyy>/<mm>/<dd>/<number>.jsonl`, created, never replaced
    closed   LAST says that the object is there, and its SHA-256

A claim rests on LAST being closed, so whoever comes finishes what another has left open, and only one segment can be
open. A row that bears a number is passed by: it may come again as often as it likes, in any company.

Numbers are times in milliseconds, each later than the one before: names sort as segments were claimed, and a table
restored behind its bucket goes on past all that is there. Where an object of the same name tells other rows, the
claim moves on to the next number.

A line is a record of `_schemas` or of `_dek_registry_keys`, as dumps of these topics have it, or an exporter, its key
and value as text (null: a tombstone); instead of an offset it says where it belongs:

    {"form": 1, "timestamp": ms, "key": "…", "value": "…" or null, "at": ms, "nonce": "…", "part": 0, "revision": 3}

revision: null where a change is about no subject. The first line of a row says of which kind the change was, and where
it comes from as far as the row does (`journal.Origin`). The first line of a segment names the one
before: its number as `follows`, its SHA-256 as `before`. So a segment that is changed or taken away does not fit to the
next one; the last one is known by LAST (`upkeep/chain.py`).

Rows come in the order of the stream, which is not that of commits: a reader sorts by (at, nonce, part), and drops what
it has met before (after a restore a row may be told twice).
"""

import zlib
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import Executor
from dataclasses import dataclass, replace
from functools import partial
from hashlib import sha256
from typing import Any

import orjson

from sigla import journal, keys
from sigla.errors import BodyLost, FormTooNew
from sigla.forms import FORM, SEGMENT_LINE
from sigla.observe import Facts, Teller
from sigla.ports.bodies import Bodies
from sigla.ports.clock import Clock
from sigla.stores.dynamodb.actions import PRESENT, Action, Key, equals, put, update
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item, packed, unpacked
from sigla.stores.s3.objects import Objects

MOST_ROWS = 96
"""The most rows of a segment: with LAST a transaction of up to 100 actions, a BatchGet of up to 100 keys."""
MOST_BYTES = 2 * 2**20
"""The most bytes of a segment with more than one row; the rows themselves are smaller, and a transaction ends at 4 MB.
"""
OWNED_MS = 500
"""A younger claim is left to its owner, which is about to write the object: reading it all again would not help."""
AT_ONCE = 16
"""Rows whose texts are read side by side."""

BROKEN = (ValueError, LookupError, TypeError, AttributeError, zlib.error)
"""What reading a form raises if its writer cannot have written it."""


@dataclass(frozen=True, slots=True)
class Segment:
    """number: its time, 0 before the first. rows: their places. open: the object may not be there yet.

    follows, before: number and hash of the segment that it names as the one before it. hash: its own, once it is
    closed; empty where an earlier release closed it.
    """

    number: int = 0
    rows: tuple[Key, ...] = ()
    open: bool = False
    follows: int = 0
    before: str = ""
    hash: str = ""

    @classmethod
    def of(cls, item: Item | None) -> "Segment":
        if item is None:
            return cls()
        rows = tuple((pk, sk) for pk, sk in unpacked(item["rows"]))
        link = item.get("follows", 0), item.get("before", ""), item.get("hash", "")
        return cls(item["number"], rows, "open" in item, *link)

    def item(self) -> Item:
        return {
            "number": self.number,
            "rows": packed(self.rows),
            "open": self.open or None,
            "follows": self.follows or None,
            "before": self.before or None,
            "hash": self.hash or None,
        }

    def linked(self, content: bytes) -> bytes:
        """The content, whose first line names the segment before."""
        if not self.before or not content:
            return content
        first, _, rest = content.partition(b"\n")
        line = {**orjson.loads(first), "follows": self.follows, "before": self.before}
        return orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) + rest


class Segments:
    """Any number of instances may write at the same time. All raise StoreError where AWS does not answer.

    executor: where bodies are read side by side. tell: hears of rows that cannot be read. most_bytes: of a segment
    with more than one row.
    """

    def __init__(
        self,
        tools: Tools,
        objects: Objects,
        bodies: Bodies,
        clock: Clock,
        *,
        executor: Executor,
        tell: Teller,
        most_bytes: int = MOST_BYTES,
    ) -> None:
        self._most_bytes = most_bytes
        self._table, self._places = tools.table, tools.places
        self._objects = objects
        self._bodies = bodies
        self._clock = clock
        self._executor = executor
        self._tell = tell

    def write(self, rows: Iterable[Key], *, again: bool = False) -> Counter[str]:
        """Each of these journal rows is told by a segment when it returns; how many `rows` and `segments` it wrote.

        A row that cannot be read is put `aside`: it stays in the table for ever, and no segment waits for it.
        again: try once more what was put aside before.
        """
        told: Counter[str] = Counter()
        left = tuple(dict.fromkeys(rows))
        for at in range(0, len(left), MOST_ROWS):
            some = left[at : at + MOST_ROWS]
            while some:
                some = self._objects.insist("claiming a segment", partial(self._next, some, told, again=again))
        return told

    def finish(self) -> None:
        """The object of the last segment is there when it returns."""
        last = Segment.of(self._table.get(self._places.last_segment()))
        if last.open:
            self._finish(last)

    # --- one segment -------------------------------------------------------------------------------------------------

    def _next(self, rows: Sequence[Key], told: Counter[str], *, again: bool) -> tuple[Key, ...] | None:
        """Those that are left after one segment; None if another instance was first, or is at its own."""
        found = self._table.get_many([self._places.last_segment(), *rows])
        last = Segment.of(found.pop(self._places.last_segment(), None))
        if last.open:
            if abs(self._clock.now() - last.number) < OWNED_MS:
                return None
            self._finish(last)
        waiting = sorted((item for item in found.values() if waits(item, again=again)), key=_sk)
        texts, unreadable = self._fitting(waiting)
        for item in unreadable:
            self._put_aside(item)
        told["aside"] += len(unreadable)
        if texts:
            number = max(last.number + 1, self._clock.now())
            segment = Segment(number, tuple(texts), open=True, follows=last.number, before=self._hash(last))
            try:
                self._table.transact(self._claim(segment, last, found))
            except Cancelled:
                return None
            self._place(segment, b"".join(texts.values()))
            told.update(segments=1, rows=len(texts))
        done = {*texts, *map(key_of, unreadable)}
        return tuple(row for row in map(key_of, waiting) if row not in done)

    def _hash(self, last: Segment) -> str:
        """The hash of the object that stands there, where an earlier release has closed it; empty without one."""
        if last.hash or not last.number:
            return last.hash
        standing = self._objects.read(self._name(last))
        return "" if standing is None else _hash(standing.content)

    def _fitting(self, waiting: Sequence[Item]) -> tuple[dict[Key, bytes], list[Item]]:
        """What a segment says of the first rows, as many as fit into it; and those among them that cannot be read."""
        texts: dict[Key, bytes] = {}
        unreadable: list[Item] = []
        size = 0
        for at in range(0, len(waiting), AT_ONCE):
            some = waiting[at : at + AT_ONCE]
            for item, text in zip(some, self._executor.map(self._text, some), strict=True):
                if text is None:
                    unreadable.append(item)
                elif texts and size + len(text) > self._most_bytes:
                    return texts, unreadable
                else:
                    texts[key_of(item)] = text
                    size += len(text)
        return texts, unreadable

    def _claim(self, segment: Segment, last: Segment, found: Mapping[Key, Item]) -> list[Action]:
        unmoved = equals(number=last.number or None, open=None)
        marks = [
            update(row, {"segment": segment.number} | _kept(found[row]), when=PRESENT & equals(segment=None))
            for row in segment.rows
        ]
        return [put(self._places.last_segment(), segment.item(), unmoved), *marks]

    def _finish(self, segment: Segment) -> None:
        """What another instance claimed, and perhaps did not live to write."""
        found = self._table.get_many(segment.rows)
        texts = self._executor.map(self._text, (found[row] for row in segment.rows if row in found))
        self._place(segment, b"".join(text for text in texts if text is not None))

    def _place(self, segment: Segment, content: bytes) -> None:
        """The object, then the end of the claim. Several may do so at once: they write the same.

        The hash is that of the object which stands: another release may have worded it otherwise.
        """
        content = segment.linked(content)
        while not self._objects.create(name := self._name(segment), content):
            standing = self._objects.read(name)
            if standing is not None and _rows_told(standing.content) == _rows_told(content):
                content = standing.content
                break
            moved = replace(segment, number=segment.number + 1)
            try:
                self._table.transact(self._move(segment, moved))
            except Cancelled:  # another invocation has finished it, or moved it and will
                return
            segment = moved
        try:
            open = equals(number=segment.number, open=True)
            self._table.update(update(self._places.last_segment(), {"open": None, "hash": _hash(content)}, when=open))
        except Cancelled:
            return

    def _move(self, segment: Segment, to: Segment) -> list[Action]:
        """The same rows under another number: that one was used, in a bucket that is ahead of its table."""
        open = equals(number=segment.number, open=True)
        marks = [
            update(row, {"segment": to.number}, when=PRESENT & equals(segment=segment.number)) for row in segment.rows
        ]
        return [put(self._places.last_segment(), to.item(), open), *marks]

    def _name(self, segment: Segment) -> str:
        return keys.segment_object(self._places.registry, segment.number)

    # --- one row -----------------------------------------------------------------------------------------------------

    def _text(self, item: Item) -> bytes | None:
        """The lines of a row; None if it, or a body that it speaks of, cannot be read, whoever tries."""
        try:
            return _lines(item, self._bodies)
        except (*BROKEN, BodyLost, FormTooNew) as reason:
            broken = reason
        # What a reason says may quote a schema, unless it is about the form alone.
        said: Facts = {"message": str(broken)} if isinstance(broken, FormTooNew) else {}
        row = {"pk": item["pk"], "sk": item["sk"]}
        self._tell({"event": "unreadable", "error": type(broken).__qualname__, "row": row, **said})
        return None

    def _put_aside(self, item: Item) -> None:
        """It does not expire any more: an operator has to look at it."""
        unmarked = PRESENT & equals(segment=None)
        try:
            self._table.update(update(key_of(item), {"aside": True, "expires": None}, when=unmarked))
        except Cancelled:
            return


def _lines(item: Item, bodies: Bodies) -> bytes:
    form: Any = journal.known(unpacked(item["form"]))
    place = {"at": keys.journal_at(item["sk"]), "nonce": form["nonce"]}
    lines = [
        {
            FORM: SEGMENT_LINE,
            "timestamp": ts,
            "key": key.decode(),
            "value": None if value is None else value.decode(),
            **place,
            "part": part,
            "revision": form["revision"],
            **({"change": form["change"], **journal.origin_of(form)} if part == 0 else {}),
        }
        for part, (key, value, ts) in enumerate(
            (
                *journal.records([form], bodies),
                *journal.key_records_of([form]),
                *journal.exporter_records_of([form]),
            )
        )
    ]
    return b"".join(orjson.dumps(line, option=orjson.OPT_APPEND_NEWLINE) for line in lines)


def _hash(content: bytes) -> str:
    return sha256(content).hexdigest()


def _rows_told(content: bytes) -> set[tuple[int, str]] | None:
    """Which rows a segment tells, by name: another release may word its lines otherwise. None: it is not a segment."""
    try:
        return {(line["at"], line["nonce"]) for line in map(orjson.loads, content.splitlines())}
    except BROKEN:
        return None


def waits(item: Item, *, again: bool) -> bool:
    return "segment" not in item and (again or "aside" not in item)


def _kept(item: Item) -> Item:
    """What was aside expires as all others do."""
    if "aside" not in item:
        return {}
    return {"aside": None, "expires": keys.journal_at(item["sk"]) // 1000 + JOURNAL_KEPT_S}


def key_of(item: Item) -> Key:
    return item["pk"], item["sk"]


def _sk(item: Item) -> str:
    sk: str = item["sk"]
    return sk
