"""An audit of landed tables counts what is in them, and not what lies beside them."""

import pickle
import shutil
from collections import Counter
from pathlib import Path

import pyarrow as pa
import pytest

from sigla_pipelines.audit.committed import committed, committed_files
from sigla_pipelines.audit.usage import NoRecords, usage_of_files
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.sinks.sink import folder_of, staged_name
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.world import framed

MONEY = 'syntax = "proto3"; message Money { string currency = 1; }'


@pytest.fixture(params=["parquet", "iceberg"])
def landings(request: pytest.FixtureRequest, tmp_path: Path) -> Landings:
    if request.param == "parquet":
        return Landings(tmp_path)
    catalog = {"type": "sql", "uri": f"sqlite:///{tmp_path}/catalog.db"}
    return Landings(tmp_path, kind="iceberg", catalog=catalog)


def test_a_file_that_an_attempt_has_left_is_part_of_no_table(landings: Landings) -> None:
    """A driver that was killed leaves whole files: its rows would be counted twice."""
    try:
        id = landings.register(MONEY)
        landings.land(framed(id, b"\0\x0a\x03EUR"), b"\7")
        [kept] = [file for file in landings.written() if file.parent.parent.name == "orders"]
        shutil.copy(kept, kept.parent.parent / staged_name("q", 0, "left"))
        found = {
            (Path(place.url).parent.name, name)
            for place, names in committed_files(landings.job).items()
            for name in names
        }
        assert found == {
            ("orders", kept.name),
            *(
                (folder_of(QUARANTINE), Path(each.path).name)
                for each in landings.last.files
                if each.table == QUARANTINE
            ),
        }
    finally:
        landings.close()


def test_a_record_that_a_replay_has_landed_is_counted_once(landings: Landings) -> None:
    """It stays in the quarantine, which is never changed; what still waits there goes on being counted."""
    try:
        known = landings.register("message Other {}", "others-value")
        late, never = known + 1, known + 2  # ids are given one after another
        landings.land(*(framed(id, b"\0\x0a\x03EUR") for id in (late, never)))
        assert uses(landings) == {(late, True): 1, (never, True): 1}
        assert landings.register(MONEY) == late
        assert landings.job.replay() is not None
        assert uses(landings) == {(late, False): 1, (never, True): 1}
    finally:
        landings.close()


def uses(landings: Landings) -> Counter[tuple[int, bool]]:
    """The rows of each id that tasks find, in the quarantine and elsewhere."""
    held = pickle.loads(pickle.dumps(committed(landings.job)))  # as Spark sends it to tasks
    named = [{"place": place, "name": name} for place, names in enumerate(held.files.values()) for name in names]
    found = usage_of_files([pa.RecordBatch.from_pylist(named)], [*held.files], held.resolved)
    rows = [row for batch in found for row in batch.to_pylist()]
    return Counter({(row["id"], row["quarantined"]): row["rows"] for row in rows})


def test_tables_that_hold_nothing_are_not_looked_through(tmp_path: Path) -> None:
    """Every schema would seem to be unused."""
    landings = Landings(tmp_path)
    landings.register(MONEY)
    landings.land()
    with pytest.raises(NoRecords, match="are empty"):
        committed_files(landings.job)
