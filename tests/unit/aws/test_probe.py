"""What a zone's function answers to those who may invoke it, and to no others."""

from collections.abc import Mapping
from typing import Any

import pytest

from sigla.functions.probe import ASKED, Probe, answering
from sigla.ports.zones import Pulse
from tests.unit.aws.metadata import Lambda, served
from tests.unit.web.test_gateway import function_url, rest

PULSES = [Pulse("10.0.0.7:6379", 0.4, ""), Pulse("10.0.0.8:6379", 101.0, "it does not answer")]


def a_probe(environ: Mapping[str, str], pulses: list[Pulse] = PULSES) -> Probe:
    return Probe("use1-az1", environ, lambda: pulses, release="1.0")


def environ(host: str) -> dict[str, str]:
    return {"AWS_LAMBDA_METADATA_API": host, "AWS_LAMBDA_METADATA_TOKEN": "a-token"}


def test_a_probe_tells_where_the_function_runs_and_how_its_ring_is() -> None:
    with served(Lambda(zone_id="use1-az6")) as host:
        assert a_probe(environ(host))() == {
            "zone": "use1-az1",
            "runs_in": "use1-az6",
            "members": [
                {"name": "10.0.0.7:6379", "ms": 0.4, "failure": ""},
                {"name": "10.0.0.8:6379", "ms": 101.0, "failure": "it does not answer"},
            ],
            "release": "1.0",
        }


def test_where_nobody_can_know_the_zone_none_is_told() -> None:
    """No metadata, or no service that answers for it."""
    with served(Lambda(token="another")) as host:
        assert a_probe(environ(host))()["runs_in"] is None
    assert a_probe({}, [])() == {"zone": "use1-az1", "runs_in": None, "members": [], "release": "1.0"}


def test_the_zone_is_asked_anew_each_time() -> None:
    """A snapshot is restored in other zones than the one it was taken in."""
    endpoint = Lambda()
    with served(endpoint) as host:
        probe = a_probe(environ(host))
        assert probe()["runs_in"] == "use1-az1"
        endpoint.zone_id = "use1-az6"
        assert probe()["runs_in"] == "use1-az6"


@pytest.mark.parametrize(
    "event",
    [
        function_url("POST", "/", body='{"sigla": "probe"}'),
        rest("POST", "/", body='{"sigla": "probe"}'),
        rest("GET", "/", {"sigla": ["probe"]}),
        {**ASKED, "rawPath": "/"},
        {"sigla": "other"},
        {},
        None,
    ],
)
def test_no_request_is_a_probe(event: Any) -> None:
    """Whatever comes by a URL is wrapped in an event of that door; the handler sees everything that is not a probe."""

    def probe() -> dict[str, Any]:
        raise AssertionError("it was taken for a probe")

    def handler(seen: Any, context: Any) -> dict[str, Any]:
        return {"event": seen, "context": context}

    assert answering(handler, probe)(event, "context") == {"event": event, "context": "context"}


def test_a_probe_is_no_request() -> None:
    """It is not in the log, and not among the requests that are counted."""

    def handler(*_: Any) -> dict[str, Any]:
        raise AssertionError("it was taken for a request")

    assert answering(handler, a_probe({}, []))({"sigla": "probe"}, None)["release"] == "1.0"
