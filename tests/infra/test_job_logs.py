"""From a record that cannot be read to an alarm: the job's line, its log, the metrics of it, what rings.

What only AWS can show is that EMR Serverless writes the driver's output there, line by line.
"""

import json
import re
from fnmatch import fnmatchcase
from typing import Any

import pytest

from sigla_pipelines.land.manifest import Manifest, RecordCounts
from sigla_pipelines.land.report import Done, as_json, as_text
from tests.infra.reading import Template, all_in, as_list, ids_in, only, written
from tests.infra.test_pipelines import granted, request

ARN = "arn:aws:logs:eu-west-1:111122223333:log-group"
OURS, ANOTHERS = f"{ARN}:jobs:log-stream:", f"{ARN}:another:log-stream:"
NO_GROUP = f"{ARN}::log-stream:"
"""On which CloudWatch Logs judges who may list log groups, whatever group is asked for."""

# What EMR Serverless asks of CloudWatch Logs in the job's role. Source: Amazon EMR Serverless User Guide, "Storing
# logs", "Required permissions".
CALLS = {
    "logs:DescribeLogGroups": NO_GROUP,
    "logs:DescribeLogStreams": OURS,
    "logs:CreateLogGroup": OURS,
    "logs:CreateLogStream": f"{OURS}SPARK_DRIVER/stdout",
    "logs:PutLogEvents": f"{OURS}SPARK_DRIVER/stdout",
}


def deployed(jobs: Template, resource: Any) -> str:
    """An ARN as it is in an account. The attribute of a log group ends in `:*`."""
    (log,) = ids_in(jobs, "JobsLog", "AWS::Logs::LogGroup")
    names = {
        f"<{log}.Arn>": f"{ARN}:jobs:*",
        "<AWS::Partition>": "aws",
        "<AWS::Region>": "eu-west-1",
        "<AWS::AccountId>": "111122223333",
    }
    text = written(resource)
    for name, value in names.items():
        text = text.replace(name, value)
    return text


def allowed(jobs: Template, job: str, action: str, on: str) -> bool:
    """As IAM judges: some statement matches both."""
    return any(
        action in as_list(statement["Action"])
        and any(fnmatchcase(on, deployed(jobs, resource)) for resource in as_list(statement["Resource"]))
        for statement in granted(jobs, job)
        if statement["Effect"] == "Allow"
    )


@pytest.mark.parametrize("job", ["land", "maintain", "audit", "scrub"])
def test_a_job_may_write_its_log(jobs: Template, job: str) -> None:
    """Without its log the reason of a failed run is unknown, and no metric is made."""
    assert {action: allowed(jobs, job, action, on) for action, on in CALLS.items()} == dict.fromkeys(CALLS, True)


@pytest.mark.parametrize("action", sorted(CALLS.keys() - {"logs:DescribeLogGroups"}))
def test_a_job_writes_no_other_log(jobs: Template, action: str) -> None:
    assert not allowed(jobs, "land", action, f"{ANOTHERS}x")


def test_a_job_is_told_to_write_where_it_may(jobs: Template) -> None:
    """What it prints of each batch is on the driver's standard output."""
    (log,) = ids_in(jobs, "JobsLog", "AWS::Logs::LogGroup")
    told = only(jobs, "AWS::EMRServerless::Application")["MonitoringConfiguration"]["CloudWatchLoggingConfiguration"]
    assert (told["Enabled"], told["LogGroupName"]) == (True, {"Ref": log})
    assert told["LogTypeMap"] == [{"Key": "SPARK_DRIVER", "Value": ["STDOUT", "STDERR"]}]
    assert request(jobs, "land")["JobDriver"]["SparkSubmit"]["EntryPointArguments"][-2:] == ["--report", "json"]


# --- what is made of its lines ---------------------------------------------------------------------------------------


def line(read: int, quarantined: int) -> str:
    """As the job writes it of a batch."""
    counts = RecordCounts(read, read - quarantined, quarantined)
    return as_json(Done("land", Manifest("q", 7, (), (), (), {}, (), (), (), counts), 1_795_250_400_000, 2.5))


def measured(metric_filter: dict[str, Any], lines: list[str]) -> dict[str, float]:
    """What CloudWatch Logs makes of these lines: the sum of the values of those that match, by the metric's name.

    A pattern in braces matches lines of JSON alone. Source: Amazon CloudWatch Logs User Guide, "Filter pattern syntax".
    """
    found = re.fullmatch(r"\{ \$\.(\w+) >= (\d+) \}", metric_filter["FilterPattern"])
    assert found, metric_filter["FilterPattern"]
    (made,) = metric_filter["MetricTransformations"]
    values = []
    for each in lines:
        try:
            facts = json.loads(each)
        except ValueError:
            continue
        if isinstance(facts.get(found[1]), int | float) and facts[found[1]] >= float(found[2]):
            values.append(facts[made["MetricValue"].removeprefix("$.")])
    return {made["MetricName"]: sum(values)} if values else {}


def measured_of(jobs: Template, lines: list[str]) -> dict[str, float]:
    metrics: dict[str, float] = {}
    for each in all_in(jobs, "Jobs", "AWS::Logs::MetricFilter"):
        metrics |= measured(each, lines)
    return metrics


def test_each_batch_counts_in_the_metrics(jobs: Template) -> None:
    """Sums of the lines of all batches; what others write to the log, Spark's warnings among it, counts nothing."""
    others = ["WARN NativeCodeLoader: …", '{"event": "something else"}', "read: 5", ""]
    assert measured_of(jobs, [line(1_000, 40), *others, line(200, 0)]) == {"land_read": 1_200, "land_quarantined": 40}
    assert measured_of(jobs, others) == {}


def test_a_line_for_people_would_count_nothing(jobs: Template) -> None:
    """That is why the job is told to write JSON."""
    manifest = Manifest("q", 7, (), (), (), {}, (), (), (), RecordCounts(1_000, 960, 40))
    assert measured_of(jobs, [as_text(Done("land", manifest, 0, 1.0))]) == {}


def alarm(jobs: Template) -> dict[str, Any]:
    (found,) = [each for each in all_in(jobs, "Jobs", "AWS::CloudWatch::Alarm") if "Metrics" in each]
    return found


@pytest.mark.parametrize("bad, rings", [(49, False), (50, True), (1_000, True), (0, False)])
def test_bad_records_ring_from_their_share_on(jobs: Template, bad: int, rings: bool) -> None:
    """Out of a thousand, at the default of one in twenty."""
    metrics = measured_of(jobs, [line(1_000, bad)])
    ratio = metrics["land_quarantined"] / metrics["land_read"]
    assert alarm(jobs)["ComparisonOperator"] == "GreaterThanOrEqualToThreshold"
    assert (ratio >= alarm(jobs)["Threshold"]) is rings


def test_the_alarm_asks_for_the_metrics_that_are_made(jobs: Template) -> None:
    """By the same names, in the same place: it would hear nothing of one that is never made, and be silent."""
    made = {
        (each["MetricNamespace"], each["MetricName"])
        for one in all_in(jobs, "Jobs", "AWS::Logs::MetricFilter")
        for each in one["MetricTransformations"]
    }
    stats = {each["Id"]: each["MetricStat"] for each in alarm(jobs)["Metrics"] if "MetricStat" in each}
    assert {(each["Metric"]["Namespace"], each["Metric"]["MetricName"]) for each in stats.values()} == made
    assert {each["Stat"] for each in stats.values()} == {"Sum"}
    assert not [each for each in stats.values() if "Dimensions" in each["Metric"]], "filters make none"
    (expression,) = [each["Expression"] for each in alarm(jobs)["Metrics"] if "Expression" in each]
    assert set(re.findall(r"[a-z]+", expression)) == stats.keys() == {"read", "quarantined"}
    names = {name: each["Metric"]["MetricName"] for name, each in stats.items()}
    assert names == {"read": "land_read", "quarantined": "land_quarantined"}
