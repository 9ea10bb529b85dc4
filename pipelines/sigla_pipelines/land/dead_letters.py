"""A topic of dead letters: what is in the quarantine, sent to Kafka as it was, with headers that say why it is there.

A letter is sent when its batch is in the tables, at least once: after a crash between the last acknowledgement and the
note in the work directory the letters of one batch are sent again. Its topic, partition and offset tell them apart.

A broker that is silent stops no landing. Batches wait in their order, are tried again, and by the next run first.
"""

import re
import sys
from collections.abc import Iterator, Mapping
from typing import Any, Final

import orjson
import pyarrow as pa
import pyarrow.parquet as pq
from py4j.protocol import Py4JJavaError
from pyspark.errors import PySparkException
from pyspark.sql import SparkSession

from sigla.ports.clock import Clock
from sigla_pipelines.land.exit_status import SourceFailed, Undelivered
from sigla_pipelines.land.kafka import ADDRESS, CLIENTS, Cluster
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.manifest import Manifest, Manifests
from sigla_pipelines.land.raw import RAW
from sigla_pipelines.land.settings import Landing
from sigla_pipelines.land.sinks.sink import folder_of
from sigla_pipelines.places import Place

FOLDER: Final = "dead_letters/"
BEGUN: Final = f"{FOLDER}begun.json"
"""Up to which batch each query was when letters were asked for: those before are in the quarantine alone."""

AGAIN_AFTER_MS: Final = 300_000
"""After a failure: a silent broker takes half a minute, and landing waits for it."""

PRODUCER: Final[Mapping[str, str]] = {
    "acks": "all",
    "enable.idempotence": "true",
    "max.block.ms": "30000",
    "request.timeout.ms": "20000",
    "delivery.timeout.ms": "60000",
    # What Kafka has delivered it takes again: the topic's own limit counts.
    "max.request.size": "2147483647",
}
"""Unless `dead_letter.options` say otherwise. All retries of a letter happen within `delivery.timeout.ms`."""

COLUMNS: Final = "topic string, key binary, value binary, headers array<struct<key: string, value: binary>>"
LETTERS: Final = pa.schema(
    [
        pa.field("topic", pa.string()),
        pa.field("key", pa.binary()),
        pa.field("value", pa.binary()),
        pa.field("headers", RAW.field("headers").type),
    ]
)
"""The same, of Arrow."""

STAGES: Final = {"key": "KEY_CONVERTER", "value": "VALUE_CONVERTER"}
"""In Kafka Connect's words, by the part that cannot be read. Source: Kafka, `connect.runtime.errors.Stage`."""

ROWS: Final = 1000
"""How many records a batch of Arrow has: a record may be large."""

_CAUSE: Final = re.compile(r"org\.apache\.kafka\.\S*\.(\w+(?:Exception|Error): .+)")

Header = dict[str, str | bytes | None]


def letters_wait(work: Place, manifests: Manifests) -> bool:
    """Whether letters of a batch have yet to be sent: until then the files that its manifest names have to stay."""
    kept = work.read(BEGUN)
    if kept is None:
        return False
    begun: dict[str, int] = orjson.loads(kept)
    return any(_sent(work, query, begun) < number for query, number in _landed(manifests).items())


def _landed(manifests: Manifests) -> dict[str, int]:
    """The number of each query's last batch."""
    return {query: last.number for query in manifests.queries() if (last := manifests.last(query))}


def _sent(work: Place, query: str, begun: Mapping[str, int]) -> int:
    """The last batch of a query whose letters are sent, or were never to be sent."""
    kept = work.read(f"{FOLDER}{query}.json")
    return int(orjson.loads(kept)["number"]) if kept else begun.get(query, -1)


class DeadLetters:
    """The dead letters of one work directory. All verbs but the last raise what the work directory raises."""

    def __init__(self, spark: SparkSession, landing: Landing, work: Place, lake: Place, manifests: Manifests) -> None:
        self._spark = spark
        self._landing = landing
        self._work = work
        self._lake = lake
        self._manifests = manifests
        self._sent: dict[str, int] = {}
        self._failed: Undelivered | None = None
        self._failed_at = 0

    def begin(self) -> None:
        """What is landed so far is sent only if an earlier run was to send it."""
        now = _landed(self._manifests)
        begun: dict[str, int] = orjson.loads(self._work.put_if_absent(BEGUN, orjson.dumps(now)))
        for query in {*now, *begun}:
            self._sent[query] = _sent(self._work, query, begun)

    def deliver(self, clock: Clock) -> None:
        """Sends what waits, in the order of batches; not soon after a failure, which is told to whoever looks."""
        if self._failed and clock.now() < self._failed_at + AGAIN_AFTER_MS:
            return
        try:
            self._deliver()
        except Undelivered as failure:
            self._failed, self._failed_at = failure, clock.now()
            print(failure, file=sys.stderr, flush=True)

    def end(self) -> None:
        """Once more where letters wait. Raises Undelivered."""
        self._deliver()

    def _deliver(self) -> None:
        for manifest in self._manifests.since(dict(self._sent)):
            self._send(manifest)
            self._work.replace(f"{FOLDER}{manifest.query}.json", orjson.dumps({"number": manifest.number}))
            self._sent[manifest.query] = manifest.number
        self._failed = None

    def _send(self, manifest: Manifest) -> None:
        """Raises Undelivered."""
        files = [file for file in manifest.files if file.table == QUARANTINE]
        part = self._landing.dead_letter
        if not files or part is None:
            return
        paths = self._spark.createDataFrame([(file.path,) for file in files], "path string")
        lake, to, name = self._lake.under(folder_of(QUARANTINE)), part.topic, self._landing.name

        def letters(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
            for path in (path for batch in batches for path in batch.column(0).to_pylist()):
                with lake.filesystem.open_input_file(lake.path(path)) as opened, pq.ParquetFile(opened) as file:
                    for rows in file.iter_batches(ROWS):
                        yield letters_of(rows, to, name)

        brokers, options = part.reached(self._landing.source)
        chosen = {ADDRESS: brokers} | {CLIENTS + option: value for option, value in {**PRODUCER, **options}.items()}
        try:
            self._ask(chosen)
            paths.mapInArrow(letters, COLUMNS).write.format("kafka").options(**chosen).save()
        except (SourceFailed, PySparkException, Py4JJavaError) as failure:
            raise Undelivered(
                f"Kafka at {brokers} does not take the dead letters of batch {manifest.number} ({_cause(failure)}). "
                "The batch is landed; its dead letters wait, and the next run sends them first."
            ) from None

    def _ask(self, options: Mapping[str, str]) -> None:
        """Whether the broker answers. Raises SourceFailed.

        A task would find it out as well, but Spark tries each task several times, and each would wait as long.
        """
        wait = options[f"{CLIENTS}max.block.ms"]
        waits = {f"{CLIENTS}{name}": wait for name in ("request.timeout.ms", "default.api.timeout.ms")}
        Cluster(self._spark, {**options, **waits}).names()


def letters_of(rows: pa.RecordBatch, to: str, job: str) -> pa.RecordBatch:
    """rows: of the quarantine. to: the topic, in which `{topic}` is the record's own. job: its name."""
    found = rows.to_pylist()
    columns = {
        "topic": [to.replace("{topic}", row["topic"]) for row in found],
        "key": [row["key"] for row in found],
        "value": [row["value"] for row in found],
        "headers": [[*(row["headers"] or ()), *headers(row, job)] for row in found],
    }
    arrays = [pa.array(columns[field.name], field.type) for field in LETTERS]
    return pa.RecordBatch.from_arrays(arrays, schema=LETTERS)


def headers(row: Mapping[str, Any], job: str) -> list[Header]:
    """Ours, behind the record's own. In Kafka Connect's words as far as they go, so that its tools understand them."""
    reasons = row["reasons"]
    first = reasons[0]
    said: dict[str, Any] = {
        "__connect.errors.topic": row["topic"],
        "__connect.errors.partition": row["partition"],
        "__connect.errors.offset": row["offset"],
        "__connect.errors.connector.name": job,
        "__connect.errors.stage": STAGES[first["part"]],
        "__connect.errors.exception.class.name": first["reason"],
        "__connect.errors.exception.message": "; ".join(f"{each['part']}: {_sentence(each)}" for each in reasons),
        "sigla.schema.id": first["schema_id"],
        "sigla.schema.guid": first["schema_guid"],
        "sigla.subject": first["subject"],
        "sigla.byte": first["at"],
        "sigla.timestamp": int(row["timestamp"].timestamp() * 1000),
        "sigla.batch": f"{row['_sr_query']}/{row['_sr_batch']}",
    }
    return [{"key": name, "value": str(value).encode()} for name, value in said.items() if value is not None]


def _sentence(reason: Mapping[str, Any]) -> str:
    return f"{reason['reason']}, {reason['detail']}" if reason["detail"] else str(reason["reason"])


def _cause(failure: Exception) -> str:
    """What Kafka's client said; Spark tells it in many lines."""
    text = str(failure)
    found = _CAUSE.findall(text)
    return str(found[-1] if found else text.strip().partition("\n")[0]).strip().rstrip(".")
