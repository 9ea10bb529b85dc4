"""What an operator reads in the log of a deployed function."""

import json
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigla.errors import StoreError
from sigla.settings import InvalidSetting, Settings
from sigla.stores.dynamodb.table import Table
from tests.functions.deployed import Client, Deployment, deployed
from tests.functions.test_registry import sent

SCHEMA = {"schema": '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'}

Started = Callable[[], Any]
Written = Callable[[], list[dict[str, Any]]]


@pytest.fixture
def written(capsys: pytest.CaptureFixture[str]) -> Written:
    """The lines since one last looked."""
    return lambda: [json.loads(line) for line in capsys.readouterr().out.splitlines()]


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """With its log; everything else is not written."""
    settings = {"SIGLA_AUTH": "auto", "SIGLA_LOG_REQUESTS": "true", "SIGLA_LOG_READS": "0"}
    with deployed(monkeypatch, **settings) as made:
        yield made


@pytest.fixture
def start(deployment: Deployment) -> Started:
    """Starts the function."""
    return deployment.instance


@pytest.fixture
def secret(deployment: Deployment) -> str:
    """The secret of the key with which the deployer asks."""
    return deployment.key("deployer", "admin")


def requests(lines: list[dict[str, Any]]) -> list[dict[str, Any]]:
    return [line for line in lines if line.get("event") == "request"]


def test_a_line_names_the_key_that_asked_and_tells_no_secret(
    start: Started, secret: str, capsys: pytest.CaptureFixture[str]
) -> None:
    """Nor the text of a schema: logs are read by more people than schemas."""
    caller = Client(start(), "rest", "deployer", secret)
    assert caller("POST", "/subjects/orders-value/versions", SCHEMA).status == 200
    out = capsys.readouterr().out
    (line,) = requests([json.loads(line) for line in out.splitlines()])
    assert (line["principal"], line["subject"], line["status"]) == ("deployer", "orders-value", 200)
    assert line["calls"] > 3
    assert secret not in out
    assert "Order" not in out


def test_who_shows_no_key_or_a_wrong_one_has_no_name(start: Started, secret: str, written: Written) -> None:
    """A name without proof would accuse an innocent principal."""
    handler = start()
    handler(sent("rest", "GET", "/subjects"), None)
    Client(handler, "rest", "deployer", "wrong").get("/subjects")
    lines = requests(written())
    assert [(line["status"], "principal" in line) for line in lines] == [(401, False)] * 2


def test_whoever_is_denied_has_one(deployment: Deployment, written: Written) -> None:
    """The principal's key was right, the request was not."""
    handler = deployment.instance()
    looker = Client(handler, "rest", "looker", deployment.key("looker", "reader"))
    assert looker("POST", "/subjects/a/versions", SCHEMA).status == 403
    assert requests(written())[-1]["principal"] == "looker"


def test_a_read_by_id_that_is_not_logged_is_counted(
    start: Started, secret: str, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """In a line of metrics that many share; a failure has one of its own, and whatever is refused is logged, too."""
    caller = Client(start(), "function_url", "deployer", secret)
    assert caller("POST", "/subjects/orders-value/versions", SCHEMA).status == 200
    written()
    for id, status in ((1, 200), (1, 200), (9, 404)):
        assert caller("GET", f"/schemas/ids/{id}").status == status
    monkeypatch.setattr(Table, "get_many", silent)
    assert caller("GET", "/subjects/a/versions").status == 500
    lines = written()
    assert [line["status"] for line in requests(lines)] == [404, 500]
    assert [len(line["ReadLatency"]) for line in lines if "ReadLatency" in line] == [3, 1]


def test_one_in_a_hundred_is_logged_unless_somebody_says_otherwise() -> None:
    """It is a setting, within its bounds."""
    assert Settings.read({}).log_reads == 0.01
    assert Settings.read({"SIGLA_LOG_READS": "1"}).log_reads == 1
    for wrong in ("1.01", "-0.1", "nan", "often"):
        with pytest.raises(InvalidSetting, match="SIGLA_LOG_READS"):
            Settings.read({"SIGLA_LOG_READS": wrong})


def test_metrics_stay_where_the_log_is_silenced(
    start: Started, secret: str, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Alarms must not depend on whether a person wants to read."""
    monkeypatch.setenv("SIGLA_LOG_REQUESTS", "false")
    Client(start(), "rest", "deployer", secret).get("/subjects")
    lines = written()
    assert not requests(lines)
    assert ["ReadLatency" in line for line in lines] == [True]


def test_storage_that_does_not_answer_is_a_line_and_a_server_error(
    start: Started, secret: str, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With the reason, under the id that the client was given."""
    caller = Client(start(), "rest", "deployer", secret)
    assert caller("GET", "/subjects").status == 200
    written()
    monkeypatch.setattr(Table, "get_many", silent)
    monkeypatch.setattr(Table, "query", silent)
    assert caller("GET", "/subjects/a/versions").status == 500
    failure, metrics, request = written()
    assert (failure["event"], failure["level"], failure["reason"]) == ("failure", "ERROR", "DynamoDB is silent")
    assert metrics["ServerErrors"] == [1.0]
    assert (request["status"], request["request_id"]) == (500, failure["request_id"])


def silent(*_: object, **__: object) -> None:
    raise StoreError("DynamoDB is silent")


def test_an_open_function_says_so_at_its_start_and_after_each_restore(
    start: Started, written: Written, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Once for each environment, and not for each request: an operator should not be able to miss it."""
    monkeypatch.setenv("SIGLA_AUTH", "none")
    handler = start()
    handler(sent("rest", "GET", "/"), None)
    assert opened(written()) == 1
    handler.close()
    handler.renew()
    for _ in range(2):
        handler(sent("rest", "GET", "/"), None)
    assert opened(written()) == 1


def opened(lines: list[dict[str, Any]]) -> int:
    return sum(line.get("event") == "open" and "SIGLA_AUTH=none" in line["message"] for line in lines)
