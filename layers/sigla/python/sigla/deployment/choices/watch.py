"""The settings `watch.…`."""

import re
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together


@dataclass(frozen=True, slots=True)
class Watch:
    """Who looks after it.

    alarms: on errors, throttles, 5xx, latency and a journal that lags, each at a price by the month.
    topic_arn: of an SNS topic for alarms that cannot wait: those on rates, and on what goes on for minutes.
    notes_topic_arn: of one for all others, which speak of something that happened once.
    email: an address that gets both, by a topic of the stack's own. Where neither is given, alarms only change colour.
    requests_per_hour: of each function that answers: at so many in an hour an alarm rings; 0: without an alarm.
    p99_ms: the 99th percentile of latency that is still well, of each door, over five minutes.
    dashboard: one in CloudWatch; the account's first three are free.
    """

    alarms: bool = True
    topic_arn: str = ""
    notes_topic_arn: str = ""
    email: str = ""
    requests_per_hour: int = 0
    p99_ms: int = 2_000
    dashboard: bool = False


_IS_TOPIC = (lambda value: not value or value.startswith("arn:"), "it must be an ARN, or empty")

RULES: Rules = {
    "p99_ms": (lambda value: value >= 1, "it must be 1 or more"),
    "requests_per_hour": (lambda value: value >= 0, "it must be 0 or more"),
    "topic_arn": _IS_TOPIC,
    "notes_topic_arn": _IS_TOPIC,
    "email": (lambda value: re.fullmatch(r"([^@\s]+@[^@\s]+)?", value), "it must be one address, or empty"),
}

TOGETHER: Together = ()
