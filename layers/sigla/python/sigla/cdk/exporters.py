"""Exporters as a function: woken by the clock, and by the journal's function whenever that has told something new.

There is one environment of it at most: two at a time would write to the same destination, the later state before the
earlier one. Lambda counts environments, so that no lease has to; what comes meanwhile waits for its turn, or is
dropped: the clock comes again.
"""

from aws_cdk import Duration
from aws_cdk import aws_cloudwatch as cloudwatch
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_logs as logs
from constructs import Construct

from sigla.cdk.parts.functions import Functions
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.cdk.variables import of_the_regions, stored
from sigla.deployment.settings import Settings

MEMORY_MB = 512
TIMEOUT = Duration.minutes(5)
"""It ends earlier by itself; what is left waits for the clock."""

TICK = Duration.minutes(2)


class Exporters(Construct):
    """The function, its clock, and what it tells of exporters in trouble."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, storage: Storage, functions: Functions
    ) -> None:
        super().__init__(scope, name)
        self.stack_name = settings.stack_name
        made = functions.make(
            self,
            "exporters",
            description=f"Sigla, the exporters of the registry {settings.registry_name}",
            memory_mb=MEMORY_MB,
            timeout=TIMEOUT,
            environment=stored(settings, storage) | of_the_regions(settings),
            grants=Grants(settings, storage).of_the_exporters,
            reserved_concurrent_executions=1,
        )
        self.function, self.log_group = made.function, made.log_group
        # The clock comes again before Lambda would repeat what failed.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=TICK)
        events.Rule(
            self,
            "Clock",
            description="What exporters have still to write to other registries",
            schedule=events.Schedule.rate(TICK),
            targets=[targets.LambdaFunction(self.function, max_event_age=TICK, retry_attempts=0)],
        )

    def counted(self, fact: str) -> cloudwatch.Metric:
        """How many exporters a line of its log counts so; a metric that is never met is neither sent nor paid.

        For those that watch it: LocalStack has no metrics of logs.
        """
        return self.log_group.add_metric_filter(
            fact.title(),
            filter_pattern=logs.FilterPattern.number_value(f"$.{fact}", ">", 0),
            metric_namespace=f"Sigla/{self.stack_name}",
            metric_name=f"exporters_{fact}",
            metric_value=f"$.{fact}",
        ).metric(statistic="Maximum")
