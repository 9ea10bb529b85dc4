"""What a table of Iceberg is told of a file: how many values its columns have, and between which they are.

pyiceberg's `add_files` finds a file's partition by its smallest and its largest value, which tell no bucket. Here each
file says its partition itself. Where moments are of no year that Python's calendar has (1 to 9999), as infinity in
Postgres, or microseconds where milliseconds were meant, pyiceberg cannot make dates of the smallest and the largest
value. For such columns a file says how many values there are, without these two, and every query looks into it.
"""

from collections.abc import Iterator, Sequence
from decimal import Decimal
from typing import Any

import numpy as np
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import (
    compute_statistics_plan,
    data_file_statistics_from_parquet_metadata,
    parquet_path_to_id_mapping,
)
from pyiceberg.manifest import DataFile, DataFileContent, FileFormat
from pyiceberg.table import TableProperties
from pyiceberg.table.metadata import TableMetadata
from pyiceberg.typedef import Record
from pyiceberg.types import BinaryType, DecimalType, IcebergType

from sigla_pipelines.land.partitions import DAILY, days, decode_values

METRICS = TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX


def data_file(table: TableMetadata, io: FileIO, uri: str, values: str | None, *, is_sorted: bool = False) -> DataFile:
    """The entry of a file, with the table's partitioning and order as they are now.

    values: of the file's partition, as `partitions.encoded` writes them; None where they are not known, and the table
    is partitioned by the day of `_sr_ts` or by nothing.
    """
    source = io.new_input(uri)
    with source.open() as opened:
        footer = pq.read_metadata(opened)
    spec, schema = table.spec(), table.schema()
    counted = {f"{METRICS}.{name}": "counts" for name in _columns_too_far(footer)}
    statistics = data_file_statistics_from_parquet_metadata(
        parquet_metadata=footer,
        stats_columns=compute_statistics_plan(schema, {**table.properties, **counted}),
        parquet_column_mapping=parquet_path_to_id_mapping(schema),
    )
    if values is None:
        partition = _days(footer) if spec.fields else []
    else:
        kinds = [field.field_type for field in spec.partition_type(schema).fields]
        partition = [_stored_value(kind, value) for kind, value in zip(kinds, decode_values(values), strict=True)]
    return DataFile.from_args(
        content=DataFileContent.DATA,
        file_path=uri,
        file_format=FileFormat.PARQUET,
        partition=Record(*partition),
        file_size_in_bytes=len(source),
        sort_order_id=table.default_sort_order_id if is_sorted else None,
        spec_id=table.default_spec_id,
        equality_ids=None,
        key_metadata=None,
        **statistics.to_serialized_dict(),
    )


def _stored_value(kind: IcebergType, value: Any) -> Any:
    """As pyiceberg has values of partitions."""
    if value is None:
        return None
    if isinstance(kind, DecimalType):
        return Decimal(value)
    return bytes.fromhex(value) if isinstance(kind, BinaryType) else value


def _days(footer: pq.FileMetaData) -> Sequence[int]:
    """The partition of a file with rows of one day."""
    [daily] = DAILY
    [at] = [at for at in range(footer.num_columns) if footer.schema.column(at).path == daily.column]
    found: list[int] = days(np.array([footer.row_group(0).column(at).statistics.min_raw])).tolist()
    return found


def _columns_too_far(footer: pq.FileMetaData) -> Iterator[str]:
    """The columns whose smallest or largest value cannot be a date."""
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in map(group.column, range(footer.num_columns)):
            if column.physical_type in ("INT32", "INT64") and column.is_stats_set:
                try:
                    _ = column.statistics.min, column.statistics.max
                except OverflowError:
                    yield column.path_in_schema
