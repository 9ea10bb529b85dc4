"""What a table is to the driver of a batch, and how its files are called."""

import hashlib
import re
from collections.abc import Collection, Iterator
from typing import ClassVar, Final, Protocol

import pyarrow as pa

from sigla_pipelines.land import quarantine
from sigla_pipelines.land.landed import QUARANTINE, DataFile
from sigla_pipelines.land.manifest import Manifest
from sigla_pipelines.land.partitions import Fields
from sigla_pipelines.land.quarantine import RESOLVED_TABLE
from sigla_pipelines.land.targets import SYSTEM
from sigla_pipelines.places import Place

OURS: Final = {QUARANTINE: quarantine.SCHEMA, RESOLVED_TABLE: quarantine.RESOLVED}
"""Tables that no reader shapes."""

_PLAIN: Final = re.compile(r"[a-z0-9_]{1,200}")
_OTHERS: Final = re.compile(r"[^a-z0-9_]+")

STAGING: Final = "_sigla-staging"
"""The folder in the lake where tasks write what a commit moves from there. No table's folder can be called so."""

STAGED: Final = re.compile(r"(?:.*/)?sigla-(?P<query>[^/]+)-\d{10}-[^/-]+\.parquet")
"""Files that a task wrote, and no others: files of other programs in the same folder are left alone."""


class Sink(Protocol):
    """Tables that batches are committed to."""

    def columns(self, table: str) -> pa.Schema | None:
        """The columns of its values as they are now, without ours; None if the table does not exist."""
        ...

    limits: ClassVar[str]
    """A sentence about what readers of such tables have to bear; empty if there is nothing."""

    @property
    def staging(self) -> Place:
        """Where tasks write files: the lake, or a place in it from which a commit moves them."""
        ...

    def fitted(self, reader: pa.StructType, present: pa.Schema | None) -> pa.StructType:
        """A reader's columns, of the types that the table has for them. present: its columns; None of a new table."""
        ...

    def partition(self, table: str) -> Fields | None:
        """By what the table is partitioned, as of when its columns were asked for; None if the table does not exist."""
        ...

    def check(self, table: str, columns: pa.Schema) -> None:
        """Raises Stopped if the table cannot have such columns for its values, and no setting decides what to do."""
        ...

    def commit(self, manifest: Manifest) -> None:
        """Makes the files of a manifest part of their tables; a second time, it changes nothing.

        Also where two drivers do it at once. Raises what the store raises; then nothing, a part or all may be done,
        and to do it again is right.
        """
        ...

    def rows(self, table: str) -> Iterator[pa.RecordBatch]:
        """All that is committed."""
        ...

    def close(self) -> None:
        """Closes what it has open; then it is asked for nothing more."""
        ...

    def paths(self, tables: Collection[str]) -> Iterator[str]:
        """The files that tables have now, as paths of the lake's file system."""
        ...


def folder_of(table: str) -> str:
    """The folder of a table below the lake, and its name in a catalog: Glue takes lower case, digits and `_` only.

    Tables are called plainly now (`names`); of those that are not, each has a digest, and distinct tables have distinct
    folders.
    """
    return table if _PLAIN.fullmatch(table) else digested_name(table)


def plain_name(table: str) -> str:
    """The name without what a catalog does not take; "" where that leaves none that a table may have."""
    if _PLAIN.fullmatch(table):
        return table
    name = _OTHERS.sub("_", table.lower()).strip("_")
    return name if _PLAIN.fullmatch(name) and name not in OURS else ""


def digested_name(table: str) -> str:
    """A plain name that no other table has."""
    return f"{_OTHERS.sub('_', table.lower())[:191].strip('_')}_{hashlib.sha256(table.encode()).hexdigest()[:8]}"


def in_table(file: DataFile) -> str:
    """Where a table has a file, below the lake."""
    return f"{folder_of(file.table)}/{file.path}"


def in_staging(file: DataFile) -> str:
    """Where such a file is before it is committed, if tasks do not write into tables."""
    return f"{STAGING}/{in_table(file)}"


def staged_name(query: str, number: int, token: str) -> str:
    """The name of a file of a batch, below the folder of its table. token: no other file's of this batch."""
    return f"data/sigla-{query}-{number:010}-{token}.parquet"


def table_schema(columns: pa.Schema) -> pa.Schema:
    """All columns of a typed table."""
    return pa.schema([*columns, *SYSTEM])


def value_columns(schema: pa.Schema) -> pa.Schema:
    """The columns of the values, among all columns."""
    return pa.schema([field for field in schema if field.name not in SYSTEM.names])


def schema_of(table: str, manifest: Manifest) -> pa.Schema:
    """All columns of any table, as they are since a manifest that has files of it."""
    return OURS[table] if table in OURS else table_schema(manifest.columns[table])
