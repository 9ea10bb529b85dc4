"""Files of raw records as other programs write them: taken, or refused in one sentence that names file and column."""

import os
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla_pipelines.land import files
from sigla_pipelines.land.manifest import Manifest, Manifests, RecordCounts, Stopped
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.places import open_place

pytestmark = pytest.mark.usefixtures("unsynced")

NOON = datetime(2026, 1, 1, 12, tzinfo=UTC)


def written(folder: Path, **others: pa.Array | None) -> Path:
    """A file of two records; others: columns instead of ours, or None for one that is missing."""
    ours: dict[str, Any] = {
        "topic": pa.array(["orders"] * 2),
        "partition": pa.array([0, 1], pa.int32()),
        "offset": pa.array([5, 6]),
        "timestamp": pa.array([NOON, NOON], pa.timestamp("ms", "UTC")),
        "key": pa.nulls(2, pa.binary()),
        "value": pa.array([b"a", None]),
    }
    columns = {name: column for name, column in (ours | others).items() if column is not None}
    folder.mkdir(exist_ok=True, parents=True)
    pq.write_table(pa.table(columns), folder / "records.parquet")
    return folder


def read(folder: Path) -> list[dict[str, Any]]:
    source = open_place(folder)
    shares = files.shares(files.new(source, {}), 1)
    batches = [batch for share in shares for batch in files.read(source, share)]
    assert all(batch.schema == RAW for batch in batches)
    return [row for batch in batches for row in batch.to_pylist()]


def called(value: Any) -> str:
    """The name of a case."""
    return (
        ", ".join(f"{name} {getattr(column, 'type', '-')}" for name, column in value.items())
        if isinstance(value, dict)
        else ""
    )


def a_day(unit: str, value: int, zone: str | None = "UTC") -> pa.Array:
    return pa.array([value, value]).cast(pa.timestamp(unit, zone))


@pytest.mark.parametrize(
    "others",
    [
        {},
        {"topic": pa.array(["orders", "orders"], pa.large_string())},
        {"topic": pa.array(["orders", "orders"]).dictionary_encode()},
        {"partition": pa.array([0, 1]), "offset": pa.array([5, 6], pa.uint32())},
        {"timestamp": a_day("s", 1_767_268_800)},
        {"timestamp": a_day("us", 1_767_268_800_000_000, None)},
        {"timestamp": a_day("ns", 1_767_268_800_000_000_999)},
        {"key": pa.nulls(2)},
        {"value": pa.array([b"a", None], pa.large_binary())},
        {"headers": pa.nulls(2)},
    ],
    ids=called,
)
def test_what_programs_write_is_taken(others: dict[str, Any], tmp_path: Path) -> None:
    first, second = read(written(tmp_path / "raw", **others))
    assert (first["topic"], first["partition"], first["offset"], first["value"]) == ("orders", 0, 5, b"a")
    assert first["timestamp"] == NOON
    assert (second["partition"], second["offset"], second["value"], second["headers"]) == (1, 6, None, None)


@pytest.mark.parametrize(
    "others, said",
    [
        ({"value": None}, "is not a file of raw records: it lacks the column value"),
        ({"value": pa.array([1, 2])}, "a column value of type int64: expected binary"),
        ({"value": pa.array(["a", "b"])}, "a column value of type string"),
        ({"timestamp": pa.array([1, 2])}, "a column timestamp of type int64: expected timestamp[us, tz=UTC]"),
        ({"headers": pa.array([1, 2])}, "a column headers of type int64"),
        ({"headers": pa.array([["a"], []])}, "column headers: "),
        ({"partition": pa.array([0, 2**40])}, "column partition: "),
        ({"offset": pa.array([5, None])}, "some of its records lack offset"),
        ({"topic": pa.array(["orders", None])}, "some of its records lack topic"),
        ({"timestamp": pa.array([NOON, None], pa.timestamp("us", "UTC"))}, "some of its records lack timestamp"),
    ],
    ids=called,
)
def test_what_cannot_be_records_is_named(others: dict[str, Any], said: str, tmp_path: Path) -> None:
    with pytest.raises(Stopped) as stopped:
        read(written(tmp_path / "raw", **others))
    assert "records.parquet" in str(stopped.value)
    assert said in str(stopped.value)
    assert "\n" not in str(stopped.value)


def test_a_folder_that_is_not_there_is_no_empty_source(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    for path in (tmp_path / "nowhere", tmp_path / "file"):
        with pytest.raises(Stopped, match=f"Folder not found: {path}. Set `source.path`"):
            files.new(open_place(path), {})


def test_what_is_no_parquet_is_named_and_what_is_hidden_is_left_alone(tmp_path: Path) -> None:
    written(tmp_path)
    (tmp_path / "_SUCCESS").touch()
    (tmp_path / ".crc").touch()
    assert [new.entry.path for new in files.new(open_place(tmp_path), {})] == ["records.parquet"]
    (tmp_path / "notes.txt").write_text("none")
    with pytest.raises(Stopped, match=r"notes\.txt is not a Parquet file"):
        files.new(open_place(tmp_path), {})


def landed(manifests: Manifests, source: Path | str) -> list[str]:
    """The paths of what is new, which a manifest names from then on."""
    entries = tuple(new.entry for new in files.new(open_place(source), manifests.entries()))
    last = manifests.last("q")
    number = last.number + 1 if last else 0
    manifests.put(Manifest("q", number, (), entries, (), {}, (), (), (), RecordCounts(0, 0)))
    return [entry.path for entry in entries]


def test_a_file_is_landed_once_wherever_its_source_begins(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Above its folder, or in it, and however that is written."""
    written(tmp_path / "raw" / "day 1")
    (tmp_path / "link").symlink_to(tmp_path / "raw")
    manifests = Manifests(open_place(tmp_path / "work"))
    assert landed(manifests, tmp_path / "raw") == ["day 1/records.parquet"]
    monkeypatch.chdir(tmp_path)
    for source in ("raw", "./raw/", "raw/day 1", f"{tmp_path}/raw/day 1/", f"file://{tmp_path}/raw", "link"):
        assert landed(manifests, source) == []
    written(tmp_path / "raw" / "day 2")
    assert landed(manifests, "raw/day 2") == ["records.parquet"]
    assert landed(manifests, "raw") == []


def test_files_of_one_name_in_two_folders_are_two_files(tmp_path: Path) -> None:
    """Also where their sizes and times are the same; a change of one does not concern the other."""
    manifests = Manifests(open_place(tmp_path / "work"))
    for number, day in enumerate(("1", "2", "3")):
        folder = written(tmp_path / day, offset=pa.array([number, 9]))
        os.utime(folder / "records.parquet", (1e9, 1e9 + number // 2))
        assert landed(manifests, folder) == ["records.parquet"]
    os.utime(tmp_path / "2" / "records.parquet")
    with pytest.raises(Stopped, match=r"2/records\.parquet has changed since it was landed"):
        landed(manifests, tmp_path / "2")
    assert landed(manifests, tmp_path / "1") == []
