"""A manifest is the decision about a batch: it stands as it was put, and says all that it said."""

from dataclasses import replace
from pathlib import Path

import orjson
import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sigla_pipelines.land import column_types, quarantine
from sigla_pipelines.land.landed import DataFile, Metric, Span
from sigla_pipelines.land.manifest import Entry, Manifest, Manifests, Range, Read, RecordCounts
from sigla_pipelines.land.targets import SYSTEM
from sigla_pipelines.places import open_place

pytestmark = pytest.mark.usefixtures("unsynced")

WHOLE = Manifest(
    query="q",
    number=7,
    ranges=(Range("orders", "uuid", 0, 10, 20),),
    entries=(Entry("a/b.parquet", "1-2", 2, 10),),
    files=(DataFile("orders", "data/x.parquet", 9, 100), DataFile("_quarantine", "data/y.parquet", 1, 10)),
    columns={
        "orders": pa.schema([pa.field("a", pa.int64()), pa.field("b", pa.list_(pa.struct([("c", pa.string())])))])
    },
    spans=(Span("orders", 0, 10, 19, 10),),
    metrics=(Metric("orders", "orders", "orders-value", None, 1, "", 9, 90, 0, 10, 19, 1, 2),),
    reads=(Read("orders-value", 3, 42, stale=True),),
    counts=RecordCounts(10, 9, 1),
)


def test_what_is_read_back_equals_what_was_put() -> None:
    assert Manifest.decoded(WHOLE.encoded()) == WHOLE
    assert WHOLE.tables == ("_quarantine", "orders")


def test_one_that_is_put_later_does_not_stand(tmp_path: Path) -> None:
    manifests = Manifests(open_place(tmp_path))
    assert manifests.get("q", 7) is None
    assert manifests.put(WHOLE) == WHOLE
    assert manifests.put(replace(WHOLE, counts=RecordCounts(0, 0))) == WHOLE
    assert manifests.get("q", 7) == WHOLE


def test_the_last_of_a_query_is_its_highest_number(tmp_path: Path) -> None:
    """Past the tenth as well: names sort as numbers do."""
    manifests = Manifests(open_place(tmp_path))
    assert manifests.last("q") is None
    for number in (0, 1, 2, 9, 10, 11):
        manifests.put(replace(WHOLE, number=number))
    manifests.put(replace(WHOLE, query="r", number=99))
    last = manifests.last("q")
    assert last is not None
    assert last.number == 11
    assert [(each.query, each.number) for each in manifests.all()][-2:] == [("q", 11), ("r", 99)]
    assert manifests.queries() == ["q", "r"]


def test_files_are_in_the_ledger_when_their_manifest_stands(tmp_path: Path) -> None:
    """Also those of another driver, and of another query."""
    here, there = Manifests(open_place(tmp_path)), Manifests(open_place(tmp_path))
    assert here.entries() == {}
    entries = [Entry(path, "t", 1, 1) for path in "abc"]
    for query, number, entry in zip("qqr", (0, 1, 0), entries, strict=True):
        there.put(replace(WHOLE, query=query, number=number, entries=(entry,)))
        assert list(here.entries().values()) == entries[: entries.index(entry) + 1]


@pytest.mark.parametrize("source", ["file:///raw%20files", "s3://bucket/raw%20files"])
def test_files_of_manifests_that_do_not_say_their_source_are_in_the_ledger_below_it(
    source: str, tmp_path: Path
) -> None:
    """As all that were put before entries said it: the query is called by the source's URI."""
    manifests = Manifests(open_place(tmp_path))
    entry = Entry("day/a.parquet", "t", 1, 1)
    manifests.put(replace(WHOLE, query=manifests.query(source), entries=(entry,)))
    [path] = tmp_path.glob("manifests/*/*")
    form = orjson.loads(path.read_bytes())
    del form["entries"][0]["source"]
    path.write_bytes(orjson.dumps(form))
    below = {"file:///raw%20files": "/raw files"}.get(source, source)
    assert Manifests(open_place(tmp_path)).entries() == {f"{below}/day/a.parquet": replace(entry, source=below)}


def test_the_newest_is_asked_for_again_and_not_remembered(tmp_path: Path) -> None:
    here, there = Manifests(open_place(tmp_path)), Manifests(open_place(tmp_path))
    for number in range(3):
        there.put(replace(WHOLE, number=number))
        last = here.last("q")
        assert last is not None
        assert last.number == number
    assert here.get("q", 0) == replace(WHOLE, number=0)


def test_a_manifest_that_another_driver_puts_is_seen(tmp_path: Path) -> None:
    """Absence is never remembered."""
    here, there = Manifests(open_place(tmp_path)), Manifests(open_place(tmp_path))
    assert here.get("q", 7) is None
    there.put(WHOLE)
    assert here.get("q", 7) == WHOLE


def test_a_query_without_a_checkpoint_is_drawn_once_for_a_work_directory(tmp_path: Path) -> None:
    """Removed and begun anew, it is another one: tables may remember what the old one had landed."""
    first = Manifests(open_place(tmp_path / "a")).query("replay")
    assert Manifests(open_place(tmp_path / "a")).query("replay") == first
    assert Manifests(open_place(tmp_path / "a")).query("files") != first
    assert Manifests(open_place(tmp_path / "b")).query("replay") != first
    assert first in Manifests(open_place(tmp_path / "a")).queries()


@pytest.mark.parametrize("query", ["", "a/b", "..", "a b", "ä"])
def test_a_query_is_called_so_that_files_can_be(query: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="cannot be called"):
        Manifests(open_place(tmp_path)).put(replace(WHOLE, query=query))


KINDS = st.recursive(
    st.sampled_from(
        [
            *(pa.bool_(), pa.int32(), pa.int64(), pa.float32(), pa.float64(), pa.string(), pa.binary(), pa.date32()),
            *(pa.timestamp("us"), pa.timestamp("us", tz="UTC"), pa.time64("us"), pa.decimal128(38, 9)),
            column_types.JSON,
        ]
    ),
    lambda kinds: st.one_of(
        kinds.map(pa.list_),
        kinds.map(lambda kind: pa.map_(pa.string(), kind)),
        st.lists(kinds, max_size=3).map(
            lambda several: pa.struct([pa.field(str(at), kind) for at, kind in enumerate(several)])
        ),
    ),
    max_leaves=5,
)


@given(st.lists(st.tuples(KINDS, st.booleans()), max_size=4))
def test_columns_of_every_type_are_kept(kinds: list[tuple[pa.DataType, bool]]) -> None:
    schema = pa.schema([pa.field(f"c{at}", kind, nullable=free) for at, (kind, free) in enumerate(kinds)])
    assert column_types.schema(column_types.schema_form(schema)) == schema


@pytest.mark.parametrize("schema", [SYSTEM, quarantine.SCHEMA, quarantine.RESOLVED])
def test_our_own_columns_are_kept(schema: pa.Schema) -> None:
    assert column_types.schema(column_types.schema_form(schema)) == schema


def test_a_type_that_no_table_has_is_refused() -> None:
    with pytest.raises(ValueError, match="a column of type uint8 cannot be kept"):
        column_types.schema_form(pa.schema([pa.field("a", pa.uint8())]))
