"""What a stack costs a month while nobody asks it anything: counted in its template, priced by a table.

Prices: us-east-1, list, November 2026, without free tiers. What is not in the table has no price of its own: it is
paid by use, or free.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

HOURS = 730

# A dashboard is free where it is one of the account's first three.
ALARM, DASHBOARD = 0.10, 3.00
SNAPSHOT_GB_SECOND = 0.0000015046

# Every other type that our templates have, so that a new one is looked at before it is deployed.
FREE_WHILE_IDLE = frozenset(
    {
        "AWS::ApiGateway::Account",
        "AWS::ApiGateway::BasePathMapping",
        "AWS::ApiGateway::Deployment",
        "AWS::ApiGateway::DomainName",
        "AWS::ApiGateway::GatewayResponse",
        "AWS::ApiGateway::Method",
        "AWS::ApiGateway::Resource",
        "AWS::ApiGateway::RestApi",
        "AWS::ApiGateway::Stage",
        "AWS::DynamoDB::Table",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Alias",
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Url",
        "AWS::Logs::LogGroup",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
    }
)


@dataclass(frozen=True, slots=True)
class Item:
    """dollars: a month, of all together."""

    what: str
    count: int
    dollars: float


def idle(template: Mapping[str, Any]) -> list[Item]:
    """What has a price of its own. Raises ValueError for a type that nobody has priced."""
    return [item for item in _items(template["Resources"].values()) if item.count]


def total(template: Mapping[str, Any]) -> float:
    return sum(item.dollars for item in idle(template))


def _items(resources: Any) -> Iterator[Item]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for resource in resources:
        kinds.setdefault(resource["Type"], []).append(resource.get("Properties", {}))
    alarms = len(kinds.pop("AWS::CloudWatch::Alarm", []))
    dashboards = len(kinds.pop("AWS::CloudWatch::Dashboard", []))
    # The snapshot is of the version; SnapStart and memory are said of its function.
    kinds.pop("AWS::Lambda::Version", None)
    kept = [each["MemorySize"] for each in kinds.get("AWS::Lambda::Function", []) if "SnapStart" in each]
    if unknown := sorted(kinds.keys() - FREE_WHILE_IDLE):
        message = f"what do they cost a month? {', '.join(unknown)}"
        raise ValueError(message)
    yield Item("snapshots of the function (SnapStart)", len(kept), sum(kept) / 1024 * HOURS * 3600 * SNAPSHOT_GB_SECOND)
    yield Item("alarms", alarms, alarms * ALARM)
    yield Item("dashboards", dashboards, dashboards * DASHBOARD)
