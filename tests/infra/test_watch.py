"""Alarms that a person understands, and what the stack costs while nobody asks it anything."""

import re
from pathlib import Path

import pytest

from infra import prices
from tests.infra.reading import Template, all_of, kinds

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"


def test_what_goes_wrong_rings(template: Template) -> None:
    """Errors, throttles, refusals that are our fault, slowness; and silence is no alarm."""
    alarms = all_of(template, "AWS::CloudWatch::Alarm")
    assert {each["MetricName"] for each in alarms} == {"Errors", "Throttles", "5XXError", "Latency"}
    assert {each["TreatMissingData"] for each in alarms} == {"notBreaching"}
    assert {each.get("ExtendedStatistic") for each in alarms if each["MetricName"] == "Latency"} == {"p99"}
    assert all(re.fullmatch(r"Sigla, the registry default: .+\.", each["AlarmDescription"]) for each in alarms)


def test_alarms_are_sent_where_a_setting_says(template: Template, all_on: Template) -> None:
    """And it is said when all is well again."""
    assert not [each for each in all_of(template, "AWS::CloudWatch::Alarm") if "AlarmActions" in each]
    alarms = all_of(all_on, "AWS::CloudWatch::Alarm")
    assert "Url5xxCount" in {each["MetricName"] for each in alarms}
    for each in alarms:
        assert each["AlarmActions"] == each["OKActions"] == ["arn:aws:sns:eu-west-1:111122223333:oncall"]


def test_alarms_and_the_dashboard_are_choices(other: Template, all_on: Template, local: Template) -> None:
    assert not {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"} & kinds(other)
    assert "AWS::CloudWatch::Dashboard" in kinds(all_on)
    assert not {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"} & kinds(local)


def test_a_registry_that_nobody_asks_costs_less_than_three_dollars_fifty_a_month(template: Template) -> None:
    """One snapshot and four alarms have a price of their own; a new priced resource fails here first."""
    counted = {item.what: item.count for item in prices.idle(template)}
    assert counted == {"snapshots of the function (SnapStart)": 1, "alarms": 4}
    assert prices.total(template) <= 3.50


def test_the_page_shows_what_is_counted(template: Template) -> None:
    """docs/deploy.md, computed from the template."""
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| \$(\d+\.\d\d) \|$", PAGE.read_text(), re.MULTILINE)
    items = [(item.what, str(item.count), f"{item.dollars:.2f}") for item in prices.idle(template)]
    assert rows == items
    assert f"**${prices.total(template):.2f}**" in PAGE.read_text()


def test_what_nobody_has_priced_is_not_taken_for_free(template: Template) -> None:
    """A NAT gateway is $33 a month, and easily come by."""
    gateway = {"Gateway": {"Type": "AWS::EC2::NatGateway", "Properties": {}}}
    with pytest.raises(ValueError, match="AWS::EC2::NatGateway"):
        prices.total({"Resources": template["Resources"] | gateway})


def test_every_setting_has_a_price(every_template: list[Template]) -> None:
    for template in every_template:
        assert prices.total(template) >= 0
