"""Where lines are written, and for how long they are kept."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from infra.settings import RETENTIONS, Settings

# CDK names them in words, in the same order, with "for ever" as the last.
_PERIODS = dict(zip(RETENTIONS, logs.RetentionDays, strict=False))


def log_group(scope: Construct, name: str, settings: Settings) -> logs.LogGroup:
    """A log group that goes with the stack: lines hold facts about requests, never what is stored."""
    return logs.LogGroup(scope, name, retention=_PERIODS[settings.log_days], removal_policy=RemovalPolicy.DESTROY)
