"""Exporters in the table: the questions, and what each change writes.

An exporter and its progress are one row. A change rests on the revision that was seen and gives the row a new one;
whoever follows the journal writes the progress alone, as long as the revision is the one that it has seen. The row
keeps its time when the exporter goes: by it the journal is put in order.
"""

from collections.abc import Iterator
from contextlib import suppress
from typing import Final

from sigla import keys
from sigla.changes import ExporterChanged
from sigla.errors import Conflict
from sigla.exporters import records
from sigla.exporters.nouns import START, Exporter, ExporterProgress, ExporterState, Position
from sigla.ports.inventory import MISPLACED, UNFIT, ProgressAlone, UnreadableRow
from sigla.stores.dynamodb.actions import earlier, equals, update
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.plans import CommitPlan, Tools
from sigla.stores.dynamodb.table import Cancelled
from sigla.stores.dynamodb.values import Item, packed, unpacked

PROGRESS: Final = ("state", "position", "ts", "trace")
"""Attributes of the row that are not the exporter's own."""

# --- questions -------------------------------------------------------------------------------------------------------


def exporter(tools: Tools, name: str) -> Exporter | None:
    return _exporter(tools.table.get(tools.places.exporter(name)))


def exporters(tools: Tools) -> Iterator[Exporter]:
    for item in tools.table.query(keys.exporters_pk(tools.places.registry)):
        if found := _exporter(item):
            yield found


def progress(tools: Tools, name: str) -> ExporterProgress | None:
    item = tools.table.get(tools.places.exporter(name))
    if item is None or "exporter" not in item:
        return None
    return _progress(item)


def all_rows(tools: Tools) -> Iterator[Exporter | ProgressAlone | UnreadableRow]:
    for item in tools.table.query(keys.exporters_pk(tools.places.registry)):
        if "exporter" not in item:
            if item.keys() & PROGRESS:
                yield ProgressAlone(item["sk"])
            continue
        try:
            yield _exporter_in(tools.places, item)
        except UNFIT:
            yield UnreadableRow(f"{item['sk']} of {item['pk']}")


def _exporter_in(places: Places, item: Item) -> Exporter:
    """Raises one of UNFIT where the row cannot be read, or belongs to another place."""
    found = records.exporter(unpacked(item["exporter"]))
    _progress(item)
    if (*places.exporter(found.name), found.revision) != (item["pk"], item["sk"], item["revision"]):
        raise ValueError(MISPLACED)
    return found


def _progress(item: Item) -> ExporterProgress:
    return records.progress([item["state"], *unpacked(item["position"]), item["ts"], item.get("trace", "")])


def _exporter(item: Item | None) -> Exporter | None:
    if item is None or "exporter" not in item:
        return None
    return records.exporter(unpacked(item["exporter"]))


# --- changes ---------------------------------------------------------------------------------------------------------


def change_exporter(tools: Tools, change: ExporterChanged, at: int) -> CommitPlan:
    seen = equals(exporter=None) if change.seen is None else equals(revision=change.seen.revision)
    form: Item = {"revision": change.nonce, "at": at}
    if change.exporter is None:
        form |= dict.fromkeys(("exporter", *PROGRESS))
    else:
        form |= {"exporter": packed(records.exporter_json(change.exporter)), "state": change.state.value}
        form["ts"] = change.ts
        if change.position is not None or change.seen is None:
            form["position"] = _packed(change.position or START)
        if change.state is not ExporterState.PAUSED:
            form["trace"] = None
    return CommitPlan([update(tools.places.exporter(change.name), form, when=seen & earlier(at))])


def advance(tools: Tools, exporter: Exporter, progress: ExporterProgress) -> None:
    """Raises Conflict, also where this region is one of two, and takes no writes any more: the other one exports."""
    if tools.fence.known is not None and (role := tools.fence.read()) is not None and not role.writes:
        raise Conflict
    form: Item = {
        "state": progress.state.value,
        "position": _packed(progress.position),
        "ts": progress.ts,
        "trace": progress.trace or None,
    }
    when = equals(revision=exporter.revision)
    try:
        tools.table.update(update(tools.places.exporter(exporter.name), form, when=when))
    except Cancelled as cancelled:
        raise Conflict from cancelled


def drop_progress(tools: Tools, name: str) -> None:
    """Where it is of no exporter."""
    with suppress(Cancelled):
        tools.table.update(update(tools.places.exporter(name), dict.fromkeys(PROGRESS), when=equals(exporter=None)))


def _packed(position: Position) -> str | bytes:
    return packed([*position])
