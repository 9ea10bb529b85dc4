"""Topics of schemas that people publish land whole: each value is what fastavro, protobuf and json read.

None of it was made for this product: schemas come as packages, values from generators, bytes from Confluent's clients.
"""

from pathlib import Path

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from sigla.decoding.reasons import Reason
from tests.corpus import test_public_json_schema
from tests.pipelines.land.public_corpus import (
    SPAN,
    Corpus,
    all_topics,
    cloud_events,
    of_avro,
    of_json,
    telemetry,
    written,
)
from tests.pipelines.land.public_topics import EXTENSIONS, Topic

FEW = 4
"""Records of each message, or schema."""


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A little of everything."""

    def topics(client: SchemaRegistryClient) -> list[Topic]:
        files = list(test_public_json_schema.PACKAGES["cfn-lint"]().items())[::20]
        return [
            *telemetry(client, FEW),
            cloud_events(client, 10 * FEW),
            *of_avro(client, FEW),
            *of_json(client, files, FEW),
        ]

    home = tmp_path_factory.mktemp("public")
    return written(home, topics).landed(home)


def test_every_value_of_public_schemas_is_what_fastavro_protobuf_and_json_read(corpus: Corpus) -> None:
    """And most records land: what no column can hold, as an integer of 70 bits, is in the quarantine with a reason."""
    assert corpus.differences() == []
    assert {reason for reason, _ in corpus.landings.quarantined()} <= {Reason.INCOMPATIBLE_READER.value}
    assert corpus.landings.last.counts.quarantined < corpus.landings.last.counts.read / 10


def test_telemetry_lands_in_a_table_for_each_message(corpus: Corpus) -> None:
    """The files of OpenTelemetry, with a Span as the first record, which is not the first message of its file."""
    traces = corpus.topics["opentelemetry.proto.trace.v1.trace.proto"]
    assert f"{traces.name}.{SPAN}" in traces.tables
    tables = {table: len(list(corpus.rows(table))) for table in traces.tables}
    assert set(tables.values()) == {FEW}, tables
    assert len(tables) > 5, "Span, what holds it, and what is within it"


def test_cloud_events_land_with_their_extensions(corpus: Corpus) -> None:
    """The envelope is open: whatever a producer adds to it is in the table, and counted."""
    [metric] = [each for each in corpus.landings.last.metrics if each.table == "cloudevents"]
    assert metric.additional >= len(corpus.topics["cloudevents"].records) // 2 * len(EXTENSIONS)


@pytest.mark.soak
def test_all_public_schemas_land_as_others_read_them(tmp_path: Path) -> None:
    """Hundreds of schemas, thousands of records, in one batch."""
    corpus = written(tmp_path, all_topics).landed(tmp_path)
    assert len(corpus.topics) > 100
    assert corpus.differences() == []
    assert {reason for reason, _ in corpus.landings.quarantined()} <= {Reason.INCOMPATIBLE_READER.value}
