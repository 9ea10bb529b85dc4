"""What is printed for an engine is what the engine takes: run where it can be had, else read as its SQL."""

import re
from decimal import Decimal
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql import SparkSession

from sigla_pipelines.connectors import installation
from sigla_pipelines.places import Bucket, Folder
from sigla_pipelines.tables import catalogs
from sigla_pipelines.tables.catalogs import CannotAttach, IcebergCatalog
from sigla_pipelines.tables.ddl import ENGINES, statements
from sigla_pipelines.tables.facts import TableFacts
from tests.pipelines.tables.duck import connected
from tests.pipelines.tables.lakes import Lake, command

pytestmark = pytest.mark.usefixtures("unsynced")

PLAIN = pa.schema([("id", pa.string()), ("a b", pa.list_(pa.struct([("x", pa.timestamp("us"))])))])
BUCKET = Bucket("lake", "tables", "eu-west-1", "https://s3.eu-west-1.amazonaws.com")


def table(location: str = "s3://lake/tables/orders", **others: Any) -> TableFacts:
    facts: dict[str, Any] = {"topics": ("orders",), "rows": 1, "file_count": 1, "size": 1, "last": None}
    return TableFacts("orders", "orders", location=location, schema=PLAIN, **(facts | others))


def printed(lake: Lake, engine: str, monkeypatch: Any, capsys: Any, *words: str) -> list[str]:
    """The statements, without comments."""
    assert command(monkeypatch, str(lake.config), *words, "--ddl", engine) == 0
    return without_comments(capsys.readouterr().out)


def without_comments(text: str) -> list[str]:
    lines = "\n".join(line for line in text.splitlines() if not line.startswith("--"))
    return [each.strip() for each in lines.split(";\n") if each.strip(" \n;")]


@pytest.fixture(scope="module")
def parquet(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    """In a folder with signs that mean something in patterns."""
    home = tmp_path_factory.mktemp("lake") / "it's {a} [lake]"
    home.mkdir()
    made = Lake(home, kind="parquet")
    made.two_tables()
    return made


@pytest.fixture(scope="module")
def iceberg(tmp_path_factory: pytest.TempPathFactory) -> Lake:
    home = tmp_path_factory.mktemp("lake")
    made = Lake(home, kind="iceberg", catalog={"type": "sql", "uri": f"sqlite:///{home}/catalog.db"})
    made.two_tables()
    return made


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")  # Spark's own, between its process and ours
def test_spark_reads_plain_parquet_by_what_is_printed(
    parquet: Lake, spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Also in a folder whose name has signs of patterns."""
    view, select = printed(parquet, "spark", monkeypatch, capsys, "orders")
    spark.sql(view)
    rows = spark.sql(select.rstrip(";")).collect()
    assert sorted((row["id"], float(row["amount"]), row["to"]["zip"], row["items"]) for row in rows) == [
        ("a0", 0.12, "1000", ["x", "y"]),
        ("a1", 0.12, "1000", ["x", "y"]),
    ]


@pytest.mark.spark
@pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")
def test_spark_reads_iceberg_by_what_is_printed(
    iceberg: Lake, iceberg_spark: SparkSession, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """In a session that knows nothing of the catalog yet, and with comments as the schema has them."""
    session = iceberg_spark.newSession()
    *settings, select = printed(iceberg, "spark", monkeypatch, capsys, "orders")
    for statement in settings:
        session.sql(statement)
    rows = session.sql(select.rstrip(";")).collect()
    assert sorted((row["id"], row["amount"], row["to"]["zip"], row["items"]) for row in rows) == [
        (f"a{number}", Decimal("0.12"), "1000", ["x", "y"]) for number in range(2)
    ]
    described = {row["col_name"]: row["comment"] for row in session.sql("DESCRIBE sigla.sigla.orders").collect()}
    assert described["id"] == "As the shop calls it."


@pytest.mark.parametrize("kind", ["parquet", "iceberg"])
def test_duckdb_reads_a_table_by_what_is_printed(
    kind: str, request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Its extension for Iceberg is loaded already: it cannot be fetched here."""
    lake: Lake = request.getfixturevalue(kind)
    with connected() as connection:
        for statement in printed(lake, "duckdb", monkeypatch, capsys, "orders"):
            if statement not in ("INSTALL iceberg", "LOAD iceberg"):
                connection.execute(statement)
        rows = connection.execute('SELECT id, amount, "to".zip, items FROM orders ORDER BY id').fetchall()
    assert rows == [(f"a{number}", Decimal("0.12"), "1000", ["x", "y"]) for number in range(2)]


KINDS: dict[str, dict[str, str]] = {
    "sql": {"uri": "postgresql+psycopg2://ann:s3cret@db:5432/iceberg"},
    "rest": {"uri": "https://catalog.example.org", "warehouse": "w", "token": "s3cret"},
    "glue": {"glue.region": "eu-west-1", "glue.id": "123456789012"},
    "hive": {"uri": "thrift://hive:9083"},
}


@pytest.mark.parametrize("engine", ENGINES)
@pytest.mark.parametrize("kind", KINDS)
def test_no_secret_of_a_catalog_is_printed(kind: str, engine: str) -> None:
    """Statements are pasted into tickets."""
    catalog = IcebergCatalog(kind, KINDS[kind], ("sigla",), BUCKET)
    try:
        text = statements(engine, table(metadata="s3://lake/tables/orders/metadata/1.json"), catalog)
    except CannotAttach as sentence:
        assert (engine, kind == "glue") == ("athena", False)
        text = str(sentence)
    assert "s3cret" not in text


@pytest.mark.parametrize(
    "engine, kind, said",
    [
        ("spark", "sql", "SET `spark.sql.catalog.sigla.uri`=`jdbc:postgresql://db:5432/iceberg`;"),
        ("spark", "sql", "SET `spark.sql.catalog.sigla.jdbc.user`=`ann`;"),
        ("spark", "glue", "SET `spark.sql.catalog.sigla.type`=`glue`;"),
        ("spark", "rest", "SET `spark.sql.catalog.sigla.token`=`<token>`;"),
        ("trino", "glue", "\"hive.metastore.glue.region\" = 'eu-west-1'"),
        ("trino", "sql", "\"iceberg.jdbc-catalog.connection-url\" = 'jdbc:postgresql://db:5432/iceberg'"),
        ("trino", "rest", "\"iceberg.rest-catalog.uri\" = 'https://catalog.example.org'"),
        ("duckdb", "glue", "ATTACH '123456789012' AS sigla (TYPE iceberg, ENDPOINT_TYPE 'glue');"),
        ("duckdb", "rest", "ENDPOINT 'https://catalog.example.org', SECRET catalog"),
        ("duckdb", "sql", "iceberg_scan('s3://lake/tables/orders/metadata/1.json')"),
        ("athena", "glue", 'SELECT * FROM "sigla"."orders" LIMIT 10;'),
    ],
)
def test_an_engine_is_told_of_the_catalog_in_its_own_words(engine: str, kind: str, said: str) -> None:
    catalog = IcebergCatalog(kind, KINDS[kind], ("sigla",), BUCKET)
    assert said in statements(engine, table(metadata="s3://lake/tables/orders/metadata/1.json"), catalog)


def test_the_packages_that_are_named_are_those_that_tests_run_with() -> None:
    """Spark finds a catalog only with the runtime that is made for it."""
    pom = (Path(installation.__file__).parent / "iceberg.pom.xml").read_text()
    version = re.search(r"<spark>(.*?)</spark>", pom)
    assert version
    named = re.findall(r"<groupId>(.*?)</groupId>\s*<artifactId>(.*?)</artifactId>\s*<version>(.*?)</version>", pom)
    found = {":".join(each).replace("${spark}", version[1]) for each in named}
    assert {catalogs.SPARK_RUNTIME, catalogs.SQLITE} <= found


def test_athena_is_refused_where_it_can_read_nothing() -> None:
    """It knows Glue, and S3."""
    catalog = IcebergCatalog("sql", KINDS["sql"], ("sigla",), BUCKET)
    with pytest.raises(CannotAttach, match="Athena reads Iceberg tables of the Glue Data Catalog alone"):
        statements("athena", table(), catalog)
    with pytest.raises(CannotAttach, match="Athena reads S3 alone, and the lake is file:///lake/orders"):
        statements("athena", table("file:///lake/orders"), None)


def test_athena_and_trino_get_external_tables_with_a_warning() -> None:
    """A folder of plain Parquet has no commits."""
    athena, trino = (statements(engine, table(), None) for engine in ("athena", "trino"))
    assert "  `a b` array<struct<x:timestamp>>" in athena
    assert '  "a b" array(row("x" timestamp))' in trino
    for text in (athena, trino):
        assert "While a batch is committed, a part of it shows" in text
        assert "s3://lake/tables/orders/data/" in text


def test_a_catalog_that_engines_do_not_know_is_a_sentence() -> None:
    catalog = IcebergCatalog("in-memory", {}, ("sigla",), Folder("/lake"))
    for engine in ("spark", "trino"):
        with pytest.raises(CannotAttach, match="no settings for a catalog of type in-memory"):
            statements(engine, table(), catalog)
