"""A REST API that hands every path over as it was sent: the regional one, and how any of ours is made.

Never an HTTP API (v2): it decodes `%2F`, refuses `%25` and cuts at `%3F`, and subjects may be called so.
"""

import json
from typing import Any

from aws_cdk import RemovalPolicy, Size
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_certificatemanager as acm
from aws_cdk import aws_iam as iam
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct, IDependable

from sigla.cdk.doors import answer_every_path
from sigla.cdk.parts.checklist import acknowledge
from sigla.cdk.parts.fingerprint import name_deployment
from sigla.cdk.parts.firewall import Firewall
from sigla.cdk.parts.gateway_responses import rewrite
from sigla.cdk.parts.logs import log_group
from sigla.deployment.choices.front_door import FrontDoor
from sigla.deployment.settings import Settings

STAGE = "v1"
"""The first segment of every URL of the REST API; the registry never sees it."""

# Facts about a request, none of what it carries. The gateway's own answers say of which kind they are.
LINE = {
    "event": "access",
    "request_id": "$context.requestId",
    "ts": "$context.requestTimeEpoch",
    "ip": "$context.identity.sourceIp",
    "method": "$context.httpMethod",
    "path": "$context.path",
    "status": "$context.status",
    "bytes": "$context.responseLength",
    "took_ms": "$context.responseLatency",
    "function_ms": "$context.integration.latency",
    "gateway_response": "$context.error.responseType",
}


def rest_api(
    scope: Construct,
    *,
    settings: Settings,
    target: lambda_.IFunction,
    log_group: logs.ILogGroup | None,
    after: IDependable | None,
    **more: Any,
) -> apigateway.RestApi:
    """A REST API whose every path and method the function answers. more: its name, and where it is to be found.

    log_group: where it writes a line for each request. after: what must be there before it can.
    """
    door = settings.front_door
    api = apigateway.RestApi(
        scope,
        "Api",
        # No binary types: what the registry sends is text, and with a binary type requests would arrive in base64.
        # Answers are compressed however small they are (HTTP-10); below is nothing that could.
        min_compression_size=Size.bytes(0),
        cloud_watch_role=False,
        deploy_options=apigateway.StageOptions(
            stage_name=STAGE,
            throttling_rate_limit=door.requests_per_second,
            throttling_burst_limit=door.burst,
            access_log_destination=log_group and apigateway.LogGroupLogDestination(log_group),
            access_log_format=log_group and apigateway.AccessLogFormat.custom(json.dumps(LINE)),
            metrics_enabled=False,  # those by path and method have a price each; those of the stage are free
            tracing_enabled=settings.function.tracing,
        ),
        **more,
    )
    if after:
        api.deployment_stage.node.add_dependency(after)
    api.node.try_remove_child("Endpoint")  # CDK's own output; ours says what it is
    answer_every_path(api, target)
    rewrite(api)
    name_deployment(api)
    for rule, reason in ACKNOWLEDGED.items():
        acknowledge(api, rule, reason)
    return api


class GatewayLogs(Construct):
    """What API Gateway needs before any of its APIs can write access logs.

    account: the account's, for this region, where we set its role; it stays when the stack goes, since others may rely
    on it by then.
    """

    def __init__(self, scope: Construct, name: str, *, settings: Settings) -> None:
        super().__init__(scope, name)
        door = settings.front_door
        # LocalStack keeps no access logs.
        self.account = self.new_account() if door.access_logs and door.logs_role and not settings.local else None

    def new_account(self) -> apigateway.CfnAccount:
        policy = iam.ManagedPolicy.from_aws_managed_policy_name("service-role/AmazonAPIGatewayPushToCloudWatchLogs")
        role = iam.Role(
            self,
            "Role",
            assumed_by=iam.ServicePrincipal("apigateway.amazonaws.com"),
            managed_policies=[policy],
        )
        role.apply_removal_policy(RemovalPolicy.RETAIN)
        reason = "AWS made this policy for this role, which belongs to the account and not to one API."
        acknowledge(role, "IAM4", reason, policy=policy.managed_policy_arn)
        account = apigateway.CfnAccount(self, "Account", cloud_watch_role_arn=role.role_arn)
        account.apply_removal_policy(RemovalPolicy.RETAIN)
        return account


class RestApi(Construct):
    """A regional REST API: ANY on the root and on every path below it, answered by the function.

    after: what must be there before it can write its log.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        target: lambda_.IFunction,
        after: IDependable | None,
    ) -> None:
        super().__init__(scope, name)
        door = settings.front_door
        self.log_group = log_group(self, "Log", settings) if door.access_logs and not settings.local else None
        self.api = rest_api(
            self,
            settings=settings,
            target=target,
            log_group=self.log_group,
            after=after,
            rest_api_name=settings.stack_name,
            description=f"Sigla, {settings.served}",
            endpoint_types=[apigateway.EndpointType.REGIONAL],
        )
        self.domain = self.own_domain(door) if door.domain_name else None
        # LocalStack has no firewall.
        if door.waf_requests_per_5_minutes and not settings.local:
            stage = self.api.deployment_stage
            Firewall(self, "Firewall", stage=stage, limit=door.waf_requests_per_5_minutes)

    def own_domain(self, door: FrontDoor) -> apigateway.DomainName:
        """Without a path, so that it does for every client. Its DNS record is for the deployer to make."""
        domain = apigateway.DomainName(
            self,
            "Domain",
            domain_name=door.domain_name,
            certificate=acm.Certificate.from_certificate_arn(self, "Certificate", door.certificate_arn),
            endpoint_type=apigateway.EndpointType.REGIONAL,
            security_policy=apigateway.SecurityPolicy.TLS_1_2,
        )
        domain.add_base_path_mapping(self.api, stage=self.api.deployment_stage)
        return domain

    @property
    def url(self) -> str:
        """The URL, without a slash at its end."""
        return str(self.api.url_for_path("/")).removesuffix("/")


ACKNOWLEDGED = {
    "APIG1": "Access logs are a setting; the function writes a line for each request it answers.",
    "APIG2": "The registry validates requests itself.",
    "APIG3": "A firewall is a setting, because it has a monthly price.",
    "APIG4": "The registry asks for credentials itself, in the same way behind every front door.",
    "APIG6": "The gateway's own logs repeat requests and answers; the access log and the function's have the facts.",
    "COG4": "The registry asks for credentials itself, in the same way behind every front door.",
}
