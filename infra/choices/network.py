"""The settings `network.…`."""

import re
from dataclasses import dataclass

from infra.choices.rules import Rules, Together, is_network


@dataclass(frozen=True, slots=True)
class Network:
    """Where zones are. Without zones there is none.

    cidr: its addresses, sixteen equal parts of which each zone has one.
    vpc_id: of a VPC that is there already, instead of a new one; `cidr` is then the part of it that zones take.
    """

    cidr: str = "10.83.0.0/20"
    vpc_id: str = ""


RULES: Rules = {
    "cidr": (is_network, "it must be a network between /16 and /24, such as 10.83.0.0/20"),
    "vpc_id": (lambda value: re.fullmatch(r"(vpc-[0-9a-f]+)?", value), "it must be the id of a VPC, or empty"),
}

TOGETHER: Together = ()
