"""Where lines are written, and for how long they are kept."""

from aws_cdk import RemovalPolicy
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.deployment.settings import RETENTIONS, Settings

# CDK names them in words, in the same order, with "for ever" as the last.
_PERIODS = dict(zip(RETENTIONS, logs.RetentionDays, strict=False))


def log_group(scope: Construct, name: str, settings: Settings) -> logs.LogGroup:
    """A log group that stays when its writer goes: who asked what is often looked up afterwards, until lines expire.

    One of a deployment that failed at once goes with it; it has nothing to tell.
    """
    kept = settings.platform.keep_logs and not settings.local
    removal = RemovalPolicy.RETAIN_ON_UPDATE_OR_DELETE if kept else RemovalPolicy.DESTROY
    return logs.LogGroup(scope, name, retention=_PERIODS[settings.log_days], removal_policy=removal)
