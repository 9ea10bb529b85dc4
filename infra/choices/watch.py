"""The settings `watch.…`."""

from dataclasses import dataclass

from infra.choices.rules import Rules, Together


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks after it.

    alarms: on errors, throttles, 5xx, latency and a journal that lags, each at a price by the month.
    topic_arn: of an SNS topic that alarms are sent to; empty: they only change colour.
    requests_per_hour: of each function that answers: at so many in an hour an alarm rings; 0: there is none.
    p99_ms: the 99th percentile of the REST API's latency that is still well, over five minutes.
    dashboard: one in CloudWatch; the account's first three are free.
    """

    alarms: bool = True
    topic_arn: str = ""
    requests_per_hour: int = 0
    p99_ms: int = 2_000
    dashboard: bool = False


RULES: Rules = {
    "p99_ms": (lambda value: value >= 1, "it must be 1 or more"),
    "requests_per_hour": (lambda value: value >= 0, "it must be 0 or more"),
    "topic_arn": (lambda value: not value or value.startswith("arn:"), "it must be an ARN, or empty"),
}

TOGETHER: Together = ()
