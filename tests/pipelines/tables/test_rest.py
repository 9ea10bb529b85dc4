"""A REST catalog as the catalog of a lake: landed through, read, maintained, followed by states, fought for."""

from collections.abc import Iterator
from contextlib import closing
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest
from pyiceberg.catalog import load_catalog
from pyspark.sql import SparkSession

from sigla.backoff import Backoff
from sigla_pipelines.connectors.maven import Unavailable
from sigla_pipelines.land import maintain_job
from sigla_pipelines.land.driver import driver
from sigla_pipelines.land.settings import read_settings
from sigla_pipelines.land.sinks import iceberg
from sigla_pipelines.land.sinks.iceberg import Iceberg
from sigla_pipelines.land.upsert import StateTable
from sigla_pipelines.places import open_place
from tests.build import FixedClock
from tests.pipelines import rest_catalog
from tests.pipelines.land.crash_rig import World
from tests.pipelines.land.test_sinks import NEW, OLD, interfering, land, values
from tests.pipelines.spark.state_rig import Histories
from tests.pipelines.spark.test_states_crash import drive, is_the_fold
from tests.pipelines.tables.lakes import Lake
from tests.pipelines.tables.test_ddl import printed

pytestmark = [
    pytest.mark.spark,
    pytest.mark.soak,
    pytest.mark.usefixtures("unsynced"),
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # Spark's own, between its process and ours
]

ROWS = [(f"a{number}", Decimal("0.12"), "1000", ["x", "y"]) for number in range(2)]


@pytest.fixture(scope="module")
def uri() -> Iterator[str]:
    try:
        rest_catalog.install()
        with rest_catalog.running() as uri:
            yield uri
    except Unavailable as reason:
        pytest.skip(str(reason))


@pytest.fixture
def lake(uri: str, tmp_path: Path) -> Lake:
    """In a namespace of its own: all tests share the server."""
    made = Lake(tmp_path, kind="iceberg", namespace=tmp_path.name, catalog={"type": "rest", "uri": uri})
    made.two_tables()
    return made


def test_what_is_landed_through_it_is_read_by_pyiceberg_and_spark(
    lake: Lake,
    uri: str,
    iceberg_spark: SparkSession,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """By pyiceberg as a program opens it, by Spark by the statements that are printed."""
    namespace = lake.home.name
    with closing(load_catalog("anybody", type="rest", uri=uri)) as catalog:
        assert {name for _, name in catalog.list_tables(namespace)} == {"orders", "shop_refunds", "_quarantine"}
        found = catalog.load_table((namespace, "orders")).scan().to_arrow().to_pylist()
    assert sorted(told(row) for row in found) == ROWS

    session = iceberg_spark.newSession()
    *settings, select = printed(lake, "spark", monkeypatch, capsys, "orders")
    for statement in settings:
        session.sql(statement)
    assert sorted(told(row.asDict(recursive=True)) for row in session.sql(select).collect()) == ROWS


def told(row: dict[str, Any]) -> tuple[Any, ...]:
    return row["id"], row["amount"], row["to"]["zip"], row["items"]


def test_it_is_maintained_through_it(lake: Lake, iceberg_spark: SparkSession) -> None:
    form = lake.config.read_text() + "maintain: {min_files: 2, snapshots: 0s}\n"
    lake.config.write_text(form)
    with closing(driver(read_settings(lake.config))) as opened:
        done = {each.table: each for each in maintain_job.maintain_each(iceberg_spark, opened, ["orders"])}
        assert done["orders"].files == (2, 1)
        assert len([row for batch in opened.sink.rows("orders") for row in batch.to_pylist()]) == 2


def test_states_follow_through_it(uri: str, tmp_path: Path, iceberg_spark: SparkSession) -> None:
    """Spark merges in the catalog that pyiceberg commits to."""
    with closing(Histories(tmp_path, iceberg_spark, StateTable("t"))) as rig:
        rig.catalog.close()
        rig.catalog = iceberg.catalog({"type": "rest", "uri": uri}, open_place(tmp_path / "lake"))
        rig.sink = Iceberg(rig.catalog, "states", open_place(tmp_path / "lake"))
        drive(rig)
        is_the_fold(rig)


class OverRest(World):
    """A lake in a folder, whose tables a REST catalog knows."""

    uri = ""

    @property
    def catalog(self) -> Any:
        if "catalog" not in self.__dict__:
            self.__dict__["catalog"] = iceberg.catalog({"type": "rest", "uri": self.uri}, self.lake)
        return self.__dict__["catalog"]


@pytest.fixture
def world(uri: str, tmp_path: Path) -> Iterator[World]:
    made = OverRest(tmp_path, iceberg=True)
    made.uri = uri
    yield made
    made.catalog.close()


def test_a_lost_race_is_run_again(world: World) -> None:
    """It refuses a commit on metadata that another one has replaced; every batch is there once."""
    sink = Iceberg(world.catalog, "race", world.lake, backoff=Backoff(FixedClock(), 0))
    land(world, sink, 0, OLD, [{"n": 0, "s": None}])

    def another() -> None:
        land(world, sink, 0, NEW, [{"n": 2**40, "s": None, "m": None}], query="other")

    interfering(world, 1, another)
    land(world, sink, 1, OLD, [{"n": 1, "s": None}])
    assert [row["n"] for row in values(sink)] == [0, 1, 2**40]


def test_replaced_metadata_is_removed_and_nothing_is_said(
    world: World, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    """The server removes it as well as the client: the second one finds nothing, which is expected."""
    monkeypatch.setitem(iceberg.PROPERTIES, "write.metadata.previous-versions-max", "2")
    sink = Iceberg(world.catalog, "many", world.lake)
    for number in range(6):
        land(world, sink, number, OLD, [{"n": number, "s": None}])
    assert len(list((world.root / "lake" / "t" / "metadata").glob("*.metadata.json"))) == 3
    assert not caplog.records
