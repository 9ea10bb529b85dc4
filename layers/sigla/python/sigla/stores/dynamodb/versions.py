"""What new versions write: one that is registered, or several that are imported.

The rows of each version and what its subject and those it references have to know; the counts of its id (`ids`) differ
between the two: a registration takes what it has not looked at on trust, an import knows what was there.
"""

from collections.abc import Sequence
from dataclasses import dataclass

from sigla import keys
from sigla.changes import Displaced, Head, Imported, Registered
from sigla.journal import Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, Row, Subject, Target, Version
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import (
    ABSENT,
    PRESENT,
    Action,
    Condition,
    Key,
    condition_check,
    delete,
    earlier,
    equals,
    put,
    update,
)
from sigla.stores.dynamodb.ids import Ledger, held_once_more
from sigla.stores.dynamodb.items import LastHolder, Stored
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import TELLING, CommitPlan, Tools, moved, unmoved
from sigla.stores.dynamodb.reading import newest
from sigla.stores.dynamodb.table import MOST_ACTIONS
from sigla.stores.dynamodb.values import Item

_FIXED = 11 + TELLING
"""Actions of a registration that do not depend on what it references or purges."""
_PER_PURGED = 4


class TooManyPurged(Exception):
    """One transaction cannot take all that a registration supersedes: `rows` are to be purged before."""

    def __init__(self, change: Registered, rows: tuple[Row, ...]) -> None:
        super().__init__("more is superseded than one transaction takes")
        self.change = change
        self.rows = rows


def register(tools: Tools, change: Registered, at: int) -> CommitPlan:
    """Raises Conflict, InvalidSubject, TooEarly, TooManyPurged."""
    head, row, places = change.head, change.row, tools.places
    check_room(change, MOST_ACTIONS)
    if not rests_on_counts(change):
        counted = held_once_more(places, BodyKey(head.subject.context, row.id), row.guid)
        return bring(tools, change, at).plan(counted)
    removed = standing(tools, change)
    ledger = tools.ledger(head.subject.context, (at, change.nonce))
    ledger.read([row, *(stored.row for stored in removed)])
    counted, garbage = count(places, ledger, change, removed)
    buried = ledger.settle()
    return bring(tools, change, at).plan([*counted, *ledger.actions()], buried, garbage)


def check_room(change: Registered, most: int) -> None:
    """Whether a transaction can take it. most: actions of it. Raises InvalidSubject, TooManyPurged."""
    keys.check_length(change.scope)
    referred = {Subject(target.context, target.subject) for target in change.targets}
    room = max(0, (most - _FIXED - len(referred | {seen.subject for seen in change.seen})) // _PER_PURGED)
    if len(change.purged) > room:
        raise TooManyPurged(change, change.purged[room:])


def rests_on_counts(change: Registered) -> bool:
    """Whether the counts of ids have to be read: something goes, or an id is brought along."""
    return bool(change.purged) or change.imported or change.row.version <= change.head.highest


def count(
    places: Places, ledger: Ledger, change: Registered, removed: Sequence[Stored]
) -> tuple[list[Action], list[Action]]:
    """Tells the ledger, which has read these rows, what goes and what comes; what else goes, and what is garbage then.

    removed: as `standing` found it.
    """
    head, row = change.head, change.row
    gone_too: list[Action] = []
    garbage: list[Action] = []
    for gone in removed:
        overwritten = gone.row.version == row.version
        ledger.remove(gone.row, LastHolder.of(head.subject, gone.row, head.generation) if overwritten else None)
        gone_too += removal(places, head, gone)
        garbage += referrals(places, head.subject, gone)
    ledger.add(row, imported=change.imported, lives=change.lives)
    return gone_too, garbage


def bring(tools: Tools, change: Registered, at: int) -> "Brought":
    """What a registration writes, without the counts of its id."""
    stored = Stored(change.row, change.nonce, _used(change.targets), change.digests)
    return _bring(tools, change, [stored], at, referred=bool(change.purged))


def import_(tools: Tools, change: Imported, at: int) -> CommitPlan:
    """Raises Conflict, InvalidSubject, TooEarly."""
    subject = change.head.subject
    keys.check_length(subject)
    ledger = tools.ledger(subject.context, (at, change.nonce))
    ledger.read(each.row for each in change.versions)
    for each in change.versions:
        ledger.add(each.row, imported=True)
    stored = [Stored(each.row, change.nonce, _used(each.targets), each.digests) for each in change.versions]
    return _bring(tools, change, stored, at, free=ABSENT).plan(ledger.actions())


def displace(tools: Tools, change: Displaced, at: int) -> CommitPlan:
    """Raises Conflict, InvalidSubject, TooEarly."""
    head, row = change.head, change.row
    keys.check_length(head.subject)
    ledger = tools.ledger(head.subject.context, (at, change.nonce))
    ledger.read([row])
    ledger.displace(row, LastHolder.of(head.subject, row, head.generation), known=change.known)
    return CommitPlan([moved(tools, change, at, {}, referred=False), *ledger.actions()])


# --- rows of a version -----------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Brought:
    """head: the place of the subject's head. listed: the context was not listed before."""

    head: Key
    actions: list[Action]
    claims: list[Action]
    listed: bool

    def plan(
        self, counted: list[Action], buried: tuple[BodyKey, ...] = (), garbage: Sequence[Action] = ()
    ) -> CommitPlan:
        """One action for each key, the last one told: what overwrites a version does not remove it as well."""
        written = {action.key: action for action in counted + self.actions}
        # The head comes first: it tells a lost race.
        actions = sorted(written.values(), key=lambda action: action.key != self.head)
        claims = self.claims
        if len(actions) + len(claims) <= MOST_ACTIONS - TELLING:
            actions, claims = actions + claims, []
        return CommitPlan(actions, Effects(listed=self.listed), buried, claims, garbage=list(garbage))


def _bring(
    tools: Tools,
    change: Registered | Imported,
    versions: Sequence[Stored],
    at: int,
    *,
    free: Condition | None = None,
    referred: bool = False,
) -> Brought:
    """What the new versions write, without the counts of their ids.

    free: the condition on their places. referred: the commit rests on who refers to the subject.
    """
    head, places = change.head, tools.places
    subject = head.subject
    targets = {target for each in versions for target, _ in each.targets}
    latest = _latest(tools, head, [each.row for each in versions])
    highest = max(head.highest, *(each.row.version for each in versions))
    sets = {"highest": highest, "newest": items.row_value(latest)}
    actions = [
        moved(tools, change, at, sets, referred=referred, refers=int(subject in targets)),
        *_refer(places, change, targets - {subject}, at),
    ]
    claims: list[Action] = []
    for each in versions:
        rows, referrers = _rows(places, head, each, free)
        actions += rows
        claims += referrers
    if head.newest is None or latest is None:
        actions.append(put(places.listed(subject), items.named_item(subject) | {"active": latest is not None}))
    listed = False
    if not head.highest and subject.context != DEFAULT_CONTEXT:
        listed = not items.is_listed(tools.table.get(places.context(subject.context)))
        actions += _name(places, subject, at, listed=listed)
    return Brought(places.head(subject), actions, claims, listed)


def _latest(tools: Tools, head: Head, written: Sequence[Row]) -> Row | None:
    """The highest active version then. All rows are read only where the one so far is written over, soft-deleted."""
    numbers = {row.version for row in written if row.deleted}
    if head.newest is not None and head.newest.version in numbers:
        return newest([*written, *(row for row in tools.life(head).rows if row.version not in numbers)])
    # If two rows have one number, the first counts, which is the new one.
    return newest([*written, *([head.newest] if head.newest else [])])


def _rows(places: Places, head: Head, stored: Stored, free: Condition | None) -> tuple[list[Action], list[Action]]:
    """A version's own, and those it leaves with whom it references."""
    subject, generation, row = head.subject, head.generation, stored.row
    key = BodyKey(subject.context, row.id)
    own = [
        put(places.version(subject, generation, row.version), items.version_item(stored), free),
        put(places.holder(key, subject, row.version, generation), items.holder_item(subject, row, generation)),
    ]
    claims = [
        put(
            places.referrer(target, version, subject, row, stored.nonce),
            items.referrer_item(subject, generation, row, version, stored.nonce),
        )
        for target, version in stored.targets
    ]
    return own, claims


def _used(targets: Sequence[Target]) -> tuple[tuple[Subject, Version], ...]:
    return tuple(dict.fromkeys((Subject(target.context, target.subject), target.version) for target in targets))


def standing(tools: Tools, change: Registered) -> list[Stored]:
    """The versions that go: superseded ones, and the one that stands in the new one's place."""
    head = change.head
    gone = {purged.version for purged in change.purged} | {change.row.version}
    places = [tools.places.version(head.subject, head.generation, version) for version in sorted(gone)]
    found = tools.table.get_many(places)
    return [items.version(found[place]) for place in places if place in found]


def removal(places: Places, head: Head, stored: Stored) -> list[Action]:
    subject, row = head.subject, stored.row
    key = BodyKey(subject.context, row.id)
    return [
        delete(places.version(subject, head.generation, row.version)),
        delete(places.holder(key, subject, row.version, head.generation)),
    ]


def referrals(places: Places, subject: Subject, stored: Stored) -> list[Action]:
    """What a removed version said of those it referenced."""
    row = stored.row
    return [delete(places.referrer(target, version, subject, row, stored.nonce)) for target, version in stored.targets]


# --- others that have to know ----------------------------------------------------------------------------------------


def _refer(places: Places, change: Registered | Imported, referred: set[Subject], at: int) -> list[Action]:
    """The heads of other subjects: as they were seen, and told that one more schema refers to them."""
    seen = {head.subject: head for head in change.seen}
    actions = [
        update(
            places.head(target),
            {"at": at},
            add={"referred": 1},
            when=unmoved(seen[target], at) if target in seen else earlier(at),
        )
        for target in sorted(referred, key=str)
    ]
    others = [head for subject, head in seen.items() if subject not in referred]
    return actions + [
        condition_check(places.head(head.subject), equals(revision=head.revision or None)) for head in others
    ]


def _name(places: Places, subject: Subject, at: int, *, listed: bool) -> list[Action]:
    """The first version of a subject in a named context. listed: the context is new, or was dropped before `at`."""
    form: Item = {"context": subject.context}
    when = PRESENT & equals(dropped=None)
    if listed:
        form |= {"at": at, "dropped": None}
        when = Condition("attribute_not_exists(#pk) OR #dropped = :dropped", {"dropped": True}) & earlier(at)
    return [
        put(places.name(subject), items.named_item(subject)),
        update(places.context(subject.context), form, add={"count": 1}, when=when),
    ]
