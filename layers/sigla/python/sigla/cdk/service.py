"""The registry as a function: what it is told, how it runs, and, on one screen, all that our functions may do."""

from collections.abc import Sequence
from functools import partial

from aws_cdk import Annotations, Aws, Duration, RemovalPolicy
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from sigla import keys
from sigla.cdk.parts import other_region
from sigla.cdk.parts.actions import HANDED, OBJECTS, READ, ROWS, STREAM
from sigla.cdk.parts.checklist import acknowledge
from sigla.cdk.parts.fingerprint import name_version, note_parts
from sigla.cdk.parts.functions import Functions, Made, allow, deny, use_of_the_key
from sigla.cdk.storage import Storage
from sigla.cdk.variables import Place, variables
from sigla.deployment.settings import Settings

# Longer than a write that keeps losing races tries (20 s), shorter than API Gateway waits (29 s).
TIMEOUT = Duration.seconds(28)

PROBE = {"sigla": "probe"}
"""The event that asks a function how it is, which reads and writes nothing: `sigla.functions.probe.ASKED`."""


class Grants:
    """All that each function may do: its registry's rows, its registry's objects, its own log.

    None removes an object or touches another registry of the same bucket and table, with two exceptions. The journal's
    function serves all of a stack's own table and bucket, since a stream has two readers (`of_the_journal`). And the
    function of a pool reaches all that is in table and bucket but the registries with functions of their own: which
    registry a request is for, its code decides (`sigla.pooling`), and this role does not. Without leave to list, S3
    answers 403 where an object is missing, and a read names no prefix: hence "if exists".

    pooled: whether they are of a function that serves the pool; `whose` is then every registry.
    """

    def __init__(self, settings: Settings, storage: Storage, *, pooled: bool = False) -> None:
        self.settings = settings
        self.registry, self.bucket, self.table = settings.registry_name, storage.bucket, storage.table
        self.pooled, self.whose = pooled, EVERY if pooled else settings.registry_name
        self.kms_keys = settings.function.kms_key_arns
        self.mark = f"{self.registry}/identity.json"
        self.key = use_of_the_key(settings)

    def of_the_registry(self, log: logs.ILogGroup, *, reaches_ssm: bool = True) -> list[iam.PolicyStatement]:
        """Bodies, pointers by GUID, verifiers of API keys, their use; it writes verifiers only with `console_keys`.

        reaches_ssm: whether it can keep what clients bring as credentials of exporters.
        """
        return [
            *self.rows(),
            *self.identity(),
            allow("Reading", "s3:GetObject", on=self.objects(*REGISTRY_READS, *self.issuers())),
            allow("Writing", "s3:PutObject", on=self.objects("schemas", "guids", "key-uses")),
            *([allow("Keys", "s3:PutObject", on=self.objects("keys"))] if self.settings.console_keys else []),
            *self.shared_keks(),
            *other_region.of_roles(self.settings, "dynamodb:BatchGetItem"),
            *other_region.of_bodies(self.settings),
            *other_region.of_commits(self.settings),
            *other_region.of_keys(self.settings, self.objects(HANDED)),
            *(self.kept_credentials() if self.settings.exporters and reaches_ssm else []),
            *(self.walls() if self.pooled and self.settings.registries else []),
            *self.found_and_told(log),
        ]

    def of_a_zone(self, log: logs.ILogGroup, *, ring: Sequence[str]) -> list[iam.PolicyStatement]:
        """What the registry may do, to be in a network, and to speak to the ring of its own zone.

        ring: the ARNs of its members and of the user that it is there, where members ask who it is.
        """
        connecting = [allow("Ring", "elasticache:Connect", on=ring)] if ring else []
        registry = self.of_the_registry(log, reaches_ssm=not self.settings.closed_zones)
        return [*registry, *self.network(), *connecting]

    def of_the_heartbeat(self, log: logs.ILogGroup) -> list[iam.PolicyStatement]:
        """It writes the directory of zones. It has to know whether the bucket has an identity.

        That it may ask a zone's function is said by that function: zones come and go without a change of this role.
        """
        bound = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [f"{self.registry}#z"]}}
        named = {"StringEqualsIfExists": {"s3:prefix": [self.mark]}}
        return [
            allow("Zones", "dynamodb:UpdateItem", on=[self.table.table_arn], when=bound),
            *self.identity(),
            allow("Finding", "s3:ListBucket", on=[self.bucket.bucket_arn], when=named),
            *self.key,
            self.told(log),
        ]

    def of_the_journal(
        self, log: logs.ILogGroup, *, given_up: sqs.IQueue | None, exporters: lambda_.IFunction | None
    ) -> list[iam.PolicyStatement]:
        """It writes segments of the journal, tombstones over bodies, and pointers to those that live again.

        It alone does so for all registries of table and bucket where the stack has made both, and for those of the
        stack where it has not: the exception to "its registry's rows, its registry's objects". It reads no keys, no
        credentials and no keys of issuers, and writes no identity.

        given_up: where Lambda notes what it could not hand over of the table's stream, if the journal follows one.
        exporters: the function that it wakes, if there is one.
        """
        whose = self.settings.journals or ("*",)
        bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{registry}#*" for registry in whose]}}
        marks = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": list(whose)}}
        served = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [self.registry]}}
        named = {"StringLikeIfExists": {"s3:prefix": [f"{registry}/*" for registry in whose]}}
        return [
            allow("Rows", *ROWS, on=[self.table.table_arn], when=bound),
            *self.key,
            allow("Identity", "dynamodb:BatchGetItem", on=[self.table.table_arn], when=marks),
            allow("Served", "dynamodb:Query", on=[self.table.table_arn], when=served),
            allow("Mark", "s3:GetObject", on=self.places("identity.json", of=whose)),
            *(self.stream() if given_up else []),
            *([allow("GivingUp", "sqs:SendMessage", on=[given_up.queue_arn])] if given_up else []),
            *([allow("Waking", "lambda:InvokeFunction", on=[exporters.function_arn])] if exporters else []),
            *self.bus(),
            allow("Reading", "s3:GetObject", on=self.places("schemas/*", "journal/*", of=whose)),
            allow("Writing", "s3:PutObject", on=self.places("schemas/*", "guids/*", "journal/*", of=whose)),
            allow("Finding", "s3:ListBucket", on=[self.bucket.bucket_arn], when=named),
            self.told(log),
        ]

    def of_the_exporters(self, log: logs.ILogGroup) -> list[iam.PolicyStatement]:
        """It reads what is registered and the credentials of exporters. It writes how far each exporter has come."""
        bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{self.registry}#*"]}}
        own = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [keys.exporters_pk(self.registry)]}}
        return [
            allow("Rows", *READ, on=[self.table.table_arn], when=bound),
            allow("Progress", "dynamodb:UpdateItem", on=[self.table.table_arn], when=own),
            *self.key,
            *self.identity(),
            allow("Reading", "s3:GetObject", on=self.objects("schemas")),
            allow("Credentials", "ssm:GetParameter", on=[self.credentials()]),
            *self.of_credentials("Decrypt"),
            *self.found_and_told(log),
        ]

    def of_the_issuers(self, log: logs.ILogGroup) -> list[iam.PolicyStatement]:
        """It writes the keys of issuers, and nothing else. What it asks of the internet needs no leave."""
        return [
            *self.key,
            *self.identity(),
            allow("Issuers", "s3:GetObject", "s3:PutObject", on=self.objects("issuers")),
            *self.found_and_told(log),
        ]

    def of_the_replay(self, log: logs.ILogGroup) -> list[iam.PolicyStatement]:
        """It carries out here what the other region has committed, and reads there all that the registry has.

        Over there it writes what the region is, and how far ids are given: rows of settings, contexts and roles. What
        that region has committed it cannot change, and no object of it. A scan names no partition.
        """
        other, table, bucket = (
            self.settings.regions,
            other_region.arn_of_table(self.settings),
            other_region.arn_of_bucket(self.settings),
        )
        bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{self.registry}#*"]}}
        named = {"StringLikeIfExists": {"s3:prefix": [f"{self.registry}/*"]}}
        return [
            *self.rows(),
            *self.identity(),
            *(self.stream() if self.settings.replay_stream else []),
            allow("Reading", "s3:GetObject", on=self.objects("schemas", "guids")),
            allow("Writing", "s3:PutObject", on=self.objects("schemas", "guids")),
            *self.found_and_told(log),
            allow("OtherRows", *READ, on=[table], when=bound),
            allow("OtherTable", "dynamodb:Scan", on=[table]),
            *other_region.of_roles(self.settings),
            allow("OtherObjects", "s3:GetObject", on=[f"{bucket}/{self.registry}/{each}/*" for each in OBJECTS]),
            allow("OtherNames", "s3:ListBucket", on=[bucket], when=named),
            allow("Telling", "events:PutEvents", on=[other.bus(Aws.PARTITION, Aws.ACCOUNT_ID)]),
        ]

    def issuers(self) -> list[str]:
        """Where the keys of issuers are, if there are any."""
        return ["issuers"] if self.settings.issuers else []

    def of_a_reader(self) -> list[iam.PolicyStatement]:
        """What reads the registry without a door, such as a job of another stack: it writes nothing."""
        bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{self.registry}#*"]}}
        return [
            allow("Rows", *READ, on=[self.table.table_arn], when=bound),
            allow("Reading", "s3:GetObject", on=self.objects("schemas", "guids", "audit")),
            self.finding(),
            *self.key,
        ]

    def of_keys(self) -> list[iam.PolicyStatement]:
        """What `sigla keys` does with the verifiers of API keys, and what it shows of their use."""
        return [
            allow("Keys", "s3:GetObject", "s3:PutObject", on=self.objects("keys")),
            allow("KeyUses", "s3:GetObject", on=self.objects("key-uses")),
            self.finding(),
            *self.key,
        ]

    def rows(self) -> list[iam.PolicyStatement]:
        """Every partition key begins with the registry's name. Whoever may read them may use the key of the store."""
        bound = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{self.whose}#*"]}}
        return [allow("Rows", *ROWS, on=[self.table.table_arn], when=bound), *self.key]

    def identity(self) -> list[iam.PolicyStatement]:
        """Whose table and bucket are. Only a person may write it: `rows` does not list the row's partition."""
        bound = {f"ForAllValues:String{'Like' if self.pooled else 'Equals'}": {"dynamodb:LeadingKeys": [self.whose]}}
        return [
            allow("Identity", "dynamodb:BatchGetItem", on=[self.table.table_arn], when=bound),
            allow("Mark", "s3:GetObject", on=self.places("identity.json", of=[self.whose])),
        ]

    def walls(self) -> list[iam.PolicyStatement]:
        """What a pool must not reach although it reaches every registry: those that have a function of their own."""
        silos = self.settings.more_registries
        rows = {
            "ForAnyValue:StringLike": {"dynamodb:LeadingKeys": [f"{each}{end}" for each in silos for end in ("", "#*")]}
        }
        named = {"StringLike": {"s3:prefix": [f"{each}/*" for each in silos]}}
        return [
            deny("OthersRows", "dynamodb:*", on=[self.table.table_arn], when=rows),
            deny("OthersObjects", "s3:*", on=self.places("*", of=silos)),
            deny("OthersNames", "s3:ListBucket", on=[self.bucket.bucket_arn], when=named),
        ]

    def shared_keks(self) -> list[iam.PolicyStatement]:
        """The keys that settings name, and nothing else of KMS: a client may write any ARN into a KEK."""
        return [allow("SharedKeks", "kms:Decrypt", "kms:Encrypt", on=self.kms_keys)] if self.kms_keys else []

    def kept_credentials(self) -> list[iam.PolicyStatement]:
        """Those of exporters, which clients bring. It reads them where a client changes the settings beside them."""
        actions = ("ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter")
        return [allow("Credentials", *actions, on=[self.credentials()]), *self.of_credentials("Decrypt", "Encrypt")]

    def of_credentials(self, *uses: str) -> list[iam.PolicyStatement]:
        """Use of the key of the store for credentials of exporters, by way of the parameter store alone.

        Source: AWS Systems Manager User Guide, "AWS KMS encryption for Parameter Store SecureString parameters".
        """
        if not self.settings.key_arn:
            return []
        by_way_of = {
            "StringEquals": {"kms:ViaService": f"ssm.{Aws.REGION}.amazonaws.com"},
            "StringLike": {"kms:EncryptionContext:PARAMETER_ARN": self.credentials()},
        }
        actions = [f"kms:{use}" for use in uses]
        return [allow("CredentialsKey", *actions, on=[self.settings.key_arn], when=by_way_of)]

    def credentials(self) -> str:
        """All parameters of the registry: those that `sigla.keys.secret_parameter` names."""
        every = f"/sigla/{self.table.table_name}/{self.registry}/*"
        return f"arn:{Aws.PARTITION}:ssm:{Aws.REGION}:{Aws.ACCOUNT_ID}:parameter{every}"

    def stream(self) -> list[iam.PolicyStatement]:
        return [allow("Stream", *STREAM, on=[f"{self.table.table_arn}/stream/*"])]

    def bus(self) -> list[iam.PolicyStatement]:
        """It looks whether the bus is there, since EventBridge takes events for one that is not, and drops them."""
        arn = self.settings.events.arn(Aws.PARTITION, Aws.REGION, Aws.ACCOUNT_ID)
        return [allow("Events", "events:DescribeEventBus", "events:PutEvents", on=[arn])] if arn else []

    def found_and_told(self, log: logs.ILogGroup) -> list[iam.PolicyStatement]:
        return [self.finding(), self.told(log)]

    def finding(self) -> iam.PolicyStatement:
        named = {"StringLikeIfExists": {"s3:prefix": [f"{self.whose}/*"]}}
        return allow("Finding", "s3:ListBucket", on=[self.bucket.bucket_arn], when=named)

    def told(self, log: logs.ILogGroup) -> iam.PolicyStatement:
        return allow("Log", "logs:CreateLogStream", "logs:PutLogEvents", on=[log.log_group_arn])

    def network(self) -> list[iam.PolicyStatement]:
        """Lambda makes a network interface in the function's name; the function's own code may not.

        Source: AWS Lambda Developer Guide, "Giving Lambda functions access to resources in an Amazon VPC".
        """
        code = {"ArnLike": {"lambda:SourceFunctionArn": f"arn:{Aws.PARTITION}:lambda:*:*:function:*"}}
        return [allow("Network", *INTERFACES, on=["*"]), deny("NotItself", *INTERFACES, on=["*"], when=code)]

    def objects(self, *kinds: str) -> list[str]:
        return self.places(*(f"{kind}/*" for kind in kinds), of=[self.whose])

    def places(self, *names: str, of: Sequence[str]) -> list[str]:
        """Objects of registries, by what follows the registry's name."""
        return [self.bucket.arn_for_objects(f"{registry}/{name}") for registry in of for name in names]


EVERY = "*"

REGISTRY_READS = ("schemas", "guids", "keys", "key-uses", "audit")
"""Objects that the registry's function reads."""
"""In place of a registry's name, in what is granted to a pool."""

# What Lambda itself wants to see granted to whom it puts into a network.
INTERFACES = (
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
)


class Service(Construct):
    """The registry's function and the alias `live` of its published version, which every front door calls.

    The one behind the REST API is in no zone: it has no network of its own, and no ring.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        storage: Storage,
        functions: Functions,
        place: Place | None = None,
    ) -> None:
        super().__init__(scope, name)
        choice, grants = settings.function, Grants(settings, storage, pooled=bool(settings.pool))
        made = functions.make(
            self,
            "registry",
            description=f"Sigla, {settings.served}{f' in {place.zone}' if place else ''}",
            memory_mb=choice.memory_mb,
            timeout=TIMEOUT,
            environment=variables(settings, storage, place),
            grants=partial(grants.of_a_zone, ring=place.members) if place else grants.of_the_registry,
            tracing=lambda_.Tracing.ACTIVE if choice.tracing else lambda_.Tracing.DISABLED,
            **({} if settings.local else _not_on_localstack(settings)),
        )
        self.function, self.log_group = made.function, made.log_group
        if place:
            _put(made, place)
            note_parts(made.function, place.parts)
        if choice.tracing:
            acknowledge(made.role, "IAM5", "Traces have no ARN; CDK grants the sending.", resource="*")
        # CDK reminds everybody that a snapshot is of a published version; here is one.
        Annotations.of(self.function).acknowledge_warning("@aws-cdk/aws-lambda:snapStartRequirePublish")
        version = self.function.current_version
        name_version(version, self.function, functions.layer)
        self.alias = lambda_.Alias(self, "Live", alias_name="live", version=version)
        if not place and not settings.local:  # those of zones are asked by the heartbeat, each minute
            self.ask_each_day()

    def ask_each_day(self) -> None:
        """Keeps the version awake: the next invocation of one that slept for 14 days fails.

        Source: AWS Lambda Developer Guide, "Troubleshooting SnapStart errors".
        """
        events.Rule(
            self,
            "Awake",
            description="Keeps the registry's function awake while no requests come",
            schedule=events.Schedule.rate(Duration.days(1)),
            targets=[targets.LambdaFunction(self.alias, event=events.RuleTargetInput.from_object(PROBE))],
        )


def _put(made: Made, place: Place) -> None:
    """Into the one subnet of the zone, and so into the zone.

    CDK's own way wants a network that it knows as a whole, and chooses among all its subnets.
    """
    resource = made.function.node.default_child
    if isinstance(resource, lambda_.CfnFunction):
        resource.vpc_config = lambda_.CfnFunction.VpcConfigProperty(
            subnet_ids=[place.subnet], security_group_ids=[place.security_group]
        )


def _not_on_localstack(settings: Settings) -> dict[str, object]:
    """What LocalStack takes and does not do."""
    choice = settings.function
    # Each version that is kept costs a snapshot by the month; the one before is a deployment away.
    return {
        "current_version_options": lambda_.VersionOptions(removal_policy=RemovalPolicy.DESTROY),
        "reserved_concurrent_executions": choice.reserved_concurrency or None,
        "snap_start": lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if choice.snap_start else None,
    }
