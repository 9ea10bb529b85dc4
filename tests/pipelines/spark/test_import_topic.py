"""`sigla import` of the topic of a registry, from a real broker, and without Spark."""

import json
from pathlib import Path
from typing import Any

import pytest

from sigla.cli import dumps, main
from sigla.journal.replay import TopicRecord
from tests.pipelines.broker import Broker, written
from tests.unit.cli.written import written as dumped
from tests.unit.journal.topic import topic
from tests.unit.registry.lives import A_LIFE

# PySpark leaves its sockets to the collector.
pytestmark = [pytest.mark.spark, pytest.mark.filterwarnings("ignore:unclosed <socket:ResourceWarning")]

SETTLED = {"key": json.dumps({"keytype": "NOOP", "magic": 0}), "value": None}


def sent(record: TopicRecord) -> dict[str, Any]:
    return {"key": record.key, "value": record.value, "timestamp": record.ts}


def exported(data: str, file: Path) -> list[TopicRecord]:
    """What a registry holds, as a dump tells it without the past."""
    assert main(["export", str(file), "--data", data, "--compacted"]) == 0
    return dumps.read(file)


def test_the_topic_of_a_registry_is_imported_from_its_broker(
    kafka: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """As its dump would be; what is not committed at its end is not waited for."""
    records = topic(*A_LIFE)
    kafka.create("imported-schemas", cleanup_policy="compact")
    written(kafka.producer(), "imported-schemas", *map(sent, records), SETTLED)
    unfinished = kafka.producer(transactional_id="import")
    unfinished.init_transactions(30)
    unfinished.begin_transaction()
    unfinished.produce("imported-schemas", key="{}", value="{}")
    unfinished.flush(30)
    unfinished.abort_transaction(30)
    settings = tmp_path / "client.properties"
    settings.write_text("security.protocol=PLAINTEXT\n")
    ours, theirs = str(tmp_path / "ours"), str(tmp_path / "theirs")
    source = f"kafka://{kafka.address}/imported-schemas"
    assert main(["import", source, "--data", ours, "--settings", str(settings)]) == 0
    assert "9 versions" in capsys.readouterr().out
    assert main(["import", dumped(tmp_path / "dump.jsonl", records), "--data", theirs]) == 0
    assert exported(ours, tmp_path / "ours.jsonl") == exported(theirs, tmp_path / "theirs.jsonl")


def test_a_topic_that_is_not_there_is_said_to_be_missing(
    kafka: Broker, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """And is not made by being asked for."""
    for _ in range(2):
        assert main(["import", f"kafka://{kafka.address}/nowhere", "--data", str(tmp_path / "data")]) == 2
        assert "nowhere is not there" in capsys.readouterr().err
