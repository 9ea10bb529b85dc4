"""Who looks after it: alarms and a dashboard."""

from collections.abc import Iterator

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.parts.alarms import PERIOD, Watched, of_a_function, of_a_url, set_alarms
from infra.parts.dashboard import Dashboard
from infra.settings import Settings

LAG = Duration.hours(1)
"""Of the journal, that somebody has to look into."""


class Watch(Construct):
    """The alarms and the dashboard that settings ask for."""

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        function: lambda_.Alias,
        stage: apigateway.Stage,
        log_group: logs.ILogGroup,
        journal: lambda_.IFunction,
        aside: cloudwatch.IMetric,
    ) -> None:
        super().__init__(scope, name)
        watched = list(_watched(settings, function, stage, journal, aside))
        if settings.watch.alarms:
            set_alarms(self, watched, settings=settings, about=f"the registry {settings.registry_name}")
        if settings.watch.dashboard:
            Dashboard(
                self,
                "Dashboard",
                settings=settings,
                function=function,
                stage=stage,
                log_group=log_group,
                watched=[(each.name, each.metric) for each in watched],
            )


def _watched(
    settings: Settings,
    function: lambda_.Alias,
    stage: apigateway.Stage,
    journal: lambda_.IFunction,
    aside: cloudwatch.IMetric,
) -> Iterator[Watched]:
    """A row for each alarm."""
    yield from of_a_function(function)
    yield Watched(
        "RestServerErrors",
        stage.metric_server_error(period=PERIOD),
        1,
        1,
        "clients of the REST API were answered 5xx; the function's log has the failures.",
    )
    yield Watched(
        "RestLatency",
        stage.metric_latency(period=PERIOD, statistic="p99"),
        settings.watch.p99_ms,
        3,
        "one request in a hundred to the REST API takes longer than watch.p99_ms.",
    )
    yield Watched(
        "JournalErrors",
        journal.metric_errors(period=PERIOD),
        1,
        3,
        "the journal's function fails again and again; its log says where. The table keeps its rows for 35 days.",
    )
    if settings.journal.stream:
        yield Watched(
            "JournalLag",
            journal.metric("IteratorAge", period=PERIOD, statistic="Maximum"),
            LAG.to_milliseconds(),
            1,
            "the journal in the bucket is an hour behind the table.",
        )
    yield Watched(
        "JournalAside",
        aside,
        1,
        1,
        "the journal's function met rows that it cannot read and left them aside; its log names them.",
    )
    if settings.front_door.function_url:
        yield of_a_url(function)
