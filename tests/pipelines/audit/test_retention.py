"""How long topics keep records, as a real broker says it."""

from pathlib import Path

import pytest

from sigla.errors import StoreError
from sigla.settings import InvalidSetting
from sigla_pipelines.audit import job, retention
from sigla_pipelines.audit.retention import FOR_EVER, client_settings, retention_of
from tests.pipelines.broker import Broker


@pytest.mark.spark
def test_brokers_say_how_long_a_topic_keeps_records(kafka: Broker) -> None:
    """What is compacted alone keeps the last record of each key; of a topic that is gone nothing is said."""
    kafka.create("kept-a-week", retention_ms="604800000")
    kafka.create("kept-for-good", retention_ms="-1")
    kafka.create("kept-by-key", cleanup_policy="compact", retention_ms="1000")
    kafka.create("kept-by-both", cleanup_policy="compact,delete", retention_ms="86400000")
    found = retention_of(
        ["kept-a-week", "kept-for-good", "kept-by-key", "kept-by-both", "gone", "kept-a-week"],
        client_settings(kafka.address, None),
    )
    assert found == {
        "kept-a-week": 604_800_000,
        "kept-for-good": FOR_EVER,
        "kept-by-key": FOR_EVER,
        "kept-by-both": 86_400_000,
    }
    assert retention_of([], client_settings(kafka.address, None)) == {}


def test_brokers_that_do_not_answer_are_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(retention, "PATIENCE_S", 0.2)
    with pytest.raises(StoreError, match="the brokers do not answer"):
        retention_of(["orders"], client_settings("127.0.0.1:1", None))


def test_settings_of_the_client_are_read_as_kafkas_tools_keep_them(tmp_path: Path) -> None:
    file = tmp_path / "client.properties"
    file.write_text("# credentials\nsecurity.protocol = SSL\n\nsasl.password=a=b\n")
    assert client_settings("broker:9092", file) == {
        "security.protocol": "SSL",
        "sasl.password": "a=b",
        "bootstrap.servers": "broker:9092",
    }
    with pytest.raises(InvalidSetting, match="cannot be read"):
        client_settings("broker:9092", tmp_path / "missing")


@pytest.mark.parametrize(
    "words, said",
    [
        (["--for-usage"], "--for-usage needs records: name them with --land or --records"),
        (["--records", ".", "--brokers", "broker:9092"], "--brokers are asked for --for-usage alone: add it"),
    ],
)
def test_options_that_do_nothing_are_refused(words: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit) as ended:
        job._parse_arguments(["--data", "data", "--out", "out", *words])
    assert ended.value.code == 2
    assert said in capsys.readouterr().err
