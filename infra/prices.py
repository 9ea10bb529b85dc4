"""What a stack costs a month while nobody asks it anything: counted in its template, priced by a table.

Prices: us-east-1, list, November 2026, without free tiers. What is not in the table has no price of its own: it is
paid by use (infra/usage.py), or free.
"""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.usage import CATCH_UP, SECONDS_A_MONTH, bill

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
        "AWS::Lambda::EventSourceMapping",  # what Lambda reads of a table's stream is not charged
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Url",
        "AWS::Logs::LogGroup",
        "AWS::Logs::MetricFilter",  # a metric in a month in which a line fits
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
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
    catch_ups = sum(_times_a_month(each["ScheduleExpression"]) for each in kinds.pop("AWS::Events::Rule", []))
    # The snapshot is of the version; SnapStart and memory are said of its function.
    kinds.pop("AWS::Lambda::Version", None)
    kept = [each["MemorySize"] for each in kinds.get("AWS::Lambda::Function", []) if "SnapStart" in each]
    if unknown := sorted(kinds.keys() - FREE_WHILE_IDLE):
        message = f"what do they cost a month? {', '.join(unknown)}"
        raise ValueError(message)
    snapshots = sum(kept) / 1024 * SECONDS_A_MONTH * SNAPSHOT_GB_SECOND
    yield Item("snapshots of the function (SnapStart)", len(kept), snapshots)
    yield Item("alarms", alarms, alarms * ALARM)
    yield Item("dashboards", dashboards, dashboards * DASHBOARD)
    yield Item("catch-ups of the journal", catch_ups, catch_ups * bill(CATCH_UP).total)


def _times_a_month(schedule: str) -> int:
    """Of a rate in minutes. Raises ValueError for another schedule."""
    found = re.fullmatch(r"rate\((\d+) minutes\)", schedule)
    if found is None:
        message = f"how often is {schedule}?"
        raise ValueError(message)
    return SECONDS_A_MONTH // (60 * int(found[1]))
