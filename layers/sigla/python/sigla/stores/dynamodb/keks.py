"""Keys in the table: the questions, and what each change writes.

A KEK's row counts the DEKs that stand under it, and each commit of DEKs moves it: so a KEK that goes, goes where none
stands, and no DEK comes under a KEK that has gone. Commits of DEKs do not change its revision, so that they are in each
other's way for a moment only. Its time is that of the last commit of it or of its DEKs, and it stays when the KEK goes:
by it the journal is put in order.
"""

from collections.abc import Iterator

from sigla import keys
from sigla.changes import DeksChanged, DekWrite, KekChanged
from sigla.keks import records
from sigla.keks.nouns import CountedDeks, Dek, DekName, Kek, KeysSeen, ListedDek
from sigla.ports.inventory import MISPLACED
from sigla.stores.dynamodb.actions import Action, Condition, delete, earlier, equals, put, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, Tools
from sigla.stores.dynamodb.values import Item, packed, unpacked

_NO_ACTIVE = Condition("#active = :none", {"none": 0})
_NONE_STORED = Condition("#stored = :none", {"none": 0})


# --- questions -------------------------------------------------------------------------------------------------------


def kek(tools: Tools, name: str) -> Kek | None:
    return kek_in(tools.places, tools.table.get(tools.places.kek(name)))


def deks_of(tools: Tools, name: DekName, version: int | None) -> KeysSeen:
    """One BatchGet for one version; for all of them the KEK, and a query."""
    if version is None:
        where = Condition("begins_with(#sk, :sk)", {"sk": keys.dek_prefix(name.subject, name.algorithm.value)})
        found_deks = tools.table.query(keys.deks_pk(tools.places.registry, name.kek), where)
        return KeysSeen(kek(tools, name.kek), tuple(dek_in(tools.places, item) for item in found_deks))
    places = tools.places.kek(name.kek), tools.places.dek(name, version)
    found = tools.table.get_many(places)
    dek = found.get(places[1])
    return KeysSeen(kek_in(tools.places, found.get(places[0])), (dek_in(tools.places, dek),) if dek else ())


def deks_counted(tools: Tools, kek: str) -> CountedDeks:
    item = tools.table.get(tools.places.kek(kek)) or {}
    return CountedDeks(item.get("stored", 0), item.get("active", 0))


def keks(tools: Tools) -> Iterator[Kek]:
    for item in tools.table.query(keys.keks_pk(tools.places.registry)):
        if found := kek_in(tools.places, item):
            yield found


def keks_after(tools: Tools, name: str, glance: int) -> Iterator[Kek]:
    behind = Condition("#sk > :sk", {"sk": keys.kek_sk(name)}) if name else None
    items = tools.table.query(keys.keks_pk(tools.places.registry), behind, page=glance, consistent=False)
    return (found for item in items if (found := kek_in(tools.places, item)))


def deks(tools: Tools, kek: str) -> Iterator[Dek]:
    return (dek_in(tools.places, item) for item in tools.table.query(keys.deks_pk(tools.places.registry, kek)))


def deks_listed(tools: Tools, prefix: str) -> Iterator[ListedDek]:
    where = Condition("begins_with(#sk, :sk)", {"sk": keys.sortable(prefix)}) if prefix else None
    for item in tools.table.query(keys.listed_deks_pk(tools.places.registry), where):
        yield ListedDek(item["kek"], item["subject"], item["deleted"])


def kek_in(places: Places, item: Item | None) -> Kek | None:
    """The KEK of a row; None where it was removed for good.

    Raises one of `inventory.UNFIT` where it cannot be read, or belongs to another place.
    """
    if item is None or "kek" not in item:
        return None
    found = records.kek(unpacked(item["kek"]))
    if places.kek(found.name) != (item["pk"], item["sk"]):
        raise ValueError(MISPLACED)
    return found


def dek_in(places: Places, item: Item) -> Dek:
    """The DEK of a row; raises as `kek_in` does."""
    found = records.dek(unpacked(item["dek"]))
    if places.dek(found.name, found.version) != (item["pk"], item["sk"]):
        raise ValueError(MISPLACED)
    return found


# --- changes ---------------------------------------------------------------------------------------------------------


def change_kek(tools: Tools, change: KekChanged, at: int) -> CommitPlan:
    seen = equals(kek=None) if change.seen is None else equals(revision=change.seen.revision)
    when = seen & earlier(at)
    form: Item = {"revision": change.nonce, "at": at}
    if change.kek is None:
        form["kek"] = None
        when &= _NONE_STORED
    else:
        form["kek"] = packed(records.kek_json(change.kek))
    if change.unused:
        when &= _NO_ACTIVE
    if change.seen is None:
        form |= {"stored": 0, "active": 0}
    return CommitPlan([update(tools.places.kek(change.name), form, when=when)])


def change_deks(tools: Tools, change: DeksChanged, at: int) -> CommitPlan:
    counts = {"stored": sum(each.stored for each in change.deks), "active": sum(each.active for each in change.deks)}
    when = equals(revision=change.kek.revision) & earlier(at)
    actions = [update(tools.places.kek(change.kek.name), {"at": at}, add=counts, when=when)]
    for each in change.deks:
        actions += _write_actions(tools.places, each)
    return CommitPlan(actions)


def _write_actions(places: Places, write: DekWrite) -> list[Action]:
    """A DEK and its copy in the list; a spelling stays as long as the DEK does."""
    place, listed = places.dek(write.name, write.about.version), places.listed_dek(write.about)
    when = equals(revision=write.seen.revision if write.seen else None)
    if write.dek is None:
        return [delete(place, when), delete(listed)]
    dek = write.dek
    form: Item = {"dek": packed(records.dek_json(dek)), "revision": dek.revision}
    return [
        put(place, form, when),
        put(listed, listed_item(dek)),
    ]


def listed_item(dek: Dek) -> Item:
    """The copy of a DEK in the list of all."""
    return {"kek": dek.kek, "subject": dek.subject, "deleted": dek.deleted}
