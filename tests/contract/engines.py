"""What the adapters of AWS are run on: S3 and DynamoDB in this process (moto), or DynamoDB's own engine."""

import re
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from moto import mock_aws
from moto.core.config import DefaultConfig

from sigla.aws.clients import Clients

REGION = "us-east-1"
BUCKET = "bodies"


class OneAtATime:
    """A client whose calls wait for each other: moto copies and restores its tables without a lock."""

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
def in_process(*, dynamodb_endpoint: str | None = None) -> Iterator[Clients]:
    """Clients of an account in this process, with an empty bucket; with an endpoint, DynamoDB is the one there."""
    # What is not for moto need not be compared with two hundred addresses of its own.
    elsewhere: DefaultConfig = {}
    if dynamodb_endpoint:
        elsewhere = {"core": {"passthrough": {"urls": [re.escape(dynamodb_endpoint)]}}}
    with mock_aws(config=elsewhere):
        clients = Clients(region=REGION, dynamodb_endpoint=dynamodb_endpoint)
        try:
            clients.s3.create_bucket(Bucket=BUCKET)
            clients.s3.put_bucket_versioning(Bucket=BUCKET, VersioningConfiguration={"Status": "Enabled"})
            yield clients
        finally:
            clients.close()
