"""A zone is one place and owns all of it: it comes and goes without the others, and nothing leads out of it."""

import ipaddress
import json
import re
from collections import Counter
from pathlib import Path

from sigla.deployment.choices.rules import titled
from sigla.deployment.settings import Settings
from sigla.functions.heartbeat import TROUBLES, HeartbeatEvent
from sigla.functions.telemetry import NAMESPACE
from tests.infra.reading import Template, all_in, all_of, ids, ids_in, kinds, mentioned, of, only, written

OPERATIONS = Path(__file__).parents[2] / "docs" / "operations.md"
DEPLOY = OPERATIONS.with_name("deploy.md")

ZONES = ("use1-az1", "use1-az2", "use1-az4")
PARTS = tuple(f"Zone{titled(zone)}" for zone in ZONES)
FUNCTION = "AWS::Lambda::Function"
OUTPUTS = ("ZoneUrl", "ZoneFunction", "ZoneLogGroup")
"""The parts of each zone."""


def test_a_zone_comes_and_goes_and_touches_nothing_else(zones: Template, fewer: Template, template: Template) -> None:
    """Not one letter of another zone, of the functions without one, or of what is stored."""
    resources = zones["Resources"]
    gone = resources.keys() - fewer["Resources"].keys()
    assert gone
    assert {name[: len("ZoneUse1Az2")] for name in gone} == {"ZoneUse1Az2"}
    assert fewer["Resources"] == {name: each for name, each in resources.items() if name not in gone}
    assert zones["Outputs"].keys() - fewer["Outputs"].keys() == {f"{kind}Use1Az2" for kind in OUTPUTS}
    told = {name: each for name, each in fewer["Outputs"].items() if name not in ("Zones", "RingNetworks")}  # lists
    assert told.items() <= zones["Outputs"].items()
    assert template["Resources"].items() <= fewer["Resources"].items()


def test_no_zone_knows_of_another(zones: Template) -> None:
    """What is down in one must not be what another waits for; nor does the rest of the stack need a zone."""
    for name, resource in zones["Resources"].items():
        (mine, *_) = [part for part in PARTS if name.startswith(part)] or [""]
        strangers = {other for other in mentioned(resource) if other.startswith("Zone") and not other.startswith(mine)}
        assert not strangers, name
        assert mine or not [other for other in mentioned(resource) if other.startswith("Zone")], name


def test_a_zone_is_one_subnet_by_the_id_of_the_zone(zones: Template) -> None:
    """Names such as us-east-1a are other places in other accounts. The function is in this subnet and in no other."""
    for zone, part in zip(ZONES, PARTS, strict=True):
        subnet = of(zones, part, "AWS::EC2::Subnet")
        assert (subnet["AvailabilityZoneId"], subnet["MapPublicIpOnLaunch"]) == (zone, False)
        assert "AvailabilityZone" not in subnet
        here = of(zones, part, FUNCTION)["VpcConfig"]
        assert [mentioned(each) for each in here["SubnetIds"]] == [set(ids_in(zones, part, "AWS::EC2::Subnet"))]
        assert [mentioned(each) for each in here["SecurityGroupIds"]] == [
            {ids_in(zones, part, "AWS::EC2::SecurityGroup")[0]}
        ]


def test_zones_share_no_address(zones: Template) -> None:
    """Each has the part of the network that its own number says."""
    network = ipaddress.IPv4Network(of(zones, "Network", "AWS::EC2::VPC")["CidrBlock"])
    parts = [ipaddress.IPv4Network(each["CidrBlock"]) for each in all_of(zones, "AWS::EC2::Subnet")]
    assert list(map(str, parts)) == ["10.83.1.0/24", "10.83.2.0/24", "10.83.4.0/24"]
    assert all(part.subnet_of(network) for part in parts)
    numbered = Settings(zones="apne1-az15", stack_name="sigla")
    assert numbered.cidr_of("apne1-az15") == "10.83.15.0/24"


def test_nothing_leads_out_of_a_zone_but_to_the_bucket_and_the_table(with_zones: list[Template]) -> None:
    """No gateway to the internet, no route that we made, and endpoints that let through what is the registry's."""
    for template in with_zones:
        assert not kinds(template) & {
            *("AWS::EC2::InternetGateway", "AWS::EC2::VPCGatewayAttachment", "AWS::EC2::NatGateway"),
            *("AWS::EC2::EgressOnlyInternetGateway", "AWS::EC2::Route", "AWS::EC2::VPCPeeringConnection"),
        }
        stored = {"s3": "AWS::S3::Bucket", "dynamodb": "AWS::DynamoDB::Table"}
        for part in {name[: len("ZoneUse1Az1")] for name in ids(template, "AWS::EC2::RouteTable")}:
            (routes,) = ids_in(template, part, "AWS::EC2::RouteTable")
            joined = of(template, part, "AWS::EC2::SubnetRouteTableAssociation")
            assert mentioned(joined) == {routes, *ids_in(template, part, "AWS::EC2::Subnet")}
            through = {}
            for endpoint in all_in(template, f"{part}To", "AWS::EC2::VPCEndpoint"):
                (statement,) = endpoint["PolicyDocument"]["Statement"]
                through[written(endpoint["ServiceName"]).split(".")[-1]] = mentioned(statement["Resource"])
                assert (endpoint["VpcEndpointType"], endpoint["RouteTableIds"]) == ("Gateway", [{"Ref": routes}])
            assert through == {service: set(ids(template, kind)) for service, kind in stored.items()}


def test_a_function_waits_for_its_ways_out(zones: Template) -> None:
    """It must not be asked anything before it can ask S3; and at the end they go after it."""
    for part in PARTS:
        (name,) = ids_in(zones, part, FUNCTION)
        needed = ("AWS::EC2::VPCEndpoint", "AWS::EC2::SubnetRouteTableAssociation")
        ways = {way for kind in needed for way in ids_in(zones, part, kind)}
        assert ways <= set(zones["Resources"][name]["DependsOn"])


def test_nobody_comes_into_a_zone_and_the_function_goes_where_it_must(zones: Template) -> None:
    """By HTTPS, where routes decide what it reaches, and to the ring's port in its own subnet."""
    for part in PARTS:
        guard = of(zones, f"{part}Guard", "AWS::EC2::SecurityGroup")
        assert guard["SecurityGroupIngress"] == []
        subnet = of(zones, part, "AWS::EC2::Subnet")
        rules = {
            (each["IpProtocol"], each["FromPort"], each["ToPort"], each["CidrIp"])
            for each in guard["SecurityGroupEgress"]
        }
        assert rules == {("tcp", 443, 443, "0.0.0.0/0"), ("tcp", 6379, 6379, subnet["CidrBlock"])}


def test_a_zones_function_is_the_same_code_and_knows_where_it_is(zones: Template) -> None:
    """As fast, as large and as closed as the one behind the REST API."""
    rest = of(zones, "Service", FUNCTION)
    differs = {"Description", "Environment", "LoggingConfig", "Role", "VpcConfig"}
    told = rest["Environment"]["Variables"]
    for zone, part in zip(ZONES, PARTS, strict=True):
        function = of(zones, part, FUNCTION)
        assert {name for name in function if function[name] != rest.get(name)} == differs
        variables = function["Environment"]["Variables"]
        assert told.items() <= variables.items()
        more = {name: value for name, value in variables.items() if name not in told}
        assert set(more) == {"SIGLA_ZONE", "SIGLA_RING", "SIGLA_RING_SECONDS", "ZONE_MADE_OF"}
        assert more["SIGLA_ZONE"] == zone
        assert more["SIGLA_RING_SECONDS"] == "3600"


def test_the_registry_behind_the_rest_api_is_in_no_zone(zones: Template) -> None:
    """It is there when a zone is not."""
    function = of(zones, "Service", FUNCTION)
    assert "VpcConfig" not in function
    assert not {"SIGLA_ZONE", "SIGLA_RING"} & function["Environment"]["Variables"].keys()


def test_a_zone_has_a_url_on_its_published_version(zones: Template) -> None:
    """Only published versions have snapshots. The registry asks for credentials itself; a URL needs both leaves."""
    for part in PARTS:
        url = of(zones, part, "AWS::Lambda::Url")
        assert (url["AuthType"], url["Qualifier"]) == ("NONE", "live")
        given = {
            (each["Action"], each.get("FunctionUrlAuthType"), each.get("InvokedViaFunctionUrl"))
            for each in all_in(zones, part, "AWS::Lambda::Permission")
            if each["Principal"] == "*"
        }
        assert given == {("lambda:InvokeFunctionUrl", "NONE", None), ("lambda:InvokeFunction", None, True)}


def test_each_zone_is_asked_each_minute(zones: Template) -> None:
    """With what the heartbeat has to know; one that comes late tells nothing."""
    for zone, part in zip(ZONES, PARTS, strict=True):
        rule = of(zones, part, "AWS::Events::Rule")
        assert (rule["ScheduleExpression"], rule["State"]) == ("rate(1 minute)", "ENABLED")
        (target,) = rule["Targets"]
        assert target["RetryPolicy"] == {"MaximumEventAgeInSeconds": 60, "MaximumRetryAttempts": 0}
        assert mentioned(target["Arn"]) == set(ids_in(zones, "Heartbeat", FUNCTION))
        event = json.loads(written(target["Input"]))
        asked = HeartbeatEvent.of(event)
        assert event["zone"].keys() == set(HeartbeatEvent._fields)
        (subnet,), (url,) = ids_in(zones, part, "AWS::EC2::Subnet"), ids_in(zones, part, "AWS::Lambda::Url")
        (alias,) = ids_in(zones, part, "AWS::Lambda::Alias")
        assert asked == HeartbeatEvent(zone, f"<{subnet}.AvailabilityZone>", f"<{url}.FunctionUrl>", f"<{alias}>")


def test_the_heartbeat_is_in_no_zone(with_zones: list[Template]) -> None:
    """One that is down must not take its doctor along. One function looks after all."""
    from sigla.cdk.heartbeat import MEMORY_MB

    for template in with_zones:
        function = of(template, "Heartbeat", FUNCTION)
        assert "VpcConfig" not in function
        assert "SnapStart" not in function  # it never sleeps
        assert function["MemorySize"] == MEMORY_MB


def test_what_is_wrong_with_a_zone_rings(zones: Template) -> None:
    """And that a zone says nothing of itself; everything else is well without requests."""
    for zone, part in zip(ZONES, PARTS, strict=True):
        alarms = all_in(zones, part, "AWS::CloudWatch::Alarm")
        assert Counter(each.get("MetricName", "a share") for each in alarms) == Counter(
            ["ZoneHealthy", "ZoneMismatch", "RingMembersDown", "Errors", "Throttles", "a share", "a share"]
        )
        about = rf"Sigla, the registry default in {zone}: .+\."
        assert all(re.fullmatch(about, each["AlarmDescription"]) for each in alarms)
        (healthy,) = [each for each in alarms if each.get("MetricName") == "ZoneHealthy"]
        assert {each["TreatMissingData"] for each in alarms if each != healthy} == {"notBreaching"}
        assert (healthy["ComparisonOperator"], healthy["Threshold"], healthy["Period"]) == ("LessThanThreshold", 1, 300)


def test_a_new_zone_does_not_begin_with_an_alarm(private: Template) -> None:
    """It has not been told yet: that counts as missing data.

    Whoever falls silent later has no data either, and that is told.
    """
    alarms = all_in(private, "ZoneUse1Az2", "AWS::CloudWatch::Alarm")
    (healthy,) = [each for each in alarms if each.get("MetricName") == "ZoneHealthy"]
    assert healthy["TreatMissingData"] == "missing"
    assert healthy["AlarmActions"] == healthy["InsufficientDataActions"] == healthy["OKActions"]
    others = [each for each in alarms if each != healthy]
    assert not [each for each in others if "InsufficientDataActions" in each]


def test_a_heartbeat_that_failed_is_not_repeated(zones: Template) -> None:
    """The next comes within a minute; Lambda's own tries, minutes later, would tell how a zone was."""
    told = only(zones, "AWS::Lambda::EventInvokeConfig")
    assert mentioned(told["FunctionName"]) == set(ids_in(zones, "Heartbeat", FUNCTION))
    assert (told["MaximumRetryAttempts"], told["MaximumEventAgeInSeconds"]) == (0, 60)


def test_metrics_of_zones_are_documented() -> None:
    """What the heartbeat tells; the alarms are with the others (test_watch)."""
    page = OPERATIONS.read_text(encoding="utf-8")
    assert {f"| `{name}` |" for name in ("ZoneHealthy", *TROUBLES)} <= set(
        re.findall(r"^\| `\w+` \|", page, re.MULTILINE)
    )


def test_alarms_of_zones_are_about_what_the_heartbeat_tells(zones: Template) -> None:
    """By the same names; on a metric that is never sent, an alarm would never ring, or always."""
    told = [
        each for each in all_in(zones, "ZoneUse1Az1", "AWS::CloudWatch::Alarm") if each.get("Namespace") == NAMESPACE
    ]
    assert {each["MetricName"] for each in told} == {"ZoneHealthy", *TROUBLES}
    for each in told:
        dimensions = {one["Name"]: one["Value"] for one in each["Dimensions"]}
        assert dimensions == {"service": "sigla-default", "stack": "sigla-default", "zone": "use1-az1"}


def test_on_localstack_a_zone_is_what_localstack_has(local_zones: Template) -> None:
    """Whatever it would take and not do is left out; the ring is real, and speaks plainly."""
    assert not [kind for kind in kinds(local_zones) if re.match(r"AWS::(Route53|CloudWatch|ApiGateway::\w+V2)", kind)]
    # Where no door is private, public ones stay, whatever settings say.
    assert {f"ZoneUrl{titled(zone)}" for zone in ZONES[:2]} | {"RestUrl"} <= local_zones["Outputs"].keys()
    assert {kind for kind in kinds(local_zones) if "ElastiCache" in kind} == {"AWS::ElastiCache::ReplicationGroup"}
    endpoints = all_of(local_zones, "AWS::EC2::VPCEndpoint")
    assert {each["VpcEndpointType"] for each in endpoints} == {"Gateway"}
    for part in ("ZoneUse1Az1", "ZoneUse1Az2"):
        addresses = written(of(local_zones, part, FUNCTION)["Environment"]["Variables"]["SIGLA_RING"]).split(",")
        members = ids_in(local_zones, part, "AWS::ElastiCache::ReplicationGroup")
        assert addresses == [
            f"valkey://<{each}.PrimaryEndPoint.Address>:<{each}.PrimaryEndPoint.Port>" for each in members
        ]


def test_outputs_tell_where_each_zone_is(zones: Template, private: Template) -> None:
    """By the ids of zones; the page has those of one, from which the others can be told."""
    names = {f"{kind}{titled(zone)}" for zone in ZONES for kind in OUTPUTS}
    core = {name for name in zones["Outputs"] if not name.startswith("Zone")} | {"Zones", "RingNetworks"}
    assert zones["Outputs"].keys() == names | core
    assert {"HeartbeatName", "HeartbeatLogGroupName", "VpcId"} <= core
    shown = {re.sub(r"Use\dAz\d$", "Use1Az1", name) for name in zones["Outputs"].keys() | private["Outputs"].keys()}
    page = DEPLOY.read_text(encoding="utf-8")
    assert {name for name in shown if f"`{name}`" not in page} == set()
    for zone in ZONES:
        (url,) = ids_in(zones, f"Zone{titled(zone)}", "AWS::Lambda::Url")
        assert written(zones["Outputs"][f"ZoneUrl{titled(zone)}"]["Value"]) == f"<{url}.FunctionUrl>"


def test_a_network_that_is_there_is_used(private: Template) -> None:
    """Nothing is made but the zones' own parts of it."""
    assert "AWS::EC2::VPC" not in kinds(private)
    for kind in ("AWS::EC2::Subnet", "AWS::EC2::RouteTable", "AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint"):
        assert {each["VpcId"] for each in all_of(private, kind)} == {"vpc-0123456789abcdef0"}
    assert private["Outputs"]["VpcId"]["Value"] == "vpc-0123456789abcdef0"
