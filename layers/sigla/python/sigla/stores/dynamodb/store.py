"""The store of one registry in AWS: catalog, journal and zones in a DynamoDB table, bodies and API keys in a bucket."""

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from functools import cached_property
from typing import TYPE_CHECKING

from sigla.model import BodyKey
from sigla.ports.clock import Clock
from sigla.ports.marks import Marks

if TYPE_CHECKING:  # a function imports the parts that it uses
    from sigla.aws.clients import Clients
    from sigla.aws.secrets import AwsSecrets
    from sigla.regions.handed_keys import KeyAdoption
    from sigla.stores.dynamodb.catalog import AwsCatalog
    from sigla.stores.dynamodb.inventory import AwsInventory
    from sigla.stores.dynamodb.journal import AwsJournal
    from sigla.stores.dynamodb.key_commits import AwsKeyCommits
    from sigla.stores.dynamodb.log import AwsLog
    from sigla.stores.dynamodb.plans import Tools
    from sigla.stores.dynamodb.principals import AwsPrincipals
    from sigla.stores.dynamodb.reads import AwsReads
    from sigla.stores.dynamodb.regions import AwsRegion
    from sigla.stores.dynamodb.served import AwsServed
    from sigla.stores.dynamodb.tally import AwsTally
    from sigla.stores.dynamodb.zones import AwsZones
    from sigla.stores.s3.api_keys import AwsKeys
    from sigla.stores.s3.audits import AwsAudits
    from sigla.stores.s3.bodies import AwsBodies
    from sigla.stores.s3.handed_ids import AwsHandedIds
    from sigla.stores.s3.handed_keys import AwsHandedKeys
    from sigla.stores.s3.issuer_keys import AwsIssuerKeys
    from sigla.stores.s3.objects import Objects


class AwsStore:
    """A `ports.Store`, of which each part is made when it is first wanted. Any number of instances may share it.

    clients: closed by whoever made them. secrets_key: as of `AwsSecrets`. there: the same
    registry in its other region, where there is one.
    """

    def __init__(
        self,
        clients: "Clients",
        table: str,
        bucket: str,
        clock: Clock,
        *,
        registry: str = "default",
        secrets_key: str = "",
        there: "AwsStore | None" = None,
    ) -> None:
        self.clock = clock
        self._clients = clients
        self._table = table
        self._bucket = bucket
        self._registry = registry
        self._secrets_key = secrets_key
        self.there = there

    def of(self, registry: str) -> "AwsStore":
        """Another registry of the same table and bucket, through the same clients. Closed by whoever asked for it."""
        return AwsStore(
            self._clients, self._table, self._bucket, self.clock, registry=registry, secrets_key=self._secrets_key
        )

    @cached_property
    def tools(self) -> "Tools":
        """What the parts of the table are made of."""
        from sigla.stores.dynamodb.plans import Tools

        return Tools.of(self._clients.dynamodb, self._table, self.clock, self._registry)

    @cached_property
    def catalog(self) -> "AwsCatalog":
        from sigla.stores.dynamodb.catalog import AwsCatalog
        from sigla.stores.dynamodb.peers import PeerByRole

        made = AwsCatalog(self._clients.dynamodb, self._table, self.clock, registry=self._registry)
        there, url = (self.there.region, self.there.url) if self.there else (None, "")
        made.peer = PeerByRole(made.region, there, url)
        return made

    @property
    def url(self) -> str:
        """By which the data of the other region name this one."""
        return f"dynamodb+s3://{self._table}/{self._bucket}?region={self.place}"

    def mark(self) -> str:
        """Its own are its names: no other registry has a bucket of that name."""
        role = self.region.role()
        return (role.pair if role else "") or f"{self.url}#{self._registry}"

    @property
    def place(self) -> str:
        """The region of AWS."""
        return self._clients.region

    @property
    def region(self) -> "AwsRegion":
        return self.catalog.region

    @cached_property
    def bodies(self) -> "AwsBodies":
        from sigla.stores.s3.bodies import AwsBodies

        return AwsBodies(self.objects, registry=self._registry)

    @cached_property
    def handed_ids(self) -> "AwsHandedIds":
        """Where the other region marks ids that imports have brought."""
        from sigla.stores.s3.handed_ids import AwsHandedIds

        return AwsHandedIds(self.objects, registry=self._registry)

    @cached_property
    def key_commits(self) -> "AwsKeyCommits":
        from sigla.stores.dynamodb.key_commits import AwsKeyCommits

        return AwsKeyCommits(self.catalog, self.tools, self.bodies)

    @cached_property
    def handed_keys(self) -> "AwsHandedKeys":
        """Where the other region hands commits of keys over."""
        from sigla.stores.s3.handed_keys import AwsHandedKeys

        return AwsHandedKeys(self.objects, registry=self._registry)

    @cached_property
    def key_adoption(self) -> "KeyAdoption":
        from sigla.regions.handed_keys import KeyAdoption

        return KeyAdoption(self.key_commits, self.handed_keys)

    @cached_property
    def journal(self) -> "AwsJournal":
        from sigla.stores.dynamodb.journal import AwsJournal

        return AwsJournal(self._clients.dynamodb, self._table, self.clock, registry=self._registry)

    @cached_property
    def log(self) -> "AwsLog":
        from sigla.stores.dynamodb.log import AwsLog

        return AwsLog(self.journal, self.objects, self.clock, registry=self._registry)

    @property
    def recent_log(self) -> None:
        """No function may read the segments of the journal."""

    @cached_property
    def inventory(self) -> "AwsInventory":
        from sigla.stores.dynamodb.inventory import AwsInventory

        return AwsInventory(self.objects, self.catalog, self.clock, registry=self._registry)

    @cached_property
    def marks(self) -> Marks:
        from sigla.stores.dynamodb.marks import BucketMark, TableMark

        return Marks(
            TableMark(self._clients.dynamodb, self._table, self.clock, registry=self._registry),
            BucketMark(self.objects, self._bucket, registry=self._registry),
        )

    @cached_property
    def tally(self) -> "AwsTally":
        from sigla.stores.dynamodb.tally import AwsTally

        return AwsTally(self._clients.dynamodb, self._table, self.clock, self.catalog, registry=self._registry)

    @cached_property
    def served(self) -> "AwsServed":
        from sigla.stores.dynamodb.served import AwsServed

        return AwsServed(self._clients.dynamodb, self._table, self.clock, registry=self._registry)

    @cached_property
    def zones(self) -> "AwsZones":
        from sigla.stores.dynamodb.zones import AwsZones

        return AwsZones(self._clients.dynamodb, self._table, self.clock, registry=self._registry)

    @cached_property
    def keys(self) -> "AwsKeys":
        """API keys."""
        from sigla.stores.s3.api_keys import AwsKeys

        return AwsKeys(self.objects, registry=self._registry)

    @cached_property
    def issuer_keys(self) -> "AwsIssuerKeys":
        """Those of the issuers of tokens."""
        from sigla.stores.s3.issuer_keys import AwsIssuerKeys

        return AwsIssuerKeys(self.objects, registry=self._registry)

    @cached_property
    def audits(self) -> "AwsAudits":
        from sigla.stores.s3.audits import AwsAudits

        return AwsAudits(self.objects, registry=self._registry)

    @cached_property
    def secrets(self) -> "AwsSecrets":
        from sigla.aws.secrets import AwsSecrets

        return AwsSecrets(self._clients, self._table, registry=self._registry, key=self._secrets_key)

    @cached_property
    def principals(self) -> "AwsPrincipals":
        from sigla.stores.dynamodb.places import Places
        from sigla.stores.dynamodb.principals import AwsPrincipals
        from sigla.stores.dynamodb.table import Table

        return AwsPrincipals(Table(self._clients.dynamodb, self._table, self.clock), Places(self._registry))

    @cached_property
    def reads(self) -> "AwsReads":
        from sigla.stores.dynamodb.places import Places
        from sigla.stores.dynamodb.reads import AwsReads
        from sigla.stores.dynamodb.table import Table

        return AwsReads(Table(self._clients.dynamodb, self._table, self.clock), Places(self._registry))

    @cached_property
    def objects(self) -> "Objects":
        """The bucket's, of all registries that share it."""
        from sigla.stores.s3.objects import Objects

        return Objects(self._clients.s3, self._bucket, clock=self.clock)

    def group(self) -> AbstractContextManager[None]:
        """Each write is durable when it returns."""
        return nullcontext()

    def unsettled(self, key: BodyKey) -> bool:  # noqa: ARG002 - as `ports.Store` has it
        """Never: what was put is there for everybody."""
        return False

    def on_replaced(self, tell: Callable[[set[BodyKey]], None]) -> None:
        """Every change is visible when its call returns, so that nothing is left to tell."""

    def close(self) -> None:
        """Waits for what is under way; nothing may be listed afterwards."""
        made = self.__dict__
        for name in ("catalog", "objects"):
            if name in made:
                made[name].close()
