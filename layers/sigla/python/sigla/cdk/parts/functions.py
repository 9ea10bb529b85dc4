"""How each of our functions is made: its packages, its processor, its log, and a role that may do what is listed."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aws_cdk import AssetHashType, Aws, Duration
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.cdk.parts.checklist import acknowledge
from sigla.cdk.parts.logs import log_group
from sigla.deployment import key_policy, packages
from sigla.deployment.packages import Package
from sigla.deployment.settings import Settings

Placed = Callable[[Package], Path]
"""Where a package lies, built if need be."""

Allowed = Callable[[logs.ILogGroup], Sequence[iam.PolicyStatement]]
"""All that a function may do, its own log included."""


@dataclass(frozen=True, slots=True)
class Made:
    """A function with what belongs to it."""

    function: lambda_.Function
    role: iam.Role
    log_group: logs.LogGroup


class Functions(Construct):
    """The layer that all functions share, and how one is made."""

    def __init__(self, scope: Construct, name: str, *, settings: Settings, placed: Placed) -> None:
        super().__init__(scope, name)
        self.settings, self.placed = settings, placed
        # LocalStack runs functions on this machine, for which the layer's compiled parts must be made.
        self.processor = packages.host() if settings.local else "arm64"
        self.layer = lambda_.LayerVersion(
            self,
            "Packages",
            description="The packages of requirements/aws.txt",
            code=self._code(packages.layer(self.processor)),
        )

    def make(
        self,
        scope: Construct,
        folder: str,
        *,
        description: str,
        memory_mb: int,
        timeout: Duration,
        environment: dict[str, str],
        grants: Allowed,
        **more: Any,
    ) -> Made:
        """The function of one of functions/. more: further properties of it."""
        log = log_group(scope, "Log", self.settings)
        role = iam.Role(scope, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
        for statement in grants(log):
            role.add_to_policy(statement)
            for resource in statement.resources:
                if "*" in resource:
                    acknowledge(role, "IAM5", EVERYTHING if resource == "*" else SOME, resource=resource)
        function = lambda_.Function(
            scope,
            "Function",
            description=description,
            runtime=lambda_.Runtime.PYTHON_3_13,
            architecture=lambda_.Architecture.ARM_64 if self.processor == "arm64" else lambda_.Architecture.X86_64,
            handler="handler.handler",
            code=self._code(packages.code(folder)),
            layers=[self.layer],
            memory_size=memory_mb,
            timeout=timeout,
            environment=environment,
            role=role,
            log_group=log,
            **(self._logging() | more),
        )
        acknowledge(function, "L1", "3.13 is what the layer's locked packages are built and tested for.")
        return Made(function, role, log)

    def _logging(self) -> dict[str, Any]:
        """Lambda's own lines, which LocalStack writes as it likes."""
        if self.settings.local:
            return {}
        said = lambda_.SystemLogLevel.INFO if self.settings.function.platform_logs else lambda_.SystemLogLevel.WARN
        return {"logging_format": lambda_.LoggingFormat.JSON, "system_log_level_v2": said}

    def _code(self, package: Package) -> lambda_.Code:
        """Named by what it is made from: the same on every machine, built or not."""
        return lambda_.Code.from_asset(
            str(self.placed(package)), asset_hash=package.digest, asset_hash_type=AssetHashType.CUSTOM
        )


SOME = "Objects of one registry, or streams of one table."
EVERYTHING = "Network interfaces have no ARN before Lambda makes them, and only Lambda itself may make them."


def allow(name: str, *actions: str, on: Sequence[str], when: Mapping[str, object] | None = None) -> iam.PolicyStatement:
    return iam.PolicyStatement(sid=name, actions=list(actions), resources=list(on), conditions=when)


def use_of_a_key(name: str, arn: str, region: str) -> list[iam.PolicyStatement]:
    """What reading and writing takes where a key encrypts what a region stores: by way of the stores there alone.

    name: of the statement. arn: of the key; empty: none of the account encrypts it.
    """
    if not arn:
        return []
    stores = [f"{store}.{region}.amazonaws.com" for store in key_policy.STORES]
    by_way_of = {"StringEquals": {"kms:ViaService": stores}}
    return [allow(name, *key_policy.ACTIONS, on=[arn], when=by_way_of)]


def use_of_the_key(settings: Settings) -> list[iam.PolicyStatement]:
    """The same of `platform.key_arn`."""
    return use_of_a_key("Key", settings.key_arn, Aws.REGION)


def deny(name: str, *actions: str, on: Sequence[str], when: Mapping[str, object] | None = None) -> iam.PolicyStatement:
    return iam.PolicyStatement(
        sid=name, effect=iam.Effect.DENY, actions=list(actions), resources=list(on), conditions=when
    )
