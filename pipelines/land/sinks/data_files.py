"""What a table of Iceberg is told of a file, where moments in it are of no year that Python's calendar has (1 to 9999).

Infinity as Postgres says it, microseconds where milliseconds were meant: such a moment lands as it is. pyiceberg's
`add_files` makes a date of each column's smallest and largest value, and fails at these. So of such columns a file says
how many values there are, without smallest and largest, and every query looks into it.
"""

from collections.abc import Iterator

import numpy as np
import pyarrow.parquet as pq
from pyiceberg.io import FileIO
from pyiceberg.io.pyarrow import parquet_file_to_data_file
from pyiceberg.manifest import DataFile
from pyiceberg.table import TableProperties
from pyiceberg.table.metadata import TableMetadata

from pipelines.land.sinks.sink import DAY, days


def data_file(table: TableMetadata, io: FileIO, uri: str) -> DataFile:
    """As `add_files` makes it, of any moments."""
    with io.new_input(uri).open() as opened:
        footer = pq.read_metadata(opened)
    far = dict(_far(footer))
    counted = {f"{TableProperties.METRICS_MODE_COLUMN_CONF_PREFIX}.{name}": "counts" for name in far}
    told = table.model_copy(update={"properties": {**table.properties, **counted}})
    made = parquet_file_to_data_file(io, told, uri)
    if DAY in far and table.spec().fields:
        [made.partition[0]] = days(np.array([far[DAY]])).tolist()
    return made


def _far(footer: pq.FileMetaData) -> Iterator[tuple[str, int]]:
    """The columns whose smallest or largest value is no date, each with the smallest as it is stored."""
    for group in map(footer.row_group, range(footer.num_row_groups)):
        for column in map(group.column, range(footer.num_columns)):
            if column.physical_type in ("INT32", "INT64") and column.is_stats_set:
                try:
                    _ = column.statistics.min, column.statistics.max
                except OverflowError:
                    yield column.path_in_schema, column.statistics.min_raw
