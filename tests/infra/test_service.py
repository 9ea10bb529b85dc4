"""What the registry's function is, what it is told, and that front doors call it as they must."""

import json

import pytest

from sigla.deployment import packages
from sigla.functions.probe import ASKED
from sigla.settings import PREFIX, described
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, all_of, ids, kinds, of, only, written

FUNCTION = "AWS::Lambda::Function"
OURS = {"Service", "Journal", "Exporte"}
"""How the names of functions begin that a registry without zones may have."""


def test_functions_are_told_settings_that_there_are(every_template: list[Template]) -> None:
    """An unknown variable stops a function at its start; one is Powertools', one botocore's, and one is not read."""
    others = {"POWERTOOLS_METRICS_DISABLED", "AWS_ENDPOINT_URL_KMS", "ZONE_MADE_OF"}
    known = {variable for variable, _ in described()} | others
    for template in every_template:
        for function in all_of(template, FUNCTION):
            told = set(function["Environment"]["Variables"])
            assert {f"{PREFIX}REGISTRY_NAME", f"{PREFIX}TABLE", f"{PREFIX}BUCKET"} <= told <= known


def test_the_registry_is_closed_unless_somebody_opens_it(template: Template, other: Template) -> None:
    """Two of its doors are on the internet."""
    variable = f"{PREFIX}AUTH"
    assert of(template, "Service", FUNCTION)["Environment"]["Variables"][variable] == "keys"
    assert of(other, "Service", FUNCTION)["Environment"]["Variables"][variable] == "none"


def test_metrics_can_be_switched_off(template: Template, other: Template) -> None:
    """They have a price each."""
    told = [of(each, "Service", FUNCTION)["Environment"]["Variables"] for each in (template, other)]
    assert [each["POWERTOOLS_METRICS_DISABLED"] for each in told] == ["false", "true"]


def test_the_function_is_python_on_arm_started_from_a_snapshot(template: Template) -> None:
    function = of(template, "Service", FUNCTION)
    assert (function["Runtime"], function["Architectures"]) == ("python3.13", ["arm64"])
    assert (function["MemorySize"], function["Handler"]) == (512, "handler.handler")
    assert function["SnapStart"] == {"ApplyOn": "PublishedVersions"}
    # Longer than a write may take to win its races, shorter than the gateway waits.
    assert 20 < function["Timeout"] < 29
    assert "ReservedConcurrentExecutions" not in function  # a new account has none to reserve


def test_front_doors_call_the_published_version(without_zones: list[Template]) -> None:
    """Only published versions have snapshots, and only an alias can be moved without anyone noticing."""
    for template in without_zones:
        (alias,) = ids(template, "AWS::Lambda::Alias")
        doors = [each for each in all_of(template, "AWS::Lambda::Permission") if "events" not in each["Principal"]]
        assert {written(each["FunctionName"]) for each in doors} == {f"<{alias}>"}
        for method in all_of(template, "AWS::ApiGateway::Method"):
            assert f"<{alias}>" in written(method["Integration"]["Uri"])


def asked_by_clocks(template: Template) -> dict[str, int]:
    """How often a day each alias is asked how it is: by a rule of its own, or by the heartbeat that a rule wakes."""
    times = {"rate(1 day)": 1, "rate(1 minute)": 1_440}
    asked: dict[str, int] = {}
    for rule in all_of(template, "AWS::Events::Rule"):
        for target in rule.get("Targets", []):
            event = json.loads(written(target.get("Input", "{}")))
            if event == ASKED:
                asked[written(target["Arn"])] = times[rule["ScheduleExpression"]]
            elif "zone" in event:
                asked[event["zone"]["function"]] = times[rule["ScheduleExpression"]]
    return asked


def test_no_version_sleeps_in(template: Template, zones: Template) -> None:
    """A version that is not invoked for 14 days is put away: the first request after it fails.

    A zone's is asked anyway.
    """
    for each, count in ((template, 1), (zones, 4)):
        asked = asked_by_clocks(each)
        assert asked.keys() == {f"<{alias}>" for alias in ids(each, "AWS::Lambda::Alias")}
        assert len(asked) == count
        assert sorted(asked.values()) == [1, *[1_440] * (count - 1)]


def test_logs_end(every_template: list[Template]) -> None:
    """Logs that are never deleted are the surprise on the bill."""
    for template in every_template:
        groups = all_of(template, "AWS::Logs::LogGroup")
        assert len(groups) >= len(all_of(template, FUNCTION))
        assert {each["RetentionInDays"] for each in groups} == {30}


def test_lambdas_own_lines_are_left_out(template: Template, all_on: Template) -> None:
    """Three lines a request that say less than ours would cost more than the request."""
    for stack, level in ((template, "WARN"), (all_on, "INFO")):
        assert {each["LoggingConfig"]["SystemLogLevel"] for each in all_of(stack, FUNCTION)} == {level}


def test_on_localstack_it_is_this_machine_that_runs_the_function(local: Template) -> None:
    """And what LocalStack would take and not do is not asked of it."""
    function = only(local, FUNCTION)
    assert function["Architectures"] == [packages.host()]
    assert not {"SnapStart", "ReservedConcurrentExecutions"} & function.keys()


def test_no_code_but_ours(every_template: list[Template]) -> None:
    """A custom resource could delete what the storage protects."""
    for template in every_template:
        assert not [kind for kind in kinds(template) if kind.startswith(("Custom::", "AWS::CloudFormation::"))]
        assert {name[:7] for name in ids(template, FUNCTION)} <= OURS | {"Heartbe", "ZoneUse"}


def test_without_zones_there_is_no_network(without_zones: list[Template]) -> None:
    """A gateway or an endpoint has a price by the hour."""
    for template in without_zones:
        assert not [kind for kind in kinds(template) if kind.startswith(("AWS::EC2::", "AWS::ElastiCache::"))]
        assert {name[:7] for name in ids(template, FUNCTION)} <= OURS


def test_a_change_of_the_packages_is_a_new_version(
    template: Template, synthesise: Synthesise, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Else the alias would go on with a version that has the old ones."""
    monkeypatch.setattr(packages, "layer", lambda _: packages.Package("layer", "f" * 64, lambda _: None))
    changed = synthesise(("log_requests", "true"))  # asked in its own words, so that it is made anew
    assert ids(changed, "AWS::Lambda::Version") != ids(template, "AWS::Lambda::Version")
    assert of(changed, "Service", FUNCTION)["Code"] == of(template, "Service", FUNCTION)["Code"]
