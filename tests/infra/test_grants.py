"""What the functions may do: the exact lists."""

import ast
from collections import Counter
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from sigla import keys
from sigla.deployment.settings import InvalidSetting, Settings
from tests.infra.conftest import KEK_KEYS, KEY, Synthesise
from tests.infra.reading import Template, all_in, all_of, as_list, ids, ids_in, kinds, mentioned, of, written

SIGLA = Path(__file__).parents[2] / "layers" / "sigla" / "python" / "sigla"
ROOMS_OF_AWS = ("aws", "functions", "stores/dynamodb", "stores/s3")

# What a client's method needs. A transaction's actions are allowed one by one.
NEEDS = {
    "batch_get_item": {"dynamodb:BatchGetItem"},
    "batch_write_item": {"dynamodb:BatchWriteItem"},
    "get_item": {"dynamodb:GetItem"},
    "query": {"dynamodb:Query"},
    "update_item": {"dynamodb:UpdateItem"},
    "transact_write_items": {
        "dynamodb:ConditionCheckItem",
        "dynamodb:DeleteItem",
        "dynamodb:PutItem",
        "dynamodb:UpdateItem",
    },
    "get_object": {"s3:GetObject"},
    "put_object": {"s3:PutObject"},
    "list_objects_v2": {"s3:ListBucket"},
}

ROWS = {
    *((f"dynamodb:{row}Item", "table") for row in ("BatchGet", "BatchWrite", "ConditionCheck")),
    *((f"dynamodb:{row}Item", "table") for row in ("Delete", "Put", "Update")),
    ("dynamodb:Query", "table"),
}
FOUND_AND_TOLD = {("s3:ListBucket", "bucket"), ("logs:CreateLogStream", "log"), ("logs:PutLogEvents", "log")}

ALLOWED = {
    "Service": {
        *ROWS,
        *FOUND_AND_TOLD,
        ("s3:GetObject", "bucket/default/schemas/*"),
        ("s3:GetObject", "bucket/default/guids/*"),
        ("s3:GetObject", "bucket/default/keys/*"),
        ("s3:GetObject", "bucket/default/key-uses/*"),
        ("s3:GetObject", "bucket/default/audit/*"),
        ("s3:GetObject", "bucket/default/identity.json"),
        ("s3:PutObject", "bucket/default/schemas/*"),
        ("s3:PutObject", "bucket/default/guids/*"),
        ("s3:PutObject", "bucket/default/key-uses/*"),
    },
    "Journal": {
        *ROWS,
        *FOUND_AND_TOLD,
        ("s3:GetObject", "bucket/*/schemas/*"),
        ("s3:GetObject", "bucket/*/journal/*"),
        ("s3:GetObject", "bucket/*/identity.json"),
        ("s3:PutObject", "bucket/*/schemas/*"),
        ("s3:PutObject", "bucket/*/guids/*"),
        ("s3:PutObject", "bucket/*/journal/*"),
        ("dynamodb:DescribeStream", "table/stream/*"),
        ("dynamodb:GetRecords", "table/stream/*"),
        ("dynamodb:GetShardIterator", "table/stream/*"),
        ("dynamodb:ListStreams", "table/stream/*"),
        ("sqs:SendMessage", "queue"),
    },
    "Heartbeat": {
        ("dynamodb:UpdateItem", "table"),
        ("dynamodb:BatchGetItem", "table"),
        ("s3:GetObject", "bucket/default/identity.json"),
        *FOUND_AND_TOLD,
    },
}
# What it takes for Lambda to put a function into a network, and for the function to know its ring.
ALLOWED["ZoneUse1Az1Service"] = ALLOWED["Service"] | {
    *((f"ec2:{action}PrivateIpAddresses", "*") for action in ("Assign", "Unassign")),
    *((f"ec2:{action}", "*") for action in ("CreateNetworkInterface", "DeleteNetworkInterface")),
    *((f"ec2:{action}", "*") for action in ("DescribeNetworkInterfaces", "DescribeSubnets")),
    ("elasticache:Connect", "member 1"),
    ("elasticache:Connect", "member 2"),
    ("elasticache:Connect", "user"),
}
# Where a key of the account's encrypts what is stored. None makes a grant of it, or changes it.
USE_OF_THE_KEY = {
    *((f"kms:{action}", KEY) for action in ("Decrypt", "DescribeKey", "Encrypt", "GenerateDataKey")),
    *((f"kms:{action}", KEY) for action in ("ReEncryptFrom", "ReEncryptTo")),
}
KEEPERS = ("Service", "Journal", "ZoneUse1Az1Service")
"""Those that keep what is registered."""


def statements(template: Template, part: str) -> list[dict[str, Any]]:
    """The statements of the role of a part's function."""
    return list(of(template, part, "AWS::IAM::Policy")["PolicyDocument"]["Statement"])


def allowed(template: Template, part: str) -> set[tuple[str, str]]:
    """(action, resource) of all that is allowed."""
    words = {
        "AWS::S3::Bucket": "bucket",
        "AWS::DynamoDB::Table": "table",
        "AWS::Logs::LogGroup": "log",
        "AWS::SQS::Queue": "queue",
    }
    names = {f"<{id}.Arn>": word for kind, word in words.items() for id in ids(template, kind) if "Rest" not in id}
    cache = "arn:<AWS::Partition>:elasticache:<AWS::Region>:<AWS::AccountId>"
    zone = part.removesuffix("Service")
    for number, id in enumerate(ids(template, "AWS::ElastiCache::ReplicationGroup"), 1):
        if id.startswith(zone):
            names[f"{cache}:replicationgroup:<{id}>"] = f"member {number}"
    for id in ids(template, "AWS::ElastiCache::User"):
        if id.startswith(zone):
            names[f"{cache}:user:<{id}>"] = "user"

    def named(arn: str) -> str:
        found = next((full for full in names if arn.startswith(full)), "")
        return names.get(found, "") + arn.removeprefix(found)

    return {
        (action, named(written(resource)))
        for statement in statements(template, part)
        if statement["Effect"] == "Allow"
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


@pytest.mark.parametrize("part", ALLOWED)
def test_a_function_may_do_this_and_nothing_else(zones: Template, part: str) -> None:
    """Every grant there is. None removes an object, none makes a key, and none speaks to another zone's ring."""
    assert allowed(zones, part) == ALLOWED[part]


@pytest.mark.parametrize("part", ALLOWED)
def test_with_a_key_a_function_may_use_it_and_nothing_else(platform: Template, part: str) -> None:
    """What is stored is read and written as before; the key opens nothing more."""
    assert allowed(platform, part) == ALLOWED[part] | USE_OF_THE_KEY


def test_keys_are_written_with_one_grant_more_and_without_it_by_no_function(
    template: Template, synthesise: Synthesise
) -> None:
    """The console of a stage without `console_keys` could not make a key, whoever it believes."""
    with_keys = synthesise(("console_keys", True))
    assert allowed(with_keys, "Service") - allowed(template, "Service") == {("s3:PutObject", "bucket/default/keys/*")}
    assert allowed(with_keys, "Journal") == allowed(template, "Journal")
    functions = [of(each, "Service", "AWS::Lambda::Function") for each in (template, with_keys)]
    assert [each["Environment"]["Variables"]["SIGLA_CONSOLE_KEYS"] for each in functions] == ["false", "true"]


@pytest.mark.parametrize("more", [{"console": "false"}, {"auth": "none"}])
def test_keys_in_the_console_need_a_console_and_keys(more: dict[str, str]) -> None:
    with pytest.raises(InvalidSetting, match=r"^console_keys are pages of the console"):
        Settings.read({"console_keys": "true", **more})


def test_a_function_wraps_data_keys_with_the_keys_that_are_named_and_no_others(all_on: Template) -> None:
    """Any client that may write KEKs names a key: what it may be is said here alone, and the journal needs none."""
    wrapping = {(f"kms:{action}", arn) for action in ("Decrypt", "Encrypt") for arn in KEK_KEYS}
    of_kms = {part: {each for each in allowed(all_on, part) if each[0].startswith("kms:")} for part in ALONE}
    assert of_kms == {"Service": wrapping, "Journal": set()}
    (given,) = [each for each in statements(all_on, "Service") if "kms:Encrypt" in as_list(each["Action"])]
    assert "Condition" not in given


ALONE = ("Service", "Journal")
"""The functions of a registry without zones."""


def test_without_zones_the_others_may_do_the_same(template: Template) -> None:
    assert {part: allowed(template, part) for part in ("Service", "Journal")} == {
        part: ALLOWED[part] for part in ("Service", "Journal")
    }


def test_the_heartbeat_writes_the_directory_of_zones_and_no_other_row(zones: Template) -> None:
    """Whatever a zone's function answers, it cannot be made to change what is registered."""
    (rows,) = [each for each in statements(zones, "Heartbeat") if each["Action"] == "dynamodb:UpdateItem"]
    assert rows["Condition"] == {"ForAllValues:StringEquals": {"dynamodb:LeadingKeys": [keys.zones_pk("default")]}}


@pytest.mark.parametrize("part", [*KEEPERS, "Heartbeat"])
def test_a_function_can_tell_a_bucket_without_an_identity_from_one_that_is_silent(zones: Template, part: str) -> None:
    """Without leave to list, S3 answers 403 where an object is missing, and a read names no prefix.

    Source: Amazon S3 API Reference, GetObject, "Permissions".
    """
    (given,) = [each for each in statements(zones, part) if each["Action"] == "s3:ListBucket"]
    ((operator, condition),) = given["Condition"].items()
    assert (written(given["Resource"]).endswith(".Arn>"), operator.endswith("IfExists")) == (True, True)
    assert condition.keys() == {"s3:prefix"}


def test_the_heartbeat_lists_nothing_but_the_identity(zones: Template) -> None:
    """No name of a schema is any business of it."""
    (given,) = [each for each in statements(zones, "Heartbeat") if each["Action"] == "s3:ListBucket"]
    assert given["Condition"] == {"StringEqualsIfExists": {"s3:prefix": [keys.identity_object("default")]}}


def test_lambda_makes_network_interfaces_and_the_code_in_it_does_not(zones: Template) -> None:
    """What the role must allow to Lambda, on anything, is denied to whatever runs in the function."""
    from sigla.cdk.service import INTERFACES

    told = statements(zones, "ZoneUse1Az1Service")
    (denied,) = [each for each in told if each["Effect"] == "Deny"]
    (given,) = [each for each in told if each["Effect"] == "Allow" and each["Resource"] == "*"]
    assert (denied["Action"], denied["Resource"]) == (given["Action"], "*")
    assert set(as_list(denied["Action"])) == set(INTERFACES)
    ((operator, code),) = denied["Condition"].items()
    assert (operator, written(code["lambda:SourceFunctionArn"])) == (
        "ArnLike",
        "arn:<AWS::Partition>:lambda:*:*:function:*",
    )


@pytest.mark.parametrize("part", KEEPERS)
def test_a_function_reads_whose_its_data_is_and_cannot_change_it(zones: Template, part: str) -> None:
    """One that claimed what it finds would claim an empty table, too."""
    told = {each["Sid"]: each for each in statements(zones, part) if each["Effect"] == "Allow"}
    assert told["Identity"]["Action"] == "dynamodb:BatchGetItem"
    whose = "*" if part == "Journal" else "default"
    assert list(told["Identity"]["Condition"].values()) == [{"dynamodb:LeadingKeys": [whose]}]
    assert ("s3:GetObject", f"bucket/{keys.identity_object(whose)}") in allowed(zones, part)
    puts = [place for action, place in allowed(zones, part) if action == "s3:PutObject"]
    assert not any(fnmatchcase(f"bucket/{keys.identity_object('default')}", place) for place in puts)
    (rows,) = told["Rows"]["Condition"]["ForAllValues:StringLike"]["dynamodb:LeadingKeys"]
    assert not fnmatchcase(keys.identity_pk("default"), rows)


@pytest.mark.parametrize("part", ["Service", "Journal"])
def test_a_function_sees_no_other_registry(other: Template, part: str) -> None:
    """Registries may share a table and a bucket; one that is broken into does not give the others away."""
    given = {each.get("Sid"): each for each in statements(other, part)}
    assert given["Rows"]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["payments#*"]}}
    assert given["Finding"]["Condition"] == {"StringLikeIfExists": {"s3:prefix": ["payments/*"]}}
    objects = [resource for action, resource in allowed(other, part) if action in ("s3:GetObject", "s3:PutObject")]
    assert {resource.split("/")[1] for resource in objects} == {"payments"}


def test_no_role_may_do_everything_or_anything_to_everything(every_template: list[Template]) -> None:
    """Only traces have no ARN to name, and interfaces that Lambda has not made yet."""
    from sigla.cdk.service import INTERFACES

    for template in every_template:
        for policy in all_of(template, "AWS::IAM::Policy"):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = set(as_list(statement["Action"]))
                assert not [action for action in actions if "*" in action]
                everywhere = "*" in as_list(statement["Resource"])
                assert not everywhere or actions in (TRACES, set(INTERFACES))


TRACES = {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def test_nobody_calls_a_function_but_its_doors_and_its_clock(template: Template, other: Template) -> None:
    """The gateway for this API, and EventBridge for this rule: neither for other callers of theirs."""
    for stack in (template, other):
        callers = all_of(stack, "AWS::Lambda::Permission")
        assert {each["Principal"] for each in callers} == {"apigateway.amazonaws.com", "events.amazonaws.com"}
        assert {each["Action"] for each in callers} == {"lambda:InvokeFunction"}
        assert all("SourceArn" in each for each in callers)


def test_a_zone_is_asked_by_its_url_and_by_the_heartbeat(zones: Template) -> None:
    """And the heartbeat by the zone's clock. Each permission is the zone's own."""
    (role,) = [name for name in ids(zones, "AWS::IAM::Role") if name.startswith("Heartbeat")]
    callers = all_in(zones, "ZoneUse1Az1", "AWS::Lambda::Permission")
    assert Counter(written(each["Principal"]) for each in callers) == Counter(
        {"*": 2, f"<{role}.Arn>": 1, "events.amazonaws.com": 1}
    )
    (clock,) = [each for each in callers if each["Principal"] == "events.amazonaws.com"]
    assert mentioned(clock["FunctionName"]) == set(ids_in(zones, "Heartbeat", "AWS::Lambda::Function"))
    assert mentioned(clock["SourceArn"]) == set(ids_in(zones, "ZoneUse1Az1", "AWS::Events::Rule"))


def test_only_lambda_and_the_gateway_take_a_role(every_template: list[Template]) -> None:
    """And where there are jobs, what runs them and what starts them."""
    for template in every_template:
        trusted = [each["AssumeRolePolicyDocument"]["Statement"] for each in all_of(template, "AWS::IAM::Role")]
        services = {statement["Principal"]["Service"] for statements in trusted for statement in statements}
        has_jobs = "AWS::EMRServerless::Application" in kinds(template)
        besides = {"emr-serverless.amazonaws.com", "scheduler.amazonaws.com"} if has_jobs else set()
        assert services <= {"lambda.amazonaws.com", "apigateway.amazonaws.com"} | besides


@pytest.mark.parametrize("part", KEEPERS)
def test_what_the_adapters_call_is_allowed(zones: Template, part: str) -> None:
    """A call without a grant would be found by the first customer."""
    files = [path for room in ROOMS_OF_AWS for path in (SIGLA / room).rglob("*.py")]
    nodes = [node for path in files for node in ast.walk(ast.parse(path.read_text()))]
    words = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    needed = set().union(*(NEEDS[word] for word in words & NEEDS.keys()))
    assert needed
    assert needed <= {action for action, _ in allowed(zones, part)}
    assert not words & {"delete_object", "delete_objects"}
