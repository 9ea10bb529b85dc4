"""A registry in two regions as stacks: what each may do in the other one, what wakes it, what rings; and what not."""

import json
import re
from typing import Any

import pytest

from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.targets import Target, moved
from sigla.deployment.translation import differences
from sigla.functions.replay import COMMITTED, SOURCE
from sigla.regions.installed_here import ANSWERING
from sigla.settings import Settings as Told
from tests.infra.conftest import IDENTITY, KEY, Synthesise
from tests.infra.reading import Template, all_in, all_of, as_list, ids_in, mentioned, of, written
from tests.infra.test_exporters import variables
from tests.infra.test_grants import FOUND_AND_TOLD, ROWS, allowed, statements
from tests.unit.aws.buses import matches

PART = "Replay"
FUNCTION = "AWS::Lambda::Function"
PEER = "dynamodb+s3://sigla-there-Catalog/sigla-there-bodies?region=eu-central-1"
HERE = "dynamodb+s3://sigla-here-Catalog/sigla-here-bodies?region=eu-west-1"
IN_REGIONS = (IDENTITY, ("regions.peer", PEER))
TABLE = "arn:<AWS::Partition>:dynamodb:eu-central-1:<AWS::AccountId>:table/sigla-there-Catalog"
STREAM = {f"dynamodb:{each}" for each in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")}
BUCKET = "arn:<AWS::Partition>:s3:::sigla-there-bodies"


@pytest.fixture(scope="session")
def regions_stack(synthesise: Synthesise) -> Template:
    """The stack of a registry with another region."""
    return synthesise(IDENTITY, ("regions.peer", PEER))


def test_a_stack_with_another_region_is_the_stack_without_it_and_what_is_for_that(
    template: Template, regions_stack: Template
) -> None:
    """A registry with one region costs what it did; one that gets another is told where that is, and nothing else."""
    more = json.loads(json.dumps(regions_stack["Resources"]))
    new = {name: more.pop(name) for name in sorted(more.keys() - template["Resources"].keys())}
    versions = [name for name in new if "CurrentVersion" in name]
    counted = [name for name in new if "OutOfStep" in name]
    assert {name.removeprefix("Watch")[:6] for name in new if name not in (*versions, *counted)} == {"Replay", "Region"}
    (function,) = [each for name, each in more.items() if name in ids_in(template, "Service", FUNCTION)]
    told = function["Properties"]["Environment"]["Variables"]
    assert {name: told.pop(name) for name in list(told) if "REGION_" in name} == {
        "SIGLA_REGION_PEER": PEER,
        "SIGLA_REGION_ROLE": "primary",
        "SIGLA_REGION_BODIES": "best_effort",
    }
    (policy,) = [each for name, each in more.items() if name.startswith("ServiceRoleDefaultPolicy")]
    given = policy["Properties"]["PolicyDocument"]["Statement"]
    for each in [each for each in given if each["Sid"].startswith("Other")]:
        given.remove(each)
    assert without_versions(more) == without_versions(template["Resources"])
    assert PART not in json.dumps(template)


def without_versions(resources: dict[str, Any]) -> str:
    """A function that is told something has another version, which is called after what is in it."""
    kept = {name: each for name, each in resources.items() if "CurrentVersion" not in name}
    return re.sub(r"CurrentVersion\w+", "", json.dumps(kept, sort_keys=True))


def test_both_regions_have_the_same_resources(synthesise: Synthesise, regions_stack: Template) -> None:
    """Which of them takes writes stands in their data: no deployment is a part of a promotion."""
    other = synthesise(
        ("identity", "f" * 32), ("regions.peer", HERE), ("regions.role", "follower"), ("region", "eu-central-1")
    )
    kinds = ({name: each["Type"] for name, each in one["Resources"].items()} for one in (regions_stack, other))
    one, two = ({name for name in each if "CurrentVersion" not in name and "Deployment" not in name} for each in kinds)
    assert one == two
    told = variables(other, PART)
    assert (told["SIGLA_REGION_PEER"], told["SIGLA_REGION_ROLE"]) == (HERE, "follower")
    assert variables(regions_stack, PART)["SIGLA_REGION_ROLE"] == "primary"


def test_what_says_of_a_stack_what_it_runs_is_told_all_by_which_its_registry_answers_otherwise(
    synthesise: Synthesise,
) -> None:
    """Two regions are compared by it before they change places."""
    stack = synthesise(
        *IN_REGIONS, ("default_level", "FULL"), ("function.quota_per_second", 7), ("function.quota_versions", 9)
    )
    answers, says = (Told.read(variables(stack, part)) for part in ("Service", PART))
    named = "default_level", "quota_requests_per_second", "quota_versions"
    assert [getattr(says, each) for each in named] == ["FULL", 7, 9]
    assert [getattr(says, each) for each in ANSWERING] == [getattr(answers, each) for each in ANSWERING]
    assert says.auth == answers.auth


def test_it_may_do_this_here_and_this_in_the_other_region_and_nothing_else(regions_stack: Template) -> None:
    """Every grant there is. What the other region has committed it cannot change, and no object of it."""
    kinds = ("schemas", "guids")
    assert allowed(regions_stack, PART) == {
        *ROWS,
        *FOUND_AND_TOLD,
        ("s3:GetObject", "bucket/default/identity.json"),
        *(("s3:GetObject", f"bucket/default/{kind}/*") for kind in kinds),
        *(("s3:PutObject", f"bucket/default/{kind}/*") for kind in kinds),
        *((f"dynamodb:{action}", "table/stream/*") for action in ("DescribeStream", "GetRecords", "GetShardIterator")),
        ("dynamodb:ListStreams", "table/stream/*"),
        *((f"dynamodb:{action}", TABLE) for action in ("BatchGetItem", "Query", "Scan")),
        *((f"dynamodb:{action}", TABLE) for action in ("ConditionCheckItem", "UpdateItem")),
        *(("s3:GetObject", f"{BUCKET}/default/{kind}/*") for kind in kinds),
        ("s3:ListBucket", BUCKET),
        ("events:PutEvents", "arn:<AWS::Partition>:events:eu-central-1:<AWS::AccountId>:event-bus/default"),
    }
    told = {each["Sid"]: each for each in statements(regions_stack, PART)}
    ((_, written_there),) = told["OtherRole"]["Condition"].items()
    assert written_there == {"dynamodb:LeadingKeys": ["default#g", "default#region#*", "default#x#*"]}
    assert told["OtherRows"]["Condition"] == told["Rows"]["Condition"]


def test_no_other_function_reaches_another_region(regions_stack: Template) -> None:
    """But for the registry's, which tells that one how far ids are given before it gives them."""
    for policy in all_of(regions_stack, "AWS::IAM::Policy"):
        reaches = "sigla-there" in json.dumps(policy) or "events:PutEvents" in json.dumps(policy)
        assert reaches == policy["PolicyName"].startswith((PART, "ServiceRole"))
    reached = {each for each in allowed(regions_stack, "Service") if "sigla-there" in each[1]}
    assert reached == {
        *((f"dynamodb:{action}Item", TABLE) for action in ("BatchGet", "ConditionCheck", "Update")),
        ("dynamodb:Query", TABLE),
        *(
            (f"s3:{action}Object", f"{BUCKET}/default/{kind}/*")
            for kind in ("schemas", "guids")
            for action in ("Get", "Put")
        ),
        *((f"s3:{action}Object", f"{BUCKET}/default/handed/*") for action in ("Get", "Put")),
        ("s3:ListBucket", BUCKET),
    }
    given = {each["Sid"]: each for each in statements(regions_stack, "Service")}
    assert list(given["OtherRole"]["Condition"].values()) == [
        {"dynamodb:LeadingKeys": ["default#g", "default#region#*", "default#x#*"]}
    ]
    read = {"ForAllValues:StringLike": {"dynamodb:LeadingKeys": ["default#j#*"]}}
    assert given["OtherCommits"]["Condition"] == read, "of what is committed there, its journal tells"
    for each in ("OtherBodies", "OtherKeys"):
        assert given[each]["Condition"] == {"Null": {"s3:if-none-match": "false"}}, "nothing there is replaced"
    handed = {each for each in allowed(regions_stack, "Service") if "bucket/default/handed" in each[1]}
    assert {action for action, _ in handed} == {"s3:GetObject", "s3:PutObject"}, "what that region has handed over here"


def test_a_key_of_the_other_region_is_used_by_way_of_its_stores_alone(synthesise: Synthesise) -> None:
    key = KEY.replace("us-east-1", "eu-central-1")
    stack = synthesise(*IN_REGIONS, ("regions.peer_key_arn", key), ("platform.key_arn", KEY), ("exporters", True))
    told = {each["Sid"]: each for each in statements(stack, PART)}
    assert (told["OtherKey"]["Resource"], told["Key"]["Resource"]) == (key, KEY)
    ways = told["OtherKey"]["Condition"]["StringEquals"]["kms:ViaService"]
    assert ways == [f"{store}.eu-central-1.amazonaws.com" for store in ("dynamodb", "s3", "sqs")]


def test_functions_that_do_what_only_a_primary_does_know_that_there_are_two_regions(synthesise: Synthesise) -> None:
    """Exporters write to their destinations from the primary alone."""
    key = KEY.replace("us-east-1", "eu-central-1")
    stack = synthesise(*IN_REGIONS, ("regions.peer_key_arn", key), ("platform.key_arn", KEY), ("exporters", True))
    assert variables(stack, "Exporters")["SIGLA_REGION_PEER"] == PEER


def test_its_clock_comes_each_minute_and_nothing_is_repeated(regions_stack: Template) -> None:
    """It may work for longer than that: a copy is left to whoever is at it."""
    rules = all_in(regions_stack, PART, "AWS::Events::Rule")
    (clock,) = [each for each in rules if "ScheduleExpression" in each]
    assert (clock["ScheduleExpression"], clock["State"]) == ("rate(1 minute)", "ENABLED")
    for each in rules:
        (target,) = each["Targets"]
        assert mentioned(target["Arn"]) == set(ids_in(regions_stack, PART, FUNCTION))
    assert of(regions_stack, PART, FUNCTION)["Timeout"] == 900
    retried = of(regions_stack, PART, "AWS::Lambda::EventInvokeConfig")
    assert (retried["MaximumRetryAttempts"], retried["MaximumEventAgeInSeconds"]) == (0, 60)


def test_commits_are_told_within_a_second_and_heard_for_this_table_alone(regions_stack: Template) -> None:
    """Several stages of one account may have registries of one name."""
    (stream,) = all_in(regions_stack, PART, "AWS::Lambda::EventSourceMapping")
    assert (stream["BatchSize"], stream["MaximumBatchingWindowInSeconds"]) == (16, 1)
    assert (stream["StartingPosition"], stream["MaximumRecordAgeInSeconds"]) == ("LATEST", 60)
    (row,) = (json.loads(each["Pattern"]) for each in stream["FilterCriteria"]["Filters"])
    assert row == {"eventName": ["INSERT"], "dynamodb": {"NewImage": {"pk": {"S": [{"prefix": "default#j#"}]}}}}
    (told,) = [
        each["EventPattern"] for each in all_in(regions_stack, PART, "AWS::Events::Rule") if "EventPattern" in each
    ]
    (table,) = told["detail"].pop("table")
    assert written(table).startswith("<StorageCatalog")
    entry = {"Source": SOURCE, "DetailType": COMMITTED, "Detail": json.dumps({"registry": "default"})}
    assert matches(told, entry)
    assert not matches(told, {**entry, "Detail": json.dumps({"registry": "payments"})})
    assert not matches(told, {**entry, "Source": "sigla"})


def test_without_a_stream_the_clock_alone_comes(synthesise: Synthesise) -> None:
    for settings in ((("stage", "local"),), (IDENTITY, ("journal.stream", False))):
        stack = synthesise(*settings, ("regions.peer", PEER))
        assert all_in(stack, PART, "AWS::Lambda::EventSourceMapping") == []
        assert not [action for action, _ in allowed(stack, PART) if action in STREAM]


ALARMS = {
    "RegionBehind": ("region_behind_ms", "{ $.behind_ms > 60000 }", 60_000),
    "RegionWaiting": ("region_waiting_ms", "{ $.waiting_ms > 60000 }", 60_000),
    "RegionStopped": ("region_stopped", "{ $.stopped > 0 }", 1),
    "RegionSilent": ("region_silent", "{ $.silent > 0 }", 3),
    "RegionBodies": ("region_bodies_out_of_step", '{ $.event = "bodies_out_of_step" }', 1),
}


def test_what_is_behind_waits_stopped_or_silent_rings_in_the_morning(regions_stack: Template) -> None:
    """A region that is well sends no metric, and none is paid."""
    filters = {
        one["MetricName"]: each["FilterPattern"]
        for each in all_of(regions_stack, "AWS::Logs::MetricFilter")
        for one in each["MetricTransformations"]
    }
    alarms = {
        alarm: one for alarm in ALARMS for one in all_in(regions_stack, f"Watch{alarm}", "AWS::CloudWatch::Alarm")
    }
    assert {
        name: (one["MetricName"], filters[one["MetricName"]], one["Threshold"]) for name, one in alarms.items()
    } == ALARMS
    assert {one["TreatMissingData"] for one in alarms.values()} == {"notBreaching"}
    (unattended,) = all_in(regions_stack, "WatchRegionUnattended", "AWS::CloudWatch::Alarm")
    assert (unattended["ComparisonOperator"], unattended["TreatMissingData"]) == ("LessThanThreshold", "missing")
    assert len(all_in(regions_stack, "WatchRegionErrors", "AWS::CloudWatch::Alarm")) == 1


@pytest.mark.parametrize(
    "settings, why",
    [
        ({"regions.peer": "the-other-one"}, r"regions\.peer is 'the-other-one'; it must be dynamodb\+s3://TABLE"),
        (
            {"regions.peer": PEER.partition("?")[0]},
            r"regions\.peer is .*; it must be dynamodb\+s3://TABLE/BUCKET\?region=",
        ),
        ({"regions.role": "follower"}, r"regions\.role is of one of two regions"),
        ({"regions.bodies": "required"}, r"regions\.bodies is of one of two regions"),
        (
            {"regions.peer": PEER, "regions.bodies": "none"},
            r"regions\.bodies is 'none'; it must be required or best_effort",
        ),
        (
            {"regions.peer": PEER, "regions.role": "joining"},
            r"regions\.role is 'joining'; it must be primary or follower",
        ),
        ({"regions.peer": PEER, "zones": "euw1-az1"}, r"regions\.peer excludes zones"),
        ({"regions.peer": PEER, "registries": "ads"}, r"regions\.peer is of one registry"),
        ({"regions.peer": PEER, "pool": "ads"}, r"regions\.peer is of one registry"),
        ({"regions.peer": PEER, "region": "eu-central-1"}, r"regions\.peer must be in another region than region"),
        ({"regions.url": "https://there.example"}, r"regions\.url is of the other one of two regions"),
        ({"regions.peer": PEER, "regions.url": "there.example"}, r"regions\.url is 'there.example'; it must be a URL"),
        ({"regions.peer": PEER, "regions.url": "http://there.example"}, r"regions\.url must begin with https://"),
        ({"regions.peer_key_arn": KEY}, r"regions\.peer_key_arn is of the other one"),
        ({"regions.peer": PEER, "regions.peer_key_arn": KEY}, r"regions\.peer_key_arn must be a key of the region"),
        ({"regions.peer": PEER, "regions.peer_key_arn": "key"}, r"regions\.peer_key_arn is 'key'; it must be the ARN"),
    ],
)
def test_what_cannot_be_is_refused_before_anything_is_deployed(settings: dict[str, Any], why: str) -> None:
    with pytest.raises(InvalidSetting, match=f"^{why}"):
        Settings.read(settings)


def test_another_region_is_given_to_a_registry_unasked_and_changed_only_if_it_is_meant() -> None:
    """The first deployment with it arms a registry that has been alone; from then on its copy is there."""
    before = Target.of(Settings.read(dict([IDENTITY, ("regions.peer", PEER)])))
    outputs = {name: value for name, (value, _) in before.outputs.items()}
    alone = {name: value for name, value in outputs.items() if name != "RegionPeer"}
    assert moved(alone, before) == []
    elsewhere = Target.of(Settings.read(dict([IDENTITY, ("regions.peer", HERE)])))
    assert moved(outputs, elsewhere) == [f"regions.peer would change from {PEER!r} to {HERE!r}."]
    assert moved(outputs, Target.of(Settings.read(dict([IDENTITY])))) == [
        f"regions.peer would change from {PEER!r} to ''."
    ]


def test_a_deployment_without_cdk_names_the_setting_that_no_template_has() -> None:
    assert differences(Settings.read({}), Settings.read({"regions.peer": PEER})) == ["regions.peer"]


def test_actions_are_lists_of_names(regions_stack: Template) -> None:
    """No statement here reaches everything of a service."""
    assert not [each for one in statements(regions_stack, PART) for each in as_list(one["Action"]) if "*" in each]
