"""What a job says of itself: a line for a person, one for a program, one that CloudWatch makes metrics of."""

import json
import sys
from contextlib import nullcontext
from dataclasses import replace
from pathlib import Path

import pytest
from py4j.protocol import Py4JError, Py4JNetworkError
from pyspark.errors import PySparkException

from sigla_pipelines import __main__ as entry
from sigla_pipelines.exit_status import ending_of
from sigla_pipelines.land import job
from sigla_pipelines.land.exit_status import AGAIN, OWN
from sigla_pipelines.land.landed import QUARANTINE, DataFile, Metric
from sigla_pipelines.land.manifest import Manifest, Read, RecordCounts, Stopped
from sigla_pipelines.land.reader_schemas import Misbound
from sigla_pipelines.land.report import LONGEST, Done, Sum, as_emf, as_json, as_text
from sigla_pipelines.spark import gave_up
from tests.pipelines.spark.estate import Estate


def metric(table: str, id: int, rows: int, reason: str = "") -> Metric:
    return Metric(table, "orders", "orders-value", id, 1, reason, rows, 10 * rows, 0, 0, rows - 1, 0, 0)


MANIFEST = Manifest(
    query="q",
    number=12,
    ranges=(),
    entries=(),
    files=(
        DataFile("orders", "data/a", 990, 1),
        DataFile("orders", "data/b", 2, 1),
        DataFile(QUARANTINE, "data/c", 8, 1),
    ),
    columns={},
    spans=(),
    metrics=(metric("orders", 1, 992), metric(QUARANTINE, 1, 5, "BAD_UTF8"), metric(QUARANTINE, 2, 3, "UNKNOWN_ID")),
    reads=(),
    counts=RecordCounts(read=1000, landed=992, quarantined=8),
)
DONE = Done("land", MANIFEST, 1_767_268_800_000, 2.0)


def test_a_person_reads_what_became_of_a_batch_and_how_fast() -> None:
    assert as_text(DONE) == "batch 12: read 1,000, landed 992, quarantined 8 (500 records/s)"


def test_properties_that_no_schema_names_are_told_kept_or_dropped() -> None:
    """To a person only where there are any: most batches have none."""
    more = replace(metric("orders", 1, 992), additional=7, left_out=2)
    done = replace(DONE, manifest=replace(MANIFEST, metrics=(more, *MANIFEST.metrics[1:])))
    kept, dropped = (f"properties that the schema does not name, {what}" for what in ("kept: 7", "dropped: 2"))
    assert f"quarantined 8, {kept}, {dropped} (500 records/s)" in as_text(done)
    assert json.loads(as_json(done))["additional"] == {"kept": 7, "dropped": 2}
    assert json.loads(as_emf(done))["Additional"] == {"kept": 7, "dropped": 2}
    sum_ = Sum()
    assert not any("name" in line for line in sum_.lines())
    for _ in range(2):
        sum_.add(done.manifest)
    assert sum_.lines()[-2:] == [kept.replace("7", "14"), dropped.replace("2", "4")]


def test_a_program_reads_it_by_schema_and_reason() -> None:
    facts = json.loads(as_json(DONE))
    assert (facts["read"], facts["landed"], facts["quarantined"], facts["batch"]) == (1000, 992, 8, 12)
    assert facts["reasons"] == {"BAD_UTF8": 5, "UNKNOWN_ID": 3}
    assert facts["tables"] == {"orders": 992, QUARANTINE: 8}
    assert [(each["schema_id"], each["rows"]) for each in facts["schemas"]] == [(1, 992), (1, 5), (2, 3)]


def test_a_batch_of_very_many_schemas_still_counts() -> None:
    """Logs cut long lines, and metrics are made of whole ones alone."""
    many = replace(MANIFEST, metrics=tuple(metric("orders", id, 1) for id in range(5_000)))
    line = as_json(replace(DONE, manifest=many))
    assert len(line) <= LONGEST
    facts = json.loads(line)
    assert (facts["read"], facts["quarantined"], facts["schemas_left_out"]) == (1000, 8, 5_000)
    assert "schemas" not in facts


def test_every_metric_that_cloudwatch_is_told_of_has_its_figure() -> None:
    facts = json.loads(as_emf(DONE))
    [directive] = facts["_aws"]["CloudWatchMetrics"]
    figures = {each["Name"]: facts[each["Name"]] for each in directive["Metrics"]}
    assert figures == {"Read": 1000, "Landed": 992, "Quarantined": 8, "Unchecked": 0, "Seconds": 2.0}
    assert all(facts[name] == "land" for [name] in directive["Dimensions"])


def test_a_run_ends_with_its_sums() -> None:
    total = Sum()
    total.add(MANIFEST)
    total.add(MANIFEST)
    assert total.lines() == ["read: 2000", "landed: 1984", "quarantined: 16", "  BAD_UTF8: 10", "  UNKNOWN_ID: 6"]


def test_what_is_left_out_of_a_subject_is_told_of_all_its_readers() -> None:
    """Topics that share a subject may read it as different versions."""
    reads = (Read("Paid", 2, 2, dropped=("a", "b")), Read("Paid", 1, 1, dropped=("a",)), Read("Sent", 1, 3))
    total = Sum()
    total.add(replace(MANIFEST, reads=reads))
    assert [line for line in total.lines() if line.startswith("left out")] == [
        "left out, for its table is pinned: Paid a",
        "left out, for its table is pinned: Paid b",
    ]


def test_what_a_task_says_within_sparks_words_is_told_as_a_sentence() -> None:
    trace = (
        "Job aborted\nTraceback (most recent call last):\n  File x\nsigla.errors.StoreError: S3 is silent\n\tat java"
    )
    assert ending_of(RuntimeError(trace), OWN, AGAIN) == (f"A store does not answer: S3 is silent. {AGAIN}", 1)
    assert ending_of(Stopped("not on"), OWN, AGAIN) == ("not on", 1)
    assert ending_of(Misbound("not there"), OWN, AGAIN) == ("not there", 2)
    assert ending_of(RuntimeError("KeyError: 'x'"), OWN, AGAIN) is None


STREAM = "[STREAM_FAILED] Query [id = a, runId = b] terminated with exception: {} SQLSTATE: 40000 SQLSTATE: XXKST\n"


@pytest.mark.parametrize(
    "failure, sentence",
    [
        (
            PySparkException(
                STREAM.format("[X] Concurrent update.\nTwo jobs.") + "=== Streaming Query ===\nLogical Plan"
            ),
            "Spark gave up: [X] Concurrent update. Two jobs.",
        ),
        (
            Py4JError("An error occurred while calling o762.collectToPython.\n: a.b.LossException: Gone.\n\tat a.b.c"),
            "Spark gave up: a.b.LossException: Gone.",
        ),
        (
            PySparkException("\nKafka option 'x'\nis not supported.\n  "),
            "Spark gave up: Kafka option 'x' is not supported.",
        ),
        (
            Py4JNetworkError("Answer from Java side is empty"),
            "Spark gave up: its JVM has ended, by a signal or for want of memory.",
        ),
        (PySparkException("Job aborted.\nTraceback (most recent call last):\nKeyError: 'x'"), None),
        (KeyError("x"), None),
    ],
)
def test_what_spark_itself_says_is_told_in_a_line(failure: Exception, sentence: str | None) -> None:
    """A fault of ours in a task does not come from Spark, and keeps its trace."""
    assert gave_up(failure) == sentence


def test_senseless_settings_are_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Told in a sentence, before Spark is begun."""
    config = tmp_path / "land.yaml"
    assert job.main([str(config)]) == 2
    config.write_text("registry: {data: x}\nsource: {kind: kafka}")
    assert job.main([str(config)]) == 2
    first, second = capsys.readouterr().err.splitlines()
    assert "cannot be read" in first
    assert "land.yaml" in second


@pytest.mark.parametrize("said, stream", [([], False), (["--once"], False), (["--stream"], True)])
def test_a_job_ends_when_all_is_landed_unless_it_is_to_stay(
    said: list[str], stream: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    config = Estate(tmp_path).config("orders")
    asked: list[bool] = []
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext())
    monkeypatch.setattr(job, "run", lambda *_, stream, **__: asked.append(stream))
    monkeypatch.setattr(job, "stopping_on_signals", lambda: None)
    assert job.main([str(config), *said]) == 0
    assert asked == [stream]


def test_a_job_that_nobody_knows_is_misuse(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["sigla_pipelines", "dance"])
    assert entry.main() == 2
    assert "Unknown job dance." in capsys.readouterr().err
    monkeypatch.setattr(sys, "argv", ["sigla_pipelines", "--help"])
    assert entry.main() == 0
    assert "replay" in capsys.readouterr().out
