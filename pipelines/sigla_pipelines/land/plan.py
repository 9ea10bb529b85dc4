"""What a batch is landed by: made by the driver when the batch begins, sent to every task, kept in the manifest.

`plan_batch` makes it, step by step:

    messages   which Protobuf messages each topic's records are       (before: `messages.py`)
    names      what the tables are called                             (before: `names.py`)
    readings   each reader of each binding, with the columns it gives and the table they go to
    tables     each table as it is, grown by all that its readings have beyond it
    dropped    the members of readers for which a pinned table has no column
    layouts    how the files of each table are partitioned and sorted
"""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Final, Protocol

import pyarrow as pa

from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason
from sigla_pipelines.land.bindings import TOMBSTONES, Binding, CatalogAnswer, Checks, Head, Layout, Strategy
from sigla_pipelines.land.decoders.decoder import Additional, Native
from sigla_pipelines.land.decoders.times import PLAIN, Times
from sigla_pipelines.land.landed import KEY
from sigla_pipelines.land.layout import table_layouts
from sigla_pipelines.land.partitions import Fields
from sigla_pipelines.land.protection import NO_PROTECTION, Do, Protection
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.readers import PROTOBUF, Readers
from sigla_pipelines.land.sinks.sink import OURS
from sigla_pipelines.land.targets import Evolve, TargetTable, beside_key, dropped_members, evolve

TableNames = Callable[[Iterable[str]], Mapping[str, str]]
"""What tables are asked to be called → what they are called; those that are missing are called so."""

MessagesOf = Callable[[Binding], tuple[str, ...]]
"""A binding → the Protobuf messages that its topic had before; () where none was met."""

_Messages = Mapping[Binding, tuple[str, ...]]

_KEYS: Final = re.compile(rf"{KEY}(__v\d+)*")

_NO_COLUMNS: Final = pa.struct([])


class Tables(Protocol):
    """The tables as they are now. `Sink` is one."""

    def columns(self, table: str) -> pa.Schema | None:
        """The columns of its values; None if the table does not exist."""
        ...

    def fitted(self, reader: pa.StructType, present: pa.Schema | None) -> pa.StructType:
        """A reader's columns, of the types that a table has for them. present: its columns; None of a new table."""
        ...

    def partition(self, table: str) -> Fields | None:
        """By what the table is partitioned, as of when its columns were asked for; None if the table does not exist."""
        ...


@dataclass(frozen=True, slots=True)
class Plan:
    """query, batch: whose plan it is. context: of all ids. targets, layouts: by table.

    dropped: by binding and subject, the members of its reader for which a pinned table has no column. keyed: the tables
    of which `_key` is what keys say, whatever a value calls its own. messages: of Protobuf topics whose subject goes by
    the topic, the full names that are read; of values each has a table. protection: of columns; its key is in no
    manifest. names: of tables, by what `bind` calls them; one that is missing is called so.
    """

    query: str
    batch: int
    context: str
    bindings: tuple[Binding, ...]
    answer: CatalogAnswer
    targets: Mapping[str, TargetTable]
    checks: Checks = field(default_factory=Checks)
    dropped: Mapping[tuple[Binding, str], tuple[str, ...]] = field(default_factory=dict)
    keyed: frozenset[str] = frozenset()
    messages: Mapping[Binding, tuple[str, ...]] = field(default_factory=dict)
    additional: Additional = Additional.KEEP
    layouts: Mapping[str, Layout] = field(default_factory=dict)
    protection: Protection = NO_PROTECTION
    names: Mapping[str, str] = field(default_factory=dict)
    times: Times = PLAIN
    native: Native = Native.AUTO

    def table(self, binding: Binding, record: str) -> str | None:
        """The table of a record, by its full name; None for a message that the plan does not know."""
        messages = self.messages.get(binding)
        if messages is not None and record not in messages:
            return None
        asked = binding.asked(record, messages)
        return self.names.get(asked, asked)

    def deletes(self, binding: Binding) -> str:
        """The table of nulls."""
        asked = binding.table_of(TOMBSTONES)
        return self.names.get(asked, asked)

    @property
    def value_bindings(self) -> tuple[Binding, ...]:
        return tuple(each for each in self.bindings if each.part == "value")

    def binding(self, topic: str, part: str) -> Binding | None:
        return next((each for each in self.bindings if (each.topic, each.part) == (topic, part)), None)


@dataclass(frozen=True, slots=True)
class _Reading:
    """A reader of a binding's values, and where its rows go. subject: empty of the binding's nulls.

    columns: those that it gives, as they are landed. plain: the same as the reader has them. keys: the types that the
    column of keys has beside them.
    """

    binding: Binding
    subject: str
    version: int
    table: str
    columns: pa.StructType
    plain: pa.StructType
    keys: tuple[pa.DataType, ...]

    @property
    def of_nulls(self) -> bool:
        return not self.subject


def plan_batch(
    *,
    query: str,
    batch: int,
    context: str,
    bindings: tuple[Binding, ...],
    answer: CatalogAnswer,
    checks: Checks,
    readers: Readers,
    tables: Tables,
    policy: Evolve = Evolve.ADD,
    met: MessagesOf = lambda _: (),
    protection: Protection = NO_PROTECTION,
    state_keys: Mapping[str, tuple[str, ...]] | None = None,
    named: TableNames = lambda _: {},
) -> Plan:
    """Tables only grow, so a target is the table as it is and all that its readers have beyond it. Raises Misbound.

    state_keys: of tables with a state, the names by which its rows are told apart; () for the key of the record.
    """
    messages = _messages_by_binding(bindings, answer, readers, met)
    plan = Plan(query, batch, context, bindings, answer, {}, checks, messages=messages, additional=readers.additional)
    plan = replace(plan, names=named(_asked_names(plan)), times=readers.times, native=readers.native)
    plan = replace(plan, keyed=_keyed_tables(plan), protection=protection.called(plan.names))

    readings = [*_readings(plan, readers)]
    of_records = [each for each in readings if not each.of_nulls]
    _check_state_keys(of_records, state_keys or {}, plan.protection)
    grown = _grown_tables(readings, plan, tables, policy)
    targets = {table: TargetTable(columns) for table, columns in grown.items()}
    return replace(
        plan,
        targets=targets,
        dropped=_dropped_members(of_records, targets),
        layouts=table_layouts(
            _tables_by_binding(of_records), grown, tables.partition, partial(_unmet_columns, plan, readers)
        ),
    )


def _messages_by_binding(
    bindings: tuple[Binding, ...], answer: CatalogAnswer, readers: Readers, met: MessagesOf
) -> _Messages:
    """What is read of Protobuf files whose subject goes by the topic. Raises Misbound."""
    found = {}
    for binding in bindings:
        if binding.strategy is Strategy.TOPIC:
            for head in answer.heads[binding].values():
                if messages := _messages_of(binding, head, readers, met):
                    found[binding] = messages
    return found


def _messages_of(binding: Binding, head: Head, readers: Readers, met: MessagesOf) -> tuple[str, ...]:
    """() where the reader is of another language, or cannot be compiled."""
    try:
        known = readers.schemas.by_id(head.reader.id)
        if known.source.type != PROTOBUF:
            if binding.message:
                raise Misbound(
                    f"Records of {head.subject} are read by a schema of type {known.source.type}, which has no "
                    "messages: remove `message`."
                )
            return ()
        if not binding.message:
            return met(binding) or (readers.record_name(known, ()),)
        readers.path(head, binding.message)
    except Unreadable as problem:
        if problem.reason is Reason.MESSAGE_GONE:
            raise Misbound(
                f"Unknown message {binding.message} in the schema with the id {head.reader.id}, which reads records of "
                f"{head.subject}: choose another `message`, or another `reader`."
            ) from None
        return ()
    return (binding.message,)


def _asked_names(plan: Plan) -> Iterator[str]:
    """What tables are asked to be called, in the order of the bindings."""
    for binding in plan.value_bindings:
        yield from (binding.asked(record, plan.messages.get(binding)) for record in _record_names(plan, binding))
        yield binding.table_of(TOMBSTONES)


def _record_names(plan: Plan, binding: Binding) -> Iterator[str]:
    """The full names of what a binding reads."""
    return (record for _, record in _records_of(plan, binding))


def _records_of(plan: Plan, binding: Binding) -> Iterator[tuple[Head, str]]:
    """What a binding reads, subject by subject, with the full names of its records."""
    for head in plan.answer.heads[binding].values():
        for record in plan.messages.get(binding, (head.record,)):
            yield head, record


def _keyed_tables(plan: Plan) -> frozenset[str]:
    """The tables of topics whose keys are bound."""
    topics = {binding.topic for binding in plan.answer.heads if binding.part == "key"}
    values = [each for each in plan.answer.heads if each.part == "value" and each.topic in topics]
    tables = {plan.table(binding, record) for binding in values for record in _record_names(plan, binding)}
    return frozenset(table for table in tables if table).union(map(plan.deletes, values))


def _readings(plan: Plan, readers: Readers) -> Iterator[_Reading]:
    """In the order of the bindings; at the end of each its nulls, which have no columns but keys. Raises Misbound."""
    for binding in plan.value_bindings:
        keys = _key_types(plan, binding.topic, readers)
        for head, record, columns in _compiled_readers(plan, binding, readers):
            table = plan.table(binding, record) or ""
            named = beside_key(columns) if table in plan.keyed else columns
            _check_times(table, [*named, *(pa.field(KEY, key) for key in keys)], plan.protection)
            landed = plan.protection.type(named, table)
            yield _Reading(binding, head.subject, head.version, table, landed, columns, keys)
        yield _Reading(binding, "", 0, plan.deletes(binding), _NO_COLUMNS, _NO_COLUMNS, keys)


def _key_types(plan: Plan, topic: str, readers: Readers) -> tuple[pa.DataType, ...]:
    bound = [each for each in plan.bindings if (each.topic, each.part) == (topic, "key")]
    return tuple(columns for each in bound for _, _, columns in _compiled_readers(plan, each, readers))


def _compiled_readers(plan: Plan, binding: Binding, readers: Readers) -> Iterator[tuple[Head, str, pa.StructType]]:
    """The readers of a binding, record by record, with the columns that they give. What does not compile gives none."""
    for head, record in _records_of(plan, binding):
        try:
            yield head, record, readers.decoder(head, record).type
        except Unreadable as problem:
            if problem.reason is Reason.UNKNOWN_ID and binding.reader.kind == "id":
                raise Misbound(
                    f"Unknown id {head.reader.id} in context {head.reader.context}, which is to read records of "
                    f"{head.subject}: choose another `reader`."
                ) from None


def _unmet_columns(plan: Plan, readers: Readers, binding: Binding) -> Iterator[pa.Schema]:
    """The columns of messages in the files of a binding's readers that its topic has had no record of."""
    met = plan.messages.get(binding)
    if met is None or binding.message:
        return
    for head in plan.answer.heads[binding].values():
        for message in readers.messages(head):
            if message not in met:
                with suppress(Unreadable):
                    columns = readers.decoder(head, message).type
                    yield pa.schema(plan.protection.type(columns, plan.deletes(binding)))


def _check_times(table: str, columns: list[pa.Field], protection: Protection) -> None:
    """Raises Misbound where a rule would make timestamps of something that is not a number."""
    if found := next(protection.untimed(pa.struct(columns), table), None):
        column, kind = found
        raise Misbound(
            f"A rule in `columns` makes timestamps of {column} in the table {table}, whose type is {kind}: only whole "
            "numbers, and lists of them, can become timestamps."
        )


def _check_state_keys(
    readings: Iterable[_Reading], state_keys: Mapping[str, tuple[str, ...]], protection: Protection
) -> None:
    """Raises Misbound where a rule would make all keys of a state equal, and so all its rows one."""
    for each in readings:
        if (keys := state_keys.get(each.table)) is None:
            continue
        masked = set(keys).intersection(protection.masked(each.plain, each.table))
        if masked or (not keys and protection.of_key(each.keys, each.table) is Do.MASK):
            what = f"the field {min(masked)}" if masked else "the key of records"
            raise Misbound(
                f"The rows of the state of {each.table} are identified by {what}, which a rule in `columns` masks: "
                "hash it instead."
            )


def _grown_tables(readings: Iterable[_Reading], plan: Plan, tables: Tables, policy: Evolve) -> Mapping[str, pa.Schema]:
    """Each table as it is after all its readings. Raises Misbound."""
    known: dict[str, pa.Schema | None] = {}
    grown: dict[str, pa.Schema] = {}
    for each in readings:
        table = each.table
        if table in OURS:
            raise Misbound(
                f"The job itself uses the table {table}, and a record has the same name: choose another `table` for it."
            )
        if table not in known:
            known[table] = tables.columns(table)
        # Deletes alone do not say what to pin.
        begun = _has_values(known[table], keyed=table in plan.keyed)
        how = policy if begun or not each.columns.num_fields else Evolve.ADD
        for key in each.keys or (None,):
            beside = plan.protection.type(pa.struct([pa.field(KEY, key)]), table) if key else _NO_COLUMNS
            present = grown.get(table, known[table])
            columns = tables.fitted(pa.struct([*each.columns, *beside]), present)
            grown[table] = evolve(present, columns, version=each.version, policy=how)
    return grown


def _has_values(present: pa.Schema | None, *, keyed: bool) -> bool:
    """Whether a table has columns beside those of its keys."""
    names = present.names if present is not None else []
    return any(not (keyed and _KEYS.fullmatch(name)) for name in names)


def _dropped_members(
    readings: Iterable[_Reading], targets: Mapping[str, TargetTable]
) -> Mapping[tuple[Binding, str], tuple[str, ...]]:
    """By binding and subject, the members of readers that have no column."""
    found: dict[tuple[Binding, str], tuple[str, ...]] = {}
    for each in readings:
        if names := dropped_members(each.columns, targets[each.table]):
            which = each.binding, each.subject
            found[which] = tuple(dict.fromkeys((*found.get(which, ()), *names)))
    return found


def _tables_by_binding(readings: Iterable[_Reading]) -> Mapping[Binding, list[str]]:
    found: dict[Binding, list[str]] = {}
    for each in readings:
        found.setdefault(each.binding, []).append(each.table)
    return found
