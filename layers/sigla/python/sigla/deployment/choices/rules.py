"""What a setting must be: the form of a rule, and tests that several settings share."""

import ipaddress
import re
from collections.abc import Callable, Mapping
from typing import Any

Rules = Mapping[str, tuple[Callable[[Any], object], str]]
"""By a setting's name: a test of its value, and how the sentence ends that refuses it."""

Together = tuple[tuple[Callable[[Any], object], str], ...]
"""What settings must be together: a test of the record that holds them, and the sentence."""

ZONE_ID = r"(?P<region>[a-z]{2,6}\d)-az(?P<number>[1-9]\d?)"
"""The id of an availability zone: `use1-az1` is the same place in every account, `us-east-1a` is not."""

BUCKET_EXPECTED = "it must be the name of a bucket, 3 to 63 of a-z, 0-9, '-' and '.', or empty"
"""How the sentence ends that refuses what `is_bucket` does."""

TABLE_EXPECTED = "it must be the name of a table, 3 to 255 letters, digits, '_', '-' and '.', or empty"

NETWORKS_EXPECTED = "it must be CIDRs separated by commas, not 0.0.0.0/0, or empty"

PARTS_BITS = 4
"""The network is cut into 2 ** 4 parts; the zone -azN has part N."""


def is_known(value: object) -> bool:
    """Whether a value is there before the deployment: for what AWS will give, CDK writes `${Token[…]}`."""
    return not (isinstance(value, str) and "${Token[" in value)


def listed(value: str) -> tuple[str, ...]:
    """What is separated by commas."""
    return tuple(each.strip() for each in value.split(",") if each.strip())


def titled(name: str) -> str:
    """As outputs and constructs are called that belong to a zone or a registry: `Use1Az1`."""
    return "".join(part.capitalize() for part in name.split("-"))


def zone_number(zone: str) -> int:
    """Raises ValueError."""
    found = re.fullmatch(ZONE_ID, zone)
    if found is None or int(found["number"]) >= 2**PARTS_BITS:
        raise ValueError(zone)
    return int(found["number"])


def are_zones(value: str) -> bool:
    """Different ones, of one region."""
    zones = listed(value)
    try:
        numbers = list(map(zone_number, zones))
    except ValueError:
        return False
    return len(set(numbers)) == len(zones) and len({zone.split("-")[0] for zone in zones}) <= 1


def zones_prefix(region: str) -> str:
    """What the ids of a region's availability zones begin with: those of ap-southeast-2 with `apse2-`.

    Empty for a region that is called by other words, as those of sovereign clouds are: its ids are unknown here.
    """
    place, *ways, number = region.split("-")
    if not set(ways) <= _WAYS.keys():
        return ""
    return f"{place}{''.join(_WAYS[way] for way in ways)}{number}-"


_WAYS = {
    **{way: way[0] for way in ("north", "east", "south", "west", "central", "gov")},
    **{f"{way}{other}": way[0] + other[0] for way in ("north", "south") for other in ("east", "west")},
}


def by_zone(value: str) -> dict[str, str]:
    """What is written as `zone:id,zone:id`."""
    pairs = (each.partition(":") for each in listed(value))
    return {zone.strip(): name.strip() for zone, _, name in pairs}


def are_by_zone(kind: str) -> Callable[[str], object]:
    """A test for ids of a kind, such as `subnet`: one for each zone, each zone once."""
    pair = re.compile(rf"{ZONE_ID}\s*:\s*{kind}-[0-9a-f]+")

    def suits(value: str) -> bool:
        pairs = listed(value)
        return all(map(pair.fullmatch, pairs)) and len(by_zone(value)) == len(pairs)

    return suits


def is_bucket(value: str) -> bool:
    """Whether S3 may have a bucket of the name; nothing is the name of none that is given."""
    formed = re.fullmatch(r"[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]", value)
    return not value or bool(formed and ".." not in value and not re.fullmatch(r"[\d.]+", value))


def is_network(value: str) -> bool:
    """As large as a VPC may be, or as small as sixteen subnets need: AWS has /16 to /28."""
    try:
        network = ipaddress.ip_network(value)
    except ValueError:
        return False
    return isinstance(network, ipaddress.IPv4Network) and 16 <= network.prefixlen <= 28 - PARTS_BITS


def are_networks(value: str) -> bool:
    """Whether each is a network, and none is everything: what checks templates of AWS refuses that door."""
    try:
        return all(ipaddress.IPv4Network(each).prefixlen for each in listed(value))
    except ValueError:
        return False
