"""The journal's function with a bus of EventBridge as it is deployed: several registries of one table."""

import importlib
import json
import sys
from collections.abc import Iterator

import pytest

from sigla import keys
from sigla.functions.journal import Unfinished
from sigla.settings import InvalidSetting, Settings
from tests.contract.aws import engine
from tests.contract.engines import BUCKET
from tests.functions.test_registries import Deployment, Handler, deployment
from tests.unit.aws.buses import IDENTITY, commits, received

__all__ = ["deployment", "engine"]


@pytest.fixture
def deployed_handler(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Handler]:
    """The function as infra/ deploys it, with events; a second registry has said that it is served."""
    deployment.claim(deployment.second, served=True)
    monkeypatch.setenv("SIGLA_EVENTS_BUS", "default")
    sys.modules.pop("functions.journal.handler", None)
    made = importlib.import_module("functions.journal.handler").handler
    yield made
    made.close()


def test_the_function_tells_of_every_registry_that_it_serves(deployment: Deployment, deployed_handler: Handler) -> None:
    """Events say which one; a registry that has not said so has a function of its own."""
    with received() as told:
        done = deployed_handler(deployment.everything, None)
    assert (done["registries"], done["rows"]) == (2, 2)
    served = {stores.registry: commits(stores) for stores in (deployment.own, deployment.second)}
    assert {each["data"]["registry"]: [each["id"]] for each in told} == served
    assert {each["source"] for each in told} == {f"/sigla/{IDENTITY}/{registry}" for registry in served}


def test_data_of_another_deployment_is_told_to_none(
    deployment: Deployment, deployed_handler: Handler, capfdbinary: pytest.CaptureFixture[bytes]
) -> None:
    """A table that was put in the place of another one, by mistake: nothing of it leaves the account."""
    foreign = keys.identity_object(deployment.second.registry)
    content = json.dumps({"identity": IDENTITY[::-1]}).encode()
    deployment.own.s3.put_object(Bucket=BUCKET, Key=foreign, Body=content)
    with received() as told, pytest.raises(Unfinished):
        deployed_handler(deployment.everything, None)
    assert {each["data"]["registry"] for each in told} == {deployment.own.registry}
    assert b"ForeignData" in capfdbinary.readouterr().out


def test_a_server_on_one_machine_has_no_bus() -> None:
    """Whoever sets it there expects events, and would wait for them."""
    with pytest.raises(InvalidSetting, match=r"^SIGLA_EVENTS_BUS is of the journal's function in AWS: set SIGLA_TABLE"):
        Settings.read({"SIGLA_EVENTS_BUS": "default", "SIGLA_DATA": "./data"})
