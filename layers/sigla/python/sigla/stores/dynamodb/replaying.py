"""A table that follows another one: the same commits, in any order that leaves none before what it rests on.

A commit is planned anew from its change, as at its source (`changes.plan`), on what stands here. What it was there on
condition of holds already: it was committed. Here each row of the transaction rests on its number alone (`numbers`, of
a head its revision), and on what this plan has read; ids are counted so that their order does not matter (`stamped`).
The row of the journal is that of the source, in the same transaction: by it a commit is known that came before.

Not the same are what each side has for itself: counters of ids, how far exporters have come, names behind tokens, which
segment tells a row, and the times beside the counts of ids.
"""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Final

import orjson

from sigla import journal, keys
from sigla.changes import AssociationsChanged, Change, IdBuried, ImportBegun, Imported, NumberingSet, Registered
from sigla.errors import Closed, Conflict
from sigla.journal import UnknownCommit
from sigla.model import BodyKey, SchemaId
from sigla.ports.bodies import Bodies
from sigla.ports.replaying import Shipment
from sigla.regions import shipping
from sigla.regions.nouns import RegionKind
from sigla.regions.replay import Move, Needs, RestsOn, Verdict, verdict_by_numbers
from sigla.regions.shipping import BodyDiverged, NotAllowed
from sigla.registry.tombstones import settle
from sigla.stores.dynamodb import associations, changes, histories, imports, sweeping
from sigla.stores.dynamodb.actions import Action, equals, put, resting_on
from sigla.stores.dynamodb.commits import JOURNAL_KEPT_S
from sigla.stores.dynamodb.ids import NEVER, Stamp
from sigla.stores.dynamodb.journal import AwsJournal
from sigla.stores.dynamodb.numbers import is_numbered, number_name, with_number
from sigla.stores.dynamodb.plans import CommitPlan, Tools
from sigla.stores.dynamodb.reading import life
from sigla.stores.dynamodb.stamped import StampedLedger
from sigla.stores.dynamodb.table import MOST_ACTIONS, Cancelled
from sigla.stores.dynamodb.told_commits import KeptCommits, ToldCommit, numbers_of, row_of_number
from sigla.stores.dynamodb.values import Item, packed

if TYPE_CHECKING:
    from sigla.stores.dynamodb.catalog import AwsCatalog

TRIES: Final = 8
_SWEPT: Final = frozenset({"SubjectPurged", "ImportBegun", "AssociationsChanged"})
"""Kinds of changes that may leave rows behind."""
_COUNTED: Final = frozenset({keys.HOLDERS, keys.ID, keys.ASSOCIATED})
"""Rows whose plan has read them, and rests on that."""


class AwsShipper:
    """A `ports.Shipper`."""

    def __init__(self, journal: AwsJournal, bodies: Bodies) -> None:
        self._journal = journal
        self._bodies = bodies

    def shipments(self, after: int = 0) -> Iterator[Shipment]:
        for position, row in self._journal.read(after):
            yield shipping.shipment(position, orjson.dumps(row), row, self._bodies)


@dataclass(frozen=True, slots=True)
class _ReplayTools(Tools):
    """told_stamp: of the commit that is carried out. brought: the ids that it has brought along."""

    told_stamp: Stamp
    brought: frozenset[BodyKey]

    def ledger(self, context: str, stamp: Stamp = NEVER) -> StampedLedger:  # noqa: ARG002 - a commit that is replayed has the stamp of its source
        brought = frozenset(key.id for key in self.brought if key.context == context)
        return StampedLedger(self.table, self.places, context, self.told_stamp, brought=brought)


class AwsReplayer(KeptCommits):
    """A `ports.WaitingReplayer` of another table.

    allowed: checks that stand in each transaction; NotAllowed if one fails. since: as of `KeptCommits`; 0 where this
    region does not follow.
    """

    def __init__(
        self, catalog: "AwsCatalog", tools: Tools, bodies: Bodies, allowed: Sequence[Action], *, since: int = 0
    ) -> None:
        super().__init__(tools, bodies, since)
        self._catalog = catalog
        self._tools = tools
        self._allowed = allowed

    def carry_out(self, shipment: Shipment) -> Verdict:
        try:
            told = ToldCommit.of(shipment)
        except UnknownCommit:
            # One of before the registry had a role came with the copy of the table.
            if self.is_told(shipment):
                return Verdict.KNOWN
            raise
        for _ in range(TRIES):
            verdict = self._verdict(told)
            if verdict is Verdict.CARRY_OUT:
                try:
                    self._tidy(told, self._execute(told, shipment))
                except (Conflict, Cancelled) as moved:
                    self._check_allowed(moved)
                    continue
                except BodyDiverged:
                    return Verdict.DIVERGES
            if verdict is Verdict.KNOWN:
                self._tidy(told)
            return verdict
        raise Conflict("a commit of another region was not carried out: too many writers of the same rows")

    def carry_out_next(self, shipment: Shipment) -> Verdict:
        """As `carry_out`, of keys that very probably come next: then without a question.

        What they move rests on its number, so that the transaction itself finds out whether they do.
        """
        told = ToldCommit.of(shipment)
        try:
            self._tidy(told, self._execute(told, shipment))
        except (Conflict, Cancelled):
            return self.carry_out(shipment)
        return Verdict.CARRY_OUT

    def verdict(self, shipment: Shipment) -> Verdict:
        """What would become of it now."""
        return self._verdict(ToldCommit.of(shipment))

    # --- what waits --------------------------------------------------------------------------------------------------

    def needs(self, shipment: Shipment) -> Needs:
        return ToldCommit.of(shipment).needs(self._places)

    def put_aside(self, shipment: Shipment) -> None:
        for _ in range(TRIES):
            self._check_follows()
            with suppress(Conflict):
                super().put_aside(shipment)
                return
        raise Conflict("a commit of another region was not put aside: too many writers of the same ids")

    def is_known(self, key: BodyKey) -> bool:
        """Asked behind a read of a body that may be replaced. Raises NotAllowed: this region may have given the id."""
        is_known = super().is_known(key)
        if not is_known:
            self._check_follows()
        return is_known

    def set_apart(self, shipment: Shipment) -> None:
        self._check_follows()
        super().set_apart(shipment)

    # --- deciding ----------------------------------------------------------------------------------------------------

    def _verdict(self, told: ToldCommit) -> Verdict:
        needs = told.needs(self._places)
        row, names = self._places.journal(told.at, told.nonce), [*needs.moves, *needs.rests]
        found = self._table.get_many([row, *(row_of_number(self._places, name) for name in names)])
        numbers = numbers_of(self._places, names, found)
        moves = [Move(told_number, numbers[name]) for name, told_number in needs.moves.items()]
        rests = [RestsOn(least, numbers[name]) for name, least in needs.rests.items()]
        verdict = verdict_by_numbers(moves, rests, is_told=row in found)
        # Rows that are read together are not of one moment: another one may have carried it out in between.
        if verdict is Verdict.DIVERGES and self._table.get(row) is not None:
            return Verdict.KNOWN
        return verdict

    def _check_follows(self) -> None:
        """Before what is written outside of the transaction: whoever slept may find another role. Raises NotAllowed."""
        role = self._tools.fence.read() if self._since else None
        if role is not None and (role.kind, role.epoch) != (RegionKind.FOLLOWER, self._since):
            raise NotAllowed("this region does not follow any more")

    def _check_allowed(self, moved: Conflict | Cancelled) -> None:
        """Raises NotAllowed. An item that is missing is not told: it is looked at."""
        if self._allowed and isinstance(moved, Cancelled):
            try:
                self._tools.table.transact(self._allowed)
            except Cancelled as refused:
                raise NotAllowed("this region does not follow any more") from refused

    # --- carrying out ------------------------------------------------------------------------------------------------

    def _execute(self, told: ToldCommit, shipment: Shipment) -> Sequence[BodyKey]:
        """The ids that it buried. Raises Conflict, Cancelled, BodyDiverged, OutcomeUnknown, StoreError."""
        change = journal.change_of(told.row, self._catalog)
        if change.ids:
            self._check_follows()
        for key in sorted(change.ids):
            told_body, held = shipment.bodies.get(key), not isinstance(change, IdBuried)
            shipping.bring(self._bodies, key, told_body, held=held, is_known=self.is_known)
        self._number(change)
        plan = self._planned(told, change)
        if plan.claims:  # on no condition, as in `commits`
            self._tools.table.write_all(plan.claims)
        telling = self._telling(told)
        actions = [*plan.actions, *telling, *self._allowed]
        taken = {action.key for action in actions}
        garbage = [each for each in plan.garbage if each.key not in taken][: MOST_ACTIONS - len(actions)]
        self._tools.table.transact([*actions, *garbage])
        self._tools.table.write_checked(plan.garbage[len(garbage) :], self._allowed)
        return plan.buried

    def _planned(self, told: ToldCommit, change: Change) -> CommitPlan:
        tools, at = self._tools_of(told, _brought(change)), told.at
        match change:
            case NumberingSet():
                return CommitPlan([])
            case ImportBegun():
                lives = [life(tools.table, tools.places, subject) for subject, *_ in told.heads]
                seen = None if told.effects.partial else change.seen.revision
                plan = imports.clearing(tools, change, lives, at, seen=seen)
            case Registered():
                plan = changes.plan(tools, replace(change, imported=True), at)
            case AssociationsChanged(resource=resource, registered=registered):
                standing = associations.of_resource(self._tools, resource)
                brought = tuple(replace(each, imported=True) for each in registered)
                plan = changes.plan(tools, replace(change, seen=standing, registered=brought), at)
            case _:
                plan = changes.plan(tools, change, at)
        return replace(plan, actions=list(self._resting(told, plan.actions)))

    def _resting(self, told: ToldCommit, actions: Sequence[Action]) -> Iterator[Action]:
        """The same actions, each on the conditions that it has here."""
        found = self._tools.table.get_many([each.key for each in actions if each.key[1] == keys.HEAD])
        contexts = keys.contexts_pk(self._places.registry)
        for each in actions:
            if each.key[1] in _COUNTED:
                yield each
            elif each.kind == "ConditionCheck":
                continue
            elif each.key[1] == keys.HEAD:
                yield _head_action(each, found.get(each.key, {}))
            elif each.key[0] == contexts and each.add:
                yield self._counted(told, each)
            elif is_numbered(self._places, each):
                yield self._numbered(told, resting_on(each, None))
            else:
                yield resting_on(each, None)

    def _counted(self, told: ToldCommit, action: Action) -> Action:
        """How many subjects a context has. Whether the commit has listed it is as it was at the source."""
        form: Item = {"context": action.sets["context"]} if action.sets else {}
        if number_name(action.key) not in told.effects.moved:
            return resting_on(action, None, form)
        return self._numbered(told, resting_on(action, None, form | {"at": told.at, "dropped": None}))

    def _numbered(self, told: ToldCommit, action: Action) -> Action:
        return with_number(action, told.effects.moved[number_name(action.key)] - 1)

    def _telling(self, told: ToldCommit) -> list[Action]:
        """The row of the source, and what it tells in histories: as `commits` writes them."""
        form: Item = {"form": packed(told.row), "expires": told.at // 1000 + JOURNAL_KEPT_S}
        rows = histories.items_of(self._places, told.row, told.at)
        return [put(self._places.journal(told.at, told.nonce), form), *rows]

    def _tools_of(self, told: ToldCommit, brought: Iterable[BodyKey] = ()) -> _ReplayTools:
        tools, stamp = self._tools, (told.at, told.nonce)
        return _ReplayTools(tools.table, self._places, tools.fence, tools.clock, stamp, frozenset(brought))

    # --- afterwards --------------------------------------------------------------------------------------------------

    def _tidy(self, told: ToldCommit, buried: Iterable[BodyKey] = ()) -> None:
        """Sweeps what a purge has left, and has bodies say what the catalog says. May be repeated."""
        touched = set(buried)
        if told.row["change"] in shipping.BRINGING:
            touched |= journal.ids([told.row])
        if told.row["change"] in _SWEPT:
            for subject, *_ in told.heads:
                touched |= set(sweeping.sweep(self._tools_of(told), subject))
        if touched:
            settle(self._bodies, touched, self._gone)

    def _gone(self, ids: frozenset[BodyKey]) -> Mapping[BodyKey, bool]:
        buried = self._catalog.buried(ids)
        return {key: key in buried for key in ids}

    def _number(self, change: Change) -> None:
        """No id that the source has given is given here one day; where there are roles, ceilings see to that."""
        if self._since:
            return
        reached = {key.context: SchemaId(max(key.id, 1)) for key in sorted(change.ids)}
        if isinstance(change, NumberingSet):
            reached[change.context] = change.after
        with suppress(Closed):
            for context, id in reached.items():
                self._catalog.raise_counter(context, id)


def _head_action(action: Action, found: Item) -> Action:
    """A head with a later time stays at that: another commit has told it already that it is referenced."""
    revision, at = found.get("revision"), found.get("at")
    if "revision" in action.sets and action.sets["revision"] != (revision or 0) + 1:
        raise Conflict
    return resting_on(action, equals(revision=revision, at=at), {**action.sets, "at": max(action.sets["at"], at or 0)})


def _brought(change: Change) -> Iterator[BodyKey]:
    """The ids whose place among those of their content it has decided, as it was at the source."""
    match change:
        case Registered(imported=True) | Imported():
            yield from change.ids
        case AssociationsChanged(registered=registered):
            for each in registered:
                yield from _brought(each)
        case _:
            return
