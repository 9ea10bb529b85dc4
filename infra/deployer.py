"""What CloudFormation must be allowed to deploy a stack: an IAM policy made from the types that our templates have.

python -m infra.deployer --stage-file stages/NAME.toml > deploy-policy.json
python -m infra.deployer --stage-file stages/NAME.toml --zones > zones-policy.json
python -m infra.deployer --stage-file stages/NAME.toml --pipelines > pipelines-policy.json
python -m infra.deployer --stage-file stages/NAME.toml --key > key-policy.json

The first is for every stack; the others, beside it, for one with zones, with jobs, or with `platform.key_arn`: a
managed policy has a length. `python -m infra.deployer STACK_NAME` is for a stack without settings of `platform`.

The bucket and the table are made and changed by it, and never removed: who deploys cannot lose them. Who may make roles
may give them anything, unless a permissions boundary binds all of them.

Source of the actions: the handlers' permissions in CloudFormation's resource type schemas, of the properties we use.
"""

import argparse
import json
from typing import Any

from infra.deployer_statements import AROUND, Deployed, around_jobs, between
from sigla.deployment import key_policy as keys
from sigla.deployment.settings import InvalidSetting
from sigla.deployment.stage_files import FLAG, settings_of

_LOGS_ROLE = ("AttachRolePolicy", "DetachRolePolicy")
_BOUNDED = ("CreateRole", "DeleteRolePolicy", "PutRolePermissionsBoundary", "PutRolePolicy", *_LOGS_ROLE)
"""What can be allowed for roles alone that have a boundary, or get it. To take it away is never allowed."""
_TAGS = ("TagResource", "UntagResource")
_EC2_TAGS = ("CreateTags", "DeleteTags")
_CACHE_TAGS = ("AddTagsToResource", "RemoveTagsFromResource")

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
    "AWS::ApiGateway::Stage": ("apigateway", ("GET", "POST", "PUT", "PATCH", "DELETE", "SetWebACL")),
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
    "AWS::Lambda::EventInvokeConfig": (
        "lambda",
        ("PutFunctionEventInvokeConfig", "UpdateFunctionEventInvokeConfig", "DeleteFunctionEventInvokeConfig"),
    ),
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
    "AWS::SNS::Subscription": ("sns", ("Subscribe",)),  # and what is done to one that is there: below
    "AWS::SNS::Topic": ("sns", ("CreateTopic", "DeleteTopic", "SetTopicAttributes", *_TAGS)),
    "AWS::SNS::TopicPolicy": ("sns", ("SetTopicAttributes",)),
    "AWS::SQS::Queue": ("sqs", ("CreateQueue", "DeleteQueue", "SetQueueAttributes", "TagQueue", "UntagQueue")),
    "AWS::SQS::QueuePolicy": ("sqs", ("SetQueueAttributes",)),
    "AWS::WAFv2::WebACL": ("wafv2", ("CreateWebACL", "UpdateWebACL", "DeleteWebACL", *_TAGS)),
    "AWS::WAFv2::WebACLAssociation": ("wafv2", ("AssociateWebACL", "DisassociateWebACL")),
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
    "logs": ("ListTagsForResource", "GetDataProtectionPolicy"),  # and what is found by its name: below
    "route53": (
        "GetChange",
        "GetHostedZone",
        "ListQueryLoggingConfigs",
        "ListResourceRecordSets",
        "ListTagsForResource",
    ),
    "s3": ("GetBucket*", "Get*Configuration", "ListTagsForResource"),
    "scheduler": ("GetSchedule",),
    "sns": ("Get*", "List*"),
    "sqs": ("GetQueue*", "ListQueueTags"),
    "wafv2": ("GetWebACL*", "ListTagsForResource"),
}

LAYER = "FunctionsPackages"
"""What the logical id of the layer begins with, in every stack."""

# What CloudFormation names after the stack (`Deployed.patterns`), and what has no name that could be known before.
PLACES = {
    # The ARN of what is private contains the account.
    "apigateway": ("arn:*:apigateway:*:*:/*",),
    "cloudwatch": ("arn:*:cloudwatch:*:*:alarm:{names255}", "arn:*:cloudwatch::*:dashboard/*"),
    "dynamodb": ("arn:*:dynamodb:*:*:table/{names255}",),
    "ec2": tuple(
        f"arn:*:ec2:*:*:{kind}/*"
        for kind in ("vpc", "subnet", "route-table", "security-group*", "vpc-endpoint", "network-interface")
    ),
    "elasticache": ("arn:*:elasticache:*:*:*",),
    # One that is not made yet has no ARN, and afterwards it has a number.
    "emr-serverless": ("*",),
    "events": ("arn:*:events:*:*:rule/{names64}",),
    "iam": ("{roles}",),
    # CloudFormation names a layer after the resource alone. What is done to mappings is bound otherwise: below.
    "lambda": ("{functions}", f"arn:*:lambda:*:*:layer:{LAYER}*"),
    "logs": ("arn:*:logs:*:*:log-group:{names512}",),
    "route53": ("arn:*:route53:::*",),
    "s3": ("arn:*:s3:::{buckets}",),
    "scheduler": ("arn:*:scheduler:*:*:schedule/default/{names64}",),
    "sns": ("arn:*:sns:*:*:{names256}",),
    "sqs": ("arn:*:sqs:*:*:{names80}",),
    # What it stands before is named by its own service.
    "wafv2": ("arn:*:wafv2:*:*:regional/webacl/*", "arn:*:apigateway:*::/restapis/*"),
}


# What only zones need, and what only jobs do.
OF_ZONES = ("ec2", "elasticache", "route53")
OF_JOBS = ("emr-serverless", "scheduler")


def policy(of: Deployed) -> dict[str, Any]:
    """The document."""
    services = [service for service in PLACES if service not in OF_ZONES + OF_JOBS]
    statements = [_of(service, of) for service in services]
    return _document([part for each in statements for part in _bounded(each, of)] + between(of))


def zones_policy(of: Deployed) -> dict[str, Any]:
    """The document for its zones.

    What is in a network has no name that could be known before: it is for all networks and caches of the account.
    """
    return _document([_of(service, of) for service in OF_ZONES] + AROUND)


def pipelines_policy(of: Deployed) -> dict[str, Any]:
    """The document for its jobs. Of EMR Serverless it is for all applications of the account; none can be started."""
    return _document([_of(service, of) for service in OF_JOBS] + around_jobs(of))


def key_policy(of: Deployed) -> dict[str, Any]:
    """The document for `platform.key_arn`: to give the key to what the stack makes, and to change nothing of the key.

    Source: Amazon DynamoDB Developer Guide, "Encryption at rest: how it works"; Amazon CloudWatch Logs User Guide.
    """
    given_on = {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    logs = {"Sid": "KeysOfLogs", "Action": ["logs:AssociateKmsKey", "logs:DisassociateKmsKey"]}
    places = [each.format_map(of.patterns) for each in PLACES["logs"]]
    return _document(
        [
            {"Sid": "Key", "Effect": "Allow", "Action": list(keys.ACTIONS), "Resource": of.key},
            {"Sid": "Given", "Effect": "Allow", "Action": "kms:CreateGrant", "Resource": of.key, "Condition": given_on},
            {**logs, "Effect": "Allow", "Resource": places},
        ]
    )


def _document(statements: list[dict[str, Any]]) -> dict[str, Any]:
    return {"Version": "2012-10-17", "Statement": statements}


def _of(service: str, of: Deployed) -> dict[str, Any]:
    """What is done to things of one service."""
    changes = (actions for its, actions in ACTIONS.values() if its == service)
    wanted = sorted({f"{service}:{action}" for actions in (*changes, READS[service]) for action in actions})
    places = [each.format_map(of.patterns) for each in PLACES[service]]
    return {"Sid": service.title().replace("-", ""), "Effect": "Allow", "Action": wanted, "Resource": places}


def _bounded(statement: dict[str, Any], of: Deployed) -> list[dict[str, Any]]:
    """The statement; where there is a boundary, the part of it that makes roles and what they may, with a condition."""
    if statement["Sid"] != "Iam" or not of.boundary:
        return [statement]
    bounded = {f"iam:{action}" for action in _BOUNDED}
    bound = {"StringEquals": {"iam:PermissionsBoundary": of.boundary}}
    rest = [action for action in statement["Action"] if action not in bounded]
    return [
        {**statement, "Action": rest},
        {**statement, "Sid": "BoundedRoles", "Action": sorted(bounded), "Condition": bound},
    ]


DOCUMENTS = {"": policy, "zones": zones_policy, "pipelines": pipelines_policy, "key": key_policy}
"""By what a stack has besides."""


def main() -> None:
    """Prints a document; 2 if the stage file does not exist, or has no key."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.deployer", description="Prints the permissions that CloudFormation needs"
    )
    stack = parser.add_mutually_exclusive_group()
    stack.add_argument("stack", nargs="?", default="sigla", help="the name of the stack")
    stack.add_argument("--stage-file", metavar="PATH", help="take name, boundary, path and key from this stage file")
    besides = parser.add_mutually_exclusive_group()
    for each in filter(None, DOCUMENTS):
        besides.add_argument(
            f"--{each}",
            action="store_const",
            const=each,
            dest="document",
            default="",
            help=f"print what its {each} {'needs' if each == 'key' else 'need'} in addition",
        )
    asked = parser.parse_args()
    try:
        of = Deployed.by(settings_of({FLAG: asked.stage_file})) if asked.stage_file else Deployed(asked.stack)
    except InvalidSetting as wrong:
        parser.error(str(wrong))
    if asked.document == "key" and not of.key:
        parser.error("The key is missing: name a stage file with platform.key_arn.")
    print(json.dumps(DOCUMENTS[asked.document](of), indent=2))


if __name__ == "__main__":
    main()
