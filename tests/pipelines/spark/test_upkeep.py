"""What is done beside landing, by the settings of the job: the quarantine once more, and what attempts have left."""

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from sigla_pipelines.land import gc_job, replay_job, task
from sigla_pipelines.land.batch import Batch
from sigla_pipelines.land.driver import driver, read_settings
from sigla_pipelines.land.manifest import Entry
from sigla_pipelines.land.report import Sum
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import Estate, Outcome

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


@pytest.fixture(autouse=True)
def _as_a_worker() -> Iterator[None]:
    """Tasks run in this process here, and what they keep in a worker ends with the test.

    What they have frozen stays so: with it are all tests, which the collector would look through from then on.
    """
    before = gc.get_threshold()
    yield
    task._worker.cache_clear()
    task.OPENED.close()
    gc.set_threshold(*before)
    gc.collect()


@pytest.mark.spark
def test_a_schema_registered_late_brings_its_records_back(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    estate = Estate(tmp_path)
    with estate.registry() as world:
        first = world.register("orders-value", ORDER)
    config = estate.config("orders")
    opened = driver(read_settings(str(config)))
    records = raw([framed(id, avro(ORDER, {"id": 7})) for id in (first, first + 1)] + [b""])
    batch = Batch(opened.manifests.query("here"), 0, entries=(Entry("a", "", 0, 3),))
    opened.land(batch, lambda each: [each.land([records])])
    outcome = Outcome(opened, Sum())
    assert outcome.reasons() == {("orders", "UNKNOWN_ID"): 1, ("orders", "EMPTY"): 1}

    assert replay_job.main([str(config)]) == 0
    with estate.registry() as world:
        assert world.register("orders-value", {**ORDER, "doc": "late"}) == first + 1
    assert replay_job.main([str(config), "--reason", "EMPTY"]) == 0
    assert replay_job.main([str(config), "--reason", "UNKNOWN_ID"]) == 0
    assert capsys.readouterr().out.split("\n") == ["resolved: 0", "resolved: 0", "resolved: 1", ""]
    assert [row["_sr_offset"] for row in outcome.rows("orders")] == [0, 1]
    assert replay_job.main([str(config)]) == 0
    assert capsys.readouterr().out == "resolved: 0\n"

    assert gc_job.main([str(config), "--delete"]) == 0
    assert capsys.readouterr().out == "removed: 0 files, 0 bytes\n"
    assert [row["_sr_offset"] for row in outcome.rows("orders")] == [0, 1]


def test_a_topic_that_is_bound_no_more_is_said_to_wait(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    estate = Estate(tmp_path)
    with estate.registry() as world:
        world.register("paid-value", ORDER)
        first = world.register("orders-value", ORDER)
    opened = driver(read_settings(str(estate.config("orders", "paid"))))
    value = framed(first + 1, avro(ORDER, {"id": 7}))
    batch = Batch(opened.manifests.query("here"), 0, entries=(Entry("a", "", 0, 3),))
    opened.land(batch, lambda each: [each.land([raw([value]), raw([value, value], "paid")])])
    with estate.registry() as world:
        world.register("orders-value", {**ORDER, "doc": "late"})
    assert replay_job.main([str(estate.config("orders"))]) == 0
    assert capsys.readouterr().out == "resolved: 1\nwaiting: 2 of paid, which `bind` does not have\n"


def test_settings_that_are_not_there_are_misuse(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for job in (replay_job, gc_job):
        assert job.main([str(tmp_path / "land.yaml")]) == 2
        assert "cannot be read" in capsys.readouterr().err
