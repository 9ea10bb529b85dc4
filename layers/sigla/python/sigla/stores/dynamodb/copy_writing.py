"""What a copy writes: in few transactions, several at a time, each of them only while the copy is this process's own.

Whose it is stands on the row COPYING, and on one row for each lane beside it. A transaction checks the row of its lane:
two that checked one row would be in each other's way. Whoever takes the copy over writes its name on all of them before
it reads anything, so that whatever the process before wrote was written by then, and it writes nothing more.
"""

import secrets
from collections.abc import Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from queue import SimpleQueue
from typing import Final

from sigla.errors import StoreError
from sigla.stores.dynamodb.actions import ABSENT, Action, Key, condition_check, equals, update
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item
from sigla.windowed import windowed

LANES: Final = 4
"""Transactions at a time: a table that is new takes some twenty of them a second."""
MOST_ACTIONS: Final = 90
MOST_BYTES: Final = 2 * 2**20
"""The most of a transaction, which ends at 100 actions and 4 MB."""


class CopyTakenOver(StoreError):
    """Another process goes on with the copy."""


class CopyWriter:
    """target: the table that joins. For one thread."""

    def __init__(self, target: Tools) -> None:
        self._table = target.table
        self._places = target.places
        self._owner = secrets.token_hex(8)
        self._lanes = SimpleQueue[int]()
        for lane in range(LANES):
            self._lanes.put(lane)
        self._pool = ThreadPoolExecutor(LANES, thread_name_prefix="copied")

    def close(self) -> None:
        self._pool.shutdown()

    def take_over(self, since: int) -> Item:
        """How far the copy is. since: of one that begins now. Raises CopyTakenOver."""
        place = self._places.copying()
        seen = self._table.get(place) or {}
        form = {"owner": self._owner, "since": seen.get("since", since)}
        try:
            self._table.update(update(place, form, when=equals(owner=seen["owner"]) if seen else ABSENT))
            for lane in range(LANES):
                own = update(self._places.copying_lane(lane), {"owner": self._owner})
                self._table.transact([condition_check(place, equals(owner=self._owner)), own])
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused
        return seen | form

    def note(self, form: Item) -> None:
        """How far the copy is now. Raises CopyTakenOver."""
        try:
            self._table.update(update(self._places.copying(), form, when=equals(owner=self._owner)))
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused

    def write(self, units: Iterable[Sequence[Action]]) -> None:
        """All of them, in no order, but the actions of each in theirs; one that `fits` wholly or not at all.

        Raises CopyTakenOver.
        """
        for _ in windowed(self._pool, self._write_in_order, _packed(units), 2 * LANES if LANES > 1 else 1):
            """Each raises what it met."""

    def _write_in_order(self, actions: Sequence[Action]) -> None:
        lane = self._lanes.get()
        try:
            check = condition_check(self._places.copying_lane(lane), equals(owner=self._owner))
            for some in _transactions(actions):
                self._table.transact([check, *some])
        except Cancelled as refused:
            raise CopyTakenOver("another process goes on with the copy") from refused
        finally:
            self._lanes.put(lane)


def fits(unit: Sequence[Action]) -> bool:
    """Whether it is written in one transaction."""
    is_short = len(unit) <= MOST_ACTIONS and len({each.key for each in unit}) == len(unit)
    return is_short and sum(map(_size, unit)) <= MOST_BYTES


def _packed(units: Iterable[Sequence[Action]]) -> Iterator[Sequence[Action]]:
    """Several units together where one transaction takes them."""
    some: list[Action] = []
    taken, size = set[Key](), 0
    for unit in units:
        own, more = {each.key for each in unit}, sum(map(_size, unit))
        is_full = len(some) + len(unit) > MOST_ACTIONS or size + more > MOST_BYTES
        if some and (is_full or not taken.isdisjoint(own)):
            yield some
            some, taken, size = [], set(), 0
        some += unit
        taken |= own
        size += more
    if some:
        yield some


def _transactions(actions: Iterable[Action]) -> Iterator[list[Action]]:
    """In this order, as few as that takes."""
    some: dict[Key, Action] = {}
    size = 0
    for action in actions:
        more = _size(action)
        if action.key in some or len(some) == MOST_ACTIONS or size + more > MOST_BYTES:
            yield [*some.values()]
            some, size = {}, 0
        some[action.key] = action
        size += more
    if some:
        yield [*some.values()]


def _size(action: Action) -> int:
    return len(str(action.arguments))
