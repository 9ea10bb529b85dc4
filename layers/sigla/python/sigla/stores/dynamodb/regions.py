"""Roles and counters of one region: a `ports.Region`; through the other region's client the `Peer` of this one."""

from collections import Counter as Counted
from collections.abc import Iterator
from typing import Any

from sigla import keys
from sigla.forms import FORM, ITEM_OF_REGIONS
from sigla.model import DEFAULT_CONTEXT, SchemaId
from sigla.ports.clock import Clock
from sigla.regions.installed import Installed
from sigla.regions.nouns import Counter, RegionKind, RegionSeen, RegionState, Role
from sigla.regions.replay import WAIT
from sigla.stores.dynamodb.actions import Condition, condition_check, equals, update
from sigla.stores.dynamodb.installed import installed_in
from sigla.stores.dynamodb.plans import Tools
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item

UNREAD_KEYS = "of keys under KEK {kek} are lost or cannot be read: the other region may bring them when it rejoins"

_GAVE = Condition("attribute_exists(#kind) AND #kind <> :joining", {"joining": RegionKind.JOINING.value})
"""A region that has forgotten nothing of what it gave; nor is its table a restored one."""


class AwsRegion:
    """Any number of instances may be the same region, and any thread may use one."""

    def __init__(self, tools: Tools) -> None:
        self._table = tools.table
        self._places = tools.places
        self._fence = tools.fence
        self._clock = tools.clock

    @classmethod
    def of(cls, client: Any, table: str, clock: Clock, *, registry: str = "default") -> "AwsRegion":
        """The region of a client of DynamoDB, which may be another than that of the process."""
        return cls(Tools.of(client, table, clock, registry))

    def role(self) -> Role | None:
        return self._fence.read()

    def met(self) -> Role | None:
        return self._fence.known

    def has_pair(self, pair: str) -> bool:
        """Whether this is that of the registry, as of `Role`. The role is read where it was not met with this pair."""
        role = self.met()
        if role is None or role.pair != pair:
            role = self.role()
        return role is not None and role.pair == pair != ""

    def state(self) -> RegionState:
        """One question."""
        since, role, complete = self._fence.begin(), self._places.role(), self._places.complete()
        found = self._table.get_many([role, complete])
        return RegionState(self._fence.met(found.get(role), since), int(found.get(complete, {}).get("at", 0)))

    def installed(self) -> Installed | None:
        return installed_in(self._table, self._places, self._clock)

    def set_role(self, seen: Role | None, role: Role) -> bool:
        return self._fence.set_role(seen, role)

    def kept(self) -> dict[str, int]:
        registry = self._places.registry
        waiting = {WAIT: keys.aside_pk(registry), "diverge": keys.apart_pk(registry)}
        found = {what: sum(1 for _ in self._table.query(pk)) for what, pk in waiting.items()}
        return found | {UNREAD_KEYS.format(kek=kek): number for kek, number in self._unread_keys().items()}

    def _unread_keys(self) -> Counted[str]:
        """By KEKs, while the region that has handed them over may come back."""
        role, found = self._fence.read(), Counted[str]()
        if role is not None and role.adopts_keys:
            for item in self._table.query(keys.unread_keys_pk(self._places.registry)):
                found[item["kek"]] += item["many"] * (item["epoch"] == role.epoch - 1)
        return found

    def look(self, context: str) -> RegionSeen:
        role, counter = self._places.role(), self._places.counter(context)
        found = self._table.get_many([role, counter])
        return RegionSeen(self._fence.role_on(found.get(role)), counter_of(found.get(counter)))

    def counters(self) -> Iterator[tuple[str, Counter]]:
        listed = [item["context"] for item in self._table.query(keys.contexts_pk(self._places.registry))]
        of_context = {context: self._places.counter(context) for context in (DEFAULT_CONTEXT, *listed)}
        found = self._table.get_many([*of_context.values()])
        for context, place in of_context.items():
            if (counter := counter_of(found.get(place))) is not None:
                yield context, counter

    def draw(self, context: str, epoch: int) -> Counter | None:
        """An answer that got lost leaves a gap."""
        left = Condition("#epoch = :epoch AND #next < #ceiling", {"epoch": epoch})
        try:
            written = self._table.update(
                update(self._places.counter(context), {}, add={"next": 1}, when=left), tell="ALL_NEW"
            )
        except Cancelled:
            return None
        return counter_of(written)

    def set_counter(self, context: str, seen: Counter | None, counter: Counter) -> bool:
        form: Item = counter._asdict() | {FORM: ITEM_OF_REGIONS}
        return self._did(context, form, _as_seen(seen))

    def raise_own(self, context: str, epoch: int, ceiling: SchemaId) -> bool:
        lower = equals(epoch=epoch) & Condition("#ceiling < :ceiling", {"ceiling": ceiling})
        if self._did(context, {"ceiling": ceiling}, lower):
            return True
        standing = self.look(context).counter
        return standing is not None and standing.epoch == epoch

    def raise_alone(self, context: str, role: Role, ceiling: SchemaId) -> bool:
        """As `raise_own`, while this role stands, by which no region follows. False if nothing was written."""
        counter, stands = self._places.counter(context), equals(turn=role.turn)
        lower = equals(epoch=role.epoch) & Condition("#ceiling < :ceiling", {"ceiling": ceiling})
        write = update(counter, {"ceiling": ceiling}, when=lower)
        try:
            self._table.transact([condition_check(self._places.role(), stands), write])
        except Cancelled:
            standing = self.look(context).counter
            return standing is not None and standing.epoch == role.epoch and standing.ceiling >= ceiling
        return True

    def pass_over(self, context: str, epoch: int, to: SchemaId) -> bool:
        within = Condition("#epoch = :epoch AND #ceiling >= :next AND #next < :next", {"epoch": epoch, "next": to})
        if self._did(context, {"next": to}, within):
            return True
        standing = self.look(context).counter
        return standing is not None and standing.epoch == epoch and standing.next >= to

    def raise_for(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        """One transaction: a region that is joining by then is not told."""
        if seen is not None and seen.epoch > epoch:
            return False
        write = update(self._places.counter(context), _ceiling_item(seen, epoch, ceiling), when=_same_ceiling(seen))
        is_own = Condition("attribute_not_exists(#table) OR #table = :table", {"table": self._table.name})
        gave = _GAVE & is_own
        try:
            self._table.transact([condition_check(self._places.role(), gave), write])
        except Cancelled:
            return False
        return True

    def copy_ceiling(self, context: str, epoch: int, seen: Counter | None, ceiling: SchemaId) -> bool:
        if seen is not None and seen.epoch > epoch:
            return False
        return self._did(context, _ceiling_item(seen, epoch, ceiling), _same_ceiling(seen))

    def _did(self, context: str, form: Item, when: Condition) -> bool:
        try:
            self._table.update(update(self._places.counter(context), form, when=when))
        except Cancelled:
            return False
        return True


def counter_of(item: Item | None) -> Counter | None:
    """One without an epoch is that of a registry that had no role: what it has given is all that it may have given."""
    if item is None or "next" not in item:
        return None
    given = SchemaId(item["next"])
    return Counter(given, item.get("ceiling", given), item.get("epoch", 0), item.get("first", SchemaId(1)))


def _as_seen(seen: Counter | None) -> Condition:
    if seen is None:
        return equals(next=None)
    if seen.epoch == 0:
        return equals(next=seen.next, epoch=None)
    return equals(**seen._asdict())


def _same_ceiling(seen: Counter | None) -> Condition:
    """Ids that are drawn meanwhile do not matter; where there is no ceiling, each of them is one."""
    if seen is None or seen.epoch == 0:
        return _as_seen(seen)
    return equals(ceiling=seen.ceiling, epoch=seen.epoch)


def _ceiling_item(seen: Counter | None, epoch: int, ceiling: SchemaId) -> Item:
    """What is written of a counter that whoever is promoted begins above."""
    form: Item = {"ceiling": ceiling, "epoch": epoch, FORM: ITEM_OF_REGIONS}
    if seen is None:
        form |= {"next": 0, "first": 1}
    elif seen.epoch == 0:
        form |= {"first": 1}
    return form
