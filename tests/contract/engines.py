"""What adapters of AWS are run on: S3 in this process (moto), DynamoDB in it as well (`tables`) or its own engine."""

import re
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, nullcontext
from typing import Any

import pytest
from moto import mock_aws
from moto.core.config import DefaultConfig

from sigla.aws.clients import Clients
from tests.contract.tables import Tables

REGION = "us-east-1"
BUCKET = "bodies"
NOWHERE = "http://tables.invalid"
"""Where the tables of this process are asked; neither moto nor a resolver knows it."""

AWS_TABLES = r"https://dynamodb\.[a-z0-9-]+\.amazonaws\.com"
"""Where clients ask that are told of no other place."""


class OneAtATime:
    """A client whose calls wait for each other: moto copies and restores without a lock."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._lock = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        found = getattr(self._client, name)
        return self._locked(found) if callable(found) else found

    def _locked(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def locked(*args: Any, **parameters: Any) -> Any:
            with self._lock:
                return call(*args, **parameters)

        return locked


@contextmanager
def asked_by_all(regions: Mapping[str, Tables]) -> Iterator[None]:
    """Clients that the product makes for itself, in a command or in a function, ask these tables, each its region's."""
    made = Clients._client

    def making(self: Clients, service: str, *words: Any, **more: Any) -> Any:
        client = made(self, service, *words, **more)
        if re.match(AWS_TABLES, client.meta.endpoint_url):
            regions[client.meta.region_name].serve(client)
        return client

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(Clients, "_client", making)
        yield


@contextmanager
def in_process(*, dynamodb_endpoint: str | None = None, tables: Tables | None = None) -> Iterator[Clients]:
    """Clients of an account in this process, with an empty bucket. DynamoDB is here, too, or the engine that is given.

    tables: asked by these clients alone. Without them there are tables for whichever client is made.
    """
    # What is not for moto need not be compared with two hundred addresses of its own.
    endpoint = NOWHERE if tables else dynamodb_endpoint
    elsewhere: DefaultConfig = {"core": {"passthrough": {"urls": [re.escape(endpoint) if endpoint else AWS_TABLES]}}}
    everywhere = nullcontext() if endpoint else asked_by_all(defaultdict(Tables))
    with mock_aws(config=elsewhere), everywhere:
        clients = Clients(region=REGION, dynamodb_endpoint=endpoint)
        if tables:
            tables.serve(clients.dynamodb)
        try:
            clients.s3.create_bucket(Bucket=BUCKET)
            clients.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            yield clients
        finally:
            clients.close()
