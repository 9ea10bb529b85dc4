"""What CloudFormation would refuse is found without an account: by cfn-lint, in the process that made the templates."""

import json

import pytest

from tests.infra.conftest import EXAMPLES
from tests.infra.reading import Template

# Zones are of a region; so are the templates.
REGIONS = ["us-east-1"]


def errors(template: Template) -> list[str]:
    """What cfn-lint calls an error, each with the place where it is; warnings and advice are for a person to read."""
    # It takes seconds to import, which other workers than the one of these tests need not wait.
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    found = lint(json.dumps(template), config=ManualArgs(regions=REGIONS, ignore_checks=["W", "I"]))
    return [f"{each.rule.id} {each.message}: {each.path}" for each in found]


# One that has something of each kind; what the others make of it otherwise is for the long attacks.
FULL = "everything"


@pytest.mark.parametrize(
    "name", [FULL, *(pytest.param(name, marks=pytest.mark.soak) for name in EXAMPLES if name != FULL)]
)
def test_cloudformation_has_nothing_against_an_example(examples: dict[str, Template], name: str) -> None:
    """A property that it does not know fails a deployment after minutes, and leaves what it had made."""
    assert errors(examples[name]) == []


# What no example has: a bucket and a table with a key, and networks that another account shares.
@pytest.mark.parametrize("stack", ["platform", "shared_network"])
def test_nor_against_what_is_in_no_example(stack: str, request: pytest.FixtureRequest) -> None:
    assert errors(request.getfixturevalue(stack)) == []


def test_what_cloudformation_does_not_know_is_found() -> None:
    """A check that never complains would not be missed."""
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"Versions": True}}
    (found,) = errors({"Resources": {"Bodies": bucket}})
    assert "Versions" in found
