"""What the adapters of AWS are run on: S3 in this process (moto), DynamoDB in it as well (`tables`) or its own engine.

Clients that the product makes for itself, in a command or in a function, meet moto's DynamoDB.
"""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto import mock_aws
from moto.core.config import DefaultConfig

from sigla.aws.clients import Clients
from tests.contract.tables import Tables

REGION = "us-east-1"
BUCKET = "bodies"
NOWHERE = "http://tables.invalid"
"""Where the tables of this process are asked; neither moto nor a resolver knows it."""


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
def in_process(*, dynamodb_endpoint: str | None = None, tables: Tables | None = None) -> Iterator[Clients]:
    """Clients of an account in this process, with an empty bucket; DynamoDB is moto's, or the one that is given."""
    # What is not for moto need not be compared with two hundred addresses of its own.
    elsewhere: DefaultConfig = {}
    endpoint = NOWHERE if tables else dynamodb_endpoint
    if endpoint:
        elsewhere = {"core": {"passthrough": {"urls": [re.escape(endpoint)]}}}
    with mock_aws(config=elsewhere):
        clients = Clients(region=REGION, dynamodb_endpoint=endpoint)
        if tables:
            tables.serve(clients.dynamodb)
        try:
            clients.s3.create_bucket(Bucket=BUCKET)
            clients.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            yield clients
        finally:
            clients.close()
