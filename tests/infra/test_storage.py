"""What must never be lost is not lost by the template either."""

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from sigla.deployment import bucket_policy
from sigla.deployment.settings import Settings
from tests.infra.conftest import FLAGS
from tests.infra.reading import Template, all_of, ids, kinds, only


def test_bucket_and_table_outlive_the_stack(template: Template) -> None:
    """`cdk destroy`, or a rename that replaces a resource, must not take the schemas along."""
    retained = {each["Type"] for each in template["Resources"].values() if each.get("DeletionPolicy") == "Retain"}
    replaced = {each["Type"] for each in template["Resources"].values() if each.get("UpdateReplacePolicy") == "Retain"}
    assert {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::DynamoDB::Table"} <= retained & replaced


def kept(template: Template) -> dict[str, set[str]]:
    """What stays when the stack goes: logical ids by type."""
    found: dict[str, set[str]] = {}
    for name, each in template["Resources"].items():
        if each.get("DeletionPolicy") in ("Retain", "RetainExceptOnCreate"):
            found.setdefault(each["Type"], set()).add(name)
    return found


@pytest.mark.parametrize("stage, protected", [("aws", True), ("local", False)])
def test_a_stack_is_not_deleted_by_one_wrong_command(cdk: Any, tmp_path: Path, stage: str, protected: bool) -> None:
    """Its data would stay, and its URLs would not: AWS gives none of them out again. On LocalStack nothing is lost."""
    from infra.app import build

    (tmp_path / "empty").mkdir()
    app = cdk.App(outdir=str(tmp_path / "cdk.out"), context=FLAGS)
    assert build(app, Settings(stage=stage), placed=lambda _: tmp_path / "empty").termination_protection is protected


def test_nothing_else_stays_but_logs_and_the_accounts_own_role(template: Template, all_on: Template) -> None:
    """What is left over has a reason: other APIs of the account may write their logs through that role."""
    stored = {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::DynamoDB::Table"}
    assert kept(template).keys() == stored | {"AWS::Logs::LogGroup"}
    assert kept(all_on).keys() == stored | {"AWS::Logs::LogGroup", "AWS::IAM::Role", "AWS::ApiGateway::Account"}
    assert all("Logs" in role for role in kept(all_on)["AWS::IAM::Role"])


def test_lines_outlive_what_wrote_them_unless_settings_say_otherwise(
    template: Template, zones: Template, other: Template
) -> None:
    """Who asked what is looked up when something is gone; of a first deployment that failed nothing is left."""
    for stack in (template, zones):
        groups = [each for each in stack["Resources"].values() if each["Type"] == "AWS::Logs::LogGroup"]
        assert {each["DeletionPolicy"] for each in groups} == {"RetainExceptOnCreate"}
        assert {each["UpdateReplacePolicy"] for each in groups} == {"Retain"}
    assert "AWS::Logs::LogGroup" not in kept(other)


def test_the_bucket_is_versioned_encrypted_and_private(template: Template) -> None:
    """An overwritten body can be brought back, and strangers cannot read one."""
    bucket = only(template, "AWS::S3::Bucket")
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def statements(template: Template) -> list[dict[str, Any]]:
    return list(only(template, "AWS::S3::BucketPolicy")["PolicyDocument"]["Statement"])


def test_the_bucket_refuses_what_is_not_encrypted_on_the_way(template: Template) -> None:
    """TLS, and a recent one."""
    conditions = [statement.get("Condition") for statement in statements(template) if statement["Action"] == "s3:*"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in conditions
    assert {"NumericLessThan": {"s3:TlsVersion": 1.2}} in conditions


def test_a_put_must_say_what_it_expects_to_find(every_template: list[Template]) -> None:
    """Write-once is the bucket's rule: a put with neither If-None-Match nor If-Match is denied, whoever sends it."""
    for template in (each for each in every_template if "AWS::S3::Bucket" in kinds(each)):
        (put,) = [statement for statement in statements(template) if statement["Action"] == "s3:PutObject"]
        assert put["Effect"] == "Deny"
        assert put["Principal"] == {"AWS": "*"}
        assert put["Condition"] == {
            "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
            "Bool": {"s3:ObjectCreationOperation": "true"},
        }


def test_nobody_deletes_a_body(template: Template) -> None:
    """Not the functions, not a person with admin rights in a hurry, not one version of an object."""
    denied = [statement for statement in statements(template) if "s3:DeleteObject" in statement["Action"]]
    assert [statement["Effect"] for statement in denied] == ["Deny"]
    assert set(denied[0]["Action"]) == {"s3:DeleteObject", "s3:DeleteObjectVersion"}


def test_the_table_costs_nothing_idle_and_can_be_brought_back(template: Template) -> None:
    """On demand, restorable to any second of 35 days, and not deletable by one wrong click."""
    table = only(template, "AWS::DynamoDB::Table")
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": True,
        "RecoveryPeriodInDays": 35,
    }
    assert table["DeletionProtectionEnabled"] is True


def test_the_table_has_the_keys_of_the_catalog_and_a_stream(template: Template) -> None:
    """`pk` and `sk`, the stream that feeds the journal, and an end for journal rows."""
    table = only(template, "AWS::DynamoDB::Table")
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}
    assert table["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}


def test_a_bucket_that_is_there_can_have_the_policy_of_our_own(template: Template, platform: Template) -> None:
    """The stack gives it none: whoever owns it types the command, and has what a bucket of the stack has."""
    command = [sys.executable, "-m", "sigla.deployment.bucket_policy", "kept-bodies"]
    printed = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    arn = "arn:aws:s3:::kept-bodies"
    for stack in (template, platform):
        (bucket,) = ids(stack, "AWS::S3::Bucket")
        document = json.dumps(only(stack, "AWS::S3::BucketPolicy")["PolicyDocument"])
        objects = json.dumps({"Fn::Join": ["", [{"Fn::GetAtt": [bucket, "Arn"]}, "/*"]]})
        whole = json.dumps({"Fn::GetAtt": [bucket, "Arn"]})
        assert json.loads(document.replace(objects, f'"{arn}/*"').replace(whole, f'"{arn}"')) == printed
    assert bucket_policy.LEAST_TLS == 1.2


@pytest.mark.parametrize("name", ["", "s3://kept", "My_Bucket", "a"])
def test_the_policy_of_what_is_no_bucket_is_not_printed(name: str) -> None:
    command = [sys.executable, "-m", "sigla.deployment.bucket_policy", name]
    refused = subprocess.run(command, capture_output=True, text=True, check=False)
    assert refused.returncode == 2
    expected = "expected the name of a bucket, 3 to 63 of a-z, 0-9, '-' and '.'.\n"
    assert refused.stderr.endswith(f"Invalid bucket {name!r}: {expected}")


def test_a_stack_can_be_given_a_bucket_and_a_table_that_are_there(other: Template) -> None:
    """After a teardown, of a restored table, or shared by registries: they are used, and nothing is done to them."""
    assert not kinds(other) & {"AWS::S3::Bucket", "AWS::S3::BucketPolicy", "AWS::DynamoDB::Table"}
    for function in all_of(other, "AWS::Lambda::Function"):
        told = function["Environment"]["Variables"]
        assert (told["SIGLA_BUCKET"], told["SIGLA_TABLE"]) == ("kept-bodies", "kept-catalog")


def test_on_localstack_a_stack_goes_as_a_whole(local: Template) -> None:
    """What is retained there would only be in the next one's way."""
    assert kept(local) == {}
    table = only(local, "AWS::DynamoDB::Table")
    assert table["DeletionProtectionEnabled"] is False
    assert "StreamSpecification" not in table
