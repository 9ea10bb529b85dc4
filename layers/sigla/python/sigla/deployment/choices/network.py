"""The settings `network.…`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together, are_by_zone, by_zone, is_network


@dataclass(frozen=True, slots=True)
class Network:
    """Where zones are. Without zones there are no subnets.

    cidr: its addresses, sixteen equal parts of which each zone has one.
    vpc_id: of a VPC that is there already, instead of a new one; `cidr` is then the part of it that zones take.
    subnets: of that VPC, one for each zone, instead of new ones: use1-az1:subnet-0123abcd and so on, separated by
        commas. `cidr` says nothing then.
    """

    cidr: str = "10.83.0.0/20"
    vpc_id: str = ""
    subnets: str = ""

    @property
    def subnet_ids(self) -> Mapping[str, str]:
        """By the id of the zone that each is in."""
        return by_zone(self.subnets)


def _are_subnets(value: str) -> object:
    """Subnets of different zones, and so different themselves."""
    subnets = by_zone(value).values()
    return are_by_zone("subnet")(value) and len(set(subnets)) == len(subnets)


RULES: Rules = {
    "cidr": (is_network, "it must be a network between /16 and /24, such as 10.83.0.0/20"),
    "vpc_id": (lambda value: re.fullmatch(r"(vpc-[0-9a-f]+)?", value), "it must be the id of a VPC, or empty"),
    "subnets": (
        _are_subnets,
        "it must be zones with their subnets, each once, such as use1-az1:subnet-0123abcd, or empty",
    ),
}

TOGETHER: Together = (
    (
        lambda given: given.vpc_id or not given.subnets,
        "network.subnets needs network.vpc_id, the VPC of these subnets.",
    ),
)
