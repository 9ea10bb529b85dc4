"""The registry as a function: what it runs, what it is told, and, on one screen, all that it may do."""

from collections.abc import Callable
from pathlib import Path

from aws_cdk import Annotations, AssetHashType, Duration, RemovalPolicy
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra import packages
from infra.packages import Package
from infra.parts.checklist import acknowledge
from infra.parts.logs import log_group
from infra.settings import Settings
from infra.storage import Storage

# Longer than a write that keeps losing races tries (20 s), shorter than API Gateway waits (29 s).
TIMEOUT = Duration.seconds(28)

Placed = Callable[[Package], Path]
"""Where a package lies, built if need be."""


class Service(Construct):
    """The registry's function and the alias `live` of its published version, which every front door calls."""

    def __init__(self, scope: Construct, name: str, *, settings: Settings, storage: Storage, placed: Placed) -> None:
        super().__init__(scope, name)
        self.settings, self.storage = settings, storage
        self.log_group = log_group(self, "Log", settings)
        self.role = iam.Role(self, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        for statement in self.grants():
            self.role.add_to_policy(statement)
            for resource in statement.resources:
                if "*" in resource:
                    acknowledge(self.role, "IAM5", "One kind of objects of one registry.", resource=resource)

        # LocalStack runs functions on this machine, for which the layer's compiled parts must be made.
        processor = packages.host() if settings.local else "arm64"
        choice = settings.function
        self.function = lambda_.Function(
            self,
            "Function",
            description=f"Sigla, the registry {settings.registry_name}",
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64 if processor == "arm64" else lambda_.Architecture.X86_64,
            handler="handler.handler",
            code=_code(packages.code("registry"), placed),
            layers=[
                lambda_.LayerVersion(
                    self,
                    "Packages",
                    description="The packages of requirements/aws.txt",
                    code=_code(packages.layer(processor), placed),
                )
            ],
            memory_size=choice.memory_mb,
            timeout=TIMEOUT,
            environment=self.environment(),
            role=self.role,
            log_group=self.log_group,
            tracing=lambda_.Tracing.ACTIVE if choice.tracing else lambda_.Tracing.DISABLED,
            **self.not_on_localstack(),
        )
        if choice.tracing:
            acknowledge(self.role, "IAM5", "Traces have no ARN; CDK grants the sending.", resource="*")
        acknowledge(self.function, "L1", "3.13 is what the layer's locked packages are built and tested for.")
        # CDK reminds everybody that a snapshot is of a published version; here is one.
        Annotations.of(self.function).acknowledge_warning("@aws-cdk/aws-lambda:snapStartRequirePublish")
        self.alias = lambda_.Alias(self, "Live", alias_name="live", version=self.function.current_version)

    def grants(self) -> list[iam.PolicyStatement]:
        """All that the function may do: its registry's rows, its registry's objects, its own log.

        It removes no object and touches no other registry of the same bucket and table. Without leave to list, S3
        answers 403 where an object is missing, and a read names no prefix: hence "if exists".
        """
        registry, objects = self.settings.registry_name, self.storage.bucket.arn_for_objects
        return [
            _allow(
                "Rows",
                "dynamodb:BatchGetItem",
                "dynamodb:BatchWriteItem",
                "dynamodb:ConditionCheckItem",
                "dynamodb:DeleteItem",
                "dynamodb:GetItem",
                "dynamodb:PutItem",
                "dynamodb:Query",
                "dynamodb:UpdateItem",
                on=[self.storage.table.table_arn],
                when={"ForAllValues:StringLike": {"dynamodb:LeadingKeys": [f"{registry}#*"]}},
            ),
            _allow("Reading", "s3:GetObject", on=[objects(f"{registry}/{kind}/*") for kind in READ]),
            _allow("Writing", "s3:PutObject", on=[objects(f"{registry}/{kind}/*") for kind in WRITTEN]),
            _allow(
                "Finding",
                "s3:ListBucket",
                on=[self.storage.bucket.bucket_arn],
                when={"StringLikeIfExists": {"s3:prefix": [f"{registry}/*"]}},
            ),
            _allow("Log", "logs:CreateLogStream", "logs:PutLogEvents", on=[self.log_group.log_group_arn]),
        ]

    def environment(self) -> dict[str, str]:
        """What the function is told; each is a setting of sigla.settings."""
        return {
            "SIGLA_REGISTRY_NAME": self.settings.registry_name,
            "SIGLA_TABLE": self.storage.table.table_name,
            "SIGLA_BUCKET": self.storage.bucket.bucket_name,
            "SIGLA_AUTH": self.settings.auth,
            "SIGLA_DEFAULT_LEVEL": self.settings.default_level,
            "SIGLA_CORS_ORIGINS": self.settings.cors_origins,
            "SIGLA_LOG_REQUESTS": str(self.settings.log_requests).lower(),
        }

    def not_on_localstack(self) -> dict[str, object]:
        """What LocalStack has not, or takes and does not do."""
        if self.settings.local:
            return {}
        choice = self.settings.function
        # Each version that is kept costs a snapshot by the month; the one before is a deployment away.
        return {
            "current_version_options": lambda_.VersionOptions(removal_policy=RemovalPolicy.DESTROY),
            "reserved_concurrent_executions": choice.reserved_concurrency or None,
            "snap_start": lambda_.SnapStartConf.ON_PUBLISHED_VERSIONS if choice.snap_start else None,
            "logging_format": lambda_.LoggingFormat.JSON,
            "system_log_level_v2": lambda_.SystemLogLevel.INFO if choice.platform_logs else lambda_.SystemLogLevel.WARN,
        }


READ = ("schemas", "guids", "keys")
"""Kinds of objects, the folders of a registry: bodies, pointers to them by GUID, the verifiers of API keys."""
WRITTEN = ("schemas", "guids")


def _allow(name: str, *actions: str, on: list[str], when: dict[str, object] | None = None) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=name, actions=list(actions), resources=on, conditions=when)


def _code(package: Package, placed: Placed) -> lambda_.Code:
    """Named by what it is made from: the same on every machine, built or not."""
    return lambda_.Code.from_asset(
        str(placed(package)), asset_hash=package.digest, asset_hash_type=AssetHashType.CUSTOM
    )
