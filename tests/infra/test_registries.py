"""Several registries of one stack: what each of them has, and what none may do to another."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import pytest

from infra import prices
from sigla import keys
from sigla.delivery.guard import claiming
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.sources import ROOT
from sigla.deployment.stage_files import FLAG, settings_of
from sigla.deployment.targets import Target, moved
from sigla.model import BodyKey, SchemaId, Subject
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import Template, all_in, as_list, ids, ids_in, of, written

REGISTRIES = ("default", "pay", "pay-ments")
"""One is the beginning of another's name."""
ROWS = [{"when": {"sub": registry}, "role": "reader", "registry": registry} for registry in REGISTRIES]
FULL = (
    IDENTITY,
    ("exporters", True),
    ("front_door.function_url", True),
    ("front_door.access_logs", True),
    ("function.reserved_concurrency", 600),
    ("watch.dashboard", True),
    ("issuers", json.dumps([{"issuer": "https://id.example", "audience": "sigla", "map": ROWS}])),
)
PARTS = {"default": "", "pay": "Registrypay", "pay-ments": "Registrypayments"}
ROLES = ("Service", "Exporters", "Issuers")


@pytest.fixture(scope="module")
def one(synthesise: Synthesise) -> Template:
    """Without tokens: rows of their map would name registries that are not there yet."""
    return synthesise(*FULL[:-1])


@pytest.fixture(scope="module")
def two(synthesise: Synthesise) -> Template:
    return synthesise(*FULL[:-1], ("registries", "pay"))


@pytest.fixture(scope="module")
def three_without_tokens(synthesise: Synthesise) -> Template:
    return synthesise(*FULL[:-1], ("registries", "pay,pay-ments"))


@pytest.fixture(scope="module")
def three(synthesise: Synthesise) -> Template:
    return synthesise(*FULL, ("registries", "pay,pay-ments"))


# --- another one --------------------------------------------------------------------------------------------------


def test_another_registry_is_one_line_and_changes_nothing_of_the_others(
    one: Template, two: Template, three_without_tokens: Template
) -> None:
    """Names of resources and all their properties; the journal's function, its filter and its role among them."""
    for before, after in ((one, two), (two, three_without_tokens)):
        assert before["Resources"].items() <= after["Resources"].items()
        outputs = {name: each for name, each in before["Outputs"].items() if name != "Registries"}
        assert outputs.items() <= after["Outputs"].items()
    assert three_without_tokens["Outputs"]["Registries"]["Value"] == "pay,pay-ments"


def test_order_does_not_matter(synthesise: Synthesise, three: Template) -> None:
    """A line that is sorted must not make anything anew."""
    other = synthesise(*FULL, ("registries", "pay-ments,pay"))
    assert json.dumps(other["Resources"], sort_keys=True) == json.dumps(three["Resources"], sort_keys=True)


def test_each_has_what_one_alone_has_and_shares_what_is_there_once(
    one: Template, three_without_tokens: Template
) -> None:
    """A function, a role, a log, doors, alarms and exporters of its own; stores, layer and journal of all."""
    shared = ("Storage", "Functions", "GatewayLogs", "Recipients", "Journal", "Watch", "CDKMetadata")
    alone = Counter(each["Type"] for name, each in one["Resources"].items() if not name.startswith(shared))
    for registry in ("pay", "pay-ments"):
        found = Counter(
            each["Type"] for name, each in three_without_tokens["Resources"].items() if is_of(name, registry)
        )
        assert found.pop("AWS::CloudWatch::Alarm") == len(watched_by(one)) - len(OF_THE_JOURNAL)
        assert found.pop("AWS::CloudWatch::Dashboard") == 1
        assert found == alone
    stores = ("AWS::S3::Bucket", "AWS::DynamoDB::Table", "AWS::Lambda::LayerVersion", "AWS::Lambda::EventSourceMapping")
    assert {kind: len(ids(three_without_tokens, kind)) for kind in stores} == dict.fromkeys(stores, 1)


OF_THE_JOURNAL = ("JournalErrors", "JournalSilent", "JournalLag", "JournalGivenUp", "JournalAside")
"""Alarms that are there once."""


def watched_by(template: Template) -> list[str]:
    return ids_in(template, "Watch", "AWS::CloudWatch::Alarm")


def test_the_bill_tells_them_apart(three: Template) -> None:
    """All that is made for a further registry and can have a tag has its name; what is shared has none."""
    tagged: dict[str, set[str]] = {}
    for name, each in three["Resources"].items():
        tags = each.get("Properties", {}).get("Tags", [])
        pairs = tags.items() if isinstance(tags, dict) else ((tag["Key"], tag["Value"]) for tag in tags)
        for key, value in pairs:
            if key == "sigla:registry":
                tagged.setdefault(value, set()).add(each["Type"])
                assert is_of(name, value)
    kinds = {"AWS::Lambda::Function", "AWS::IAM::Role", "AWS::Logs::LogGroup", "AWS::ApiGateway::RestApi"}
    assert tagged.keys() == {"pay", "pay-ments"}
    assert all(kinds <= each for each in tagged.values())


def test_each_function_is_told_its_own_registry_and_the_same_stores(three: Template) -> None:
    """And metrics of its own: what lives in one must not hide what died in another."""
    variables = {registry: of_its(three, registry, "Service", "AWS::Lambda::Function") for registry in REGISTRIES}
    told = {registry: each["Environment"]["Variables"] for registry, each in variables.items()}
    assert {registry: each["SIGLA_REGISTRY_NAME"] for registry, each in told.items()} == {
        registry: registry for registry in REGISTRIES
    }
    assert len({each["SIGLA_STACK"] for each in told.values()}) == len(REGISTRIES)
    for shared in ("SIGLA_TABLE", "SIGLA_BUCKET", "SIGLA_IDENTITY"):
        assert len({json.dumps(each[shared]) for each in told.values()}) == 1
    assert {each["ReservedConcurrentExecutions"] for each in variables.values()} == {600}


def test_each_has_its_own_urls(three: Template) -> None:
    assert {"RestUrl", "FunctionUrl", "RestUrlPay", "FunctionUrlPay", "RestUrlPayMents"} <= three["Outputs"].keys()
    assert len({json.dumps(three["Outputs"][f"RestUrl{name}"]["Value"]) for name in ("", "Pay", "PayMents")}) == 3


# --- walls --------------------------------------------------------------------------------------------------------


def of_its(template: Template, registry: str, part: str, kind: str) -> dict[str, Any]:
    """What is of a part of a registry; of the stage's own, the part has no other name before it."""
    (found,) = [
        template["Resources"][name]["Properties"]
        for name in ids_in(template, f"{PARTS[registry]}{part}", kind)
        if is_of(name, registry)
    ]
    return dict(found)


def is_of(name: str, registry: str) -> bool:
    """By the whole name: `Registrypay…` is the beginning of `Registrypayments…`."""
    if registry == "pay":
        return name.startswith("Registrypay") and not name.startswith("Registrypayments")
    return name.startswith(PARTS[registry]) if PARTS[registry] else not name.startswith("Registrypay")


def may(template: Template, registry: str, part: str, action: str, resource: str, **context: str) -> bool:
    """Whether AWS would allow it: the policy of the role evaluated, a deny before all else."""
    statements = of_its(template, registry, part, "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    effects = {each["Effect"] for each in statements if _applies(each, action, resource, context)}
    return effects == {"Allow"}


def _applies(statement: Mapping[str, Any], action: str, resource: str, context: Mapping[str, str]) -> bool:
    return (
        any(fnmatchcase(action, each) for each in as_list(statement["Action"]))
        and any(fnmatchcase(resource, written(each)) for each in as_list(statement["Resource"]))
        and all(
            _holds(operator, name, as_list(values), context)
            for operator, conditions in statement.get("Condition", {}).items()
            for name, values in conditions.items()
        )
    )


def _holds(operator: str, name: str, values: list[Any], context: Mapping[str, str]) -> bool:
    """Source: AWS IAM User Guide, "IAM JSON policy elements: Condition operators"."""
    found = context.get(name.replace(":", "_").replace("-", "_"))
    if found is None:
        return operator.endswith("IfExists")
    plain = operator.removeprefix("ForAllValues:").removeprefix("ForAnyValue:").removesuffix("IfExists")
    wanted = [written(each) for each in values]
    match plain:
        case "StringEquals":
            return found in wanted
        case "StringLike":
            return any(fnmatchcase(found, each) for each in wanted)
    raise AssertionError(f"unknown operator {operator}")


ROW_VERBS = "BatchGetItem BatchWriteItem ConditionCheckItem DeleteItem GetItem PutItem Query Scan UpdateItem"
ROW_ACTIONS = tuple(f"dynamodb:{verb}" for verb in ROW_VERBS.split())
OBJECT_ACTIONS = ("s3:GetObject", "s3:GetObjectVersion", "s3:PutObject", "s3:DeleteObject")
SECRET_ACTIONS = ("ssm:GetParameter", "ssm:PutParameter", "ssm:DeleteParameter")


def reaching(template: Template, registry: str) -> Iterator[tuple[str, str, dict[str, str]]]:
    """Every action on every kind of row, object and credential of a registry."""
    (table,) = (f"<{id}.Arn>" for id in ids(template, "AWS::DynamoDB::Table"))
    (bucket,) = (f"<{id}.Arn>" for id in ids(template, "AWS::S3::Bucket"))
    body, subject = BodyKey(".", SchemaId(7)), Subject(".", "orders")
    partitions = (
        keys.identity_pk(registry),
        keys.subject_pk(registry, subject),
        keys.id_pk(registry, body),
        keys.journal_pk(registry, 3),
        keys.segments_pk(registry),
        keys.exporters_pk(registry),
        keys.keks_pk(registry),
        keys.zones_pk(registry),
        keys.principals_pk(registry),
        keys.reads_pk(registry, body),
        keys.reads_begun_pk(registry),
    )
    for action in ROW_ACTIONS:
        for pk in partitions:
            yield action, table, {"dynamodb_LeadingKeys": pk}
    objects = (
        keys.body_object(registry, body),
        keys.identity_object(registry),
        keys.audit_object(registry),
        f"{keys.api_keys_prefix(registry)}etl.json",
        f"{keys.key_uses_prefix(registry)}etl.json",
        keys.issuer_keys_object(registry, "https://id.example"),
        keys.segment_object(registry, 1_795_488_286_000),
    )
    for action in OBJECT_ACTIONS:
        for name in objects:
            yield action, f"{bucket}/{name}", {}
    yield "s3:ListBucket", bucket, {"s3_prefix": keys.api_keys_prefix(registry)}
    yield "s3:ListBucket", bucket, {"s3_prefix": keys.schemas_prefix(registry)}
    (name,) = (f"<{id}>" for id in ids(template, "AWS::DynamoDB::Table"))
    parameter = keys.secret_parameter(name, registry, "mirror", "nonce")
    for action in SECRET_ACTIONS:
        yield action, f"arn:<AWS::Partition>:ssm:<AWS::Region>:<AWS::AccountId>:parameter{parameter}", {}


@pytest.mark.parametrize("part", ROLES)
def test_a_role_of_one_registry_reaches_nothing_of_another(three: Template, part: str) -> None:
    """By policy, not by code: a function that is taken over opens its own registry and no other."""
    for registry in REGISTRIES:
        for other in REGISTRIES:
            reached = [
                (action, place, context)
                for action, place, context in reaching(three, other)
                if may(three, registry, part, action, place, **context)
            ]
            assert bool(reached) == (registry == other), (registry, other, reached[:3])


def test_a_role_reaches_what_its_registry_needs(three: Template) -> None:
    """The evaluation above would be worth nothing if it denied everything."""
    (table,) = (f"<{id}.Arn>" for id in ids(three, "AWS::DynamoDB::Table"))
    (bucket,) = (f"<{id}.Arn>" for id in ids(three, "AWS::S3::Bucket"))
    for registry in REGISTRIES:
        row = {"dynamodb_LeadingKeys": keys.subject_pk(registry, Subject(".", "orders"))}
        own = {"dynamodb_LeadingKeys": keys.identity_pk(registry)}
        body = f"{bucket}/{keys.body_object(registry, BodyKey('.', SchemaId(7)))}"
        assert may(three, registry, "Service", "dynamodb:UpdateItem", table, **row)
        assert may(three, registry, "Service", "dynamodb:BatchGetItem", table, **own)
        assert not may(three, registry, "Service", "dynamodb:UpdateItem", table, **own)
        assert may(three, registry, "Service", "s3:PutObject", body)
        assert not may(three, registry, "Service", "s3:DeleteObject", body)


def test_the_journals_role_reaches_every_registry_but_no_key_and_no_credential(three: Template) -> None:
    """The exception, said where all grants stand; it writes no identity, and removes no object."""
    (bucket,) = (f"<{id}.Arn>" for id in ids(three, "AWS::S3::Bucket"))
    (table,) = (f"<{id}.Arn>" for id in ids(three, "AWS::DynamoDB::Table"))
    for registry in (*REGISTRIES, "of-another-stack"):
        reached = {
            (action, context.get("dynamodb_LeadingKeys") or place.removeprefix(f"{bucket}/"))
            for action, place, context in reaching(three, registry)
            if may(three, "default", "Journal", action, place, **context)
        }
        assert ("dynamodb:Query", keys.journal_pk(registry, 3)) in reached
        assert ("s3:PutObject", keys.segment_object(registry, 1_795_488_286_000)) in reached
        refused = (f"{registry}/keys/", f"{registry}/key-uses/", f"{registry}/issuers/")
        assert not [place for _, place in reached if place.startswith(refused) or ":parameter/" in place]
        assert {action for action, place in reached if place == keys.identity_pk(registry)} <= {
            "dynamodb:BatchGetItem",
            "dynamodb:Query",
        }
        assert not {action for action, _ in reached} & {"s3:DeleteObject", "dynamodb:Scan"}
    served = {"dynamodb_LeadingKeys": keys.identity_pk("pay")}
    assert not may(three, "default", "Journal", "dynamodb:Query", table, **served)


def test_on_stores_that_were_given_the_journals_role_names_the_stacks_registries(synthesise: Synthesise) -> None:
    """What else stands there may be another team's."""
    given = synthesise(
        IDENTITY,
        ("registries", "pay"),
        ("bucket_name", "kept-bodies"),
        ("table_name", "kept-catalog"),
        ("table_stream_arn", "arn:aws:dynamodb:eu-west-1:1:table/kept-catalog/stream/2026"),
    )
    statements = of(given, "Journal", "AWS::IAM::Policy")["PolicyDocument"]["Statement"]
    told = {each["Sid"]: each for each in statements}
    assert list(told["Rows"]["Condition"].values()) == [{"dynamodb:LeadingKeys": ["default#*", "pay#*"]}]
    assert {written(each).partition(":::")[2] for each in as_list(told["Writing"]["Resource"])} == {
        f"kept-bodies/{registry}/{kind}/*"
        for registry in ("default", "pay")
        for kind in ("schemas", "guids", "journal")
    }
    filters = of(given, "Journal", "AWS::Lambda::EventSourceMapping")["FilterCriteria"]["Filters"]
    assert all("default#" in each["Pattern"] and "pay#" in each["Pattern"] for each in filters)


# --- what a deployer says -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "wrong, sentence",
    [
        ({"registries": "default"}, r"^registries are further ones: leave registry_name out of them\.$"),
        ({"registries": "pay,pay"}, r"^registries is 'pay,pay'; it must be names of registries, each once, "),
        ({"registries": "Pay"}, r"^registries is 'Pay'; it must be names of registries"),
        ({"registries": "a1,a-1"}, r"^registries must differ by more than where a '-' stands"),
        ({"registries": "pay", "zones": "use1-az1"}, r"^registries excludes zones: give a registry with zones a stack"),
        ({"registries": "p" * 63, "stack_name": "s" * 70}, r"^stack_name and the longest name of registries must have"),
    ],
)
def test_registries_that_cannot_be_are_refused_in_a_sentence(wrong: dict[str, str], sentence: str) -> None:
    with pytest.raises(InvalidSetting, match=sentence):
        Settings.read(wrong)


def test_a_registry_that_would_be_removed_is_told_before_anything_is_deployed() -> None:
    """Its data stays, and its URLs answer no more. One that is called like an output is a registry as any other."""
    before, after = (
        Settings(identity="0" * 32, registries="pay,url-list"),
        Settings(identity="0" * 32, registries="pay"),
    )
    outputs = {
        **{name: value for name, (value, _) in Target.of(before).outputs.items()},
        "RestUrl": "https://a",
        "RestUrlPay": "https://b",
        "RestUrlUrlList": "https://c",
        "FunctionNameUrlList": "sigla-url-list",
    }
    assert moved(outputs, Target.of(before)) == []
    assert moved(outputs, Target.of(after)) == [
        "registries would change from 'pay,url-list' to 'pay': url-list would be removed.",
        "RestUrlUrlList would be removed: https://c would no longer answer.",
    ]


def test_each_registry_is_claimed_and_says_whose_journal_function_serves_it() -> None:
    settings = Settings(identity="0" * 32, registries="pay")
    own, pay = claiming(settings, {"BucketName": "b", "TableName": "t"})
    place = ["init", "--bucket", "b", "--table", "t"]
    assert own == [*place, "--registry", "default", "--identity", "0" * 32]
    assert pay == [*place, "--registry", "pay", "--identity", "0" * 32, "--journal-of", "default"]


def test_alarms_of_each_say_whose_they_are(three: Template) -> None:
    for registry in ("pay", "pay-ments"):
        alarms = [
            three["Resources"][name]["Properties"]
            for name in ids(three, "AWS::CloudWatch::Alarm")
            if is_of(name, registry)
        ]
        assert all(f"the registry {registry}: " in each["AlarmDescription"] for each in alarms)
    assert all_in(three, "Watch", "AWS::CloudWatch::Alarm")


ISSUER = '[{"issuer":"https://id.example","audience":"sigla","map":[{"when":{"sub":"a"},"role":"reader"%s}]}]'


@pytest.mark.parametrize(
    "registry, sentence",
    [
        ("", r'^issuers: a row of map names no "registry": say for which of default, pay it is\.$'),
        (',"registry":"paid"', r"^issuers: a row of map names the registry paid; there are default, pay\.$"),
    ],
)
def test_each_row_of_a_map_says_for_which_registry_it_is(registry: str, sentence: str) -> None:
    """A map that was written for one registry must not open the next one as well."""
    Settings(issuers=ISSUER % "")
    Settings(issuers=ISSUER % ',"registry":["pay","default"]', registries="pay")
    with pytest.raises(InvalidSetting, match=sentence):
        Settings(issuers=ISSUER % registry, registries="pay")


def test_a_stage_file_has_them_as_a_list(tmp_path: Path) -> None:
    """In `-c` they stand with commas, but a command line cannot say where data is: that is the file's."""
    path = tmp_path / "prod.toml"
    path.write_text(f'identity = "{"1" * 32}"\nregistries = ["pay", "ads"]\n')
    assert settings_of({FLAG: str(path)}).more_registries == ("pay", "ads")
    with pytest.raises(InvalidSetting, match=r"^-c cannot set registries: "):
        settings_of({FLAG: str(path), "registries": "pay"})


def test_another_registry_costs_what_the_page_says(synthesise: Synthesise) -> None:
    """By the month, before it is asked anything."""
    more = prices.total(synthesise(IDENTITY, ("registries", "pay"))) - prices.total(synthesise(IDENTITY))
    page = (ROOT / "docs" / "registries.md").read_text()
    assert f"**${more:.2f}** a month" in page
