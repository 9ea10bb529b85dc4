"""How many versions a registry holds: a row that each new version adds itself to, outside of any transaction.

An update that only adds does not meet another one, as two transactions would, and its answer is the sum of all
instances. It is an estimate upwards: what was refused or lost a race after it had added itself stays in it, and so does
what was deleted, until it is counted again.

It is counted by the heads of subjects, which lists find: by the highest number of each, so that a version that is gone
from among others still counts. A number that was brought along may be any; a commit brings few versions, so that a
subject cannot have many more than it had commits.
"""

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from itertools import islice
from typing import Any, Final

from sigla.changes import IMPORTED_AT_ONCE
from sigla.model import Search, Subject
from sigla.ports.clock import Clock
from sigla.ports.lists import Lists
from sigla.stores.dynamodb import reading
from sigla.stores.dynamodb.actions import PRESENT, equals, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import MOST_READ, Cancelled, Table

AT_ONCE: Final = 8
"""Calls for heads that are made side by side."""


class AwsTally:
    """A `ports.VersionTally`. lists: of the registry, in the same table."""

    def __init__(self, client: Any, table: str, clock: Clock, lists: Lists, *, registry: str) -> None:
        self._table, self._places = Table(client, table, clock), Places(registry)
        self._clock = clock
        self._lists = lists

    def add(self, amount: int) -> int | None:
        try:
            stands = self._table.update(update(self._places.tally(), {}, {"versions": amount}, PRESENT))
        except Cancelled:
            return None
        held: int = stands["versions"]
        return held

    def recount(self, before: int) -> bool:
        found = self._table.get(self._places.tally())
        if found is not None and found["counted"] >= before:
            return False
        counted = {"counted": self._clock.now(), "versions": self._count()}
        with suppress(Cancelled):  # another instance has counted meanwhile
            seen = equals(counted=found and found["counted"])
            self._table.update(update(self._places.tally(), counted, when=seen))
        return True

    def _count(self) -> int:
        hundreds, held = _hundreds(self._lists.subjects(Search(context=None))), 0
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="tally") as executor:
            while some := list(islice(hundreds, AT_ONCE)):
                held += sum(executor.map(self._count_of, some))
        return held

    def _count_of(self, subjects: list[Subject]) -> int:
        heads = (state.head for state in reading.states(self._table, self._places, subjects).values())
        return sum(min(head.highest, IMPORTED_AT_ONCE * head.revision) for head in heads)


def _hundreds(subjects: Iterator[Subject]) -> Iterator[list[Subject]]:
    while part := list(islice(subjects, MOST_READ)):
        yield part
