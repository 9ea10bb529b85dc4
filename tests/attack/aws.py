"""A registry on the AWS adapters under attack: whoever stands in between stands between them and AWS.

DynamoDB is its own engine, S3 is moto; every call that the adapters make can be disturbed, those to the bucket as well.
"""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from botocore.exceptions import ClientError

from sigla.aws.secrets import AwsSecrets
from sigla.ports.bodies import Bodies
from sigla.ports.catalog import Catalog
from sigla.ports.clock import Clock
from sigla.ports.journal import Journal
from sigla.ports.principals import Principals
from sigla.ports.secrets import Secrets
from sigla.stores.clock import SystemClock
from sigla.stores.dynamodb.catalog import AwsCatalog
from sigla.stores.s3.bodies import AwsBodies
from sigla.stores.s3.objects import Objects
from tests.attack.ports import Between, Call, client
from tests.build import FixedClock
from tests.contract.aws import Account, AwsStores
from tests.unit.aws.checking import check, settle
from tests.unit.aws.faults import AFTER, CODES, Fault, failure, refusal


class Store:
    """A fresh registry of an account. table: of another one, beside which it stands. epoch: of its region."""

    def __init__(self, of: Account, table: str = "", *, epoch: int = 0) -> None:
        self._opened = ExitStack()
        self.stores: AwsStores = self._opened.enter_context(of.stores(table, epoch=epoch))
        self.catalog: Catalog = self.stores.catalog
        self.bodies: Bodies = self.stores.bodies
        self.journal: Journal = self.stores.journal

    @property
    def principals(self) -> Principals:
        return self.stores.principals

    def watched(self, between: Between) -> tuple[Catalog, Bodies]:
        """Another instance, which remembers nothing and whose pauses take no time."""
        dynamodb, s3 = client("dynamodb", self.stores.dynamodb, between), client("s3", self.stores.s3, between)
        return self._instance(dynamodb, s3, FixedClock())

    def watched_secrets(self, between: Between) -> Secrets:
        return self._secrets(SimpleNamespace(ssm=client("ssm", self.stores.clients.ssm, between)))

    @property
    def secrets(self) -> Secrets:
        return self._secrets(self.stores.clients)

    def _secrets(self, clients: Any) -> Secrets:
        return AwsSecrets(clients, self.stores.table, registry=self.stores.registry)

    def instance(self) -> tuple[Catalog, Bodies]:
        """Another instance, whose calls are not interrupted."""
        return self._instance(self.stores.dynamodb, self.stores.s3, SystemClock())

    def disturbed(self, between: Between) -> tuple[Catalog, Bodies]:
        """As `instance`, with a `Between` before its calls."""
        dynamodb, s3 = client("dynamodb", self.stores.dynamodb, between), client("s3", self.stores.s3, between)
        return self._instance(dynamodb, s3, SystemClock())

    def _instance(self, dynamodb: Any, s3: Any, clock: Clock) -> tuple[Catalog, Bodies]:
        catalog = AwsCatalog(dynamodb, self.stores.table, clock, registry=self.stores.registry)
        self._opened.callback(catalog.close)
        objects = Objects(s3, self.stores.bucket, clock=clock)
        self._opened.callback(objects.close)
        return catalog, AwsBodies(objects, registry=self.stores.registry)

    def check(self) -> None:
        settle(self.stores)
        check(self.stores)

    def close(self) -> None:
        self._opened.close()


# --- what can go wrong -----------------------------------------------------------------------------------------------

READS = {"dynamodb.batch_get_item", "dynamodb.query", "s3.get_object", "s3.list_objects_v2", "ssm.get_parameter"}
OF_READS = (Fault.SILENT, Fault.THROTTLED, Fault.KILLED)
"""Whether a read was done makes no difference."""


def faults_of(call: Call) -> tuple[Fault, ...]:
    return OF_READS if call.name in READS else tuple(Fault)


def failing(fault: Fault) -> Between:
    """The call fails so, done or not."""

    def act(call: Call, carry_out: Any) -> Any:
        if fault in AFTER:
            carry_out()
        if fault not in CODES:
            raise failure(fault)
        service, _, operation = call.name.partition(".")
        raise ClientError(refusal(*CODES[fault][service]), operation)

    return act
