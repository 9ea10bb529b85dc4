"""What deploying needs: an IAM policy with something for everything in the templates, and nothing that loses data."""

import json
import re
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import botocore.session
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from infra import deployer
from infra.deployer_statements import Deployed
from sigla.deployment import key_policy
from tests.infra.conftest import BOUNDARY, KEY
from tests.infra.reading import Template, as_list, ids, kinds

LONGEST = 6_144
"""Characters of a managed policy, white space left out."""

# Where IAM's word for an action is not that of the call. API Gateway's are methods of HTTP.
S3_CALLS = {
    "PutEncryptionConfiguration": "PutBucketEncryption",
    "PutBucketPublicAccessBlock": "PutPublicAccessBlock",
}


def allows(policy: dict[str, Any], action: str, resource: str) -> bool:
    """Whether a statement allows it, conditions left aside."""
    return any(
        any(fnmatchcase(action, pattern) for pattern in as_list(statement["Action"]))
        and any(fnmatchcase(resource, pattern) for pattern in as_list(statement["Resource"]))
        for statement in policy["Statement"]
    )


def said(policy: dict[str, Any]) -> set[str]:
    """The services that it speaks of."""
    return {action.split(":")[0] for each in policy["Statement"] for action in as_list(each["Action"])}


# Of API Gateway: what is asked besides the method, where something says who may come in.
GATEWAY = {"GET", "POST", "PUT", "PATCH", "DELETE"}
GATEWAY |= {"CreateAccessAssociation", "RejectAccessAssociation", "UpdateDomainNamePolicy", "UpdateRestApiPolicy"}
GATEWAY |= {"SetWebACL"}


BOUNDED = Deployed("payments", iam_path="/teams/data/", boundary=BOUNDARY, key=KEY)


def policies(stack: str = "sigla") -> dict[str, Any]:
    """All documents as one."""
    of = Deployed(stack, key=KEY)
    return {"Statement": [statement for made in deployer.DOCUMENTS.values() for statement in made(of)["Statement"]]}


@cache
def calls(service: str) -> set[str]:
    """What a service can be asked; tags of buckets are S3 Control's."""
    session = botocore.session.get_session()
    models = (service, "s3control") if service == "s3" else (service,)
    return {name for model in models for name in session.get_service_model(model).operation_names}


def test_there_is_something_for_every_type_in_a_template(every_template: list[Template]) -> None:
    """A type that is not in the table would be found by whoever deploys with this policy; one too many is not asked."""
    assert set().union(*map(kinds, every_template)) == deployer.ACTIONS.keys()


@pytest.mark.parametrize("kind", deployer.ACTIONS)
def test_what_a_type_needs_is_allowed_on_what_the_stack_makes(kind: str) -> None:
    """Names begin with the stack's, or cannot be known before."""
    service, actions = deployer.ACTIONS[kind]
    places = [place.format_map(Deployed("payments").patterns) for place in deployer.PLACES[service]]
    policy = policies("payments")
    assert all(allows(policy, f"{service}:{action}", place + "x") for action in actions for place in places)


# How long a name is at most that CloudFormation gives, and the ARN around it.
NAMED: dict[str, tuple[int, str]] = {
    "AWS::CloudWatch::Alarm": (255, "arn:aws:cloudwatch:eu-west-1:111122223333:alarm:{}"),
    "AWS::DynamoDB::Table": (255, "arn:aws:dynamodb:eu-west-1:111122223333:table/{}"),
    "AWS::Events::Rule": (64, "arn:aws:events:eu-west-1:111122223333:rule/{}"),
    "AWS::IAM::Role": (64, "arn:aws:iam::111122223333:role/{}"),
    "AWS::Lambda::Function": (64, "arn:aws:lambda:eu-west-1:111122223333:function:{}"),
    "AWS::Logs::LogGroup": (512, "arn:aws:logs:eu-west-1:111122223333:log-group:{}"),
    "AWS::S3::Bucket": (63, "arn:aws:s3:::{}"),
    "AWS::Scheduler::Schedule": (64, "arn:aws:scheduler:eu-west-1:111122223333:schedule/default/{}"),
    "AWS::SNS::Topic": (256, "arn:aws:sns:eu-west-1:111122223333:{}"),
    "AWS::SQS::Queue": (80, "arn:aws:sqs:eu-west-1:111122223333:{}"),
}
stack_names = st.from_regex(r"[A-Za-z][A-Za-z0-9-]{0,127}", fullmatch=True)


def given_name(stack: str, resource: str, most: int, kept: int) -> str:
    """As CloudFormation makes it: two halves of what is left, of which one takes what the other does not need."""
    stack = re.sub("-{2,}", "-", stack)
    free = most - kept
    of_stack = max(free // 2, free - len(resource))
    begun = stack[:of_stack]
    return f"{begun}-{resource[: free - len(begun)]}-{'X1' * 6}"


@pytest.fixture(scope="module")
def named(every_template: list[Template]) -> list[tuple[str, str]]:
    """What is named by CloudFormation: types and logical ids."""
    found = {(kind, name) for template in every_template for kind in NAMED for name in ids(template, kind)}
    assert {kind for kind, _ in found} == NAMED.keys()
    return list({(kind, len(name)): (kind, name) for kind, name in sorted(found)}.values())  # one of each length


@settings(max_examples=30, deadline=None)
@given(stack=stack_names, letters=st.integers(14, 16))
@example(stack="sigla-" + "a" * 63, letters=14)
@example(stack="x" * 128, letters=16)
@example(stack="sigla-a--b-", letters=14)
def test_names_that_cloudformation_cuts_off_are_allowed_as_well(
    named: list[tuple[str, str]], stack: str, letters: int
) -> None:
    """A role of a stack with a long name could else not be made, which is found out by the first deployment."""
    allowed = {service: patterns(stack, service) for service, _ in deployer.ACTIONS.values()}
    for kind, resource in named:
        most, arn = NAMED[kind]
        name = given_name(stack, resource, most, letters)
        assert len(name) <= most
        found = arn.format(name.lower() if kind == "AWS::S3::Bucket" else name)
        assert any(fnmatchcase(found, pattern) for pattern in allowed[deployer.ACTIONS[kind][0]]), found


def patterns(stack: str, service: str) -> list[str]:
    return [place.format_map(Deployed(stack).patterns) for place in deployer.PLACES[service]]


@pytest.mark.parametrize("stack, another", [("sigla", "siglax"), ("sigla-orders", "sigla-orders2"), ("a-", "ab")])
def test_names_of_another_stack_are_not_allowed(stack: str, another: str) -> None:
    """As long as the names are not so long that they are cut off."""
    for kind, (most, arn) in NAMED.items():
        service, _ = deployer.ACTIONS[kind]
        found = arn.format(given_name(another, "Resource", most, 14).lower())
        assert not any(fnmatchcase(found, pattern) for pattern in patterns(stack, service))


def test_who_deploys_can_lose_neither_the_bucket_nor_the_table() -> None:
    """Nor what is in them, nor what protects them; nor touch those of another stack."""
    policy = policies()
    bucket, table = "arn:aws:s3:::sigla-storagebodies-1", "arn:aws:dynamodb:eu-west-1:111122223333:table/sigla-Catalog"
    assert allows(policy, "s3:CreateBucket", bucket)
    assert allows(policy, "dynamodb:CreateTable", table)
    for action in ("DeleteBucket", "DeleteBucketPolicy", "DeleteObject", "DeleteObjectVersion", "PutObject"):
        assert not allows(policy, f"s3:{action}", bucket)
        assert not allows(policy, f"s3:{action}", f"{bucket}/default/schemas/_/0000000001.json")
    for action in ("DeleteTable", "DeleteItem", "PutItem", "GetItem"):
        assert not allows(policy, f"dynamodb:{action}", table)
    assert not allows(policy, "s3:PutBucketPolicy", "arn:aws:s3:::another")
    assert not allows(policy, "dynamodb:UpdateTable", table.replace("sigla", "other"))


def test_every_action_is_one_that_aws_has() -> None:
    """A word that is misspelt allows nothing, and says nothing."""
    for service, actions in deployer.ACTIONS.values():
        if service != "apigateway":
            assert {S3_CALLS.get(action, action) for action in actions} <= calls(service)
        else:
            assert set(actions) <= GATEWAY


@pytest.mark.parametrize("besides, services", [("zones", deployer.OF_ZONES), ("pipelines", deployer.OF_JOBS)])
def test_who_has_neither_zones_nor_jobs_needs_no_leave_for_them(
    without_zones: list[Template], besides: str, services: tuple[str, ...]
) -> None:
    """One of the documents is enough, and says nothing of networks and of applications; the others do."""
    made = {deployer.ACTIONS[kind][0] for template in without_zones for kind in kinds(template)}
    assert not made & set(services)
    assert not said(deployer.policy(Deployed())) & set(services)
    assert said(deployer.DOCUMENTS[besides](Deployed())) >= set(services)


def test_who_deploys_zones_touches_nothing_that_computes() -> None:
    """Networks have no names to bind it to; but it may not touch machines, disks and images."""
    policy = deployer.zones_policy(Deployed())
    subnet, machine = (f"arn:aws:ec2:eu-west-1:111122223333:{kind}/x-1" for kind in ("subnet", "instance"))
    assert allows(policy, "ec2:DeleteSubnet", subnet)
    for action in ("RunInstances", "TerminateInstances", "DeleteTags", "CreateTags", "ModifyInstanceAttribute"):
        assert not allows(policy, f"ec2:{action}", machine)
    assert not allows(policy, "ec2:CreateRoute", subnet.replace("subnet", "route-table"))


@pytest.mark.parametrize(
    "made, services",
    [
        (deployer.policy, ["lambda.amazonaws.com", "apigateway.amazonaws.com"]),
        (deployer.zones_policy, []),
        (deployer.pipelines_policy, ["scheduler.amazonaws.com"]),
    ],
)
def test_roles_go_to_functions_the_gateway_and_schedules_only(
    made: Callable[[Deployed], Any], services: list[str]
) -> None:
    """A role that may be passed to anything is a way to everything; those of jobs are passed by their schedules."""
    passing = [each for each in made(Deployed())["Statement"] if each["Action"] == "iam:PassRole"]
    assert [
        service for each in passing for service in each["Condition"]["StringEquals"]["iam:PassedToService"]
    ] == services
    assert all(each["Resource"] == "arn:*:iam::*:role/sigla-*" for each in passing)


def test_a_stack_touches_no_mapping_of_another_ones_functions_and_no_other_layer(
    every_template: list[Template],
) -> None:
    """A mapping has no name, and a layer that of its resource: any of the account could else be taken away."""
    policy = deployer.policy(Deployed("payments"))
    lambda_ = "arn:aws:lambda:eu-west-1:111122223333"
    mapping = f"{lambda_}:event-source-mapping:00000000-0000-4000-8000-000000000001"
    for action in ("CreateEventSourceMapping", "UpdateEventSourceMapping", "DeleteEventSourceMapping"):
        (bound,) = [each for each in policy["Statement"] if allows({"Statement": [each]}, f"lambda:{action}", mapping)]
        assert bound["Condition"] == {"ArnLikeIfExists": {"lambda:FunctionArn": "arn:*:lambda:*:*:function:payments-*"}}
    layers = {name for template in every_template for name in ids(template, "AWS::Lambda::LayerVersion")}
    assert layers
    for layer in layers:
        assert allows(policy, "lambda:PublishLayerVersion", f"{lambda_}:layer:{layer}")
        assert allows(policy, "lambda:DeleteLayerVersion", f"{lambda_}:layer:{layer}:7")
    assert not allows(policy, "lambda:DeleteLayerVersion", f"{lambda_}:layer:theirs:7")


def test_who_deploys_jobs_neither_runs_them_nor_touches_what_others_schedule() -> None:
    """And makes interfaces only by way of an application."""
    policy = deployer.pipelines_policy(Deployed())
    schedules = "arn:aws:scheduler:eu-west-1:111122223333:schedule/default"
    assert allows(policy, "scheduler:DeleteSchedule", f"{schedules}/sigla-LandSchedule-1")
    assert not allows(policy, "scheduler:DeleteSchedule", f"{schedules}/other")
    for action in ("StartJobRun", "StartApplication", "CancelJobRun", "GetDashboardForJobRun"):
        assert not allows(policy, f"emr-serverless:{action}", "*")
    (interfaces,) = [each for each in policy["Statement"] if each["Action"] == "ec2:CreateNetworkInterface"]
    assert interfaces["Condition"] == {"StringEquals": {"aws:CalledViaLast": "ops.emr-serverless.amazonaws.com"}}


@pytest.mark.parametrize("made", deployer.DOCUMENTS.values())
def test_it_fits_into_a_managed_policy(made: Callable[[Deployed], Any]) -> None:
    """And each statement has a name of its own, of letters and digits."""
    document = made(replace(BOUNDED, stack="x" * 64))
    assert len(json.dumps(document, separators=(",", ":"))) <= LONGEST
    names = [each["Sid"] for each in document["Statement"]]
    assert len(set(names)) == len(names)
    assert all(name.isalnum() for name in names)


def test_with_a_boundary_only_roles_that_it_binds_are_made() -> None:
    """Who deploys could else give a role of the stack anything, and take the boundary off afterwards."""
    policy = deployer.policy(BOUNDED)
    role = "arn:aws:iam::111122223333:role/teams/data/payments-ServiceRole-1"
    bound = {"StringEquals": {"iam:PermissionsBoundary": BOUNDARY}}
    made = ("CreateRole", "PutRolePolicy", "DeleteRolePolicy", "AttachRolePolicy", "PutRolePermissionsBoundary")
    for action in made:
        on_roles = [each for each in policy["Statement"] if f"iam:{action}" in as_list(each["Action"])]
        assert [each["Condition"] for each in on_roles] == [bound]
        assert allows(policy, f"iam:{action}", role)
    assert not allows(policy, "iam:DeleteRolePermissionsBoundary", role)
    assert allows(policy, "iam:DeleteRole", role)
    assert not any("Boundary" in json.dumps(each) for each in deployer.policy(Deployed())["Statement"])


def test_with_a_path_only_roles_below_it_are_made_and_passed() -> None:
    """Organisations give rights by paths: what stands elsewhere belongs to other teams."""
    for made in (deployer.policy, deployer.pipelines_policy):
        policy = made(BOUNDED)
        for action in ("iam:PassRole", "iam:CreateRole"):
            if any(action in as_list(each["Action"]) for each in policy["Statement"]):
                assert allows(policy, action, "arn:aws:iam::111122223333:role/teams/data/payments-x")
                assert not allows(policy, action, "arn:aws:iam::111122223333:role/payments-x")


def test_who_deploys_gives_the_key_to_services_and_changes_nothing_of_it() -> None:
    """The key is the platform's: what it encrypts is lost with it."""
    policy = deployer.key_policy(BOUNDED)
    assert allows(policy, "kms:GenerateDataKey", KEY)
    (given,) = [each for each in policy["Statement"] if each["Action"] == "kms:CreateGrant"]
    assert given["Condition"] == {"Bool": {"kms:GrantIsForAWSResource": "true"}}
    for action in ("ScheduleKeyDeletion", "DisableKey", "PutKeyPolicy", "RetireGrant", "CreateKey"):
        assert not allows(policy, f"kms:{action}", KEY)
    assert not allows(policy, "kms:Decrypt", KEY.replace("0001", "0002"))
    assert {action.partition(":")[2] for action in key_policy.ACTIONS} - calls("kms") == {
        "ReEncryptFrom",
        "ReEncryptTo",
    }


@pytest.mark.parametrize("besides", deployer.DOCUMENTS)
def test_the_command_prints_it(besides: str) -> None:
    """As `aws iam create-policy` takes it."""
    words = [f"--{besides}"] if besides else []
    command = [sys.executable, "-m", "infra.deployer", *words, "--stage-file", "infra/examples/everything.toml"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == deployer.DOCUMENTS[besides](replace(BOUNDED, stack="payments-registry"))


@pytest.mark.parametrize(
    "words, told",
    [
        (["--stage-file", "stages/nowhere.toml"], "Stage file not found: stages/nowhere.toml"),
        (["--key", "sigla"], "The key is missing: name a stage file with platform.key_arn."),
    ],
)
def test_a_policy_that_cannot_be_is_refused_in_a_sentence(words: list[str], told: str) -> None:
    done = subprocess.run([sys.executable, "-m", "infra.deployer", *words], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert told in done.stderr


def test_a_stack_without_rules_of_its_own_needs_its_name_alone() -> None:
    printed = subprocess.run(
        [sys.executable, "-m", "infra.deployer", "payments"], capture_output=True, text=True, check=True
    ).stdout
    assert json.loads(printed) == deployer.policy(Deployed("payments"))
