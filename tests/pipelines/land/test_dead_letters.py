"""Dead letters: a record of the quarantine as it was, with headers that say why; and which settings make no sense."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
import pytest
import yaml

from sigla_pipelines.land import quarantine, settings
from sigla_pipelines.land.dead_letters import BEGUN, FOLDER, letters_of
from sigla_pipelines.land.landed import QUARANTINE
from sigla_pipelines.land.maintain_job import without_letters
from sigla_pipelines.land.settings import InvalidLanding, Landing
from sigla_pipelines.land.sinks.sink import folder_of
from tests.pipelines.land.landings import Landings

REASON = {
    "part": "value",
    "frame": "ID",
    "schema_id": 7,
    "schema_guid": None,
    "subject": "orders-value",
    "reason": "UNKNOWN_ID",
    "detail": "no schema has the id 7",
    "at": None,
}
ROW: dict[str, Any] = {
    "topic": "orders",
    "partition": 3,
    "offset": 42,
    "timestamp": datetime(2026, 1, 1, 12, 0, 0, 250_000, tzinfo=UTC),
    "key": b"\0k",
    "value": None,
    "headers": [{"key": "trace", "value": b"\xff"}, {"key": "empty", "value": None}],
    "reasons": [REASON, {**REASON, "part": "key", "reason": "EMPTY", "schema_id": None, "detail": None, "at": 0}],
    "_sr_query": "q",
    "_sr_batch": 5,
    "_sr_seen": datetime(2026, 1, 2, tzinfo=UTC),
}


def letters(*rows: dict[str, Any], to: str = "{topic}.dlq") -> list[dict[str, Any]]:
    arrays = [pa.array([row[field.name] for row in rows], field.type) for field in quarantine.SCHEMA]
    batch = pa.RecordBatch.from_arrays(arrays, schema=quarantine.SCHEMA)
    found: list[dict[str, Any]] = letters_of(batch, to, "shop").to_pylist()
    return found


def test_a_letter_is_the_record_and_says_why_it_is_dead() -> None:
    """Whoever mends it has the bytes, the tools of Kafka Connect the headers that they look for."""
    [letter] = letters(ROW)
    assert (letter["topic"], letter["key"], letter["value"]) == ("orders.dlq", b"\0k", None)
    assert letter["headers"][:2] == ROW["headers"], "the record's own come first, and are as they were"
    assert {each["key"]: each["value"].decode() for each in letter["headers"][2:]} == {
        "__connect.errors.topic": "orders",
        "__connect.errors.partition": "3",
        "__connect.errors.offset": "42",
        "__connect.errors.connector.name": "shop",
        "__connect.errors.stage": "VALUE_CONVERTER",
        "__connect.errors.exception.class.name": "UNKNOWN_ID",
        "__connect.errors.exception.message": "value: UNKNOWN_ID, no schema has the id 7; key: EMPTY",
        "sigla.schema.id": "7",
        "sigla.subject": "orders-value",
        "sigla.timestamp": "1767268800250",
        "sigla.batch": "q/5",
    }


def test_letters_of_all_topics_may_have_one_topic() -> None:
    """A record without headers gets ours alone."""
    [letter] = letters({**ROW, "headers": None}, to="letters")
    assert letter["topic"] == "letters"
    assert letter["headers"][0] == {"key": "__connect.errors.topic", "value": b"orders"}


def landing(source: dict[str, Any], **dead_letter: Any) -> Landing:
    form = {
        "registry": {"data": "./data"},
        "source": source,
        "bind": [{"topic": "orders"}, {"topic": "orders.dlq"}],
        "sink": {"lake": "./lake"},
        "dead_letter": dead_letter,
        "work": "./work",
    }
    return settings.parse_landing(yaml.safe_dump(form), "land.yaml")


FILES = {"kind": "files", "path": "./raw"}
KAFKA = {"kind": "kafka", "brokers": "here:9092", "options": {"security.protocol": "SSL"}}


@pytest.mark.parametrize(
    "source, dead_letter, sentence",
    [
        (FILES, {"topic": "letters"}, "set `dead_letter.brokers`"),
        (KAFKA, {"topic": "{topic}.dlq"}, "dead letters of orders would be landed again"),
        (KAFKA, {"topic": "{topic}/dead"}, "invalid topic name 'orders/dead'"),
        (KAFKA, {"topic": "letters", "to": "x"}, "unknown setting. Valid settings: topic, brokers, options"),
    ],
)
def test_letters_that_would_go_nowhere_or_round_are_refused(
    source: dict[str, Any], dead_letter: dict[str, Any], sentence: str
) -> None:
    """Before a batch begins: a loop of letters would grow with each run."""
    with pytest.raises(InvalidLanding, match=sentence):
        landing(source, **dead_letter)


def test_letters_go_where_records_come_from_unless_it_is_said() -> None:
    """With the options that the source is read with; other brokers have other ones."""
    own, other = landing(KAFKA, topic="letters"), landing(KAFKA, topic="letters", brokers="there:9092")
    assert own.dead_letter
    assert own.dead_letter.reached(own.source) == ("here:9092", {"security.protocol": "SSL"})
    assert other.dead_letter
    assert other.dead_letter.reached(other.source) == ("there:9092", {})


def test_upkeep_leaves_the_quarantine_whole_while_letters_wait(tmp_path: Path) -> None:
    """Letters are read from the files that manifests name: compacted and expired, they could not be sent any more."""
    landings = Landings(tmp_path)
    landings.parts = {"dead_letter": {"topic": "orders.dlq", "brokers": "broker:9092"}}
    try:
        landings.register('syntax = "proto3"; message Money { string currency = 1; }')
        landed = landings.land(b"\7")
        job = landings.job
        tables = ["orders", folder_of(QUARANTINE)]
        assert without_letters(job, tables) == tables, "letters were never asked for"
        job.work.put_if_absent(BEGUN, b"{}")
        assert without_letters(job, tables) == ["orders"]
        job.work.replace(f"{FOLDER}{landed.query}.json", orjson.dumps({"number": landed.number}))
        assert without_letters(job, tables) == tables, "they are sent"
    finally:
        landings.close()
