"""The corpus: topics of schemas that people publish, written while a registry serves, landed while it is down."""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from random import Random
from shutil import copytree
from typing import Any, Final

import pyarrow as pa
import pyarrow.parquet as pq
from confluent_kafka.schema_registry import SchemaRegistryClient
from hypothesis.errors import Unsatisfiable
from jsonschema.exceptions import SchemaError
from schemathesis.core.errors import InvalidSchema

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

SPAN: Final = "opentelemetry.proto.trace.v1.Span"
TELEMETRY: Final = [
    f"opentelemetry/proto/{name}.proto" for name in ("trace/v1/trace", "logs/v1/logs", "metrics/v1/metrics")
]
LARGEST: Final = 500_000
"""Characters of a schema; written as JSON in JSON it is longer."""

MakeTopics = Callable[[SchemaRegistryClient], list[Topic]]


@dataclass(frozen=True)
class Written:
    """home: a folder with the registry's data. topics: with what was written to them."""

    home: Path
    topics: Sequence[Topic]

    def landed(self, home: Path, **sink: Any) -> "Corpus":
        """All topics in one batch; no record is uncounted. home: of the lake. sink: of the settings."""
        if home != self.home:
            copytree(self.home / "data", home / "data")
        landings = Landings(home, **sink)
        batches = [raw(topic.records, topic.name) for topic in self.topics]
        counts = landings.land_batches([{"topic": topic.name} for topic in self.topics], batches).counts
        assert counts.read == sum(map(len, batches)) == counts.landed + counts.quarantined
        return Corpus(landings, {topic.name: topic for topic in self.topics})


def written(home: Path, topics: MakeTopics) -> Written:
    """What Confluent's clients write while a registry serves."""
    with serving(home / "data") as server, another(server) as client:
        return Written(home, topics(client))


@dataclass(frozen=True)
class Corpus:
    """Topics, and the job that has landed them."""

    landings: Landings
    topics: dict[str, Topic]

    def differences(self) -> list[str]:
        """A line for each value that landed as another; a record that did not land is in the quarantine."""
        return [line for topic in self.topics.values() for line in self._differences(topic)]

    def rows(self, table: str) -> Iterator[tuple[pa.DataType, int, dict[str, Any]]]:
        """Those of a table, as `bind` calls it, with the type, their offsets, and without our own columns."""
        found = self.table(self.landings.named(table))
        if found is not None:
            offsets = found.column("_sr_offset").to_pylist()
            values = found.select([name for name in found.schema.names if not name.startswith("_sr_")])
            kind = pa.struct(list(values.schema))
            yield from ((kind, *each) for each in zip(offsets, values.to_pylist(), strict=True))

    def tables(self) -> list[str]:
        """The names of all tables, the quarantine among them."""
        return sorted({file.table for file in self.landings.last.files})

    def table(self, name: str) -> pa.Table | None:
        """All columns of the table's files, one by one; None if the table has no file."""
        folder = self.landings.home / "lake" / folder_of(name)
        files = [pq.ParquetFile(folder / file.path) for file in self.landings.last.files if file.table == name]
        return pa.concat_tables([file.read() for file in files]) if files else None

    def close(self) -> None:
        self.landings.close()

    def _differences(self, topic: Topic) -> Iterator[str]:
        for table, expected in topic.tables.items():
            for kind, offset, row in self.rows(table):
                found = topic.read(kind, row)
                if not same(found, expected[offset]):
                    yield f"{table} {offset}: {found} is not {expected[offset]}"


def same(found: Any, expected: Any) -> bool:
    """A float holds the nearest of whatever number was written."""
    if isinstance(found, float) and isinstance(expected, int | float) and not isinstance(expected, bool):
        return found == float(expected)
    if isinstance(found, dict) and isinstance(expected, dict):
        return found.keys() == expected.keys() and all(same(found[name], expected[name]) for name in found)
    if isinstance(found, list | tuple) and isinstance(expected, list | tuple):
        return len(found) == len(expected) and all(map(same, found, expected))
    return isinstance(found, bool) == isinstance(expected, bool) and bool(found == expected)


def telemetry(client: SchemaRegistryClient, count: int) -> list[Topic]:
    """The files of OpenTelemetry, with a Span as the first record, which is not the first message of its file."""
    return many(protobuf_topic(client, path, count, Random(path), first=SPAN) for path in TELEMETRY)


def of_avro(client: SchemaRegistryClient, count: int) -> list[Topic]:
    """The schemas of records that Avro's own packages bring."""
    files = [each for package in test_public_avro.PACKAGES.values() for each in package().items()]
    records = [(path, text) for path, text in files if json.loads(text)["type"] == "record"]
    return many(avro_topic(client, path, text, count, Random(path)) for path, text in records)


def of_json(client: SchemaRegistryClient, files: Iterable[tuple[str, str]], count: int) -> list[Topic]:
    """Those that the generator understands, and the client."""
    found = []
    for path, text in files:
        if len(text) > LARGEST:
            continue
        with suppress(InvalidSchema, Unsatisfiable, SchemaError):
            found.append(json_topic(client, path, json.loads(text), count))
    return found


def cloud_events(client: SchemaRegistryClient, count: int) -> Topic:
    """With extensions, that the envelope allows and does not name."""
    return json_topic(client, "cloudevents", CLOUD_EVENT, count, extensions=EXTENSIONS)


def all_topics(client: SchemaRegistryClient) -> list[Topic]:
    """Hundreds of schemas, thousands of records."""
    files = [
        *test_public_json_schema.PACKAGES["cfn-lint"]().items(),
        *test_public_json_schema.PACKAGES["check-jsonschema"]().items(),
    ]
    return [
        *telemetry(client, 200),
        *many(protobuf_topic(client, path, 20, Random(path)) for path in sorted(in_folder("googleapis-common-protos"))),
        cloud_events(client, 500),
        *of_avro(client, 200),
        *of_json(client, files, 20),
    ]
