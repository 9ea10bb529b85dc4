"""What CloudFormation would refuse is found without an account: cfn-lint over every template that tests made."""

import json

import pytest
from cfnlint.api import lint
from cfnlint.config import ManualArgs

from tests.infra.reading import Template

# Zones are of a region; so are the templates.
REGIONS = ["us-east-1"]


def errors(template: Template) -> list[str]:
    """What cfn-lint calls an error, each with the place where it is."""
    found = lint(json.dumps(template), config=ManualArgs(regions=REGIONS))
    return [f"{each.rule.id} {each.message}: {each.path}" for each in found if each.rule.severity == "error"]


# Together they have every type and every setting that others have; those for LocalStack are LocalStack's to judge.
@pytest.mark.parametrize(
    "stack", ["template", "all_on", "zones", "private", "jobs", "platform", "private_only", "shared_network"]
)
def test_cloudformation_has_nothing_against_a_template(stack: str, request: pytest.FixtureRequest) -> None:
    """A property that it does not know fails a deployment after minutes, and leaves what it had made."""
    assert errors(request.getfixturevalue(stack)) == []
