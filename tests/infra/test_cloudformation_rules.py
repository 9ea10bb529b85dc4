"""What CloudFormation would refuse is found without an account: by the rules that CDK brings, and by cfn-lint's own.

CDK asks them of whatever it synthesises for a deployment. Here they are asked once, of all templates: to load them
takes longer than to make a stack.
"""

import json
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from tests.infra.conftest import EXAMPLES, Synthesise
from tests.infra.reading import Template
from tests.infra.test_private_only import COMBINATIONS, combined

# Zones are of a region; so are the templates.
REGION = "us-east-1"

Check = Callable[[Mapping[str, Template]], list[str]]
"""The errors in templates, each with the place where it is; warnings and advice are for a person to read."""


@pytest.fixture(scope="module")
def cdks_rules(cdk: Any, tmp_path_factory: pytest.TempPathFactory) -> Check:
    import jsii

    rules, folder = cdk.CloudFormationValidatePlugin(), tmp_path_factory.mktemp("templates")

    def check(templates: Mapping[str, Template]) -> list[str]:
        stacks = []
        for name, template in templates.items():
            path = folder / f"{name}.template.json"
            path.write_text(json.dumps(template))
            stacks.append(cdk.PolicyValidationStack(stack_construct_path=name, template_path=str(path), region=REGION))

        @jsii.implements(cdk.IPolicyValidationContext)
        class Context:
            @property
            def stack_templates(self) -> list[Any]:
                return stacks

        report = rules.validate(Context())
        return [
            f"{each.rule_name} {each.description}: {where.template_path} {where.resource_logical_id}"
            for each in report.violations
            for where in each.violating_resources
            if each.severity == "error"
        ]

    return check


@pytest.fixture
def cfn_lint() -> Check:
    # It takes seconds to import, which only the long attacks need wait.
    from cfnlint.api import lint
    from cfnlint.config import ManualArgs

    config = ManualArgs(regions=[REGION], ignore_checks=["W", "I"])
    return lambda templates: [
        f"{found.rule.id} {found.message}: {name} {found.path}"
        for name, template in templates.items()
        for found in lint(json.dumps(template), config=config)
    ]


def test_cloudformation_has_nothing_against_any_stack(
    cdks_rules: Check,
    examples: dict[str, Template],
    every_template: list[Template],
    platform_stack: Template,
    synthesise: Synthesise,
) -> None:
    """A property that it does not know fails a deployment after minutes, and leaves what it had made."""
    stacks = {f"stack-{number}": template for number, template in enumerate(every_template)}
    doors = {"-".join(each).replace(" ", "-"): synthesise(*combined(*each)) for each in COMBINATIONS}
    assert cdks_rules(examples | stacks | doors | {"of-two-registries": platform_stack}) == []


@pytest.mark.soak
@pytest.mark.parametrize("name", EXAMPLES)
def test_a_second_checker_has_nothing_against_an_example(
    cfn_lint: Check, examples: dict[str, Template], name: str
) -> None:
    """It is a program of its own, and knows rules that CDK's leave out."""
    assert cfn_lint({name: examples[name]}) == []


# What no example has: a bucket and a table with a key, and networks that another account shares.
@pytest.mark.soak
@pytest.mark.parametrize("stack", ["platform", "shared_network"])
def test_nor_against_what_is_in_no_example(cfn_lint: Check, stack: str, request: pytest.FixtureRequest) -> None:
    assert cfn_lint({stack: request.getfixturevalue(stack)}) == []


@pytest.mark.parametrize("checker", ["cdks_rules", pytest.param("cfn_lint", marks=pytest.mark.soak)])
def test_what_cloudformation_does_not_know_is_found(checker: str, request: pytest.FixtureRequest) -> None:
    """A check that never complains would not be missed."""
    check: Check = request.getfixturevalue(checker)
    bucket = {"Type": "AWS::S3::Bucket", "Properties": {"Versions": True}}
    (found,) = check({"unknown": {"Resources": {"Bodies": bucket}}})
    assert "Versions" in found
