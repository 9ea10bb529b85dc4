"""Alarms, each with the sentence that a person reads at night."""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_cloudwatch_actions as actions
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_sns as sns
from constructs import Construct

from infra.settings import Settings

PERIOD = Duration.minutes(5)

NAMESPACE = "Sigla"
"""Of what our functions tell of themselves."""


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
class Watched:
    """threshold: at this value and above it rings. periods: of PERIOD, so many in a row. meaning: what to think.

    below: it rings below the threshold instead, and where nothing is measured.
    """

    name: str
    metric: cloudwatch.IMetric
    threshold: float
    periods: int
    meaning: str
    below: bool = False


def of_a_function(function: lambda_.Alias, *, requests_per_hour: int = 0) -> Iterator[Watched]:
    """What may befall any function that answers requests. requests_per_hour: so many have a price to be looked at."""
    yield Watched(
        "Errors",
        function.metric_errors(period=PERIOD),
        1,
        1,
        "the function crashed, ran out of time or could not start; its log says where.",
    )
    yield Watched(
        "Throttles",
        function.metric_throttles(period=PERIOD),
        1,
        1,
        "more requests at once than function.reserved_concurrency, or the account, lets through.",
    )

    if requests_per_hour:
        yield Watched(
            "Requests",
            function.metric_invocations(period=Duration.hours(1), statistic="Sum"),
            requests_per_hour,
            1,
            "as many requests in an hour as watch.requests_per_hour, and each is paid for; the log says who asks.",
        )


def of_a_url(function: lambda_.Alias) -> Watched:
    return Watched(
        "UrlServerErrors",
        function.metric("Url5xxCount", period=PERIOD, statistic="Sum"),
        1,
        1,
        "clients of the function URL were answered 5xx; the function's log has the failures.",
    )


def set_alarms(scope: Construct, watched: Iterable[Watched], *, settings: Settings, about: str) -> None:
    """An alarm for each, sent where settings say. about: what they all speak of."""
    arn = settings.watch.topic_arn
    tell = actions.SnsAction(sns.Topic.from_topic_arn(scope, "Topic", arn)) if arn else None
    for each in watched:
        alarm = cloudwatch.Alarm(
            scope,
            each.name,
            metric=each.metric,
            threshold=each.threshold,
            comparison_operator=_BELOW if each.below else _REACHED,
            evaluation_periods=each.periods,
            alarm_description=f"Sigla, {about}: {each.meaning}",
            # Where nobody asked, nothing is wrong; where something should be told each minute, silence is.
            treat_missing_data=_MISSING.BREACHING if each.below else _MISSING.NOT_BREACHING,
        )
        if tell:
            alarm.add_alarm_action(tell)
            alarm.add_ok_action(tell)


_REACHED = cloudwatch.ComparisonOperator.GREATER_THAN_OR_EQUAL_TO_THRESHOLD
_BELOW = cloudwatch.ComparisonOperator.LESS_THAN_THRESHOLD
_MISSING = cloudwatch.TreatMissingData
