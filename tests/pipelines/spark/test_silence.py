"""A store falls silent while a job is in the middle of it: a sentence, a status, and nothing half done looks whole."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest
from pyspark.sql import SparkSession

from sigla.settings import Address
from sigla.terminal.statuses import NOT_DONE
from sigla_pipelines.audit import job as audit_job
from sigla_pipelines.audit import tables
from sigla_pipelines.audit import transform as audit_transform
from sigla_pipelines.audit.job import audit
from sigla_pipelines.exit_status import exit_status_of
from sigla_pipelines.land import driver as driving
from sigla_pipelines.land.exit_status import AGAIN, OWN
from sigla_pipelines.land.plan import plan_batch
from sigla_pipelines.places import open_place
from sigla_pipelines.scrub import job as scrub_job
from sigla_pipelines.scrub import transform as scrub_transform
from sigla_pipelines.scrub.job import scrub
from sigla_pipelines.spark import gave_up
from tests.build import NOW
from tests.pipelines.audit.estate import Estate as Registry
from tests.pipelines.land.world import avro, framed, raw
from tests.pipelines.spark.estate import Estate, in_s3

# Spark leaves the socket of a result to the garbage collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

ORDER = {"type": "record", "name": "Order", "fields": [{"name": "id", "type": "int"}]}


@pytest.fixture
def s3(spark: SparkSession) -> Iterator[Callable[[], None]]:
    """A bucket `sigla` for this process and for Spark's workers, and what makes it fall silent."""
    with ExitStack() as until, pytest.MonkeyPatch.context() as patched:
        for name, value in until.enter_context(in_s3("sigla")).items():
            patched.setitem(spark.sparkContext.environment, name, value)
        yield until.pop_all().close


def first(silenced: Callable[[], None], then: Callable[..., Any]) -> Callable[..., Any]:
    def both(*args: Any, **kwargs: Any) -> Any:
        silenced()
        return then(*args, **kwargs)

    return both


def looks(spark: SparkSession, address: Address, out: str, job: str) -> Callable[[], int]:
    """An audit or a scrub."""
    if job == "audit":
        return lambda: len(audit(spark, audit_job.AuditRequest(address, open_place(out)), NOW).levels)
    return lambda: len(scrub(spark, scrub_job.ScrubRequest(address, open_place(out))))


JOBS = [pytest.param("audit", marks=pytest.mark.soak), "scrub"]
STEPS = {"audit": (audit_transform, "facts_of"), "scrub": (scrub_transform, "bodies")}
"""What begins the tasks of a job, when its lists are there."""


@pytest.mark.soak
@pytest.mark.parametrize("job", STEPS)
def test_where_its_tables_go_falls_silent(
    job: str,
    spark: SparkSession,
    s3: Callable[[], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    registry = Registry(tmp_path / "data")
    module, step = STEPS[job]
    work = looks(spark, Address.of(data=str(registry.path)), f"s3://sigla/{job}", job)
    with pytest.MonkeyPatch.context() as struck:
        struck.setattr(module, step, first(s3, getattr(module, step)))
        assert exit_status_of(work, tables.OWN, again=tables.NOT_WHOLE, spark=gave_up) == NOT_DONE
    [line] = capsys.readouterr().err.splitlines()
    assert line.startswith("A store does not answer: ")
    assert line.endswith(tables.NOT_WHOLE)


@pytest.mark.parametrize("job", JOBS)
def test_the_registry_falls_silent(
    job: str, spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Tasks find an invalid catalog: no body is called unreadable for that, and no page is written."""
    registry, out = Registry(tmp_path / "data"), tmp_path / "out"
    module, step = STEPS[job]

    def damaged() -> None:
        for each in registry.path.glob("catalog.sqlite*"):
            each.write_bytes(b"no database" * 1000)

    monkeypatch.setattr(module, step, first(damaged, getattr(module, step)))
    work = looks(spark, Address.of(data=str(registry.path)), str(out), job)
    assert exit_status_of(work, tables.OWN, again=tables.NOT_WHOLE, spark=gave_up) != 0
    [line] = capsys.readouterr().err.splitlines()
    assert "not a database" in line
    assert not list(out.rglob("*.html"))
    assert not list(out.rglob("tables/flaws"))
    with pytest.raises(tables.NotEmpty):
        looks(spark, Address.of(data=str(registry.path)), str(out), job)()


def test_where_records_lie_falls_silent_and_the_next_run_lands_them_all(
    spark: SparkSession,
    s3: Callable[[], None],
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    estate = Estate(tmp_path)
    with estate.registry() as world:
        id = world.register("orders-value", ORDER)
    records = estate.write("a.parquet", raw([framed(id, avro(ORDER, {"id": each})) for each in range(10)]))
    away = estate.config("orders", sink={"kind": "parquet", "lake": "s3://sigla/lake"})
    with pytest.MonkeyPatch.context() as struck:
        struck.setattr(driving, "plan_batch", first(s3, plan_batch))
        assert exit_status_of(lambda: estate.land(spark, away).total.read, OWN, again=AGAIN, spark=gave_up) == NOT_DONE
    *_, line = capsys.readouterr().err.splitlines()  # before it stands what is told at the start
    assert line.startswith("A store does not answer: ")
    assert line.endswith(AGAIN)
    assert estate.land(spark, estate.config("orders")).holds(records)
