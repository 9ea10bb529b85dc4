"""The plan of a batch: what its tables will look like."""

import re
from collections.abc import Callable
from typing import Final

import pyarrow as pa

from pipelines.land.heads import Misbound
from pipelines.land.landed import KEY
from pipelines.land.plan import Answer, Binding, Checks, Head, Plan
from pipelines.land.readers import Readers
from pipelines.land.sinks.sink import OURS
from pipelines.land.targets import Evolve, Target, dropped, evolve
from pipelines.land.transform import TOMBSTONES, beside_key
from sigla.decoding.decoder import Unreadable
from sigla.decoding.reasons import Reason

Columns = Callable[[str], pa.Schema | None]
"""A table → the columns of its values as they are now."""


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
) -> Plan:
    """Tables only grow, so a target is the table as it is and all that its readers have beyond it. Raises Misbound."""
    keyed = _keyed(answer)
    known: dict[str, pa.Schema | None] = {}
    targets: dict[str, pa.Schema] = {}
    rows: dict[tuple[Binding, str], tuple[str, pa.StructType]] = {}

    def grow(table: str, reader: pa.StructType, version: int, key_types: list[pa.DataType]) -> None:
        if table in OURS:
            raise Misbound(
                f"The table {table} is the job's own, and a record is called so: say another `table` for it."
            )
        if table not in known:
            known[table] = columns(table)
        begun = _has_values(known[table], keyed=table in keyed)
        for key_type in key_types or [None]:
            whole = pa.struct([*reader, pa.field(KEY, key_type)]) if key_type else reader
            present = targets.get(table, known[table])
            # Deletes alone do not say what to pin.
            how = policy if begun or not reader.num_fields else Evolve.ADD
            targets[table] = evolve(present, whole, version=version, policy=how)

    for binding in bindings:
        if binding.part != "value":
            continue
        keys = [binding_ for binding_ in bindings if (binding_.topic, binding_.part) == (binding.topic, "key")]
        key_types = [kind for each in keys for _, kind in _types(each, answer, readers)]
        for head, read in _types(binding, answer, readers):
            table = binding.table_of(head.record)
            kind = beside_key(read) if table in keyed else read
            rows[binding, head.subject] = table, kind
            grow(table, kind, head.version, key_types)
        grow(binding.table_of(TOMBSTONES), pa.struct([]), 0, key_types)
    chosen = {table: Target(schema) for table, schema in targets.items()}
    left_out = {whose: dropped(kind, chosen[table]) for whose, (table, kind) in rows.items()}
    told = {whose: names for whose, names in left_out.items() if names}
    return Plan(query, batch, context, bindings, answer, chosen, checks, told, keyed)


def _keyed(answer: Answer) -> frozenset[str]:
    """The tables of topics whose keys are bound."""
    topics = {binding.topic for binding in answer.heads if binding.part == "key"}
    return frozenset(
        binding.table_of(record)
        for binding, heads in answer.heads.items()
        if binding.part == "value" and binding.topic in topics
        for record in (TOMBSTONES, *(head.record for head in heads.values()))
    )


_KEYS: Final = re.compile(rf"{KEY}(__v\d+)*")


def _has_values(present: pa.Schema | None, *, keyed: bool) -> bool:
    """Whether a table has columns beside those of its keys."""
    names = present.names if present is not None else []
    return any(not (keyed and _KEYS.fullmatch(name)) for name in names)


def _types(binding: Binding, answer: Answer, readers: Readers) -> list[tuple[Head, pa.StructType]]:
    """The readers of a binding with the columns that they give. One that cannot be compiled gives none."""
    found = []
    for head in answer.heads[binding].values():
        try:
            found.append((head, readers.decoder(head).type))
        except Unreadable as problem:
            if problem.reason is Reason.UNKNOWN_ID and binding.reader.kind == "id":
                raise Misbound(
                    f"Records of {head.subject} are to be read as id {head.reader.id}, and there is no such id "
                    f"in context {head.reader.context}: say another in `reader`."
                ) from None
    return found
