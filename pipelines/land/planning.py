"""The plan of a batch: what its tables will look like."""

from collections.abc import Callable

import pyarrow as pa

from pipelines.land.heads import Misbound
from pipelines.land.landed import KEY
from pipelines.land.plan import Answer, Binding, Checks, Head, Plan
from pipelines.land.readers import Readers
from pipelines.land.sinks.sink import OURS
from pipelines.land.targets import Evolve, Target, dropped, evolve
from pipelines.land.transform import TOMBSTONES
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
    targets: dict[str, pa.Schema] = {}
    rows: dict[tuple[Binding, str], tuple[str, pa.StructType]] = {}

    def grow(table: str, reader: pa.StructType, version: int) -> None:
        if table in OURS:
            raise Misbound(
                f"The table {table} is the job's own, and a record is called so: say another `table` for it."
            )
        present = targets.get(table) or columns(table)
        targets[table] = evolve(present, reader, version=version, policy=policy)

    for binding in bindings:
        if binding.part != "value":
            continue
        keys = [binding_ for binding_ in bindings if (binding_.topic, binding_.part) == (binding.topic, "key")]
        key_types = [kind for each in keys for _, kind in _types(each, answer, readers)]
        read = _types(binding, answer, readers)
        rows |= {(binding, head.subject): (binding.table_of(head.record), kind) for head, kind in read}
        found = [(binding.table_of(head.record), kind, head.version) for head, kind in read]
        found.append((binding.table_of(TOMBSTONES), pa.struct([]), 0))
        for table, kind, version in found:
            for key_type in key_types or [None]:
                whole = pa.struct([*kind, pa.field(KEY, key_type)]) if key_type else kind
                grow(table, whole, version)
    chosen = {table: Target(schema) for table, schema in targets.items()}
    left_out = {whose: dropped(kind, chosen[table]) for whose, (table, kind) in rows.items()}
    told = {whose: names for whose, names in left_out.items() if names}
    return Plan(query, batch, context, bindings, answer, chosen, checks, told)


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
