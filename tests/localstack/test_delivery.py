"""`sigla deploy`, `--diff` and `sigla destroy` with a CloudFormation that makes what it is told to make."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import boto3
import pytest

from localstack.server import CREDENTIALS
from sigla.cli import main
from sigla.delivery import templates
from sigla.deployment.settings import Settings
from sigla.deployment.translation import Released, placed_settings
from tests.localstack.conftest import Deployed

pytestmark = pytest.mark.localstack

IDENTITY = "c" * 32
STAGE = f'registry_name = "delivered"\nidentity = "{IDENTITY}"\n'
KEYS = [{"AttributeName": "pk", "KeyType": "HASH"}, {"AttributeName": "sk", "KeyType": "RANGE"}]
STORES: dict[str, Any] = {
    "Bodies": {
        "Type": "AWS::S3::Bucket",
        "DeletionPolicy": "Retain",
        "Properties": {"BucketName": "of-marked-registry"},
    },
    "Catalog": {
        "Type": "AWS::DynamoDB::Table",
        "DeletionPolicy": "Retain",
        "Properties": {
            "TableName": "of-marked-registry",
            "BillingMode": "PAY_PER_REQUEST",
            "KeySchema": KEYS,
            "AttributeDefinitions": [{"AttributeName": each["AttributeName"], "AttributeType": "S"} for each in KEYS],
        },
    },
}
QUEUE = {"Queue": {"Type": "AWS::SQS::Queue", "Properties": {"QueueName": "of-marked-registry"}}}
OUTPUTS = {
    "BucketName": {"Value": {"Ref": "Bodies"}},
    "TableName": {"Value": {"Ref": "Catalog"}},
    "Identity": {"Value": "d" * 32},
    "RegistryName": {"Value": "marked-registry"},
}


def release(folder: Path, resources: dict[str, Any]) -> None:
    """A template for a registry without functions: a part of what is deployed, in seconds."""
    marked = Settings(registry_name="marked-registry", stack_name="Marked", identity="d" * 32)
    placed = placed_settings(marked, account="424242424242", region="eu-north-1")
    made = Released(placed, {"Resources": resources, "Outputs": OUTPUTS}, {}, {}, "marked-bucket")
    (folder / "default.json").write_text(json.dumps(made.as_json()))


def test_a_stage_is_deployed_changed_and_destroyed(
    deployed: Deployed,
    aws: Callable[[str], Any],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    """What is shown is what happens, and what is stored outlives the stack."""
    for name, value in (CREDENTIALS | {"AWS_ENDPOINT_URL": deployed.server.endpoint}).items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    monkeypatch.setattr(templates, "TEMPLATES", tmp_path)
    stage = tmp_path / "stage.toml"
    stage.write_text(STAGE)

    def run(*words: str) -> list[str]:
        status = main([words[0], str(stage), *words[1:]])
        told = capsys.readouterr()
        assert status == 0, told.err
        return [*told.out.splitlines(), *told.err.splitlines()]

    release(tmp_path, STORES)
    assert "2 added." in run("deploy", "--diff")
    first = run("deploy", "--yes")
    assert "BucketName: of-delivered" in first
    assert f"have the identity {IDENTITY} now." in " ".join(first)
    release(tmp_path, STORES | QUEUE)
    assert run("deploy", "--diff")[-2:] == ["  added        AWS::SQS::Queue  Queue", "1 added."]
    assert f"have the identity {IDENTITY} already." in " ".join(run("deploy", "--yes"))
    assert aws("sqs").get_queue_url(QueueName="of-delivered")
    assert "nothing changes." in run("deploy")
    gone = run("destroy", "--yes")
    assert "The bucket of-delivered is still there. To delete it: docs/deploy.md#teardown" in gone
    assert aws("dynamodb").describe_table(TableName="of-delivered")
    assert aws("s3").list_objects_v2(Bucket="of-delivered")["KeyCount"]
