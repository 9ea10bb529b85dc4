"""One page in CloudWatch: what Lambda and API Gateway count, what the function counts itself, and what its lines tell.

Metrics know no routes, since each would have a price by the month; queries over the log do.
"""

from collections.abc import Sequence

from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.cdk.parts.alarms import PERIOD, own_metric
from sigla.deployment.settings import Settings

WIDTH = 24
"""The width of a row, in CloudWatch's columns."""
IN_A_ROW = 4
"""Small graphs, of what has an alarm."""

LATENCIES = ("ReadLatency", "WriteLatency")
COUNTS = ("ClientErrors", "Denied", "ServerErrors", "UnknownIds", "ColdStarts", "Throttles", "LostRaces")

REQUESTS = "filter event = 'request'"
QUERIES = {
    "Requests by route": (
        REQUESTS,
        "stats count(*) as requests, pct(took_ms, 50) as p50, pct(took_ms, 99) as p99, max(calls) as calls by route",
        "sort requests desc",
    ),
    "Refusals": (
        REQUESTS,
        "filter status >= 400",
        "stats count(*) as requests by error_code, route",
        "sort requests desc",
    ),
    "Requests by principal": (REQUESTS, "stats count(*) as requests by principal", "sort requests desc"),
    "The slowest requests": (
        REQUESTS,
        "fields timestamp, route, status, took_ms, calls, cold, subject, request_id",
        "sort took_ms desc",
        "limit 20",
    ),
    "Failures": (
        "filter event = 'failure'",
        "fields timestamp, error, reason, request_id",
        "sort timestamp desc",
        "limit 20",
    ),
}
"""Reads by id are in the log by the share of them that `log_reads` says."""


Answering = tuple[lambda_.Alias, apigateway.Stage, logs.ILogGroup]
"""The registry's function, the stage of the REST API before it, and its log."""


class Dashboard(Construct):
    """doors: what answers. watched: titles and metrics that have an alarm."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        doors: Sequence[Answering],
        watched: Sequence[tuple[str, cloudwatch.IMetric]],
    ) -> None:
        super().__init__(scope, name)
        self.settings = settings
        board = cloudwatch.Dashboard(self, "Board")
        asked, times, names = [], [], []
        for function, stage, log_group in doors:
            asked += [stage.metric_count(period=PERIOD), function.metric_invocations(period=PERIOD)]
            times += [function.metric_duration(statistic=each, period=PERIOD) for each in ("p50", "p99")]
            names.append(log_group.log_group_name)
        board.add_widgets(_graph("Requests", 2, asked), _graph("Milliseconds in the function", 2, times))
        if settings.metrics:
            latencies = [self.metric(each, statistic) for each in LATENCIES for statistic in ("p50", "p99")]
            counts = [self.metric(each, "Sum") for each in COUNTS]
            board.add_widgets(
                _graph("Milliseconds of reads and writes", 2, latencies),
                _graph("Requests to DynamoDB and S3", 2, counts),
            )
        for begin in range(0, len(watched), IN_A_ROW):
            row = watched[begin : begin + IN_A_ROW]
            board.add_widgets(*(_graph(title, IN_A_ROW, [metric]) for title, metric in row))
        for title, lines in QUERIES.items():
            query = cloudwatch.LogQueryWidget(title=title, width=WIDTH, log_group_names=names, query_lines=list(lines))
            board.add_widgets(query)

    def metric(self, name: str, statistic: str) -> cloudwatch.Metric:
        """One of the function's own."""
        return own_metric(self.settings, name, statistic, label=f"{name} {statistic}")


def _graph(title: str, in_a_row: int, metrics: Sequence[cloudwatch.IMetric]) -> cloudwatch.GraphWidget:
    return cloudwatch.GraphWidget(title=title, width=WIDTH // in_a_row, left=list(metrics))
