"""What CloudFormation would refuse is found without an account: cfn-lint over every template that tests made."""

import json

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infra.reading import Template

# Zones are of a region; so are the templates.
REGIONS = ["us-east-1"]


def errors(template: Template) -> list[str]:
    """What cfn-lint calls an error, each with the place where it is; warnings and advice are for a person to read."""
    found = lint(json.dumps(template), config=ManualArgs(regions=REGIONS, ignore_checks=["W", "I"]))
    return [f"{each.rule.id} {each.message}: {each.path}" for each in found]


# Together they have every type and every setting that others have; those for LocalStack are LocalStack's to judge.
@pytest.mark.parametrize(
    "stack", ["template", "all_on", "zones", "private", "jobs", "platform", "private_only", "shared_network"]
)
def test_cloudformation_has_nothing_against_a_template(stack: str, request: pytest.FixtureRequest) -> None:
    """A property that it does not know fails a deployment after minutes, and leaves what it had made."""
    assert errors(request.getfixturevalue(stack)) == []


def test_what_cloudformation_does_not_know_is_found(template: Template) -> None:
    """A check that never complains would not be missed."""
    (bucket,) = [name for name, each in template["Resources"].items() if each["Type"] == "AWS::S3::Bucket"]
    broken = json.loads(json.dumps(template))
    broken["Resources"][bucket]["Properties"]["Versions"] = True
    (found,) = errors(broken)
    assert "Versions" in found
