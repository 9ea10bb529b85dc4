"""`sigla import` of a topic from its brokers: what is refused; tests/pipelines/spark reads one."""

import socket
import sys
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest
from confluent_kafka import Producer

from sigla.cli import main, topics

Captured = pytest.CaptureFixture[str]


@pytest.fixture(scope="module")
def brokers() -> Iterator[str]:
    """The broker that Kafka's C client carries within itself; its topics have four partitions."""
    producer = Producer({"test.mock.num.brokers": 1, "bootstrap.servers": "ignored", "linger.ms": 0})
    producer.produce("orders", value=b"{}")
    assert producer.flush(30) == 0
    (broker,) = producer.list_topics("orders", timeout=30).brokers.values()
    yield f"{broker.host}:{broker.port}"
    del producer


def refused(capsys: Captured, status: int, *arguments: str) -> str:
    assert main(["import", *arguments]) == status
    told = capsys.readouterr().err
    assert told.count("\n") == 1
    return told


def test_without_the_client_of_kafka_one_sentence_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, capsys: Captured
) -> None:
    """It is an extra: most imports are of files, and the client is larger than all of Sigla."""
    monkeypatch.setitem(sys.modules, "confluent_kafka", None)
    told = refused(capsys, 2, "kafka://broker:9092/_schemas")
    assert told == (
        "sigla: Topics are read by confluent-kafka, which is not installed: pip install 'sigla-registry[kafka]'.\n"
    )


@pytest.mark.parametrize("source", ["kafka://", "kafka:///_schemas", "kafka://b:9092/a/b", "kafka://u:secret@b/t"])
def test_what_names_no_topic_is_misuse(source: str, capsys: Captured) -> None:
    told = refused(capsys, 2, source)
    assert f"names no topic: {topics.FORM}." in told
    assert "secret" not in told


def test_a_topic_of_several_partitions_is_no_topic_of_schemas(brokers: str, tmp_path: Path, capsys: Captured) -> None:
    """The order of its records would be unknown; mostly it is a topic of data."""
    told = refused(capsys, 2, f"kafka://{brokers}/orders", "--data", str(tmp_path / "data"))
    assert "has 4 partitions, and a topic of schemas has one" in told
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    "line, said",
    [
        ("no.such.setting=1", "cannot be made"),
        ("default.api.timeout.ms=long", "Invalid default.api.timeout.ms 'long': expected a number of milliseconds."),
    ],
)
def test_settings_that_make_no_client_are_misuse(tmp_path: Path, capsys: Captured, line: str, said: str) -> None:
    settings = tmp_path / "client.properties"
    settings.write_text(f"{line}\n")
    assert said in refused(capsys, 2, "kafka://b:9092", "--settings", str(settings))


@pytest.fixture
def impatient(tmp_path: Path) -> list[str]:
    """Options of a command that waits for a broker for a second."""
    settings = tmp_path / "impatient.properties"
    settings.write_text("default.api.timeout.ms=1000\n")
    return ["--settings", str(settings)]


def test_a_broker_that_does_not_answer_is_one_sentence(impatient: list[str], capsys: Captured) -> None:
    with closing(socket.socket()) as deaf:
        deaf.bind(("127.0.0.1", 0))  # not listening, and no other process gets the port
        source = f"kafka://127.0.0.1:{deaf.getsockname()[1]}/_schemas"
        assert refused(capsys, 1, source, *impatient).startswith(f"sigla: {source} cannot be read: ")
