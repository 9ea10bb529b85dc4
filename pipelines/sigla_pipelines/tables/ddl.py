"""The statements with which an engine attaches or reads a table.

Of Iceberg an engine is told of the catalog, and then reads what is committed at that moment. Where an engine cannot
open the catalog, the statements name the table's current state. For plain Parquet they name the folder. No secret is
ever printed: `<password>` and the like stand where one belongs.
"""

from collections.abc import Callable, Mapping
from typing import Final
from urllib.parse import unquote

from sigla_pipelines.land import comments
from sigla_pipelines.places import Bucket
from sigla_pipelines.tables.catalogs import CannotAttach, IcebergCatalog
from sigla_pipelines.tables.columns import ATHENA, SPARK, TRINO, Dialect, in_backticks, in_quotes, text_sql
from sigla_pipelines.tables.facts import TableFacts

PARTLY: Final = "While a batch is committed, a part of it shows."
"""What is wrong with a folder of plain Parquet."""


def statements(engine: str, table: TableFacts, catalog: IcebergCatalog | None) -> str:
    """catalog: None of plain Parquet. Raises CannotAttach."""
    if catalog is None:
        return PARQUET[engine](table)
    return ICEBERG[engine](table, catalog)


# --- Iceberg ---------------------------------------------------------------------------------------------------------


def _spark_iceberg(table: TableFacts, catalog: IcebergCatalog) -> str:
    name = ".".join(in_backticks(part) for part in (catalog.name, *catalog.namespace, table.name))
    prefix = f"spark.sql.catalog.{catalog.name}"
    settings = [f"SET {in_backticks(prefix + key)}={in_backticks(value)};" for key, value in catalog.spark().items()]
    return _joined_lines(
        "-- Before the session's first query; or as lines of spark-defaults.conf, or each behind --conf.",
        f"-- Started with: --packages {','.join(catalog.spark_packages())}",
        *settings,
        _look(name),
    )


def _trino_iceberg(table: TableFacts, catalog: IcebergCatalog) -> str:
    settings = [f"  {in_quotes(key)} = {text_sql(value)}" for key, value in catalog.trino().items()]
    name = ".".join(in_quotes(part) for part in (catalog.name, ".".join(catalog.namespace), table.name))
    return _joined_lines(
        "-- Needs catalog.management=dynamic; else the same settings, with connector.name=iceberg, are the lines of",
        f"-- etc/catalog/{catalog.name}.properties.",
        *catalog.trino_notes(),
        f"CREATE CATALOG {catalog.name} USING iceberg WITH (",
        ",\n".join(settings),
        ");",
        _look(name),
    )


def _athena_iceberg(table: TableFacts, catalog: IcebergCatalog) -> str:
    if catalog.kind != "glue":
        raise CannotAttach(
            f"Athena reads Iceberg tables of the Glue Data Catalog alone, and `sink.catalog` is of type "
            f"{catalog.kind}: land into Glue (`type: glue`), or register the table there."
        )
    return _joined_lines(
        "-- The table is in the Glue Data Catalog already: Athena needs no statement before the first query.",
        _look(f"{in_quotes('.'.join(catalog.namespace))}.{in_quotes(table.name)}"),
    )


def _duckdb_iceberg(table: TableFacts, catalog: IcebergCatalog) -> str:
    begin = [
        "INSTALL iceberg;",
        "LOAD iceberg;",
        *_duckdb_s3(catalog.lake if isinstance(catalog.lake, Bucket) else None),
    ]
    attach = catalog.duckdb()
    if attach:
        name = ".".join(in_quotes(part) for part in (catalog.name, ".".join(catalog.namespace), table.name))
        return _joined_lines(*begin, *attach, _look(name))
    return _joined_lines(
        f"-- DuckDB cannot open a catalog of type {catalog.kind}: this is the table as it is now. Print it again after",
        "-- the next batch.",
        *begin,
        f"CREATE OR REPLACE VIEW {in_quotes(table.name)} AS",
        f"FROM iceberg_scan({text_sql(table.metadata.removeprefix('file://'))});",
        _look(in_quotes(table.name)),
    )


ICEBERG: Final[Mapping[str, Callable[[TableFacts, IcebergCatalog], str]]] = {
    "spark": _spark_iceberg,
    "trino": _trino_iceberg,
    "athena": _athena_iceberg,
    "duckdb": _duckdb_iceberg,
}


# --- plain Parquet ---------------------------------------------------------------------------------------------------


def _spark_parquet(table: TableFacts) -> str:
    return _joined_lines(
        f"-- The folder of the table. {PARTLY}",
        f"CREATE OR REPLACE TEMPORARY VIEW {in_backticks(table.name)} (",
        _columns(table, SPARK, in_backticks),
        f") USING parquet OPTIONS (path {text_spark(_escaped(_path(f'{table.location}/data')))});",
        _look(in_backticks(table.name)),
    )


def _trino_parquet(table: TableFacts) -> str:
    location = f"{table.location}/data/"
    return _joined_lines(
        f"-- The folder of the table. {PARTLY}",
        "-- `hive` is a catalog with the Hive connector.",
        f"CREATE TABLE hive.{in_quotes('default')}.{in_quotes(table.name)} (",
        _columns(table, TRINO, in_quotes),
        f") WITH (external_location = {text_sql(location)}, format = 'PARQUET');",
        _look(f"hive.{in_quotes('default')}.{in_quotes(table.name)}"),
    )


def _athena_parquet(table: TableFacts) -> str:
    if not table.location.startswith("s3://"):
        raise CannotAttach(f"Athena reads S3 alone, and the lake is {table.location}.")
    return _joined_lines(
        f"-- The folder of the table. {PARTLY}",
        f"CREATE EXTERNAL TABLE {in_backticks(table.name)} (",
        _columns(table, ATHENA, in_backticks, with_comments=True),
        f") STORED AS PARQUET LOCATION {text_sql(f'{table.location}/data/')};",
        _look(in_quotes(table.name)),
    )


def _duckdb_parquet(table: TableFacts) -> str:
    files = f"{_escaped(_path(f'{table.location}/data'), '[{}]')}/*.parquet"
    return _joined_lines(
        f"-- The folder of the table. {PARTLY}",
        *(_S3_SECRET if table.location.startswith("s3://") else ()),
        f"CREATE OR REPLACE VIEW {in_quotes(table.name)} AS",
        f"FROM read_parquet({text_sql(files)}, union_by_name = true);",
        _look(in_quotes(table.name)),
    )


PARQUET: Final[Mapping[str, Callable[[TableFacts], str]]] = {
    "spark": _spark_parquet,
    "trino": _trino_parquet,
    "athena": _athena_parquet,
    "duckdb": _duckdb_parquet,
}

ENGINES: Final = tuple(PARQUET)


def _columns(table: TableFacts, dialect: Dialect, quoted: Callable[[str], str], *, with_comments: bool = False) -> str:
    return ",\n".join(
        f"  {quoted(each.name)} {dialect.type(each.type)}"
        + (f" COMMENT {text_sql(comment)}" if with_comments and (comment := comments.written(each)) else "")
        for each in table.schema
    )


# --- texts -----------------------------------------------------------------------------------------------------------

_S3_SECRET: Final = (
    "INSTALL httpfs;",
    "LOAD httpfs;",
    "CREATE OR REPLACE SECRET lake (TYPE s3, PROVIDER credential_chain);",
)


def _duckdb_s3(bucket: Bucket | None) -> tuple[str, ...]:
    return _S3_SECRET if bucket else ()


def text_spark(text: str) -> str:
    """Spark's texts have escapes."""
    return "'" + text.replace("\\", "\\\\").replace("'", "\\'") + "'"


def _path(uri: str) -> str:
    """DuckDB opens local files by their paths."""
    return unquote(uri.removeprefix("file://")) if uri.startswith("file://") else uri


def _escaped(path: str, how: str = "\\{}") -> str:
    """Signs that mean something in patterns, so that they stand for themselves."""
    return "".join(how.format(sign) if sign in "{}[]*?\\" else sign for sign in path)


def _look(name: str) -> str:
    """The query to begin with. name: quoted."""
    return f"SELECT * FROM {name} LIMIT 10;"  # noqa: S608 - printed, and the name is quoted


def _joined_lines(*lines: str) -> str:
    return "\n".join(lines)
