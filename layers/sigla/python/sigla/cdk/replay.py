"""What a registry does for its other region, as a function: woken by the clock, its table's stream, and the other one.

Both regions have the same, and none of it says which of them takes writes: that stands in their data, so that no
deployment is a part of a promotion.
"""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.cdk.journal import filters_of_rows
from sigla.cdk.parts.functions import Functions
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.cdk.variables import of_the_regions, of_what_answers, stored
from sigla.deployment.settings import Settings

MEMORY_MB = 512
TIMEOUT = Duration.minutes(15)
"""What Lambda allows: a table that joins is copied in one piece at its end. A turn works for less than a minute."""

TURN = Duration.minutes(1)

BATCH, WINDOW = 16, Duration.seconds(1)
"""Commits are told within seconds, and some together where they come fast: the other region takes each for itself."""

SOURCE, COMMITTED = "sigla.region", "Committed"
"""What events that name commits say: `sigla.functions.replay` has the same."""


class Replay(Construct):
    """The function and what wakes it. Where the stack knows no stream, the clock alone does."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, storage: Storage, functions: Functions
    ) -> None:
        super().__init__(scope, name)
        self.stack_name = settings.stack_name
        made = functions.make(
            self,
            "replay",
            description=f"Sigla, the two regions of the registry {settings.registry_name}",
            memory_mb=MEMORY_MB,
            timeout=TIMEOUT,
            environment=stored(settings, storage) | of_the_regions(settings) | of_what_answers(settings),
            grants=Grants(settings, storage).of_the_replay,
        )
        self.function, self.log_group = made.function, made.log_group
        # The clock comes again before Lambda would repeat what failed.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=TURN)
        waking = targets.LambdaFunction(self.function, max_event_age=TURN, retry_attempts=0)
        events.Rule(
            self,
            "Clock",
            description="What two regions of a registry do for each other",
            schedule=events.Schedule.rate(TURN),
            targets=[waking],
        )
        # Events have the names of commits, and nothing else: whoever may put events here tells nothing by them.
        events.Rule(
            self,
            "Told",
            description="Commits of the registry's other region",
            event_pattern=events.EventPattern(
                source=[SOURCE],
                detail_type=[COMMITTED],
                detail={"registry": [settings.registry_name], "table": [storage.table.table_name]},
            ),
            targets=[waking],
        )
        if settings.replay_stream:
            self.follow(storage, settings.registry_name)

    def follow(self, storage: Storage, registry: str) -> None:
        """What is not told so is found by the clock: nothing is tried again for long."""
        lambda_.EventSourceMapping(
            self,
            "Stream",
            target=self.function,
            event_source_arn=storage.table.table_stream_arn,
            starting_position=lambda_.StartingPosition.LATEST,
            batch_size=BATCH,
            max_batching_window=WINDOW,
            retry_attempts=1,
            max_record_age=TURN,
            filters=[lambda_.FilterCriteria.filter(each) for each in filters_of_rows([registry])],
        )

    def told(self, fact: str, *, above: int = 0) -> logs.MetricFilter:
        """What lines of the function say under that name, above a number: what is never met is neither sent nor paid.

        For those that watch it: LocalStack has no metrics of logs.
        """
        return self.log_group.add_metric_filter(
            fact.partition("_")[0].title(),
            filter_pattern=logs.FilterPattern.number_value(f"$.{fact}", ">", above),
            metric_namespace=f"Sigla/{self.stack_name}",
            metric_name=f"region_{fact}",
            metric_value=f"$.{fact}",
        )
