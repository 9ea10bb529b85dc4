"""What is read of a dump: each record once, and of one topic alone."""

from contextlib import nullcontext
from pathlib import Path

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.load import job, source
from tests.pipelines.load.dumps import dumped


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_dumps_of_two_topics_in_one_folder_are_refused(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In dumps that overlap each record counts once; where an offset says two things, one of them would be lost."""
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext(spark))
    dumps = tmp_path / "dumps"
    dumped(dumps / "a.jsonl", "orders", "users")
    dumped(dumps / "b.jsonl", "orders", "payments")
    assert job.main([str(dumps), "--data", str(tmp_path / "data")]) == 2
    told = capsys.readouterr().err
    assert told.startswith(
        f"{dumps} contains two different records with the offset 1, so these are dumps of two topics: "
    )
    assert told.endswith("Nothing was loaded.\n")


VALUE = '{"subject":"o","version":1,"id":1,"schema":"\\"int\\"","deleted":false}'

WITHOUT_KEYS = {"a value": VALUE, "a tombstone": "null", "columns": f"CreateTime:1\tOffset:3\t{VALUE}"}


@pytest.mark.parametrize("line", WITHOUT_KEYS.values(), ids=WITHOUT_KEYS)
def test_a_dump_without_keys_is_told_how_to_have_them(line: str) -> None:
    """Kafka's console consumer prints no keys unless it is told to, and neither does kcat."""
    with pytest.raises(source.NoSource) as refused:
        list(source._records_of_lines("dump.jsonl", [pa.RecordBatch.from_pylist([{"value": line}])]))
    sentence = str(refused.value)
    assert sentence.startswith("A line of dump.jsonl has no key: ")
    for part in ("kcat prints it with -J", "--property print.key=true", line[:20], "Nothing was loaded."):
        assert part in sentence
