"""In which zone this process runs: each source speaks its own protocol, and none of them is waited for."""

import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

import pytest

from sigla.aws.zone import PATIENCE_S, Where, located
from tests.unit.aws.metadata import Always, Ec2, Ecs, Endpoint, Lambda, served

NOWHERE = {"AWS_EC2_METADATA_DISABLED": "true"}


def on_ec2(host: str) -> dict[str, str]:
    return {"AWS_EC2_METADATA_SERVICE_ENDPOINT": f"http://{host}"}


def in_ecs(host: str) -> dict[str, str]:
    return {"ECS_CONTAINER_METADATA_URI_V4": f"http://{host}/v4/of-this-container", **NOWHERE}


def in_lambda(host: str) -> dict[str, str]:
    return {"AWS_LAMBDA_METADATA_API": host, "AWS_LAMBDA_METADATA_TOKEN": "a-token", **NOWHERE}


Place = Callable[[str], Mapping[str, str]]

PLACES: tuple[Place, ...] = (on_ec2, in_ecs, in_lambda)


@contextmanager
def silent() -> Iterator[str]:
    """An address that takes connections and never says a word."""
    with socket.create_server(("127.0.0.1", 0)) as listening:
        yield f"127.0.0.1:{listening.getsockname()[1]}"


def test_what_was_set_is_believed() -> None:
    """An operator who sets it knows something, and no service is asked."""
    assert located("use1-az7", {}) == Where("use1-az7", told_by="setting")


@pytest.mark.parametrize(
    "endpoint, place, where",
    [
        (Ec2(), on_ec2, Where("use1-az1", "us-east-1a", "EC2")),
        (Ec2(zone_id="usw2-lax1-az1", zone_name="us-west-2-lax-1a"), on_ec2,
         Where("usw2-lax1-az1", "us-west-2-lax-1a", "EC2")),
        (Ecs(), in_ecs, Where(name="us-east-1a", told_by="ECS")),
        (Lambda(), in_lambda, Where("use1-az1", told_by="Lambda")),
    ],
)  # fmt: skip
def test_each_source_tells_what_it_knows(endpoint: Endpoint, place: Place, where: Where) -> None:
    """Tokens are demanded and shown, paths are those of the documentation."""
    with served(endpoint) as host:
        assert located("", place(host)) == where


def test_a_zone_is_known_by_its_id_before_its_name() -> None:
    """A name may mean another zone in another account."""
    assert Where("use1-az1", "us-east-1a").known_as == "use1-az1"
    assert Where(name="us-east-1a").known_as == "us-east-1a"


def test_an_instance_without_zone_ids_tells_its_name() -> None:
    """Ids came years after names."""
    with served(Ec2(zone_id="")) as host:
        assert located("", on_ec2(host)) == Where(name="us-east-1a", told_by="EC2")


def test_a_task_without_a_zone_is_asked_for_its_instance() -> None:
    """Older platforms of Fargate do not tell it; a task on an instance may ask there."""
    with served(Ecs(zone_name="")) as task, served(Ec2()) as instance:
        assert located("", in_ecs(task) | on_ec2(instance) | {"AWS_EC2_METADATA_DISABLED": "false"}) == Where(
            "use1-az1", "us-east-1a", "EC2"
        )


def test_a_wrong_token_is_no_answer() -> None:
    with served(Lambda(token="another")) as host:
        assert located("", in_lambda(host)) is None


@pytest.mark.parametrize("place", PLACES)
@pytest.mark.parametrize(
    "somebody",
    [
        Always(),
        Always(body=""),
        Always(body="null"),
        Always(body="[]"),
        Always(body="\x00" * 100_000),
        Always(body='{"AvailabilityZoneID": 7, "AvailabilityZone": {}}'),
        Always(body='{"AvailabilityZoneID": "a b", "AvailabilityZone": "../x"}'),
        Always(status=302),
        Always(status=401),
        Always(status=500),
    ],
)
def test_garbage_is_no_zone(place: Place, somebody: Always) -> None:
    """A portal that answers every request, a proxy that refuses them."""
    with served(somebody) as host:
        assert located("", place(host)) is None


@pytest.mark.parametrize("place", PLACES)
def test_nobody_is_waited_for(place: Place) -> None:
    """A container whose packets reach the instance's service, and whose answers do not come back."""
    with silent() as host:
        began = time.monotonic()
        assert located("", place(host)) is None
        assert time.monotonic() - began >= PATIENCE_S, "it was not asked at all"
        assert PATIENCE_S <= 1


@pytest.mark.parametrize("place", PLACES)
def test_where_nobody_listens_nobody_knows(place: Place) -> None:
    with silent() as host:
        pass
    assert located("", place(host)) is None


@pytest.mark.parametrize(
    "endpoint", ["", "https://127.0.0.1", "127.0.0.1", "http://", "http://127.0.0.1:http", "http://[", "file:///etc"]
)
def test_an_endpoint_that_is_none_is_nobody(endpoint: str) -> None:
    """The variable is one of AWS's, and may be anything."""
    mode = {"AWS_EC2_METADATA_SERVICE_ENDPOINT": endpoint, "AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE": "none"}
    assert located("", {"ECS_CONTAINER_METADATA_URI_V4": endpoint, **mode}) is None


def test_an_instance_may_hide_its_service() -> None:
    """As for every tool of AWS."""
    with served(Ec2()) as host:
        assert located("", on_ec2(host) | NOWHERE) is None


@pytest.mark.process
def test_a_client_needs_no_client_of_aws() -> None:
    """It runs where only `sigla` is installed, and starts at once."""
    program = "import sys, sigla.aws.zone; print([m for m in sys.modules if m.split('.')[0] in ('boto3', 'botocore')])"
    told = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert told.stdout.strip() == "[]"
