"""The relations of a scrub as frames, and the questions of `sigla.upkeep.flaws` asked of them by Spark."""

import gzip
from collections.abc import Iterable, Iterator, Mapping
from functools import partial
from itertools import islice
from typing import Any, Final

import pyarrow as pa
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as f
from pyspark.sql.pandas.types import from_arrow_schema

from sigla import opening
from sigla.settings import Address
from sigla.stores.dynamodb.exported import ExportedHead, ExportedVersion, exported
from sigla.upkeep.flaws import KINDS, RELATIONS, Flaw
from sigla.upkeep.scrub import AT_ONCE, body_facts, read_bodies, reference_facts, suspect
from sigla_pipelines.audit.facts import keys_of
from sigla_pipelines.places import Place

_ROWS_AT_ONCE: Final = 10_000

_TYPES: Final = {"TEXT": pa.string(), "INTEGER": pa.int64(), "BOOLEAN": pa.bool_()}


def _schema(columns: str) -> pa.Schema:
    """columns: as CREATE TABLE wants them."""
    named = [column.split() for column in columns.split(", ")]
    return pa.schema([pa.field(name, _TYPES[type]) for name, type in named])


SCHEMAS: Final[Mapping[str, pa.Schema]] = {name: _schema(columns) for name, columns in RELATIONS.items()}
"""The columns of each relation."""

_READ: Final = pa.schema(
    [
        *SCHEMAS["body"],
        pa.field("references", pa.list_(pa.struct([*SCHEMAS["reference"]]))),
    ]
)


def bodies(objects: DataFrame, address: Address) -> DataFrame:
    """Each object, read by the tasks: the columns of `body`, and its rows of `reference`. objects: context, id."""
    return objects.mapInArrow(partial(_read_objects, address=address), from_arrow_schema(_READ))


def _read_objects(batches: Iterable[pa.RecordBatch], *, address: Address) -> Iterator[pa.RecordBatch]:
    with opening.bodies(address) as stored:
        for batch in batches:
            keys = keys_of(batch.column("context"), batch.column("id"))
            for at in range(0, len(keys), AT_ONCE):
                some = keys[at : at + AT_ONCE]
                found = zip(some, read_bodies(stored, some), strict=True)
                rows = [(*body_facts(key, body), _references(key, body)) for key, body in found]
                yield pa.RecordBatch.from_pylist([dict(zip(_READ.names, row, strict=True)) for row in rows], _READ)


def _references(key: Any, body: Any) -> list[dict[str, Any]]:
    names = SCHEMAS["reference"].names
    return [dict(zip(names, facts, strict=True)) for facts in reference_facts(key, body)]


def suspects(spark: SparkSession, relations: Mapping[str, DataFrame]) -> Iterator[Flaw]:
    """relations: all of them, by name. The driver holds the flaws of one partition at a time."""
    for name, frame in relations.items():
        frame.createOrReplaceTempView(name)
    for kind, of in KINDS.items():
        for row in spark.sql(of.query).toLocalIterator():
            yield suspect(kind, row.asDict())


# --- an export of the table ------------------------------------------------------------------------------------------

_EXPORTED: Final = pa.schema(
    [
        pa.field("pk", pa.string()),
        pa.field("generation", pa.int64()),
        pa.field("hidden", pa.int64()),
        pa.field("revision", pa.int64()),
        *SCHEMAS["version"],
    ]
)
"""Heads have `hidden` and no version; versions the other way round."""


def exported_versions(spark: SparkSession, place: Place, registry: str, since: int) -> DataFrame:
    """The rows of `version` from the files of a table's export. since: the journal need not tell older ones."""
    names = [(name,) for name in place.names() if name.endswith(".json.gz")]
    files = spark.createDataFrame(names, "name string").repartition(max(1, len(names)))
    told = files.mapInArrow(
        partial(_exported, place=place, registry=registry, since=since), from_arrow_schema(_EXPORTED)
    ).persist()
    heads = told.where("hidden IS NOT NULL").select("pk", "generation", f.col("hidden").alias("mark"))
    versions = told.where("hidden IS NULL").join(heads, ["pk", "generation"])
    deleted = f.col("deleted") | (f.col("revision") < f.col("mark"))
    return versions.withColumn("deleted", deleted).select(*SCHEMAS["version"].names)


def _exported(
    batches: Iterable[pa.RecordBatch], *, place: Place, registry: str, since: int
) -> Iterator[pa.RecordBatch]:
    for batch in batches:
        for name in batch.column("name").to_pylist():
            with (
                place.filesystem.open_input_file(place.path(name)) as opened,
                gzip.open(opened) as lines,
            ):
                rows = (_exported_row(each, since) for each in exported(lines, registry))
                while some := list(islice(rows, _ROWS_AT_ONCE)):
                    yield pa.RecordBatch.from_pylist(some, _EXPORTED)


def _exported_row(each: ExportedHead | ExportedVersion, since: int) -> dict[str, Any]:
    plain = {"pk": each.pk, "generation": each.generation}
    if isinstance(each, ExportedHead):
        return plain | {"hidden": each.hidden}
    subject, row = each.subject, each.row
    told = (subject.context, subject.name, row.version, row.id, row.guid, row.deleted, row.ts >= since)
    return plain | {"revision": row.revision} | dict(zip(SCHEMAS["version"].names, told, strict=True))
