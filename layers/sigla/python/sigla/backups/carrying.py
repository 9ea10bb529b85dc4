"""A registry carried from one kind of store to another, or from an earlier moment: its topic, imported.

Ids, versions, times, deletes, settings, contexts and keys of field encryption are as they were, and so is how far ids
are given out; exporters are paused, and have no credentials. The journal begins anew, with what was imported; histories
of subjects go on.
"""

from collections.abc import Callable, Collection, Iterable
from contextlib import suppress
from dataclasses import replace
from typing import NamedTuple

from sigla import journal
from sigla.auth.api_keys import NAME, KeyTaken, is_revoked
from sigla.backups.contents import NotABackup
from sigla.backups.lost import SourceBodies, TargetBodies, with_guids
from sigla.exporters.nouns import Exporter
from sigla.journal.replay import State, replayed
from sigla.model import DEFAULT_CONTEXT, BodyKey, SchemaId
from sigla.opening import Writing, is_shared
from sigla.ports.progress import Progress
from sigla.ports.store import Store
from sigla.regions import rules
from sigla.registry.steps import numbering
from sigla.rules import names
from sigla.settings import Address
from sigla.stores.kinds import bodies_kind
from sigla.upkeep.exporters import bring_exporters
from sigla.upkeep.exporting import JournalRow, every_row, key_topic, topic, unspeakable
from sigla.upkeep.importing import SIDE_BY_SIDE, import_state

Records = list[tuple[str, bytes]]


class Until(NamedTuple):
    """The last row of a journal that is meant: by its position, or by the time of a change in milliseconds."""

    position: int = 0
    at: int = 0

    def includes(self, position: int, row: JournalRow) -> bool:
        return position <= self.position if self.position else row["ts"] <= self.at


class Moment(NamedTuple):
    """When a registry was as a backup has it, and where its journal was; position: 0 where the backup has its own."""

    at: int
    position: int


def moment(store: Store, until: Until) -> Moment:
    """The last change that is meant. Raises NotABackup where the journal does not tell of that moment."""
    if store.inventory.journal_kept_since():
        raise NotABackup(
            "A backup of a table is made of what stands in it: have DynamoDB restore the table to that moment, and "
            "name the restored one (docs/operations.md#backup-in-aws)."
        )
    last = 0
    found: Moment | None = None
    for position, row in store.journal.read():
        last = position
        if until.includes(position, row):
            found = Moment(row["ts"], position)  # type: ignore[arg-type]  # a row tells its time as a number
    if found is None or until.position > last:
        raise NotABackup(f"The journal does not reach there: it has the positions 1 to {last}.")
    return found


def carry(
    source: Store, target: Writing, where: Address, progress: Progress, *, until: Until | None = None
) -> list[BodyKey]:
    """where: of the target. until: as much of the source's journal as is meant; None for what stands now.

    Returns the ids whose body is lost: their versions are there, without it. Raises NotABackup where anything else is
    not there afterwards, StoreError.
    """
    if why := unspeakable(source):
        raise NotABackup(why)
    bodies = SourceBodies(source.bodies, source.catalog)
    included = until.includes if until else every_row
    records = topic(source, progress, until=included, compacted=until is None, bodies=bodies)
    _bring(with_guids(replayed(records), bodies.guids), bodies.guids, target, where, progress)
    keys = key_topic(source, progress, until=included, compacted=until is None)
    _bring(replayed(keys), (), target, where, progress)
    bring_exporters(target.registry, _exporters(source, until))
    _carry_histories(source, target.store, included)
    _count(source, target)
    return sorted(bodies.guids)


def _carry_histories(source: Store, target: Store, included: Callable[[int, JournalRow], bool]) -> None:
    """What became of each subject; of what the journal told later than is meant, nothing."""
    later = {row["nonce"] for position, row in source.journal.read() if not included(position, row)}
    named = {matter.subject for entry in source.log.entries() for matter in entry.matters if matter.subject}
    for subject in source.inventory.with_history(map(names.subject, sorted(named))):
        entries = [entry for entry in source.catalog.commits_about(subject) if entry.nonce not in later]
        if entries:
            target.inventory.bring_history(subject, entries)


def _exporters(source: Store, until: Until | None) -> Iterable[Exporter]:
    if until is None:
        return source.catalog.exporters()
    return journal.exporters_told(row for position, row in source.journal.read() if until.includes(position, row))


def _bring(state: State, lost: Collection[BodyKey], target: Writing, where: Address, progress: Progress) -> None:
    """Raises NotABackup where something of the state is not there afterwards, StoreError."""
    registry = replace(target.registry, bodies=TargetBodies(target.registry.bodies, lost)) if lost else target.registry
    threads = SIDE_BY_SIDE if is_shared(where) else 1
    report = import_state(registry, state, group=target.store.group, threads=threads, progress=progress)
    for (_, why), cases in report.reasons.items():
        raise NotABackup(f"It could not be carried over whole: {cases.examples[0]}: {why}. Call `sigla scrub` first.")


def api_keys(address: Address) -> Records:
    """All of a registry, but those that were revoked. Whatever else lies beside them is passed by."""
    with bodies_kind(address).keys(address) as kept:
        return [(name, record) for name, record in kept.list() if NAME.fullmatch(name) and not is_revoked(name, record)]


def put_api_keys(address: Address, records: Records) -> None:
    """What is there already stays."""
    with bodies_kind(address).keys(address) as kept:
        for name, record in records:
            with suppress(KeyTaken):
                kept.put(name, record)


def contexts_of(store: Store) -> list[str]:
    """Every context that is listed, has given out an id that was used, or had its numbering set.

    A backup of an earlier moment has only the numbering of contexts that were made since.
    """
    used = (body.context for body in store.inventory.bodies())
    numbered = journal.numbered_contexts(row for _, row in store.journal.read())
    return sorted({DEFAULT_CONTEXT, *store.catalog.contexts(), *used, *numbered})


def last_given(store: Store, context: str) -> SchemaId:
    """No id above it was given out as far as the store knows.

    Where it is one of two regions, that is as far as either may give ids, and the other one also in the next epoch. A
    body that stands far off was imported, and numbering was set back since: it is passed over when it is met.
    """
    last, body = store.catalog.max_id(context), store.bodies.last(context)
    seen = store.region.look(context)
    if seen.role is not None and any(seen.role.known):
        last = max(last, rules.begun(seen.counter, seen.role.epoch + 2).next)
    return max(last, body) if body - last <= numbering.FURTHEST else last


def _count(source: Store, target: Writing) -> None:
    """No id is given out again that the source gave out, also after the moment that is carried."""
    for context in contexts_of(source):
        highest = last_given(source, context)
        if highest > target.store.catalog.max_id(context):
            numbering.continue_after(target.registry, context, highest)
