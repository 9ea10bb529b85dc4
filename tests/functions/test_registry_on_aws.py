"""The function as it is deployed: its data in a table and a bucket, its doors closed until a key is shown."""

import base64
import json
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from dataclasses import dataclass
from typing import Any

import pytest

from sigla import wiring
from sigla.auth import api_keys
from sigla.aws.api_keys import AwsKeys
from sigla.aws.lifecycle import Renewed
from sigla.aws.objects import Objects
from sigla.embedded.clock import SystemClock
from sigla.settings import InvalidSetting
from tests.contract.aws import make_table
from tests.contract.engines import BUCKET, REGION, in_process
from tests.functions.test_registry import loop, sent

__all__ = ["loop"]
DOORS = ("rest", "function_url")
SCHEMA = {"schema": '{"type":"record","name":"Order","fields":[{"name":"id","type":"long"}]}'}


@pytest.fixture
def secret(monkeypatch: pytest.MonkeyPatch) -> Iterator[str]:
    """An account with an empty table and bucket, in which the deployer has made the first key; yields the key."""
    with in_process() as clients, closing(Objects(clients.s3, BUCKET, clock=SystemClock())) as objects:
        for name, value in (
            ("AWS_DEFAULT_REGION", REGION),
            ("SIGLA_TABLE", make_table(clients.dynamodb)),
            ("SIGLA_BUCKET", BUCKET),
            ("SIGLA_LOG_REQUESTS", "false"),
        ):
            monkeypatch.setenv(name, value)
        _, secret = api_keys.create(AwsKeys(objects), "deployer", "admin", (), now=0)
        yield secret


@pytest.fixture
def instance(secret: str) -> Iterator[Callable[[], Renewed]]:
    """Starts an instance of the function; several share the account."""
    with ExitStack() as opened:
        yield lambda: opened.enter_context(closing(wiring.lambda_handler()))


@dataclass(frozen=True)
class Caller:
    """Somebody with a key before a door of one instance."""

    handler: Any
    door: str
    secret: str
    name: str = "deployer"

    def ask(self, method: str, path: str, body: object = None) -> tuple[int, Any]:
        event = sent(self.door, method, path, body)
        shown = "Basic " + base64.b64encode(f"{self.name}:{self.secret}".encode()).decode()
        event["headers"] = {**event["headers"], "Authorization": shown}
        if "multiValueHeaders" in event:
            event["multiValueHeaders"] = {**event["multiValueHeaders"], "Authorization": [shown]}
        answer = self.handler(event, None)
        return answer["statusCode"], json.loads(answer["body"])


@pytest.mark.parametrize("door", DOORS)
def test_what_one_instance_registers_another_reads_at_once(
    instance: Callable[[], Renewed], secret: str, door: str
) -> None:
    """By id, by subject, by lookup; also what it had looked for in vain before."""
    one, other = (Caller(instance(), door, secret) for _ in range(2))
    assert other.ask("GET", "/schemas/ids/1")[0] == 404
    assert other.ask("POST", "/subjects/orders-value", SCHEMA)[1]["error_code"] == 40401
    status, registered = one.ask("POST", "/subjects/orders-value/versions", SCHEMA)
    assert (status, registered["id"], registered["version"]) == (200, 1, 1)
    assert other.ask("GET", "/schemas/ids/1")[1]["subject"] == "orders-value"
    assert other.ask("GET", "/subjects/orders-value/versions")[1] == [1]
    assert other.ask("POST", "/subjects/orders-value", SCHEMA)[1]["id"] == 1


@pytest.mark.parametrize("door", DOORS)
def test_the_function_is_closed_to_whoever_shows_no_key(
    instance: Callable[[], Renewed], secret: str, door: str
) -> None:
    """Nothing is open by accident: a deployment begins with no key at all."""
    handler = instance()
    assert handler(sent(door, "GET", "/subjects"), None)["statusCode"] == 401
    assert Caller(handler, door, "wrong").ask("GET", "/subjects")[0] == 401
    assert Caller(handler, door, secret).ask("GET", "/subjects") == (200, [])


def test_a_table_without_a_bucket_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told at the start, not at the first registration."""
    monkeypatch.setenv("SIGLA_TABLE", "t")
    with pytest.raises(InvalidSetting, match="belong together"):
        wiring.lambda_handler()
