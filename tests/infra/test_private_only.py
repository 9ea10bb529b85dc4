"""Fewer public URLs, or none: what goes with them, and what takes their place. And subnets that are there already."""

import json
import re
import tomllib
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from sigla.deployment.settings import Settings
from sigla.functions.heartbeat import HeartbeatEvent
from tests.infra.conftest import DOORS, Synthesise
from tests.infra.reading import Template, all_of, ids, ids_in, kinds, mentioned, of, only, written

ZONES = {"use1-az1": "ZoneUse1Az1", "use1-az2": "ZoneUse1Az2"}
DOMAIN = "sr.example.com"


def told(template: Template, part: str) -> HeartbeatEvent:
    """What the heartbeat writes into the directory of zones."""
    (target,) = of(template, part, "AWS::Events::Rule")["Targets"]
    return HeartbeatEvent.of(json.loads(written(target["Input"])))


def callers(template: Template) -> Counter[str]:
    return Counter(written(each["Principal"]) for each in all_of(template, "AWS::Lambda::Permission"))


# --- zones without URLs ----------------------------------------------------------------------------------------------


def test_zones_can_be_without_public_urls(without_urls: Template, private: Template) -> None:
    """Organisations forbid URLs that ask for no credentials of AWS, and some regions have none."""
    assert "AWS::Lambda::Url" in kinds(private)
    assert "AWS::Lambda::Url" not in kinds(without_urls)
    assert "*" not in callers(without_urls), "nobody may call a function without one, either"
    assert not [name for name in without_urls["Outputs"] if name.startswith("ZoneUrl")]
    assert "Url5xxCount" not in {each.get("MetricName") for each in all_of(without_urls, "AWS::CloudWatch::Alarm")}


def test_the_directory_and_outputs_tell_the_private_url_instead(without_urls: Template) -> None:
    """`sigla zone-url` prints what the directory tells."""
    url = f"https://use1-az2.{DOMAIN}"
    assert told(without_urls, ZONES["use1-az2"]).url == url
    assert without_urls["Outputs"]["ZonePrivateUrlUse1Az2"]["Value"] == url


def test_the_rest_api_stays_beside_zones_without_urls(without_urls: Template) -> None:
    assert only_public(without_urls)
    assert "RestUrl" in without_urls["Outputs"]


# --- nothing public --------------------------------------------------------------------------------------------------


def only_public(template: Template) -> list[dict[str, Any]]:
    """REST APIs that the internet reaches."""
    return [
        each
        for each in all_of(template, "AWS::ApiGateway::RestApi")
        if each["EndpointConfiguration"]["Types"] != ["PRIVATE"]
    ]


def test_private_only_leaves_nothing_that_the_internet_reaches(private_only: Template) -> None:
    """Every REST API is private, and has a policy that lets its own endpoint in alone."""
    assert not only_public(private_only)
    assert len(all_of(private_only, "AWS::ApiGateway::RestApi")) == len(ZONES)
    for each in all_of(private_only, "AWS::ApiGateway::RestApi"):
        (statement,) = each["Policy"]["Statement"]
        assert "aws:SourceVpce" in statement["Condition"]["StringEquals"]
    assert not kinds(private_only) & {"AWS::Lambda::Url", "AWS::ApiGateway::DomainName"}
    assert "*" not in callers(private_only)


def test_what_hung_on_the_public_door_goes_with_it(private_only: Template, template: Template) -> None:
    """A function that cannot be called, its snapshot, its alarms and its outputs."""
    gone = ("Service", "Rest")
    assert not [name for name in private_only["Resources"] if name.startswith(gone)]
    assert len(all_of(private_only, "AWS::Lambda::Alias")) == len(ZONES)
    public = {"RestUrl", "RestApiId", "RestStage", "FunctionName", "LogGroupName"}
    assert public <= template["Outputs"].keys()
    assert not public & private_only["Outputs"].keys()
    assert {"BucketName", "TableName", "JournalName", "HeartbeatName"} <= private_only["Outputs"].keys()
    watched = [name for name in ids(private_only, "AWS::CloudWatch::Alarm") if name.startswith("Watch")]
    assert watched
    # What functions count themselves is of all doors.
    assert all(name.startswith(("WatchJournal", "WatchServerErrors", "WatchPrivate")) for name in watched)


def test_private_doors_write_their_logs_without_a_public_one(private_only: Template) -> None:
    """The account's role for logs is made all the same, and they wait for it."""
    (account,) = ids(private_only, "AWS::ApiGateway::Account")
    for part in ZONES.values():
        (stage,) = ids_in(private_only, f"{part}Private", "AWS::ApiGateway::Stage")
        assert account in private_only["Resources"][stage]["DependsOn"]


def test_the_dashboard_shows_the_zones_where_they_are_all_there_is(private_only: Template) -> None:
    body = written(only(private_only, "AWS::CloudWatch::Dashboard")["DashboardBody"])
    for part in ZONES.values():
        (function,) = ids_in(private_only, part, "AWS::Lambda::Function")
        (log,) = ids_in(private_only, f"{part}Service", "AWS::Logs::LogGroup")
        assert f"<{function}>" in body
        assert f"<{log}>" in body
        assert of(private_only, part, "AWS::ApiGateway::RestApi")["Name"] in body


def test_the_directory_is_all_private(private_only: Template) -> None:
    assert {zone: told(private_only, part).url for zone, part in ZONES.items()} == {
        zone: f"https://{zone}.{DOMAIN}" for zone in ZONES
    }


# --- subnets that are there ------------------------------------------------------------------------------------------


def test_in_subnets_that_are_there_no_network_is_made(
    in_given_subnets: list[Template], private_only: Template, given_subnets: Template
) -> None:
    """Neither they nor their routes are ours to change; ways to S3 and DynamoDB are theirs, too."""
    for template in in_given_subnets:
        assert not kinds(template) & {
            *("AWS::EC2::VPC", "AWS::EC2::Subnet", "AWS::EC2::RouteTable"),
            "AWS::EC2::SubnetRouteTableAssociation",
        }
        assert {each["VpcId"] for each in all_of(template, "AWS::EC2::SecurityGroup")} == {"vpc-0123456789abcdef0"}
    endpoints = all_of(private_only, "AWS::EC2::VPCEndpoint")
    assert {each["VpcEndpointType"] for each in endpoints} == {"Interface"}
    assert not all_of(given_subnets, "AWS::EC2::VPCEndpoint")


def test_each_zone_is_in_its_own_given_subnet(private_only: Template) -> None:
    """Whatever the order in which they are named: its function, its caches and its door."""
    for zone, subnet in (("use1-az1", "subnet-0aa"), ("use1-az2", "subnet-0bb")):
        part = ZONES[zone]
        assert of(private_only, part, "AWS::Lambda::Function")["VpcConfig"]["SubnetIds"] == [subnet]
        assert of(private_only, part, "AWS::ElastiCache::SubnetGroup")["SubnetIds"] == [subnet]
        assert of(private_only, f"{part}Private", "AWS::EC2::VPCEndpoint")["SubnetIds"] == [subnet]


def test_caches_stand_where_their_one_subnet_is(private_only: Template, given_subnets: Template) -> None:
    """The name of its zone is not known, and need not be said."""
    for each in all_of(private_only, "AWS::ElastiCache::CacheCluster"):
        assert "PreferredAvailabilityZone" not in each
    for each in all_of(given_subnets, "AWS::ElastiCache::ReplicationGroup"):
        assert "PreferredCacheClusterAZs" not in each


def test_the_function_reaches_its_ring_in_a_subnet_of_unknown_addresses(
    private_only: Template, given_subnets: Template
) -> None:
    """By the members' security group. By HTTPS it reaches what the subnet's routes lead to."""
    for template, part, port in ((private_only, ZONES["use1-az2"], 11211), (given_subnets, ZONES["use1-az1"], 6379)):
        way = of(template, part, "AWS::EC2::SecurityGroupEgress")
        assert (way["IpProtocol"], way["FromPort"], way["ToPort"]) == ("tcp", port, port)
        assert mentioned(way["GroupId"]) == set(ids_in(template, f"{part}Guard", "AWS::EC2::SecurityGroup"))
        ring = set(ids_in(template, f"{part}RingGuard", "AWS::EC2::SecurityGroup"))
        assert mentioned(way["DestinationSecurityGroupId"]) == ring
        out = of(template, f"{part}Guard", "AWS::EC2::SecurityGroup")["SecurityGroupEgress"]
        assert [(each["FromPort"], each["CidrIp"]) for each in out] == [(443, "0.0.0.0/0")]


def test_only_named_clients_come_into_given_subnets(private_only: Template) -> None:
    """Not those of network.cidr, which says nothing there."""
    for part in ZONES.values():
        guard = of(private_only, f"{part}PrivateGuard", "AWS::EC2::SecurityGroup")
        assert {each["CidrIp"] for each in guard["SecurityGroupIngress"]} == {"10.0.0.0/16", "10.1.0.0/16"}


def test_the_directory_has_no_names_of_zones_that_nobody_told(given_subnets: Template) -> None:
    """A template knows the id of a subnet alone; what the id of its zone is, settings say."""
    asked = told(given_subnets, ZONES["use1-az1"])
    assert (asked.id, asked.name) == ("use1-az1", "")
    (url,) = ids(given_subnets, "AWS::Lambda::Url")
    assert re.fullmatch(rf"<{url}\.FunctionUrl>", asked.url)


# --- endpoints that are there ----------------------------------------------------------------------------------------

ENDPOINTS = {"use1-az1": "vpce-0aa", "use1-az2": "vpce-0bb"}


def test_by_endpoints_that_are_there_doors_need_no_names_of_ours(
    given_endpoints: Template, shared_network: Template
) -> None:
    """Nor certificates, nor hosted zones: in a network that another account shares only its owner can make those."""
    for template in (given_endpoints, shared_network):
        assert not kinds(template) & {
            *("AWS::ApiGateway::DomainNameV2", "AWS::ApiGateway::DomainNameAccessAssociation"),
            *("AWS::Route53::HostedZone", "AWS::Route53::RecordSet"),
        }
        assert "Interface" not in {each["VpcEndpointType"] for each in all_of(template, "AWS::EC2::VPCEndpoint")}
    assert not all_of(shared_network, "AWS::EC2::VPCEndpoint")


def test_each_zone_is_reached_by_the_endpoint_that_is_said(given_endpoints: Template, shared_network: Template) -> None:
    """And by no other, under the name that API Gateway gives the two together."""
    for template in (given_endpoints, shared_network):
        for zone, part in ZONES.items():
            (name,) = ids_in(template, f"{part}Private", "AWS::ApiGateway::RestApi")
            api = template["Resources"][name]["Properties"]
            assert api["EndpointConfiguration"] == {"Types": ["PRIVATE"], "VpcEndpointIds": [ENDPOINTS[zone]]}
            (statement,) = api["Policy"]["Statement"]
            assert statement["Condition"] == {"StringEquals": {"aws:SourceVpce": ENDPOINTS[zone]}}
            url = f"https://<{name}>-{ENDPOINTS[zone]}.execute-api.<AWS::Region>.<AWS::URLSuffix>/v1"
            assert told(template, part).url == url
            title = part.removeprefix("Zone")
            assert written(template["Outputs"][f"ZonePrivateUrl{title}"]["Value"]) == url


def test_a_shared_network_is_left_as_it_is(shared_network: Template) -> None:
    """From all that is in a network, the stack makes what participants may: security groups."""
    made = {kind for kind in kinds(shared_network) if kind.startswith(("AWS::EC2", "AWS::Route53"))}
    assert made == {"AWS::EC2::SecurityGroup", "AWS::EC2::SecurityGroupEgress"}
    assert not only_public(shared_network)
    assert "AWS::Lambda::Url" not in kinds(shared_network)


# --- all of it together ----------------------------------------------------------------------------------------------

OPEN = {
    "public": (),
    "zones closed": (("front_door.zone_urls", False),),
    "private only": (("front_door.zone_urls", False), ("front_door.public", False)),
}
NETWORKS = {
    "ours": (),
    "a VPC": (("network.vpc_id", "vpc-0123456789abcdef0"),),
    "subnets": (("network.vpc_id", "vpc-0123456789abcdef0"), ("network.subnets", "use1-az1:subnet-0aa")),
}
WAYS_IN = {
    "names": DOORS,
    "endpoints": (("front_door.private_zonal", True), ("front_door.private_endpoints", "use1-az1:vpce-0aa")),
}


# With the templates above, every pair of choices is there once.
COMBINATIONS = (
    ("public", "subnets", "names"),
    ("zones closed", "a VPC", "endpoints"),
    ("zones closed", "subnets", "names"),
    ("private only", "ours", "endpoints"),
    ("private only", "a VPC", "names"),
)


def combined(openness: str, network: str, way_in: str) -> tuple[tuple[str, Any], ...]:
    """The settings of a combination."""
    base: tuple[tuple[str, Any], ...] = (("zones", "use1-az1"), ("ring.kind", "none"), ("watch.alarms", False))
    return (*base, *OPEN[openness], *NETWORKS[network], *WAYS_IN[way_in])


@pytest.mark.parametrize("openness, network, way_in", COMBINATIONS)
def test_whatever_is_allowed_can_be_deployed(synthesise: Synthesise, openness: str, network: str, way_in: str) -> None:
    """And has the doors that were asked for: one into the zone, and those that are public."""
    template = synthesise(*combined(openness, network, way_in))
    doors = {
        "public": ["REGIONAL", "PRIVATE"],
        "zones closed": ["REGIONAL", "PRIVATE"],
        "private only": ["PRIVATE"],
    }
    made = [each["EndpointConfiguration"]["Types"][0] for each in all_of(template, "AWS::ApiGateway::RestApi")]
    assert sorted(made) == sorted(doors[openness])
    assert ("AWS::Lambda::Url" in kinds(template)) == (openness == "public")
    assert ("AWS::EC2::VPC" in kinds(template)) == (network == "ours")
    assert ("AWS::EC2::Subnet" in kinds(template)) == (network != "subnets")
    assert ("AWS::Route53::HostedZone" in kinds(template)) == (way_in == "names")


def test_the_pages_stage_for_a_shared_network_can_be_deployed() -> None:
    """A reader copies it, and changes the ids."""
    page = (Path(__file__).parents[2] / "docs" / "deploy.md").read_text(encoding="utf-8")
    (shown,) = re.findall(r"has in its file:\n\n```toml\n(.+?)```", page, re.DOTALL)
    given = tomllib.loads(shown)
    flat = {
        f"{section}.{name}" if isinstance(values, dict) else section: value
        for section, values in given.items()
        for name, value in (values.items() if isinstance(values, dict) else [("", values)])
    }
    settings = Settings.read(flat)
    assert not settings.public_doors
    assert settings.network.subnet_ids.keys() == settings.front_door.endpoint_ids.keys() == set(settings.zone_ids)
