"""The heartbeat as it is deployed: it asks each zone's function, and every door tells what it found."""

import importlib
import json
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from sigla import wiring
from sigla.functions.lifecycle import Renewed
from sigla.settings import InvalidSetting
from tests.functions.deployed import Client, Deployment, deployed
from tests.functions.lambda_api import Function, lambda_api
from tests.unit.aws.metadata import Lambda, served

ARN = "arn:aws:lambda:us-east-1:123456789012:function:sigla-{}:live"


def a_zone(id: str) -> dict[str, dict[str, str]]:
    """The event of a zone's schedule."""
    name = f"us-east-1{'abcdef'[int(id[-1]) - 1]}"
    return {"zone": {"id": id, "name": name, "url": f"https://{id}.example", "function": ARN.format(id)}}


@pytest.fixture
def deployment(monkeypatch: pytest.MonkeyPatch) -> Iterator[Deployment]:
    """A registry in a table and a bucket that asks for keys."""
    monkeypatch.delenv("SIGLA_ZONE", raising=False)
    with deployed(monkeypatch, SIGLA_AUTH="auto", SIGLA_STACK="prod") as made:
        yield made


@pytest.fixture
def heartbeat(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[..., Any]]:
    """The function, imported afresh, and invoked for a zone. functions: what Lambda can invoke, by zone."""
    functions: dict[str, Function] = {}
    with lambda_api(functions) as endpoint:
        monkeypatch.setenv("AWS_ENDPOINT_URL_LAMBDA", endpoint)
        sys.modules.pop("functions.heartbeat.handler", None)
        handler: Renewed = importlib.import_module("functions.heartbeat.handler").handler

        def beat(id: str, **zones: Function) -> Any:
            functions.update({ARN.format(zone): function for zone, function in zones.items()})
            return handler(a_zone(id), None)

        yield beat
        handler.close()


def invoked(instance: Renewed) -> Function:
    return lambda event: instance(event, None)


def directory(instance: Renewed, door: str = "rest") -> Any:
    """`GET /zones`, by a client that has no key yet."""
    return Client(instance, door).get("/zones").body


@pytest.mark.parametrize("door", ["rest", "function_url"])
def test_what_the_heartbeat_finds_every_door_tells(
    deployment: Deployment, heartbeat: Callable[..., Any], monkeypatch: pytest.MonkeyPatch, door: str
) -> None:
    """The zone's own function answers the probe: it knows where it was put, and where it is."""
    regional = deployment.instance()
    assert directory(regional, door) == []
    with served(Lambda(zone_id="use1-az1")) as host:
        monkeypatch.setenv("AWS_LAMBDA_METADATA_API", host)
        monkeypatch.setenv("AWS_LAMBDA_METADATA_TOKEN", "a-token")
        zonal = deployment.instance(SIGLA_ZONE="use1-az1")
        told = heartbeat("use1-az1", **{"use1-az1": invoked(zonal)})
        assert (told["healthy"], told["reason"], told["runs_in"]) == (True, "", "use1-az1")
        told = heartbeat("use1-az2", **{"use1-az2": invoked(deployment.instance(SIGLA_ZONE="use1-az2"))})
        assert (told["healthy"], told["misplaced"]) == (True, True)
    assert heartbeat("use1-az4")["healthy"] is False
    found = directory(regional, door)
    assert found == directory(zonal, door), "any endpoint tells of all the others"
    assert [zone.pop("checked") > 1_700_000_000_000 for zone in found] == [True] * 3
    assert found == [
        {"id": "use1-az1", "name": "us-east-1a", "url": "https://use1-az1.example", "healthy": True},
        {
            "id": "use1-az2",
            "name": "us-east-1b",
            "url": "https://use1-az2.example",
            "healthy": True,
            "reason": "it runs in use1-az1",
        },
        {
            "id": "use1-az4",
            "name": "us-east-1d",
            "url": "https://use1-az4.example",
            "healthy": False,
            "reason": "its function cannot be invoked (ResourceNotFoundException)",
        },
    ]


def test_each_heartbeat_is_one_line(
    deployment: Deployment, heartbeat: Callable[..., Any], capsys: pytest.CaptureFixture[str]
) -> None:
    """For CloudWatch, which finds its metrics in it, those of this stack, and for people."""
    capsys.readouterr()
    heartbeat("use1-az1", **{"use1-az1": invoked(deployment.instance(SIGLA_ZONE="use1-az1"))})
    (line,) = capsys.readouterr().out.splitlines()
    told = json.loads(line)
    assert (told["service"], told["stack"], told["zone"], told["ZoneHealthy"], told["event"]) == (
        "sigla-default",
        "prod",
        "use1-az1",
        [1.0],
        "heartbeat",
    )


def test_a_heartbeat_without_a_table_is_a_mistake(monkeypatch: pytest.MonkeyPatch) -> None:
    """Told at the start."""
    monkeypatch.delenv("SIGLA_TABLE", raising=False)
    monkeypatch.delenv("SIGLA_BUCKET", raising=False)
    with pytest.raises(InvalidSetting, match="SIGLA_TABLE"):
        wiring.heartbeat_handler()
