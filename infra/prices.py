"""What a stack costs in a month without requests: counted in its template, priced by a table.

Prices: us-east-1, list, November 2026, without free tiers. What is not in the table has no price of its own: it is
paid by use (infra/usage.py), or free.
"""

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from infra.region_usage import FOLLOWING
from infra.usage import CATCH_UP, EXPORTERS, ISSUERS, METRIC, PROBE, RUN_MINUTES, SECONDS_A_MONTH, bill, heartbeat, run

# A dashboard is free where it is one of the account's first three.
ALARM, DASHBOARD = 0.10, 3.00
"""An alarm has a price for each metric that it looks at."""
FIREWALL, FIREWALL_RULE = 5.00, 1.00
SNAPSHOT_GB_SECOND = 0.0000015046
ENDPOINT_HOUR, HOSTED_ZONE = 0.01, 0.50
HOURS = SECONDS_A_MONTH // 3_600

# Nodes of caches, by the hour; those of Valkey are a fifth cheaper than the others.
NODE_HOUR = {"cache.t4g.micro": 0.016, "cache.t4g.small": 0.032, "cache.t4g.medium": 0.065}
CHEAPER = {"valkey": 0.8, "memcached": 1.0}

# What a clock wakes, and what it takes each time.
SCHEDULED = {
    "rate(15 minutes)": ("catch-ups of the journal", bill(CATCH_UP).total),
    "rate(2 minutes)": ("ticks of exporters", bill(EXPORTERS).total),
    "rate(5 minutes)": ("readings of an issuer's keys", bill(ISSUERS).total),
    "rate(1 minute)": ("heartbeats of zones", heartbeat().total),
    "rate(1 day)": ("probes of the registry", bill(PROBE, restores=1).total),
}

BOTH_REGIONS = "What two regions of a registry do for each other"
"""The description of the clock that comes each minute where a registry has two regions; else it is a zone's."""
TURN = ("turns of a region that follows", bill(FOLLOWING).total)
"""Those of a primary take less."""

# Every other type that our templates have, so that a new one is looked at before it is deployed.
FREE_WHILE_IDLE = frozenset(
    {
        "AWS::ApiGateway::Account",
        "AWS::ApiGateway::BasePathMapping",
        "AWS::ApiGateway::BasePathMappingV2",
        "AWS::ApiGateway::Deployment",
        "AWS::ApiGateway::DomainName",
        "AWS::ApiGateway::DomainNameAccessAssociation",
        "AWS::ApiGateway::DomainNameV2",
        "AWS::ApiGateway::GatewayResponse",
        "AWS::ApiGateway::Method",
        "AWS::ApiGateway::Resource",
        "AWS::ApiGateway::RestApi",
        "AWS::ApiGateway::Stage",
        "AWS::DynamoDB::Table",
        "AWS::EC2::RouteTable",
        "AWS::EC2::SecurityGroup",
        "AWS::EC2::SecurityGroupEgress",
        "AWS::EC2::Subnet",
        "AWS::EC2::SubnetRouteTableAssociation",
        "AWS::EC2::VPC",
        "AWS::EMRServerless::Application",  # keeps nothing ready; what its schedules start is counted with them
        "AWS::ElastiCache::ParameterGroup",
        "AWS::ElastiCache::SubnetGroup",
        "AWS::ElastiCache::User",
        "AWS::ElastiCache::UserGroup",
        "AWS::IAM::Policy",
        "AWS::IAM::Role",
        "AWS::Lambda::Alias",
        "AWS::Lambda::EventInvokeConfig",
        "AWS::Lambda::EventSourceMapping",  # what Lambda reads of a table's stream is not charged
        "AWS::Lambda::Function",
        "AWS::Lambda::LayerVersion",
        "AWS::Lambda::Permission",
        "AWS::Lambda::Url",
        "AWS::Logs::LogGroup",
        "AWS::Logs::MetricFilter",  # a metric in a month in which a line fits
        "AWS::Route53::RecordSet",
        "AWS::S3::Bucket",
        "AWS::S3::BucketPolicy",
        "AWS::SNS::Subscription",  # of a mail; a thousand a month are free, then two cents for a thousand
        "AWS::SNS::Topic",
        "AWS::SNS::TopicPolicy",
        "AWS::SQS::Queue",
        "AWS::SQS::QueuePolicy",
        "AWS::WAFv2::WebACLAssociation",
    }
)


@dataclass(frozen=True, slots=True)
class Item:
    """dollars: a month, of all together."""

    what: str
    count: int
    dollars: float


def idle(template: Mapping[str, Any]) -> list[Item]:
    """What has a price of its own. Raises ValueError for a type or a schedule without a price here."""
    return [item for item in _items(template["Resources"].values()) if item.count]


def total(template: Mapping[str, Any]) -> float:
    return sum(item.dollars for item in idle(template))


def _items(resources: Any) -> Iterator[Item]:
    kinds: dict[str, list[Mapping[str, Any]]] = {}
    for resource in resources:
        kinds.setdefault(resource["Type"], []).append(resource.get("Properties", {}))
    alarms = sum(map(_metrics, kinds.pop("AWS::CloudWatch::Alarm", [])))
    dashboards = len(kinds.pop("AWS::CloudWatch::Dashboard", []))
    # A rule that waits for events costs nothing while none come.
    rules = [each for each in kinds.pop("AWS::Events::Rule", []) if "ScheduleExpression" in each]
    turns = sum(each.get("Description") == BOTH_REGIONS for each in rules)
    schedules = Counter(each["ScheduleExpression"] for each in rules)
    schedules["rate(1 minute)"] -= turns
    nodes = [*kinds.pop("AWS::ElastiCache::ReplicationGroup", []), *kinds.pop("AWS::ElastiCache::CacheCluster", [])]
    # Those of S3 and DynamoDB are gateways, and free.
    endpoints = [each for each in kinds.pop("AWS::EC2::VPCEndpoint", []) if each["VpcEndpointType"] == "Interface"]
    names = len(kinds.pop("AWS::Route53::HostedZone", []))
    runs = dict(_runs(kinds.pop("AWS::Scheduler::Schedule", [])))
    walls = kinds.pop("AWS::WAFv2::WebACL", [])
    # The snapshot is of the version; SnapStart and memory are said of its function.
    kinds.pop("AWS::Lambda::Version", None)
    kept = [each["MemorySize"] for each in kinds.get("AWS::Lambda::Function", []) if "SnapStart" in each]
    if unknown := sorted([*kinds.keys() - FREE_WHILE_IDLE, *schedules.keys() - SCHEDULED.keys()]):
        message = f"unknown price of {', '.join(unknown)}"
        raise ValueError(message)
    snapshots = sum(kept) / 1024 * SECONDS_A_MONTH * SNAPSHOT_GB_SECOND
    yield Item("snapshots of functions (SnapStart)", len(kept), snapshots)
    yield Item("metrics in alarms", alarms, alarms * ALARM)
    yield Item("dashboards", dashboards, dashboards * DASHBOARD)
    yield Item("members of rings", len(nodes), sum(map(_node, nodes)) * HOURS)
    yield Item("metrics of zones", schedules["rate(1 minute)"], schedules["rate(1 minute)"] * METRIC)
    for schedule, (what, each) in SCHEDULED.items():
        count = schedules[schedule] * _times_a_month(schedule)
        yield Item(what, count, count * each)
    yield Item(TURN[0], turns * _times_a_month("rate(1 minute)"), turns * _times_a_month("rate(1 minute)") * TURN[1])
    for job, count in runs.items():
        yield Item(f"runs of {job} that find little to do", count, count * run(job))
    yield Item("private endpoints", len(endpoints), len(endpoints) * ENDPOINT_HOUR * HOURS)
    yield Item("private hosted zones", names, names * HOSTED_ZONE)
    yield Item("firewalls", len(walls), sum(FIREWALL + len(each["Rules"]) * FIREWALL_RULE for each in walls))


def _metrics(alarm: Mapping[str, Any]) -> int:
    """How many an alarm looks at: one, or those that it computes something from."""
    return sum("MetricStat" in each for each in alarm["Metrics"]) if "Metrics" in alarm else 1


def _node(member: Mapping[str, Any]) -> float:
    """Dollars an hour, of a cache of one node."""
    return NODE_HOUR[member["CacheNodeType"]] * CHEAPER[member["Engine"]]


_SECONDS = {"minute": 60, "hour": 3_600, "day": 86_400}


def _times_a_month(schedule: str) -> int:
    """How often a rate fires; what a calendar says is taken for once a day."""
    found = re.fullmatch(r"rate\((\d+) (minute|hour|day)s?\)", schedule)
    return SECONDS_A_MONTH // (int(found[1]) * _SECONDS[found[2]] if found else _SECONDS["day"])


def _runs(schedules: list[Mapping[str, Any]]) -> Iterator[tuple[str, int]]:
    """The schedules of jobs, and how often each runs in a month."""
    for schedule in schedules:
        (job,) = (each for each in RUN_MINUTES if schedule["Description"].endswith(f" {each} begins"))
        yield job, _times_a_month(schedule["ScheduleExpression"])
