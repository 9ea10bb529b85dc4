"""What each change writes: the actions of one transaction, every one with the condition that it rests on.

DynamoDB writes up to 100 rows in one transaction, or none of them. It does not read in it, so whatever a plan has read
and relies on stands in the transaction again, as the condition of an action or as a check.

    races     A commit raises the revision of its subject's head, if that is still the one that was seen. So of two
              writers of a subject the second fails; `Commits` makes a Conflict of it.
    order     Each commit has a time, later than that of every head and every entry of settings that it writes: by it
              the journal is put in order. A time that turns out too early is made later, and the change planned anew.
    ids       Holders of an id are counted in one row (`ids.Ledger`); the transaction that takes the last one buries it.
    size      What concerns thousands of rows is one mark: a soft delete of a subject hides all rows older than itself,
              a permanent one begins a new generation. The rows left behind mean nothing and are swept afterwards.
    journal   Its row is in the same transaction (`commits`), so whatever happened is told, once.
"""

from dataclasses import replace
from typing import Any, assert_never

from sigla import keys
from sigla.changes import (
    AssociationsChanged,
    ConfigChanged,
    ContextDropped,
    ContextListed,
    DeksChanged,
    Displaced,
    ExporterChanged,
    Head,
    IdBuried,
    Imported,
    KekChanged,
    ModeChanged,
    NumberingSet,
    Registered,
    SubjectDeleted,
    SubjectPurged,
    VersionDeleted,
    VersionPurged,
)
from sigla.journal import NO_EFFECTS, Effects
from sigla.model import DEFAULT_CONTEXT, BodyKey, Row, Settings, Subject
from sigla.stores.dynamodb import associations, exporters, items, keks, versions
from sigla.stores.dynamodb.actions import PRESENT, Action, Condition, delete, earlier, equals, put, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, Tools, moved
from sigla.stores.dynamodb.reading import newest
from sigla.stores.dynamodb.values import Item
from sigla.stores.dynamodb.versions import referrals, removal

_CLEARING = "~"
"""In a revision: no other has it."""


InOneTransaction = (
    Registered
    | Imported
    | Displaced
    | VersionDeleted
    | SubjectDeleted
    | VersionPurged
    | SubjectPurged
    | ConfigChanged
    | ModeChanged
    | ContextListed
    | ContextDropped
    | NumberingSet
    | IdBuried
    | KekChanged
    | DeksChanged
    | AssociationsChanged
    | ExporterChanged
)
"""Every change but `ImportBegun`, which may need several: `imports`."""


def plan(tools: Tools, change: InOneTransaction, at: int) -> CommitPlan:
    """Raises Conflict, InvalidSubject, TooEarly, TooManyPurged."""
    match change:
        case Registered():
            return versions.register(tools, change, at)
        case Imported():
            return versions.import_(tools, change, at)
        case Displaced():
            return versions.displace(tools, change, at)
        case VersionDeleted():
            return _delete_version(tools, change, at)
        case SubjectDeleted():
            return _delete_subject(tools, change, at)
        case VersionPurged():
            return _purge_version(tools, change, at)
        case SubjectPurged():
            return _purge_subject(tools, change, at)
        case ConfigChanged():
            return _change_config(tools, change, at)
        case ModeChanged():
            return _change_mode(tools, change, at)
        case ContextListed():
            return _list_context(tools, change, at)
        case ContextDropped():
            return _drop_context(tools, change, at)
        case NumberingSet():
            return _set_numbering(tools, change)
        case IdBuried():
            return CommitPlan([])
        case KekChanged():
            return keks.change_kek(tools, change, at)
        case DeksChanged():
            return keks.change_deks(tools, change, at)
        case AssociationsChanged():
            return associations.change(tools, change, at, _purge_subject)
        case ExporterChanged():
            return exporters.change_exporter(tools, change, at)
        case _:
            assert_never(change)


# --- deleting --------------------------------------------------------------------------------------------------------


def _delete_version(tools: Tools, change: VersionDeleted, at: int) -> CommitPlan:
    head, subject, places = change.head, change.head.subject, tools.places
    row = replace(change.row, deleted=True, ts=change.ts, revision=head.revision + 1)
    sets: dict[str, Any] = {}
    others: list[Action] = []
    if head.newest and head.newest.version == row.version:
        left = newest(each for each in tools.life(head).rows if each.version != row.version)
        sets["newest"] = items.row_value(left)
        others = [] if left else [_unlisted(places, subject)]
    return CommitPlan([moved(tools, change, at, sets), *_marked(places, head, row), *others])


def _delete_subject(tools: Tools, change: SubjectDeleted, at: int) -> CommitPlan:
    """One mark, whatever the size: all rows that are older than it are deleted.

    Only where something active is above `through`, which no verb asks for, each row is marked by itself.
    """
    head, subject = change.head, change.head.subject
    if head.newest is None or head.newest.version <= change.through:
        sets = {"hidden": head.revision + 1, "newest": None}
        return CommitPlan([moved(tools, change, at, sets), _unlisted(tools.places, subject)])
    actions = [moved(tools, change, at, {})]
    for row in tools.life(head).rows:
        if row.version <= change.through and not row.deleted:
            actions += _marked(tools.places, head, replace(row, deleted=True))
    return CommitPlan(actions)


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


def _purge_version(tools: Tools, change: VersionPurged, at: int) -> CommitPlan:
    head, subject, places = change.head, change.head.subject, tools.places
    found = tools.life(head)
    gone = [stored for stored in found.stored if stored.row.version == change.row.version]
    left = [row for row in found.rows if row.version != change.row.version]
    ledger = tools.ledger(subject.context)
    ledger.read([stored.row for stored in gone])
    removed, garbage = [], []
    for stored in gone:
        ledger.remove(stored.row)
        removed += removal(places, head, stored)
        garbage += referrals(places, subject, stored)
    buried = ledger.settle()
    sets = {"highest": max((row.version for row in left), default=0), "newest": items.row_value(newest(left))}
    actions = [moved(tools, change, at, sets), *removed, *ledger.actions()]
    if left:
        return CommitPlan(actions, NO_EFFECTS, buried, garbage=garbage)
    rest, effects = _nothing_left(places, change, found.settings, at)
    return CommitPlan(actions + rest, effects, buried, garbage=garbage)


def _purge_subject(tools: Tools, change: SubjectPurged, at: int) -> CommitPlan:
    """A new generation: one write, whatever the size. What it leaves behind is swept."""
    found = tools.life(change.head)
    rest, effects = _nothing_left(tools.places, change, found.settings, at)
    return CommitPlan([moved(tools, change, at, anew(change.head)), *rest], effects, swept=(change.scope,))


def anew(head: Head) -> dict[str, Any]:
    """A head as it begins a generation."""
    return {"generation": head.generation + 1, "highest": 0, "newest": None, "hidden": None}


def _nothing_left(
    places: Places, change: VersionPurged | SubjectPurged, settings: Settings, at: int
) -> tuple[list[Action], Effects]:
    """With the last version go the settings; the revision that stays lets no writer pass over a purge unseen."""
    subject = change.scope
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


def _change_config(tools: Tools, change: ConfigChanged, at: int) -> CommitPlan:
    keys.check_length(change.scope)
    form = items.settings_item(Settings(config=change.config, revision=change.nonce))
    del form["mode"]
    return CommitPlan(settled(tools.places, change.scope, form | {"at": at}, seen=change.seen.revision))


def _change_mode(tools: Tools, change: ModeChanged, at: int) -> CommitPlan:
    keys.check_length(change.scope)
    form = {"mode": change.mode, "revision": change.nonce, "at": at}
    return CommitPlan(settled(tools.places, change.scope, form, seen=change.seen.revision))


def marked(nonce: str, *, before: str | None) -> str:
    """The revision of settings while their scope is being cleared for an import. before: the mode that it had."""
    return f"{nonce}{_CLEARING}{before or ''}"


def is_marked(revision: str) -> bool:
    return _CLEARING in revision


def mode_before(revision: str) -> str | None:
    """The mode before, from a marked revision."""
    return revision.partition(_CLEARING)[2] or None


def settled(places: Places, scope: Subject, form: Item, *, seen: str) -> list[Action]:
    """The settings of a scope and their copy in the list. What the form does not name stays; what it says None goes.

    seen: the revision that it rests on; of one that was marked the mode before comes back.
    """
    if is_marked(seen):
        form = {"mode": mode_before(seen), "asker": None} | form
    when = equals(revision=seen or None)
    if "at" in form:
        when &= earlier(form["at"])
    return [
        update(places.settings(scope), form, when=when),
        update(places.listed_settings(scope), items.named_item(scope) | form),
    ]


def _drop_context(tools: Tools, change: ContextDropped, at: int) -> CommitPlan:
    """The row stays, with its time: a registration that lists the context again has to be of a later one."""
    empty = Condition("attribute_not_exists(#count) OR #count = :none", {"none": 0})
    form = {"context": change.context, "at": at, "dropped": True}
    return CommitPlan([update(tools.places.context(change.context), form, when=empty & earlier(at))])


def _list_context(tools: Tools, change: ContextListed, at: int) -> CommitPlan:
    keys.check_length(Subject(change.context, ""))
    if change.context == DEFAULT_CONTEXT:
        return CommitPlan([])
    form = {"context": change.context, "at": at, "dropped": None}
    return CommitPlan([update(tools.places.context(change.context), form, when=earlier(at))])


def _set_numbering(tools: Tools, change: NumberingSet) -> CommitPlan:
    """Whoever draws a number meanwhile moves the counter, and the condition fails."""
    keys.check_length(Subject(change.context, ""))
    when = (
        equals(next=change.seen)
        if change.seen
        else Condition("attribute_not_exists(#next) OR #next = :none", {"none": 0})
    )
    return CommitPlan([update(tools.places.counter(change.context), {"next": change.after}, when=when)])
