"""The function as it is deployed: its doors are closed until a key is shown."""

import json
import os
from pathlib import Path

import pytest

from sigla import wiring
from sigla.settings import InvalidSetting
from tests.functions.deployed import Client, deployed


@pytest.mark.parametrize("door", ["rest", "function_url"])
def test_the_function_is_closed_to_whoever_shows_no_key(monkeypatch: pytest.MonkeyPatch, door: str) -> None:
    """Nothing is open by accident: a deployment begins with no key at all."""
    with deployed(monkeypatch, SIGLA_AUTH="auto") as deployment:
        function = deployment.instance()
        assert Client(function, door).get("/subjects").status == 401
        secret = deployment.key("deployer", "admin")
        assert Client(function, door, "deployer", "wrong").get("/subjects").status == 401
        assert Client(function, door, "deployer", secret).get("/subjects").body == []


def test_a_damaged_key_opens_nothing_and_the_log_says_so(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """401 as for any other wrong key, and no fault of ours."""
    with deployed(monkeypatch, SIGLA_AUTH="keys") as deployment:
        deployment.keys.put("deployer", b"{")
        assert Client(deployment.instance(), "rest", "deployer", "secret").get("/subjects").status == 401
        told = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
        assert [(line["level"], line["key"]) for line in told if line.get("event") == "damaged-key"] == [
            ("WARNING", "deployer")
        ]


def test_a_table_without_a_bucket_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told at the start, not at the first registration."""
    monkeypatch.setenv("SIGLA_TABLE", "t")
    with pytest.raises(InvalidSetting, match="belong together"):
        wiring.lambda_handler()


@pytest.mark.parametrize("kind", ["dynamodb+s3", "file", "memory"])
def test_a_function_keeps_its_data_in_the_store_of_one_url(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, kind: str
) -> None:
    """The same settings for a table and a bucket and for a container with a disk."""
    with deployed(monkeypatch) as deployment:
        stores = {
            "dynamodb+s3": f"dynamodb+s3://{os.environ['SIGLA_TABLE']}/{os.environ['SIGLA_BUCKET']}",
            "file": f"file:{tmp_path / 'data'}",
            "memory": "memory:",
        }
        ask = Client(deployment.instance(SIGLA_STORE=stores[kind], SIGLA_TABLE="", SIGLA_BUCKET=""))
        assert ask("POST", "/subjects/orders/versions", {"schema": '"string"'}).body["id"] == 1
        by_parts = Client(deployment.instance()).get("/subjects").body
        assert by_parts == (["orders"] if kind == "dynamodb+s3" else [])
        assert (tmp_path / "data" / "catalog.sqlite").exists() == (kind == "file")
