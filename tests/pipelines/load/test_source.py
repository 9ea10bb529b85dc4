"""What is read of a dump: each record once, and of one topic alone."""

from contextlib import nullcontext
from pathlib import Path

import pytest
from pyspark.sql import SparkSession

from pipelines.load import job
from tests.pipelines.load.dumps import dumped


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_dumps_of_two_topics_in_one_folder_are_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Of dumps that overlap each record counts once; where an offset says two things, one of them would be lost."""
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext(spark))
    dumps, data = tmp_path / "dumps", tmp_path / "data"
    dumped(dumps / "a.jsonl", "orders", "users")
    dumped(dumps / "again.jsonl", "orders")
    assert job.main([str(dumps), "--data", str(data)]) == 0
    assert "2 versions" in capsys.readouterr().out
    dumped(dumps / "b.jsonl", "orders", "payments")
    assert job.main([str(dumps), "--data", str(tmp_path / "another")]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        f"{dumps} contains two different records with the offset 1, so these are dumps of two topics: "
    )
    assert told.endswith("Nothing was loaded.\n")
