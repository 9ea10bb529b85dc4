"""Every fact of a load, as a table: its place is marked as ours before anything is loaded, until the table is whole.

The mark says that the place was empty when a load began, so that the same load, begun again, may write there anew;
without it nothing is ever removed.
"""

import json
from collections.abc import Iterable, Iterator
from functools import partial
from itertools import chain
from typing import Final

import pyarrow as pa
from pyspark import TaskContext
from pyspark.sql import DataFrame

from sigla_pipelines.audit import tables
from sigla_pipelines.load.frames import REPORT, STEP, batches, rows, spark_ddl
from sigla_pipelines.places import Place, open_place

MARK: Final = "_sigla-load"
"""Whoever reads a table passes by names that begin so."""

FACTS: Final = pa.schema([STEP.field(name) for name in REPORT])
_WRITTEN: Final = pa.schema([pa.field("name", pa.string())])


def claimed(where: str) -> Place:
    """A place for one report.

    Raises NotEmpty, InvalidSetting, and OSError or StoreError if the folder cannot be written.
    """
    found = open_place(where)
    if found.read(MARK) is None:
        tables.check_empty(found)
        found.put_if_absent(MARK, b"")
    return found


def write(report: DataFrame, out: Place) -> None:
    """Into a place that is claimed: as JSON, an object a line, where its name ends so, and else as Parquet."""
    for name in list(out.names("part-")):
        out.delete(name)
    if out.url.endswith(".json"):
        report.mapInArrow(partial(_json_lines, out=out), spark_ddl(_WRITTEN)).collect()
    else:
        tables.write(report, FACTS, out)
    out.delete(MARK)


def _json_lines(given: Iterable[pa.RecordBatch], *, out: Place) -> Iterator[pa.RecordBatch]:
    coming = rows(given)
    if (first := next(coming, None)) is None:
        return
    name = f"part-{TaskContext.get().partitionId():06}.json"
    with out.filesystem.open_output_stream(out.folder_for(name)) as opened:
        for row in chain([first], coming):
            opened.write(f"{json.dumps(row, ensure_ascii=False)}\n".encode())
    yield from batches([{"name": name}], _WRITTEN)
