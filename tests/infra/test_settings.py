"""Settings: the record and docs/deploy.md say the same, and what cannot be is refused in a sentence."""

import re
import sys
from dataclasses import replace
from pathlib import Path

import pytest

from sigla.deployment.choices.front_door import FrontDoor
from sigla.deployment.choices.function import REQUESTS_PER_SECOND, Function
from sigla.deployment.choices.network import Network
from sigla.deployment.choices.rules import BUCKET_EXPECTED, NETWORKS_EXPECTED, TABLE_EXPECTED, zones_prefix
from sigla.deployment.settings import InvalidSetting, Settings, flat
from sigla.deployment.stage_files import EXAMPLES
from sigla.rules.compatibility import LEVELS
from sigla.settings import InvalidSetting as NotRead
from sigla.settings import Settings as OfTheFunction
from tests.infra.conftest import FLAGS

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_cdk_json_holds_nothing_that_a_deployer_would_edit() -> None:
    """What a deployer has edited would conflict with the next release."""
    assert [name for name in FLAGS if not re.search("[:/]", name)] == []


def test_every_setting_is_documented_with_its_default() -> None:
    """A deployer looks there first, and a wrong default is worse than none."""
    documented = dict(re.findall(r"^\| `([a-z0-9_.]+)` \| (?:`([^`]*)`|none) \|", PAGE.read_text(), re.MULTILINE))
    shown = {
        name: str(value).lower() if isinstance(value, bool) else str(value) for name, value in flat(Settings()).items()
    }
    assert documented == shown


def test_a_setting_with_a_typo_is_refused_by_name() -> None:
    """It must not become a default; what CDK keeps in the context is not ours to judge."""
    assert Settings.read({"@aws-cdk/core:anything": True, "aws:cdk:x": 1}) == Settings()
    with pytest.raises(InvalidSetting, match=r"^Unknown setting registry_nam\. Valid settings: stage, .*\.$"):
        Settings.read({"registry_nam": "payments"})
    with pytest.raises(InvalidSetting, match=r"^Unknown setting front_door\.function_urls\. "):
        Settings.read({"front_door.function_urls": "true"})


def test_what_the_command_line_gives_as_text_is_read_as_what_it_is() -> None:
    """`cdk deploy -c watch.alarms=false` must not mean true."""
    given = {"front_door.function_url": "true", "watch.alarms": "False", "function.memory_mb": "1024"}
    settings = Settings.read(given)
    assert settings.front_door.function_url is True
    assert settings.watch.alarms is False
    assert settings.function.memory_mb == 1024
    assert settings.watch.topic_arn == ""


@pytest.mark.parametrize(
    "name, value, sentence",
    [
        ("stage", "prod", "stage is 'prod'; it must be aws or local."),
        ("identity", "prod", "identity is 'prod'; it must be 32 of 0-9 and a-f, or empty."),
        (
            "bucket_name",
            "My_Bucket",
            "bucket_name is 'My_Bucket'; it must be the name of a bucket, 3 to 63 of a-z, 0-9, '-' and '.', or empty.",
        ),
        (
            "pipelines.lake_bucket",
            "s3://the-lake",
            f"pipelines.lake_bucket is 's3://the-lake'; {BUCKET_EXPECTED}.",
        ),
        (
            "table_name",
            "a/b",
            f"table_name is 'a/b'; {TABLE_EXPECTED}.",
        ),
        (
            "stack_name",
            "my_stack",
            "stack_name is 'my_stack'; it must be 1 to 128 letters, digits and '-', a letter first, or empty.",
        ),
        ("account", "prod", "account is 'prod'; it must be the number of an AWS account, twelve digits, or empty."),
        ("region", "Ireland", "region is 'Ireland'; it must be a region, such as eu-west-1, or empty."),
        ("auth", "auto", "auth is 'auto'; it must be keys or none."),
        ("watch.alarms", "maybe", "watch.alarms is 'maybe'; it must be true or false."),
        ("function.memory_mb", "lots", "function.memory_mb is 'lots'; it must be a whole number."),
        ("log_reads", "few", "log_reads is 'few'; it must be a number."),
        ("log_reads", 2, "log_reads is 2.0; it must be between 0 and 1."),
        ("function.memory_mb", 100, "function.memory_mb is 100; it must be 256 to 10240."),
        (
            "function.kms_keys",
            "alias/mine",
            (
                "function.kms_keys is 'alias/mine'; it must be ARNs of KMS keys, arn:aws:kms:REGION:ACCOUNT:key/ID, "
                "separated by commas, or empty."
            ),
        ),
        ("front_door.burst", 0, "front_door.burst is 0; it must be 1 to 5000."),
        ("watch.topic_arn", "oncall", "watch.topic_arn is 'oncall'; it must be an ARN, or empty."),
        ("watch.notes_topic_arn", "notes", "watch.notes_topic_arn is 'notes'; it must be an ARN, or empty."),
        ("watch.email", "a@b c@d", "watch.email is 'a@b c@d'; it must be one address, or empty."),
        ("ring.kind", "redis", "ring.kind is 'redis'; it must be valkey, memcached or none."),
        ("ring.members", 0, "ring.members is 0; it must be 1 to 10."),
        ("ring.node_type", "t4g", "ring.node_type is 't4g'; it must be a type of ElastiCache's nodes."),
        ("ring.presence_seconds", 1, "ring.presence_seconds is 1; it must be 60 to 86400."),
        ("network.vpc_id", "mine", "network.vpc_id is 'mine'; it must be the id of a VPC, or empty."),
        *(
            ("front_door.private_clients", value, f"front_door.private_clients is '{value}'; {NETWORKS_EXPECTED}.")
            for value in ("10.0.0.0/8,all", "0.0.0.0/0")
        ),
    ],
)
def test_a_value_that_cannot_be_is_refused_in_a_sentence(name: str, value: object, sentence: str) -> None:
    """Which setting, what it is, what it must be: before anything is deployed."""
    with pytest.raises(InvalidSetting) as refused:
        Settings.read({name: value})
    assert str(refused.value) == sentence


def test_a_domain_needs_its_certificate() -> None:
    """And says so before CloudFormation would, minutes later."""
    with pytest.raises(InvalidSetting, match="go together"):
        Settings.read({"front_door.domain_name": "registry.example.com"})


def test_a_function_in_a_zone_needs_a_way_to_the_keys_it_may_use() -> None:
    """Its endpoint leads to KMS of its own region: every call for another key would fail after seconds."""
    key = "arn:aws:kms:eu-west-1:111122223333:key/0a1b"
    near = {"function.kms_keys": key, "zones": "euw1-az1"}
    assert Settings.read(near).zone_kms_keys == (key,)
    far = near | {"function.kms_keys": f"{key},{key.replace('eu-west-1', 'eu-central-1')}"}
    with pytest.raises(InvalidSetting, match=r"^function\.kms_keys must be of the zones' region: for others set"):
        Settings.read(far)
    given = {"network.vpc_id": "vpc-0123", "network.subnets": "euw1-az1:subnet-0123abcd"}
    assert not Settings.read(far | given).zone_kms_keys


def test_a_crowd_is_told_429_and_not_503() -> None:
    """The gateway refuses what the function has no room for: what Lambda itself refuses, a REST API tells as 503."""
    assert Settings().front_door.burst == 500
    fits = Settings(front_door=FrontDoor(burst=50), function=Function(reserved_concurrency=50))
    assert fits.front_door.burst == fits.function.reserved_concurrency
    with pytest.raises(InvalidSetting, match=r"^front_door\.burst must be at most function\.reserved_concurrency"):
        Settings(front_door=FrontDoor(burst=51), function=Function(reserved_concurrency=50))
    with pytest.raises(InvalidSetting, match=r"^front_door\.requests_per_second must be at most ten times"):
        Settings(front_door=FrontDoor(burst=50, requests_per_second=501), function=Function(reserved_concurrency=50))


def test_the_page_says_what_a_rolling_restart_asks() -> None:
    """1,000 clients of 50 schemas each, by the defaults of the settings."""
    page, door = PAGE.read_text(encoding="utf-8"), FrontDoor()
    asked = 1_000 * 50
    a_second = door.requests_per_second
    for sentence in (
        f"ask {asked:,} times",
        f"| spread over ten minutes | {asked / 600:.0f} |",
        f"| ten a second, for {asked // a_second} seconds | {a_second} |",
        f"{door.burst} are let through, then {a_second} a second: {(asked - door.burst) // a_second} seconds",
        (
            f"{a_second} requests a second keep {a_second // REQUESTS_PER_SECOND} environments or more, "
            f"{door.burst} at once take {door.burst}"
        ),
    ):
        assert sentence in page


@pytest.mark.parametrize("zones", ["", "use1-az1", " use1-az1, use1-az6 ", "apne1-az4,apne1-az15", "usgw1-az1"])
def test_zones_are_told_by_their_ids(zones: str) -> None:
    """The ids of places are the same in every account."""
    settings = Settings(zones=zones)
    assert ",".join(settings.zone_ids) == zones.replace(" ", "")
    assert len({settings.cidr_of(zone) for zone in settings.zone_ids}) == len(settings.zone_ids)


@pytest.mark.parametrize(
    "zones", ["us-east-1a", "use1", "use1-az0", "use1-az16", "use1-az1,use1-az1", "use1-az1,usw2-az2", "USE1-AZ1", "3"]
)
def test_what_is_no_zone_is_refused(zones: str) -> None:
    """A name is another place in another account; two regions are two stacks; and each zone has a part of sixteen."""
    with pytest.raises(InvalidSetting, match=r"^zones is '.*'; it must be ids of availability zones of one region"):
        Settings(zones=zones)


@pytest.mark.parametrize(
    "region, zone",
    [
        ("us-east-1", "use1-az1"),
        ("eu-central-2", "euc2-az3"),
        ("ap-southeast-5", "apse5-az1"),
        ("ap-northeast-1", "apne1-az4"),
        ("us-gov-west-1", "usgw1-az1"),
        ("cn-northwest-1", "cnnw1-az2"),
        ("il-central-1", "ilc1-az1"),
    ],
)
def test_zones_of_another_region_are_refused(region: str, zone: str) -> None:
    """CloudFormation refused them, after minutes, and put half a stack back."""
    assert zone.startswith(zones_prefix(region))
    Settings(region=region, zones=zone)
    Settings(zones=zone)
    with pytest.raises(InvalidSetting, match=r"^zones must be in region: "):
        Settings(region="eu-west-1", zones=zone)
    Settings(region="eusc-de-east-1", zones=zone)  # the names of its zones are unknown here


@pytest.mark.parametrize("cidr", ["10.0.0.0/15", "10.0.0.0/25", "10.0.0.1/20", "fd00::/20", "everywhere"])
def test_a_network_has_room_for_every_zone(cidr: str) -> None:
    """AWS has networks and subnets of /16 to /28; a zone's is a sixteenth."""
    with pytest.raises(InvalidSetting, match=r"^network.cidr is"):
        Settings(network=Network(cidr=cidr))


@pytest.mark.parametrize("cidr, first", [("10.0.0.0/16", "10.0.16.0/20"), ("10.0.0.0/24", "10.0.0.16/28")])
def test_a_zone_has_the_part_that_its_number_says(cidr: str, first: str) -> None:
    """And not one that depends on which other zones there are."""
    assert Settings(zones="use1-az9,use1-az1", network=Network(cidr=cidr)).cidr_of("use1-az1") == first


def test_private_doors_need_zones_a_name_and_a_certificate() -> None:
    door = FrontDoor(private_zonal=True, private_domain="sr.example.com", private_certificate_arn="arn:aws:acm:…")
    assert Settings(zones="use1-az1", front_door=door).private_doors
    assert not Settings(zones="use1-az1", front_door=door, stage="local").private_doors
    with pytest.raises(InvalidSetting, match="private_zonal needs zones: set zones"):
        Settings(front_door=door)
    for lacking in ("private_zonal", "private_domain", "private_certificate_arn"):
        with pytest.raises(InvalidSetting, match=r"private_zonal needs"):
            Settings(zones="use1-az1", front_door=replace(door, **{lacking: getattr(FrontDoor(), lacking)}))


DOOR = {
    "zones": "use1-az1",
    "front_door.private_zonal": True,
    "front_door.private_domain": "sr.example.com",
    "front_door.private_certificate_arn": "arn:aws:acm:us-east-1:111122223333:certificate/2",
}
CLOSED = DOOR | {"front_door.zone_urls": False, "front_door.public": False}
NOTHING_PUBLIC = "front_door.public=false excludes front_door.function_url and front_door.domain_name."
BEHIND = {
    "zones": "use1-az1",
    "front_door.private_zonal": True,
    "front_door.private_endpoints": "use1-az1:vpce-0a",
}
GUARDED = "front_door.waf_requests_per_5_minutes must be 0 with front_door.public=false: it guards the public REST API."
THERE = {"zones": "use1-az1", "network.vpc_id": "vpc-0a", "network.subnets": "use1-az1:subnet-0a"}


@pytest.mark.parametrize(
    "given, sentence",
    [
        (
            {"zones": "use1-az1", "front_door.zone_urls": False},
            "front_door.zone_urls=false needs front_door.private_zonal: else zones would have no door.",
        ),
        (
            DOOR | {"front_door.public": False},
            "front_door.public=false needs front_door.zone_urls=false, because those URLs are public.",
        ),
        (
            CLOSED | {"front_door.function_url": True},
            NOTHING_PUBLIC,
        ),
        (
            CLOSED | {"front_door.waf_requests_per_5_minutes": 1_000},
            GUARDED,
        ),
        (
            CLOSED | {"front_door.domain_name": "r.example.com", "front_door.certificate_arn": "arn:aws:acm:…"},
            NOTHING_PUBLIC,
        ),
        (
            {"network.subnets": "use1-az1:subnet-0a", "zones": "use1-az1"},
            "network.subnets needs network.vpc_id, the VPC of these subnets.",
        ),
        (THERE | {"zones": ""}, "network.subnets must name exactly one subnet for each of zones."),
        (THERE | {"zones": "use1-az1,use1-az2"}, "network.subnets must name exactly one subnet for each of zones."),
        (
            THERE | DOOR,
            "network.subnets replaces network.cidr: set front_door.private_clients, the networks of the clients.",
        ),
        (
            {"zones": "use1-az1", "front_door.private_endpoints": "use1-az1:vpce-0a"},
            "front_door.private_endpoints needs front_door.private_zonal.",
        ),
        (
            DOOR | {"front_door.private_endpoints": "use1-az1:vpce-0a"},
            (
                "front_door.private_endpoints excludes front_door.private_domain and its certificate: endpoints have "
                "names."
            ),
        ),
        (
            BEHIND | {"zones": "use1-az1,use1-az2"},
            "front_door.private_endpoints must name exactly one endpoint for each of zones.",
        ),
        (THERE | {"stage": "local"}, "network.subnets needs AWS: leave it empty where stage is local."),
    ],
)
def test_doors_and_networks_that_cannot_be_are_refused_in_a_sentence(given: dict[str, object], sentence: str) -> None:
    """A zone that no client could reach, or one in no place, would be found after half an hour of deploying."""
    with pytest.raises(InvalidSetting) as refused:
        Settings.read(given)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    "subnets", ["subnet-0a", "use1-az1=subnet-0a", "use1-az1:vpc-0a", "use1-az1:subnet-0a,use1-az2:subnet-0a"]
)
def test_subnets_say_which_zone_each_is_of(subnets: str) -> None:
    """In whichever order: one that is taken out of the list moves no other zone."""
    with pytest.raises(InvalidSetting, match=r"^network\.subnets is .* it must be zones with their subnets, each once"):
        Settings.read({"zones": "use1-az1,use1-az2", "network.vpc_id": "vpc-0a", "network.subnets": subnets})
    for given in ("use1-az1:subnet-0a,use1-az2:subnet-0b", " use1-az2 : subnet-0b , use1-az1: subnet-0a"):
        assert Network(subnets=given).subnet_ids == {"use1-az1": "subnet-0a", "use1-az2": "subnet-0b"}


@pytest.mark.parametrize("endpoints", ["vpce-0a", "use1-az1=vpce-0a", "use1-az1:subnet-0a", "use1-az1:vpce-0a," * 2])
def test_endpoints_say_which_zone_each_leads_into(endpoints: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^front_door\.private_endpoints is .*; it must be zones with endpoints"):
        Settings.read(BEHIND | {"front_door.private_endpoints": endpoints})


def test_one_endpoint_may_lead_into_several_zones() -> None:
    """A network of clients often has one, in all its zones."""
    zones = {"zones": "use1-az1,use1-az2", "front_door.private_endpoints": "use1-az1:vpce-0a,use1-az2:vpce-0a"}
    assert set(Settings.read(BEHIND | zones).front_door.endpoint_ids.values()) == {"vpce-0a"}


def test_on_localstack_public_doors_stay() -> None:
    """It has no private ones, and a stage that is private can be tried there all the same."""
    closed = Settings.read(CLOSED)
    assert not closed.public_doors
    assert not closed.zone_urls
    tried = Settings.read(CLOSED | {"stage": "local", "front_door.function_url": True})
    assert tried.public_doors
    assert tried.zone_urls


def test_the_name_of_a_stack_with_zones_fits_into_that_of_a_rings_user() -> None:
    """Which has forty letters at most, the zone's id among them."""
    assert not Settings(stack_name="x" * 100).zone_ids
    with pytest.raises(InvalidSetting, match="stack_name must have 27 letters at most"):
        Settings(stack_name="x" * 28, zones="use1-az1")


@pytest.mark.parametrize("name", ["", "-a", "A", "a/b", "a#b", "x" * 64])
def test_a_registry_name_fits_every_stored_name(name: str) -> None:
    """It is the first component of keys in S3 and DynamoDB."""
    with pytest.raises(InvalidSetting, match="registry_name"):
        Settings(registry_name=name)


@pytest.mark.parametrize("level", LEVELS)
def test_every_level_can_be_the_default(level: str) -> None:
    assert Settings(default_level=level).default_level == level


@pytest.mark.parametrize(
    "given, told",
    [
        ("nonsense=1", "Unknown setting nonsense. Valid settings: "),
        ("local", "Invalid setting 'local': expected NAME=VALUE, as in -c stage=local"),
        ("table_name=other", "-c cannot set table_name: the place of the data"),
        ("stage_file=nowhere.toml", "Stage file not found: nowhere.toml"),
        ("bucket_name=My_Bucket", "-c cannot set bucket_name: "),
    ],
)
@pytest.mark.usefixtures("cdk")
def test_a_synthesis_tells_what_is_wrong_in_a_sentence(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str], tmp_path: Path, given: str, told: str
) -> None:
    from infra.app import main

    example = ["--otherwise", str(EXAMPLES / "default.toml")]
    monkeypatch.setattr(sys, "argv", ["infra.app", *example, "-c", given, "--output", str(tmp_path)])
    assert main() == 2
    # What CDK says of this machine's Node.js at its start are lines of bytes.
    (sentence,) = [line for line in capsys.readouterr().err.splitlines() if not line.startswith("b'")]
    assert sentence.startswith(told)


@pytest.mark.parametrize("text", ["ui.example", "https://ui.example/", "https://a.example, b.example"])
def test_origins_with_which_a_function_would_not_start_are_not_deployed(text: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^cors_origins is "):
        Settings(cors_origins=text)
    with pytest.raises(NotRead):
        OfTheFunction.read({"SIGLA_CORS_ORIGINS": text})


@pytest.mark.parametrize("text", ["", "*", "null", "https://ui.example, http://localhost:3000"])
def test_origins_that_a_function_reads_are_deployed(text: str) -> None:
    assert Settings(cors_origins=text).cors_origins == OfTheFunction.read({"SIGLA_CORS_ORIGINS": text}).cors_origins


def test_a_local_stack_is_never_the_update_of_one_that_keeps_its_data() -> None:
    """CloudFormation would take the protection off bucket and table, in a minute and without an error."""
    with pytest.raises(InvalidSetting, match="stack_name must begin with sigla-local- where stage is local"):
        Settings(stage="local", stack_name="sigla-prod")
    assert Settings(stage="local", stack_name="sigla-local-mine").local
