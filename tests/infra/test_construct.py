"""`sigla.cdk.Registry` in an app of others: beside other resources, and beside another registry."""

import json
import re
import subprocess
import sys
from functools import partial
from typing import Any

import pytest

from sigla.deployment.settings import InvalidSetting
from sigla.deployment.sources import FUNCTIONS, ROOT
from tests.infra.reading import Template, all_of, only

REGION = "us-east-1"


def test_two_registries_of_one_stack_share_no_name(platform_stack: Template) -> None:
    """Names that a registry gives itself begin with the stack's name and its own."""
    names = sorted(each["Name"] for each in all_of(platform_stack, "AWS::ApiGateway::RestApi"))
    orders, payments = names
    assert orders.startswith("Platform-Orders-")
    assert payments.startswith("Platform-Payments-")
    users = [each["UserId"] for each in all_of(platform_stack, "AWS::ElastiCache::User")]
    assert sorted(users) == [
        f"{orders.lower()}-use1-az1",
        f"{orders.lower()}-use1-az2",
        f"{payments.lower()}-use1-az1",
    ]
    stacks = {
        variables["SIGLA_STACK"]: variables["SIGLA_REGISTRY_NAME"]
        for each in all_of(platform_stack, "AWS::Lambda::Function")
        if "SIGLA_STACK" in (variables := each.get("Environment", {}).get("Variables", {}))
    }
    assert stacks == {orders: "orders", payments: "payments"}


def test_what_other_constructs_make_is_a_setting(platform_stack: Template) -> None:
    """Their names are known when they are deployed; what is checked of a name is checked where one is written."""
    (bodies,) = (name for name in platform_stack["Resources"] if name.startswith("Bodies"))
    buckets = {
        json.dumps(each["Environment"]["Variables"]["SIGLA_BUCKET"])
        for each in all_of(platform_stack, "AWS::Lambda::Function")
        if each.get("Environment", {}).get("Variables", {}).get("SIGLA_REGISTRY_NAME") == "payments"
    }
    assert buckets == {json.dumps({"Ref": bodies})}
    keys = [each.get("KmsKeyId") for each in all_of(platform_stack, "AWS::Logs::LogGroup")]
    assert None in keys, "the other registry has no key"
    assert any(keys)


def test_a_reader_of_two_registries_reads_the_rows_of_both_and_writes_none(platform_stack: Template) -> None:
    """A policy may name each of its statements once, so ours bear no names."""
    (policy,) = (
        each for each in all_of(platform_stack, "AWS::IAM::Policy") if each["PolicyName"].startswith("ReaderDefault")
    )
    statements = policy["PolicyDocument"]["Statement"]
    assert not [each for each in statements if "Sid" in each]
    written = json.dumps(statements)
    assert '"orders#*"' in written
    assert '"payments#*"' in written
    assert "Put" not in written
    assert "Delete" not in written


def test_a_registry_says_what_clients_need(platform_stack: Template) -> None:
    """Its outputs are attributes: the stack around it decides what it tells."""
    assert {"OrdersUrl", "PaymentsUrl"} == set(platform_stack["Outputs"])
    assert platform_stack["Outputs"]["OrdersUrl"] != platform_stack["Outputs"]["PaymentsUrl"]


@pytest.mark.parametrize(
    "settings, sentence",
    [
        ({"front_door": {"functon_url": True}}, "Unknown setting front_door.functon_url. Valid settings: "),
        ({"registry_name": "Orders"}, "registry_name is 'Orders'; it must be 1 to 63 of a-z, 0-9 and '-'"),
        ({"zones": ["euw1-az1"]}, "zones must be in region: "),
        ({"account": "111122223333"}, "account belongs to the stack: give the Stack its env and its synthesizer."),
    ],
)
def test_a_wrong_setting_is_refused_in_the_words_of_stage_files(
    cdk: Any, settings: dict[str, Any], sentence: str
) -> None:
    from sigla.cdk import Registry

    stack = cdk.Stack(cdk.App(), "Platform", env=cdk.Environment(region=REGION))
    with pytest.raises(InvalidSetting) as refused:
        Registry(stack, "Registry", **settings)
    assert str(refused.value).startswith(sentence)


def test_our_own_stack_keeps_the_names_of_what_keeps_data_and_of_urls(template: Template) -> None:
    """Under another name CloudFormation would make another table, empty, and another URL. These names are for ever."""
    ours = {
        "AWS::S3::Bucket": "StorageBodies7921A412",
        "AWS::DynamoDB::Table": "StorageCatalogBA94E8E8",
        "AWS::ApiGateway::RestApi": "RestApi79D61EE8",
        "AWS::Lambda::Alias": "ServiceLive60E3D185",
    }
    names = {each["Type"]: name for name, each in template["Resources"].items() if each["Type"] in ours}
    assert names == ours
    assert only(template, "AWS::ApiGateway::RestApi")["Name"] == "sigla-default"


def test_what_the_page_shows_of_settings_is_taken(cdk: Any) -> None:
    """The app of the page itself is run from the wheel: tests/test_wheel.py."""
    from aws_cdk import aws_kms as kms
    from aws_cdk import aws_sns as sns

    from sigla.cdk import Registry

    stack = cdk.Stack(cdk.App(), "Platform", env=cdk.Environment(region=REGION))
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "docs" / "cdk.md").read_text(), re.DOTALL)
    (shown,) = (block for block in blocks if "app.synth()" not in block)
    made = partial(Registry, placed=lambda _: FUNCTIONS / "registry")
    names = {"Registry": made, "stack": stack, "topic": sns.Topic(stack, "Alarms"), "key": kms.Key(stack, "Key")}
    registry = eval(shown, names)
    assert set(registry.urls) == {"RestUrl", "FunctionUrl"}
    assert registry.url == registry.urls["RestUrl"]


def test_without_the_cdk_an_import_says_which_extra_brings_it() -> None:
    program = "import sys; sys.modules['aws_cdk'] = None; import sigla.cdk"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.stderr.splitlines()[-1] == (
        "ModuleNotFoundError: sigla.cdk needs the AWS CDK, which the extra `cdk` brings: "
        "pip install 'sigla-registry[cdk]'"
    )
