"""What must never be lost is not lost by the template either. Synthesised once, then read."""

import json
import shutil
from pathlib import Path
from typing import Any

import pytest

from infra.settings import Settings

pytestmark = pytest.mark.skipif(shutil.which("node") is None, reason="CDK needs Node.js on the PATH")

CDK_JSON = Path(__file__).parents[2] / "cdk.json"


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    """The template of a deployment with all defaults; AWS's checklist has passed when this is there."""
    import aws_cdk as cdk

    from infra.app import build

    app = cdk.App(outdir=str(tmp_path_factory.mktemp("cdk")), context=json.loads(CDK_JSON.read_text())["context"])
    stack = build(app)
    return dict(app.synth().get_stack_by_name(stack.stack_name).template)


def only(template: dict[str, Any], kind: str) -> dict[str, Any]:
    """The one resource of a type."""
    (found,) = [resource for resource in template["Resources"].values() if resource["Type"] == kind]
    return dict(found)


def test_bucket_and_table_outlive_the_stack(template: dict[str, Any]) -> None:
    """`cdk destroy`, or a rename that replaces a resource, must not take the schemas along."""
    for kind in ("AWS::S3::Bucket", "AWS::DynamoDB::Table"):
        resource = only(template, kind)
        assert resource["DeletionPolicy"] == "Retain"
        assert resource["UpdateReplacePolicy"] == "Retain"


def test_the_bucket_is_versioned_encrypted_and_private(template: dict[str, Any]) -> None:
    """An overwritten body can be brought back, and nobody outside reads one."""
    bucket = only(template, "AWS::S3::Bucket")["Properties"]
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    (rule,) = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "AES256"}
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["OwnershipControls"] == {"Rules": [{"ObjectOwnership": "BucketOwnerEnforced"}]}


def statements(template: dict[str, Any]) -> list[dict[str, Any]]:
    return list(only(template, "AWS::S3::BucketPolicy")["Properties"]["PolicyDocument"]["Statement"])


def test_the_bucket_refuses_what_is_not_encrypted_on_the_way(template: dict[str, Any]) -> None:
    """TLS, and a recent one."""
    conditions = [statement.get("Condition") for statement in statements(template) if statement["Action"] == "s3:*"]
    assert {"Bool": {"aws:SecureTransport": "false"}} in conditions
    assert {"NumericLessThan": {"s3:TlsVersion": 1.2}} in conditions


def test_a_put_must_say_what_it_expects_to_find(template: dict[str, Any]) -> None:
    """Write-once is the bucket's rule: a put with neither If-None-Match nor If-Match is denied, whoever sends it."""
    (put,) = [statement for statement in statements(template) if statement["Action"] == "s3:PutObject"]
    assert put["Effect"] == "Deny"
    assert put["Principal"] == {"AWS": "*"}
    assert put["Condition"] == {
        "Null": {"s3:if-none-match": "true", "s3:if-match": "true"},
        "Bool": {"s3:ObjectCreationOperation": "true"},
    }


def test_nobody_deletes_a_body(template: dict[str, Any]) -> None:
    """Not the functions, not a person with admin rights in a hurry, not one version of an object."""
    denied = [statement for statement in statements(template) if "s3:DeleteObject" in statement["Action"]]
    assert [statement["Effect"] for statement in denied] == ["Deny"]
    assert set(denied[0]["Action"]) == {"s3:DeleteObject", "s3:DeleteObjectVersion"}


def test_the_table_costs_nothing_idle_and_can_be_brought_back(template: dict[str, Any]) -> None:
    """On demand, restorable to any second of 35 days, and not deletable by one wrong click."""
    table = only(template, "AWS::DynamoDB::Table")["Properties"]
    assert table["BillingMode"] == "PAY_PER_REQUEST"
    assert table["PointInTimeRecoverySpecification"] == {
        "PointInTimeRecoveryEnabled": True,
        "RecoveryPeriodInDays": 35,
    }
    assert table["DeletionProtectionEnabled"] is True


def test_the_table_has_the_keys_of_the_catalog_and_a_stream(template: dict[str, Any]) -> None:
    """`pk` and `sk`, and the stream that feeds the journal."""
    table = only(template, "AWS::DynamoDB::Table")["Properties"]
    assert table["KeySchema"] == [
        {"AttributeName": "pk", "KeyType": "HASH"},
        {"AttributeName": "sk", "KeyType": "RANGE"},
    ]
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_IMAGE"}


def test_the_template_runs_no_code_of_its_own(template: dict[str, Any]) -> None:
    """A custom resource would be a function that can delete what this page protects."""
    assert [kind for kind in {r["Type"] for r in template["Resources"].values()} if kind.startswith("Custom::")] == []


def test_cdk_json_holds_the_defaults() -> None:
    """A deployer reads them there; the record and the file say the same."""
    context = json.loads(CDK_JSON.read_text())["context"]
    assert Settings.read(context) == Settings()
    assert context == {name: getattr(Settings(), name) for name in Settings.__slots__}


def test_a_setting_with_a_typo_is_refused_by_name() -> None:
    """It must not become a default; what CDK keeps in the context is not ours to judge."""
    assert Settings.read({"@aws-cdk/core:anything": True, "aws:cdk:x": 1}) == Settings()
    with pytest.raises(ValueError, match="registry_nam"):
        Settings.read({"registry_nam": "payments"})


@pytest.mark.parametrize("name", ["", "-a", "A", "a/b", "a#b", "x" * 64])
def test_a_registry_name_fits_every_stored_name(name: str) -> None:
    """It is the first component of keys in S3 and DynamoDB."""
    with pytest.raises(ValueError, match="registry_name"):
        Settings(registry_name=name)
