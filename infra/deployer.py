"""What CloudFormation must be allowed to deploy a stack: an IAM policy made from the types that our templates have.

python -m infra.deployer [STACK_NAME] > deploy-policy.json
python -m infra.deployer --zones [STACK_NAME] > zones-policy.json
python -m infra.deployer --pipelines [STACK_NAME] > pipelines-policy.json

The first is for every stack; the others, beside it, for one with zones, or with jobs: a managed policy has a length.

The bucket and the table are made and changed by it, and never removed: who deploys cannot lose them. Who may make roles
may give them anything; where that is too much, bind them by a permissions boundary of the account's.

Source of the actions: the handlers' permissions in CloudFormation's resource type schemas, of the properties we use.
"""

import argparse
import json
from typing import Any

_LOGS_ROLE = ("AttachRolePolicy", "DetachRolePolicy")
_TAGS = ("TagResource", "UntagResource")
_EC2_TAGS = ("CreateTags", "DeleteTags")
_CACHE_TAGS = ("AddTagsToResource", "RemoveTagsFromResource")
_INTERFACES = ("CreateNetworkInterface", "DeleteNetworkInterface")

# What makes, changes and removes a resource of each type. API Gateway knows methods of HTTP instead of actions.
ACTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "AWS::ApiGateway::Account": ("apigateway", ("GET", "PATCH")),
    "AWS::ApiGateway::BasePathMapping": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::BasePathMappingV2": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::Deployment": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::DomainName": ("apigateway", ("GET", "POST", "PATCH", "PUT", "DELETE")),
    "AWS::ApiGateway::DomainNameAccessAssociation": (
        "apigateway",
        ("GET", "POST", "DELETE", "CreateAccessAssociation", "RejectAccessAssociation"),
    ),
    "AWS::ApiGateway::DomainNameV2": ("apigateway", ("GET", "POST", "PATCH", "DELETE", "UpdateDomainNamePolicy")),
    "AWS::ApiGateway::GatewayResponse": ("apigateway", ("GET", "PUT", "PATCH", "DELETE")),
    "AWS::ApiGateway::Method": ("apigateway", ("GET", "PUT", "PATCH", "DELETE")),
    "AWS::ApiGateway::Resource": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::RestApi": (
        "apigateway",
        ("GET", "POST", "PUT", "PATCH", "DELETE", "UpdateRestApiPolicy"),
    ),
    "AWS::ApiGateway::Stage": ("apigateway", ("GET", "POST", "PUT", "PATCH", "DELETE")),
    "AWS::CloudWatch::Alarm": ("cloudwatch", ("PutMetricAlarm", "DeleteAlarms", *_TAGS)),
    "AWS::CloudWatch::Dashboard": ("cloudwatch", ("PutDashboard", "DeleteDashboards")),
    "AWS::DynamoDB::Table": (
        "dynamodb",
        ("CreateTable", "UpdateTable", "UpdateContinuousBackups", "UpdateTimeToLive", *_TAGS),
    ),
    "AWS::EC2::RouteTable": ("ec2", ("CreateRouteTable", "DeleteRouteTable", *_EC2_TAGS)),
    "AWS::EC2::SecurityGroup": (
        "ec2",
        (
            *("CreateSecurityGroup", "DeleteSecurityGroup", *_EC2_TAGS),
            *("AuthorizeSecurityGroupEgress", "AuthorizeSecurityGroupIngress"),
            *("RevokeSecurityGroupEgress", "RevokeSecurityGroupIngress"),
            *("UpdateSecurityGroupRuleDescriptionsEgress", "UpdateSecurityGroupRuleDescriptionsIngress"),
        ),
    ),
    "AWS::EC2::SecurityGroupEgress": (
        "ec2",
        (
            *("AuthorizeSecurityGroupEgress", "RevokeSecurityGroupEgress"),
            "UpdateSecurityGroupRuleDescriptionsEgress",
        ),
    ),
    "AWS::EC2::Subnet": ("ec2", ("CreateSubnet", "DeleteSubnet", "ModifySubnetAttribute", *_EC2_TAGS)),
    "AWS::EC2::SubnetRouteTableAssociation": (
        "ec2",
        ("AssociateRouteTable", "DisassociateRouteTable", "ReplaceRouteTableAssociation"),
    ),
    "AWS::EC2::VPC": ("ec2", ("CreateVpc", "DeleteVpc", "ModifyVpcAttribute", *_EC2_TAGS)),
    "AWS::EC2::VPCEndpoint": (
        "ec2",
        ("CreateVpcEndpoint", "DeleteVpcEndpoints", "ModifyVpcEndpoint", *_EC2_TAGS),
    ),
    "AWS::ElastiCache::CacheCluster": (
        "elasticache",
        ("CreateCacheCluster", "DeleteCacheCluster", "ModifyCacheCluster", *_CACHE_TAGS),
    ),
    "AWS::ElastiCache::ParameterGroup": (
        "elasticache",
        (
            *("CreateCacheParameterGroup", "DeleteCacheParameterGroup", "ModifyCacheParameterGroup"),
            *("ResetCacheParameterGroup", *_CACHE_TAGS),
        ),
    ),
    "AWS::ElastiCache::ReplicationGroup": (
        "elasticache",
        ("CreateReplicationGroup", "DeleteReplicationGroup", "ModifyReplicationGroup", *_CACHE_TAGS),
    ),
    "AWS::ElastiCache::SubnetGroup": (
        "elasticache",
        ("CreateCacheSubnetGroup", "DeleteCacheSubnetGroup", "ModifyCacheSubnetGroup", *_CACHE_TAGS),
    ),
    "AWS::ElastiCache::User": ("elasticache", ("CreateUser", "DeleteUser", "ModifyUser", *_CACHE_TAGS)),
    "AWS::ElastiCache::UserGroup": (
        "elasticache",
        ("CreateUserGroup", "DeleteUserGroup", "ModifyUserGroup", *_CACHE_TAGS),
    ),
    "AWS::EMRServerless::Application": (
        "emr-serverless",
        ("CreateApplication", "UpdateApplication", "DeleteApplication", *_TAGS),
    ),
    "AWS::Events::Rule": (
        "events",
        ("PutRule", "DeleteRule", "EnableRule", "DisableRule", "PutTargets", "RemoveTargets", *_TAGS),
    ),
    "AWS::IAM::Policy": ("iam", ("PutRolePolicy", "DeleteRolePolicy")),
    "AWS::IAM::Role": (
        "iam",
        ("CreateRole", "DeleteRole", "UpdateRole", "UpdateAssumeRolePolicy", "TagRole", "UntagRole", *_LOGS_ROLE),
    ),
    "AWS::Lambda::Alias": ("lambda", ("CreateAlias", "UpdateAlias", "DeleteAlias")),
    "AWS::Lambda::EventSourceMapping": (
        "lambda",
        ("CreateEventSourceMapping", "UpdateEventSourceMapping", "DeleteEventSourceMapping", *_TAGS),
    ),
    "AWS::Lambda::Function": (
        "lambda",
        (
            *("CreateFunction", "UpdateFunctionCode", "UpdateFunctionConfiguration", "DeleteFunction"),
            *("PutFunctionConcurrency", "DeleteFunctionConcurrency", "PutRuntimeManagementConfig", *_TAGS),
        ),
    ),
    "AWS::Lambda::LayerVersion": ("lambda", ("PublishLayerVersion", "DeleteLayerVersion")),
    "AWS::Lambda::Permission": ("lambda", ("AddPermission", "RemovePermission")),
    "AWS::Lambda::Url": (
        "lambda",
        ("CreateFunctionUrlConfig", "UpdateFunctionUrlConfig", "DeleteFunctionUrlConfig"),
    ),
    "AWS::Lambda::Version": ("lambda", ("PublishVersion", "DeleteFunction")),
    "AWS::Logs::LogGroup": (
        "logs",
        ("CreateLogGroup", "DeleteLogGroup", "PutRetentionPolicy", "DeleteRetentionPolicy", *_TAGS),
    ),
    "AWS::Logs::MetricFilter": ("logs", ("PutMetricFilter", "DeleteMetricFilter")),
    "AWS::Route53::HostedZone": (
        "route53",
        ("CreateHostedZone", "DeleteHostedZone", "AssociateVPCWithHostedZone", "ChangeTagsForResource"),
    ),
    "AWS::Route53::RecordSet": ("route53", ("ChangeResourceRecordSets",)),
    "AWS::S3::Bucket": (
        "s3",
        (
            *("CreateBucket", "PutBucketVersioning", "PutEncryptionConfiguration", "PutBucketPublicAccessBlock"),
            *("PutBucketOwnershipControls", "PutBucketTagging", *_TAGS),
        ),
    ),
    "AWS::S3::BucketPolicy": ("s3", ("PutBucketPolicy",)),
    "AWS::Scheduler::Schedule": ("scheduler", ("CreateSchedule", "UpdateSchedule", "DeleteSchedule")),
    "AWS::SQS::Queue": ("sqs", ("CreateQueue", "DeleteQueue", "SetQueueAttributes", "TagQueue", "UntagQueue")),
    "AWS::SQS::QueuePolicy": ("sqs", ("SetQueueAttributes",)),
}

# CloudFormation looks before and after it acts.
READS = {
    "apigateway": ("GET",),
    "cloudwatch": ("DescribeAlarms", "GetDashboard", "ListTagsForResource"),
    "dynamodb": ("Describe*", "ListTagsOfResource", "GetResourcePolicy"),
    "ec2": (),  # of anything, or of nothing: below
    "elasticache": ("Describe*", "ListTagsForResource"),
    "emr-serverless": ("GetApplication", "ListTagsForResource"),
    "events": ("DescribeRule", "List*"),
    "iam": ("GetRole", "GetRolePolicy", "ListAttachedRolePolicies", "ListRolePolicies", "ListRoleTags"),
    "lambda": ("Get*", "List*"),
    "logs": ("Describe*", "ListTagsForResource", "GetDataProtectionPolicy"),
    "route53": (
        "GetChange",
        "GetHostedZone",
        "ListQueryLoggingConfigs",
        "ListResourceRecordSets",
        "ListTagsForResource",
    ),
    "s3": ("GetBucket*", "Get*Configuration", "ListTagsForResource"),
    "scheduler": ("GetSchedule",),
    "sqs": ("GetQueue*", "ListQueueTags"),
}

# What CloudFormation names after the stack, and what has no name that could be known before.
PLACES = {
    # Of what is private an ARN has the account.
    "apigateway": ("arn:*:apigateway:*:*:/*",),
    "cloudwatch": ("arn:*:cloudwatch:*:*:alarm:{stack}-*", "arn:*:cloudwatch::*:dashboard/*"),
    "dynamodb": ("arn:*:dynamodb:*:*:table/{stack}-*",),
    "ec2": tuple(
        f"arn:*:ec2:*:*:{kind}/*"
        for kind in ("vpc", "subnet", "route-table", "security-group*", "vpc-endpoint", "network-interface")
    ),
    "elasticache": ("arn:*:elasticache:*:*:*",),
    # One that is not made yet has no ARN, and afterwards it has a number.
    "emr-serverless": ("*",),
    "events": ("arn:*:events:*:*:rule/{stack}-*",),
    "iam": ("arn:*:iam::*:role/{stack}-*",),
    "lambda": (
        "arn:*:lambda:*:*:function:{stack}-*",
        "arn:*:lambda:*:*:layer:*",
        "arn:*:lambda:*:*:event-source-mapping:*",
    ),
    "logs": ("arn:*:logs:*:*:log-group:*",),
    "route53": ("arn:*:route53:::*",),
    "s3": ("arn:*:s3:::{bucket}-*",),
    "scheduler": ("arn:*:scheduler:*:*:schedule/default/{stack}-*",),
    "sqs": ("arn:*:sqs:*:*:{stack}-*",),
}


# What only zones need, and what only jobs do.
OF_ZONES = ("ec2", "elasticache", "route53")
OF_JOBS = ("emr-serverless", "scheduler")


def policy(stack: str = "sigla") -> dict[str, Any]:
    """The document, for a stack of this name. CloudFormation writes names of buckets in small letters."""
    services = [service for service in PLACES if service not in OF_ZONES + OF_JOBS]
    return _document([_of(service, stack) for service in services] + _between(stack))


def zones_policy(stack: str = "sigla") -> dict[str, Any]:
    """The document for its zones.

    What is in a network has no name that could be known before: it is for all networks and caches of the account.
    """
    return _document([_of(service, stack) for service in OF_ZONES] + _AROUND)


def pipelines_policy(stack: str = "sigla") -> dict[str, Any]:
    """The document for its jobs. Of EMR Serverless it is for all applications of the account; none can be started."""
    return _document([_of(service, stack) for service in OF_JOBS] + _around_jobs(stack))


def _document(statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _of(service: str, stack: str) -> dict[str, Any]:
    """What is done to things of one service."""
    changes = (actions for of, actions in ACTIONS.values() if of == service)
    wanted = sorted({f"{service}:{action}" for actions in (*changes, READS[service]) for action in actions})
    places = [each.format(stack=stack, bucket=stack.lower()) for each in PLACES[service]]
    return {"Sid": service.title().replace("-", ""), "Effect": "Allow", "Action": wanted, "Resource": places}


def _passing(name: str, stack: str, *services: str) -> dict[str, Any]:
    """The stack's roles may be given to these services, and to nobody else."""
    return {
        "Sid": name,
        "Effect": "Allow",
        "Action": "iam:PassRole",
        "Resource": f"arn:*:iam::*:role/{stack}-*",
        "Condition": {"StringEquals": {"iam:PassedToService": list(services)}},
    }


def _between(stack: str) -> list[dict[str, Any]]:
    """What brings things of several services together."""
    functions, services = f"arn:*:lambda:*:*:function:{stack}-*", ["lambda.amazonaws.com", "apigateway.amazonaws.com"]
    return [
        _passing("RolesForFunctionsAndTheGateway", stack, *services),
        {
            "Sid": "MappingsHaveNoNameYet",
            "Effect": "Allow",
            "Action": ["lambda:CreateEventSourceMapping", "lambda:GetEventSourceMapping"],
            "Resource": "*",
            "Condition": {"ArnLikeIfExists": {"lambda:FunctionArn": functions}},
        },
        {
            "Sid": "AlarmsAreLookedForByName",
            "Effect": "Allow",
            "Action": "cloudwatch:DescribeAlarms",
            "Resource": "*",
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
_AROUND: list[dict[str, Any]] = [
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


def _around_jobs(stack: str) -> list[dict[str, Any]]:
    """Who begins them, and what an application has in somebody else's network.

    Source: Amazon EMR Serverless User Guide, "User access policy examples".
    """
    return [
        _passing("RolesForSchedules", stack, "scheduler.amazonaws.com"),
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


DOCUMENTS = {"": policy, "zones": zones_policy, "pipelines": pipelines_policy}
"""By what a stack has besides."""


if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m infra.deployer")
    parser.add_argument("stack", nargs="?", default="sigla", help="the stack's name")
    besides = parser.add_mutually_exclusive_group()
    for each in filter(None, DOCUMENTS):
        besides.add_argument(
            f"--{each}",
            action="store_const",
            const=each,
            dest="document",
            default="",
            help=f"what its {each} need besides",
        )
    asked = parser.parse_args()
    print(json.dumps(DOCUMENTS[asked.document](asked.stack), indent=2))
