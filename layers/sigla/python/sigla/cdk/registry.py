"""A registry in AWS as one construct: its stores, functions, doors and zones, and what looks after them.

    Registry(self, "Registry", registry_name="orders", identity="…", zones="use1-az1,use1-az2")

docs/cdk.md shows an app. infra/app.py deploys the same construct as a stack of its own.
"""

from collections.abc import Iterator, Mapping, Sequence
from functools import reduce
from itertools import pairwise
from typing import Any

from aws_cdk import Names, Stack, Token
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_s3 as s3
from constructs import Construct

from sigla.cdk import doors
from sigla.cdk.beside import RegistryBeside
from sigla.cdk.exporters import Exporters
from sigla.cdk.heartbeat import Heartbeat
from sigla.cdk.issuers import Issuers
from sigla.cdk.journal import Journal
from sigla.cdk.parts import platform
from sigla.cdk.parts.alarms import own_metric
from sigla.cdk.parts.front_door import STAGE, GatewayLogs, RestApi
from sigla.cdk.parts.functions import Functions, Placed
from sigla.cdk.parts.network import Network
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.parts.watch import Door, Watch
from sigla.cdk.parts.zone import Zone
from sigla.cdk.pipelines import Pipelines
from sigla.cdk.replay import Replay
from sigla.cdk.service import Grants, Service
from sigla.cdk.storage import Storage
from sigla.deployment.choices import issuers
from sigla.deployment.choices.rules import titled
from sigla.deployment.packages import built
from sigla.deployment.settings import LOCAL, InvalidSetting, Settings
from sigla.deployment.targets import Target, is_url

OF_THE_STACK = ("account", "region", "qualifier")
"""Settings of a stage file that a stack has already when the construct is made in it."""

NAME_LETTERS = 27
"""The longest name that zones allow: `stack_name` in sigla.deployment.settings."""


class Registry(Construct):
    """A schema registry with all that it needs. Whatever is stored outlives the construct and its stack.

    settings: those of a stage file, by the same names and with the same defaults (docs/deploy.md#settings). A name with
    a dot is a mapping here, as it is a table there: `front_door={"function_url": True}`. Several zones, addresses or
    ids may be a list. `stack_name` is what metrics and names in the account begin with: by default the stack's name and
    the construct's. `account`, `region` and `qualifier` are the stack's own.
    placed: where packages lie, built if need be.

    bucket, table: what it stores. function: the registry outside of zones, or None without public doors. beside:
    further registries in the same table and bucket, by their names. zones: by their ids. outputs: what a deployer
    should know, by names: values, and what they are.

    Raises InvalidSetting, in the words that a stage file is refused with.
    """

    def __init__(self, scope: Construct, name: str, *, placed: Placed = built, **settings: Any) -> None:
        super().__init__(scope, name)
        self.settings = chosen = _chosen(self, settings)
        platform.apply_to(self, chosen)
        self.storage = storage = Storage(self, "Storage", settings=chosen)
        self.functions = Functions(self, "Functions", settings=chosen, placed=placed)
        self.gateway = GatewayLogs(self, "GatewayLogs", settings=chosen)
        self.recipients = Recipients(self, "Recipients", settings=chosen)
        self.bucket: s3.IBucket = storage.bucket
        self.table: dynamodb.ITable = storage.table
        self.outputs = Target.of(chosen).outputs | {
            "BucketName": (storage.bucket.bucket_name, "Schema bodies and the journal"),
            "TableName": (storage.table.table_name, "Ids, versions, settings"),
        }
        self.public = self._public_door() if chosen.public_doors else None
        self.function: lambda_.Alias | None = self.public.service.alias if self.public else None
        self.beside = {name: self._beside(name) for name in chosen.more_registries}
        self.zones = self._zones() if chosen.zone_ids else {}
        self.exporters = self._exporters() if chosen.exporters else None
        self.issuers = self._issuers() if chosen.issuers else None
        self.replay = self._replay() if chosen.regions.peer else None
        # A table on LocalStack has no stream to follow, and no person is to be woken.
        self.journal = None if chosen.local else self._journal()
        self.jobs = self._jobs(placed) if chosen.pipelines.enabled else None

    # --- for the rest of an app ---------------------------------------------------------------------------------------

    @property
    def urls(self) -> Mapping[str, str]:
        """Every URL by the name of its output: `RestUrl`, `DomainUrl`, `FunctionUrl`, `ZoneUrlUse1Az1` and so on."""
        return {name: value for name, (value, _) in self.outputs.items() if is_url(name)}

    @property
    def url(self) -> str:
        """The URL for clients: of the domain, or else of the REST API, or else of the first zone.

        A domain with a name for each registry of a pool is that of none.
        """
        named = "" if self.settings.front_door.wildcard_domain else self.urls.get("DomainUrl")
        return named or next(iter(self.urls.values()))

    def grant_read(self, grantee: iam.IGrantable, *, registry: str = "") -> iam.Grant:
        """Reading bodies and rows without a door, as jobs do. Clients need a URL and an API key instead.

        registry: one of those beside it, or of the pool.
        """
        return _granted(grantee, Grants(self._settings_of(registry), self.storage).of_a_reader())

    def grant_manage_keys(self, grantee: iam.IGrantable, *, registry: str = "") -> iam.Grant:
        """Creating, listing and revoking API keys: `sigla keys … --bucket`. registry: likewise."""
        return _granted(grantee, Grants(self._settings_of(registry), self.storage).of_keys())

    def metric(self, name: str, statistic: str = "Sum", *, registry: str = "") -> cloudwatch.Metric:
        """One of the registry's own metrics (docs/operations.md), such as `ServerErrors`.

        registry: likewise; those of a pool have their metrics together.
        """
        return own_metric(self._settings_of("" if registry in self.settings.pooled else registry), name, statistic)

    def _settings_of(self, registry: str) -> Settings:
        if registry in self.settings.pooled:
            return self.settings.of(registry)
        return self.beside[registry].settings if registry else self.settings

    # --- what it is made of -------------------------------------------------------------------------------------------

    def _public_door(self) -> Door:
        """The registry outside of all zones, and the URLs that the internet reaches."""
        settings = self.settings
        service = Service(self, "Service", settings=settings, storage=self.storage, functions=self.functions)
        rest = RestApi(self, "Rest", settings=settings, target=service.alias, after=self.gateway.account)
        self.outputs |= {
            "RestUrl": (rest.url, "The URL for clients; the stage is part of it"),
            "RestApiId": (rest.api.rest_api_id, "The REST API"),
            "RestStage": (STAGE, "The REST API's stage, the first segment of its URL"),
            "FunctionName": (service.function.function_name, "The function of the registry"),
            "LogGroupName": (service.log_group.log_group_name, "The log of the registry"),
        }
        if rest.domain:
            target = "The target for the DNS record of front_door.domain_name"
            self.outputs["DomainTarget"] = (rest.domain.domain_name_alias_domain_name, target)
            each = ", each registry's name in place of *" if settings.front_door.wildcard_domain else ""
            self.outputs["DomainUrl"] = (
                f"https://{settings.front_door.domain_name}",
                f"The URL for clients{each}, as soon as the DNS record exists",
            )
        if settings.front_door.function_url:
            url = doors.function_url(service.alias)
            self.outputs["FunctionUrl"] = (url, "The URL for clients that cannot have a path in their URL")
        return Door(service, rest.api)

    def _beside(self, name: str) -> RegistryBeside:
        made = RegistryBeside(
            self,
            name,
            settings=self.settings.of(name),
            storage=self.storage,
            functions=self.functions,
            account=self.gateway.account,
            recipients=self.recipients,
        )
        self.outputs |= {
            f"{output}{titled(name)}": (value, f"{what}: {name}") for output, (value, what) in made.outputs.items()
        }
        return made

    def _zones(self) -> dict[str, Zone]:
        settings, storage, functions = self.settings, self.storage, self.functions
        network = Network(self, "Network", settings=settings)
        heartbeat = Heartbeat(self, "Heartbeat", settings=settings, storage=storage, functions=functions)
        self.outputs |= {
            "HeartbeatName": (heartbeat.function.function_name, "The function that checks the zones"),
            "HeartbeatLogGroupName": (
                heartbeat.log_group.log_group_name,
                "The log of the zones' health, a line per minute",
            ),
            "VpcId": (network.vpc_id, "The network of the zones"),
        }
        zones = {each: self._zone(each, network, heartbeat) for each in settings.zone_ids}
        for before, door in pairwise(zone.private for zone in zones.values() if zone.private):
            door.follow(before)
        return zones

    def _zone(self, id: str, network: Network, heartbeat: Heartbeat) -> Zone:
        zone = Zone(
            self,
            id,
            settings=self.settings,
            storage=self.storage,
            functions=self.functions,
            network=network,
            heartbeat=heartbeat,
            account=self.gateway.account,
            recipients=self.recipients,
        )
        name, service = titled(id), zone.service
        if zone.url:
            self.outputs[f"ZoneUrl{name}"] = (zone.url, f"The registry in {id}, with its ring")
        self.outputs[f"ZoneFunction{name}"] = (service.function.function_name, f"The registry's function in {id}")
        self.outputs[f"ZoneLogGroup{name}"] = (service.log_group.log_group_name, f"The log of the registry in {id}")
        if zone.private:
            private = f"The registry in {id}, with its ring, for clients in its network"
            self.outputs[f"ZonePrivateUrl{name}"] = (zone.private.url, private)
        return zone

    def _exporters(self) -> Exporters:
        made = Exporters(self, "Exporters", settings=self.settings, storage=self.storage, functions=self.functions)
        self.outputs |= {
            "ExportersName": (made.function.function_name, "The function that writes to other registries"),
            "ExportersLogGroupName": (made.log_group.log_group_name, "The log of the exporters' function"),
        }
        return made

    def _issuers(self) -> Issuers:
        made = Issuers(self, "Issuers", settings=self.settings, storage=self.storage, functions=self.functions)
        self.outputs |= {
            "IssuersName": (made.function.function_name, "The function that reads the keys of issuers of tokens"),
            "IssuersLogGroupName": (made.log_group.log_group_name, "The log of the issuers' function"),
        }
        return made

    def _replay(self) -> Replay:
        made = Replay(self, "Replay", settings=self.settings, storage=self.storage, functions=self.functions)
        self.outputs |= {
            "ReplayName": (made.function.function_name, "The function that keeps two regions in step"),
            "ReplayLogGroupName": (made.log_group.log_group_name, "The log of the two regions, a line per minute"),
        }
        return made

    def _journal(self) -> Journal:
        """With it alarms, of which some are about it."""
        journal = Journal(
            self,
            "Journal",
            settings=self.settings,
            storage=self.storage,
            functions=self.functions,
            exporters=self.exporters.function if self.exporters else None,
        )
        Watch(
            self,
            "Watch",
            settings=self.settings,
            public=self.public,
            private=[Door(each.service, each.private.api) for each in self.zones.values() if each.private],
            journal=journal,
            exporters=self.exporters,
            issuers=self.issuers,
            replay=self.replay,
            recipients=self.recipients,
        )
        self.outputs |= {
            "JournalName": (journal.function.function_name, "The function that writes the journal to the bucket"),
            "JournalLogGroupName": (journal.log_group.log_group_name, "The log of the journal function"),
        }
        return journal

    def _jobs(self, placed: Placed) -> Pipelines:
        jobs = Pipelines(
            self, "Jobs", settings=self.settings, storage=self.storage, recipients=self.recipients, placed=placed
        )
        self.outputs |= {
            "JobsApplicationId": (jobs.application.attr_application_id, "The EMR Serverless application of the jobs"),
            "JobsLogGroupName": (jobs.log.log_group_name, "The log of the jobs"),
        }
        return jobs


def _chosen(registry: Registry, given: Mapping[str, Any]) -> Settings:
    """The settings of a construct, with what its stack knows already. Raises InvalidSetting."""
    chosen = dict(_dotted(given))
    if taken := [name for name in OF_THE_STACK if name in chosen]:
        raise InvalidSetting(f"{', '.join(taken)} belongs to the stack: give the Stack its env and its synthesizer.")
    if chosen.get("stage") != LOCAL:
        stack = Stack.of(registry)
        chosen["region"] = "" if Token.is_unresolved(stack.region) else stack.region
        if not chosen.get("stack_name"):
            chosen["stack_name"] = Names.unique_resource_name(registry, max_length=NAME_LETTERS, separator="-")
    return Settings.read(chosen)


def _dotted(given: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Each setting under its name in a stage file; what is listed there with commas may be a list."""
    for name, value in given.items():
        if isinstance(value, Mapping):
            yield from ((f"{name}.{inner}", each) for inner, each in _dotted(value))
        elif name == "issuers" and not isinstance(value, str):
            yield name, issuers.as_text(value)
        elif isinstance(value, Sequence) and not isinstance(value, str):
            yield name, ",".join(map(str, value))
        else:
            yield name, value


def _granted(grantee: iam.IGrantable, statements: Sequence[iam.PolicyStatement]) -> iam.Grant:
    """Without the names of statements, of which a policy may have each once: two registries may have one reader."""
    grants = [
        iam.Grant.add_to_principal(
            grantee=grantee, actions=each.actions, resource_arns=each.resources, conditions=each.conditions
        )
        for each in statements
    ]
    return reduce(iam.Grant.combine, grants)
