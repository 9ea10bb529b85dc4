"""The Glue Data Catalog as the catalog of a lake in S3: made, committed to, grown, and fought for."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import boto3
import pytest

from sigla.backoff import Backoff
from sigla_pipelines.land.sinks.iceberg import Iceberg, catalog
from sigla_pipelines.places import open_place
from tests.build import FixedClock
from tests.pipelines.land.crash_rig import World
from tests.pipelines.land.test_comments import struct
from tests.pipelines.land.test_sinks import NEW, OLD, interfering, land, values
from tests.pipelines.tables.lakes import Lake, command

pytestmark = pytest.mark.usefixtures("unsynced")


class InGlue(World):
    """A lake in a bucket, whose tables Glue knows."""

    bucket = ""

    @property
    def lake(self) -> Any:
        return open_place(f"s3://{self.bucket}/{self.root.name}/lake")

    @property
    def catalog(self) -> Any:
        if "catalog" not in self.__dict__:
            self.__dict__["catalog"] = catalog({"type": "glue"}, self.lake)
        return self.__dict__["catalog"]


@pytest.fixture
def world(bucket: str, tmp_path: Path) -> Iterator[InGlue]:
    made = InGlue(tmp_path, iceberg=True)
    made.bucket = bucket
    yield made
    made.catalog.drop_table(("sigla", "t"))
    made.catalog.close()
    made.catalog.glue.close()


def test_glue_knows_a_table_with_the_comments_of_its_columns(world: InGlue) -> None:
    """Athena and the console show what it knows."""
    sink = Iceberg(world.catalog, "sigla", world.lake)
    land(world, sink, 0, struct(a="One.", s="All."), [{"n": 1, "a": "x", "j": "{}", "s": []}])
    glue = boto3.client("glue")
    found = glue.get_table(DatabaseName="sigla", Name="t")["Table"]
    glue.close()
    assert found["Parameters"]["table_type"] == "ICEBERG"
    comments = {each["Name"]: each.get("Comment", "") for each in found["StorageDescriptor"]["Columns"]}
    assert {name: comments[name] for name in ("n", "a", "j", "s")} == {"n": "", "a": "One.", "j": "JSON", "s": "All."}


def test_a_table_in_glue_grows_and_a_lost_race_is_run_again(world: InGlue) -> None:
    """Glue refuses a commit on a version that another has replaced; every batch is there once."""
    sink = Iceberg(world.catalog, "sigla", world.lake, backoff=Backoff(FixedClock(), 0))
    land(world, sink, 0, OLD, [{"n": 0, "s": None}])

    def another() -> None:
        land(world, sink, 0, NEW, [{"n": 2**40, "s": None, "m": None}], query="other")

    interfering(world, 1, another)
    land(world, sink, 1, OLD, [{"n": 1, "s": None}])
    assert [row["n"] for row in values(sink)] == [0, 1, 2**40]
    grown = sink.columns("t")
    assert grown is not None
    assert grown.names == ["n", "s", "m"]


def test_tables_in_glue_are_listed_and_read_by_athena_as_they_are(
    bucket: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The whole job against it, and the command that finds what it made."""
    lake = Lake(
        tmp_path, kind="iceberg", lake=f"s3://{bucket}/{tmp_path.name}", namespace="shop", catalog={"type": "glue"}
    )
    lake.two_tables()
    assert command(monkeypatch, str(lake.config), "--json") == 0
    assert {each["table"]: each["rows"] for each in json.loads(capsys.readouterr().out)} == {
        "_quarantine": 2,
        "orders": 2,
        "shop_refunds": 2,
    }
    assert command(monkeypatch, str(lake.config), "orders", "--ddl", "athena") == 0
    assert 'SELECT * FROM "shop"."orders" LIMIT 10;' in capsys.readouterr().out
