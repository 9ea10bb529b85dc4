"""The plan of a batch: what its tables will look like."""

import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Final

import pyarrow as pa

from pipelines.land.heads import Misbound
from pipelines.land.landed import KEY
from pipelines.land.layout import Present, layouts
from pipelines.land.plan import TOMBSTONES, Answer, Binding, Checks, Head, Plan, Strategy
from pipelines.land.protection import NO_PROTECTION, Do, Protection
from pipelines.land.readers import PROTOBUF, Readers
from pipelines.land.sinks.sink import OURS
from pipelines.land.targets import Evolve, Target, dropped, evolve
from pipelines.land.transform import beside_key
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason

Columns = Callable[[str], pa.Schema | None]
"""A table → the columns of its values as they are now."""

Fitted = Callable[[pa.StructType, pa.Schema | None], pa.StructType]
"""A reader's columns, of the types that a table has for them; the table's columns as they are, None of a new one."""

Naming = Callable[[Iterable[str]], Mapping[str, str]]
"""What tables are asked to be called → what they are called; those that are missing are called so."""

MessagesOf = Callable[[Binding], tuple[str, ...]]
"""A binding → the Protobuf messages that its topic had before; () where none was met."""


def planned(
    *,
    query: str,
    batch: int,
    context: str,
    bindings: tuple[Binding, ...],
    answer: Answer,
    checks: Checks,
    readers: Readers,
    columns: Columns,
    policy: Evolve = Evolve.ADD,
    met: MessagesOf = lambda _: (),
    fitted: Fitted = lambda reader, _: reader,
    present: Present = lambda _: (),
    protection: Protection = NO_PROTECTION,
    state_keys: Mapping[str, tuple[str, ...]] | None = None,
    named: Naming = lambda _: {},
) -> Plan:
    """Tables only grow, so a target is the table as it is and all that its readers have beyond it. Raises Misbound.

    state_keys: of tables with a state, the names by which its rows are told apart; () for the key of the record.
    """
    messages = _messages(bindings, answer, readers, met)
    plan = Plan(query, batch, context, bindings, answer, {}, checks, messages=messages, additional=readers.additional)
    plan = replace(plan, names=named(_asked(plan)), times=readers.times)
    protection = protection.called(plan.names)
    keyed = _keyed(plan)
    known: dict[str, pa.Schema | None] = {}
    targets: dict[str, pa.Schema] = {}
    rows: list[tuple[Binding, str, str, pa.StructType]] = []
    bound: dict[Binding, list[str]] = {}

    def grow(table: str, reader: pa.StructType, version: int, key_types: list[pa.DataType]) -> None:
        if table in OURS:
            raise Misbound(
                f"The table {table} is the job's own, and a record is called so: say another `table` for it."
            )
        if table not in known:
            known[table] = columns(table)
        begun = _has_values(known[table], keyed=table in keyed)
        for key_type in key_types or [None]:
            key = pa.struct([pa.field(KEY, key_type)]) if key_type else pa.struct([])
            whole = pa.struct([*reader, *protection.type(key, table)])
            present = targets.get(table, known[table])
            # Deletes alone do not say what to pin.
            how = policy if begun or not reader.num_fields else Evolve.ADD
            targets[table] = evolve(present, fitted(whole, present), version=version, policy=how)

    for binding in bindings:
        if binding.part != "value":
            continue
        keys = [binding_ for binding_ in bindings if (binding_.topic, binding_.part) == (binding.topic, "key")]
        key_types = [kind for each in keys for _, _, kind in _types(each, answer, readers, messages)]
        for head, record, read in _types(binding, answer, readers, messages):
            table = plan.table(binding, record) or ""
            kind = protection.type(beside_key(read) if table in keyed else read, table)
            if state_keys and table in state_keys:
                _check_keys(table, state_keys[table], read, key_types, protection)
            rows.append((binding, head.subject, table, kind))
            bound.setdefault(binding, []).append(table)
            grow(table, kind, head.version, key_types)
        grow(plan.deletes(binding), pa.struct([]), 0, key_types)
    chosen = {table: Target(schema) for table, schema in targets.items()}
    left_out: dict[tuple[Binding, str], tuple[str, ...]] = {}
    for binding, subject, table, kind in rows:
        if names := dropped(kind, chosen[table]):
            left_out[binding, subject] = tuple(dict.fromkeys((*left_out.get((binding, subject), ()), *names)))
    laid_out = layouts(bound, targets, present)
    return replace(plan, targets=chosen, dropped=left_out, keyed=keyed, layouts=laid_out, protection=protection)


def _check_keys(
    table: str, keys: tuple[str, ...], read: pa.StructType, key_types: list[pa.DataType], protection: Protection
) -> None:
    """Raises Misbound where a rule would make all keys of a state equal, and so all its rows one."""
    masked = set(keys).intersection(protection.masked(read, table))
    if masked or (not keys and protection.of_key(key_types, table) is Do.MASK):
        what = f"the field {min(masked)}" if masked else "the key of records"
        raise Misbound(
            f"The rows of the state of {table} are told apart by {what}, which a rule in `columns` masks: hash it "
            "instead."
        )


_Messages = Mapping[Binding, tuple[str, ...]]


def _messages(bindings: tuple[Binding, ...], answer: Answer, readers: Readers, met: MessagesOf) -> _Messages:
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
                f"Records of {head.subject} are to be read as {binding.message}, and its schema with the id "
                f"{head.reader.id} has no such message: say another `message`, or another `reader`."
            ) from None
        return ()
    return (binding.message,)


def _records(plan: Plan, binding: Binding) -> Iterator[str]:
    """The full names of what a binding reads."""
    for head in plan.answer.heads[binding].values():
        yield from plan.messages.get(binding, (head.record,))


def _asked(plan: Plan) -> Iterator[str]:
    """What tables are asked to be called, in the order of the bindings."""
    for binding in plan.bindings:
        if binding.part == "value":
            yield from (binding.asked(record, plan.messages.get(binding)) for record in _records(plan, binding))
            yield binding.table_of(TOMBSTONES)


def _keyed(plan: Plan) -> frozenset[str]:
    """The tables of topics whose keys are bound."""
    topics = {binding.topic for binding in plan.answer.heads if binding.part == "key"}
    values = [each for each in plan.answer.heads if each.part == "value" and each.topic in topics]
    tables = {plan.table(binding, record) for binding in values for record in _records(plan, binding)}
    return frozenset(table for table in tables if table).union(map(plan.deletes, values))


_KEYS: Final = re.compile(rf"{KEY}(__v\d+)*")


def _has_values(present: pa.Schema | None, *, keyed: bool) -> bool:
    """Whether a table has columns beside those of its keys."""
    names = present.names if present is not None else []
    return any(not (keyed and _KEYS.fullmatch(name)) for name in names)


def _types(
    binding: Binding, answer: Answer, readers: Readers, messages: _Messages
) -> list[tuple[Head, str, pa.StructType]]:
    """The readers of a binding, record by record, with the columns that they give. What does not compile gives none."""
    found = []
    read = [(head, name) for head in answer.heads[binding].values() for name in messages.get(binding, (head.record,))]
    for head, record in read:
        try:
            found.append((head, record, readers.decoder(head, record).type))
        except Unreadable as problem:
            if problem.reason is Reason.UNKNOWN_ID and binding.reader.kind == "id":
                raise Misbound(
                    f"Records of {head.subject} are to be read as id {head.reader.id}, and there is no such id "
                    f"in context {head.reader.context}: say another in `reader`."
                ) from None
    return found
