"""Where a load writes beside the registry: nothing of other writers is lost there, and a load cut off goes on."""

import json
from contextlib import nullcontext
from pathlib import Path

import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession

from sigla.terminal.statuses import MISUSED
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.load import job
from sigla_pipelines.load import report as reports
from sigla_pipelines.load.frames import spark_ddl
from sigla_pipelines.places import Place, open_place
from tests.pipelines.load.dumps import dumped


def theirs(folder: Path) -> Path:
    folder.mkdir(parents=True)
    thesis = folder / "thesis.txt"
    thesis.write_text("years of work")
    return thesis


# --- places ----------------------------------------------------------------------------------------------------------


def test_a_place_that_holds_anything_is_nobodys_report(tmp_path: Path) -> None:
    thesis = theirs(tmp_path / "precious")
    with pytest.raises(NotEmpty, match="choose an empty folder"):
        reports.claimed(str(tmp_path / "precious"))
    assert [*tmp_path.rglob("*.*")] == [thesis]


def test_a_report_that_was_cut_off_is_begun_again_in_its_place(tmp_path: Path) -> None:
    out = reports.claimed(str(tmp_path / "report"))
    out.replace("part-000007.parquet", b"half of it")
    assert reports.claimed(str(tmp_path / "report")) == out


@pytest.mark.parametrize("where", ["file", "file/report"])
def test_where_nobody_can_write_is_found_out_at_once(
    where: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (tmp_path / "file").touch()
    assert exit_status_of(lambda: bool(reports.claimed(str(tmp_path / where))), job.OWN, again=job.AGAIN) == MISUSED
    assert "cannot be used" in capsys.readouterr().err


# --- whole loads -----------------------------------------------------------------------------------------------------


@pytest.fixture
def here(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext(spark))


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
@pytest.mark.usefixtures("here")
def test_a_load_of_dumps_that_overlap_tells_each_fact_once_and_removes_nothing_that_is_not_its_own(
    spark: SparkSession, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """Neither where the report goes, nor in its folder of work; a report that was begun becomes whole."""
    thesis, notes = theirs(tmp_path / "precious"), theirs(tmp_path / "work" / "versions")
    dumped(tmp_path / "dumps" / "a.jsonl", "a", "b")
    dumped(tmp_path / "dumps" / "again.jsonl", "a")
    command = [str(tmp_path / "dumps"), "--data", str(tmp_path / "data"), "--report"]
    assert job.main([*command, str(thesis.parent)]) == 2
    assert capsys.readouterr().err == f"{thesis.parent} is not empty: choose an empty folder or prefix.\n"
    assert not (tmp_path / "data").exists()
    report = tmp_path / "report"
    begun(report)
    assert job.main([*command, str(report), "--work", str(tmp_path / "work")]) == 0
    assert thesis.exists()
    assert notes.exists()
    assert "2 versions" in capsys.readouterr().out
    told = pq.read_table(report).to_pylist()
    assert sorted(fact["about"] for fact in told) == ["a version 1 id 1", "b version 1 id 2"]
    as_json = tmp_path / "report.json"
    reports.write(spark.createDataFrame(told, spark_ddl(reports.FACTS)), begun(as_json))
    lines = [json.loads(line) for part in sorted(as_json.iterdir()) for line in part.read_text().splitlines()]
    assert sorted(lines, key=str) == sorted(told, key=str)
    for each in (report, as_json):
        with pytest.raises(NotEmpty):
            reports.claimed(str(each))
        assert open_place(str(each)).read(reports.MARK) is None


def begun(report: Path) -> Place:
    """A place for a report, in which an earlier load was cut off."""
    out = reports.claimed(str(report))
    out.replace("part-000099.parquet", b"half of an earlier one")
    return out
