"""A function's published version keeps the network that it was published with: where that changes, there is another."""

import pytest

from tests.infra.conftest import IDENTITY, KEY, Synthesise
from tests.infra.reading import Template, ids_in, of

ZONE = "ZoneUse1Az1"


def version(template: Template, part: str = ZONE) -> str:
    """The logical id, by which CloudFormation knows whether to publish another one."""
    (found,) = ids_in(template, part, "AWS::Lambda::Version")
    return found


@pytest.mark.parametrize(
    "setting, value",
    [
        ("platform.key_arn", KEY),  # a ring that gets a key begins with new members
        ("network.cidr", "10.84.0.0/20"),
        ("network.vpc_id", "vpc-0123456789abcdef0"),
    ],
)
def test_where_a_functions_network_or_ring_is_replaced_it_has_another_version(
    zones: Template, synthesise: Synthesise, setting: str, value: str
) -> None:
    """The alias would else go on with addresses that do not answer, until the next change of code."""
    changed = synthesise(IDENTITY, ("zones", "use1-az1"), (setting, value))
    assert version(zones) != version(changed)
    # Lambda publishes no version of a function that has not changed, and CloudFormation would fail.
    assert of(zones, ZONE, "AWS::Lambda::Function") != of(changed, ZONE, "AWS::Lambda::Function")
    # What is in no network has nothing of it.
    assert version(zones, "Service") == version(changed, "Service")


def test_where_nothing_of_it_is_replaced_the_version_stays(
    zones: Template, fewer: Template, platform: Template, synthesise: Synthesise
) -> None:
    """A version costs a snapshot, and all environments begin again: not for another zone, a tag or a role's path."""
    assert version(zones) == version(fewer)
    assert version(synthesise(("zones", "use1-az1"), ("platform.key_arn", KEY))) == version(platform)
