"""Where the records of a `_schemas` topic come from: a dump, as lines of JSON or as Parquet, or Kafka itself."""

import re
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from functools import partial
from pathlib import Path
from typing import Final
from urllib.parse import SplitResult, urlsplit

import pyarrow as pa
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import DataFrame, SparkSession
from pyspark.sql import functions as F

from sigla.errors import FormTooNew
from sigla.journal.replay import FORM, WITH_KEYS, NoKey, read_line
from sigla_pipelines.load.frames import Row, batches, rows, spark_ddl

RECORDS: Final = pa.schema(
    [
        pa.field("key", pa.string()),
        pa.field("value", pa.string()),
        pa.field("timestamp", pa.int64()),
        pa.field("offset", pa.int64()),
    ]
)
"""timestamp: milliseconds. Of Kafka and Parquet, key and value may be bytes."""

SHOWN: Final = 60
"""Characters of a line that does not hold a record."""

# As Spark tells it: the file, and in the end what Java said of it.
_DAMAGED: Final = re.compile(
    r"(?s)\[FAILED_READ_FILE\S*\] Encountered error while reading file (?:file:(?://)?)?(?P<file>\S+?)\.\s.*"
    r"\nCaused by: \S+: (?P<why>[^\n]+)"
)


_OF_KAFKA: Final = re.compile(r"org\.apache\.kafka\.common\.errors\.\w+: (?P<why>[^\n]+)")


class NoSource(Exception):
    """The sentence says what is wrong with it."""


class Silent(Exception):
    """It does not answer, or not with what it was asked for."""


def is_kafka(source: str) -> bool:
    return source.startswith("kafka://")


def read_records(spark: SparkSession, source: str, options: dict[str, str] | None = None) -> DataFrame:
    """The records of a dump or of the topic, in no order, with the columns of RECORDS. Raises NoSource.

    options: of Spark's Kafka source. What `told` tells of is raised when they are read.
    """
    if is_kafka(source):
        found = _kafka(source)
        kafka = {"kafka.bootstrap.servers": found.netloc, "subscribe": found.path.strip("/") or "_schemas"}
        raw = spark.read.format("kafka").options(**kafka, startingOffsets="earliest", **(options or {})).load()
        return _raw_records(raw, source)
    path = Path(source)
    if "://" not in source and not path.exists():
        raise NoSource(f"File or folder not found: {source}.")
    if path.is_dir() and not any(each.is_file() for each in path.rglob("*")):
        raise NoSource(f"The folder {source} contains no files.")
    files = spark.read.option("recursiveFileLookup", value=True)
    if path.suffix == ".parquet" or any(path.rglob("*.parquet")):
        return _once(_raw_records(files.parquet(source), source), source)
    # Spark's own reader of JSON lets a line vanish that is cut off behind its offset.
    return _once(files.text(source).mapInArrow(partial(_records_of_lines, source), spark_ddl(RECORDS)), source)


def _kafka(source: str) -> SplitResult:
    """Raises NoSource."""
    with suppress(ValueError):  # of a bracket that is not closed, as of an address in IPv6
        found = urlsplit(source)
        if found.netloc:
            return found
    raise NoSource(f"Invalid source {source}: expected kafka://BROKERS/TOPIC.")


@contextmanager
def explained_failures(source: str) -> Iterator[None]:
    """What Spark says, inside, of a file that it cannot read to its end: NoSource; of Kafka: Silent."""
    try:
        yield
    except (PySparkException, Py4JJavaError) as failure:
        if found := _DAMAGED.search(str(failure)):
            why = found["why"].rstrip(".")
            raise NoSource(f"{found['file']} cannot be read to its end ({why}). Nothing was loaded.") from None
        if found := _OF_KAFKA.search(str(failure)):
            raise Silent(f"{source} cannot be read: {found['why'].rstrip('.')}.") from None
        raise


def _raw_records(records: DataFrame, source: str) -> DataFrame:
    types = dict(records.dtypes)
    if missing := [name for name in RECORDS.names if name not in types]:
        raise NoSource(f"{source} is not a dump of a topic: it lacks the column {missing[0]}.")
    ts = F.col("timestamp") if types["timestamp"] == "bigint" else F.unix_millis("timestamp")
    return records.select("key", "value", ts.alias("timestamp"), "offset")


def _once(records: DataFrame, source: str) -> DataFrame:
    """Two dumps of one topic may overlap; two topics in one folder do not make a dump of either."""
    arranged = records.repartition("offset").sortWithinPartitions("offset")
    return arranged.mapInArrow(partial(_each_once, source), arranged.schema)


def _each_once(source: str, given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """given: by offset. Raises NoSource where records of one offset differ."""
    last: Row = {"offset": None}
    for batch in given:
        found = []
        for row in batch.to_pylist():
            if row["offset"] is None or row["offset"] != last["offset"]:
                found.append(row)
            elif row != last:
                raise NoSource(
                    f"{source} contains two different records with the offset {row['offset']}, so these are dumps of "
                    "two topics: load one after the other. Nothing was loaded."
                )
            last = row
        yield batch if len(found) == batch.num_rows else pa.RecordBatch.from_pylist(found, batch.schema)


def _records_of_lines(source: str, given: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    """given: lines. Raises NoSource."""

    def read() -> Iterator[dict[str, object]]:
        for line in (row["value"] for row in rows(given)):
            if line.strip():
                try:
                    (offset,), record = read_line(line.encode())
                except FormTooNew as newer:
                    raise NoSource(f"A line of {source} {newer.why}. Nothing was loaded.") from None
                except NoKey:
                    raise NoSource(
                        f"A line of {source} has no key: {WITH_KEYS}. It begins {line[:SHOWN]}… Nothing was loaded."
                    ) from None
                except ValueError:  # NotARecord; or it is of a segment of the journal, and has no offset
                    raise NoSource(
                        f"Invalid line in {source}: expected {FORM}, found {line[:SHOWN]}… Nothing was loaded."
                    ) from None
                yield {"key": record.key, "value": record.value, "timestamp": record.ts, "offset": offset}

    return batches(read(), RECORDS)
