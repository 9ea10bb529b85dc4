"""The stores of AWS as the suites want them: a fresh table for each test, in one of tests/contract/engines.py."""

import itertools
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from typing import Any

import pytest
from botocore.exceptions import HTTPClientError

from sigla import keys
from sigla.aws.clients import Clients
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb import places
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.dynamodb.journal import AwsJournal
from sigla.stores.dynamodb.log import AwsLog
from sigla.stores.dynamodb.places import Places
from sigla.stores.dynamodb.principals import AwsPrincipals
from sigla.stores.dynamodb.reads import AwsReads
from sigla.stores.dynamodb.regions import AwsRegion
from sigla.stores.dynamodb.table import Table
from sigla.stores.s3.audits import AwsAudits
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from tests.contract.engines import BUCKET, OneAtATime, in_process
from tests.contract.tables import Tables

_numbers = itertools.count(1)


@dataclass(frozen=True)
class AwsStores:
    """One registry in a table and a bucket; `dynamodb` and `s3` are the clients that read and write them."""

    catalog: AwsCatalog
    bodies: AwsBodies
    journal: AwsJournal
    clients: Clients
    dynamodb: Any
    s3: Any
    table: str
    registry: str
    objects: Objects
    bucket: str = BUCKET

    @property
    def principals(self) -> AwsPrincipals:
        return AwsPrincipals(Table(self.dynamodb, self.table, SystemClock()), Places(self.registry))

    @property
    def audits(self) -> AwsAudits:
        return AwsAudits(self.objects, registry=self.registry)

    @property
    def reads(self) -> AwsReads:
        return AwsReads(Table(self.dynamodb, self.table, SystemClock()), Places(self.registry))

    @property
    def region(self) -> AwsRegion:
        return self.catalog.region

    @property
    def log(self) -> AwsLog:
        return AwsLog(self.journal, self.objects, SystemClock(), registry=self.registry)

    @contextmanager
    def another_catalog(self) -> Iterator[AwsCatalog]:
        """The catalog of another instance, which remembers nothing."""
        catalog = AwsCatalog(self.dynamodb, self.table, SystemClock(), registry=self.registry)
        yield catalog
        catalog.close()


def of_two_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each list is merged of two parts instead of sixteen."""
    monkeypatch.setattr(keys, "LIST_SHARDS", 2)
    monkeypatch.setattr(places, "JOURNAL_SHARDS", 2)


def _asked(call: Callable[..., Any], **parameters: Any) -> None:
    """Asks again where no answer came, which the product's client leaves to `Table`: an engine begins slowly."""
    for last in (False, False, False, True):
        try:
            call(**parameters)
        except HTTPClientError:
            if last:
                raise
        else:
            return


def make_table(dynamodb: Any) -> str:
    """An empty table, as infra/ makes it."""
    name = f"sigla-{next(_numbers)}"
    # No other process makes a table of this name: if it is there, it is ours, made by a call whose answer came too
    # late.
    with suppress(dynamodb.exceptions.ResourceInUseException):
        _asked(
            dynamodb.create_table,
            TableName=name,
            KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}],
            AttributeDefinitions=[{"AttributeName": name, "AttributeType": "S"} for name in ("pk", "sk")],
            BillingMode="PAY_PER_REQUEST",
        )
    return name


@dataclass(frozen=True)
class Account:
    """Where registries live; making clients takes longer than most tests, so that many share one."""

    clients: Clients
    dynamodb: Any
    s3: Any
    objects: Objects

    @contextmanager
    def beside(self, other: AwsStores, bucket: str) -> Iterator[AwsStores]:
        """The same registry in a table and a bucket of its own, as another region has it."""
        self.s3.create_bucket(Bucket=bucket)
        with closing(Objects(self.s3, bucket, clock=SystemClock())) as objects:
            clock, registry, table = SystemClock(), other.registry, make_table(self.dynamodb)
            with closing(AwsCatalog(self.dynamodb, table, clock, registry=registry)) as catalog:
                journal = AwsJournal(self.dynamodb, table, clock, registry=registry)
                bodies = AwsBodies(objects, registry=registry)
                place = table, registry, objects, bucket
                yield AwsStores(catalog, bodies, journal, self.clients, self.dynamodb, self.s3, *place)

    @contextmanager
    def stores(self, table: str = "", *, epoch: int = 0) -> Iterator[AwsStores]:
        """A fresh registry, in a table of its own, or beside others in a table that is there. epoch: of its region."""
        table, clock, registry = table or make_table(self.dynamodb), SystemClock(), f"r{next(_numbers)}"
        catalog = AwsCatalog(self.dynamodb, table, clock, registry=registry, epoch=epoch)
        journal = AwsJournal(self.dynamodb, table, clock, registry=registry)
        bodies = AwsBodies(self.objects, registry=registry)
        yield AwsStores(catalog, bodies, journal, self.clients, self.dynamodb, self.s3, table, registry, self.objects)
        catalog.close()
        with suppress(self.dynamodb.exceptions.ResourceNotFoundException):
            _asked(self.dynamodb.delete_table, TableName=table)


@contextmanager
def account(dynamodb_endpoint: str | None = None, *, forgetful: bool = False) -> Iterator[Account]:
    """With an endpoint, DynamoDB is the engine there; else it is in this process, as S3 is."""
    tables = None if dynamodb_endpoint else Tables(forgetful=forgetful)
    with in_process(dynamodb_endpoint=dynamodb_endpoint, tables=tables) as clients:
        s3 = OneAtATime(clients.s3)
        objects = Objects(s3, BUCKET, clock=SystemClock())
        yield Account(clients, clients.dynamodb, s3, objects)
        objects.close()


@contextmanager
def account_of(endpoint: str) -> Iterator[Account]:
    """Everything behind one endpoint, as in LocalStack."""
    with closing(Clients(s3_endpoint=endpoint, dynamodb_endpoint=endpoint)) as clients:
        clients.s3.create_bucket(Bucket=BUCKET)
        with closing(Objects(clients.s3, BUCKET, clock=SystemClock())) as objects:
            yield Account(clients, clients.dynamodb, clients.s3, objects)


# --- fixtures --------------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def moto() -> Iterator[Account]:
    """DynamoDB in this process (`tables`) as well as S3, which is moto's."""
    with account() as made:
        yield made


@pytest.fixture(scope="module")
def forgetful() -> Iterator[Account]:
    """As `moto`, for an answer that comes so late that DynamoDB has forgotten the token of its transaction."""
    with account(forgetful=True) as made:
        yield made


@pytest.fixture(scope="module")
def engine(dynamodb_local: str) -> Iterator[Account]:
    """DynamoDB's own engine, with S3 in this process."""
    with account(dynamodb_local) as made:
        yield made
