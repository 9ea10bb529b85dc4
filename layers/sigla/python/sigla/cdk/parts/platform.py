"""What an organisation asks of a whole registry, done to every resource of a kind, whichever part of it that makes.

A queue, a role or a log group that comes later is encrypted, bounded and tagged as the others are.
"""

from collections.abc import Callable, Mapping
from typing import Any, Final

import aws_cdk as cdk
import jsii
from aws_cdk import aws_dynamodb as dynamodb
from aws_cdk import aws_elasticache as elasticache
from aws_cdk import aws_emrserverless as emr
from aws_cdk import aws_iam as iam
from aws_cdk import aws_logs as logs
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns
from aws_cdk import aws_sqs as sqs
from constructs import Construct, IConstruct

from sigla.deployment.settings import Settings

Change = Callable[[Any, str], None]


def apply_to(scope: Construct, settings: Settings) -> None:
    """Asks it of all that the scope has, and of all that it will have."""
    platform = settings.platform
    for name, value in platform.tag_values.items():
        cdk.Tags.of(scope).add(name, value)
    changes = [
        (ENCRYPTED, settings.key_arn),
        ({iam.CfnRole: _bound}, platform.permissions_boundary),
        ({iam.CfnRole: _place}, platform.iam_path.removeprefix("/")),
    ]
    for each, value in changes:
        if value:
            cdk.Aspects.of(scope).add(_Everywhere(each, value), priority=cdk.AspectPriority.MUTATING)


@jsii.implements(cdk.IAspect)
class _Everywhere:
    """value: what the changes make of resources of their kinds."""

    def __init__(self, changes: Mapping[type, Change], value: str) -> None:
        self.changes, self.value = changes, value

    def visit(self, node: IConstruct) -> None:
        change = self.changes.get(type(node))
        if change:
            change(node, self.value)


def _bound(role: iam.CfnRole, policy: str) -> None:
    role.permissions_boundary = policy


def _place(role: iam.CfnRole, path: str) -> None:
    role.path = f"/{path}"


def _encrypt_bucket(bucket: s3.CfnBucket, key: str) -> None:
    default = s3.CfnBucket.ServerSideEncryptionByDefaultProperty(sse_algorithm="aws:kms", kms_master_key_id=key)
    # One question to KMS for many objects, instead of one for each.
    rule = s3.CfnBucket.ServerSideEncryptionRuleProperty(
        bucket_key_enabled=True, server_side_encryption_by_default=default
    )
    bucket.bucket_encryption = s3.CfnBucket.BucketEncryptionProperty(server_side_encryption_configuration=[rule])


def _encrypt_table(table: dynamodb.CfnTable, key: str) -> None:
    table.sse_specification = dynamodb.CfnTable.SSESpecificationProperty(
        sse_enabled=True, sse_type="KMS", kms_master_key_id=key
    )


def _encrypt_log(log: logs.CfnLogGroup, key: str) -> None:
    log.kms_key_id = key


def _encrypt_queue(queue: sqs.CfnQueue, key: str) -> None:
    queue.sqs_managed_sse_enabled = None
    queue.kms_master_key_id = key


def _encrypt_topic(topic: sns.CfnTopic, key: str) -> None:
    topic.kms_master_key_id = key


def _encrypt_cache(member: elasticache.CfnReplicationGroup, key: str) -> None:
    member.kms_key_id = key


def _encrypt_jobs(application: emr.CfnApplication, _: str) -> None:
    """Their log group has the key; what EMR would keep beside it, under a key of its own, it does not."""
    kept = "MonitoringConfiguration.ManagedPersistenceMonitoringConfiguration"
    application.add_property_override(kept, {"Enabled": False})


# Memcached is not among them: its nodes have no disk.
ENCRYPTED: Final[Mapping[type, Change]] = {
    s3.CfnBucket: _encrypt_bucket,
    dynamodb.CfnTable: _encrypt_table,
    logs.CfnLogGroup: _encrypt_log,
    sqs.CfnQueue: _encrypt_queue,
    sns.CfnTopic: _encrypt_topic,
    elasticache.CfnReplicationGroup: _encrypt_cache,
    emr.CfnApplication: _encrypt_jobs,
}
