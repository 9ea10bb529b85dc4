"""The settings `function.…`."""

from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together


@dataclass(frozen=True, slots=True)
class Function:
    """The function that is the registry.

    memory_mb: also its share of a processor; 1,769 is a whole one.
    reserved_concurrency: how many environments there may be at most; 0 leaves it to the account. Each serves one
        request at a time and ten a second; beyond that a function URL answers 429, and a REST API 503. It is taken
        from what the account has left.
    snap_start: start from a snapshot, which costs by the month and kept version.
    holders_seconds: how long it remembers who uses an id; 0: not at all.
    tracing: X-Ray traces of the function and the REST API.
    platform_logs: Lambda's own START, END and REPORT lines, three for each request.
    """

    memory_mb: int = 512
    reserved_concurrency: int = 0
    snap_start: bool = True
    holders_seconds: int = 60
    tracing: bool = False
    platform_logs: bool = False


REQUESTS_PER_SECOND = 10
"""What Lambda lets into one environment. Source: AWS Lambda Developer Guide, "Understanding concurrency and requests
per second"."""


RULES: Rules = {
    "memory_mb": (lambda value: 256 <= value <= 10_240, "it must be 256 to 10240"),
    "reserved_concurrency": (lambda value: value >= 0, "it must be 0 or more"),
    "holders_seconds": (lambda value: value >= 0, "it must be 0 or more"),
}

TOGETHER: Together = ()
