"""The door for clients in a zone's network: by one endpoint in the zone, and under a name of its own."""

import json
from itertools import pairwise

from sigla.deployment.choices.rules import titled
from sigla.functions.heartbeat import HeartbeatEvent
from tests.infra.conftest import PRIVATE, Synthesise
from tests.infra.reading import Template, all_in, ids_in, kinds, mentioned, of, only, written

ZONE = "ZoneUse1Az2"
DOOR = f"{ZONE}Private"


def test_there_is_none_unless_it_is_asked_for(zones: Template) -> None:
    """An endpoint has a price by the hour."""
    assert {each["VpcEndpointType"] for each in all_in(zones, "Zone", "AWS::EC2::VPCEndpoint")} == {"Gateway"}
    assert not kinds(zones) & {"AWS::ApiGateway::DomainNameV2", "AWS::Route53::HostedZone"}


def test_the_endpoint_stands_in_the_zone_alone(private: Template) -> None:
    """A client finds one address, in its own zone: no transfer between zones is billed."""
    endpoint = of(private, DOOR, "AWS::EC2::VPCEndpoint")
    assert written(endpoint["ServiceName"]) == "com.amazonaws.<AWS::Region>.execute-api"
    assert endpoint["SubnetIds"] == [{"Ref": each} for each in ids_in(private, ZONE, "AWS::EC2::Subnet")]
    # With API Gateway's own names, a second endpoint in the same network could not be made.
    assert endpoint["PrivateDnsEnabled"] is False


def test_clients_come_in_by_https_from_networks_that_are_named(private: Template) -> None:
    guard = of(private, f"{DOOR}Guard", "AWS::EC2::SecurityGroup")
    rules = {
        (each["IpProtocol"], each["FromPort"], each["ToPort"], each["CidrIp"]) for each in guard["SecurityGroupIngress"]
    }
    assert rules == {("tcp", 443, 443, cidr) for cidr in ("10.83.0.0/20", "10.0.0.0/16", "10.1.0.0/16")}


def test_the_api_and_its_name_are_open_to_the_endpoint_and_to_nobody_else(private: Template) -> None:
    """Whatever comes by another way is not allowed, and so refused."""
    (endpoint,) = ids_in(private, DOOR, "AWS::EC2::VPCEndpoint")
    api, domain = of(private, DOOR, "AWS::ApiGateway::RestApi"), only(private, "AWS::ApiGateway::DomainNameV2")
    assert api["EndpointConfiguration"] == {"Types": ["PRIVATE"], "VpcEndpointIds": [{"Ref": endpoint}]}
    assert domain["EndpointConfiguration"] == {"Types": ["PRIVATE"]}
    for policy in (api["Policy"], domain["Policy"]):
        (statement,) = policy["Statement"]
        assert (statement["Effect"], statement["Action"]) == ("Allow", "execute-api:Invoke")
        assert statement["Condition"] == {"StringEquals": {"aws:SourceVpce": {"Ref": endpoint}}}


def test_the_api_hands_everything_to_the_zones_own_function(private: Template) -> None:
    """As the regional one does: every path and method, and refusals in the contract's envelope."""
    (alias,) = ids_in(private, ZONE, "AWS::Lambda::Alias")
    methods = all_in(private, DOOR, "AWS::ApiGateway::Method")
    assert [each["HttpMethod"] for each in methods] == ["ANY", "ANY"]
    assert all(f"<{alias}>" in written(each["Integration"]["Uri"]) for each in methods)
    answers, regional = (
        {
            each["ResponseType"]: each["ResponseTemplates"]
            for each in all_in(private, part, "AWS::ApiGateway::GatewayResponse")
        }
        for part in (DOOR, "Rest")
    )
    assert answers == regional
    stage = of(private, DOOR, "AWS::ApiGateway::Stage")
    assert "AccessLogSetting" in stage
    (waits,) = [private["Resources"][each]["DependsOn"] for each in ids_in(private, DOOR, "AWS::ApiGateway::Stage")]
    assert waits == ids_in(private, "GatewayLogs", "AWS::ApiGateway::Account")  # which lets it write its log


def test_the_name_leads_from_the_network_to_the_endpoint_and_from_there_to_the_api(private: Template) -> None:
    """Without a path, so that it does for every client."""
    domain = only(private, "AWS::ApiGateway::DomainNameV2")
    assert (domain["DomainName"], domain["SecurityPolicy"]) == ("use1-az2.sr.example.com", "TLS_1_2")
    (named,) = ids_in(private, DOOR, "AWS::ApiGateway::DomainNameV2")
    (endpoint,) = ids_in(private, DOOR, "AWS::EC2::VPCEndpoint")
    mapping = only(private, "AWS::ApiGateway::BasePathMappingV2")
    assert "BasePath" not in mapping
    assert mentioned(mapping) == {
        named,
        *ids_in(private, DOOR, "AWS::ApiGateway::RestApi"),
        *ids_in(private, DOOR, "AWS::ApiGateway::Stage"),
    }
    access = only(private, "AWS::ApiGateway::DomainNameAccessAssociation")
    assert (access["AccessAssociationSource"], access["AccessAssociationSourceType"]) == ({"Ref": endpoint}, "VPCE")
    hosted = only(private, "AWS::Route53::HostedZone")
    assert (hosted["Name"], hosted["VPCs"][0]["VPCId"]) == ("sr.example.com", "vpc-0123456789abcdef0")
    record = only(private, "AWS::Route53::RecordSet")
    assert (record["Name"], record["Type"]) == ("use1-az2.sr.example.com", "A")
    # The first of the endpoint's entries, each of which is `zone's id:name`.
    first = {"Fn::Split": [":", {"Fn::Select": [0, {"Fn::GetAtt": [endpoint, "DnsEntries"]}]}]}
    assert record["AliasTarget"] == {
        "HostedZoneId": {"Fn::Select": [0, first]},
        "DNSName": {"Fn::Select": [1, first]},
    }


def test_the_directory_tells_the_private_url(private: Template) -> None:
    """Who turns it on wants clients to come that way; the public one is there still."""
    (target,) = of(private, ZONE, "AWS::Events::Rule")["Targets"]
    assert HeartbeatEvent.of(json.loads(written(target["Input"]))).url == "https://use1-az2.sr.example.com"
    assert private["Outputs"]["ZonePrivateUrlUse1Az2"]["Value"] == "https://use1-az2.sr.example.com"
    assert "ZoneUrlUse1Az2" in private["Outputs"]


def test_doors_are_made_one_after_the_other(synthesise: Synthesise) -> None:
    """API Gateway takes a new API, and a new name, only every so many seconds: of several at once it refuses some."""
    zones = ("use1-az1", "use1-az2", "use1-az4")
    template = synthesise(*PRIVATE, ("zones", ",".join(zones)), ("ring.kind", "none"))
    doors = [f"Zone{titled(zone)}Private" for zone in zones]
    for before, door in pairwise(doors):
        ends = {
            name
            for kind in ("BasePathMappingV2", "DomainNameAccessAssociation")
            for name in ids_in(template, before, f"AWS::ApiGateway::{kind}")
        }
        for kind in ("RestApi", "DomainNameV2"):
            (begins,) = ids_in(template, door, f"AWS::ApiGateway::{kind}")
            assert ends <= set(template["Resources"][begins]["DependsOn"])
