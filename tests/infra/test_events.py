"""Events in AWS: a bus that the journal's function may reach, an alarm; and without the setting nothing at all."""

import json
from typing import Any

import pytest

from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.translation import differences
from tests.infra.conftest import IDENTITY, Synthesise
from tests.infra.reading import Template, all_in, as_list, written
from tests.infra.test_exporters import variables
from tests.infra.test_grants import statements

ELSEWHERE = "arn:aws:events:eu-west-1:999988887777:event-bus/registries"


def granted(template: Template, part: str = "Journal") -> dict[str, Any]:
    """The statement about buses of a part's role; empty without one."""
    found = [each for each in statements(template, part) if "events:" in json.dumps(each["Action"])]
    assert len(found) <= 1
    return found[0] if found else {}


def test_a_stack_with_events_is_the_stack_without_them_and_what_is_theirs(
    template: Template, synthesise: Synthesise
) -> None:
    """A variable, a statement, a filter of the log and an alarm: all else is byte for byte the same."""
    with_events = json.loads(json.dumps(synthesise(IDENTITY, ("events.bus", "default"))["Resources"]))
    new = {name: with_events.pop(name)["Type"] for name in sorted(with_events.keys() - template["Resources"].keys())}
    assert sorted(new.values()) == ["AWS::CloudWatch::Alarm", "AWS::Logs::MetricFilter"]
    for name, resource in with_events.items():
        properties = resource["Properties"]
        if name.startswith("JournalFunction") and resource["Type"] == "AWS::Lambda::Function":
            assert properties["Environment"]["Variables"].pop("SIGLA_EVENTS_BUS") == "default"
        if name.startswith("JournalRole") and resource["Type"] == "AWS::IAM::Policy":
            given = properties["PolicyDocument"]["Statement"]
            given.remove(next(each for each in given if each.get("Sid") == "Events"))
    assert json.dumps(with_events) == json.dumps(template["Resources"])


def test_without_the_setting_no_role_reaches_a_bus(template: Template, zones: Template, other: Template) -> None:
    for stack in (template, zones, other):
        assert "events:" not in json.dumps([each["Action"] for each in policy_statements(stack)])
        assert "SIGLA_EVENTS_BUS" not in json.dumps(stack)


def policy_statements(stack: Template) -> list[dict[str, Any]]:
    """Those of all roles."""
    policies = [each["Properties"] for each in stack["Resources"].values() if each["Type"] == "AWS::IAM::Policy"]
    return [statement for each in policies for statement in each["PolicyDocument"]["Statement"]]


def test_the_journal_reaches_this_bus_and_no_other_function_does(
    all_on: Template, examples: dict[str, Template]
) -> None:
    """It looks whether the bus is there, and puts events; it makes no rule, and no bus."""
    everything = examples["everything"]
    own = "arn:<AWS::Partition>:events:<AWS::Region>:<AWS::AccountId>:event-bus/default"
    for stack, bus in ((all_on, ELSEWHERE), (everything, own)):
        given = granted(stack)
        assert as_list(given["Action"]) == ["events:DescribeEventBus", "events:PutEvents"]
        assert written(given["Resource"]) == bus
        assert [each for each in policy_statements(stack) if "events:" in json.dumps(each["Action"])] == [given]
    assert variables(all_on, "Journal")["SIGLA_EVENTS_BUS"] == ELSEWHERE
    assert variables(everything, "Journal")["SIGLA_EVENTS_BUS"] == "default"
    assert "VpcConfig" not in next(iter(all_in(everything, "JournalFunction", "AWS::Lambda::Function")))


def test_a_bus_of_the_same_app_is_known_by_its_arn() -> None:
    """CDK knows it as `${Token[…]}` until the deployment: neither a form nor a region can be asked of that."""
    token = "${Token[TOKEN.7]}"
    assert Settings.read({"events.bus": token, "region": "eu-west-1"}).events.bus == token


def test_events_that_wait_for_an_hour_ring_in_the_morning(all_on: Template) -> None:
    """Between two tries of the clock the alarm goes on; a metric that is never met is neither sent nor paid."""
    (told,) = [
        (each["FilterPattern"], one["MetricValue"])
        for each in all_in(all_on, "Journal", "AWS::Logs::MetricFilter")
        for one in each["MetricTransformations"]
        if one["MetricName"] == "events_waiting_ms"
    ]
    assert told == ("{ $.waiting_ms > 0 }", "$.waiting_ms")
    (alarm,) = [
        each
        for each in all_in(all_on, "Watch", "AWS::CloudWatch::Alarm")
        if each.get("MetricName") == "events_waiting_ms"
    ]
    assert (alarm["Statistic"], alarm["Threshold"]) == ("Maximum", 3_600_000)
    assert alarm["DatapointsToAlarm"] * alarm["Period"] < 15 * 60 < alarm["EvaluationPeriods"] * alarm["Period"]
    assert alarm["TreatMissingData"] == "notBreaching"


@pytest.mark.parametrize(
    "bus",
    [
        "two words",
        "arn:aws:events:eu-west-1:111122223333:rule/orders",
        "arn:aws:sns:eu-west-1:111122223333:orders",
        "arn:aws:events:eu-west-1:111122223333:event-busv2/orders/abcdefghijklmnopqrstuvwxy",
        "https://events.example",
        "x" * 257,
    ],
)
def test_what_cannot_be_a_bus_is_refused_in_a_sentence(bus: str) -> None:
    with pytest.raises(InvalidSetting, match=r"^events\.bus is '.*'; it must be default, the name or the ARN of an"):
        Settings.read({"events.bus": bus})


@pytest.mark.parametrize("bus", ["default", "orders", "my.bus_1-a", ELSEWHERE])
def test_what_can_be_a_bus_is_taken(bus: str) -> None:
    assert Settings.read({"events.bus": bus, "region": "eu-west-1"}).events.bus == bus


def test_a_deployment_without_cdk_names_the_setting_that_no_template_has() -> None:
    """`sigla deploy` says in which settings the nearest template differs."""
    assert differences(Settings.read({}), Settings.read({"events.bus": "default"})) == ["events.bus"]


def test_a_bus_of_another_region_and_a_bus_without_a_journal_are_refused_in_a_sentence() -> None:
    """EventBridge takes events for buses of its own region; on LocalStack there is nothing that tells them."""
    with pytest.raises(InvalidSetting, match=r"^events\.bus must be in region: name a bus there"):
        Settings.read({"events.bus": ELSEWHERE, "region": "us-east-1"})
    with pytest.raises(InvalidSetting, match=r"^events\.bus needs the journal's function, which LocalStack lacks"):
        Settings.read({"events.bus": "default", "stage": "local"})
