"""What the functions may do: the exact lists."""

import ast
from pathlib import Path

import pytest

from tests.infra.reading import Template, all_of, as_list, ids, of, written

SIGLA = Path(__file__).parents[2] / "layers" / "sigla" / "python" / "sigla"

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
        ("s3:PutObject", "bucket/default/schemas/*"),
        ("s3:PutObject", "bucket/default/guids/*"),
    },
    "Journal": {
        *ROWS,
        *FOUND_AND_TOLD,
        ("s3:GetObject", "bucket/default/schemas/*"),
        ("s3:GetObject", "bucket/default/journal/*"),
        ("s3:PutObject", "bucket/default/schemas/*"),
        ("s3:PutObject", "bucket/default/guids/*"),
        ("s3:PutObject", "bucket/default/journal/*"),
        ("dynamodb:DescribeStream", "table/stream/*"),
        ("dynamodb:GetRecords", "table/stream/*"),
        ("dynamodb:GetShardIterator", "table/stream/*"),
        ("dynamodb:ListStreams", "table/stream/*"),
        ("sqs:SendMessage", "queue"),
    },
}


def statements(template: Template, part: str) -> list[dict[str, object]]:
    """Of the role of a part's function."""
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

    def named(arn: str) -> str:
        found = next((full for full in names if arn.startswith(full)), "")
        return names.get(found, "") + arn.removeprefix(found)

    return {
        (action, named(written(resource)))
        for statement in statements(template, part)
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


@pytest.mark.parametrize("part", ALLOWED)
def test_a_function_may_do_this_and_nothing_else(template: Template, part: str) -> None:
    """Every grant there is. None removes an object, and none makes a key."""
    assert allowed(template, part) == ALLOWED[part]


@pytest.mark.parametrize("part", ALLOWED)
def test_a_function_sees_no_other_registry(other: Template, part: str) -> None:
    """Registries may share a table and a bucket; one that is broken into does not give the others away."""
    given = {each.get("Sid"): each for each in statements(other, part)}
    assert given["Rows"]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["payments#*"]}}
    assert given["Finding"]["Condition"] == {"StringLikeIfExists": {"s3:prefix": ["payments/*"]}}
    objects = [resource for action, resource in allowed(other, part) if action in ("s3:GetObject", "s3:PutObject")]
    assert {resource.split("/")[1] for resource in objects} == {"payments"}


def test_no_role_may_do_everything_or_anything_to_everything(every_template: list[Template]) -> None:
    """Only traces have no ARN to name."""
    for template in every_template:
        for policy in all_of(template, "AWS::IAM::Policy"):
            for statement in policy["PolicyDocument"]["Statement"]:
                actions = set(as_list(statement["Action"]))
                assert not [action for action in actions if "*" in action]
                everywhere = "*" in as_list(statement["Resource"])
                assert not everywhere or actions == {"xray:PutTraceSegments", "xray:PutTelemetryRecords"}


def test_nobody_calls_a_function_but_its_doors_and_its_clock(template: Template, other: Template) -> None:
    """The gateway for this API, and EventBridge for this rule: neither for whoever asks them to."""
    for stack in (template, other):
        callers = all_of(stack, "AWS::Lambda::Permission")
        assert {each["Principal"] for each in callers} == {"apigateway.amazonaws.com", "events.amazonaws.com"}
        assert {each["Action"] for each in callers} == {"lambda:InvokeFunction"}
        assert all("SourceArn" in each for each in callers)


def test_only_lambda_and_the_gateway_take_a_role(every_template: list[Template]) -> None:
    for template in every_template:
        trusted = [each["AssumeRolePolicyDocument"]["Statement"] for each in all_of(template, "AWS::IAM::Role")]
        services = {statement["Principal"]["Service"] for statements in trusted for statement in statements}
        assert services <= {"lambda.amazonaws.com", "apigateway.amazonaws.com"}


@pytest.mark.parametrize("part", ALLOWED)
def test_what_the_adapters_call_is_allowed(template: Template, part: str) -> None:
    """A call that nobody granted would be found by the first customer."""
    nodes = [node for path in (SIGLA / "aws").glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    words = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    needed = set().union(*(NEEDS[word] for word in words & NEEDS.keys()))
    assert needed
    assert needed <= {action for action, _ in allowed(template, part)}
    assert not words & {"delete_object", "delete_objects"}
