"""Statements of the deployer's policies that are of no one type: what brings things of several services together."""

from dataclasses import dataclass
from typing import Any, Self

from sigla.deployment.settings import Settings

_INTERFACES = ("CreateNetworkInterface", "DeleteNetworkInterface")

LENGTHS = (64, 80, 255, 256, 512)
"""How long names of a kind are at most.

In this order: of roles, functions and rules; of queues; of tables and alarms; of topics; of log groups.
"""
_OF_BUCKETS = 63
_OF_THEIR_OWN = 16
"""Letters of a name that are neither the stack's nor the resource's: dashes, and 12 or 13 at random."""


@dataclass(frozen=True, slots=True)
class Deployed:
    """What a policy depends on of a stack's settings: `stack_name`, and three of `platform`."""

    stack: str = "sigla"
    iam_path: str = "/"
    boundary: str = ""
    key: str = ""

    @classmethod
    def by(cls, settings: Settings) -> Self:
        chosen = settings.platform
        return cls(settings.stack_name, chosen.iam_path, chosen.permissions_boundary, chosen.key_arn)

    def names(self, most: int) -> str:
        """A pattern for names that CloudFormation gives: `STACK-RESOURCE-RANDOM`, of `most` letters at most.

        In a longer name, stack and resource have half each, and the rest is cut off; two dashes become one. So the
        pattern of a long stack's name is also one for other stacks that begin alike. Source: the open source of
        CloudFormation's handlers (cloudformation-cli-java-plugin, `IdentifierUtils`).
        """
        begun = self.stack.partition("--")[0]
        kept = (most - _OF_THEIR_OWN) // 2
        return f"{begun[:kept]}*" if len(begun) > kept else f"{begun.rstrip('-')}-*"

    @property
    def roles(self) -> str:
        return f"arn:*:iam::*:role{self.iam_path}{self.names(64)}"

    @property
    def functions(self) -> str:
        return f"arn:*:lambda:*:*:function:{self.names(64)}"

    @property
    def patterns(self) -> dict[str, str]:
        """What stands for itself in the places of a policy. CloudFormation writes names of buckets in small letters."""
        named = {f"names{most}": self.names(most) for most in LENGTHS}
        return {**named, "buckets": self.names(_OF_BUCKETS).lower(), "roles": self.roles, "functions": self.functions}


def _passing(name: str, of: Deployed, *services: str) -> dict[str, Any]:
    """The stack's roles may be given to these services, and to no others."""
    return {
        "Sid": name,
        "Effect": "Allow",
        "Action": "iam:PassRole",
        "Resource": of.roles,
        "Condition": {"StringEquals": {"iam:PassedToService": list(services)}},
    }


def between(of: Deployed) -> list[dict[str, Any]]:
    """What brings things of several services together."""
    return [
        _passing("RolesForFunctionsAndTheGateway", of, "lambda.amazonaws.com", "apigateway.amazonaws.com"),
        {
            "Sid": "MappingsOfTheStacksFunctions",  # have no name, and before they are made no ARN
            "Effect": "Allow",
            "Action": "lambda:*EventSourceMapping",
            "Resource": "*",
            "Condition": {"ArnLikeIfExists": {"lambda:FunctionArn": of.functions}},
        },
        {
            "Sid": "TagsOfMappings",
            "Effect": "Allow",
            "Action": ["lambda:ListTags", "lambda:TagResource", "lambda:UntagResource"],
            "Resource": "arn:*:lambda:*:*:event-source-mapping:*",
        },
        {
            "Sid": "AlarmsAndSubscriptions",  # are looked for, and changed, as of no place
            "Effect": "Allow",
            "Action": ["cloudwatch:DescribeAlarms", "sns:*SubscriptionAttributes", "sns:Unsubscribe"],
            "Resource": "*",
        },
        {
            "Sid": "LogsAreLookedForByTheBeginningOfAName",
            "Effect": "Allow",
            "Action": "logs:Describe*",
            "Resource": "arn:*:logs:*:*:log-group:*",
        },
        {
            "Sid": "DomainsNeedTheGatewaysOwnRole",
            "Effect": "Allow",
            "Action": "iam:CreateServiceLinkedRole",
            "Resource": "arn:*:iam::*:role/aws-service-role/ops.apigateway.amazonaws.com/*",
        },
        {
            "Sid": "WhatWasUploaded",
            "Effect": "Allow",
            "Action": "s3:GetObject",
            "Resource": "arn:*:s3:::cdk-*-assets-*/*",
        },
        {
            "Sid": "TheBootstrapsVersion",
            "Effect": "Allow",
            "Action": "ssm:GetParameters",
            "Resource": "arn:*:ssm:*:*:parameter/cdk-bootstrap/*",
        },
    ]


# What is looked for, and what comes along, in a network.
AROUND: list[dict[str, Any]] = [
    {
        "Sid": "NetworksAreLookedForByKind",
        "Effect": "Allow",
        "Action": ["ec2:Describe*", "route53:CreateHostedZone", "route53:ListHostedZones*"],
        "Resource": "*",
    },
    {
        "Sid": "CachesNeedInterfaces",
        "Effect": "Allow",
        "Action": [f"ec2:{action}" for action in _INTERFACES],
        "Resource": "*",
    },
    {
        "Sid": "CachesNeedTheirOwnRole",
        "Effect": "Allow",
        "Action": "iam:CreateServiceLinkedRole",
        "Resource": "arn:*:iam::*:role/aws-service-role/elasticache.amazonaws.com/*",
    },
]


def around_jobs(of: Deployed) -> list[dict[str, Any]]:
    """Who begins them, and what an application has in a network of another owner.

    Source: Amazon EMR Serverless User Guide, "User access policy examples".
    """
    return [
        _passing("RolesForSchedules", of, "scheduler.amazonaws.com"),
        {
            "Sid": "NetworksAreLookedFor",
            "Effect": "Allow",
            "Action": ["ec2:DescribeSecurityGroups", "ec2:DescribeSubnets", "ec2:DescribeVpcs"],
            "Resource": "*",
        },
        {
            "Sid": "ApplicationsNeedInterfaces",
            "Effect": "Allow",
            "Action": "ec2:CreateNetworkInterface",
            "Resource": [f"arn:*:ec2:*:*:{kind}/*" for kind in ("network-interface", "security-group", "subnet")],
            "Condition": {"StringEquals": {"aws:CalledViaLast": "ops.emr-serverless.amazonaws.com"}},
        },
        {
            "Sid": "ApplicationsNeedTheirOwnRole",
            "Effect": "Allow",
            "Action": "iam:CreateServiceLinkedRole",
            "Resource": "arn:*:iam::*:role/aws-service-role/ops.emr-serverless.amazonaws.com/*",
        },
    ]
