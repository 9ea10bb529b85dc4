"""A table that follows another one compares the two journals: what was not told, or got lost on its way, comes so.

The journal of the other table is read with strong consistency, so that each commit is met that had ended when the
reading began. When all of them are here, this region is complete up to that moment, and the row COMPLETE says so.
"""

import secrets
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import Executor
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Any, Final, NamedTuple

import orjson

from sigla.errors import FormTooNew, RowUnreadable
from sigla.journal import row_at
from sigla.ports.replaying import Shipment
from sigla.regions import shipping
from sigla.regions.following import deliver
from sigla.regions.nouns import RegionKind, Role
from sigla.regions.replay import Verdict
from sigla.stores.dynamodb import fence, journal
from sigla.stores.dynamodb.actions import Action, Condition, Key, condition_check, equals, update
from sigla.stores.dynamodb.journal import position_at
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import MOST_READ, Cancelled
from sigla.stores.dynamodb.values import unpacked

if TYPE_CHECKING:
    from sigla.stores.dynamodb.replaying import AwsReplayer
    from sigla.stores.dynamodb.store import AwsStore

FAR_MS: Final = 3_600_000
"""So far back a comparison looks: rows are written late, and clocks may differ by more than they should."""
NEAR_MS: Final = 180_000
"""So far back one looks that comes each minute, with others in between that look far: thrice `journal.LATE_MS`."""

_DONE: Final = frozenset({Verdict.CARRY_OUT, Verdict.KNOWN})


CommitName = tuple[int, str]
"""The time of a commit's row, and its nonce: where the row stands."""


class Waits(NamedTuple):
    """Commits that are not carried out. waiting: for others; oldest: the time of the first. apart: that diverge.

    unread: whose rows cannot be read here.
    """

    waiting: int
    oldest: int | None
    apart: int
    unread: int


class _Completed(NamedTuple):
    """at: up to which time all is here. epoch: in which it followed then; 0 where that is not known."""

    at: int
    epoch: int


class JournalComparison:
    """here: the table that follows in the epoch of its role. Any thread may use it, one at a time.

    pool: asks the parts of the other journal side by side; without it they are asked one after the other. notes:
    whether it is written down up to which time all is here: by a clock that is right, and not by that of a person.
    """

    def __init__(
        self, here: "AwsStore", there: "AwsStore", role: Role, pool: Executor | None = None, *, notes: bool = True
    ) -> None:
        self._here = here
        self._there = there
        self._pool = pool
        self._notes = notes
        self._places = here.tools.places
        self.is_complete = False
        """Whether all was here that the other table had when `catch_up` began."""
        self.is_lapsed = False
        """As `lapsed_since`, when `catch_up` began."""
        self.unread: Sequence[Key] = ()
        """Rows of the other journal that are not here and cannot be read, as of the last look that came to its end."""
        self._met_unread = list[Key]()
        """Those that this look has met so far; some may be here."""
        self._epoch = role.epoch
        self._check = follows(self._places, role)

    @property
    def replayer(self) -> "AwsReplayer":
        return self._here.catalog.replayer(self._here.bodies, [self._check], since=self._epoch)

    def complete_up_to(self) -> int:
        """By the row COMPLETE; before the first comparison, when the copy of the table began."""
        return self._completed().at

    def lapsed_since(self, epoch: int) -> int:
        """When this region, which followed in that epoch, was complete last, if rows there have expired since.

        Those that it lacks cannot be told any more. 0: none has.
        """
        return self._lapsed_since(self._completed(), epoch)

    def _completed(self) -> _Completed:
        found = self._here.tools.table.get_many([self._places.complete(), self._places.copying()])
        complete, copied = found.get(self._places.complete()), found.get(self._places.copying())
        if complete:
            return _Completed(int(complete["at"]), int(complete.get("epoch", 0)))
        return _Completed(copied["since"] if copied else 0, 0)

    def _lapsed_since(self, completed: _Completed, epoch: int) -> int:
        first = position_at(completed.at - journal.LATE_MS, "")
        return 0 if completed.epoch != epoch or self._there.journal.reaches(first) else completed.at

    def catch_up(self, until: float, *, back_ms: int = FAR_MS) -> Counter[Verdict]:
        """Carries out what is missing here. until: when to leave the rest to the next call, by `Clock.elapsed`.

        That goes on where this one came, and does not look at all that is here by now. back_ms: so far it looks back
        from where this region was complete. Raises NotAllowed, StoreError.
        """
        clock, begun, completed = self._here.clock, self._here.clock.now(), self._completed()
        since = max(0, min(completed.at, begun) - back_ms)
        self.is_lapsed = bool(self._lapsed_since(completed, self._epoch))
        verdicts = deliver([], self.replayer)
        missing = self.missing(since)
        while some := list(islice(missing, MOST_READ)):
            verdicts += deliver(some, self.replayer)
            if clock.elapsed() >= until:
                if verdicts.keys() <= _DONE and not self._met_unread and not self.is_lapsed:
                    self._note(min(begun, journal.time_of(some[-1].position)))
                return verdicts
        is_all_done = verdicts.keys() <= _DONE or next(self.missing(since), None) is None
        if is_all_done and not self.unread and not self.is_lapsed:
            self._note(begun)
            self.is_complete = True
        return verdicts

    def missing(self, since: int) -> Iterator[Shipment]:
        """Commits of the other table from a time on whose rows are not here, in the order of their times."""
        self._met_unread = unread = list[Key]()
        rows = self._there.journal.rows(since, brought=False, pool=self._pool, unread=unread.append)
        while some := list(islice(rows, MOST_READ)):
            told = {self._places.journal(at, row["nonce"]): (at, row) for at, row, _ in some}
            standing = self._here.tools.table.get_many(list(told))
            for key, (at, row) in told.items():
                if key not in standing:
                    yield self._shipment(at, row)
        standing = self._here.tools.table.get_many(unread)
        self.unread = [key for key in unread if key not in standing]

    def named(self, commits: Iterable[CommitName]) -> Iterator[Shipment]:
        """Those of these commits that the other table has; one that cannot be read is met again by `missing`."""
        places = {self._places.journal(at, nonce): (at, nonce) for at, nonce in commits}
        for key, item in self._there.tools.table.get_many(list(places)).items():
            if journal.BROUGHT not in item:
                at, nonce = places[key]
                with suppress(RowUnreadable, FormTooNew):
                    row = row_at(position_at(at, nonce), partial(unpacked, item.get("form", "")))
                    yield self._shipment(at, row)

    def _shipment(self, at: int, row: Mapping[str, Any]) -> Shipment:
        return shipping.shipment(position_at(at, row["nonce"]), orjson.dumps(row), row, self._there.bodies)

    def waits(self) -> Waits:
        aside = [each.position for each in self.replayer.aside()]
        oldest = journal.time_of(min(aside)) if aside else None
        return Waits(len(aside), oldest, sum(1 for _ in self.replayer.apart()), len(self.unread))

    def _note(self, at: int) -> None:
        """A time that has not come yet is of a clock that was wrong."""
        if not self._notes:
            return
        later = Condition(
            "attribute_not_exists(#at) OR #at < :at OR #at > :ahead", {"at": at, "ahead": at + journal.LATE_MS}
        )
        try:
            self._here.tools.table.update(update(self._places.complete(), {"at": at, "epoch": self._epoch}, when=later))
        except Cancelled:
            return


def follows(places: Places, role: Role) -> Action:
    """A check of a transaction: the region follows in this epoch; of one of the copies that commits check as well."""
    copy = places.fence(secrets.randbelow(fence.COPIES))
    return condition_check(copy, equals(epoch=role.epoch, kind=RegionKind.FOLLOWER.value))
