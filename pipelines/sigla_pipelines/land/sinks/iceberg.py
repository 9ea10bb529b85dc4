"""Tables of Iceberg: the files of a manifest become part of a table in one commit of its catalog.

Beside the files, the commit sets the table's property `sigla.batch.{query}`: a table that has it at a batch's number
has the batch. It outlives the snapshots, which others expire. Every commit is made on the table as it was read; if
another writer was faster, or the outcome is unknown, the table is read again and tells.
"""

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from functools import partial
from typing import Any, ClassVar, Final

import orjson
import pyarrow as pa
from botocore.exceptions import NoRegionError, ProfileNotFound
from pyiceberg.catalog import Catalog, load_catalog
from pyiceberg.exceptions import (
    CommitFailedException,
    CommitStateUnknownException,
    NoSuchTableError,
    NotInstalledError,
    RESTError,
    TableAlreadyExistsError,
)
from pyiceberg.io import FileIO, load_file_io
from pyiceberg.manifest import DataFile as IcebergFile
from pyiceberg.table import Table, TableProperties
from pyiceberg.table.metadata import TableMetadata

from sigla.backoff import Backoff
from sigla.errors import StoreError
from sigla_pipelines.land import comments
from sigla_pipelines.land.column_types import JSON
from sigla_pipelines.land.decoders.notes import DOC
from sigla_pipelines.land.landed import DataFile
from sigla_pipelines.land.manifest import Manifest, Stopped
from sigla_pipelines.land.partitions import Fields
from sigla_pipelines.land.settings import InvalidLanding
from sigla_pipelines.land.sinks import laid_out, no_news, sink
from sigla_pipelines.land.sinks.change import Change, Creation
from sigla_pipelines.land.sinks.data_files import data_file
from sigla_pipelines.land.sinks.sink import folder_of, in_table
from sigla_pipelines.places import Bucket, Folder, Place
from sigla_pipelines.retries import LOST_RACE

BOUNDED: Final = {
    # Each commit writes a table's metadata anew, and nothing else ever removes what it has replaced.
    TableProperties.METADATA_DELETE_AFTER_COMMIT_ENABLED: "true",
    TableProperties.METADATA_PREVIOUS_VERSIONS_MAX: "100",
}
PROPERTIES: Final = {
    "format-version": "2",
    "write.parquet.compression-codec": "zstd",
    **BOUNDED,
}
READERS: Final = 8
"""Footers of files that are read at once."""
_SILENT: list[type[Exception]] = [CommitFailedException, CommitStateUnknownException, RESTError]
"""What a catalog's client raises where the catalog does not do what it was asked, beside OSError and botocore's."""
_MISUSED: list[type[Exception]] = [
    *(AttributeError, ImportError, TypeError, ValueError),
    *(NotInstalledError, NoRegionError, ProfileNotFound),
]
"""What it raises if its properties are invalid, or do not lead to a catalog."""
with suppress(ImportError):  # only catalogs in a database need it
    from sqlalchemy.exc import ArgumentError, SQLAlchemyError

    _SILENT.append(SQLAlchemyError)
    _MISUSED.append(ArgumentError)


CATALOG: Final = "catalog.db"
"""The lake's own catalog, in SQLite. No table's folder can be called so."""
_UNADDRESSED: Final = ("?", "#")
"""What pyiceberg, as others, takes for the end of a path."""


def catalog(properties: Mapping[str, str], lake: Place) -> Catalog:
    """properties: as pyiceberg's configuration has them (`type: glue`, `type: sql` and `uri`, …); {}: the lake's own.

    Raises InvalidLanding, StoreError.
    """
    if any(each in lake.url for each in _UNADDRESSED):
        raise InvalidLanding(
            f"`sink.lake` is {lake.url}, and the address of an Iceberg table cannot contain ? or #. Choose another "
            "place, or write `kind: parquet`."
        )
    properties = properties or own_catalog(lake)
    # A repetition inside of botocore cannot tell its own commit from another's, and would have its files removed.
    found: dict[str, Any] = {"glue.max-retries": 0}
    if isinstance(lake, Bucket):
        found |= {"s3.endpoint": lake.endpoint, "s3.region": lake.region}
    found |= properties
    no_news.unsaid()
    with _answering():
        try:
            load_file_io(found, metadata_address(lake, ""))  # else it is missed by the first table
            return load_catalog("sigla", **found)
        except tuple(_MISUSED) as problem:
            raise InvalidLanding(f"Invalid `sink.catalog`: pyiceberg cannot open it: {_line(problem)}.") from problem


def own_catalog(lake: Place) -> Mapping[str, str]:
    """The properties of a catalog in SQLite, in the lake's folder, which is there now.

    Raises InvalidLanding if the lake cannot be one.
    """
    if not isinstance(lake, Folder):
        raise InvalidLanding(
            "`sink.catalog` is missing: Iceberg tables in S3 need a catalog. Write `catalog: {type: glue}`, "
            "`catalog: {type: rest, uri: https://…}`, or `kind: parquet`, which needs no catalog."
        )
    return {"type": "sql", "uri": f"sqlite:///{lake.folder_for(CATALOG)}"}


def metadata_address(place: Place, name: str) -> str:
    """How Iceberg's metadata name a file. In a folder without escapes: pyiceberg takes them for parts of a name."""
    return f"file://{place.path(name)}" if isinstance(place, Folder) else place.uri(name)


@contextmanager
def _answering() -> Iterator[None]:
    """Raises StoreError of a catalog that does not."""
    try:
        yield
    except tuple(_SILENT) as failure:
        raise StoreError(f"the catalog of Iceberg: {_line(failure)}") from failure


def _line(failure: Exception) -> str:
    [first, *_] = str(failure).splitlines() or [type(failure).__name__]
    return first.rstrip(".")


class Iceberg:
    """A `Sink`. namespace: of the catalog, with dots within another; made where it is not there.

    Raises InvalidLanding.
    """

    limits: ClassVar = ""

    def __init__(self, catalog: Catalog, namespace: str, lake: Place, *, backoff: Backoff = LOST_RACE) -> None:
        self._catalog = catalog
        self._namespace = tuple(namespace.split("."))
        if not all(name.strip() for name in self._namespace):
            raise InvalidLanding(
                f"Invalid `sink.namespace` {namespace!r}: expected a name, or names separated by dots, as in "
                "lake.sigla."
            )
        self._lake = lake
        self._backoff = backoff
        self._done: dict[str, int] = {}
        self._partitions: dict[str, Fields | None] = {}

    @property
    def catalog(self) -> Catalog:
        return self._catalog

    @property
    def namespace(self) -> tuple[str, ...]:
        return self._namespace

    def tables(self) -> Iterator[tuple[str, Table]]:
        """Every table of the namespace, by its name there, whoever made it. Raises StoreError."""
        with _answering():
            if not self._catalog.namespace_exists(self._namespace):
                return
            for identifier in self._catalog.list_tables(self._namespace):
                with suppress(NoSuchTableError):  # it was dropped meanwhile
                    yield identifier[-1], self._catalog.load_table(identifier)

    @property
    def staging(self) -> Place:
        """The lake: what no snapshot names is in no table."""
        return self._lake

    def fitted(self, reader: pa.StructType, present: pa.Schema | None) -> pa.StructType:  # noqa: ARG002 - a port's
        return reader

    def columns(self, table: str) -> pa.Schema | None:
        with _answering():
            found = self._table(table)
        self._partitions[table] = None if found is None else laid_out.partition_of(found.metadata)
        return None if found is None else sink.value_columns(arrow_schema(found))

    def partition(self, table: str) -> Fields | None:
        return self._partitions[table]

    def check(self, table: str, columns: pa.Schema) -> None:
        names = Counter(_column_names(sink.table_schema(columns)))
        [(name, times)] = names.most_common(1)
        if times > 1:
            raise Stopped(
                f"The table {table} would have two columns that Iceberg calls {name}: one has dots in its name, the "
                "other is nested. Read its records as another version (`reader`), or land them as Parquet, with their "
                "own work directory and lake."
            )

    def commit(self, manifest: Manifest) -> None:
        if self._done.get(manifest.query, -1) >= manifest.number:
            return
        for table in manifest.tables:
            with _answering():
                self._commit(manifest, table)
        self._done[manifest.query] = manifest.number

    def rows(self, table: str) -> Iterator[pa.RecordBatch]:
        with _answering():
            found = self._table(table)
            if found is not None:
                schema = arrow_schema(found)
                for batch in found.scan().to_arrow_batch_reader():
                    yield batch.cast(schema)

    def paths(self, tables: Collection[str]) -> Iterator[str]:
        for table in sorted(tables):
            with _answering():
                found = self._table(table)
                files = [each.file.file_path for each in found.scan().plan_files()] if found else []
            yield from (file.removeprefix("file://").removeprefix("s3://") for file in files)

    def close(self) -> None:
        self._catalog.close()

    @property
    def lake(self) -> Place:
        return self._lake

    def name(self, table: str) -> tuple[str, ...]:
        """How the catalog calls it, from the outermost namespace on."""
        return self._name(table)

    def load(self, table: str) -> Table | None:
        """The table as it is now; None if it does not exist."""
        with _answering():
            return self._table(table)

    def arrange(self, table: str, columns: pa.Schema, properties: Mapping[str, str]) -> Table:
        """A table with at least these columns. Where it is not there it is made, with these properties."""
        schema = _commented_schema(columns)
        with _answering():
            found = self._table(table)
            if found is None:
                self._catalog.create_namespace_if_not_exists(self._namespace)
                location = metadata_address(self._lake, folder_of(table)).rstrip("/")
                with suppress(TableAlreadyExistsError):  # another driver was faster
                    return self._catalog.create_table(self._name(table), schema, location, properties=dict(properties))
                found = self._loaded(table)
            with found.update_schema() as update:
                update.union_by_name(schema)
        return found

    def note(self, table: Table, properties: Mapping[str, str]) -> None:
        """Sets properties of a table."""
        with _answering(), table.transaction() as transaction:
            transaction.set_properties(dict(properties))

    def _commit(self, manifest: Manifest, table: str) -> None:
        for last in self._backoff:
            try:
                # Asked also after a creation: between it and this line another driver may have done all.
                found = self._table(table) or self._created(manifest, table)
                if not _has_batch(found, manifest):
                    self._append(found, manifest, table)
            except Exception:
                # Whatever it was, the table itself tells whether it is done; a fault of ours stays one to the end.
                if last:
                    raise
            else:
                return

    def _append(self, found: Table, manifest: Manifest, table: str) -> None:
        files = [file for file in manifest.files if file.table == table]
        batch, offsets = str(manifest.number), _offsets(manifest)
        said = {"sigla.query": manifest.query, "sigla.batch": batch, "sigla.offsets": offsets}
        with Change(found) as transaction:
            with transaction.update_schema() as update:
                update.union_by_name(_commented_schema(sink.schema_of(table, manifest)))
            if transaction.table_metadata.name_mapping() is None:  # files bear names alone, and not Iceberg's numbers
                mapping = transaction.table_metadata.schema().name_mapping.model_dump_json()
                transaction.set_properties({TableProperties.DEFAULT_NAME_MAPPING: mapping})
            for several in laid_out.alike(files):
                laid_out.follow(transaction, several[0])
                # Nothing is asked about files that the table has: the property below has told already.
                with transaction.update_snapshot(said).fast_append() as append, ThreadPoolExecutor(READERS) as pool:
                    for each in pool.map(partial(self._data_file, transaction.table_metadata, found.io), several):
                        append.append_data_file(each)
            transaction.set_properties({_property(manifest.query): str(manifest.number)})

    def _data_file(self, table: TableMetadata, io: FileIO, file: DataFile) -> IcebergFile:
        values = None if file.partition is None else file.values
        return data_file(table, io, self._uri(file), values, is_sorted=bool(file.sort))

    def _created(self, manifest: Manifest, table: str) -> Table:
        """Empty, and partitioned from the first instant. Raises if another driver was faster."""
        self._catalog.create_namespace_if_not_exists(self._namespace)
        location = metadata_address(self._lake, folder_of(table)).rstrip("/")
        schema = _commented_schema(sink.schema_of(table, manifest))
        begun = self._catalog.create_table_transaction(self._name(table), schema, location, properties=PROPERTIES)
        creation = Creation.of(begun)
        laid_out.follow(creation, next(file for file in manifest.files if file.table == table))
        creation.commit_transaction()
        return self._loaded(table)

    def _table(self, table: str) -> Table | None:
        try:
            return self._loaded(table)
        except NoSuchTableError:
            return None

    def _loaded(self, table: str) -> Table:
        found = self._catalog.load_table(self._name(table))
        # pyiceberg's own retries put the same files into the new table once more, without asking if they are there.
        # Said to this object alone: other engines may try again what is theirs.
        found.metadata.properties[TableProperties.COMMIT_NUM_RETRIES] = "0"
        return found

    def _name(self, table: str) -> tuple[str, ...]:
        return *self._namespace, folder_of(table)

    def _uri(self, file: DataFile) -> str:
        return metadata_address(self._lake, in_table(file))


def _property(query: str) -> str:
    return f"sigla.batch.{query}"


def _has_batch(found: Table, manifest: Manifest) -> bool:
    """A query's batches come one after another: a later one is in no table that lacks this one."""
    return int(found.properties.get(_property(manifest.query), -1)) >= manifest.number


def _offsets(manifest: Manifest) -> str:
    """Where the batch ended, as in {"orders": {"0": 42}}."""
    ends: dict[str, dict[str, int]] = {}
    for each in manifest.ranges:
        ends.setdefault(each.topic, {})[str(each.partition)] = each.end
    return orjson.dumps(ends).decode()


def _column_names(fields: Iterable[pa.Field], above: str = "") -> Iterator[str]:
    """What Iceberg calls columns, and what is within them. Source: pyiceberg.schema, `index_by_name`."""
    for field in fields:
        yield above + field.name
        yield from _column_names(_fields_within(field.type), f"{above}{field.name}.")


def _fields_within(kind: pa.DataType) -> list[pa.Field]:
    if pa.types.is_struct(kind):
        return list(kind)
    if pa.types.is_list(kind):
        return [pa.field("element", kind.value_type)]
    return [pa.field("key", kind.key_type), pa.field("value", kind.item_type)] if pa.types.is_map(kind) else []


def arrow_schema(found: Table) -> pa.Schema:
    """As we write it: without Iceberg's numbers, and without types of 64-bit offsets; with comments."""
    return pa.schema([_plain_field(field) for field in found.schema().as_arrow()])


def _plain_field(field: pa.Field) -> pa.Field:
    is_json, comment = comments.read((field.metadata or {}).get(DOC, b"").decode())
    kind = _plain_type(field.type, JSON if is_json else pa.string())
    return comments.commented(pa.field(field.name, kind, nullable=field.nullable), comment)


def _plain_type(kind: pa.DataType, text: pa.DataType) -> pa.DataType:
    if pa.types.is_struct(kind):
        return pa.struct([_plain_field(field) for field in kind])
    if pa.types.is_list(kind) or pa.types.is_large_list(kind):
        return pa.list_(_plain_type(kind.value_type, text))
    if pa.types.is_map(kind):
        return pa.map_(_plain_type(kind.key_type, pa.string()), _plain_type(kind.item_type, text))
    return {pa.string(): text, pa.large_string(): text, pa.large_binary(): pa.binary()}.get(kind, kind)


def _commented_schema(schema: pa.Schema) -> pa.Schema:
    """With comments that also tell what Iceberg has no type for."""
    return pa.schema([_commented(field) for field in schema])


def _commented(field: pa.Field) -> pa.Field:
    column = pa.field(field.name, _commented_type(field.type), nullable=field.nullable)
    return comments.commented(column, comments.written(field))


def _commented_type(kind: pa.DataType) -> pa.DataType:
    """Items have no comment of their own, but members of items have."""
    if pa.types.is_struct(kind):
        return pa.struct([_commented(field) for field in kind])
    if pa.types.is_list(kind):
        return pa.list_(_commented_type(kind.value_type))
    if pa.types.is_map(kind):
        return pa.map_(kind.key_type, _commented_type(kind.item_type))
    return kind
