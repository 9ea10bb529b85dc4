"""Each engine as its users read a table: Iceberg by its catalog or its metadata, plain Parquet by its folder."""

from collections.abc import Callable, Mapping
from contextlib import closing
from math import isnan
from pathlib import Path
from typing import Any

import polars as pl
import pyarrow as pa
import pyarrow.dataset
import pytest
from pyiceberg.catalog import load_catalog
from pyspark.sql import SparkSession

from sigla_pipelines.land.sinks.sink import folder_of
from tests.pipelines.tables.duck import reader

Read = Callable[[Path, str, SparkSession], pa.Table]
"""A lake's folder, a table, and Spark where it is the one."""


def _data(lake: Path, table: str) -> str:
    return f"{lake / folder_of(table)}/data"


def _metadata(lake: Path, table: str) -> str:
    """The table as it is now."""
    with closing(load_catalog("sigla", type="sql", uri=f"sqlite:///{lake}/catalog.db")) as catalog:
        return catalog.load_table(("sigla", folder_of(table))).metadata_location


# --- plain Parquet: a read of the folder, by the columns' names ------------------------------------------------------


def _duckdb_of_parquet(lake: Path, table: str, _: SparkSession) -> pa.Table:
    with reader() as duck:
        files = f"read_parquet('{_data(lake, table)}/*.parquet', union_by_name = true)"
        return duck.execute(f"FROM {files}").to_arrow_table()


def _spark_of_parquet(lake: Path, table: str, spark: SparkSession) -> pa.Table:
    return spark.read.option("mergeSchema", "true").parquet(_data(lake, table)).toArrow()


def _dataset(lake: Path, table: str) -> pyarrow.dataset.Dataset:
    data = _data(lake, table)
    schemas = [each.physical_schema for each in pyarrow.dataset.dataset(data).get_fragments()]
    return pyarrow.dataset.dataset(data, schema=pa.unify_schemas(schemas, promote_options="permissive"))


def _pyarrow_of_parquet(lake: Path, table: str, _: SparkSession) -> pa.Table:
    return _dataset(lake, table).to_table()


def _polars_of_parquet(lake: Path, table: str, _: SparkSession) -> pa.Table:
    return pl.scan_pyarrow_dataset(_dataset(lake, table)).collect().to_arrow()


PARQUET: Mapping[str, Read] = {
    "DuckDB": _duckdb_of_parquet,
    "Spark": _spark_of_parquet,
    "pyarrow": _pyarrow_of_parquet,
    "Polars": _polars_of_parquet,
}


# --- Iceberg ---------------------------------------------------------------------------------------------------------


def _duckdb_of_iceberg(lake: Path, table: str, _: SparkSession) -> pa.Table:
    with reader() as duck:
        return duck.execute(f"FROM iceberg_scan('{_metadata(lake, table)}')").to_arrow_table()


def _spark_of_iceberg(lake: Path, table: str, spark: SparkSession) -> pa.Table:
    session = spark.newSession()  # it knows the catalogs that it has met first
    for name, value in {
        "": "org.apache.iceberg.spark.SparkCatalog",
        ".type": "jdbc",
        ".uri": f"jdbc:sqlite:{lake}/catalog.db",
        ".warehouse": str(lake),
    }.items():
        session.conf.set(f"spark.sql.catalog.sigla{name}", value)
    return session.table(f"sigla.sigla.{folder_of(table)}").toArrow()


def _polars_of_iceberg(lake: Path, table: str, _: SparkSession) -> pa.Table:
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("POLARS_ICEBERG_PLANNER", "pyiceberg")  # else it warns that another package plans faster
        return pl.scan_iceberg(_metadata(lake, table)).collect().to_arrow()


def _pyiceberg(lake: Path, table: str, _: SparkSession) -> pa.Table:
    with closing(load_catalog("sigla", type="sql", uri=f"sqlite:///{lake}/catalog.db")) as catalog:
        return catalog.load_table(("sigla", folder_of(table))).scan().to_arrow()


ICEBERG: Mapping[str, Read] = {
    "DuckDB": _duckdb_of_iceberg,
    "Spark": _spark_of_iceberg,
    "Polars": _polars_of_iceberg,
    "pyiceberg": _pyiceberg,
}

ENGINES = {"parquet": PARQUET, "iceberg": ICEBERG}
CASES = [
    pytest.param(kind, engine, marks=pytest.mark.spark if engine == "Spark" else ())
    for kind, engines in ENGINES.items()
    for engine in engines
]


def read(
    kind: str, engine: str, lake: Path, table: str, request: pytest.FixtureRequest, *, landed: pa.Schema | None = None
) -> list[dict[str, Any]]:
    """The rows of a table, as `rows` has them."""
    session: Any = "iceberg_spark" if kind == "iceberg" else "spark"
    spark = request.getfixturevalue(session) if engine == "Spark" else None
    return rows(ENGINES[kind][engine](lake, table, spark), landed)


# --- values ----------------------------------------------------------------------------------------------------------


def rows(found: pa.Table, landed: pa.Schema | None = None) -> list[dict[str, Any]]:
    """In the order of their identities, with names in one order, and each value in one form.

    landed: the table's own columns, where an engine has other types for them; those of `found` if they are missing.
    """
    kind = pa.struct([*(landed or found.schema)])
    plain = [value_in_one_form(row, kind) for row in found.to_pylist()]
    names = ("topic", "partition", "offset")
    return sorted(plain, key=lambda row: tuple(row.get(f"_sr_{name}", row.get(name)) for name in names))


def value_in_one_form(value: Any, kind: pa.DataType) -> Any:
    """Maps are dictionaries, also where an engine has lists of pairs; what is not a number equals itself."""
    if value is None:
        return None
    if pa.types.is_struct(kind):
        types = {field.name: field.type for field in kind}
        return {name: value_in_one_form(value[name], types.get(name, pa.null())) for name in sorted(value)}
    if pa.types.is_map(kind):
        pairs = [(each["key"], each["value"]) if isinstance(each, dict) else each for each in value]
        found = {name: value_in_one_form(each, kind.item_type) for name, each in pairs}
        assert len(found) == len(pairs), "a key is there twice"
        return found
    if pa.types.is_list(kind):
        return [value_in_one_form(each, kind.value_type) for each in value]
    return "NaN" if isinstance(value, float) and isnan(value) else value


def without_emptiness(found: Any) -> Any:
    """Without the difference between no list and an empty one, which pyiceberg does not tell."""
    if isinstance(found, dict):
        return {name: without_emptiness(value) for name, value in found.items()} or None
    if isinstance(found, list):
        return [without_emptiness(value) for value in found] or None
    return found
