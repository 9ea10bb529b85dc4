"""DuckDB with its extension for Iceberg, which comes as a wheel: nothing is fetched while tests run."""

from functools import cache
from pathlib import Path

import duckdb
import duckdb_extension_avro
import duckdb_extension_iceberg

EXTENSIONS = (duckdb_extension_avro, duckdb_extension_iceberg)
"""The second one needs the first."""


@cache
def _database() -> duckdb.DuckDBPyConnection:
    return connected()


def reader() -> duckdb.DuckDBPyConnection:
    """A connection to the one database that this process has for reading: to load extensions takes longer than that."""
    return _database().cursor()


def connected() -> duckdb.DuckDBPyConnection:
    """DuckDB checks that the extensions are its own makers'."""
    connection = duckdb.connect()
    for extension in EXTENSIONS:
        [path] = Path(str(extension.__file__)).parent.rglob("*.duckdb_extension")
        connection.execute(f"LOAD '{path}'")
    return connection
