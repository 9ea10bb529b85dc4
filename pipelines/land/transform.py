"""Raw records in, files of typed rows and of quarantined records out: what a task does with its share of a batch.

Every record becomes one row: of one typed table, or of the quarantine, whole and with what was wrong with each part.
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Self

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from pipelines.land import parts, quarantine, targets
from pipelines.land.decoders.decoder import TooMuch
from pipelines.land.framing import NONE, TOMBSTONE, Ids
from pipelines.land.landed import KEY, QUARANTINE, Landed, Met
from pipelines.land.outputs import Outputs
from pipelines.land.parts import Group, Part, Rows
from pipelines.land.plan import Binding, Plan
from pipelines.land.raw import RAW
from pipelines.land.readers import Readers
from pipelines.land.sinks.sink import schema
from pipelines.land.tally import Tally
from pipelines.land.targets import SYSTEM
from sigla.decoding.reasons import FINE, REASONS

Figures = npt.NDArray[np.int64]

SLICE_BYTES = 32 * 2**20
"""Of keys and values that are decoded at once. Defaults and enums make a record longer than its bytes."""
SLICE_CELLS = 2**21
"""Of rows times columns, so many at once: a field that was not written takes no byte, and some twenty as a column's."""


def beside_key(kind: pa.StructType) -> pa.StructType:
    """A value's type in a table that has its keys, too: a member of its own called `_key` is `_key__value` there."""
    return pa.struct([each.with_name(_beside_key(each.name)) for each in kind])


def _beside_key(path: str) -> str:
    name, dot, within = path.partition(".")
    return f"{name}__value{dot}{within}" if name.casefold() == KEY else path


class Unbound(Exception):
    """Records of a topic that no binding speaks of; the sentence says what to do."""


def land(batches: Iterable[pa.RecordBatch], plan: Plan, readers: Readers, outputs: Outputs, now: datetime) -> Landed:
    """batches: of RAW, in the order of their offsets. now: when this batch was begun, for the quarantine.

    Raises Unbound, NoHead, and what stores raise; then nothing has happened, whatever files there are.
    """
    tally = Tally()
    task = _Task(plan, readers, outputs, tally, now)
    widest = max((sum(map(_width, target.schema.types)) for target in plan.targets.values()), default=0)
    rows = SLICE_CELLS // (widest + 1) + 1
    with outputs:
        for batch in batches:
            tally.read(batch)
            for slice in _bounded(batch.select(RAW.names), rows):
                for topic, records in _topics(slice):
                    task.take(topic, records)
        return Landed(outputs.close(), tally.spans, tally.metrics, tally.met)


def _bounded(batch: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
    """Of so many rows at most. Spark cuts batches by rows alone, and a column of texts ends at 2 GiB."""
    sizes = sum(
        pc.binary_length(batch.column(name)).fill_null(0).to_numpy().astype(np.int64) for name in ("key", "value")
    )
    by_bytes, by_rows = np.cumsum(sizes) // SLICE_BYTES, np.arange(len(batch)) // rows
    edges = np.flatnonzero(np.diff(by_bytes) + np.diff(by_rows)) + 1
    for start, end in pairwise([0, *edges.tolist(), len(batch)]):
        yield batch.slice(start, end - start)


def _width(type: pa.DataType) -> int:
    """How many columns it is, those within it among them."""
    return 1 + sum(_width(type.field(at).type) for at in range(type.num_fields))


def _topics(batch: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    topics = pc.unique(batch.column("topic"))
    for topic in topics:
        rows = batch if len(topics) == 1 else batch.filter(pc.equal(batch.column("topic"), topic))
        yield topic.as_py(), rows


@dataclass(frozen=True, slots=True)
class _Task:
    plan: Plan
    readers: Readers
    outputs: Outputs
    tally: Tally
    now: datetime

    def take(self, topic: str, records: pa.RecordBatch) -> None:
        """records: of one topic. Those that say too much to be read at once are taken by halves."""
        todo = [records]
        while todo:
            some = todo.pop()
            try:
                self._take(topic, some)
            except TooMuch:  # before anything of them was written
                half = len(some) // 2
                todo += [some.slice(half), some.slice(0, half)]

    def _take(self, topic: str, records: pa.RecordBatch) -> None:
        """Raises TooMuch, and has done nothing then."""
        value_binding, key_binding = (self.plan.binding(topic, part) for part in ("value", "key"))
        if value_binding is None:
            raise Unbound(f"There are records of the topic {topic}, and no binding for its values: add one to `bind`.")
        value = parts.read(records, value_binding, self.plan, self.readers)
        key = parts.read(records, key_binding, self.plan, self.readers) if key_binding else None
        good = value.status <= FINE
        if key:
            good &= key.status <= FINE
        batch = _Batch(topic, records, value, key, good)
        self._meet(batch, value, value_binding)
        if key and key_binding:
            self._meet(batch, key, key_binding)
        for group in value.groups:
            table = self.plan.table(value_binding, group.record)
            if table is not None:
                self._land_group(batch, table, group)
        self._land_tombstones(batch, self.plan.deletes(value_binding))
        self._set_aside(batch)

    def _meet(self, batch: "_Batch", part: Part, binding: Binding) -> None:
        """Tells which Protobuf messages there are: a plan that does not know one is made anew, with a table for it."""
        if binding not in self.plan.messages:
            return
        for group in part.groups:
            if batch.good[group.rows].any():
                path = self.readers.path(group.head, group.record)
                self.tally.meets(Met(batch.topic, part.name, path, group.record))

    def _land_group(self, batch: "_Batch", table: str, group: Group) -> None:
        fine = (batch.good & (batch.value.status == FINE))[group.rows]
        rows, columns = group.rows, self._columns(table, group)
        if not fine.all():
            rows, columns = rows[fine], columns.filter(pa.array(fine))
        ids = batch.value.ids[rows]
        for at, keyed in _with_keys(rows, columns, self._key(batch, table)):
            self._write(batch, table, at, keyed, ids=batch.value.ids[at], version=group.head.version, op="U")
        versions = [group.head.ids.get(id, 0) for id in ids.tolist()]
        subjects = [group.head.subject] * len(rows)
        unnamed = self._unnamed(batch, table, rows, group)
        self._count(batch, table, rows, _Counted(ids, subjects, versions, group.unchecked[fine], *unnamed))

    def _columns(self, table: str, group: Group) -> pa.StructArray:
        """What of a group's columns is landed, and under which names."""
        columns = group.columns
        if table in self.plan.keyed and (kind := beside_key(columns.type)) != columns.type:
            columns = pa.StructArray.from_arrays(columns.flatten(), fields=[*kind])
        return self.plan.protection.rows(columns, self._noted(table, group), table)

    def _noted(self, table: str, group: Group) -> pa.StructType:
        """The type of a value's columns, with what its schema says of them."""
        noted = self.readers.decoder(group.head, group.record).type
        return beside_key(noted) if table in self.plan.keyed else noted

    def _noted_key(self, group: Group) -> pa.StructType:
        return pa.struct([pa.field(KEY, self.readers.decoder(group.head, group.record).type)])

    def _unnamed(self, batch: "_Batch", table: str, rows: Rows, group: Group | None = None) -> tuple[Figures, Figures]:
        """How many properties that no reader names each row has: kept in a column as they are, and others.

        group: of the values; none of tombstones, whose keys may have some.
        """
        found = np.zeros((2, len(batch.records)), np.int64)
        if group and group.unnamed:
            named = {_beside_key(path) if table in self.plan.keyed else path: path for path in group.unnamed}
            self._add_unnamed(found, table, self._noted(table, group), group, named)
        for key in batch.key.groups if batch.key else ():
            if key.unnamed:
                named = {path and f"{KEY}.{path}": path for path in key.unnamed}
                self._add_unnamed(found, table, self._noted_key(key), key, named)
        kept, others = found[:, rows]
        return kept, others

    def _add_unnamed(
        self, found: Figures, table: str, noted: pa.StructType, group: Group, named: Mapping[str, str]
    ) -> None:
        """named: what the table calls the columns of `group.unnamed`; "" where there is none."""
        protection = self.plan.protection
        landed = protection.type(noted, table)
        lost = (*protection.hidden(noted, table), *targets.dropped(landed, self.plan.targets[table]))
        for path, ours in named.items():
            is_lost = not path or any(f"{path}.".startswith(f"{each}.") for each in lost)
            found[int(is_lost)][group.rows] += group.unnamed[ours]

    def _key(self, batch: "_Batch", table: str) -> Part | None:
        """The keys, as far as they are landed."""
        if batch.key is None or not self.plan.protection.rules:
            return batch.key
        groups = [replace(each, columns=self._key_columns(table, each)) for each in batch.key.groups]
        return replace(batch.key, groups=groups)

    def _key_columns(self, table: str, group: Group) -> pa.Array | None:
        """None where the column of keys is dropped."""
        noted = self._noted_key(group)
        rows = pa.StructArray.from_arrays([group.columns], fields=[*noted])
        found = self.plan.protection.rows(rows, noted, table)
        return found.field(0) if found.type.num_fields else None

    def _key_bytes(self, batch: "_Batch", table: str, keys: pa.Array) -> pa.Array:
        """The raw bytes of keys: what is hidden of a key must not be told by them."""
        protection = self.plan.protection
        if not protection.rules:
            return keys
        groups = batch.key.groups if batch.key else []
        kinds = [self.readers.decoder(each.head, each.record).type for each in groups]
        return protection.key_bytes(protection.of_key(kinds, table), keys)

    def _land_tombstones(self, batch: "_Batch", table: str) -> None:
        rows = np.flatnonzero(batch.good & (batch.value.status == TOMBSTONE))
        ids = batch.value.ids[rows]
        for at, keyed in _with_keys(rows, pa.array([{}] * len(rows), pa.struct([])), self._key(batch, table)):
            self._write(batch, table, at, keyed, ids=batch.value.ids[at], version=0, op="D")
        counted = _Counted.plain(ids, [""] * len(rows))
        kept, others = self._unnamed(batch, table, rows)
        self._count(batch, table, rows, replace(counted, kept=kept, others=others))

    def _write(
        self, batch: "_Batch", table: str, rows: Rows, columns: pa.Array, *, ids: Ids, version: int, op: str
    ) -> None:
        if not rows.size:
            return
        target = self.plan.targets[table]
        records = batch.at(rows)
        system = [
            *(records.column(name) for name in ("topic", "partition", "offset", "timestamp")),
            self._key_bytes(batch, table, records.column("key")),
            self.plan.protection.headers(records.column("headers"), table),
            pa.array(ids, mask=ids == NONE),
            pa.repeat(version, len(rows)),
            pa.repeat(op, len(rows)),
            pa.repeat(self.plan.batch, len(rows)),
        ]
        ours = [column.cast(kind.type) for column, kind in zip(system, SYSTEM, strict=True)]
        arrays = [*targets.project(columns, target), *ours]
        self.outputs.write(table, pa.RecordBatch.from_arrays(arrays, schema=schema(target.schema)))

    def _set_aside(self, batch: "_Batch") -> None:
        rows = np.flatnonzero(~batch.good)
        if not rows.size:
            return
        records = batch.at(rows)
        both = [batch.value, batch.key] if batch.key else [batch.value]
        reasons = [[_told(part, row) for part in both if part.status[row] > FINE] for row in rows.tolist()]
        ours = {
            "reasons": reasons,
            "_sr_query": [self.plan.query] * len(rows),
            "_sr_batch": [self.plan.batch] * len(rows),
            "_sr_seen": [self.now] * len(rows),
        }
        arrays = [
            pa.array(ours[kind.name], kind.type) if kind.name in ours else records.column(kind.name).cast(kind.type)
            for kind in quarantine.SCHEMA
        ]
        self.outputs.write(QUARANTINE, pa.RecordBatch.from_arrays(arrays, schema=quarantine.SCHEMA))
        first = [told[0] for told in reasons]
        ids = np.array([NONE if told["schema_id"] is None else told["schema_id"] for told in first], np.int64)
        subjects, why = [told["subject"] or "" for told in first], [told["reason"] for told in first]
        self._count(batch, QUARANTINE, rows, _Counted.plain(ids, subjects), why)

    def _count(
        self, batch: "_Batch", table: str, rows: Rows, counted: "_Counted", reasons: list[str] | None = None
    ) -> None:
        if not rows.size:
            return
        records = batch.at(rows)
        columns = {
            "subject": counted.subjects,
            "schema_id": pa.array(counted.ids, mask=counted.ids == NONE),
            "version": counted.versions,
            "reason": reasons or [""] * len(rows),
            "bytes": pc.binary_length(records.column("value")).fill_null(0).cast(pa.int64()),
            "unchecked": counted.unchecked.astype(np.int64),
            "additional": counted.kept,
            "left_out": counted.others,
            "offset": records.column("offset"),
            "ts": pc.divide(records.column("timestamp").cast(pa.int64()), 1000),
        }
        self.tally.wrote(table, batch.topic, columns)


@dataclass(frozen=True, slots=True)
class _Batch:
    """Records of one topic, read. good: those that land; of the others a part has failed."""

    topic: str
    records: pa.RecordBatch
    value: Part
    key: Part | None
    good: npt.NDArray[np.bool_]

    def at(self, rows: Rows) -> pa.RecordBatch:
        return self.records if len(rows) == len(self.records) else self.records.take(pa.array(rows))


@dataclass(frozen=True, slots=True)
class _Counted:
    """What metrics tell of rows, one of each for each. kept, others: properties that no reader names."""

    ids: Ids
    subjects: list[str]
    versions: list[int]
    unchecked: npt.NDArray[np.bool_]
    kept: Figures
    others: Figures

    @classmethod
    def plain(cls, ids: Ids, subjects: list[str]) -> Self:
        """Of rows of no version."""
        nothing = np.zeros(len(ids), np.int64)
        return cls(ids, subjects, [0] * len(ids), np.zeros(len(ids), bool), nothing, nothing)


def _with_keys(rows: Rows, columns: pa.Array, key: Part | None) -> Iterator[tuple[Rows, pa.Array]]:
    """The same rows with what their keys say as one column more; apart where keys have several readers, or are null."""
    if key is None:
        yield rows, columns
        return
    for group in key.groups:
        here = np.isin(rows, group.rows, assume_unique=True)
        if here.any():
            at = rows[here]
            values = columns.filter(pa.array(here))
            if group.columns is None:  # it is dropped
                yield at, values
                continue
            said = group.columns.take(pa.array(np.searchsorted(group.rows, at)))
            yield (
                at,
                pa.StructArray.from_arrays([*values.flatten(), said], fields=[*values.type, pa.field(KEY, said.type)]),
            )
    null = key.status[rows] == TOMBSTONE
    if null.any():
        yield rows[null], columns.filter(pa.array(null))


def _told(part: Part, row: int) -> Mapping[str, Any]:
    """What is wrong with a part of a record: an entry of the quarantine's `reasons`."""
    id, guid = int(part.ids[row]), int(part.framed.guid[row])
    kind = "GUID" if guid != NONE else "NONE" if id == NONE else "ID"
    return {
        "part": part.name,
        "frame": kind,
        "schema_id": None if id == NONE else id,
        "schema_guid": None if guid == NONE else str(part.framed.guids[guid]),
        "subject": part.subjects[row] or None,
        "reason": REASONS[int(part.status[row])].value,
        "detail": part.details.get(row),
        "at": part.at.get(row),
    }
