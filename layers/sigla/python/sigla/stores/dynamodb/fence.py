"""What the region is, as commits need it: known from what they read anyway, and checked in their own transaction.

The role stands on the row of the settings of the whole registry. Each snapshot reads that row, with or without a role,
so a registry without a second region pays nothing for it, and one that gets a role needs no pause: the next question
tells of it. A transaction checks a copy, in one of `COPIES` partitions by lot: so many commits do not wait for each
other. The row decides, the copies follow; who finds one behind puts it right.

    a role was read                       the copy is checked: the epoch, and that writes are taken
    none was read, within a minute        nothing is checked: that is what a commit of such a registry costs
    not read for a minute, as where       the row itself is checked: there is no role on it. Two write units, for
    nothing but keys is changed           commits that begin without a snapshot, and no call more

A table that was restored to an earlier moment has the row as it was then, and does not know what it has done since. The
row names its table, and a restored one is another: there the role is that of a region that joins (`Role.restored`).

What was read is remembered for all threads. A change that was decided in another epoch is a Conflict: ask anew.
"""

import secrets
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from typing import NamedTuple

from sigla.errors import Closed, Conflict
from sigla.forms import FORM, ITEM_OF_REGIONS
from sigla.ports.clock import Clock, Moment
from sigla.regions.nouns import Role
from sigla.regions.role_form import form_of_role, role_of_form
from sigla.stores.dynamodb.actions import Action, Condition, condition_check, equals, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.table import Cancelled, Table
from sigla.stores.dynamodb.values import Item, packed, unpacked

COPIES = 256
AT_ONCE = 16
"""So many copies are written side by side."""

LONE_MS = 60_000
"""For so long it is believed that there is no role (`regions.rules.KNOWN_MS` rests on it)."""


ROLE_ATTRIBUTES = ("role", "kind", "turn", "table")
"""What the row has of the role, beside the settings."""


class _LearnedRole(NamedTuple):
    role: Role | None
    since: Moment


class CommitGuard(NamedTuple):
    """What a commit rests on. check: in its transaction; None where it was found lately that there is no role.

    epoch: of the role that the check names, and so of the commit; 0 without a role.
    """

    check: Action | None
    epoch: int = 0


class Fence:
    """Any thread may use it."""

    def __init__(self, table: Table, places: Places, clock: Clock) -> None:
        self._table = table
        self._places = places
        self._clock = clock
        self._known: _LearnedRole | None = None

    # --- what is known -----------------------------------------------------------------------------------------------

    def met(self, item: Item | None, since: Moment) -> Role | None:
        """The role on the row as it was read. since: when it was asked for; what was learned later stays."""
        role, known = self.role_on(item), self._known
        if known is None or known.since.now <= since.now:
            self._known = _LearnedRole(role, since)
        return role

    def role_on(self, item: Item | None) -> Role | None:
        """As the row of this table tells it."""
        role = role_of(item)
        if role is None or item is None or item.get("table", self._table.name) == self._table.name:
            return role
        return role.restored()

    def begin(self) -> Moment:
        """To be asked before the row is read."""
        return Moment.of(self._clock)

    @property
    def known(self) -> Role | None:
        """The role as it was last read, however long ago; None also where it never was."""
        return self._known.role if self._known else None

    @property
    def is_alone(self) -> bool:
        """Whether it was found within the last minute that there is no role."""
        known = self._known
        return known is not None and known.role is None and known.since.is_younger(LONE_MS, self._clock)

    def read(self) -> Role | None:
        since = self.begin()
        return self.met(self._table.get(self._places.role()), since)

    # --- commits -----------------------------------------------------------------------------------------------------

    def guard(self, epoch: int = 0) -> CommitGuard:
        """What a transaction checks. epoch: of the change. Raises Closed, Conflict where it would be refused."""
        role = self.known
        if role is None:
            return CommitGuard(None if self.is_alone else condition_check(self._places.role(), equals(turn=None)))
        if not role.writes or (epoch and epoch != role.epoch):
            # It may be another one by now.
            role = self.read()
            if role is None or not role.writes:
                raise Closed
        if epoch and epoch != role.epoch:
            raise Conflict
        copy = self._places.fence(secrets.randbelow(COPIES))
        return CommitGuard(condition_check(copy, equals(epoch=role.epoch, kind=role.kind.value, open=True)), role.epoch)

    def refused(self, guard: CommitGuard) -> bool:
        """A transaction was, for one of its conditions. Whether it was this one, and the same may be tried again.

        Raises Closed, and Conflict if what was decided rests on another role.
        """
        if guard.check is None:
            return False
        before = self.known
        since = self.begin()
        found = self._table.get_many([self._places.role(), guard.check.key])
        role = self.met(found.get(self._places.role()), since)
        if role is None:
            return False
        if not role.writes:
            raise Closed
        if before is None or before.epoch != role.epoch:
            raise Conflict
        copy = found.get(guard.check.key)
        if copy is not None and copy["turn"] >= role.turn:
            return False
        self._copy(guard.check.key, role)
        return True

    # --- the role ----------------------------------------------------------------------------------------------------

    def set_role(self, seen: Role | None, role: Role) -> bool:
        """Puts a role in the place of the one that was seen, as `ports.regions.Region` says; then its copies."""
        turn = seen.turn if seen else 0
        if seen is None or replace(role, turn=turn) != seen:
            role = replace(role, turn=turn + 1)
            form: Item = {"role": packed(form_of_role(role)), "kind": role.kind.value, "turn": role.turn}
            form |= {"table": self._table.name, FORM: ITEM_OF_REGIONS}
            try:
                self._table.update(update(self._places.role(), form, when=equals(turn=turn or None)))
            except Cancelled as moved:
                # Our own answer may have been lost, and its call been made again.
                if [self.role_on(item) for item in moved.items] != [role]:
                    return False
        elif self.read() != seen:
            return False
        copies = map(self._places.fence, range(COPIES))
        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="role") as pool:
            for _ in pool.map(lambda key: self._copy(key, replace(role, turn=max(role.turn, turn))), copies):
                pass
        self.read()
        return True

    def _copy(self, key: tuple[str, str], role: Role) -> None:
        """Puts a copy, unless a later one stands there."""
        later = Condition("attribute_not_exists(#turn) OR #turn < :turn", {"turn": role.turn})
        copy: Item = {"epoch": role.epoch, "kind": role.kind.value, "open": role.open, "turn": role.turn}
        try:
            self._table.update(update(key, copy | {FORM: ITEM_OF_REGIONS}, when=later))
        except Cancelled:
            return


def role_of(item: Item | None) -> Role | None:
    """As it was written, by whichever table."""
    return None if item is None or "role" not in item else role_of_form(unpacked(item["role"]))
