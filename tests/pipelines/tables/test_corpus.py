"""Every engine reads every table of the corpus with the same rows, and they are what was produced.

The corpus has schemas that people publish, values of others' generators, and bytes of Confluent's own clients.
"""

import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from functools import cache
from pathlib import Path
from random import Random
from typing import Any

import pytest
from confluent_kafka.schema_registry import SchemaRegistryClient

from tests.corpus import test_public_avro, test_public_json_schema
from tests.pipelines.land.public_corpus import (
    SPAN,
    TELEMETRY,
    Corpus,
    Written,
    all_topics,
    cloud_events,
    of_json,
    written,
)
from tests.pipelines.land.public_topics import Topic, avro_topic, many, protobuf_topic
from tests.pipelines.tables.engines import CASES, ENGINES, read, rows, without_emptiness

pytestmark = [
    pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning"),  # Spark's own, between its process and ours
]

FEW = 4
"""Records of each message, or schema."""

Corpora = Callable[[str], Corpus]
"""A kind of table → the corpus, landed so; once for all tests."""


def optional(kind: Any) -> list[Any]:
    return ["null", kind]


def logical(kind: str, name: str, **more: Any) -> dict[str, Any]:
    return {"type": kind, "logicalType": name, **more}


KINDS: dict[str, Any] = {
    "price": logical("bytes", "decimal", precision=30, scale=2),
    "day": logical("int", "date"),
    "clock": logical("long", "time-micros"),
    "at": logical("long", "timestamp-micros"),
    "local": logical("long", "local-timestamp-millis"),
    "words": {"type": "array", "items": optional("string")},
    "lists": optional({"type": "array", "items": optional({"type": "array", "items": optional("int")})}),
    "prices": {"type": "map", "values": optional(logical("bytes", "decimal", precision=26, scale=6))},
    "either": ["null", "long", "string", {"type": "array", "items": "boolean"}],
    "raw": {"type": "fixed", "size": 3, "name": "Raw"},
}
KINDS_SCHEMA = {
    "type": "record",
    "name": "Kinds",
    "fields": [{"name": name, "type": kind} for name, kind in KINDS.items()],
}
"""What no public schema of Avro has."""


def few_topics(client: SchemaRegistryClient) -> list[Topic]:
    """Each language has what is nested and recursive, oneofs, unions, maps, decimals, times, nulls, `_additional`."""
    interop = {path: text for path, text in test_public_avro.PACKAGES["avro"]().items() if "interop" in path}
    published = [*test_public_json_schema.PACKAGES["cfn-lint"]().items()]
    published += test_public_json_schema.PACKAGES["check-jsonschema"]().items()
    files = [each for each in published if each[0].endswith(("iam/policy.json", "github-issue-config.json"))]
    return [
        *many(
            protobuf_topic(client, path, FEW, Random(path), first=SPAN)
            for path in (TELEMETRY[0], "google/type/interval.proto", "google/api/monitored_resource.proto")
        ),
        *many(avro_topic(client, path, text, FEW, Random(path)) for path, text in interop.items()),
        *many([avro_topic(client, "kinds", json.dumps(KINDS_SCHEMA), 10 * FEW, Random(1))]),
        cloud_events(client, 10 * FEW),
        *of_json(client, files, 10 * FEW),
    ]


@pytest.fixture(scope="module")
def corpora(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpora]:
    with ExitStack() as until:
        few = written(tmp_path_factory.mktemp("written"), few_topics)

        @cache
        def landed(kind: str) -> Corpus:
            return until.enter_context(closing(few.landed(tmp_path_factory.mktemp(kind), kind=kind)))

        yield landed


def differences(corpus: Corpus, kind: str, engine: str, request: pytest.FixtureRequest) -> list[str]:
    """A line for each row that an engine reads otherwise than the table's files have it."""
    return [
        f"{table}: {engine} reads {theirs}, and landed was {ours}"
        for table in corpus.tables()
        for ours, theirs in compared(corpus, kind, engine, table, request)
        if ours != theirs
    ]


def compared(
    corpus: Corpus, kind: str, engine: str, table: str, request: pytest.FixtureRequest
) -> Iterator[tuple[Any, Any]]:
    landed = corpus.table(table)
    assert landed is not None
    ours = rows(landed)
    theirs = read(kind, engine, corpus.landings.home / "lake", table, request, landed=landed.schema)
    if engine == "pyiceberg":
        ours, theirs = without_emptiness(ours), without_emptiness(theirs)
    yield len(ours), len(theirs)
    yield from zip(ours, theirs, strict=False)


@pytest.mark.parametrize("kind", ENGINES)
def test_the_rows_that_engines_are_compared_with_are_what_was_produced(kind: str, corpora: Corpora) -> None:
    """As fastavro, protobuf and json read it."""
    assert corpora(kind).differences() == []
    assert len(corpora(kind).tables()) > 12


@pytest.mark.parametrize("kind, engine", CASES)
def test_every_engine_reads_every_table_of_the_corpus_as_it_was_landed(
    kind: str, engine: str, corpora: Corpora, request: pytest.FixtureRequest
) -> None:
    """All columns, ours among them, in all rows; the quarantine as well."""
    assert differences(corpora(kind), kind, engine, request) == []


@cache
def whole_corpus(home: Path) -> Written:
    return written(home, all_topics)


@pytest.mark.soak
@pytest.mark.spark
@pytest.mark.parametrize("kind", ENGINES)
def test_every_engine_reads_every_table_of_the_whole_corpus_as_it_was_landed(
    kind: str, tmp_path: Path, tmp_path_factory: pytest.TempPathFactory, request: pytest.FixtureRequest
) -> None:
    """Hundreds of schemas, a table or several for each."""
    with closing(whole_corpus(tmp_path_factory.getbasetemp() / "whole").landed(tmp_path, kind=kind)) as corpus:
        assert corpus.differences() == []
        found = {engine: differences(corpus, kind, engine, request) for engine in ENGINES[kind]}
        assert found == {engine: [] for engine in ENGINES[kind]}
        print(f"{len(corpus.topics)} topics, {len(corpus.tables())} tables, {corpus.landings.last.counts}")
