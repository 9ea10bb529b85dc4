"""Associations in the table: where they stand, and the transaction that changes them with all that goes with them.

Each stands in the partition of its resource, of its subject and of its resource's name, so that each of these questions
is one query; and in one list of all. A resource has a row besides that names what it has: a commit rests on it.
"""

from collections.abc import Callable, Iterator, Sequence
from itertools import chain

from sigla import keys
from sigla.associations.nouns import Association, Associations, in_order
from sigla.changes import AssociationsChanged, Head, Registered, SubjectPurged
from sigla.errors import SchemaTooLarge
from sigla.journal import Effects
from sigla.model import BodyKey, Subject
from sigla.ports.glances import AssociationPlace
from sigla.stores.dynamodb import items
from sigla.stores.dynamodb.actions import (
    Action,
    Condition,
    condition_check,
    delete,
    equals,
    merged,
    put,
    update,
)
from sigla.stores.dynamodb.ids import held_once_more
from sigla.stores.dynamodb.plans import CommitPlan, Tools, unmoved
from sigla.stores.dynamodb.table import MOST_ACTIONS
from sigla.stores.dynamodb.versions import bring, check_room, count, rests_on_counts, standing

_BEGINS = Condition("begins_with(#sk, :sk)", {"sk": keys.ASSOCIATION})
_OWN = 24
"""Actions of a commit beside those of its registrations, with what tells of it."""


# --- reading ---------------------------------------------------------------------------------------------------------


def of_resource(tools: Tools, id: str) -> Associations:
    return _associations_in(tools, keys.resource_pk(tools.places.registry, id))


def of_subject(tools: Tools, subject: Subject) -> Associations:
    return _associations_in(tools, keys.subject_pk(tools.places.registry, subject))


def of_name(tools: Tools, name: str | None, namespace: str | None) -> Iterator[Association]:
    found = _associations_in(tools, keys.associations_pk(tools.places.registry, name))
    yield from (one for one in found if namespace is None or one.resource.namespace == namespace)


def after(tools: Tools, place: AssociationPlace | None, glance: int) -> Iterator[Association]:
    """In the order of digests: what all of them stand under."""
    behind = _BEGINS
    if place is not None:
        last = keys.ASSOCIATION + "~"  # beyond every digest
        behind = Condition("#sk BETWEEN :low AND :high", {"low": keys.association_sk(*place[2:]), "high": last})
    pk = keys.associations_pk(tools.places.registry)
    for item in tools.table.query(pk, behind, page=glance, consistent=False):
        found = items.association(item)
        if AssociationPlace.of(found) != place:
            yield found


def _associations_in(tools: Tools, pk: str) -> Associations:
    return in_order([items.association(item) for item in tools.table.query(pk, _BEGINS)])


# --- changing --------------------------------------------------------------------------------------------------------

Purge = Callable[[Tools, SubjectPurged, int], CommitPlan]


def change(tools: Tools, change: AssociationsChanged, at: int, purge: Purge) -> CommitPlan:
    """Raises Conflict, InvalidSubject, TooManyPurged, SchemaTooLarge."""
    for head in change.heads:
        keys.check_length(head.subject)
    registered = _registered(tools, change.registered, at)
    purged = [purge(tools, each, at) for each in change.purged]
    # The heads come first: they tell a lost race.
    heads = [_moved(tools, change, head, at) for head in change.heads]
    others = chain(registered.actions, *(each.actions for each in purged), _rows(tools, change))
    actions, claims = merged([*heads, *others]), registered.claims
    room = MOST_ACTIONS - 1 - len(heads)  # its journal row, and a history for each subject
    if len(actions) + len(claims) <= room:
        actions, claims = actions + claims, []
    if len(actions) > room:
        raise SchemaTooLarge
    return CommitPlan(
        actions,
        Effects(parts=(*registered.effects.parts, *(each.effects for each in purged))),
        registered.buried,
        claims,
        swept=tuple(each.scope for each in change.purged),
        garbage=registered.garbage,
    )


def _registered(tools: Tools, changes: Sequence[Registered], at: int) -> CommitPlan:
    """What several registrations write together. effects: with those of each."""
    for each in changes:
        check_room(each, (MOST_ACTIONS - _OWN) // len(changes))
    brought = [bring(tools, each, at) for each in changes]
    counted: list[Action] = []
    garbage: list[Action] = []
    buried: list[BodyKey] = []
    for context in dict.fromkeys(each.scope.context for each in changes):
        within = [each for each in changes if each.scope.context == context]
        if not any(map(rests_on_counts, within)):
            held = (held_once_more(tools.places, BodyKey(context, each.row.id), each.row.guid) for each in within)
            counted += chain.from_iterable(held)
            continue
        ledger = tools.ledger(context, (at, within[0].nonce))
        gone = [standing(tools, each) if rests_on_counts(each) else [] for each in within]
        ledger.read([*(each.row for each in within), *(stored.row for some in gone for stored in some)])
        for each, removed in zip(within, gone, strict=True):
            removals, left = count(tools.places, ledger, each, removed)
            counted += removals
            garbage += left
        buried += ledger.settle()
        counted += ledger.actions()
    first = {each.scope.context: each for each in reversed(changes)}
    parts = tuple(
        Effects(listed=what.listed and first[each.scope.context] is each)
        for each, what in zip(changes, brought, strict=True)
    )
    return CommitPlan(
        [*counted, *chain.from_iterable(what.actions for what in brought)],
        Effects(parts=parts),
        tuple(buried),
        list(chain.from_iterable(what.claims for what in brought)),
        garbage=garbage,
    )


def _moved(tools: Tools, change: AssociationsChanged, head: Head, at: int) -> Action:
    """A head after the commit, with how its subject is associated then."""
    count, strong = change.associations_of(head)
    sets = items.named_item(head.subject) | {
        "revision": head.revision + 1,
        "nonce": change.nonce,
        "at": at,
        "associations": count or None,
        "strong": strong or None,
    }
    when = unmoved(head, at, referred=change.rests_on_referrers(head.subject))
    return update(tools.places.head(head.subject), sets, add={"referred": 0}, when=when)


def _rows(tools: Tools, change: AssociationsChanged) -> Iterator[Action]:
    """The associations everywhere, and the row that says which ones the resource has."""
    key, after = tools.places.resource(change.resource), _guids(change.after)
    seen = equals(guids=_guids(change.seen) or None)
    if not change.written and not change.removed:
        yield condition_check(key, seen)
    elif after:
        yield put(key, {"resource": change.resource, "guids": after}, seen)
    else:
        yield delete(key, seen)
    for one in change.removed:
        yield from (delete(place) for place in tools.places.association(one))
    for one in change.written:
        yield from (put(place, items.association_item(one)) for place in tools.places.association(one))


def _guids(associations: Associations) -> list[str]:
    return sorted(one.guid for one in associations)
