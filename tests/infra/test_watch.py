"""Alarms that a person understands, and what the stack costs while nobody asks it anything."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra import prices
from infra.parts.alarms import NAMESPACE
from infra.usage import METRIC, QUERIES
from sigla.aws.telemetry import FOREIGN, METRICS
from tests.infra.conftest import Synthesise
from tests.infra.reading import Template, all_of, ids, ids_in, kinds, only, written

PAGE = Path(__file__).parents[2] / "docs" / "deploy.md"
OPERATIONS, JOBS = PAGE.with_name("operations.md"), PAGE.with_name("pipelines.md")


def called(template: Template, part: str) -> dict[str, dict[str, Any]]:
    """The alarms of a part of the stack, by the names that they have in it."""
    return {
        re.sub(r"[0-9A-F]{8}$", "", name.removeprefix(part)): template["Resources"][name]["Properties"]
        for name in ids_in(template, part, "AWS::CloudWatch::Alarm")
    }


def rings_after(alarm: dict[str, Any]) -> tuple[int, int]:
    """So many periods, of how many."""
    return alarm["DatapointsToAlarm"], alarm["EvaluationPeriods"]


def test_what_goes_wrong_rings(template: Template) -> None:
    """Errors, throttles, refusals that are our fault, slowness, a journal that lags; and silence is no alarm."""
    alarms = called(template, "Watch")
    assert {name: each["MetricName"] for name, each in alarms.items()} == {
        "Errors": "Errors",
        "Throttles": "Throttles",
        "ServerErrors": "ServerErrors",
        "RestServerErrors": "5XXError",
        "RestLatency": "Latency",
        "JournalErrors": "Errors",
        "JournalLag": "IteratorAge",
        "JournalGivenUp": "ApproximateNumberOfMessagesVisible",
        "JournalAside": "journal_aside",
    }
    assert {each["TreatMissingData"] for each in alarms.values()} == {"notBreaching"}
    assert all(re.fullmatch(r"Sigla, the registry default: .+\.", each["AlarmDescription"]) for each in alarms.values())


def test_a_page_is_for_a_share_of_the_answers_or_for_what_goes_on(all_on: Template, private: Template) -> None:
    """A single failure must not wake anybody; a share of them, three times of five, has to."""
    both = called(all_on, "Watch") | called(private, "ZoneUse1Az2")
    for name in ("RestServerErrors", "PrivateServerErrors"):
        share = both[name]
        assert (share["MetricName"], share["Statistic"], share["Threshold"], share["Period"]) == (
            "5XXError",
            "Average",
            0.05,
            60,
        )
    (ratio,) = [each["Expression"] for each in both["UrlServerErrors"]["Metrics"] if "Expression" in each]
    assert ratio == "IF(requests > 0, failures / requests, 0)"
    assert both["UrlServerErrors"]["Threshold"] == 0.05
    for name in ("RestLatency", "PrivateLatency"):
        slow = both[name]
        # Of a handful of requests the slowest is no percentile.
        assert (slow["ExtendedStatistic"], slow["EvaluateLowSampleCountPercentile"]) == ("p99", "ignore")
    for name in ("RestServerErrors", "UrlServerErrors", "PrivateServerErrors", "RestLatency", "Throttles"):
        assert rings_after(both[name]) == (3, 5)


PAGES = {"RestServerErrors", "UrlServerErrors", "RestLatency", "Throttles", "JournalLag", "ForeignData"}
ONCALL, NOTES = (f"arn:aws:sns:eu-west-1:111122223333:{name}" for name in ("oncall", "notes"))


def test_pages_and_notes_go_to_two_topics(template: Template, all_on: Template) -> None:
    """Whoever is woken by notes will sleep through pages. And it is said when all is well again."""
    assert not [each for each in all_of(template, "AWS::CloudWatch::Alarm") if "AlarmActions" in each]
    for name, each in called(all_on, "Watch").items():
        assert each["AlarmActions"] == each["OKActions"] == [ONCALL if name in PAGES else NOTES]


def test_neither_goes_where_the_other_goes(jobs: Template) -> None:
    """Without a topic for pages they are not sent to who reads in the morning, nor notes to who has to get up."""
    alarms = {name: each for part in ("Watch", "Jobs") for name, each in called(jobs, part).items()}
    assert {name for name, each in alarms.items() if "AlarmActions" not in each} == PAGES - {
        "UrlServerErrors",
        "ForeignData",
    }
    assert {action for each in alarms.values() for action in each.get("AlarmActions", [])} == {NOTES}


def test_an_address_gets_all_by_a_topic_of_our_own(private: Template) -> None:
    """For those who have no on-call service. By TLS alone, and from alarms of this account alone."""
    (topic,) = ids(private, "AWS::SNS::Topic")
    assert only(private, "AWS::SNS::Subscription") == {
        "Protocol": "email",
        "Endpoint": "sre@example.com",
        "TopicArn": {"Ref": topic},
    }
    for each in all_of(private, "AWS::CloudWatch::Alarm"):
        assert {"Ref": topic} in each["AlarmActions"]
        assert each["AlarmActions"] == each["OKActions"]
    statements = only(private, "AWS::SNS::TopicPolicy")["PolicyDocument"]["Statement"]
    (allowed,) = [each for each in statements if each["Effect"] == "Allow"]
    assert (allowed["Action"], allowed["Principal"]) == ("sns:Publish", {"Service": "cloudwatch.amazonaws.com"})
    assert allowed["Condition"] == {"StringEquals": {"aws:SourceAccount": {"Ref": "AWS::AccountId"}}}
    assert [each["Condition"] for each in statements if each["Effect"] == "Deny"] == [
        {"Bool": {"aws:SecureTransport": "false"}}
    ]


def test_what_the_journal_gave_up_rings_until_somebody_has_looked(template: Template) -> None:
    """A queue that nobody looks into is a bin."""
    alarm = called(template, "Watch")["JournalGivenUp"]
    assert (alarm["Statistic"], alarm["Threshold"], alarm["Period"]) == ("Maximum", 1, 300)
    assert written(alarm["Dimensions"][0]["Value"]).startswith("<JournalGivenUp")


def test_failures_by_whichever_door_are_counted_once(zones: Template, other: Template) -> None:
    """By the function itself, those in zones included: they are one registry. Without metrics nobody counts."""
    counted = [each for each in all_of(zones, "AWS::CloudWatch::Alarm") if each.get("MetricName") == "ServerErrors"]
    assert [{one["Name"]: one["Value"] for one in each["Dimensions"]} for each in counted] == [
        {"service": "sigla-default", "stack": "sigla-default"}
    ]
    assert "AWS::CloudWatch::Alarm" not in kinds(other)


def test_data_of_another_deployment_page(all_on: Template, template: Template) -> None:
    """Nothing is written from the first request on. Who has no identity compares nothing."""
    (rings,) = [each for each in all_of(all_on, "AWS::CloudWatch::Alarm") if each.get("MetricName") == FOREIGN]
    assert (rings["Namespace"], rings["Statistic"], rings["Threshold"]) == (NAMESPACE, "Sum", 1)
    assert rings["AlarmActions"] == [ONCALL]
    assert "ForeignData" not in called(template, "Watch")


def test_every_alarm_is_documented_as_what_it_is(all_on: Template, private: Template) -> None:
    """By its name, which a person sees first, and whether it pages."""
    page = OPERATIONS.read_text(encoding="utf-8").partition("### Alarms\n")[2].partition("\n### ")[0]
    for part, template in (("Watch", all_on), ("ZoneUse1Az2", private)):
        for name, each in called(template, part).items():
            shown = name if part == "Watch" else f"…{name}"
            (row,) = [line for line in page.splitlines() if line.startswith("|") and f"`{shown}`" in line]
            pages = "oncall" in str(each.get("AlarmActions", []))
            assert row.split(" | ")[1].strip("| ") == ("page" if pages else "note"), name


def test_a_journal_that_is_an_hour_behind_rings(template: Template) -> None:
    """In milliseconds, as Lambda measures the age of what it hands over."""
    lag = called(template, "Watch")["JournalLag"]
    assert (lag["Threshold"], lag["Statistic"], lag["EvaluationPeriods"]) == (3_600_000, "Maximum", 1)
    assert written(lag["Dimensions"][0]["Value"]).startswith("<JournalFunction")


def test_rows_that_the_journal_cannot_read_ring(template: Template) -> None:
    """They are counted in its own line: {"event": "journal", "aside": 2, …}."""
    (counted,) = only(template, "AWS::Logs::MetricFilter")["MetricTransformations"]
    assert (counted["MetricName"], counted["MetricValue"]) == ("journal_aside", "$.aside")
    assert only(template, "AWS::Logs::MetricFilter")["FilterPattern"] == "{ $.aside > 0 }"
    rings = called(template, "Watch")["JournalAside"]
    assert rings["Namespace"] == counted["MetricNamespace"] == "Sigla/sigla-default"


def test_alarms_and_the_dashboard_are_choices(other: Template, all_on: Template, local: Template) -> None:
    assert not {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"} & kinds(other)
    assert "AWS::CloudWatch::Dashboard" in kinds(all_on)
    assert not {"AWS::CloudWatch::Alarm", "AWS::CloudWatch::Dashboard"} & kinds(local)


def test_so_many_requests_in_an_hour_ring_where_a_setting_says_so(
    template: Template, all_on: Template, private: Template
) -> None:
    """Each is paid for. Of every function that answers: those of zones have doors of their own."""

    def counted(template: Template) -> list[str]:
        found = all_of(template, "AWS::CloudWatch::Alarm")
        alarms = [each for each in found if each.get("MetricName") == "Invocations"]
        assert {(each["Threshold"], each["Period"], each["Statistic"]) for each in alarms} <= {(500_000, 3600, "Sum")}
        return [str(each["Dimensions"]) for each in alarms]

    assert not counted(template)
    assert len(counted(all_on)) == 1
    assert len(counted(private)) == 2


def watched(template: Template, stack: str) -> set[tuple[str, ...]]:
    """The metrics in alarms. What CloudFormation names begins with the stack's name."""
    read = [each for alarm in all_of(template, "AWS::CloudWatch::Alarm") for each in metrics_of(alarm)]
    return {
        (
            each["Namespace"],
            each["MetricName"],
            *sorted(f"{one['Name']}={written(one['Value']).replace('<', f'<{stack}-')}" for one in each["Dimensions"]),
        )
        for each in read
    }


def metrics_of(alarm: dict[str, Any]) -> list[dict[str, Any]]:
    """One, or those that an expression is made of; metrics of a log's lines have no dimensions."""
    several = [each["MetricStat"]["Metric"] for each in alarm.get("Metrics", []) if "MetricStat" in each]
    return [{"Dimensions": []} | each for each in several or [alarm]]


def test_alarms_of_two_stacks_share_no_metric(
    synthesise: Synthesise, zones: Template, all_on: Template, jobs: Template
) -> None:
    """Both may serve a registry of one name: what lives in one would hide what died in the other."""
    other = watched(synthesise(("stack_name", "dev"), ("zones", "use1-az1")), "dev")
    assert other
    for template in (zones, all_on, jobs):
        assert not other & watched(template, "sigla")


def widgets(template: Template) -> list[dict[str, Any]]:
    body = written(only(template, "AWS::CloudWatch::Dashboard")["DashboardBody"])
    found: list[dict[str, Any]] = json.loads(re.sub(r"(?<!\\)<([^>]*)>", "reference", body))["widgets"]
    return found


def test_the_dashboard_shows_every_metric_of_the_function(all_on: Template) -> None:
    """What has a price by the month is looked at."""
    graphs = [each["properties"].get("metrics", []) for each in widgets(all_on)]
    shown = {metric[1] for graph in graphs for metric in graph if metric[0] == NAMESPACE}
    assert shown == {FOREIGN, *(metric.name for metric in METRICS)}
    dimensions = {tuple(metric[2:6]) for graph in graphs for metric in graph if metric[0] == NAMESPACE}
    assert dimensions == {("service", "sigla-default", "stack", "sigla-default")}


def test_queries_ask_for_fields_that_lines_have(all_on: Template) -> None:
    """As docs/operations.md has them; a field that is not there would show an empty table."""
    documented = set(
        re.findall(r"`(\w+)`", "".join(re.findall(r"^\| (`[^|]+) \|", OPERATIONS.read_text(), re.MULTILINE)))
    )
    queries = [each["properties"]["query"] for each in widgets(all_on) if each["type"] == "log"]
    assert len(queries) == QUERIES
    words = {"filter", "fields", "stats", "sort", "limit", "count", "pct", "max", "as", "by", "desc", "requests"}
    words |= {"SOURCE", "reference", "request", "failure", "p50", "p99"}
    documented |= {"error", "reason"}  # of failures, told in a sentence
    for query in queries:
        assert set(re.findall(r"[A-Za-z_]\w*", query)) - words <= documented, query


def test_a_registry_that_nobody_asks_costs_less_than_three_dollars_fifty_a_month(template: Template) -> None:
    """One snapshot and nine alarms have a price of their own; a new priced resource fails here first."""
    counted = {item.what: item.count for item in prices.idle(template)}
    clocks = {"catch-ups of the journal": 4 * 730, "probes of the registry": 30}
    assert counted == {"snapshots of functions (SnapStart)": 1, "metrics in alarms": 9} | clocks
    assert prices.total(template) <= 3.50


def test_an_alarm_has_the_price_of_each_metric_it_looks_at(jobs: Template, template: Template) -> None:
    """The share of bad records is made of two."""

    def counted(template: Template) -> int:
        return next(item.count for item in prices.idle(template) if item.what == "metrics in alarms")

    def made(kind: str) -> int:
        return len(all_of(jobs, kind)) - len(all_of(template, kind))

    more = counted(jobs) - counted(template)
    assert more == made("AWS::CloudWatch::Alarm") + 1
    looked, told = more * prices.ALARM, made("AWS::Logs::MetricFilter") * METRIC
    assert more == 3
    assert (
        f"three metrics, ${looked:.2f} a month, and landing counts two in its log, ${told:.2f} in a" in JOBS.read_text()
    )


def test_a_firewall_has_a_price_by_the_month(all_on: Template) -> None:
    """It, and its rule."""
    (item,) = [item for item in prices.idle(all_on) if item.what == "firewalls"]
    assert (item.count, item.dollars) == (1, 6.0)


def test_the_page_shows_what_is_counted(template: Template) -> None:
    """docs/deploy.md, computed from the template."""
    rows = re.findall(r"^\| ([^|]+) \| (\d+) \| \$(\d+\.\d\d) \|$", PAGE.read_text(), re.MULTILINE)
    items = [(item.what, str(item.count), f"{item.dollars:.2f}") for item in prices.idle(template)]
    assert rows == items
    assert f"**${prices.total(template):.2f}**" in PAGE.read_text()


@pytest.mark.parametrize(
    "kind, properties, named",
    [
        ("AWS::EC2::NatGateway", {}, "AWS::EC2::NatGateway"),  # $33 a month, and easily come by
        ("AWS::Events::Rule", {"ScheduleExpression": "rate(1 hour)"}, r"rate\(1 hour\)"),
    ],
)
def test_what_nobody_has_priced_is_not_taken_for_free(
    template: Template, kind: str, properties: dict[str, Any], named: str
) -> None:
    """It would be found on the bill."""
    unknown = {"Unknown": {"Type": kind, "Properties": properties}}
    with pytest.raises(ValueError, match=named):
        prices.total({"Resources": template["Resources"] | unknown})


def test_an_alarm_costs_what_the_metrics_that_it_reads_cost(template: Template, all_on: Template) -> None:
    """CloudWatch takes ten cents for each metric of an expression: a share of two counts is two."""
    counted = {item.what: item.count for item in prices.idle(all_on)}
    alarms = len(all_of(all_on, "AWS::CloudWatch::Alarm"))
    assert counted["metrics in alarms"] == alarms + 1


def test_every_setting_has_a_price(every_template: list[Template]) -> None:
    for template in every_template:
        assert prices.total(template) >= 0
