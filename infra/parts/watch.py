"""Who looks after it: alarms and a dashboard."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from infra.parts.alarms import PERIOD, Watched, of_a_function, of_a_url, set_alarms
from infra.parts.dashboard import Dashboard
from infra.service import Service
from infra.settings import Settings

LAG = Duration.hours(1)
"""Of the journal, that somebody has to look into."""


@dataclass(frozen=True, slots=True)
class Door:
    """A way in: the registry's function there, behind a REST API."""

    service: Service
    api: apigateway.RestApi


class Watch(Construct):
    """The alarms and the dashboard that settings ask for.

    public: the door outside of all zones, if there is one. private: those of zones, which have their own alarms; where
    they are the only ones, they are what the dashboard shows.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        public: Door | None,
        private: Sequence[Door],
        journal: lambda_.IFunction,
        aside: cloudwatch.IMetric,
    ) -> None:
        super().__init__(scope, name)
        watched = [
            *(_of_the_door(settings, public.service.alias, public.api.deployment_stage) if public else ()),
            *_of_the_journal(settings, journal, aside),
        ]
        if settings.watch.alarms:
            set_alarms(self, watched, settings=settings, about=f"the registry {settings.registry_name}")
        if settings.watch.dashboard:
            Dashboard(
                self,
                "Dashboard",
                settings=settings,
                doors=[
                    (each.service.alias, each.api.deployment_stage, each.service.log_group)
                    for each in ([public] if public else private)
                ],
                watched=[(each.name, each.metric) for each in watched],
            )


def _of_the_door(settings: Settings, function: lambda_.Alias, stage: apigateway.Stage) -> Iterator[Watched]:
    """A row for each alarm."""
    yield from of_a_function(function, requests_per_hour=settings.watch.requests_per_hour)
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
    if settings.front_door.function_url:
        yield of_a_url(function)


def _of_the_journal(settings: Settings, journal: lambda_.IFunction, aside: cloudwatch.IMetric) -> Iterator[Watched]:
    """A row for each alarm."""
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
