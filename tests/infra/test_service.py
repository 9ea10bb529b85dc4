"""What the function is, what it is told, and what it may do: the exact list."""

import ast
from pathlib import Path

import pytest

from infra import packages
from sigla.settings import PREFIX, described
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, all_of, as_list, ids, kinds, only, written

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


def statements(template: Template) -> dict[str, dict[str, object]]:
    """The statements of the function's role by name."""
    (policy,) = [each for each in all_of(template, "AWS::IAM::Policy") if "Service" in each["PolicyName"]]
    return {each.get("Sid", "Unnamed"): each for each in policy["PolicyDocument"]["Statement"]}


def allowed(template: Template) -> set[tuple[str, str]]:
    """(action, resource) of all that is allowed."""
    words = {"AWS::S3::Bucket": "bucket", "AWS::DynamoDB::Table": "table", "AWS::Logs::LogGroup": "log"}
    names = {f"<{id}.Arn>": word for kind, word in words.items() for id in ids(template, kind) if "Rest" not in id}

    def named(arn: str) -> str:
        found = next((full for full in names if arn.startswith(full)), "")
        return names.get(found, "") + arn.removeprefix(found)

    return {
        (action, named(written(resource)))
        for statement in statements(template).values()
        for action in as_list(statement["Action"])
        for resource in as_list(statement["Resource"])
    }


def test_the_function_may_do_this_and_nothing_else(template: Template) -> None:
    """Every grant there is. It removes no object, and it reads keys but makes none."""
    rows = ("BatchGet", "BatchWrite", "ConditionCheck", "Delete", "Get", "Put", "Update")
    assert allowed(template) == {
        *((f"dynamodb:{row}Item", "table") for row in rows),
        ("dynamodb:Query", "table"),
        ("s3:GetObject", "bucket/default/schemas/*"),
        ("s3:GetObject", "bucket/default/guids/*"),
        ("s3:GetObject", "bucket/default/keys/*"),
        ("s3:PutObject", "bucket/default/schemas/*"),
        ("s3:PutObject", "bucket/default/guids/*"),
        ("s3:ListBucket", "bucket"),
        ("logs:CreateLogStream", "log"),
        ("logs:PutLogEvents", "log"),
    }


def test_the_function_sees_no_other_registry(other: Template) -> None:
    """Registries may share a table and a bucket; one that is broken into does not give the others away."""
    given = statements(other)
    assert given["Rows"]["Condition"] == {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["payments#*"]}}
    assert given["Finding"]["Condition"] == {"StringLikeIfExists": {"s3:prefix": ["payments/*"]}}
    objects = [resource for action, resource in allowed(other) if action in ("s3:GetObject", "s3:PutObject")]
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


def test_what_the_adapters_call_is_allowed(template: Template) -> None:
    """A call that nobody granted would be found by the first customer."""
    nodes = [node for path in (SIGLA / "aws").glob("*.py") for node in ast.walk(ast.parse(path.read_text()))]
    words = {node.attr for node in nodes if isinstance(node, ast.Attribute)}
    words |= {node.value for node in nodes if isinstance(node, ast.Constant) and isinstance(node.value, str)}
    needed = set().union(*(NEEDS[word] for word in words & NEEDS.keys()))
    assert needed
    assert needed <= {action for action, _ in allowed(template)}
    assert not words & {"delete_object", "delete_objects"}


def test_the_function_is_told_settings_that_there_are(template: Template) -> None:
    """A variable that is no setting stops the function at its start."""
    told = set(only(template, "AWS::Lambda::Function")["Environment"]["Variables"])
    coming = {f"{PREFIX}TABLE", f"{PREFIX}BUCKET"}
    assert told - coming <= {variable for variable, _ in described()}
    assert {f"{PREFIX}REGISTRY_NAME", f"{PREFIX}AUTH"} | coming <= told


def test_the_registry_is_closed_unless_somebody_opens_it(template: Template, other: Template) -> None:
    """Two of its doors are on the internet."""
    variable = f"{PREFIX}AUTH"
    assert only(template, "AWS::Lambda::Function")["Environment"]["Variables"][variable] == "keys"
    assert only(other, "AWS::Lambda::Function")["Environment"]["Variables"][variable] == "none"


def test_the_function_is_python_on_arm_started_from_a_snapshot(template: Template) -> None:
    function = only(template, "AWS::Lambda::Function")
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert (function["MemorySize"], function["Handler"]) == (512, "handler.handler")
    assert function["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    # Longer than a write may take to win its races, shorter than the gateway waits.
    assert 20 < function["Timeout"] < 29
    assert function["ReservedConcurrentExecutions"] == 100


def test_front_doors_call_the_published_version(every_template: list[Template]) -> None:
    """Only published versions have snapshots, and only an alias can be moved without anyone noticing."""
    for template in every_template:
        (alias,) = ids(template, "AWS::Lambda::Alias")
        assert {written(each["FunctionName"]) for each in all_of(template, "AWS::Lambda::Permission")} == {f"<{alias}>"}
        for method in all_of(template, "AWS::ApiGateway::Method"):
            assert f"<{alias}>" in written(method["Integration"]["Uri"])


def test_logs_end(every_template: list[Template]) -> None:
    """Logs that nobody throws away are the surprise on the bill."""
    for template in every_template:
        assert {each["RetentionInDays"] for each in all_of(template, "AWS::Logs::LogGroup")} == {30}


def test_lambdas_own_lines_are_left_out(template: Template, all_on: Template) -> None:
    """Three lines a request that say less than ours would cost more than the request."""
    assert only(template, "AWS::Lambda::Function")["LoggingConfig"]["SystemLogLevel"] == "WARN"
    assert only(all_on, "AWS::Lambda::Function")["LoggingConfig"]["SystemLogLevel"] == "INFO"


def test_on_localstack_it_is_this_machine_that_runs_the_function(local: Template) -> None:
    """And what LocalStack would take and not do is not asked of it."""
    function = only(local, "AWS::Lambda::Function")
    assert function["Architectures"] == [packages.host()]
    assert not {"SnapStart", "ReservedConcurrentExecutions"} & function.keys()


def test_no_code_but_ours_and_no_network_of_its_own(every_template: list[Template]) -> None:
    """A custom resource could delete what the storage protects; a gateway or an endpoint has a price by the hour."""
    for template in every_template:
        assert not [
            kind for kind in kinds(template) if kind.startswith(("Custom::", "AWS::CloudFormation::", "AWS::EC2"))
        ]
        assert len(ids(template, "AWS::Lambda::Function")) == 1


def test_a_change_of_the_packages_is_a_new_version(
    template: Template, synthesise: Synthesise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the alias would go on with a version that has the old ones."""
    monkeypatch.setattr(packages, "layer", lambda _: packages.Package("layer", "f" * 64, lambda _: None))
    changed = synthesise(("log_requests", "true"))  # asked in its own words, so that it is made anew
    assert ids(changed, "AWS::Lambda::Version") != ids(template, "AWS::Lambda::Version")
    assert only(changed, "AWS::Lambda::Function")["Code"] == only(template, "AWS::Lambda::Function")["Code"]
