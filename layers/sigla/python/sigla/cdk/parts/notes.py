"""Where it is noted what a client gave up: a queue that people read, and nothing else does."""

from typing import Final

from aws_cdk import Duration
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from sigla.cdk.parts.checklist import acknowledge

KEPT: Final = Duration.days(14)
"""The longest that a queue keeps anything."""


def notes(scope: Construct, name: str) -> sqs.Queue:
    queue = sqs.Queue(
        scope,
        name,
        encryption=sqs.QueueEncryption.SQS_MANAGED,
        enforce_ssl=True,
        retention_period=KEPT,
    )
    acknowledge(queue, "SQS3", "It is itself the queue of failed records.")
    return queue
