"""Which ids a file of data speaks of, whatever kind of file it is."""

from pathlib import Path
from typing import Any
from uuid import UUID

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from sigla.decoding.frames import KEY_HEADER, VALUE_HEADER
from sigla_pipelines.audit.usage import NoRecords, check_records, parquet_files, usage_of_files
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.places import open_place
from tests.build import NOW
from tests.pipelines.audit.estate import framed, landed, raw

GUID = UUID(int=7)


def used(folder: Path) -> list[tuple[str, int | None, str | None, int, int | None]]:
    """What each file says, without whether it is one of the quarantine."""
    return [tuple(row.values())[:-1] for row in told(folder)]


def told(folder: Path) -> list[dict[str, Any]]:
    named = pa.RecordBatch.from_pylist([{"place": 0, "name": name} for name in open_place(folder).names()])
    return [row for batch in usage_of_files([named], [open_place(folder)]) for row in batch.to_pylist()]


def test_landed_rows_are_counted_by_topic_and_id(tmp_path: Path) -> None:
    landed(tmp_path / "a.parquet", [("orders", 1, 0), ("orders", 1, 2_000), ("orders", 2, 0), ("users", 1, 0)])
    assert sorted(used(tmp_path), key=str) == [
        ("orders", 1, None, 2, NOW + 2_000),
        ("orders", 2, None, 1, NOW),
        ("users", 1, None, 1, NOW),
    ]


def test_a_tombstone_speaks_of_no_schema(tmp_path: Path) -> None:
    landed(tmp_path / "a.parquet", [("orders", None, 0)])
    assert used(tmp_path) == []


def test_raw_records_say_their_ids_in_front(tmp_path: Path) -> None:
    """Damage, and what has no frame, says nothing."""
    raw(tmp_path / "a.parquet", [framed(5), framed(5), b"", b"\x00\x01", b"text", None])
    assert used(tmp_path) == [("raw", 5, None, 2, NOW)]


def test_a_header_says_an_id_or_a_guid(tmp_path: Path) -> None:
    raw(
        tmp_path / "a.parquet",
        [b"bare"],
        headers=[(VALUE_HEADER, b"\x01" + GUID.bytes), (KEY_HEADER, b"\x00\x00\x00\x00\x09")],
    )
    assert used(tmp_path) == [("raw", None, str(GUID), 1, NOW), ("raw", 9, None, 1, NOW)]


def test_files_of_another_kind_have_nothing_to_tell(tmp_path: Path) -> None:
    pq.write_table(pa.table({"x": [1]}), tmp_path / "a.parquet")
    assert used(tmp_path) == []


def test_a_time_is_whatever_kafka_lets_a_producer_say(tmp_path: Path) -> None:
    """Also one after the year 9999, which Python has no date for, or an impossible one; integers are milliseconds."""
    far = 10**18
    at = pa.array([far], pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"_sr_topic": ["t"], "_sr_schema_id": [1], "_sr_ts": at}), tmp_path / "a.parquet")
    none = pa.nulls(1, pa.timestamp("us", tz="UTC"))
    pq.write_table(pa.table({"_sr_topic": ["t"], "_sr_schema_id": [2], "_sr_ts": none}), tmp_path / "b.parquet")
    times = {"c": at, "d": none, "e": pa.array([far]), "f": pa.nulls(1), "g": pa.array(["yesterday"])}
    for name, time in times.items():
        headers = pa.array([[]], RAW.field("headers").type)
        raw = {"topic": [name], "timestamp": time, "key": [b""], "value": [framed(3)], "headers": headers}
        pq.write_table(pa.table(raw), tmp_path / f"{name}.parquet")
    assert used(tmp_path) == [
        ("t", 1, None, 1, far // 1_000),
        ("t", 2, None, 1, None),
        ("c", 3, None, 1, far // 1_000),
        ("d", 3, None, 1, None),
        ("e", 3, None, 1, far),
        ("f", 3, None, 1, None),
        ("g", 3, None, 1, None),
    ]


def test_where_there_are_no_records_they_are_not_called_unused(tmp_path: Path) -> None:
    """A folder that is not there, or that holds something else: a typo would delete what is needed."""
    (tmp_path / "other").mkdir()
    pq.write_table(pa.table({"x": [1]}), tmp_path / "other" / "a.parquet")
    (tmp_path / "other" / "b.parquet").write_bytes(b"no Parquet")
    for name in ("typo", "other"):
        with pytest.raises(NoRecords, match=f"Found no Parquet files of landed or raw records in .*{name}"):
            check_records(open_place(tmp_path / name))
    landed(tmp_path / "other" / "c.parquet", [("orders", 1, 0)])
    check_records(open_place(tmp_path / "other"))


def test_what_a_task_has_staged_is_not_counted(tmp_path: Path) -> None:
    """A commit moves it to where it counts, or it belongs to an attempt that failed."""
    for folder in ("orders/data", "_sigla-staging/orders/data"):
        (tmp_path / folder).mkdir(parents=True)
        landed(tmp_path / folder / "a.parquet", [("orders", 1, 0)])
    assert [*parquet_files(open_place(tmp_path))] == ["orders/data/a.parquet"]
