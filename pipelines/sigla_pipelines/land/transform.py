"""Raw records in, files of typed rows and of quarantined records out: what a task does with its share of a batch.

Every record becomes one row: of one typed table, or of the quarantine, whole and with what was wrong with each part.

    slice    records come in batches of Arrow's, which are cut into slices that are decoded at once, topic by topic
    decode   values and keys, each by the schema that wrote it and to the columns of its reader (`key_and_value.py`)
    write    the rows of each table, its tombstones, and what goes to the quarantine (`outputs.py`)
    count    all of it, as it is read and as it is written (`row_metrics.py`)
"""

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import pairwise
from typing import Any, Final

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc

from sigla.decoding.reasons import FINE, REASONS, Reason
from sigla_pipelines.land import key_and_value, quarantine, targets
from sigla_pipelines.land.bindings import Binding
from sigla_pipelines.land.decoders.decoder import TooMuch
from sigla_pipelines.land.framing import NONE, TOMBSTONE, Ids
from sigla_pipelines.land.key_and_value import Judge, Part, RecordGroup, Rows
from sigla_pipelines.land.keyed import with_keys
from sigla_pipelines.land.landed import KEY, QUARANTINE, Landed, Met
from sigla_pipelines.land.outputs import Outputs
from sigla_pipelines.land.plan import Plan
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.readers import Readers
from sigla_pipelines.land.row_metrics import MetricKeys, Tally, keys_of_each
from sigla_pipelines.land.sinks.sink import table_schema
from sigla_pipelines.land.targets import SYSTEM

Figures = npt.NDArray[np.int64]


class Unbound(Exception):
    """Records of a topic that no binding speaks of; the sentence says what to do."""


@dataclass(frozen=True, slots=True)
class SliceSize:
    """How much is decoded at once. Spark cuts batches by rows alone, and a column of texts ends at 2 GiB.

    bytes: of keys and values; defaults and enums make a record longer than its bytes. cells: of rows times columns: a
    field that was not written takes no byte, and some twenty as a column's.
    """

    bytes: int = 32 * 2**20
    cells: int = 2**21

    def rows(self, plan: Plan) -> int:
        """How many at most have so many cells in the widest table."""
        widest = max((sum(map(_columns_within, target.schema.types)) for target in plan.targets.values()), default=0)
        return self.cells // (widest + 1) + 1

    def slices(self, records: pa.RecordBatch, rows: int) -> Iterator[pa.RecordBatch]:
        """Slices of so many rows at most."""
        if len(records) <= rows and records.nbytes <= self.bytes:
            yield records
            return
        sizes = sum(
            pc.binary_length(records.column(name)).fill_null(0).to_numpy().astype(np.int64) for name in ("key", "value")
        )
        by_bytes, by_rows = np.cumsum(sizes) // self.bytes, np.arange(len(records)) // rows
        edges = np.flatnonzero(np.diff(by_bytes) + np.diff(by_rows)) + 1
        for start, end in pairwise([0, *edges.tolist(), len(records)]):
            yield records.slice(start, end - start)


STANDARD: Final = SliceSize()


def land_share(
    share: Iterable[pa.RecordBatch],
    plan: Plan,
    readers: Readers,
    outputs: Outputs,
    now: datetime,
    *,
    size: SliceSize = STANDARD,
) -> Landed:
    """share: records of RAW, in the order of their offsets. now: when this batch was begun, for the quarantine.

    Raises Unbound, NoHead, and what stores raise; then nothing has happened, whatever files there are.
    """
    tally = Tally()
    landing = _Share(plan, readers, outputs, tally, now)
    rows = size.rows(plan)
    with outputs:
        for records in share:
            for slice in size.slices(records.select(RAW.names), rows):
                for topic, of_topic in _by_topic(slice):
                    tally.read(topic, of_topic)
                    landing.land(topic, of_topic)
        return Landed(outputs.close(), tally.spans, tally.metrics, tally.met)


def _columns_within(type: pa.DataType) -> int:
    """How many columns it is, those within it among them."""
    return 1 + sum(_columns_within(type.field(at).type) for at in range(type.num_fields))


def _by_topic(records: pa.RecordBatch) -> Iterator[tuple[str, pa.RecordBatch]]:
    topics = pc.unique(records.column("topic"))
    for topic in topics:
        yield (
            topic.as_py(),
            records if len(topics) == 1 else records.filter(pc.equal(records.column("topic"), topic)),
        )


@dataclass(frozen=True, slots=True)
class _Share:
    """A task's share of a batch, as far as it has come."""

    plan: Plan
    readers: Readers
    outputs: Outputs
    tally: Tally
    now: datetime
    judges: dict[Binding, Judge] = field(default_factory=dict)

    def land(self, topic: str, records: pa.RecordBatch) -> None:
        """records: of one topic. Those that say too much to be read at once are landed by halves."""
        todo = [records]
        while todo:
            some = todo.pop()
            try:
                decoded = self._decode(topic, some)
            except TooMuch:
                half = len(some) // 2
                todo += [some.slice(half), some.slice(0, half)]
            else:
                self._write_all(decoded)

    def _decode(self, topic: str, records: pa.RecordBatch) -> "_Decoded":
        """Raises Unbound, TooMuch."""
        value_binding, key_binding = (self.plan.binding(topic, part) for part in ("value", "key"))
        if value_binding is None:
            raise Unbound(f"The topic {topic} has records, but no binding for its values: add one to `bind`.")
        value = key_and_value.decode_part(records, self._judge(value_binding))
        key = key_and_value.decode_part(records, self._judge(key_binding)) if key_binding else None
        if self.plan.protection.makes_timestamps:
            for part in (value, key) if key else (value,):
                self._check_times(part, value_binding, value)
        good = value.status <= FINE
        if key:
            good &= key.status <= FINE
        return _Decoded(topic, records, value_binding, key_binding, value, key, good)

    def _judge(self, binding: Binding) -> Judge:
        if binding not in self.judges:
            self.judges[binding] = Judge(binding, self.plan, self.readers)
        return self.judges[binding]

    def _check_times(self, part: Part, binding: Binding, value: Part) -> None:
        """Fails the rows with numbers of which no timestamps can be made. binding, value: of the tables that land."""
        for group in part.groups:
            of = {self.plan.table(binding, each.record) for each in ([group] if part is value else value.groups)}
            for table in filter(None, of):
                if part is value:
                    columns, noted = self._called(table, group), self._noted(table, group)
                else:
                    columns, noted = self._key_column(group), self._noted_key(group)
                for rows, why in self.plan.protection.unfit(columns, noted, table):
                    failed = group.rows[rows]
                    part.fail(failed[part.status[failed] == FINE], Reason.INCOMPATIBLE_READER, why)

    def _write_all(self, decoded: "_Decoded") -> None:
        """Each record in one table: its own, that of nulls, or the quarantine."""
        binding = decoded.value_binding
        self._meet(decoded, decoded.value, binding)
        if decoded.key and decoded.key_binding:
            self._meet(decoded, decoded.key, decoded.key_binding)
        for group in decoded.value.groups:
            table = self.plan.table(binding, group.record)
            if table is not None:
                self._write_group(decoded, table, group)
        self._write_tombstones(decoded, self.plan.deletes(binding))
        self._write_quarantine(decoded)

    def _meet(self, decoded: "_Decoded", part: Part, binding: Binding) -> None:
        """Tells which Protobuf messages there are: a plan that does not know one is made anew, with a table for it."""
        if binding not in self.plan.messages:
            return
        for group in part.groups:
            if decoded.good[group.rows].any():
                path = self.readers.path(group.head, group.record)
                self.tally.meets(Met(decoded.topic, part.name, path, group.record))

    def _write_group(self, decoded: "_Decoded", table: str, group: RecordGroup) -> None:
        fine = (decoded.good & (decoded.value.status == FINE))[group.rows]
        rows, columns = group.rows, self._columns(table, group)
        if not fine.all():
            rows, columns = rows[fine], columns.filter(pa.array(fine))
        ids = decoded.value.ids[rows]
        for at, keyed in with_keys(rows, columns, self._landed_key(decoded, table)):
            self._write_rows(decoded, table, at, keyed, ids=decoded.value.ids[at], version=group.head.version, op="U")
        written = pa.array(ids).dictionary_encode()
        found, of_rows = written.dictionary.to_numpy(), written.indices.to_numpy()
        versions = np.zeros(len(found), np.int64)
        versions[of_rows] = group.versions[fine]
        subjects, reasons = (pa.repeat(text, len(found)) for text in (group.head.subject, ""))
        keys = MetricKeys(subjects, found, versions, reasons, of_rows)
        columns = {"unchecked": group.unchecked[fine].astype(np.int64), **self._unnamed(decoded, table, rows, group)}
        self._count(decoded, table, rows, keys, columns)

    def _columns(self, table: str, group: RecordGroup) -> pa.StructArray:
        """What of a group's columns is landed, and under which names."""
        return self.plan.protection.rows(self._called(table, group), self._noted(table, group), table)

    def _called(self, table: str, group: RecordGroup) -> pa.StructArray:
        """A value's columns under the names that the table has for them."""
        columns = group.columns
        if table in self.plan.keyed and (kind := targets.beside_key(columns.type)) != columns.type:
            return pa.StructArray.from_arrays(columns.flatten(), fields=[*kind])
        return columns

    def _noted(self, table: str, group: RecordGroup) -> pa.StructType:
        """The type of a value's columns, with what its schema says of them."""
        noted = self.readers.decoder(group.head, group.record).type
        return targets.beside_key(noted) if table in self.plan.keyed else noted

    def _noted_key(self, group: RecordGroup) -> pa.StructType:
        return pa.struct([pa.field(KEY, self.readers.decoder(group.head, group.record).type)])

    def _key_column(self, group: RecordGroup) -> pa.StructArray:
        return pa.StructArray.from_arrays([group.columns], fields=[pa.field(KEY, group.columns.type)])

    def _unnamed(
        self, decoded: "_Decoded", table: str, rows: Rows, group: RecordGroup | None = None
    ) -> Mapping[str, Figures]:
        """How many properties that no reader names each row has, by the figures of `row_metrics`; {} where none can be.

        group: of the values; none of tombstones, whose keys may have some.
        """
        keys = decoded.key.groups if decoded.key else []
        if not any(each.unnamed for each in (*keys, *([group] if group else ()))):
            return {}
        found = np.zeros((2, len(decoded.records)), np.int64)
        if group and group.unnamed:
            named = {
                targets.beside_key_name(path) if table in self.plan.keyed else path: path for path in group.unnamed
            }
            self._add_unnamed(found, table, self._noted(table, group), group, named)
        for key in keys:
            if key.unnamed:
                named = {path and f"{KEY}.{path}": path for path in key.unnamed}
                self._add_unnamed(found, table, self._noted_key(key), key, named)
        kept, others = found[:, rows]
        return {"additional": kept, "left_out": others}

    def _add_unnamed(
        self, found: Figures, table: str, noted: pa.StructType, group: RecordGroup, named: Mapping[str, str]
    ) -> None:
        """named: what the table calls the columns of `group.unnamed`; "" if it has none."""
        protection = self.plan.protection
        landed = protection.type(noted, table)
        lost = (*protection.hidden(noted, table), *targets.dropped_members(landed, self.plan.targets[table]))
        for path, ours in named.items():
            is_lost = not path or any(f"{path}.".startswith(f"{each}.") for each in lost)
            found[int(is_lost)][group.rows] += group.unnamed[ours]

    def _landed_key(self, decoded: "_Decoded", table: str) -> Part | None:
        """The keys, as far as they are landed."""
        if decoded.key is None or not self.plan.protection.rules:
            return decoded.key
        groups = [replace(each, columns=self._key_columns(table, each)) for each in decoded.key.groups]
        return replace(decoded.key, groups=groups)

    def _key_columns(self, table: str, group: RecordGroup) -> pa.Array | None:
        """None where the column of keys is dropped."""
        found = self.plan.protection.rows(self._key_column(group), self._noted_key(group), table)
        return found.field(0) if found.type.num_fields else None

    def _key_bytes(self, decoded: "_Decoded", table: str, keys: pa.Array) -> pa.Array:
        """The raw bytes of keys: what is hidden of a key must not be told by them."""
        protection = self.plan.protection
        if not protection.rules:
            return keys
        groups = decoded.key.groups if decoded.key else []
        kinds = [self.readers.decoder(each.head, each.record).type for each in groups]
        return protection.key_bytes(protection.of_key(kinds, table), keys)

    def _write_tombstones(self, decoded: "_Decoded", table: str) -> None:
        rows = np.flatnonzero(decoded.good & (decoded.value.status == TOMBSTONE))
        if not rows.size:
            return
        ids = decoded.value.ids[rows]
        for at, keyed in with_keys(rows, pa.array([{}] * len(rows), pa.struct([])), self._landed_key(decoded, table)):
            self._write_rows(decoded, table, at, keyed, ids=decoded.value.ids[at], version=0, op="D")
        keys = keys_of_each(ids, [""] * len(rows), [""] * len(rows))
        self._count(decoded, table, rows, keys, self._unnamed(decoded, table, rows))

    def _write_rows(
        self, decoded: "_Decoded", table: str, rows: Rows, columns: pa.Array, *, ids: Ids, version: int, op: str
    ) -> None:
        if not rows.size:
            return
        target = self.plan.targets[table]
        records = decoded.at(rows)
        system = [
            *(records.column(name) for name in ("topic", "partition", "offset", "timestamp")),
            self._key_bytes(decoded, table, records.column("key")),
            self.plan.protection.headers(records.column("headers"), table),
            pa.array(ids, mask=ids == NONE),
            pa.repeat(version, len(rows)),
            pa.repeat(op, len(rows)),
            pa.repeat(self.plan.batch, len(rows)),
        ]
        ours = [column.cast(kind.type) for column, kind in zip(system, SYSTEM, strict=True)]
        arrays = [*targets.project(columns, target), *ours]
        self.outputs.write(table, pa.RecordBatch.from_arrays(arrays, schema=table_schema(target.schema)))

    def _write_quarantine(self, decoded: "_Decoded") -> None:
        rows = np.flatnonzero(~decoded.good)
        if not rows.size:
            return
        records = decoded.at(rows)
        both = [decoded.value, decoded.key] if decoded.key else [decoded.value]
        reasons = [[_reason_entry(part, row) for part in both if part.status[row] > FINE] for row in rows.tolist()]
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
        first = [entries[0] for entries in reasons]
        ids = np.array([NONE if each["schema_id"] is None else each["schema_id"] for each in first], np.int64)
        subjects, why = [each["subject"] or "" for each in first], [each["reason"] for each in first]
        self._count(decoded, QUARANTINE, rows, keys_of_each(ids, subjects, why), {})

    def _count(
        self,
        decoded: "_Decoded",
        table: str,
        rows: Rows,
        keys: MetricKeys,
        columns: Mapping[str, Figures],
    ) -> None:
        """columns: of `Tally.wrote`, without what records say of themselves."""
        if not rows.size:
            return
        records = decoded.at(rows)
        said = {
            "bytes": pc.binary_length(records.column("value")).fill_null(0),
            "offset": records.column("offset"),
            "ts": pc.divide(records.column("timestamp").cast(pa.int64()), 1000),
        }
        self.tally.wrote(table, decoded.topic, keys, {**said, **columns})


@dataclass(frozen=True, slots=True)
class _Decoded:
    """Records of one topic, decoded. good: those that land; of the others a part has failed."""

    topic: str
    records: pa.RecordBatch
    value_binding: Binding
    key_binding: Binding | None
    value: Part
    key: Part | None
    good: npt.NDArray[np.bool_]

    def at(self, rows: Rows) -> pa.RecordBatch:
        return self.records if len(rows) == len(self.records) else self.records.take(pa.array(rows))


def _reason_entry(part: Part, row: int) -> Mapping[str, Any]:
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
