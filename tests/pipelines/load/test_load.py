"""A whole topic through Spark: what comes of it is the registry that `sigla import` makes, whatever came between."""

import asyncio
import gzip
import json
from collections.abc import Iterable, Iterator
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import uuid4

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka import Consumer
from moto.server import ThreadedMotoServer
from pyspark.sql import DataFrame, SparkSession

from sigla import opening
from sigla.associations.nouns import WEAK, Association, Resource
from sigla.aws.clients import Clients
from sigla.journal.replay import TopicRecord, replayed
from sigla.keks.nouns import Algorithm, Dek, Kek
from sigla.records import pair
from sigla.settings import Address
from sigla.upkeep import importing
from sigla.upkeep.exporting import standing
from sigla.upkeep.importing import IDENTICAL, IMPORTED, Report
from sigla.upkeep.kept_records import record_of
from sigla_pipelines.load import job, source
from sigla_pipelines.load.load import load
from sigla_pipelines.load.steps import Open, Step
from sigla_pipelines.load.work import Everywhere, Files, Here, LoadWorker
from tests.attack.stories import BASE, DELETED, ONE, THREE, TWO, USING, config, delete, mode, purge, register
from tests.attack.world import World
from tests.contract.aws import make_table
from tests.pipelines.broker import Broker, written
from tests.pipelines.load.registries import everything
from tests.protocol.dumped import (
    BY_HAND,
    BY_HAND_TOLD,
    COMPACTED_HIGHEST,
    DUMP,
    EVERYTHING,
    by_hand_reads,
    compacted,
    differences,
    reads,
    records,
)
from tests.waiting import eventually

# Spark's own, between its process and ours: closed when nothing refers to them any more.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

STANDS = ("versions", "settings", "referrers")
WRITERS = 2
"""Tasks at a time, each with eight threads."""


class CutOff(Exception):
    """The process ends here."""


@dataclass(frozen=True)
class CutIn:
    """A worker whose process ends when half of a step is done."""

    worker: LoadWorker
    name: str

    def run(self, step: Step, frame: DataFrame, name: str) -> DataFrame:
        if name != self.name:
            return self.worker.run(step, frame, name)
        self.worker.run(step, frame.limit(frame.count() // 2), name)
        raise CutOff


def cut_off(raw: DataFrame, files: Files, worker: LoadWorker) -> None:
    """A load whose process ends half-way through the versions."""
    with pytest.raises(CutOff):
        load(raw, files, CutIn(worker, "early"))


def cut_off_here(files: Files, raw: DataFrame, address: Address) -> int:
    """How many versions it has written."""
    with opening.writing(address) as writing:
        cut_off(raw, files, Here(files, Open(writing.registry, writing.store.group)))
    return len(stored(Path(address.path))["versions"])


def imported(records: Iterable[TopicRecord], folder: Path) -> Report:
    with opening.writing(Address.of(str(folder))) as writing:
        return importing.import_state(writing.registry, replayed(records), group=writing.store.group)


def stored(folder: Path) -> dict[str, Any]:
    with opening.reading(Address.of(str(folder))) as held:
        return everything(held.catalog, held.bodies)


def journaled(address: Address) -> int:
    with opening.reading(address) as held:
        return sum(1 for _ in held.journal.read())


def imported_or_there(report: Report) -> dict[str, int]:
    """A task that is tried again, or beside itself, finds what it has written."""
    counted = report.of(IDENTICAL)
    return {kind: number + counted.pop(kind, 0) for kind, number in report.of(IMPORTED).items()} | counted


KEYS = {"kek": 1, "dek": 1, "association": 1}


def with_keys_and_an_association(records: list[TopicRecord]) -> list[TopicRecord]:
    """A topic may tell of them as well."""
    found = replayed(records).subjects.items()
    subject = next(subject for subject, puts in found if not all(put.deleted for put in puts))
    one = Association(subject, "guid", Resource("t", "lkc", "id-t"), "value", WEAK, 5, 5)
    dek = Dek("k", "s", Algorithm.AES256_GCM, 1, "wrapped")
    more = [record_of(Kek("k", "local-kms", "id")), record_of(dek), record_of(one)]
    pairs = [pair(dict(each.key), dict(each.value)) for each in more]
    return [*records, *(TopicRecord(*each, 5, len(records) + number) for number, each in enumerate(pairs))]


# --- where from, where to --------------------------------------------------------------------------------------------


def topic_of(kafka: Broker, name: str, *records: TopicRecord, **settings: str) -> str:
    """The address of a topic as Confluent makes it, with these records."""
    kafka.create(name, 1, cleanup_policy="compact", **settings)
    written(
        kafka.producer(),
        name,
        *({"key": each.key, "value": each.value, "timestamp": each.ts} for each in records),
    )
    return f"kafka://{kafka.address}/{name}"


def records_in(kafka: Broker, name: str) -> int:
    """How many Kafka still has."""
    settings = {"bootstrap.servers": kafka.address, "group.id": "looks", "enable.partition.eof": True}
    with closing(Consumer({**settings, "auto.offset.reset": "earliest", "enable.auto.commit": False})) as consumer:
        consumer.subscribe([name])
        found = 0
        while True:
            for message in consumer.consume(1_000, timeout=1):
                if message.error():
                    return found
                found += 1


@pytest.fixture
def on_aws(spark: SparkSession, dynamodb_local: str) -> Iterator[Address]:
    """An empty registry on DynamoDB's own engine and moto's S3, for this process and Spark's workers."""
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    environ = {
        "AWS_ENDPOINT_URL_S3": f"http://{host}:{port}",
        "AWS_ENDPOINT_URL_DYNAMODB": dynamodb_local,
        "AWS_ACCESS_KEY_ID": "test",
        "AWS_SECRET_ACCESS_KEY": "test",
        "AWS_DEFAULT_REGION": "us-east-1",
    }
    workers = spark.sparkContext.environment
    with pytest.MonkeyPatch.context() as patched:
        for name, value in environ.items():
            patched.setenv(name, value)
            patched.setitem(workers, name, value)
        with closing(Clients()) as clients:
            bucket = f"loaded-{uuid4()}"  # moto's servers of one process have the same buckets
            clients.s3.create_bucket(Bucket=bucket)
            yield Address.of(bucket=bucket, table=make_table(clients.dynamodb), registry="of-tasks")
    server.stop()


# --- stories ---------------------------------------------------------------------------------------------------------


def test_a_load_that_is_cut_off_and_begun_again_from_the_topic_ends_as_an_import(
    spark: SparkSession, kafka: Broker, tmp_path: Path
) -> None:
    """1,601 records of every kind, begun with a dump: every version, id, meaning and setting; every fact is told."""
    files, address = Files(spark, str(tmp_path / "work")), Address.of(str(tmp_path / "loaded"))
    begun = cut_off_here(files, source.read_records(spark, str(DUMP / "records.jsonl.gz")), address)
    assert 0 < begun < EVERYTHING["version"]
    all_records = with_keys_and_an_association([*records()])
    raw = source.read_records(spark, topic_of(kafka, "_schemas", *all_records))
    report = job.load_records(files, raw, address, report=str(tmp_path / "report.json"))
    whole = imported(all_records, tmp_path / "imported")
    assert whole.of(IMPORTED) == EVERYTHING | KEYS
    assert stored(tmp_path / "loaded") == stored(tmp_path / "imported")
    assert report.of(IMPORTED)["version"] == EVERYTHING["version"] - begun
    assert imported_or_there(report) == EVERYTHING | KEYS
    told = "".join(each.read_text() for each in (tmp_path / "report.json").glob("*.json"))
    assert len([json.loads(line) for line in told.splitlines()]) == sum(EVERYTHING.values()) + len(KEYS)


def test_what_kafka_left_of_a_topic_is_loaded_by_tasks_into_a_table(
    spark: SparkSession, kafka: Broker, tmp_path: Path, on_aws: Address
) -> None:
    """Composed by hand of every turn of the rules, and compacted: gaps in its offsets, ends without a beginning."""
    left = len(compacted(BY_HAND))
    assert left < len(BY_HAND)
    # Each record that is later than the one before ends a segment; what is in the last one is never compacted.
    last = TopicRecord('{"keytype":"NOOP"}', None, BY_HAND[-1].ts + 1_000, len(BY_HAND))
    left_over = topic_of(kafka, "_schemas_compacted", *BY_HAND, segment_ms="1", min_cleanable_dirty_ratio="0.01")
    written(kafka.producer(), "_schemas_compacted", {"key": last.key, "value": None, "timestamp": last.ts})
    eventually(lambda: records_in(kafka, "_schemas_compacted") == left + 1, pause_s=0.5)
    files = Files(spark, str(tmp_path / "work"))
    report = job.load_records(files, source.read_records(spark, left_over), on_aws, writers=WRITERS)
    assert imported_or_there(report) == {**BY_HAND_TOLD, "id": 1}
    with opening.writing(on_aws) as writing:
        assert asyncio.run(differences(writing.registry, by_hand_reads())) == []
        assert writing.registry.catalog.max_id(".") == COMPACTED_HIGHEST


@pytest.mark.soak
def test_every_answer_of_what_tasks_have_loaded_is_that_of_the_registry(
    spark: SparkSession, kafka: Broker, tmp_path: Path, on_aws: Address
) -> None:
    """The real topic into a table: cut off, begun again, and then once more, for nothing."""
    raw = source.read_records(spark, topic_of(kafka, "_schemas_again", *records()))
    files = Files(spark, str(tmp_path / "work"))
    cut_off(raw, files, Everywhere(files, on_aws, WRITERS))
    report = job.load_records(files, raw, on_aws, writers=WRITERS)
    assert (report.reasons, report.remarks) == ({}, {})
    assert imported_or_there(report) == EVERYTHING
    rows = journaled(on_aws)
    again = job.load_records(files, raw, on_aws, writers=WRITERS)
    assert (again.of(IMPORTED), again.of(IDENTICAL)) == ({}, EVERYTHING)
    assert journaled(on_aws) == rows
    with opening.writing(on_aws) as writing:
        assert asyncio.run(differences(writing.registry, reads())) == []


CUT_OFF = {
    "jsonl.gz": "{} cannot be read to its end (Unexpected end of input stream). ",
    "parquet": "{} cannot be read to its end (",
    "jsonl": "Invalid line in {}: expected one JSON object with the texts key and value, and the numbers ",
}


@pytest.mark.parametrize("form", CUT_OFF)
def test_a_dump_that_is_cut_off_is_misuse_and_nothing_of_it_is_loaded(
    spark: SparkSession, tmp_path: Path, form: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    dump, data = tmp_path / f"dump.{form}", tmp_path / "loaded"
    if form == "parquet":
        pq.write_table(pa.table({"key": [b"k"], "value": [b"v"], "timestamp": [1], "offset": [0]}), dump)
    else:
        packed = (DUMP / "records.jsonl.gz").read_bytes()
        dump.write_bytes(packed if form == "jsonl.gz" else gzip.decompress(packed))
    dump.write_bytes(dump.read_bytes()[:-20])
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext(spark))
    assert job.main([str(dump), "--data", str(data)]) == 2
    sentence = capsys.readouterr().err
    assert sentence.startswith(CUT_OFF[form].format(dump))
    assert sentence.lower().endswith("nothing was loaded.\n")
    with opening.writing(Address.of(str(data))) as writing:
        assert everything(writing.registry.catalog, writing.registry.bodies)["versions"] == []


def test_a_topic_that_is_not_there_is_told(
    spark: SparkSession,
    kafka: Broker,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    monkeypatch.setattr(job, "running_session", lambda *_, **__: nullcontext(spark))
    assert job.main([f"kafka://{kafka.address}/nobodys", "--data", str(tmp_path / "loaded")]) == 1
    sentence = capsys.readouterr().err
    assert sentence.startswith(f"kafka://{kafka.address}/nobodys cannot be read: ")
    assert sentence.count("\n") == 1


@pytest.mark.soak
def test_what_we_export_is_loaded_cut_off_and_begun_again(spark: SparkSession, tmp_path: Path) -> None:
    """References that come before what they refer to, a content with two ids, gone and deleted versions, settings."""
    with World(
        *DELETED,
        register("base", BASE),
        register("using", USING, "base"),
        delete("using", 1),
        delete("base", 1),
        register(":.c:x", THREE),
        delete(":.c:x"),
        purge(":.c:x"),
        mode(":.d:", "IMPORT"),
        register(":.d:a", ONE, id=7, version=3),
        register(":.d:b", ONE, id=5),
        register(":.d:b", TWO, id=9),
        config("orders", level="FULL"),
        config("", level="NONE"),
    ) as world:
        exported = [
            TopicRecord(key, value, ts, offset)
            for offset, (key, value, ts) in enumerate(standing(world.store.catalog, world.store.bodies))
        ]
        theirs = everything(world.store.catalog, world.store.bodies)
    # The topic's order is not that of its references: compaction keeps the last record of each key.
    turned = [each._replace(offset=len(exported) - at) for at, each in enumerate(exported)]
    spark.createDataFrame(
        [(each.key, each.value, each.ts, each.offset) for each in turned],
        "key binary, value binary, timestamp bigint, offset bigint",
    ).write.parquet(str(tmp_path / "dump.parquet"))
    raw = source.read_records(spark, str(tmp_path / "dump.parquet"))
    files, address = Files(spark, str(tmp_path / "work")), Address.of(str(tmp_path / "loaded"))
    begun = cut_off_here(files, raw, address)
    report = job.load_records(files, raw, address)
    whole = imported(turned, tmp_path / "imported")
    assert 0 < begun < whole.of(IMPORTED)["version"]
    assert report.of(IDENTICAL)["version"] == begun
    assert report.of(IMPORTED)["version"] == whole.of(IMPORTED)["version"] - begun
    ours = stored(tmp_path / "loaded")
    assert ours == stored(tmp_path / "imported")
    # What an id without a holder meant does not count as what stands.
    assert {key: ours[key] for key in STANDS} == {key: theirs[key] for key in STANDS}
