"""Who looks after it: alarms and a dashboard."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.cdk.exporters import Exporters
from sigla.cdk.issuers import Issuers
from sigla.cdk.journal import CATCH_UP, Journal
from sigla.cdk.parts.alarms import (
    MINUTE,
    PERIOD,
    WatchedMetric,
    of_a_function,
    of_a_url,
    of_an_api,
    own_metric,
    set_alarms,
)
from sigla.cdk.parts.dashboard import Dashboard
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.replay import Replay
from sigla.cdk.service import Service
from sigla.deployment.settings import Settings
from sigla.regions.bodies import OUT_OF_STEP

BEHIND = Duration.minutes(1)
"""How much older than its primary's a follower's data may be."""
LAG = Duration.hours(1)
"""How late the journal may be before a person has to look into it."""
DAY, DAYS_LEFT = Duration.days(1), 21
"""How many days before its end a certificate that was not renewed needs a look: ACM begins sixty days before."""


@dataclass(frozen=True, slots=True)
class Door:
    """A way in: the registry's function there, behind a REST API."""

    service: Service
    api: apigateway.RestApi


class Watch(Construct):
    """The alarms and the dashboard that settings ask for.

    public: the door outside of all zones, if there is one. private: those of zones, which have their own alarms; where
    they are the only ones, they are what the dashboard shows. journal: None of a registry beside another one, which
    has it.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        public: Door | None,
        private: Sequence[Door],
        journal: Journal | None,
        exporters: Exporters | None,
        issuers: Issuers | None,
        replay: Replay | None,
        recipients: Recipients,
    ) -> None:
        super().__init__(scope, name)
        watched = [
            *(_of_the_door(settings, public.service.alias, public.api.deployment_stage) if public else ()),
            *_of_all_doors(settings),
            *_of_certificates(settings),
            *(_of_the_journal(journal) if journal else ()),
            *(_of_exporters(exporters) if exporters else ()),
            *(_of_issuers(issuers) if issuers else ()),
            *(_of_the_regions(replay, (public or private[0]).service.log_group) if replay else ()),
        ]
        if settings.watch.alarms:
            set_alarms(self, watched, recipients=recipients, about=f"the registry {settings.registry_name}")
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


def _of_the_door(settings: Settings, function: lambda_.Alias, stage: apigateway.Stage) -> Iterator[WatchedMetric]:
    """A row for each alarm."""
    yield from of_a_function(function, requests_per_hour=settings.watch.requests_per_hour)
    yield from of_an_api(stage, "Rest", "the REST API", settings=settings)
    if settings.front_door.function_url:
        yield from of_a_url(function, settings=settings)


def _of_all_doors(settings: Settings) -> Iterator[WatchedMetric]:
    """What the functions count themselves, those of zones included."""
    if settings.metrics:
        yield WatchedMetric(
            "ServerErrors",
            own_metric(settings, "ServerErrors"),
            1,
            1,
            "a client got a 5xx answer through one of the doors. The function's log has the failure.",
        )
        yield WatchedMetric(
            "ServerErrorsGoOn",
            own_metric(settings, "ServerErrors"),
            1,
            6,
            "clients got 5xx answers in half of the five-minute periods of an hour: every request of a quiet registry "
            "may fail, or one kind of request of a busy one. The function's log has the failures.",
            page=True,
            out_of=12,
        )
    if settings.metrics and settings.identity:
        yield WatchedMetric(
            "ForeignData",
            own_metric(settings, "ForeignData"),
            1,
            1,
            "the table or the bucket belongs to another deployment, or has no owner: the registry refuses to write. "
            "The function's log names the store.",
            page=True,
        )


def _of_certificates(settings: Settings) -> Iterator[WatchedMetric]:
    """No request fails before the last day, and then all do: none of them comes far enough to be counted."""
    door = settings.front_door
    for name, arn in (("Certificate", door.certificate_arn), ("PrivateCertificate", door.private_certificate_arn)):
        if arn:
            left = cloudwatch.Metric(
                namespace="AWS/CertificateManager",
                metric_name="DaysToExpiry",
                dimensions_map={"CertificateArn": arn},
                statistic="Minimum",
                period=DAY,
            )
            meaning = "a certificate expires within three weeks. ACM renews its own; renew an imported one yourself."
            yield WatchedMetric(f"{name}Ends", left, DAYS_LEFT, 1, meaning, below=True)


def _of_the_journal(journal: Journal) -> Iterator[WatchedMetric]:
    """A row for each alarm. The table keeps what it has to tell for 35 days: no alarm of these has to wake a person."""
    yield WatchedMetric(
        "JournalErrors",
        journal.function.metric_errors(period=PERIOD),
        1,
        3,
        "the journal function fails repeatedly. Its log has the reason. The table keeps its rows for 35 days.",
        # While nothing is written the clock alone wakes it, four times an hour.
        out_of=12,
    )
    yield WatchedMetric(
        "JournalSilent",
        journal.function.metric_invocations(period=CATCH_UP),
        1,
        4,
        "the journal function was not invoked for an hour: its clock comes each quarter of an hour. Look at the rule "
        "of EventBridge, and at the concurrency of the function. The table keeps its rows for 35 days.",
        below=True,
    )
    if journal.given_up:
        yield WatchedMetric(
            "JournalLag",
            journal.function.metric("IteratorAge", period=PERIOD, statistic="Maximum"),
            LAG.to_milliseconds(),
            3,
            "the journal function is an hour behind the table's stream. Its scheduled look at the rows goes on.",
            # A stream that is followed anew begins with what is a day old, and has caught up in minutes.
            out_of=6,
        )
        yield WatchedMetric(
            "JournalGivenUp",
            journal.given_up.metric_approximate_number_of_messages_visible(period=PERIOD, statistic="Maximum"),
            1,
            1,
            "records of the stream were dropped after six hours of failures. The queue names them, and the scheduled "
            "look at the rows finds them. The alarm rings until the queue is empty.",
        )
    yield WatchedMetric(
        "JournalAside",
        journal.aside,
        1,
        1,
        "the journal function found rows that it cannot read and set them aside. Its log names them.",
    )
    if journal.waiting:
        yield WatchedMetric(
            "EventsWaiting",
            journal.waiting.with_(period=PERIOD),
            LAG.to_milliseconds(),
            1,
            "events have waited for an hour: the bus of events.bus does not take them. The journal function's log has "
            "the reason. None is lost, and they are tried again by themselves.",
            # The clock tries each quarter of an hour.
            out_of=4,
        )


def _of_issuers(issuers: Issuers) -> Iterator[WatchedMetric]:
    """Keys that stand in the bucket are believed for a day: that can wait until the morning."""
    yield WatchedMetric(
        "IssuersErrors",
        issuers.function.metric_errors(period=PERIOD),
        1,
        6,
        "the keys of an issuer of tokens cannot be read. After a day none of its tokens are accepted. The log of the "
        "issuers' function has the reason.",
        out_of=12,
    )


def _of_exporters(exporters: Exporters) -> Iterator[WatchedMetric]:
    """A row for each alarm. The journal keeps what is to be exported for 35 days: that can wait until the morning."""
    yield WatchedMetric(
        "ExportersErrors",
        exporters.function.metric_errors(period=PERIOD),
        1,
        3,
        "the exporters' function fails repeatedly. Its log has the reason.",
        out_of=12,
    )
    yield WatchedMetric(
        "ExportersFailing",
        exporters.counted("failing").with_(period=PERIOD),
        1,
        3,
        "an exporter cannot write to its destination, and goes on trying. GET /exporters/NAME/status has the reason.",
        out_of=6,
    )
    yield WatchedMetric(
        "ExportersBehind",
        exporters.counted("behind").with_(period=PERIOD),
        1,
        3,
        "an exporter is an hour behind the registry. GET /exporters/NAME/status says how far it has come.",
        out_of=6,
    )
    yield WatchedMetric(
        "ExportersSilent",
        exporters.function.metric_invocations(period=PERIOD),
        1,
        3,
        "the exporters' function was not invoked for a quarter of an hour: its clock comes every two minutes. Look at "
        "the rule of EventBridge, and at the concurrency of the function.",
        below=True,
    )


def out_of_step(registry: logs.ILogGroup, stack: str) -> logs.MetricFilter:
    """How many bodies the other region did not take: while it does, nothing is sent and nothing is paid."""
    return registry.add_metric_filter(
        "OutOfStep",
        filter_pattern=logs.FilterPattern.string_value("$.event", "=", OUT_OF_STEP),
        metric_namespace=f"Sigla/{stack}",
        metric_name="region_bodies_out_of_step",
        metric_value="1",
    )


def _of_the_regions(replay: Replay, registry: logs.ILogGroup) -> Iterator[WatchedMetric]:
    """Those of either region, whatever it is: no deployment is a part of a promotion. registry: the log of its API."""
    late = BEHIND.to_milliseconds()
    yield WatchedMetric(
        "RegionBehind",
        replay.told("behind_ms", above=late).metric(statistic="Maximum", period=MINUTE),
        late,
        3,
        "this region follows another one, and its data are older than a minute: what is acknowledged there would be "
        "missing after a forced promotion. `sigla regions` says what waits; the function's log has the reason.",
        out_of=5,
    )
    yield WatchedMetric(
        "RegionWaiting",
        replay.told("waiting_ms", above=late).metric(statistic="Maximum", period=MINUTE),
        late,
        3,
        "a commit of the other region has waited for more than a minute: for another one that did not come, for a "
        "schema that is lost, or for a newer release. `sigla regions` counts them; the function's log says which.",
        out_of=5,
    )
    yield WatchedMetric(
        "RegionStopped",
        replay.told("stopped").metric(statistic="Maximum", period=PERIOD),
        1,
        1,
        "a commit of the other region does not fit what stands here or cannot be read, this region was passed over by "
        "a promotion, it cannot become one of two, or the other one has no role any more. The function's log says "
        "which; see `sigla regions`.",
    )
    yield WatchedMetric(
        "RegionSilent",
        replay.told("silent").metric(statistic="Sum", period=PERIOD),
        3,
        2,
        "one of the two regions does not answer, or refuses. This one goes on by itself: a primary until the ids that "
        "the other one knows of are given, a follower with what it has. The function's log has the reason.",
    )
    yield WatchedMetric(
        "RegionBodies",
        out_of_step(registry, replay.stack_name).metric(statistic="Sum", period=PERIOD),
        1,
        1,
        "new schemas were registered that the other region did not take within two seconds: where their commits do not "
        "get there, a forced promotion would not know their ids. The log of the registry names them.",
    )
    yield WatchedMetric(
        "RegionErrors",
        replay.function.metric_errors(period=PERIOD),
        1,
        3,
        "the function of the two regions fails or runs out of time repeatedly. Its log has the reason.",
        out_of=6,
    )
    yield WatchedMetric(
        "RegionUnattended",
        replay.function.metric_invocations(period=PERIOD),
        1,
        3,
        "the function of the two regions was not invoked for a quarter of an hour: its clock comes each minute. Look "
        "at the rule of EventBridge, and at the concurrency that the account has left.",
        below=True,
    )
