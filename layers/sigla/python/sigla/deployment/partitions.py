"""The parts of AWS that know nothing of each other: ARNs begin in another way there, and names of hosts may end so."""

from collections.abc import Mapping
from typing import Final

PARTITIONS: Final[Mapping[str, str]] = {
    "cn-": "aws-cn",
    "us-gov-": "aws-us-gov",
    "us-iso-": "aws-iso",
    "us-isob-": "aws-iso-b",
    "us-isof-": "aws-iso-f",
    "eu-isoe-": "aws-iso-e",
    "eusc-": "aws-eusc",
}
"""What ARNs begin with instead of `arn:aws`, by what the region's name begins with.

Source: `PARTITION_MAP` of aws-cdk-lib (region-info/build-tools/fact-tables.ts).
"""


def partition_of(region: str) -> str:
    return next((partition for prefix, partition in PARTITIONS.items() if region.startswith(prefix)), "aws")


def host_suffix(region: str) -> str:
    """What hosts of AWS end with; of the isolated regions it is not known here."""
    return "amazonaws.com.cn" if region.startswith("cn-") else "amazonaws.com"
