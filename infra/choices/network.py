"""The settings `network.…`."""

import re
from collections.abc import Mapping
from dataclasses import dataclass

from infra.choices.rules import ZONE_ID, Rules, Together, is_network, listed


@dataclass(frozen=True, slots=True)
class Network:
    """Where zones are. Without zones there is none.

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
        pairs = (each.partition(":") for each in listed(self.subnets))
        return {zone.strip(): subnet.strip() for zone, _, subnet in pairs}


_SUBNET = re.compile(rf"{ZONE_ID}\s*:\s*subnet-[0-9a-f]+")


def _are_subnets(value: str) -> bool:
    """Each zone once, each subnet once."""
    pairs = listed(value)
    known = Network(subnets=value).subnet_ids
    return all(map(_SUBNET.fullmatch, pairs)) and len(set(known.values())) == len(known) == len(pairs)


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
        "network.subnets needs network.vpc_id, the VPC that they are parts of.",
    ),
)
