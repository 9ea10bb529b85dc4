"""A pool: several registries that one function serves, and what its role may reach."""

import json
from pathlib import Path
from typing import Any

import pytest

from sigla import keys
from sigla.delivery.guard import claiming
from sigla.deployment.choices.front_door import FrontDoor
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.targets import Target, moved
from sigla.model import BodyKey, SchemaId, Subject
from tests.infra.conftest import FLAGS, IDENTITY, Placed, Synthesise, quick_app
from tests.infra.reading import Template, all_of, ids, of
from tests.infra.test_registries import may, reaching

# As `sigla.cdk.variables` writes them, which cannot be imported without CDK and its Node.js, in each worker.
POOL, POOL_DOMAIN = "SIGLA_REGISTRIES", "SIGLA_REGISTRY_DOMAIN"

CERTIFICATE = "arn:aws:acm:eu-west-1:123456789012:certificate/1"


@pytest.fixture(scope="module")
def two(synthesise: Synthesise) -> Template:
    return synthesise(IDENTITY, ("pool", "ads"))


@pytest.fixture(scope="module")
def three(synthesise: Synthesise) -> Template:
    return synthesise(IDENTITY, ("pool", "ads,crm"))


@pytest.fixture(scope="module")
def beside_silos(synthesise: Synthesise) -> Template:
    """`pay` and `pay-ments` have functions of their own; the pool has `default` and `ads`, and names of its own."""
    return synthesise(
        IDENTITY,
        ("pool", "ads"),
        ("registries", "pay,pay-ments"),
        ("front_door.domain_name", "*.sr.example"),
        ("front_door.certificate_arn", CERTIFICATE),
        ("function.quota_per_second", 2.5),
        ("function.quota_versions", 5_000),
    )


def differing(one: Any, other: Any, path: str = "") -> set[str]:
    """Where two values differ."""
    if isinstance(one, dict) and isinstance(other, dict):
        names = one.keys() | other.keys()
        return set().union(*(differing(one.get(name), other.get(name), f"{path}/{name}") for name in names))
    if isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        return set().union(*(differing(*pair, f"{path}/{at}") for at, pair in enumerate(zip(one, other, strict=True))))
    return set() if one == other else {path}


def unnamed(template: Template) -> Template:
    """The template without the fingerprint in the name of the function's version, which follows from the rest."""
    (version,) = (id for id in ids(template, "AWS::Lambda::Version") if id.startswith("Service"))
    renamed: Template = json.loads(json.dumps(template).replace(version, "Version"))
    return renamed


def test_another_registry_of_a_pool_is_one_variable_and_nothing_else(two: Template, three: Template) -> None:
    """No role, no door, no alarm, no filter changes: one line, deployed within a minute, and fifty cost as one."""
    (function,) = (id for id in ids(two, "AWS::Lambda::Function") if id.startswith("Service"))
    variable = f"/Resources/{function}/Properties/Environment/Variables/{POOL}"
    assert differing(unnamed(two), unnamed(three)) == {variable, "/Outputs/Pool/Value"}
    assert variables(three)[POOL] == "default,ads,crm"


def variables(template: Template) -> dict[str, str]:
    return dict(of(template, "ServiceFunction", "AWS::Lambda::Function")["Environment"]["Variables"])


def test_a_pool_has_the_resources_of_one_registry(template: Template, two: Template) -> None:
    """What a first one changes of a stack that is there: the function's variable, its role, and words."""

    def kinds(of: Template) -> list[str]:
        return sorted(each["Type"] for each in of["Resources"].values())

    assert kinds(template) == kinds(two)
    assert not [
        id for id in template["Resources"].keys() - two["Resources"].keys() if not id.startswith("ServiceFunction")
    ]
    assert POOL not in json.dumps(template)


def test_the_role_of_a_pool_reaches_all_of_it_whatever_its_registries_are_called(two: Template) -> None:
    """By code and not by policy: so it is said where all grants stand, and a registry with walls has its own function.

    What no registry's function may do, a pool's may not do either.
    """
    (table,) = (f"<{id}.Arn>" for id in ids(two, "AWS::DynamoDB::Table"))
    (bucket,) = (f"<{id}.Arn>" for id in ids(two, "AWS::S3::Bucket"))
    for registry in ("default", "ads", "added-later"):
        row = {"dynamodb_LeadingKeys": keys.subject_pk(registry, Subject(".", "orders"))}
        own = {"dynamodb_LeadingKeys": keys.identity_pk(registry)}
        body = f"{bucket}/{keys.body_object(registry, BodyKey('.', SchemaId(7)))}"
        assert may(two, "default", "Service", "dynamodb:UpdateItem", table, **row)
        assert may(two, "default", "Service", "dynamodb:BatchGetItem", table, **own)
        assert not may(two, "default", "Service", "dynamodb:UpdateItem", table, **own)
        assert not may(two, "default", "Service", "dynamodb:Scan", table)
        assert may(two, "default", "Service", "s3:GetObject", body)
        assert may(two, "default", "Service", "s3:PutObject", body)
        assert may(two, "default", "Service", "s3:ListBucket", bucket, s3_prefix=keys.api_keys_prefix(registry))
        assert may(two, "default", "Service", "s3:GetObject", f"{bucket}/{keys.api_keys_prefix(registry)}etl.json")
        assert not may(two, "default", "Service", "s3:PutObject", f"{bucket}/{keys.api_keys_prefix(registry)}etl.json")
        assert not may(two, "default", "Service", "s3:PutObject", f"{bucket}/{keys.identity_object(registry)}")
        assert not may(two, "default", "Service", "s3:DeleteObject", body)


def test_a_pool_reaches_no_registry_that_has_a_function_of_its_own(beside_silos: Template) -> None:
    """Walls stand by policy in both directions: who wants them has `registries`, also beside a pool."""
    pooled, silos = ("default", "ads"), ("pay", "pay-ments")
    for role, others in (("default", silos), *((each, tuple({*pooled, *silos} - {each})) for each in silos)):
        for other in others:
            reached = [
                (action, place, context)
                for action, place, context in reaching(beside_silos, other)
                if may(beside_silos, role, "Service", action, place, **context)
            ]
            assert not reached, (role, other, reached[:3])
    assert any(may(beside_silos, "default", "Service", *each[:2], **each[2]) for each in reaching(beside_silos, "ads"))
    told = all_of(beside_silos, "AWS::Lambda::Function")
    pools = [each["Environment"]["Variables"].get(POOL) for each in told]
    assert [each for each in pools if each] == ["default,ads"], "a function with walls was told of the pool"


def test_where_stores_were_given_no_grant_and_no_filter_names_a_registry_of_the_pool(synthesise: Synthesise) -> None:
    """As after a restore: a policy that named each one would end at a dozen, and fifty could not come back."""
    stores = (
        ("bucket_name", "kept-bodies"),
        ("table_name", "kept-catalog"),
        ("table_stream_arn", "arn:aws:dynamodb:eu-west-1:1:table/kept-catalog/stream/2026"),
    )
    given = synthesise(IDENTITY, *stores, ("pool", "marked-one"))
    assert [id for id, each in given["Resources"].items() if "marked-one" in json.dumps(each)] == [
        id for id in ids(given, "AWS::Lambda::Function") if id.startswith("Service")
    ]


def test_in_zones_another_registry_of_a_pool_is_one_variable_of_each_function(synthesise: Synthesise) -> None:
    """What a zone has, its ring and its doors, serves all of the pool as it is."""
    zones = (IDENTITY, ("zones", "use1-az1"), ("region", "us-east-1"))
    two, three = (synthesise(*zones, ("pool", pool)) for pool in ("ads", "ads,crm"))
    functions = [
        id
        for id, each in two["Resources"].items()
        if each["Type"] == "AWS::Lambda::Function" and POOL in each["Properties"]["Environment"]["Variables"]
    ]
    assert [id[:7] for id in functions] == ["Service", "ZoneUse"]
    told = [each["Properties"]["Environment"]["Variables"].get(POOL) for each in map(three["Resources"].get, functions)]
    assert told == ["default,ads,crm"] * 2
    before, after = (
        {name: each for name, each in template["Resources"].items() if each["Type"] in KEPT}
        for template in (two, three)
    )
    assert before == after


KEPT = {
    *("AWS::IAM::Role", "AWS::IAM::Policy", "AWS::Events::Rule", "AWS::Logs::LogGroup", "AWS::EC2::Subnet"),
    *("AWS::ElastiCache::CacheCluster", "AWS::ElastiCache::ReplicationGroup", "AWS::ElastiCache::User"),
    *("AWS::EC2::SecurityGroup", "AWS::EC2::VPCEndpoint", "AWS::ApiGateway::RestApi", "AWS::CloudWatch::Alarm"),
}
"""What names a function or is part of a zone, and must not change with a pool."""


def test_a_wildcard_domain_gives_each_registry_a_host_name(beside_silos: Template) -> None:
    """One certificate and one name in the DNS for all that there are and will be."""
    assert variables(beside_silos)[POOL_DOMAIN] == "sr.example"
    assert beside_silos["Outputs"]["DomainUrl"]["Value"] == "https://*.sr.example"
    assert [each["DomainName"] for each in all_of(beside_silos, "AWS::ApiGateway::DomainName")] == ["*.sr.example"]
    assert FrontDoor(domain_name="sr.example").wildcard_domain == ""


@pytest.mark.parametrize("quota, value", [("REQUESTS_PER_SECOND", "2.5"), ("VERSIONS", "5000")])
def test_a_quota_is_a_variable_where_one_is_set(
    beside_silos: Template, template: Template, quota: str, value: str
) -> None:
    """Each registry has it, those with functions of their own as well."""
    name = f"SIGLA_QUOTA_{quota}"
    told = [each["Environment"]["Variables"].get(name) for each in all_of(beside_silos, "AWS::Lambda::Function")]
    assert sorted(filter(None, told)) == [value] * 3
    assert name not in variables(template)


# --- what a deployer says -----------------------------------------------------------------------------------------

PRIVATE = {
    "pool": "pay",
    "front_door.public": "false",
    "front_door.zone_urls": "false",
    "front_door.private_zonal": "true",
    "front_door.private_domain": "sr.example",
    "front_door.private_certificate_arn": CERTIFICATE,
}


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"pool": "default"}, r"^pool and registries are further ones, each in one of the two: leave registry_name"),
        ({"pool": "pay", "registries": "ads,pay"}, r"^pool and registries are further ones, each in one of the two"),
        ({"pool": "pay,pay"}, r"^pool is 'pay,pay'; it must be names of registries, each once, "),
        ({"pool": "Pay"}, r"^pool is 'Pay'; it must be names of registries"),
        ({"pool": "pay", "exporters": "true"}, r"^pool excludes exporters: have the registries that write"),
        ({"pool": "pay", "auth": "none"}, r"^pool with auth=none goes by host names alone: set front_door\.domain"),
        (PRIVATE, r"^front_door\.private_zonal needs zones|^pool needs a function"),
        (
            {"pool": ",".join(f"registry-{n:03}" for n in range(300))},
            r"^pool and issuers must have 3000 bytes together",
        ),
    ],
)
def test_a_pool_that_cannot_be_is_refused_in_a_sentence(wrong: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        Settings.read(wrong)


def test_each_row_of_a_map_says_for_which_of_all_registries_it_is() -> None:
    row = '[{"issuer":"https://id.example","audience":"sigla","map":[{"when":{"sub":"a"},"role":"reader"%s}]}]'
    Settings(issuers=row % ',"registry":["default","ads","pay"]', pool="ads", registries="pay")
    with pytest.raises(InvalidSetting, match=r'^issuers: a row of map names no "registry": say for which of default, '):
        Settings(issuers=row % "", pool="ads")


def test_who_has_to_change_credentials_is_told_before_anything_is_deployed() -> None:
    """With the first line of a pool clients of the registry that was alone must name it."""
    alone, ads, more = (Settings(identity="0" * 32, pool=pool) for pool in ("", "ads", "ads,crm"))

    def outputs(settings: Settings) -> dict[str, str]:
        return {name: value for name, (value, _) in Target.of(settings).outputs.items()}

    assert moved(outputs(ads), Target.of(more)) == []
    assert moved(outputs(alone), Target.of(ads)) == [
        "Clients of default would have to name it, as NAME@default in the user, which they may do already."
    ]
    assert moved(outputs(more), Target.of(ads)) == ["pool would change from 'ads,crm' to 'ads': crm would be removed."]
    assert moved(outputs(ads), Target.of(alone)) == ["pool would change from 'ads' to '': ads would be removed."]


def test_each_of_a_pool_is_claimed_and_served_by_the_one_journal_function() -> None:
    settings = Settings(identity="0" * 32, registries="pay", pool="ads")
    claimed = [
        words[words.index("--registry") + 1 :] for words in claiming(settings, {"BucketName": "b", "TableName": "t"})
    ]
    assert [words[0] for words in claimed] == ["default", "pay", "ads"]
    assert [words[-1] for words in claimed[1:]] == ["default", "default"]


def test_a_reader_of_a_registry_of_a_pool_reads_that_one_alone(cdk: Any, tmp_path: Path, placed: Placed) -> None:
    """Jobs and people of the account have roles for one registry each, also where the function has not."""
    from aws_cdk import aws_iam

    from sigla.cdk import Registry

    stack = cdk.Stack(quick_app(cdk, tmp_path, FLAGS), "Platform")
    rows = [{"when": {"sub": name}, "role": "reader", "registry": name} for name in ("default", "ads")]
    tokens = [{"issuer": "https://id.example", "audience": "sigla", "map": rows}]
    made = Registry(stack, "Registry", placed=placed, identity=IDENTITY[1], pool=["ads"], issuers=tokens)
    reader = aws_iam.Role(stack, "Reader", assumed_by=aws_iam.AccountRootPrincipal())
    given = made.grant_read(reader, registry="ads").principal_statements
    told = json.dumps([stack.resolve(each.to_json()) for each in given])
    assert '"ads#*"' in told
    assert "default" not in told
    assert made.metric("ServerErrors", registry="ads").dimensions == made.metric("ServerErrors").dimensions
