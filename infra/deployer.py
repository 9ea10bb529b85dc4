"""What CloudFormation must be allowed to deploy a stack: an IAM policy made from the types that our templates have.

python -m infra.deployer [STACK_NAME] > deploy-policy.json

The bucket and the table are made and changed by it, and never removed: who deploys cannot lose them. Who may make roles
may give them anything; where that is too much, bind them by a permissions boundary of the account's.

Source of the actions: the handlers' permissions in CloudFormation's resource type schemas, of the properties we use.
"""

import json
import sys
from typing import Any

_LOGS_ROLE = ("AttachRolePolicy", "DetachRolePolicy")
_TAGS = ("TagResource", "UntagResource")

# What makes, changes and removes a resource of each type. API Gateway knows methods of HTTP instead of actions.
ACTIONS: dict[str, tuple[str, tuple[str, ...]]] = {
    "AWS::ApiGateway::Account": ("apigateway", ("GET", "PATCH")),
    "AWS::ApiGateway::BasePathMapping": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::Deployment": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::DomainName": ("apigateway", ("GET", "POST", "PATCH", "PUT", "DELETE")),
    "AWS::ApiGateway::GatewayResponse": ("apigateway", ("GET", "PUT", "PATCH", "DELETE")),
    "AWS::ApiGateway::Method": ("apigateway", ("GET", "PUT", "PATCH", "DELETE")),
    "AWS::ApiGateway::Resource": ("apigateway", ("GET", "POST", "PATCH", "DELETE")),
    "AWS::ApiGateway::RestApi": ("apigateway", ("GET", "POST", "PUT", "PATCH", "DELETE")),
    "AWS::ApiGateway::Stage": ("apigateway", ("GET", "POST", "PUT", "PATCH", "DELETE")),
    "AWS::CloudWatch::Alarm": ("cloudwatch", ("PutMetricAlarm", "DeleteAlarms", *_TAGS)),
    "AWS::CloudWatch::Dashboard": ("cloudwatch", ("PutDashboard", "DeleteDashboards")),
    "AWS::DynamoDB::Table": (
        "dynamodb",
        ("CreateTable", "UpdateTable", "UpdateContinuousBackups", "UpdateTimeToLive", *_TAGS),
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
    "AWS::S3::Bucket": (
        "s3",
        (
            *("CreateBucket", "PutBucketVersioning", "PutEncryptionConfiguration", "PutBucketPublicAccessBlock"),
            *("PutBucketOwnershipControls", "PutBucketTagging", *_TAGS),
        ),
    ),
    "AWS::S3::BucketPolicy": ("s3", ("PutBucketPolicy",)),
    "AWS::SQS::Queue": ("sqs", ("CreateQueue", "DeleteQueue", "SetQueueAttributes", "TagQueue", "UntagQueue")),
    "AWS::SQS::QueuePolicy": ("sqs", ("SetQueueAttributes",)),
}

# CloudFormation looks before and after it acts.
READS = {
    "apigateway": ("GET",),
    "cloudwatch": ("DescribeAlarms", "GetDashboard", "ListTagsForResource"),
    "dynamodb": ("Describe*", "ListTagsOfResource", "GetResourcePolicy"),
    "events": ("DescribeRule", "List*"),
    "iam": ("GetRole", "GetRolePolicy", "ListAttachedRolePolicies", "ListRolePolicies", "ListRoleTags"),
    "lambda": ("Get*", "List*"),
    "logs": ("Describe*", "ListTagsForResource", "GetDataProtectionPolicy"),
    "s3": ("GetBucket*", "Get*Configuration", "ListTagsForResource"),
    "sqs": ("GetQueue*", "ListQueueTags"),
}

# What CloudFormation names after the stack, and what has no name that could be known before.
PLACES = {
    "apigateway": ("arn:*:apigateway:*::/*",),
    "cloudwatch": ("arn:*:cloudwatch:*:*:alarm:{stack}-*", "arn:*:cloudwatch::*:dashboard/*"),
    "dynamodb": ("arn:*:dynamodb:*:*:table/{stack}-*",),
    "events": ("arn:*:events:*:*:rule/{stack}-*",),
    "iam": ("arn:*:iam::*:role/{stack}-*",),
    "lambda": (
        "arn:*:lambda:*:*:function:{stack}-*",
        "arn:*:lambda:*:*:layer:*",
        "arn:*:lambda:*:*:event-source-mapping:*",
    ),
    "logs": ("arn:*:logs:*:*:log-group:*",),
    "s3": ("arn:*:s3:::{bucket}-*",),
    "sqs": ("arn:*:sqs:*:*:{stack}-*",),
}


def policy(stack: str = "sigla") -> dict[str, Any]:
    """The document, for a stack of this name. CloudFormation writes names of buckets in small letters."""
    statements = [_of(service, stack) for service in PLACES] + _between(stack)
    return {"Version": "2012-10-17", "Statement": statements}


def _of(service: str, stack: str) -> dict[str, Any]:
    """What is done to things of one service."""
    changes = (actions for of, actions in ACTIONS.values() if of == service)
    wanted = sorted({f"{service}:{action}" for actions in (*changes, READS[service]) for action in actions})
    places = [each.format(stack=stack, bucket=stack.lower()) for each in PLACES[service]]
    return {"Sid": service.capitalize(), "Effect": "Allow", "Action": wanted, "Resource": places}


def _between(stack: str) -> list[dict[str, Any]]:
    """What brings things of several services together."""
    functions, services = f"arn:*:lambda:*:*:function:{stack}-*", ["lambda.amazonaws.com", "apigateway.amazonaws.com"]
    return [
        {
            "Sid": "RolesForFunctionsAndTheGateway",
            "Effect": "Allow",
            "Action": "iam:PassRole",
            "Resource": f"arn:*:iam::*:role/{stack}-*",
            "Condition": {"StringEquals": {"iam:PassedToService": services}},
        },
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


if __name__ == "__main__":
    json.dump(policy(*sys.argv[1:2]), sys.stdout, indent=2)
