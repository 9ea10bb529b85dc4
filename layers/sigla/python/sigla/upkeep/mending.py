"""Putting right what a scrub has found and confirmed, kind by kind, through the stores' own conditions."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress

from sigla.contract import HIGHEST
from sigla.errors import BodyLost, Conflict
from sigla.model import Body, BodyKey, Row
from sigla.ports.store import Store
from sigla.registry import tombstones
from sigla.registry.steps.numbering import FURTHEST
from sigla.upkeep import kept_exporters, kept_histories, kept_records
from sigla.upkeep.flaws import Flaw
from sigla.upkeep.scrub import is_sound, readable, row_of


def fix(store: Store, flaw: Flaw) -> bool:
    """Puts a confirmed flaw of a fixable kind right; repeated, it changes nothing.

    Nothing is ever removed but what no request reaches, what stands under a second name and what is left of exporters,
    and from a history what the journal does not tell.
    False where it cannot be put right: nothing that stood there before is kept, or another writer is at work there.
    """
    try:
        return _FIXES[flaw.kind](store, flaw) is not False
    except Conflict:
        return False


def _restore(store: Store, flaw: Flaw) -> bool:
    """Puts back what the store keeps of the body, if it is what its versions say; then it says whether it is gone."""
    told = {(row.guid, row.type) for row in _rows_of(store, flaw.key)}

    def is_meant(body: Body | None) -> bool:
        return body is not None and is_sound(body) and told <= {(body.guid, body.schema.type)}

    standing = readable(store.bodies, flaw.key)
    if is_meant(standing):
        return True
    seen = standing if standing and is_sound(standing) else None
    for body in filter(is_meant, store.inventory.earlier(flaw.key)):
        store.bodies.mend(flaw.key, body, seen)
        _agree(store, flaw)
        return True
    return False


def _rows_of(store: Store, key: BodyKey) -> Iterator[Row]:
    for holder in store.catalog.holders(key):
        row = row_of(store, holder.subject, holder.version)
        if row is not None and row.id == key.id:
            yield row


def _raise_counter(store: Store, flaw: Flaw) -> None:
    """To the last body there is by now; where that stands far off on purpose, past the next one."""
    counter = store.catalog.max_id(flaw.context)
    ids = (flaw.key.id, store.bodies.last(flaw.context))
    near = [id for id in ids if id <= HIGHEST and id - counter <= FURTHEST]
    above = store.bodies.next_above(BodyKey(flaw.context, counter))
    store.catalog.raise_counter(flaw.context, max(near, default=above or counter))


def _agree(store: Store, flaw: Flaw) -> None:
    """The body says what the catalog says. An id that is neither held nor buried is left as it is."""

    def says(ids: frozenset[BodyKey]) -> Mapping[BodyKey, bool]:
        held = {key: False for key in ids if store.catalog.holders(key)}
        buried = store.inventory.buried(tuple(ids - held.keys()))
        return held | dict.fromkeys(buried, True)

    tombstones.settle(store.bodies, [flaw.key], says)


def _point(store: Store, flaw: Flaw) -> None:
    """A body that was damaged meanwhile is left alone: its guid would lead to it for good."""
    body = readable(store.bodies, flaw.key)
    if body is not None and is_sound(body):
        store.inventory.point(flaw.key, body.guid)


def _take_away(store: Store, flaw: Flaw) -> None:
    """The ids keep their meaning: their bodies stay, and say that they are gone where no other version holds them."""
    for key in store.inventory.take_away(flaw.owner, store.clock.now()):
        with suppress(BodyLost):
            store.bodies.bury(key)


def _of_record(mend: Callable[[Store, str], bool | None]) -> Callable[[Store, Flaw], bool | None]:
    return lambda store, flaw: mend(store, flaw.record or "")


_FIXES: Mapping[str, Callable[[Store, Flaw], bool | None]] = {
    "SECOND_NAME": _take_away,
    "META_NO_OBJECT": _restore,
    "UNREADABLE_OBJECT": _restore,
    "HASH_MISMATCH": _restore,
    "COUNTER_BEHIND": _raise_counter,
    "TOMBSTONE_HELD": _agree,
    "TOMBSTONE_MISSING": _agree,
    "POINTER_MISSING": _point,
    "KEK_MISSING": _of_record(kept_records.put_kek_back),
    "KEK_MISCOUNTED": _of_record(kept_records.recount),
    "ASSOCIATION_SCATTERED": _of_record(kept_records.make_whole),
    "CREDENTIALS_LEFT": _of_record(kept_exporters.delete_credentials),
    "PROGRESS_WITHOUT_EXPORTER": _of_record(kept_exporters.drop_progress),
    "HISTORY_GAP": kept_histories.mend,
    "HISTORY_AHEAD": kept_histories.mend,
}
