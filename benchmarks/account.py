"""An account on this machine: DynamoDB's own engine, and moto's S3 as a process of its own.

Their times are those of this machine, not of AWS; they are the same for whatever is measured beside each other.
"""

import os
import sysconfig
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, closing, contextmanager
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from unittest.mock import patch

from benchmarks.harness import NotHere, serving
from localstack import dynamodb
from sigla.aws.clients import Clients
from sigla.registry import Registry
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from sigla_pipelines.connectors.maven import Unavailable

REGION = "us-east-1"
BUCKET = "sigla-bodies"

_numbers = count(1)


@dataclass(frozen=True, slots=True)
class Account:
    """environment: by which a process finds the two services. table: an empty one."""

    clients: Clients
    environment: Mapping[str, str]
    table: str

    def another_table(self) -> str:
        """An empty one beside it."""
        return _table(self.clients)

    @contextmanager
    def registry(self) -> Iterator[Registry]:
        """The verbs over table and bucket, without a cache: an instance that has just begun."""
        clock = SystemClock()
        objects = Objects(self.clients.s3, BUCKET, clock=clock)
        catalog = AwsCatalog(self.clients.dynamodb, self.table, clock)
        with closing(objects), closing(catalog):
            yield Registry(catalog, AwsBodies(objects), clock)


@contextmanager
def account() -> Iterator[Account]:
    """Raises NotHere without Java or the engine, RuntimeError if S3 does not come up."""
    moto = [str(Path(sysconfig.get_path("scripts")) / "moto_server"), "-H", "127.0.0.1", "-p", "{port}"]
    with _engine() as engine, serving(moto, ready="/") as s3:
        objects = f"http://127.0.0.1:{s3.port}"
        environment = {
            "AWS_ACCESS_KEY_ID": "benchmark",
            "AWS_SECRET_ACCESS_KEY": "benchmark",
            "AWS_DEFAULT_REGION": REGION,
            "AWS_ENDPOINT_URL_S3": objects,
            "AWS_ENDPOINT_URL_DYNAMODB": engine,
        }
        with patch.dict(os.environ, environment), closing(Clients()) as clients:
            clients.s3.create_bucket(Bucket=BUCKET)
            yield Account(clients, environment, _table(clients))


@contextmanager
def _engine() -> Iterator[str]:
    with ExitStack() as opened:
        try:
            endpoint = opened.enter_context(dynamodb.running())
        except Unavailable as reason:
            raise NotHere(str(reason)) from reason
        yield endpoint


def _table(clients: Clients) -> str:
    name = f"sigla-{next(_numbers)}"
    clients.dynamodb.create_table(
        TableName=name,
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
        AttributeDefinitions=[{"AttributeName": key, "AttributeType": "S"} for key in ("pk", "sk")],
        BillingMode="PAY_PER_REQUEST",
    )
    return name
