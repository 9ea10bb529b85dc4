"""Alarms, each with the sentence that a person reads: at night those that page, in the morning the others.

A page is for what clients feel and what goes on: a share of the answers, or several of the last minutes. What happened
once is a note: a person looks at it, and is not woken.
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_apigateway as apigateway
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_lambda as lambda_
from constructs import Construct

from sigla.cdk.parts.recipients import Recipients
from sigla.deployment.settings import Settings
from sigla.deployment.translation import at_limit

MINUTE, PERIOD = Duration.minutes(1), Duration.minutes(5)

FAILING = 0.05
"""The share of answers of 5xx that pages."""
SLOW, SLOW_ONES = 0.01, 3
"""The share of requests slower than `watch.p99_ms` that pages; fewer than so many of a period say nothing."""

NAMESPACE = "Sigla"
"""The namespace of the metrics that our functions send."""


def own_metric(
    settings: Settings, name: str, statistic: str = "Sum", *, label: str | None = None, **dimensions: str
) -> cloudwatch.Metric:
    """One that our functions tell of. dimensions: further ones, besides those that all of them have.

    The registry's name alone would be that of every stage: what lives in one stack must not hide what died in another.
    """
    return cloudwatch.Metric(
        namespace=NAMESPACE,
        metric_name=name,
        dimensions_map={"service": f"sigla-{settings.registry_name}", "stack": settings.stack_name, **dimensions},
        statistic=statistic,
        period=PERIOD,
        label=label,
    )


@dataclass(frozen=True, slots=True)
class WatchedMetric:
    """threshold: at this value and above it rings. periods: of the metric, so many reach it of the last `out_of`.

    meaning: what to think. page: it cannot wait until the morning.
    below: it rings below the threshold instead, and is told as well when nothing is measured any more.
    """

    name: str
    metric: cloudwatch.IMetric
    threshold: float
    periods: int
    meaning: str
    below: bool = False
    page: bool = False
    out_of: int = 0


def of_a_function(function: lambda_.Alias, *, requests_per_hour: int = 0) -> Iterator[WatchedMetric]:
    """What may befall any function that answers requests. requests_per_hour: so many have a price to be looked at."""
    yield WatchedMetric(
        "Errors",
        function.metric_errors(period=PERIOD),
        1,
        1,
        "the function crashed, timed out or could not start. Its log has the reason.",
    )
    yield WatchedMetric(
        "Throttles",
        function.metric_throttles(period=PERIOD),
        1,
        3,
        "more requests come at the same time than function.reserved_concurrency or the account allows.",
        page=True,
        out_of=5,
    )

    if requests_per_hour:
        yield WatchedMetric(
            "Requests",
            function.metric_invocations(period=Duration.hours(1), statistic="Sum"),
            requests_per_hour,
            1,
            "an hour had watch.requests_per_hour requests or more, which cost money. The log names the callers.",
        )


def of_a_url(function: lambda_.Alias, *, settings: Settings) -> Iterator[WatchedMetric]:
    """What clients of a function URL feel."""
    share = cloudwatch.MathExpression(
        expression="IF(requests > 0, failures / requests, 0)",
        using_metrics={
            "failures": function.metric("Url5xxCount", period=MINUTE, statistic="Sum"),
            "requests": function.metric("UrlRequestCount", period=MINUTE, statistic="Sum"),
        },
        period=MINUTE,
        label="the share of answers of 5xx",
    )
    meaning = "one in twenty answers of the function URL is 5xx. The function's log has the failures."
    yield WatchedMetric("UrlServerErrors", share, FAILING, 3, meaning, page=True, out_of=5)
    yield _latency("Url", "the function URL", function.metric("UrlRequestLatency"), settings)


def of_an_api(stage: apigateway.Stage, name: str, about: str, *, settings: Settings) -> Iterator[WatchedMetric]:
    """name: what the names of its alarms begin with. about: what it is called in a sentence."""
    yield WatchedMetric(
        f"{name}ServerErrors",
        # For each request it is 0 or 1, so that the mean is the share.
        stage.metric_server_error(period=MINUTE, statistic="Average"),
        FAILING,
        3,
        f"one in twenty answers of {about} is 5xx. The function's log has the failures.",
        page=True,
        out_of=5,
    )
    yield _latency(name, about, stage.metric_latency(), settings)
    yield WatchedMetric(
        f"{name}AtLimit",
        stage.metric_count(period=MINUTE),
        at_limit(settings),
        3,
        f"{about} gets as many requests as front_door.requests_per_second allows; further ones are refused with 429. "
        "Its access log, or the function's log, names the callers.",
        page=True,
        out_of=5,
    )


def _latency(name: str, about: str, latency: cloudwatch.Metric, settings: Settings) -> WatchedMetric:
    """Rings where the 99th percentile of many requests would, and is true of a few: by the share that is slower.

    The percentile itself says nothing of a few requests: of twenty it is the slowest, which is a cold start. CloudWatch
    can leave it alone below a thousand; then the alarm is silent in most registries at night, or goes on ringing.
    """
    slow = cloudwatch.MathExpression(
        # In percent a request is rarely a round number: hence half a request less.
        expression=f"IF((100 - quick) * requests / 100 > {SLOW_ONES - 0.5}, (100 - quick) / 100, 0)",
        using_metrics={
            "quick": latency.with_(statistic=f"PR(:{settings.watch.p99_ms})", period=PERIOD),
            "requests": latency.with_(statistic="SampleCount", period=PERIOD),
        },
        period=PERIOD,
        label="the share of requests slower than watch.p99_ms",
    )
    meaning = f"one in a hundred requests to {about} takes longer than watch.p99_ms."
    return WatchedMetric(f"{name}Latency", slow, SLOW, 3, meaning, page=True, out_of=5)


def set_alarms(scope: Construct, watched: Iterable[WatchedMetric], *, recipients: Recipients, about: str) -> None:
    """An alarm for each. about: what they all speak of."""
    for each in watched:
        alarm = cloudwatch.Alarm(
            scope,
            each.name,
            metric=each.metric,
            threshold=each.threshold,
            comparison_operator=_BELOW if each.below else _REACHED,
            datapoints_to_alarm=each.periods,
            evaluation_periods=each.out_of or each.periods,
            alarm_description=f"Sigla, {about}: {each.meaning}",
            # Without requests nothing is wrong. What should be told each minute and is not has no data: that is told,
            # too, once there was some, so that what is new does not begin with an alarm.
            treat_missing_data=_MISSING.MISSING if each.below else _MISSING.NOT_BREACHING,
        )
        for action in recipients.pages if each.page else recipients.notes:
            alarm.add_alarm_action(action)
            alarm.add_ok_action(action)
            if each.below:
                alarm.add_insufficient_data_action(action)


_REACHED = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
_MISSING = cloudwatch.TreatMissingData
