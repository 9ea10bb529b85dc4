"""Which door is open by default, and which is not."""

import base64
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from sigla import authentication, wiring
from sigla.auth import api_keys
from sigla.settings import AUTO, KEYS, NONE, Address, InvalidSetting, Settings
from tests.loops import threads_loop
from tests.unit.web.test_gateway import function_url, rest

DOORS = pytest.mark.parametrize("event", [rest, function_url])


@pytest.fixture
def loop() -> Iterator[None]:
    with threads_loop():
        yield


@pytest.fixture
def environment(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> pytest.MonkeyPatch:
    for name in ("SIGLA_AUTH", "SIGLA_REGISTRY_NAME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("SIGLA_DATA", str(tmp_path))
    monkeypatch.setenv("SIGLA_LOG_REQUESTS", "false")
    return monkeypatch


@DOORS
@pytest.mark.usefixtures("loop", "environment")
def test_a_function_is_closed_unless_somebody_says_otherwise(event: Any, tmp_path: Path) -> None:
    """It may be on the internet. A key made beside its data opens it, and the refusal is JSON at both doors."""
    handler = wiring.lambda_handler()
    refused = handler(event("GET", "/subjects"), None)
    assert (refused["statusCode"], json.loads(refused["body"])["error_code"]) == (401, 401)
    with wiring.keys(Address.of(data=str(tmp_path))) as (keys, clock):
        _, secret = api_keys.create(keys, "orders", "reader", (), now=clock.now())
    basic = "Basic " + base64.b64encode(f"orders:{secret}".encode()).decode()
    headers = {"headers": {"authorization": basic}, "multiValueHeaders": {"Authorization": [basic]}}
    assert handler(event("GET", "/subjects", **headers), None)["statusCode"] == 200
    assert handler(event("GET", "/"), None)["statusCode"] == 200


@pytest.mark.usefixtures("loop")
def test_a_function_serves_several_registries_in_a_table_and_a_bucket_alone(environment: pytest.MonkeyPatch) -> None:
    """In a directory each has one of its own, which a server opens."""
    environment.setenv("SIGLA_REGISTRIES", "a,b")
    with pytest.raises(InvalidSetting, match="of a function are in one table and one bucket: set SIGLA_TABLE"):
        wiring.lambda_handler()


@DOORS
@pytest.mark.usefixtures("loop")
def test_an_open_function_says_so_when_it_starts(
    event: Any, environment: pytest.MonkeyPatch, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    environment.setenv("SIGLA_AUTH", "none")
    handler = wiring.lambda_handler()
    assert json.loads(capfdbinary.readouterr().out)["event"] == "open"
    assert handler(event("GET", "/subjects"), None)["statusCode"] == 200


@pytest.mark.parametrize("host", ["127.0.0.1", "127.1.2.3", "::1", "localhost"])
def test_loopback_is_open(host: str) -> None:
    assert authentication.local_auth(AUTO, host) == NONE


@pytest.mark.parametrize("host", ["0.0.0.0", "::", "", "192.0.2.1", "2001:db8::1", "localhost.example.com", "registry"])
def test_every_other_address_has_to_be_decided_about(host: str) -> None:
    """A name that might be anything counts as anything."""
    with pytest.raises(authentication.OpenToOthers, match="SIGLA_AUTH=none"):
        authentication.local_auth(AUTO, host)
    assert authentication.local_auth(KEYS, host) == KEYS
    assert authentication.local_auth(NONE, host) == NONE


def test_a_word_that_is_no_answer_to_who_may_ask_is_refused() -> None:
    """A typo must not open a registry."""
    with pytest.raises(InvalidSetting, match="auto, keys, none"):
        Settings.read({"SIGLA_AUTH": "key"})
