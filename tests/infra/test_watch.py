"""Alarms that a person understands, and what the stack costs without requests."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from infra import prices
from infra.usage import METRIC, QUERIES
from sigla.functions.telemetry import FOREIGN, METRICS, NAMESPACE, UNKNOWN_IDS
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
    """Errors, throttles, refusals that are our fault, slowness, a journal that lags; and silence rings no alarm."""
    alarms = called(template, "Watch")
    looked_at = {name: {each["MetricName"] for each in metrics_of(alarm)} for name, alarm in alarms.items()}
    assert {name: ", ".join(each) for name, each in looked_at.items()} == {
        "Errors": "Errors",
        "Throttles": "Throttles",
        "ServerErrors": "ServerErrors",
        "ServerErrorsGoOn": "ServerErrors",
        "ForeignData": FOREIGN,
        "RestServerErrors": "5XXError",
        "RestLatency": "Latency",
        "RestAtLimit": "Count",
        "JournalErrors": "Errors",
        "JournalSilent": "Invocations",
        "JournalLag": "IteratorAge",
        "JournalGivenUp": "ApproximateNumberOfMessagesVisible",
        "JournalAside": "journal_aside",
    }
    silent = alarms.pop("JournalSilent")
    assert {each["TreatMissingData"] for each in alarms.values()} == {"notBreaching"}
    assert silent["TreatMissingData"] == "missing", "what is new does not begin with an alarm"
    assert all(re.fullmatch(r"Sigla, the registry default: .+\.", each["AlarmDescription"]) for each in alarms.values())


def test_a_page_is_for_a_share_of_the_answers_or_for_what_goes_on(all_on: Template, private: Template) -> None:
    """A single failure must not wake a person; a share of them, three times of five, has to."""
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
    for name in PAGES & both.keys() - {"ForeignData", "Unhealthy", "ServerErrorsGoOn"}:
        assert rings_after(both[name]) == (3, 5)


LATENCIES = ("RestLatency", "UrlLatency", "PrivateLatency")


def rings(alarm: dict[str, Any], requests: int, slow: int) -> bool:
    """Whether a period with so many requests, and so many slow ones among them, is one that rings."""
    (expression,) = [each["Expression"] for each in alarm["Metrics"] if "Expression" in each]
    ((condition, then, otherwise),) = re.findall(r"^IF\((.+), (.+), (.+)\)$", expression)
    known = {"requests": requests, "quick": 100 * (requests - slow) / requests}
    value = eval(then if eval(condition, known) else otherwise, known)
    return bool(value >= alarm["Threshold"])


@pytest.mark.parametrize(
    "requests, slow, is_told",
    [(100_000, 1_100, True), (100_000, 900, False), (250, 5, True), (250, 2, False), (20, 1, False), (7, 7, True)],
)
def test_slowness_rings_however_few_requests_there_are(
    all_on: Template, private: Template, requests: int, slow: int, is_told: bool
) -> None:
    """Twenty in five minutes, at night: if all of them are slow an operator has to know; one cold start wakes none."""
    both = called(all_on, "Watch") | called(private, "ZoneUse1Az2")
    for name in LATENCIES:
        quick, count = (each["MetricStat"] for each in both[name]["Metrics"] if "MetricStat" in each)
        assert (quick["Stat"], count["Stat"], quick["Period"]) == ("PR(:2000)", "SampleCount", 300)
        assert quick["Metric"] == count["Metric"]
        assert rings(both[name], requests, slow) == is_told


def test_a_door_at_its_limit_rings(all_on: Template, private: Template) -> None:
    """What is beyond it is 429, which no alarm on failures counts; and if it is a flood, each of them is paid for."""
    both = called(all_on, "Watch") | called(private, "ZoneUse1Az2")
    for name in ("RestAtLimit", "PrivateAtLimit"):
        asked = both[name]
        assert (asked["MetricName"], asked["Statistic"], asked["Period"]) == ("Count", "SampleCount", 60)
        assert asked["Threshold"] == 0.9 * 500 * 60


def test_failures_that_go_on_ring_where_a_share_does_not(template: Template) -> None:
    """All new versions may fail, and be one request in a thousand; or one request in ten minutes, and that fails."""
    alarm = called(template, "Watch")["ServerErrorsGoOn"]
    assert (alarm["MetricName"], alarm["Threshold"], alarm["Period"]) == ("ServerErrors", 1, 300)
    assert rings_after(alarm) == (6, 12)


def test_a_certificate_that_nobody_renews_rings(all_on: Template, private: Template, template: Template) -> None:
    """When it has ended no request comes far enough to be counted as failed."""
    for made, name, arn in (
        (all_on, "CertificateEnds", "arn:aws:acm:eu-west-1:111122223333:certificate/1"),
        (private, "PrivateCertificateEnds", "arn:aws:acm:us-east-1:111122223333:certificate/2"),
    ):
        alarm = called(made, "Watch")[name]
        assert alarm["Dimensions"] == [{"Name": "CertificateArn", "Value": arn}]
        assert (alarm["MetricName"], alarm["Statistic"], alarm["Period"]) == ("DaysToExpiry", "Minimum", 86_400)
        assert (alarm["ComparisonOperator"], alarm["Threshold"]) == ("LessThanThreshold", 21)
        # Once one has ended ACM tells nothing more.
        assert alarm["TreatMissingData"] == "missing"
        assert alarm["InsufficientDataActions"] == alarm["AlarmActions"]
    assert not [name for name in called(template, "Watch") if "Certificate" in name]


def test_a_journal_that_never_works_rings_while_nobody_writes(template: Template) -> None:
    """Then only the clock wakes it, each quarter of an hour: three periods in a row with a failure never come."""
    assert rings_after(called(template, "Watch")["JournalErrors"]) == (3, 12)


PAGES = {
    *("RestServerErrors", "RestLatency", "RestAtLimit", "UrlServerErrors", "UrlLatency"),
    *("PrivateServerErrors", "PrivateLatency", "PrivateAtLimit"),
    *("ServerErrorsGoOn", "Throttles", "ForeignData", "Unhealthy"),
}
OF_URLS = {"UrlServerErrors", "UrlLatency"}
OF_ZONES = {"PrivateServerErrors", "PrivateLatency", "PrivateAtLimit", "Unhealthy"}
ONCALL, NOTES = (f"arn:aws:sns:eu-west-1:111122223333:{name}" for name in ("oncall", "notes"))


def test_pages_and_notes_go_to_two_topics(template: Template, all_on: Template) -> None:
    """Whoever is woken by notes will sleep through pages. And it is said when all is well again."""
    assert not [each for each in all_of(template, "AWS::CloudWatch::Alarm") if "AlarmActions" in each]
    for name, each in called(all_on, "Watch").items():
        assert each["AlarmActions"] == each["OKActions"] == [ONCALL if name in PAGES else NOTES]


def test_neither_goes_where_the_other_goes(jobs: Template) -> None:
    """Without a topic for pages they are not sent to who reads in the morning, nor notes to who has to get up."""
    alarms = {name: each for part in ("Watch", "Jobs") for name, each in called(jobs, part).items()}
    assert {name for name, each in alarms.items() if "AlarmActions" not in each} == PAGES - OF_URLS - OF_ZONES
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
    """A queue that no operator looks into is a bin."""
    alarm = called(template, "Watch")["JournalGivenUp"]
    assert (alarm["Statistic"], alarm["Threshold"], alarm["Period"]) == ("Maximum", 1, 300)
    assert written(alarm["Dimensions"][0]["Value"]).startswith("<JournalGivenUp")


def test_failures_by_whichever_door_are_counted_once(zones: Template, other: Template) -> None:
    """By the function itself, those in zones included: they are one registry. Without metrics they are not counted."""
    counted = [each for each in all_of(zones, "AWS::CloudWatch::Alarm") if each.get("MetricName") == "ServerErrors"]
    dimensions = [{one["Name"]: one["Value"] for one in each["Dimensions"]} for each in counted]
    assert dimensions == [{"service": "sigla-default", "stack": "sigla-default"}] * 2
    assert "AWS::CloudWatch::Alarm" not in kinds(other)


def test_data_of_another_deployment_page(all_on: Template, given_subnets: Template) -> None:
    """Nothing is written from the first request on. Who has no identity compares nothing."""
    (rings,) = [each for each in all_of(all_on, "AWS::CloudWatch::Alarm") if each.get("MetricName") == FOREIGN]
    assert (rings["Namespace"], rings["Statistic"], rings["Threshold"]) == (NAMESPACE, "Sum", 1)
    assert rings["AlarmActions"] == [ONCALL]
    assert "ForeignData" not in called(given_subnets, "Watch")


def test_a_journal_that_is_an_hour_behind_rings(template: Template) -> None:
    """In milliseconds, as Lambda measures the age of what it hands over.

    Not for a moment: a stream that is followed anew begins with what is a day old.
    """
    lag = called(template, "Watch")["JournalLag"]
    assert (lag["Threshold"], lag["Statistic"], rings_after(lag)) == (3_600_000, "Maximum", (3, 6))
    assert written(lag["Dimensions"][0]["Value"]).startswith("<JournalFunction")


def test_a_journal_that_is_not_invoked_any_more_rings(template: Template) -> None:
    """What does not run fails at nothing. It is told when it was not invoked in four turns of its clock.

    Then the metric is missing, which is told as such; a count of zero rings as well.
    """
    silent = called(template, "Watch")["JournalSilent"]
    assert (silent["Period"], silent["Threshold"], rings_after(silent)) == (900, 1, (4, 4))
    assert silent["ComparisonOperator"] == "LessThanThreshold"
    assert written(silent["Dimensions"][0]["Value"]).startswith("<JournalFunction")
    assert silent.get("InsufficientDataActions") == silent.get("AlarmActions")
    (clock,) = (
        each["Properties"]["ScheduleExpression"]
        for name, each in template["Resources"].items()
        if name.startswith("JournalCatchUp") and each["Type"] == "AWS::Events::Rule"
    )
    assert clock == "rate(15 minutes)"


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
    """Each is paid for. The requests of every function that answers: those of zones have doors of their own."""

    def counted(template: Template) -> list[str]:
        found = all_of(template, "AWS::CloudWatch::Alarm")
        alarms = [each for each in found if "watch.requests_per_hour" in each["AlarmDescription"]]
        assert {each["MetricName"] for each in alarms} <= {"Invocations"}
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
    assert shown == {FOREIGN, UNKNOWN_IDS, *(metric.name for metric in METRICS)}
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
    """One snapshot and twelve alarms have a price of their own; a new priced resource fails here first."""
    counted = {item.what: item.count for item in prices.idle(template)}
    clocks = {"catch-ups of the journal": 4 * 730, "probes of the registry": 30}
    assert counted == {"snapshots of functions (SnapStart)": 1, "metrics in alarms": 14} | clocks
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
    assert counted["metrics in alarms"] == alarms + 3, "two shares of slow requests, and one of failures"


def test_every_setting_has_a_price(every_template: list[Template]) -> None:
    for template in every_template:
        assert prices.total(template) >= 0
