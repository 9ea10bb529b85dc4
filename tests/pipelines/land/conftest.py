"""What tests of landing share."""

import os
import uuid
from collections.abc import Iterator

import boto3
import pytest
from moto.server import ThreadedMotoServer

from sigla_pipelines.land.decoders import extension
from tests.pipelines.land.native import NOT_BUILT


@pytest.fixture
def unsynced(monkeypatch: pytest.MonkeyPatch) -> None:
    """For tests that kill drivers and cut no power: nothing waits for a disk."""
    monkeypatch.setattr(os, "fsync", lambda _: None)


@pytest.fixture(scope="module", params=["in Python", "natively"])
def both_ways(request: pytest.FixtureRequest) -> Iterator[None]:
    """All of a module once more, with the extension."""
    with pytest.MonkeyPatch.context() as patch:
        if request.param == "in Python":
            patch.setattr(extension, "installed", lambda: None)
        elif extension.installed() is None:
            pytest.skip(NOT_BUILT)
        yield


@pytest.fixture(scope="module")
def bucket() -> Iterator[str]:
    """A bucket of moto's, in a server of its own: pyarrow does not speak through boto3."""
    name = f"lake-{uuid.uuid4()}"  # moto's servers of one process have the same buckets
    server = ThreadedMotoServer(port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    with pytest.MonkeyPatch.context() as environ:
        environ.setenv("AWS_ENDPOINT_URL", f"http://{host}:{port}")
        environ.setenv("AWS_ACCESS_KEY_ID", "test")
        environ.setenv("AWS_SECRET_ACCESS_KEY", "test")
        environ.setenv("AWS_DEFAULT_REGION", "eu-west-1")
        boto3.client("s3").create_bucket(Bucket=name, CreateBucketConfiguration={"LocationConstraint": "eu-west-1"})
        yield name
    server.stop()
