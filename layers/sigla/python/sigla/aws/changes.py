"""What each change writes: the actions of one transaction, every one with the condition that it rests on.

`at` is the transaction's hybrid time: later than that of every head and settings row it touches, so that the journal
can be put in order by it.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

from sigla import keys
from sigla.aws import items
from sigla.aws.actions import PRESENT, Action, Condition, check, delete, equals, put, update
from sigla.aws.ids import Ledger, held_once_more
from sigla.aws.items import Stored
from sigla.aws.places import Places
from sigla.aws.reading import Life, life, newest
from sigla.aws.table import MOST_ACTIONS, Table
from sigla.aws.values import Item
from sigla.errors import Conflict
from sigla.journal import NO_EFFECTS, Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, Row, Settings, Subject
from sigla.ports import (
    ConfigChanged,
    ContextDropped,
    Head,
    ModeChanged,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)

_FIXED = 12
"""Actions of a registration that do not depend on what it references or purges, its journal row included."""
_PER_PURGED = 4

_CLEARING = "~"
"""In a revision: no other has it."""


@dataclass(frozen=True, slots=True)
class Plan:
    """What a commit is to write. claims: rows that mean nothing without the transaction and are written before it.

    swept: the subject whose rows of an older generation are removed afterwards. garbage: rows that nobody believes any
    more once it is done.
    """

    actions: list[Action]
    effects: Effects = NO_EFFECTS
    buried: tuple[BodyKey, ...] = ()
    claims: list[Action] = field(default_factory=list)
    swept: Subject | None = None
    garbage: list[Action] = field(default_factory=list)


class TooManyPurged(Exception):
    """One transaction cannot take all that a registration supersedes: `rows` are to be purged before."""

    def __init__(self, rows: tuple[Row, ...]) -> None:
        super().__init__("more is superseded than one transaction takes")
        self.rows = rows


@dataclass(frozen=True, slots=True)
class Tools:
    table: Table
    places: Places

    def life(self, head: Head) -> Life:
        """The subject's rows, if it is as it was seen; else Conflict."""
        found = life(self.table, self.places, head.subject)
        if found.state.head.revision != head.revision:
            raise Conflict
        return found

    def ledger(self, context: str) -> Ledger:
        return Ledger(self.table, self.places, context)


def plan(tools: Tools, change: Any, at: int) -> Plan:
    """Raises Conflict, InvalidSubject, TooManyPurged."""
    act: Callable[[Tools, Any, int], Plan] = _PLANS[type(change)]
    return act(tools, change, at)


# --- heads -----------------------------------------------------------------------------------------------------------


def unmoved(head: Head, at: int, *, referred: bool = False) -> Condition:
    """The subject is as it was seen, and its last commit is of an earlier time."""
    seen = equals(revision=head.revision or None)
    if referred and head.revision:
        seen &= equals(referred=head.referred)
    return seen & earlier(at)


def earlier(at: int) -> Condition:
    return Condition("attribute_not_exists(#at) OR #at < :at", {"at": at})


def moved(
    tools: Tools, change: Any, at: int, sets: Mapping[str, Any], *, referred: bool = True, refers: int = 0
) -> Action:
    """The head after a commit. referred: whether it rests on who refers to the subject."""
    head: Head = change.head
    common = items.named_item(head.subject) | {"revision": head.revision + 1, "nonce": change.nonce, "at": at}
    when = unmoved(head, at, referred=referred)
    return update(tools.places.head(head.subject), common | dict(sets), add={"referred": refers}, when=when)


# --- registering -----------------------------------------------------------------------------------------------------


def _register(tools: Tools, change: Registered, at: int) -> Plan:
    head, row, places = change.head, change.row, tools.places
    subject = head.subject
    keys.check_length(subject)
    key = BodyKey(subject.context, row.id)
    targets = tuple((Subject(target.context, target.subject), target.version) for target in change.targets)
    referred = {target for target, _ in targets}
    room = (MOST_ACTIONS - _FIXED - len(referred | {seen.subject for seen in change.seen})) // _PER_PURGED
    if len(change.purged) > room:
        raise TooManyPurged(change.purged[room:])
    written: dict[tuple[str, str], Action] = {}
    garbage: list[Action] = []
    buried: tuple[BodyKey, ...] = ()
    if change.purged or change.imported or row.version <= head.highest:
        removed = _stored(tools, change)
        ledger = tools.ledger(subject.context)
        ledger.read([row, *(stored.row for stored in removed)])
        for stored in removed:
            ledger.remove(stored.row)
            _put(written, _removal(places, head, stored))
            garbage += _garbage(places, subject, stored)
        ledger.add(row, imported=change.imported)
        buried = ledger.settle()
        _put(written, ledger.actions())
    else:
        _put(written, held_once_more(places, key, row.guid))
    latest = head.newest if head.newest and head.newest.version > row.version else row
    sets = {"highest": max(head.highest, row.version), "newest": items.row_value(latest)}
    stored = Stored(row, change.nonce, tuple(dict.fromkeys(targets)), change.digests)
    first = [
        moved(tools, change, at, sets, referred=bool(change.purged), refers=int(subject in referred)),
        put(places.version(subject, head.generation, row.version), items.version_item(stored)),
        put(
            places.holder(key, subject, row.version, head.generation), items.holder_item(subject, row, head.generation)
        ),
        *_refer(places, change, referred - {subject}, at),
    ]
    _put(written, first)
    if head.newest is None:
        _put(written, [put(places.listed(subject), items.named_item(subject) | {"active": True})])
    listed = False
    if not head.highest and subject.context != DEFAULT_CONTEXT:
        listed = not is_listed(tools.table.get(places.context(subject.context)))
        _put(written, _name(places, subject, at, listed=listed))
    claims = [
        put(
            places.referrer(target, version, subject, row, change.nonce),
            items.referrer_item(subject, head.generation, row, version, change.nonce),
        )
        for target, version in stored.targets
    ]
    # The head comes first: it tells a lost race.
    actions = sorted(written.values(), key=lambda action: action.key != places.head(subject))
    if len(actions) + len(claims) < MOST_ACTIONS:
        actions, claims = actions + claims, []
    return Plan(actions, Effects(listed=listed), buried, claims, garbage=garbage)


def _put(written: dict[tuple[str, str], Action], actions: list[Action]) -> None:
    """One action for each key, the last one told: what overwrites a version does not remove it as well."""
    written.update((action.key, action) for action in actions)


def _stored(tools: Tools, change: Registered) -> list[Stored]:
    """The versions that go: superseded ones, and the one that stands in the new one's place."""
    head = change.head
    gone = {purged.version for purged in change.purged} | {change.row.version}
    places = [tools.places.version(head.subject, head.generation, version) for version in sorted(gone)]
    found = tools.table.get_many(places)
    return [items.version(found[place]) for place in places if place in found]


def _removal(places: Places, head: Head, stored: Stored) -> list[Action]:
    subject, row = head.subject, stored.row
    key = BodyKey(subject.context, row.id)
    return [
        delete(places.version(subject, head.generation, row.version)),
        delete(places.holder(key, subject, row.version, head.generation)),
    ]


def _garbage(places: Places, subject: Subject, stored: Stored) -> list[Action]:
    """What a removed version said of those it referenced."""
    row = stored.row
    return [delete(places.referrer(target, version, subject, row, stored.nonce)) for target, version in stored.targets]


def _refer(places: Places, change: Registered, referred: set[Subject], at: int) -> list[Action]:
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
    return actions + [check(places.head(head.subject), equals(revision=head.revision or None)) for head in others]


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


# --- deleting --------------------------------------------------------------------------------------------------------


def _delete_version(tools: Tools, change: VersionDeleted, at: int) -> Plan:
    head, subject, places = change.head, change.head.subject, tools.places
    row = replace(change.row, deleted=True, ts=change.ts, revision=head.revision + 1)
    sets: dict[str, Any] = {}
    others: list[Action] = []
    if head.newest and head.newest.version == row.version:
        left = newest(each for each in tools.life(head).rows if each.version != row.version)
        sets["newest"] = items.row_value(left)
        others = [] if left else [_unlisted(places, subject)]
    return Plan([moved(tools, change, at, sets), *_marked(places, head, row), *others])


def _delete_subject(tools: Tools, change: SubjectDeleted, at: int) -> Plan:
    """One mark, whatever the size: all rows that are older than it are deleted.

    Only where something active is above `through`, which no verb asks for, each row is marked by itself.
    """
    head, subject = change.head, change.head.subject
    if head.newest is None or head.newest.version <= change.through:
        sets = {"hidden": head.revision + 1, "newest": None}
        return Plan([moved(tools, change, at, sets), _unlisted(tools.places, subject)])
    actions = [moved(tools, change, at, {})]
    for row in tools.life(head).rows:
        if row.version <= change.through and not row.deleted:
            actions += _marked(tools.places, head, replace(row, deleted=True))
    return Plan(actions)


def _marked(places: Places, head: Head, row: Row) -> list[Action]:
    """A version's row and what the holders of its id say of it."""
    subject, generation = head.subject, head.generation
    holder = places.holder(BodyKey(subject.context, row.id), subject, row.version, generation)
    return [
        update(places.version(subject, generation, row.version), {"row": items.row_value(row)}, when=PRESENT),
        put(holder, items.holder_item(subject, row, generation), PRESENT),
    ]


def _unlisted(places: Places, subject: Subject) -> Action:
    return put(places.listed(subject), items.named_item(subject) | {"active": False})


def _purge_version(tools: Tools, change: VersionPurged, at: int) -> Plan:
    head, subject, places = change.head, change.head.subject, tools.places
    found = tools.life(head)
    gone = [stored for stored in found.stored if stored.row.version == change.row.version]
    left = [row for row in found.rows if row.version != change.row.version]
    ledger = tools.ledger(subject.context)
    ledger.read([stored.row for stored in gone])
    removal, garbage = [], []
    for stored in gone:
        ledger.remove(stored.row)
        removal += _removal(places, head, stored)
        garbage += _garbage(places, subject, stored)
    buried = ledger.settle()
    sets = {"highest": max((row.version for row in left), default=0), "newest": items.row_value(newest(left))}
    actions = [moved(tools, change, at, sets), *removal, *ledger.actions()]
    if left:
        return Plan(actions, NO_EFFECTS, buried, garbage=garbage)
    rest, effects = _nothing_left(places, change, found.settings, at)
    return Plan(actions + rest, effects, buried, garbage=garbage)


def _purge_subject(tools: Tools, change: SubjectPurged, at: int) -> Plan:
    """A new generation: one write, whatever the size. What it leaves behind is swept."""
    found = tools.life(change.head)
    rest, effects = _nothing_left(tools.places, change, found.settings, at)
    return Plan([moved(tools, change, at, anew(change.head)), *rest], effects, swept=change.head.subject)


def anew(head: Head) -> dict[str, Any]:
    """A head as it begins a generation."""
    return {"generation": head.generation + 1, "highest": 0, "newest": None, "hidden": None}


def _nothing_left(places: Places, change: Any, settings: Settings, at: int) -> tuple[list[Action], Effects]:
    """With the last version go the settings; the revision that stays lets nobody write over a purge unseen."""
    subject: Subject = change.head.subject
    actions = unnamed(places, subject)
    if settings.revision:
        changed = {"config": None, "mode": None, "revision": change.nonce, "at": at}
        when = equals(revision=settings.revision) & earlier(at)
        actions += [update(places.settings(subject), changed, when=when), delete(places.listed_settings(subject))]
    return actions, Effects(config=settings.config is not None, mode=settings.mode is not None)


def unnamed(places: Places, subject: Subject) -> list[Action]:
    """Nothing is stored of the subject any more: it leaves every list but that of contexts."""
    actions = [delete(places.listed(subject))]
    if subject.context != DEFAULT_CONTEXT:
        actions += [delete(places.name(subject)), update(places.context(subject.context), {}, add={"count": -1})]
    return actions


# --- contexts and settings -------------------------------------------------------------------------------------------


def _change_config(tools: Tools, change: ConfigChanged, at: int) -> Plan:
    keys.check_length(change.scope)
    form = items.settings_item(Settings(config=change.config, revision=change.nonce))
    del form["mode"]
    return Plan(settled(tools.places, change.scope, form | {"at": at}, seen=change.seen.revision))


def _change_mode(tools: Tools, change: ModeChanged, at: int) -> Plan:
    keys.check_length(change.scope)
    form = {"mode": change.mode, "revision": change.nonce, "at": at}
    return Plan(settled(tools.places, change.scope, form, seen=change.seen.revision))


def marked(nonce: str, *, before: str | None) -> str:
    """The revision of settings while their scope is being cleared for an import. before: the mode that it had."""
    return f"{nonce}{_CLEARING}{before or ''}"


def is_marked(revision: str) -> bool:
    return _CLEARING in revision


def mode_before(revision: str) -> str | None:
    """Of a marked revision."""
    return revision.partition(_CLEARING)[2] or None


def settled(places: Places, scope: Subject, form: Item, *, seen: str) -> list[Action]:
    """The settings of a scope and their copy in the list. What the form does not name stays; what it says None goes.

    seen: the revision that it rests on; of one that was marked the mode before comes back.
    """
    if is_marked(seen):
        form = {"mode": mode_before(seen)} | form
    when = equals(revision=seen or None)
    if "at" in form:
        when &= earlier(form["at"])
    return [
        update(places.settings(scope), form, when=when),
        update(places.listed_settings(scope), items.named_item(scope) | form),
    ]


def is_listed(context: Item | None) -> bool:
    """By a context's row."""
    return context is not None and "dropped" not in context


def _drop_context(tools: Tools, change: ContextDropped, at: int) -> Plan:
    """The row stays, with its time: a registration that lists the context again has to be of a later one."""
    empty = Condition("attribute_not_exists(#count) OR #count = :none", {"none": 0})
    form = {"context": change.context, "at": at, "dropped": True}
    return Plan([update(tools.places.context(change.context), form, when=empty & earlier(at))])


_PLANS: dict[type, Callable[..., Plan]] = {
    Registered: _register,
    VersionDeleted: _delete_version,
    SubjectDeleted: _delete_subject,
    VersionPurged: _purge_version,
    SubjectPurged: _purge_subject,
    ConfigChanged: _change_config,
    ModeChanged: _change_mode,
    ContextDropped: _drop_context,
}
