"""Exporters in AWS: one function with a clock, what it may do, who wakes it; and without the setting nothing at all."""

import json
from fnmatch import fnmatchcase
from typing import Any

import pytest

from sigla import keys
from sigla.deployment.settings import InvalidSetting, Settings
from tests.infra.reading import Template, all_in, as_list, ids_in, mentioned, of, written
from tests.infra.test_grants import allowed, statements
from tests.infra.test_pipelines import granted

PART = "Exporters"
FUNCTION = "AWS::Lambda::Function"


def variables(template: Template, part: str) -> dict[str, Any]:
    return dict(of(template, part, FUNCTION)["Environment"]["Variables"])


def of_ssm(template: Template, part: str) -> set[str]:
    """What the role of a part's function may do with parameters."""
    return {action for action, _ in allowed(template, part) if action.startswith("ssm:")}


def test_without_the_setting_a_stack_is_what_it_was(template: Template, zones: Template, jobs: Template) -> None:
    """A registry without exporters costs what it did, and nothing of it may do more than before."""
    for stack in (template, zones, jobs):
        text = json.dumps(stack)
        assert not [word for word in ("Exporters", "EXPORTERS", "ssm:", "lambda:InvokeFunctionAsync") if word in text]
        assert "Waking" not in {each.get("Sid") for each in statements(stack, "Journal")}


def test_at_most_one_writes_to_a_destination(all_on: Template) -> None:
    """Two at a time would write a later state before an earlier one. What fails is not repeated: the clock comes."""
    function = of(all_on, PART, FUNCTION)
    assert function["ReservedConcurrentExecutions"] == 1
    assert function["Timeout"] == 300
    assert "VpcConfig" not in function
    assert "SnapStart" not in function
    retried = of(all_on, PART, "AWS::Lambda::EventInvokeConfig")
    assert (retried["MaximumRetryAttempts"], retried["MaximumEventAgeInSeconds"]) == (0, 120)


def test_its_clock_comes_every_two_minutes(all_on: Template) -> None:
    """Whatever the journal did not wake it for: what a destination refused is tried again."""
    rule = of(all_on, PART, "AWS::Events::Rule")
    assert (rule["ScheduleExpression"], rule["State"]) == ("rate(2 minutes)", "ENABLED")
    (target,) = rule["Targets"]
    assert mentioned(target["Arn"]) == set(ids_in(all_on, PART, FUNCTION))


def test_the_journal_wakes_it_and_may_invoke_nothing_else(all_on: Template) -> None:
    """Its own function is not among what it may invoke: it would wake itself for ever."""
    (name,) = ids_in(all_on, PART, FUNCTION)
    assert variables(all_on, "Journal")["SIGLA_EXPORTERS_FUNCTION"] == {"Ref": name}
    (given,) = [each for each in statements(all_on, "Journal") if each.get("Sid") == "Waking"]
    assert (given["Action"], mentioned(given["Resource"])) == ("lambda:InvokeFunction", {name})


def test_it_reads_what_is_registered_and_writes_how_far_it_has_come(all_on: Template) -> None:
    """Whatever a destination answers, it cannot be made to change what is registered."""
    rows = {each["Sid"]: each for each in statements(all_on, PART) if "dynamodb" in json.dumps(each["Action"])}
    assert set(as_list(rows["Rows"]["Action"])) == {"dynamodb:BatchGetItem", "dynamodb:Query"}
    assert rows["Progress"]["Action"] == "dynamodb:UpdateItem"
    own = {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [keys.exporters_pk("default")]}}
    assert rows["Progress"]["Condition"] == own
    objects = {(action, place) for action, place in allowed(all_on, PART) if action.startswith("s3:")}
    assert objects == {
        ("s3:GetObject", "bucket/default/schemas/*"),
        ("s3:GetObject", "bucket/default/identity.json"),
        ("s3:ListBucket", "bucket"),
    }


KEEPING = {"ssm:DeleteParameter", "ssm:GetParameter", "ssm:PutParameter"}


def test_credentials_are_those_of_this_registry_in_this_table(all_on: Template) -> None:
    """Another stack with a registry of this name has other parameters, and neither role may look at those."""
    assert of_ssm(all_on, PART) == {"ssm:GetParameter"}
    assert of_ssm(all_on, "Service") == KEEPING
    assert not of_ssm(all_on, "Journal")
    (table,) = ids_in(all_on, "", "AWS::DynamoDB::Table")
    place = "arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter"
    for part in (PART, "Service"):
        (given,) = [each for each in statements(all_on, part) if each.get("Sid") == "Credentials"]
        pattern = written(given["Resource"])
        assert fnmatchcase(f"{place}{keys.secret_parameter(f'<{table}>', 'default', 'e', '1')}", pattern)
        assert not fnmatchcase(f"{place}{keys.secret_parameter(f'<{table}>', 'default2', 'e', '1')}", pattern)


def test_credentials_are_encrypted_by_the_key_of_the_stack(examples: dict[str, Template], all_on: Template) -> None:
    """They are what a thief wants first of all that is stored. The key opens no parameter of another registry."""
    stack = examples["everything"]
    (table,) = {variables(stack, part)["SIGLA_TABLE"] for part in (PART, "Service")}
    for part, uses in {PART: ["kms:Decrypt"], "Service": ["kms:Decrypt", "kms:Encrypt"]}.items():
        (given,) = [each for each in statements(stack, part) if each.get("Sid") == "CredentialsKey"]
        assert as_list(given["Action"]) == uses
        assert given["Resource"] == variables(stack, "Service")["SIGLA_EXPORTERS_KEY"]
        assert "ssm." in written(given["Condition"]["StringEquals"]["kms:ViaService"])
        pattern = written(given["Condition"]["StringLike"]["kms:EncryptionContext:PARAMETER_ARN"])
        assert pattern.endswith(f"parameter/sigla/{table}/payments/*")
    assert "SIGLA_EXPORTERS_KEY" not in variables(all_on, "Service")


def test_a_zone_without_a_way_to_ssm_says_where_exporters_are_created(
    without_urls: Template, given_subnets: Template
) -> None:
    """A call that hangs for seconds tells nothing; in subnets that are there, their owner has made a way."""
    assert variables(without_urls, "Service")["SIGLA_EXPORTERS"] == "here"
    assert variables(without_urls, "ZoneUse1Az2Service")["SIGLA_EXPORTERS"] == "elsewhere"
    assert not of_ssm(without_urls, "ZoneUse1Az2Service")
    assert variables(given_subnets, "ZoneUse1Az1Service")["SIGLA_EXPORTERS"] == "here"
    assert of_ssm(given_subnets, "ZoneUse1Az1Service") == KEEPING


def test_where_every_door_is_in_a_zone_without_a_way_to_ssm_exporters_are_refused() -> None:
    """No client could ever create one."""
    chosen = {"exporters": True, "zones": "euw1-az1", "front_door.public": False, "front_door.zone_urls": False}
    doors = {"front_door.private_zonal": True, "front_door.private_endpoints": "euw1-az1:vpce-0123abcd"}
    with pytest.raises(InvalidSetting, match=r"^exporters needs a way to SSM"):
        Settings.read(chosen | doors)
    given = {"network.vpc_id": "vpc-0123", "network.subnets": "euw1-az1:subnet-0123abcd"}
    assert Settings.read(chosen | doors | given).exporters


def test_exporters_in_trouble_ring_in_the_morning(all_on: Template) -> None:
    """By what the line of each run counts; a metric that is never met is neither sent nor paid."""
    counted = {
        one["MetricName"]: (each["FilterPattern"], one["MetricValue"])
        for each in all_in(all_on, PART, "AWS::Logs::MetricFilter")
        for one in each["MetricTransformations"]
    }
    assert counted == {
        "exporters_failing": ("{ $.failing > 0 }", "$.failing"),
        "exporters_behind": ("{ $.behind > 0 }", "$.behind"),
    }
    alarms = {each["MetricName"]: each for each in all_in(all_on, "WatchExporters", "AWS::CloudWatch::Alarm")}
    silent = alarms.pop("Invocations")
    assert alarms.keys() == {"Errors", *counted}
    assert {each["TreatMissingData"] for each in alarms.values()} == {"notBreaching"}
    assert {each["Namespace"] for name, each in alarms.items() if name in counted} == {"Sigla/sigla-default"}
    # Lambda counts nothing of a function that is not invoked.
    assert silent["TreatMissingData"] == "missing"
    assert silent["InsufficientDataActions"] == silent["AlarmActions"]


def test_the_scrub_job_sees_which_credentials_are_kept_and_reads_none(examples: dict[str, Template]) -> None:
    """It tells which of them no exporter names. Who lists them without leave to decrypt gets them encrypted."""
    stack = examples["everything"]
    (table,) = {variables(stack, part)["SIGLA_TABLE"] for part in (PART, "Service")}
    of_parameters = {
        job: {
            (action, written(resource).partition(":parameter")[2])
            for each in granted(stack, job)
            for action in as_list(each["Action"])
            for resource in as_list(each["Resource"])
            if action.startswith("ssm:")
        }
        for job in ("scrub", "audit")
    }
    path = f"/sigla/{table}/payments"
    assert of_parameters == {
        "scrub": {("ssm:GetParametersByPath", path), ("ssm:GetParametersByPath", f"{path}/*")},
        "audit": set(),
    }
