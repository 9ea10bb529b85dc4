"""Topics of schemas that people publish land whole: each value is what fastavro, protobuf and json read.

None of it was made for this product: schemas come as packages, values from generators, bytes from Confluent's clients.
"""

import json
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient
from hypothesis.errors import Unsatisfiable
from jsonschema.exceptions import SchemaError
from schemathesis.core.errors import InvalidSchema

from sigla.decoding.reasons import Reason
from sigla_pipelines.land.sinks.sink import folder_of
from tests.corpus import test_public_avro, test_public_json_schema
from tests.corpus.test_public_protobuf import in_folder
from tests.pipelines.land.landings import Landings
from tests.pipelines.land.public_topics import (
    CLOUD_EVENT,
    EXTENSIONS,
    Topic,
    avro_topic,
    json_topic,
    many,
    protobuf_topic,
)
from tests.pipelines.land.world import raw
from tests.protocol.clients.server import serving
from tests.protocol.clients.shop import another

SPAN = "opentelemetry.proto.trace.v1.Span"
TELEMETRY = [f"opentelemetry/proto/{name}.proto" for name in ("trace/v1/trace", "logs/v1/logs", "metrics/v1/metrics")]
FEW = 4
"""Records of each message, or schema."""

LARGEST = 500_000
"""Characters of a schema; written as JSON in JSON it is longer."""

Topics = Callable[[SchemaRegistryClient], list[Topic]]


@dataclass(frozen=True)
class Corpus:
    """Topics, and the job that has landed them."""

    landings: Landings
    topics: dict[str, Topic]

    def differences(self) -> list[str]:
        """A line for each value that landed as another; a record that did not land is in the quarantine."""
        return [line for topic in self.topics.values() for line in differences(self.landings, topic)]


def landed(home: Path, topics: Topics) -> Corpus:
    """All topics in one batch, written while a registry serves, landed while it is down; no record is uncounted."""
    landings = Landings(home)
    with serving(landings.home / "data") as server, another(server) as client:
        written = topics(client)
    batches = [raw(topic.records, topic.name) for topic in written]
    counts = landings.land_batches([{"topic": topic.name} for topic in written], batches).counts
    assert counts.read == sum(len(topic.records) for topic in written) == counts.landed + counts.quarantined
    return Corpus(landings, {topic.name: topic for topic in written})


def telemetry(client: SchemaRegistryClient, count: int) -> list[Topic]:
    return many(protobuf_topic(client, path, count, Random(path), first=SPAN) for path in TELEMETRY)


def of_avro(client: SchemaRegistryClient, count: int) -> list[Topic]:
    """Records among the schemas that Avro's own packages bring."""
    files = [each for package in test_public_avro.PACKAGES.values() for each in package().items()]
    records = [(path, text) for path, text in files if json.loads(text)["type"] == "record"]
    return many(avro_topic(client, path, text, count, Random(path)) for path, text in records)


def of_json(client: SchemaRegistryClient, files: Iterable[tuple[str, str]], count: int) -> list[Topic]:
    """Schemas that both the generator and the client understand."""
    found = []
    for path, text in files:
        if len(text) > LARGEST:
            continue
        with suppress(InvalidSchema, Unsatisfiable, SchemaError):
            found.append(json_topic(client, path, json.loads(text), count))
    return found


def differences(landings: Landings, topic: Topic) -> Iterator[str]:
    for table, expected in topic.tables.items():
        for kind, offset, row in rows(landings, table):
            found = topic.read(kind, row)
            if not same(found, expected[offset]):
                yield f"{table} {offset}: {found} is not {expected[offset]}"


def rows(landings: Landings, table: str) -> Iterator[tuple[pa.DataType, int, dict[str, Any]]]:
    """The rows of the last batch, with their offsets, with the type and without our own columns."""
    name = landings.named(table)
    for file in landings.last.files:
        if file.table == name:
            found = pq.ParquetFile(landings.home / "lake" / folder_of(name) / file.path).read()
            own = [name for name in found.schema.names if not name.startswith("_sr_")]
            kind = pa.struct([found.schema.field(name) for name in own])
            offsets = found.column("_sr_offset").to_pylist()
            yield from ((kind, *each) for each in zip(offsets, found.select(own).to_pylist(), strict=True))


def same(found: Any, expected: Any) -> bool:
    """A float holds the nearest of whatever number was written."""
    if isinstance(found, float) and isinstance(expected, int | float) and not isinstance(expected, bool):
        return found == float(expected)
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in found)
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return isinstance(found, bool) == isinstance(expected, bool) and bool(found == expected)


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A little of everything."""

    def topics(client: SchemaRegistryClient) -> list[Topic]:
        files = list(test_public_json_schema.PACKAGES["cfn-lint"]().items())[::20]
        return [
            *telemetry(client, FEW),
            json_topic(client, "cloudevents", CLOUD_EVENT, 10 * FEW, extensions=EXTENSIONS),
            *of_avro(client, FEW),
            *of_json(client, files, FEW),
        ]

    return landed(tmp_path_factory.mktemp("public"), topics)


def test_every_value_of_public_schemas_is_what_fastavro_protobuf_and_json_read(corpus: Corpus) -> None:
    """And most records land: what no column can hold, as an integer of 70 bits, is in the quarantine with a reason."""
    assert corpus.differences() == []
    assert {reason for reason, _ in corpus.landings.quarantined()} <= {Reason.INCOMPATIBLE_READER.value}
    assert corpus.landings.last.counts.quarantined < corpus.landings.last.counts.read / 10


def test_telemetry_lands_in_a_table_for_each_message(corpus: Corpus) -> None:
    """The files of OpenTelemetry, with a Span as the first record, which is not the first message of its file."""
    traces = corpus.topics["opentelemetry.proto.trace.v1.trace.proto"]
    assert f"{traces.name}.{SPAN}" in traces.tables
    tables = {table: len(list(rows(corpus.landings, table))) for table in traces.tables}
    assert set(tables.values()) == {FEW}, tables
    assert len(tables) > 5, "Span, what holds it, and what is within it"


def test_cloud_events_land_with_their_extensions(corpus: Corpus) -> None:
    """The envelope is open: whatever a producer adds to it is in the table, and counted."""
    [metric] = [each for each in corpus.landings.last.metrics if each.table == "cloudevents"]
    assert metric.additional >= len(corpus.topics["cloudevents"].records) // 2 * len(EXTENSIONS)


@pytest.mark.soak
def test_all_public_schemas_land_as_others_read_them(tmp_path: Path) -> None:
    """Hundreds of schemas, thousands of records, in one batch."""

    def topics(client: SchemaRegistryClient) -> list[Topic]:
        googles = sorted(in_folder("googleapis-common-protos"))
        files = [
            *test_public_json_schema.PACKAGES["cfn-lint"]().items(),
            *test_public_json_schema.PACKAGES["check-jsonschema"]().items(),
        ]
        return [
            *telemetry(client, 200),
            *many(protobuf_topic(client, path, 20, Random(path)) for path in googles),
            json_topic(client, "cloudevents", CLOUD_EVENT, 500, extensions=EXTENSIONS),
            *of_avro(client, 200),
            *of_json(client, files, 20),
        ]

    corpus = landed(tmp_path, topics)
    assert len(corpus.topics) > 100
    assert corpus.differences() == []
    assert {reason for reason, _ in corpus.landings.quarantined()} <= {Reason.INCOMPATIBLE_READER.value}
