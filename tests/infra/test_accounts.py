"""The account that a deployment goes to: what it tells of stacks, and why not where it does not, in a sentence."""

import os
import re
from collections.abc import Iterator
from pathlib import Path

import boto3
import pytest

from sigla.delivery.accounts import Aws, Unreachable, region
from sigla.deployment.targets import Stack
from tests.contract.engines import REGION
from tests.infra.cloudformation import XMLNS, answering, described, missing, refused

IDENTITY = "c" * 32

_LISTED = """<member><StackId>arn:{}</StackId><StackName>registry</StackName><StackStatus>{}</StackStatus>
<CreationTime>2026-11-20T00:00:00Z</CreationTime><DeletionTime>2026-11-2{}T00:00:00Z</DeletionTime>
<TemplateDescription>{}</TemplateDescription></member>"""
LISTED = f"""
<ListStacksResponse {XMLNS}><ListStacksResult><StackSummaries>
{_LISTED.format("older", "DELETE_COMPLETE", 2, "Sigla, a schema registry: orders")}
{_LISTED.format("old", "DELETE_COMPLETE", 1, "Sigla, a schema registry: orders")}
{_LISTED.format("unknown", "DELETE_COMPLETE", 3, "something else")}
{_LISTED.format("unknown", "CREATE_COMPLETE", 3, "Sigla, a schema registry: orders")}
</StackSummaries></ListStacksResult></ListStacksResponse>"""

THERE = described("registry", {"Identity": IDENTITY})
OF_STACKS = {
    "registry": THERE,
    "arn:old": described("registry", {"Identity": IDENTITY}, "DELETE_COMPLETE"),
    "arn:older": described("registry", {"Identity": "d" * 32}),
    "other": missing("other"),
    "secret": refused("AccessDenied", "You may not\nask.", 403),
}
CALLER = """<GetCallerIdentityResponse xmlns="https://sts.amazonaws.com/doc/2011-06-15/"><GetCallerIdentityResult>
<Account>111122223333</Account></GetCallerIdentityResult></GetCallerIdentityResponse>"""
OF_ACTIONS = {"GetCallerIdentity": (200, CALLER), "DescribeStacks": THERE, "ListStacks": (200, LISTED)}


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """It knows a stack that is there, one that is not, one that a caller may not ask for, and deleted ones."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    with answering(OF_STACKS.__getitem__, OF_ACTIONS.__getitem__) as endpoint:
        for service in ("CLOUDFORMATION", "STS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
        yield


@pytest.mark.usefixtures("cloudformation")
def test_the_account_tells_of_a_stack_or_says_why_not() -> None:
    """A stack that these credentials may not ask for is not a missing one."""
    assert Aws(REGION).stack("registry") == Stack("CREATE_COMPLETE", {"Identity": IDENTITY}, "registry")
    assert Aws(REGION).stack("other") is None
    with pytest.raises(Unreachable) as forbidden:
        Aws(REGION).stack("secret")
    assert str(forbidden.value).startswith(
        "CloudFormation did not describe the stack secret: An error occurred (AccessD"
    )
    assert "\n" not in str(forbidden.value)


@pytest.mark.usefixtures("cloudformation")
def test_the_account_tells_who_has_an_identity_and_who_had_it_last() -> None:
    """CloudFormation remembers for 90 days what it deleted, by the stack's id."""
    bearing = Aws(REGION).with_identity(IDENTITY)
    assert [(stack.name, stack.status) for stack in bearing] == [
        ("registry", "CREATE_COMPLETE"),
        ("registry", "DELETE_COMPLETE"),
    ]
    assert Aws(REGION).with_identity("e" * 32) == []


@pytest.mark.usefixtures("cloudformation")
def test_the_account_is_that_of_the_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has none is told so before anything is asked of a stack."""
    assert Aws(REGION).number() == "111122223333"
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "")
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with pytest.raises(Unreachable, match="AWS did not identify these credentials: Unable to locate"):
        Aws(REGION).number()


def test_the_region_that_is_asked_is_the_one_that_cdk_deploys_to(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """Else another region's stack would be compared, which is not there, and anything would do."""
    assert region({"AWS_REGION": "eu-west-1", "AWS_DEFAULT_REGION": "us-east-1"}) == "eu-west-1"
    assert region({"AWS_DEFAULT_REGION": "us-east-1"}) == "us-east-1"
    monkeypatch.setenv("AWS_CONFIG_FILE", str(tmp_path / "none"))
    for name in [each for each in os.environ if each.endswith("_REGION")]:
        monkeypatch.delenv(name)
    with pytest.raises(Unreachable, match="No region"):
        region({})


@pytest.mark.parametrize(
    "variables, config, told",
    [
        ({"AWS_PROFILE": "typo"}, "", "The config profile (typo) could not be found."),
        ({}, "[profile x", "Unable to parse config file: "),
        ({"AWS_REGION": REGION, "AWS_ENDPOINT_URL": "nonsense"}, "", "Invalid endpoint: nonsense."),
        (
            {"AWS_REGION": REGION},
            "[default]\ncredential_process = /nowhere/x\n",
            "No such file or directory: '/nowhere",
        ),
        ({"AWS_REGION": REGION}, "[default]\ncredential_process = echo hello\n", "Expecting value: line 1"),
    ],
)
def test_what_is_wrong_on_this_machine_is_a_sentence(
    variables: dict[str, str], config: str, told: str, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    """A profile with a typo and a program for credentials that is not there were a trace of thirty lines."""
    for name in [each for each in os.environ if each.startswith("AWS_")]:
        monkeypatch.delenv(name)
    (tmp_path / "config").write_text(config)
    for name, value in {
        "AWS_CONFIG_FILE": str(tmp_path / "config"),
        "AWS_EC2_METADATA_DISABLED": "true",
        **variables,
    }.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with pytest.raises(Unreachable) as refused:
        Aws(region(os.environ)).number()
    assert told in str(refused.value)
    assert "\n" not in str(refused.value)


@pytest.mark.parametrize("page", ["<html><p>Log in</p></html>", "<a/>", "{}", ""])
def test_an_answer_with_200_that_is_not_of_aws_is_a_sentence(monkeypatch: pytest.MonkeyPatch, page: str) -> None:
    """It was a KeyError, of a part that every answer of AWS has."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    with answering(lambda _: (200, page), lambda _: (200, page)) as endpoint:
        for service in ("CLOUDFORMATION", "STS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
        for ask in (
            lambda: Aws(REGION).number(),
            lambda: Aws(REGION).stack("x"),
            lambda: Aws(REGION).with_identity(""),
        ):
            with pytest.raises(Unreachable) as refused:
                ask()
            assert "\n" not in str(refused.value)
            assert re.search(r"Unable to parse|The answer does not come from AWS", str(refused.value))


def test_an_answer_that_is_not_of_aws_is_a_sentence(monkeypatch: pytest.MonkeyPatch) -> None:
    """As a proxy gives it, or the page of a hotel that wants a password first."""
    for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"):
        monkeypatch.setenv(name, "x")
    monkeypatch.setattr(boto3, "DEFAULT_SESSION", None)
    page = (500, "<!doctype html><p>Log in")
    with answering(lambda _: page, lambda _: page) as endpoint:
        for service in ("CLOUDFORMATION", "STS"):
            monkeypatch.setenv(f"AWS_ENDPOINT_URL_{service}", endpoint)
        with pytest.raises(Unreachable, match="AWS did not identify these credentials: Unable to parse"):
            Aws(REGION).number()
        with pytest.raises(Unreachable, match="CloudFormation did not describe the stack x: Unable to parse"):
            Aws(REGION).stack("x")
