"""The settings `function.…`."""

import re
from dataclasses import dataclass

from sigla.deployment.choices.rules import Rules, Together, listed


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
    quota_per_second: how many requests of callers it answers for each registry in each environment, beyond which it
        answers 429; 0: as many as come.
    quota_versions: how many versions each registry may hold, beyond which what is new is answered 429; 0: any number.
    kms_keys: ARNs of KMS keys with which it wraps data keys of shared KEKs, separated by commas; empty: none.
    """

    memory_mb: int = 512
    reserved_concurrency: int = 0
    snap_start: bool = True
    holders_seconds: int = 60
    tracing: bool = False
    platform_logs: bool = False
    quota_per_second: float = 0.0
    quota_versions: int = 0
    kms_keys: str = ""

    @property
    def kms_key_arns(self) -> tuple[str, ...]:
        return listed(self.kms_keys)


REQUESTS_PER_SECOND = 10
"""What Lambda lets into one environment. Source: AWS Lambda Developer Guide, "Understanding concurrency and requests
per second"."""


_KEY_ARN = re.compile(r"arn:aws[a-z-]*:kms:[a-z0-9-]+:\d{12}:key/[0-9a-z-]+").fullmatch

RULES: Rules = {
    "memory_mb": (lambda value: 256 <= value <= 10_240, "it must be 256 to 10240"),
    "reserved_concurrency": (lambda value: value >= 0, "it must be 0 or more"),
    "quota_per_second": (lambda value: value >= 0, "it must be 0 or more"),
    "quota_versions": (lambda value: value >= 0, "it must be 0 or more"),
    "holders_seconds": (lambda value: value >= 0, "it must be 0 or more"),
    "kms_keys": (
        # By the ARN of the key: an alias may be given to another key without a change of this stack.
        lambda value: all(map(_KEY_ARN, listed(value))),
        "it must be ARNs of KMS keys, arn:aws:kms:REGION:ACCOUNT:key/ID, separated by commas, or empty",
    ),
}

TOGETHER: Together = ()
