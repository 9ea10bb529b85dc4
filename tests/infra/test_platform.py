"""What an organisation asks of every stack: its key, its boundary, its path, its tags, on all that there is."""

import json
import subprocess
import sys
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any, Final

import pytest

from sigla.deployment import bucket_policy, key_policy
from sigla.deployment.settings import InvalidSetting, Settings
from tests.infra.conftest import BOUNDARY, KEY, PLATFORM
from tests.infra.reading import Template, all_of, as_list, kinds, only, written

# Where each type that stores something says by which key.
PLACES: Final[dict[str, Callable[[dict[str, Any]], Any]]] = {
    "AWS::DynamoDB::Table": lambda of: of["SSESpecification"]["KMSMasterKeyId"],
    "AWS::ElastiCache::ReplicationGroup": lambda of: of["KmsKeyId"],
    "AWS::Logs::LogGroup": lambda of: of["KmsKeyId"],
    "AWS::S3::Bucket": lambda of: of["BucketEncryption"]["ServerSideEncryptionConfiguration"][0][
        "ServerSideEncryptionByDefault"
    ]["KMSMasterKeyID"],
    "AWS::SNS::Topic": lambda of: of["KmsMasterKeyId"],
    "AWS::SQS::Queue": lambda of: of["KmsMasterKeyId"],
}

# What AWS offers a key for, and has nothing of ours to encrypt.
NOTHING_TO_ENCRYPT: Final = {
    "AWS::EMRServerless::Application": "its log group has the key, and what EMR keeps beside it is off",
    "AWS::Lambda::EventSourceMapping": "its filter names rows, and none is in it",
    "AWS::Lambda::Function": "its environment has names, and no secret",
    "AWS::Scheduler::Schedule": "its input has places, and no secret",
}


@cache
def schema_of(kind: str) -> dict[str, Any]:
    """CloudFormation's own, as cfn-lint brings it."""
    from cfnlint.schema import PROVIDER_SCHEMA_MANAGER  # a second and a half, for these tests alone

    schema: dict[str, Any] = PROVIDER_SCHEMA_MANAGER.get_resource_schema("us-east-1", kind).schema
    return schema


def test_all_that_is_stored_is_encrypted_by_the_one_key(platform: Template) -> None:
    """An auditor asks for one key that the organisation can close, and finds one thing that does not have it."""
    there = PLACES.keys() & kinds(platform)
    assert PLACES.keys() - there <= {"AWS::SNS::Topic"}
    for kind in there:
        assert {written(PLACES[kind](each)) for each in all_of(platform, kind)} == {KEY}, kind
    assert not [each for each in all_of(platform, "AWS::SQS::Queue") if "SqsManagedSseEnabled" in each]
    (rule,) = only(platform, "AWS::S3::Bucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["BucketKeyEnabled"] is True
    jobs = only(platform, "AWS::EMRServerless::Application")["MonitoringConfiguration"]
    assert jobs["ManagedPersistenceMonitoringConfiguration"] == {"Enabled": False}


def test_whatever_could_have_a_key_has_it_or_has_nothing_to_encrypt(every_template: list[Template]) -> None:
    """A queue or a store that is added later is not forgotten: CloudFormation's schemas tell what takes a key."""
    every_kind = set().union(*map(kinds, every_template))
    takes = {kind for kind in every_kind if "kms" in json.dumps(schema_of(kind)["properties"]).lower()}
    nested = {kind for kind in every_kind if '"kms' in json.dumps(schema_of(kind).get("definitions", {})).lower()}
    assert takes | nested <= PLACES.keys() | NOTHING_TO_ENCRYPT.keys()


def test_with_everything_at_once_nothing_is_left_without_the_key(examples: dict[str, Template]) -> None:
    """The template of a stack whose bucket and table are there already, too."""
    everything = examples["everything"]
    for kind in PLACES.keys() & kinds(everything):
        assert {written(PLACES[kind](each)) for each in all_of(everything, kind)} == {KEY}, kind


def test_without_a_key_nothing_speaks_of_one(template: Template, zones: Template) -> None:
    """Keys that AWS owns cost nothing and cannot be lost."""
    for stack in (template, zones):
        assert "kms" not in json.dumps(stack).lower()


def test_who_reads_and_writes_may_use_the_key_by_way_of_the_stores_alone(platform: Template) -> None:
    """Functions, jobs, and who notes what was given up; none may decrypt anything by itself."""
    policies = all_of(platform, "AWS::IAM::Policy")
    with_key = 0
    for policy in policies:
        said = policy["PolicyDocument"]["Statement"]
        actions = {action.split(":")[0] for each in said for action in as_list(each["Action"])}
        uses = [each for each in said if each.get("Sid") == "Key"]
        assert len(uses) == bool(actions & {"dynamodb", "s3", "sqs"})
        with_key += len(uses)
        for use in uses:
            assert (set(use["Action"]), use["Resource"]) == (set(key_policy.ACTIONS), KEY)
            stores = [f"{store}.<AWS::Region>.amazonaws.com" for store in ("dynamodb", "s3", "sqs")]
            assert list(map(written, use["Condition"]["StringEquals"]["kms:ViaService"])) == stores
    # The registry, the journal, the heartbeat, a zone; two jobs that do not land; who starts one of them.
    assert with_key >= 7


def test_the_keys_policy_lets_in_the_services_that_ask_by_themselves() -> None:
    """CloudWatch Logs for this account's log groups, EventBridge for queues, alarms for topics, and no others."""
    first, *others = key_policy.policy("111122223333", "eu-west-1")["Statement"]
    assert first["Principal"] == {"AWS": "arn:aws:iam::111122223333:root"}
    said = {each["Principal"]["Service"]: each for each in others}
    assert said.keys() == {"logs.eu-west-1.amazonaws.com", "events.amazonaws.com", "cloudwatch.amazonaws.com"}
    logs = said["logs.eu-west-1.amazonaws.com"]["Condition"]["ArnLike"]
    assert logs == {"kms:EncryptionContext:aws:logs:arn": "arn:aws:logs:eu-west-1:111122223333:log-group:*"}
    assert "Condition" not in said["events.amazonaws.com"]  # EventBridge sends no account along
    assert said["cloudwatch.amazonaws.com"]["Condition"] == {"StringEquals": {"aws:SourceAccount": "111122223333"}}
    assert all({"kms:Decrypt", "kms:GenerateDataKey"} <= {a.rstrip("*") for a in each["Action"]} for each in others)


def test_in_china_and_in_govcloud_a_key_is_open_to_the_services_that_are_there() -> None:
    """A policy with names of another partition is refused by AWS, or lets no service in."""
    for region, partition, suffix in (
        ("cn-north-1", "aws-cn", "amazonaws.com.cn"),
        ("us-gov-west-1", "aws-us-gov", "amazonaws.com"),
    ):
        text = json.dumps(key_policy.policy("111122223333", region))
        assert f'"logs.{region}.{suffix}"' in text
        assert f"arn:{partition}:iam::111122223333:root" in text
        bucket = json.dumps(bucket_policy.policy("kept-bodies", region))
        assert f"arn:{partition}:s3:::kept-bodies/*" in bucket
        assert "arn:aws:" not in text + bucket


def test_the_command_prints_the_keys_policy() -> None:
    """As `aws kms create-key` takes it; an account that cannot be is told in a sentence."""
    command = [sys.executable, "-m", "sigla.deployment.key_policy"]
    done = subprocess.run([*command, "111122223333", "eu-west-1"], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout) == key_policy.policy("111122223333", "eu-west-1")
    refused = subprocess.run([*command, "mine", "eu-west-1"], capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    assert refused.stderr.endswith("Invalid account 'mine': expected twelve digits.\n")


def test_every_role_has_the_boundary_and_the_path(platform: Template, template: Template) -> None:
    """An account that demands them refuses a deployment with one role that has none."""
    roles = all_of(platform, "AWS::IAM::Role")
    assert len(roles) >= 8
    assert {(each["PermissionsBoundary"], each["Path"]) for each in roles} == {(BOUNDARY, "/teams/data/")}
    assert not [each for each in all_of(template, "AWS::IAM::Role") if {"PermissionsBoundary", "Path"} & each.keys()]


def test_everything_that_can_have_tags_has_them(
    platform: Template, template: Template, examples: dict[str, Template]
) -> None:
    """Costs are told apart by tags, and what has none is asked about."""
    wanted = {("team", "data"), ("cost-centre", "42")}
    for name, resource in {**platform["Resources"], **examples["everything"]["Resources"]}.items():
        taggable = "Tags" in schema_of(resource["Type"])["properties"]
        tags = resource.get("Properties", {}).get("Tags", [])
        pairs = set(tags.items()) if isinstance(tags, dict) else {(tag["Key"], written(tag["Value"])) for tag in tags}
        assert not taggable or wanted <= pairs, f"{name}: {resource['Type']}"
    assert not [bucket for bucket in all_of(template, "AWS::S3::Bucket") if "Tags" in bucket]


def test_what_is_added_later_is_encrypted_bounded_and_tagged_as_well(tmp_path: Path) -> None:
    """Whoever writes the next part of the stack need not know of it; and the stack itself has the tags."""
    import aws_cdk as cdk
    from aws_cdk import aws_iam as iam
    from aws_cdk import aws_sns as sns
    from aws_cdk import aws_sqs as sqs

    from sigla.cdk.parts import platform

    app = cdk.App(outdir=str(tmp_path), builtin_cloud_formation_validation=False)
    stack = cdk.Stack(app, "Later")
    platform.apply_to(stack, Settings.read(dict(PLATFORM)))
    sns.Topic(stack, "Topic")
    sqs.Queue(stack, "Queue")
    iam.Role(stack, "Role", assumed_by=iam.ServicePrincipal("lambda.amazonaws.com"))
    made = app.synth().get_stack_by_name("Later")
    topic, queue = (only(made.template, f"AWS::{kind}") for kind in ("SNS::Topic", "SQS::Queue"))
    assert topic["KmsMasterKeyId"] == queue["KmsMasterKeyId"] == KEY
    assert only(made.template, "AWS::IAM::Role")["PermissionsBoundary"] == BOUNDARY
    assert made.tags == {"team": "data", "cost-centre": "42"}


@pytest.mark.parametrize(
    "name, value",
    [
        ("key_arn", "alias/registry"),
        ("key_arn", "arn:aws:kms:eu-west-1:111122223333:alias/registry"),
        ("permissions_boundary", "boundary"),
        ("iam_path", "teams"),
        ("iam_path", "/teams"),
        ("tags", "team"),
        ("tags", "team=a,team=b"),
        ("tags", "aws:team=a"),
    ],
)
def test_what_cannot_be_is_refused_before_it_is_deployed(name: str, value: str) -> None:
    """CloudFormation would say so minutes later, and take back what it made."""
    with pytest.raises(InvalidSetting, match=rf"^platform\.{name} is '.*'; it must be"):
        Settings.read({f"platform.{name}": value})


def test_a_tags_value_may_be_empty_or_have_an_equals_sign() -> None:
    """As AWS takes them."""
    tags = Settings.read({"platform.tags": "owner=, query=a=b ,path=x/y:z@w"}).platform.tag_values
    assert tags == {"owner": "", "query": "a=b", "path": "x/y:z@w"}
