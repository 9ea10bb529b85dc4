"""A stack of another team, with two registries. Its constructs want Node.js: whoever imports it asks for `cdk`."""

from typing import Any

import aws_cdk as cdk
from aws_cdk import aws_iam as iam
from aws_cdk import aws_kms as kms
from aws_cdk import aws_s3 as s3
from aws_cdk import aws_sns as sns

from sigla.cdk import Registry

IDENTITY = "0123456789abcdef0123456789abcdef"
REGION = "us-east-1"


def stack_of_two(app: cdk.App, placed: Any) -> cdk.Stack:
    """Two registries with zones in one stack, of which the second has a bucket, a key and a topic of this stack."""
    stack = cdk.Stack(app, "Platform", env=cdk.Environment(region=REGION))
    orders = Registry(
        stack, "Orders", placed=placed, registry_name="orders", identity=IDENTITY, zones=["use1-az1", "use1-az2"]
    )
    topic, key, bucket = sns.Topic(stack, "Alarms"), kms.Key(stack, "Key"), s3.Bucket(stack, "Bodies")
    payments = Registry(
        stack,
        "Payments",
        placed=placed,
        registry_name="payments",
        zones="use1-az1",
        bucket_name=bucket.bucket_name,
        front_door={"function_url": True},
        watch={"topic_arn": topic.topic_arn},
        platform={"key_arn": key.key_arn},
    )
    reader = iam.Role(stack, "Reader", assumed_by=iam.AccountRootPrincipal())
    for registry in (orders, payments):
        registry.grant_read(reader)
        cdk.CfnOutput(stack, f"{registry.node.id}Url", value=registry.url)
    orders.grant_manage_keys(iam.Role(stack, "KeyKeeper", assumed_by=iam.AccountRootPrincipal()))
    orders.metric("ServerErrors").create_alarm(stack, "Failing", threshold=1, evaluation_periods=1)
    return stack
