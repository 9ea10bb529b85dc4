"""Files of plain Parquet have one type for each column, however a schema widens: a folder is read as it lies."""

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given

from sigla_pipelines.land.manifest import Manifests
from sigla_pipelines.land.sinks.parquet import Parquet
from sigla_pipelines.land.targets import evolve
from sigla_pipelines.land.widest_types import widest
from sigla_pipelines.places import open_place
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.test_manifest import KINDS
from tests.pipelines.land.world import framed

pytestmark = pytest.mark.usefixtures("unsynced")

NARROW = 'syntax = "proto3"; message Order { int32 n = 1; repeated Item items = 2; message Item { float x = 1; } }'
WIDE = NARROW.replace("int32", "int64").replace("float", "double")


@given(KINDS)
def test_no_type_is_widened_beyond_the_widest(kind: pa.DataType) -> None:
    """And each holds what the type held that it was made of."""
    assert widest(widest(kind)) == widest(kind)
    columns = evolve(None, pa.struct([("a", widest(kind))]), version=1)
    assert evolve(columns, pa.struct([("a", kind)]), version=2) == columns
    assert columns.names == ["a"]


def test_a_column_that_widens_changes_no_file(tmp_path: Path) -> None:
    landings = Landings(tmp_path)
    landings.land(framed(landings.register(NARROW), bytes.fromhex("00080712050d0000003f")))
    landings.land(framed(landings.register(WIDE), bytes.fromhex("000808")))
    [before, after] = [pq.read_schema(file).remove_metadata() for file in landings.written()]
    assert before == after
    assert [str(before.field(name).type) for name in ("n", "items")] == ["int64", "list<element: struct<x: double>>"]
    assert [(row["n"], row["items"]) for row in landings.committed("orders")] == [(7, [{"x": 0.5}]), (8, [])]


def test_a_table_that_began_with_narrow_columns_keeps_them_until_a_reader_widens_them(tmp_path: Path) -> None:
    """Its files are there, and no reader asked for another type."""
    sink = Parquet(open_place(tmp_path / "lake"), Manifests(open_place(tmp_path / "work")))
    reader = pa.struct([("n", pa.int32()), ("m", pa.float32())])
    assert sink.fitted(reader, pa.schema([("n", pa.int32())])) == reader
    assert sink.fitted(reader, None) == widest(reader)
    assert sink.fitted(reader, pa.schema([("t", pa.string())])) == widest(reader)
