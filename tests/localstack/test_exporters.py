"""An exporter of the deployed registry: created through its API, run by its function, to a registry on this machine."""

import json
from collections.abc import Callable
from typing import Any

import pytest

from tests.localstack.conftest import Deployed
from tests.protocol.clients.server import serving

pytestmark = pytest.mark.localstack

SCHEMA = {"schema": json.dumps({"type": "fixed", "name": "Exported", "size": 5})}


def tick(aws: Callable[[str], Any]) -> dict[str, Any]:
    """What the clock does, now, and not within two minutes."""
    names = [each["FunctionName"] for each in aws("lambda").list_functions()["Functions"]]
    (name,) = [each for each in names if "Exporters" in each]
    answer = aws("lambda").invoke(FunctionName=name, Payload='{"source": "aws.events"}')
    told: dict[str, Any] = json.load(answer["Payload"])
    assert "FunctionError" not in answer, told
    return told


def credentials(aws: Callable[[str], Any]) -> list[str]:
    """The names of parameters with credentials of the exporter."""
    found = [each for each in aws("ssm").describe_parameters()["Parameters"] if each["Name"].startswith("/sigla/")]
    assert {each["Type"] for each in found} <= {"SecureString"}
    return [each["Name"] for each in found if "machine" in each["Name"].split("/")]


def test_an_exporter_writes_what_is_registered_to_a_registry_on_this_machine(
    deployed: Deployed, aws: Callable[[str], Any]
) -> None:
    """Its credentials are in the parameter store and in no answer, and go with it."""
    rest, url = deployed.door("rest"), deployed.door("function")
    with serving() as there:
        config = {
            "schema.registry.url": there.url,
            "basic.auth.credentials.source": "USER_INFO",
            "basic.auth.user.info": "sigla:top-secret",
        }
        form = {"name": "machine", "subjects": ["exported-*"], "contextType": "NONE", "config": config}
        assert rest.ask("POST", "/exporters", form) == (200, {"name": "machine"})
        assert "top-secret" not in json.dumps(url.ask("GET", "/exporters/machine/config"))
        assert len(credentials(aws)) == 1
        ids = []
        for subject in ("exported-orders", "exported-payments"):
            status, registered = url.ask("POST", f"/subjects/{subject}/versions", SCHEMA)
            assert status == 200
            ids.append(registered["id"])
            assert tick(aws)["failing"] == 0
            assert there.ask("GET", f"/subjects/{subject}/versions/1").json["id"] == registered["id"]
        assert there.ask("GET", "/subjects").json == ["exported-orders", "exported-payments"]
        _, said = rest.ask("GET", "/exporters/machine/status")
        assert (said["state"], said["trace"]) == ("RUNNING", "")
    assert rest.ask("PUT", "/exporters/machine/pause")[0] == 200
    assert tick(aws)["exporters"] == 0
    assert rest.ask("DELETE", "/exporters/machine", None) == (204, None)
    assert not credentials(aws)
