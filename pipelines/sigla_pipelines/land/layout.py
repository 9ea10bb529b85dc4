"""How the files of each table are laid out: what bindings say, as far as a table has the columns for it."""

from collections.abc import Callable, Iterable, Mapping, Sequence

import pyarrow as pa

from sigla_pipelines.land import partitions
from sigla_pipelines.land.bindings import Binding, Layout
from sigla_pipelines.land.partitions import DAILY, Fields
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.sinks.sink import table_schema

Present = Callable[[str], Fields | None]
"""A table → by what it is partitioned now; None if it does not exist."""

Unmet = Callable[[Binding], Iterable[pa.Schema]]
"""A binding → the columns of tables that its records may have later: of messages that were not met yet."""


def table_layouts(
    bound: Mapping[Binding, Sequence[str]], targets: Mapping[str, pa.Schema], present: Present, unmet: Unmet
) -> Mapping[str, Layout]:
    """The layouts of all targets. A table of which no binding speaks stays as it is.

    bound: the tables of a binding's records. Where it has several, those that lack a column are laid out as if it said
    nothing. Raises Misbound where all lack it, and those that may come as well; where a column has the wrong type; and
    where two bindings differ.
    """
    partitioned: dict[str, Fields] = {}
    ordered: dict[str, tuple[str, ...]] = {}
    for binding, tables in bound.items():
        if binding.partition is not None:
            needed = [field.column for field in binding.partition]
            for table in _tables_with_columns(
                binding, "partition", needed, tables=tables, targets=targets, unmet=unmet
            ):
                _check_partition(table, binding.partition, targets[table])
                _agree(table, "partition", partitioned.setdefault(table, binding.partition), binding.partition)
        if binding.sort is not None:
            for table in _tables_with_columns(
                binding, "sort", binding.sort, tables=tables, targets=targets, unmet=unmet
            ):
                _check_sortable(table, binding.sort, targets[table])
                _agree(table, "sort", ordered.setdefault(table, binding.sort), binding.sort)
    return {
        table: Layout(partitioned.get(table, _present_partition(table, columns, present)), ordered.get(table))
        for table, columns in targets.items()
    }


def _present_partition(table: str, columns: pa.Schema, present: Present) -> Fields:
    found = present(table)
    if found is None:
        return DAILY
    _check_partition(table, found, columns)
    return found


def _tables_with_columns(
    binding: Binding,
    word: str,
    needed: Sequence[str],
    *,
    tables: Sequence[str],
    targets: Mapping[str, pa.Schema],
    unmet: Unmet,
) -> list[str]:
    """The tables with these columns. Raises Misbound if there are tables, and none has them or may have them later."""
    lacking = {table: _lacking(targets[table], needed) for table in tables}
    found = [table for table, names in lacking.items() if not names]
    if tables and not found and all(_lacking(columns, needed) for columns in unmet(binding)):
        table = tables[0]
        raise Misbound(
            f"`{word}` of the topic {binding.topic} names the unknown column {lacking[table][0]} of the table {table}. "
            f"Its columns: {', '.join(table_schema(targets[table]).names)}."
        )
    return found


def _lacking(columns: pa.Schema, needed: Iterable[str]) -> list[str]:
    return [name for name in needed if _type(columns, name) is None]


def _check_partition(table: str, fields: Fields, columns: pa.Schema) -> None:
    for field in fields:
        kind = _type(columns, field.column)
        wrong = f"unknown column {field.column}" if kind is None else partitions.misfit(field, kind)
        if wrong:
            raise Misbound(f"The table {table} cannot be partitioned by {field}: {wrong}. Write another `partition`.")


def _check_sortable(table: str, names: Iterable[str], columns: pa.Schema) -> None:
    for name in names:
        kind = _type(columns, name)
        if pa.types.is_nested(kind) or pa.types.is_floating(kind):
            raise Misbound(
                f"The table {table} cannot be sorted by {name}, which has the type {kind}: choose columns of texts, "
                "whole numbers, decimals, dates or times."
            )


def _agree(table: str, word: str, first: object, second: object) -> None:
    if first != second:
        raise Misbound(f"Two bindings of the table {table} differ in `{word}`: write the same in both.")


def _type(columns: pa.Schema, name: str) -> pa.DataType | None:
    """The type of a column, or of a member of a struct; None if it does not exist."""
    kind: pa.DataType = pa.struct(list(table_schema(columns)))
    steps = partitions.path(tuple(kind), name)
    for at in steps or ():
        kind = kind.field(at).type
    return kind if steps else None
