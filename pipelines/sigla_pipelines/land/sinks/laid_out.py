"""How an Iceberg table is laid out: read from it, and changed by the commit of files that are laid out otherwise.

A table keeps all its partitionings and orders: files that are there stay as they are, and new ones follow the new one.
"""

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from pyiceberg.table import Transaction
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.table.sorting import NullOrder, SortDirection, SortField
from pyiceberg.transforms import BucketTransform, IdentityTransform, Transform, TruncateTransform, parse_transform

from sigla_pipelines.land import partitions
from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.partitions import DAILY, IDENTITY, Fields, PartitionField
from sigla_pipelines.land.sinks.sink import OURS


def of_file(file: DataFile) -> Fields:
    """Tells by what a file is partitioned. Those that do not say it were written when all were by the same."""
    if file.partition is None:
        return () if file.table in OURS else DAILY
    return partitions.parse_fields(file.partition)


def alike(files: Sequence[DataFile]) -> list[list[DataFile]]:
    """The files by how they are laid out."""

    def kind(file: DataFile) -> tuple[str, str]:
        return str(file.partition), str(file.sort)

    return [list(several) for _, several in groupby(sorted(files, key=kind), key=kind)]


def follow(change: Transaction, file: DataFile) -> None:
    """From now on the table is laid out as this file is."""
    _partition(change, of_file(file))
    if file.sort is not None:
        _order(change, partitions.names(file.sort))


def partition_of(table: TableMetadata) -> Fields:
    """Tells by what it is partitioned now."""
    schema = table.schema()
    return tuple(
        _field(field.transform, schema.find_column_name(field.source_id) or "") for field in table.spec().fields
    )


def _field(transform: Transform[Any, Any], column: str) -> PartitionField:
    match transform:
        case BucketTransform():
            return PartitionField("bucket", column, transform.num_buckets)
        case TruncateTransform():
            return PartitionField("truncate", column, transform.width)
    return PartitionField(str(transform), column)


def _partition(change: Transaction, wanted: Fields) -> None:
    metadata = change.table_metadata
    if partition_of(metadata) == wanted:
        return
    known = {
        _field(field.transform, metadata.schema().find_column_name(field.source_id) or ""): field.name
        for spec in metadata.partition_specs
        for field in spec.fields
    }
    taken = {name.casefold() for name in (*metadata.schema().column_names, *known.values())}
    with change.update_spec() as update:
        for present in metadata.spec().fields:
            update.remove_field(present.name)
        for field in wanted:
            update.add_field(field.column, _transform(field), known.get(field) or _free_name(field, taken))


def _transform(field: PartitionField) -> Transform[Any, Any]:
    said = f"{field.transform}[{field.number}]" if field.number else field.transform
    found: Transform[Any, Any] = parse_transform(said)
    return found


def _free_name(field: PartitionField, taken: set[str]) -> str:
    """No column, and no field of another partitioning, is called so."""
    name = field.name
    # What is partitioned by a column itself is called as the column is.
    while name.casefold() in taken and not (field.transform == IDENTITY and name == field.column):
        name += "_"
    taken.add(name.casefold())
    return name


def _order(change: Transaction, wanted: Sequence[str]) -> None:
    metadata = change.table_metadata
    fields = [
        SortField(
            metadata.schema().find_field(name).field_id, IdentityTransform(), SortDirection.ASC, NullOrder.NULLS_LAST
        )
        for name in wanted
    ]
    if list(metadata.sort_order().fields) != fields:
        with change.update_sort_order() as update:
            for name in wanted:
                update.asc(name, IdentityTransform())
