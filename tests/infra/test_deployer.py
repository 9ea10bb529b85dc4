"""What deploying needs: an IAM policy with something for everything in the templates, and nothing that loses data."""

import json
import subprocess
import sys
from collections.abc import Callable
from fnmatch import fnmatchcase
from functools import cache
from typing import Any

import botocore.session
import pytest

from infra import deployer
from tests.infra.reading import Template, as_list, kinds

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


# Of API Gateway: what is asked besides the method, where something says who may come in.
GATEWAY = {"GET", "POST", "PUT", "PATCH", "DELETE"}
GATEWAY |= {"CreateAccessAssociation", "RejectAccessAssociation", "UpdateDomainNamePolicy", "UpdateRestApiPolicy"}


def policies(stack: str = "sigla") -> dict[str, Any]:
    """Both documents as one."""
    documents = (deployer.policy(stack), deployer.zones_policy(stack))
    return {"Statement": [statement for each in documents for statement in each["Statement"]]}


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
    """Names begin with the stack's, or are nobody's to know."""
    service, actions = deployer.ACTIONS[kind]
    places = [place.format(stack="payments", bucket="payments") for place in deployer.PLACES[service]]
    policy = policies("payments")
    assert all(allows(policy, f"{service}:{action}", place + "x") for action in actions for place in places)


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


def test_who_has_no_zones_needs_no_leave_for_networks(without_zones: list[Template]) -> None:
    """One of the two documents is enough, and says nothing of networks."""
    services = {deployer.ACTIONS[kind][0] for template in without_zones for kind in kinds(template)}
    assert not services & set(deployer.OF_ZONES)
    said = {action.split(":")[0] for each in deployer.policy()["Statement"] for action in as_list(each["Action"])}
    assert not said & set(deployer.OF_ZONES)


def test_who_deploys_zones_touches_nothing_that_computes() -> None:
    """Networks have no names to bind it to; but machines, disks and images are none of its business."""
    policy = deployer.zones_policy()
    subnet, machine = (f"arn:aws:ec2:eu-west-1:111122223333:{kind}/x-1" for kind in ("subnet", "instance"))
    assert allows(policy, "ec2:DeleteSubnet", subnet)
    for action in ("RunInstances", "TerminateInstances", "DeleteTags", "CreateTags", "ModifyInstanceAttribute"):
        assert not allows(policy, f"ec2:{action}", machine)
    assert not allows(policy, "ec2:CreateRoute", subnet.replace("subnet", "route-table"))


def test_roles_go_to_functions_and_to_the_gateway_only() -> None:
    """A role that may be passed to anything is a way to everything."""
    (passing,) = [each for each in deployer.policy()["Statement"] if each["Action"] == "iam:PassRole"]
    assert passing["Condition"]["StringEquals"]["iam:PassedToService"] == [
        "lambda.amazonaws.com",
        "apigateway.amazonaws.com",
    ]
    assert passing["Resource"] == "arn:*:iam::*:role/sigla-*"


@pytest.mark.parametrize("made", [deployer.policy, deployer.zones_policy])
def test_it_fits_into_a_managed_policy(made: Callable[[str], Any]) -> None:
    assert len(json.dumps(made("x" * 64), separators=(",", ":"))) <= LONGEST


@pytest.mark.parametrize("words, made", [([], deployer.policy), (["--zones"], deployer.zones_policy)])
def test_the_command_prints_it(words: list[str], made: Callable[[str], Any]) -> None:
    """As `aws iam create-policy` takes it."""
    command = [sys.executable, "-m", "infra.deployer", *words, "payments"]
    printed = subprocess.run(command, capture_output=True, text=True, check=True).stdout
    assert json.loads(printed) == made("payments")
