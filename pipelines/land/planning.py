"""The plan of a batch: what its tables will look like."""

from collections.abc import Callable, Mapping

import pyarrow as pa

from pipelines.land.landed import KEY
from pipelines.land.plan import Binding, Checks, Head, Plan, Strategy
from pipelines.land.readers import Readers
from pipelines.land.targets import Evolve, Target, evolve
from pipelines.land.transform import TOMBSTONES
from sigla.decoding.decoder import Unreadable

Columns = Callable[[str], pa.Schema | None]
"""A table → the columns of its values as they are now."""


def planned(
    *,
    query: str,
    batch: int,
    context: str,
    bindings: tuple[Binding, ...],
    heads: Mapping[str, Head],
    checks: Checks,
    readers: Readers,
    columns: Columns,
    policy: Evolve = Evolve.ADD,
) -> Plan:
    """Tables only grow, so a target is the table as it is and all that its readers have beyond it."""
    targets: dict[str, pa.Schema] = {}

    def grow(table: str, reader: pa.StructType, version: int) -> None:
        present = targets.get(table) or columns(table)
        targets[table] = evolve(present, reader, version=version, policy=policy)

    for binding in bindings:
        if binding.part != "value":
            continue
        keys = [binding_ for binding_ in bindings if (binding_.topic, binding_.part) == (binding.topic, "key")]
        key_types = [kind for each in keys for _, kind in _types(each, heads, readers)]
        found = [(binding.table_of(head.record), kind, head.version) for head, kind in _types(binding, heads, readers)]
        found.append((binding.table_of(TOMBSTONES), pa.struct([]), 0))
        for table, kind, version in found:
            for key_type in key_types or [None]:
                whole = pa.struct([*kind, pa.field(KEY, key_type)]) if key_type else kind
                grow(table, whole, version)
    chosen = {table: Target(schema) for table, schema in targets.items()}
    return Plan(query, batch, context, bindings, heads, chosen, checks)


def _types(binding: Binding, heads: Mapping[str, Head], readers: Readers) -> list[tuple[Head, pa.StructType]]:
    """The readers of a binding with the columns that they give. One that cannot be compiled gives none."""
    found = []
    for head in heads.values():
        if _is_of(head, binding):
            try:
                found.append((head, readers.decoder(head).type))
            except Unreadable:
                continue
    return found


def _is_of(head: Head, binding: Binding) -> bool:
    by_topic = binding.strategy is Strategy.TOPIC
    name = binding.subject("" if by_topic else head.record)
    return bool(head.record) is not by_topic and head.subject.rpartition(":")[2] == name
