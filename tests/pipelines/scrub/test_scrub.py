"""Spark finds what `sigla scrub` finds: the same questions, the same second look."""

import gzip
from base64 import b64encode
from contextlib import nullcontext
from pathlib import Path

import orjson
import pyarrow.parquet as pq
import pytest
from pyspark.sql import SparkSession
from pyspark.sql.pandas.types import from_arrow_schema

from sigla.model import DEFAULT_CONTEXT, Draft
from sigla.settings import Address
from sigla.upkeep.flaws import KINDS
from sigla.upkeep.scrub import version_facts
from sigla_pipelines import spark as sessions
from sigla_pipelines.audit.tables import NotEmpty
from sigla_pipelines.places import open_place
from sigla_pipelines.scrub import job, transform
from sigla_pipelines.scrub.job import ScrubRequest, put_right, scrub, text_for_people
from tests.attack.associations import weak
from tests.attack.exporters import created
from tests.attack.keys import dek, kek
from tests.build import NOW, a_text
from tests.contract.aws import Account, moto
from tests.unit.registry.scrubbing import (
    ADDRESS,
    ORDER,
    Broken,
    InADirectory,
    InAWS,
    an_orphan,
    in_a_directory,
    in_aws,
    of_id,
    registry_of,
)

__all__ = ["moto"]

# Spark leaves the socket of a result to the garbage collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]


def break_all(broken: Broken) -> None:
    """As many ways at once as do not hide each other."""
    an_orphan(broken, ts=NOW)
    broken.remove_pointer(of_id(4), broken.store.bodies.get(of_id(4)).guid)
    broken.forget(ADDRESS, 2)
    broken.remove_object(of_id(2))
    broken.write_object(of_id(3), b"no body")
    broken.set_counter(DEFAULT_CONTEXT, 2)
    registry = registry_of(broken.store)
    for verb in (kek("k"), dek("k", "s"), weak("t", "address"), created()):
        verb(registry)
    assert isinstance(broken, InADirectory)
    broken._execute("DELETE FROM kek")
    (credentials,) = (broken.embedded.path / "default" / "secrets").iterdir()
    credentials.unlink()


def test_spark_finds_what_is_wrong_and_puts_right_what_it_is_asked_to(spark: SparkSession, tmp_path: Path) -> None:
    with in_a_directory(tmp_path / "data") as broken:
        break_all(broken)
    address, out = Address.of(data=str(tmp_path / "data")), open_place(tmp_path / "out")
    asked = ScrubRequest(address, out, fix=frozenset(["COUNTER_BEHIND", "KEK_MISSING"]), settle_s=0)
    found = scrub(spark, asked)
    assert [flaw.kind for flaw in found] == [
        "META_NO_OBJECT",
        "UNREADABLE_OBJECT",
        "JOURNAL_GAP",
        "OBJECT_NO_META",
        "RECORD_AHEAD",
        "KEK_MISSING",
        "CREDENTIALS_MISSING",
        "COUNTER_BEHIND",
        "POINTER_MISSING",
        "HISTORY_AHEAD",
    ]
    written = pq.read_table(tmp_path / "out" / "tables" / "flaws").to_pylist()
    assert [row["sentence"] for row in written] == [flaw.sentence for flaw in found]
    assert [flaw.kind for flaw in put_right(asked, found)] == ["KEK_MISSING", "COUNTER_BEHIND"]
    assert "COUNTER_BEHIND: 1 (warning, 1 fixed)" in list(text_for_people(found, [*put_right(asked, found)], "here"))
    with pytest.raises(NotEmpty):
        scrub(spark, asked)


def test_who_cannot_put_right_tells_what_was_found(
    spark: SparkSession, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """The registry runs on: nothing is changed, and no second scrub is needed to learn what is wrong."""
    monkeypatch.setattr(sessions, "running_session", lambda *_, **__: nullcontext(spark))
    command = ["--data", str(tmp_path / "data"), "--out", str(tmp_path / "out"), "--fix", "COUNTER_BEHIND"]
    command += ["--settle", "0"]
    with in_a_directory(tmp_path / "data") as broken:
        broken.set_counter(DEFAULT_CONTEXT, 2)
        assert job.main(command) == 2
    printed = capsys.readouterr()
    assert printed.out.startswith("COUNTER_BEHIND: 1 (warning)\nflaws: 1, fixed: 0\n")
    assert "Another process is using the data" in printed.err


def test_every_question_is_one_that_spark_understands(spark: SparkSession) -> None:
    """The same text is asked of SQLite."""
    for name, schema in transform.SCHEMAS.items():
        spark.createDataFrame([], from_arrow_schema(schema)).createOrReplaceTempView(name)
    for kind in KINDS.values():
        assert spark.sql(kind.query).columns


def test_an_export_of_the_table_says_what_the_catalog_says(spark: SparkSession, moto: Account, tmp_path: Path) -> None:
    """Versions of old generations and under the mark of a deleted subject included."""
    with in_aws(moto) as broken:
        assert isinstance(broken, InAWS)
        registry = registry_of(broken.store)
        registry.delete_subject(ORDER)
        registry.delete_subject(ADDRESS)
        registry.delete_subject(ORDER, permanent=True)
        registry.register(ORDER, Draft(a_text("Again")))
        exported(broken, tmp_path / "export")
        since = broken.store.inventory.journal_kept_since()
        frame = transform.exported_versions(spark, open_place(tmp_path / "export"), broken.registry, since)
        assert sorted(tuple(row) for row in frame.collect()) == sorted(version_facts(broken.store))


def exported(broken: InAWS, folder: Path) -> None:
    """As DynamoDB exports a table: items in no order, bytes in base64."""
    folder.mkdir()
    found = broken.dynamodb.scan(TableName=broken.table)["Items"]
    lines = (orjson.dumps({"Item": item}, default=lambda value: b64encode(value).decode()) for item in found)
    (folder / "a.json.gz").write_bytes(gzip.compress(b"\n".join(lines)))
