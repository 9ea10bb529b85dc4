"""The journal as rows of the table, each written by the transaction that it tells of; they are kept for 35 days."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from functools import partial
from heapq import merge
from itertools import chain, islice
from typing import Any, NamedTuple
from zlib import crc32

from sigla import keys
from sigla.errors import FormTooNew, RowUnreadable
from sigla.journal import row_at
from sigla.ports.clock import Clock
from sigla.stores.dynamodb import places
from sigla.stores.dynamodb.actions import Condition, Key
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.table import Table
from sigla.stores.dynamodb.values import Item, unpacked

LATE_MS = 60_000
"""By how much a row may be older than another that was there before it: a function gives a commit up after 30 s, and
clocks of AWS differ by less than a second."""
BROUGHT = "brought"
"""The attribute of a row of a commit that only this region had, and that its primary has in another way by now."""
_TIES = 4096
"""Positions of one millisecond: its commits are told apart by their nonces."""


_Read = tuple[int, Item]
"""A row with its position."""


class RowMark(NamedTuple):
    """A row by its sort key. segment: the number of the one that tells it; 0: none does yet. form: as it is stored."""

    sk: str
    segment: int
    is_aside: bool
    form: Any

    @property
    def at(self) -> int:
        return keys.journal_at(self.sk)


class AwsJournal:
    """A `ports.Journal`.

    Positions are times: a row that is still being written may yet come before one that was read; a reader that goes on
    from a position begins a little earlier and skips what it knows by its nonce.
    """

    def __init__(self, client: Any, table: str, clock: Clock, *, registry: str = "default") -> None:
        self._table = Table(client, table, clock)
        self._clock = clock
        self._registry = registry

    def read(self, after: int = 0) -> Iterator[tuple[int, Mapping[str, object]]]:
        where = Condition("#sk >= :sk", {"sk": keys.journal_sk(after // _TIES, "")})
        shards = [self._shard(shard, where) for shard in range(places.JOURNAL_SHARDS)]
        for position, item in merge(*shards, key=_position):
            if position > after:
                yield position, row_at(position, partial(unpacked, item.get("form", "")))

    def rows(
        self,
        since: int,
        *,
        brought: bool = True,
        pool: Executor | None = None,
        unread: Callable[[Key], None] | None = None,
    ) -> Iterator[tuple[int, Mapping[str, Any], int | None]]:
        """Rows from a time on, each with its own and with the number of the segment that tells it, if one does.

        brought: also those of a region that has rejoined since (`forgetting`). pool: the shards are asked by it.
        unread: is given those that cannot be read, or not by this release; without it they are raised.
        """
        where = Condition("#sk >= :sk", {"sk": keys.journal_sk(since, "")})
        shards = [self._shard(shard, where) for shard in range(places.JOURNAL_SHARDS)]
        for position, item in merge(*(_begun(shards, pool) if pool else shards), key=_position):
            if not brought and BROUGHT in item:
                continue
            try:
                row = row_at(position, partial(unpacked, item.get("form", "")))
            except (RowUnreadable, FormTooNew):
                if unread is None:
                    raise
                unread((item["pk"], item["sk"]))
            else:
                yield keys.journal_at(item["sk"]), row, item.get("segment")

    def marks(self) -> Iterator[RowMark]:
        """Which segment tells each row that is kept."""
        for shard in range(places.JOURNAL_SHARDS):
            for item in self._table.query(keys.journal_pk(self._registry, shard)):
                yield RowMark(item["sk"], item.get("segment", 0), "aside" in item, item.get("form", ""))

    def last_segment(self) -> Item | None:
        """The row LAST, as `functions/segments` writes it."""
        return self._table.get(places.Places(self._registry).last_segment())

    def end(self) -> int:
        """A row has the time at which its commit was planned, by the clock of its writer."""
        return max(0, self._clock.now() - LATE_MS) * _TIES

    def newest(self) -> int:
        shards = [keys.journal_pk(self._registry, shard) for shard in range(places.JOURNAL_SHARDS)]
        last = [next(self._table.query(pk, descending=True, page=1), None) for pk in shards]
        return max((keys.journal_at(row["sk"]) for row in last if row), default=0)

    def reaches(self, after: int) -> bool:
        """Rows go some time after they have expired."""
        return after // _TIES > self._clock.now() - 1000 * JOURNAL_KEPT_S

    def _shard(self, shard: int, where: Condition) -> Iterator[tuple[int, Item]]:
        found = self._table.query(keys.journal_pk(self._registry, shard), where)
        return ((_position_of(item["sk"]), item) for item in found)


def _position(each: tuple[int, Item]) -> int:
    return each[0]


def _begun(shards: Sequence[Iterator[_Read]], pool: Executor) -> Iterator[Iterator[_Read]]:
    """The same, with the first page of each asked side by side."""
    first = [pool.submit(lambda shard: list(islice(shard, 1)), shard) for shard in shards]
    return (chain(each.result(), shard) for each, shard in zip(first, shards, strict=True))


def position_at(at: int, nonce: str) -> int:
    """Where the row of a commit stands."""
    return at * _TIES + crc32(keys.component(nonce).encode()) % _TIES


def time_of(position: int) -> int:
    """The time of the commit whose row stands there."""
    return position // _TIES


def _position_of(sk: str) -> int:
    at, _, nonce = sk.partition("#")
    return int(at) * _TIES + crc32(nonce.encode()) % _TIES
