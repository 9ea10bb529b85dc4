"""`sigla explain` of a record of a topic, found by its place."""

import socket
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException, Producer

from sigla.cli import main
from tests.cli.explaining import PAYLOAD, Captured, explained, misused, stored


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> str:
    return stored(tmp_path_factory.mktemp("explain") / "data")


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    """The broker that Kafka's C client carries within itself, with three records in a topic."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "linger.ms": 0})
    mark = b"\0" + (2).to_bytes(4, "big")
    producer.produce("orders", value=mark + PAYLOAD, key=b"\0\0\0\0\5{}", partition=0)
    producer.produce("orders", value=PAYLOAD, headers=[("__value_schema_id", mark)], partition=0)
    producer.produce("orders", value=None, key=b"k", partition=0)
    assert producer.flush(30) == 0
    (broker,) = producer.list_topics("orders", timeout=30).brokers.values()
    yield f"{broker.host}:{broker.port}"
    del producer


def test_a_record_of_a_topic_is_found_by_its_place(brokers: str, data: str, tmp_path: Path, capsys: Captured) -> None:
    """With its headers; its key is a record of its own, and a null deletes."""
    settings = tmp_path / "client.properties"
    settings.write_text("# how to log in\nsecurity.protocol = PLAINTEXT\n")
    topic = ("--brokers", brokers, "--topic", "orders", "--settings", str(settings), "--data", data)
    assert explained(capsys, *topic, "--offset", "0")["value"]["old"] == 7
    assert explained(capsys, *topic, "--offset", "1")["value"]["old"] == 7
    assert explained(capsys, *topic, "--offset", "2")["frame"] == {"tombstone": True}
    assert explained(capsys, *topic, "--offset", "0", "--part", "key", status=1)["failure"]["reason"] == "JSON_SCHEMA"
    for missing, why in (("3", "has no record 3"), ("4", "has no record 4")):
        assert main(["explain", *topic, "--offset", missing]) == 1
        assert why in capsys.readouterr().err


@pytest.mark.parametrize(
    "polled, why",
    [
        (None, "does not answer, or t has no partition 0"),
        (SimpleNamespace(error=lambda: None, offset=lambda: 7), "the next one is 7"),
        (KafkaException(KafkaError(KafkaError._UNKNOWN_TOPIC)), "cannot be read"),
    ],
)
def test_a_record_that_is_not_there_is_told_in_a_sentence(
    polled: Any, why: str, data: str, capsys: Captured, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A broker that says nothing, a topic that was compacted, one that is gone."""

    def poll(_timeout: float) -> Any:
        if isinstance(polled, Exception):
            raise polled
        return polled

    consumer = SimpleNamespace(assign=lambda _: None, poll=poll, close=lambda: None)
    monkeypatch.setattr("confluent_kafka.Consumer", lambda _: consumer)
    assert main(["explain", "--topic", "t", "--offset", "5", "--brokers", "b", "--data", data]) == 1
    assert why in capsys.readouterr().err


def test_a_broker_that_is_not_there_is_one_sentence(
    data: str, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    """And not a line for each try of Kafka's client, which writes them past Python."""
    settings = tmp_path / "client.properties"
    settings.write_text("default.api.timeout.ms=1000\n")
    given = ["--settings", str(settings), "--data", data]
    with closing(socket.socket()) as deaf:
        deaf.bind(("127.0.0.1", 0))  # not listening, and no other process gets the port
        broker = f"127.0.0.1:{deaf.getsockname()[1]}"
        assert main(["explain", "--topic", "t", "--offset", "0", "--brokers", broker, *given]) == 1
    (told,) = capfd.readouterr().err.splitlines()
    assert told.startswith(f"sigla: {broker} does not answer, or t has no partition 0 (")
    assert "refused" in told or "down" in told


def test_settings_that_make_no_client_are_misuse(data: str, tmp_path: Path, capsys: Captured) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text("no.such.setting=1\n")
    topic = ("--brokers", "b", "--topic", "t", "--offset", "0", "--settings", str(settings), "--data", data)
    assert "cannot be made" in misused(capsys, *topic)
