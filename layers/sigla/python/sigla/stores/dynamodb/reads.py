"""Who read which id last, as rows of the table: each goes by itself when it is too old to be asked for.

A note looks at the rows first, without strong consistency, and writes those alone that have an earlier day: a row is
written once a day, however many instances note the same.
"""

from collections.abc import Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import Final

from sigla import keys
from sigla.changes import Author
from sigla.changes.kinds import DAY_MS
from sigla.model import BodyKey
from sigla.ports.clock import day_of
from sigla.ports.reads import KEPT_DAYS, LastRead, Read, SomeReads, newest_first
from sigla.stores.dynamodb.actions import ABSENT, Condition, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.principals import AwsPrincipals
from sigla.stores.dynamodb.table import Cancelled, Table

AT_ONCE: Final = 16
"""Queries that are made side by side."""


class AwsReads:
    """A `ports.Reads`. Any thread may use it."""

    is_narrowed = False

    def __init__(self, table: Table, places: Places) -> None:
        self._table = table
        self._places = places
        self._principals = AwsPrincipals(table, places)
        self._has_begun = False

    def note(self, reads: Collection[Read], now: int, kept_ms: int) -> None:
        day, expires = day_of(now), (now + KEPT_DAYS * DAY_MS) // 1000
        principals = dict.fromkeys(read.principal for read in reads)
        tokens = {name: self._principals.token_of(Author(name, "api", kept_ms=kept_ms), now) for name in principals}
        places = {self._places.read(read.key, read.subject, tokens[read.principal]): read for read in reads}
        begun = [] if self._has_begun else [self._places.reads_begun()]
        noted = self._table.get_many([*places, *begun], consistent=False)
        for place in begun:
            if place not in noted:
                self._table.update(update(place, {"day": day}, keep="day"))
            self._has_begun = True
        earlier = Condition("#day < :day", {"day": day})
        for place, read in places.items():
            found = noted.get(place)
            if found is None or found["day"] < day:
                sets = {"by": tokens[read.principal], "subject": read.subject, "day": day, "expires": expires}
                with suppress(Cancelled):  # another instance was faster
                    self._table.update(update(place, sets, when=ABSENT if found is None else earlier))

    def last(self, keys: Sequence[BodyKey]) -> Mapping[BodyKey, list[LastRead]]:
        return {key: newest_first([*reads]) for key, reads in self._side_by_side(keys, None).items()}

    def some(self, keys: Sequence[BodyKey], most: int) -> Mapping[BodyKey, SomeReads]:
        found = self._side_by_side(keys, most + 1)
        return {key: SomeReads(newest_first(reads[:most]), len(reads) > most) for key, reads in found.items()}

    def since(self) -> str:
        found = self._table.get(self._places.reads_begun())
        return "" if found is None else str(found["day"])

    def count_of(self, principal: str, first: str) -> int | None:  # noqa: ARG002 - rows are found by their ids alone
        return None

    def _side_by_side(self, keys: Sequence[BodyKey], glance: int | None) -> Mapping[BodyKey, list[LastRead]]:
        """glance: so many of each; None: all."""
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="reads") as executor:
            return dict(zip(keys, executor.map(partial(self._reads_of, glance), keys), strict=True))

    def _reads_of(self, glance: int | None, key: BodyKey) -> list[LastRead]:
        # Notes are minutes old when they are written: nothing is gained by the dearer read.
        found = self._table.query(keys.reads_pk(self._places.registry, key), page=glance, consistent=False)
        return [LastRead(item["subject"], item["by"], item["day"]) for item in islice(found, glance)]
