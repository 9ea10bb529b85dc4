"""The journal as a function: woken by the table's stream, and by the clock for whatever the stream did not bring.

It is written so that either may come late, twice or never; the rows of the table, kept for 35 days, are the truth.

There is one for all registries of a table: a stream has two readers, and which registries there are is said in the
table (`sigla init`), so that another one changes nothing here.
"""

from collections.abc import Sequence
from functools import partial
from typing import Any

import jsii
from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from aws_cdk import aws_lambda as lambda_
from aws_cdk import aws_logs as logs
from aws_cdk import aws_sqs as sqs
from constructs import Construct

from sigla import keys
from sigla.cdk.parts.functions import Functions
from sigla.cdk.parts.notes import notes
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.cdk.variables import stored
from sigla.deployment.settings import Settings

MEMORY_MB = 512
TIMEOUT = Duration.minutes(5)

CATCH_UP = Duration.minutes(15)

# One segment in the bucket for each batch: the longer it waits, the fewer there are. A batch that does not fit into
# memory is halved until it does.
BATCH = 96
WINDOW = Duration.seconds(60)
GIVEN_UP_AFTER = Duration.hours(6)
"""Then the others of its shard go on: what was given up is in the rows, where a catch-up finds it."""

WAKES = "SIGLA_EXPORTERS_FUNCTION"
BUS = "SIGLA_EVENTS_BUS"
"""Variables with the name of what it wakes, and of the bus that it hands events to: settings of sigla.settings."""


class Journal(Construct):
    """The function and what wakes it. Where the stack knows no stream, or has none to spare, the clock alone does.

    exporters: what it wakes itself, if there is such a function.
    """

    def __init__(
        self,
        scope: Construct,
        name: str,
        *,
        settings: Settings,
        storage: Storage,
        functions: Functions,
        exporters: lambda_.IFunction | None,
    ) -> None:
        super().__init__(scope, name)
        # Which records Lambda gave up.
        self.given_up = notes(self, "GivenUp") if settings.journal.stream else None
        made = functions.make(
            self,
            "journal",
            description=f"Sigla, the journal of the registry {settings.registry_name}",
            memory_mb=MEMORY_MB,
            timeout=TIMEOUT,
            environment=stored(settings, storage)
            | ({WAKES: exporters.function_name} if exporters else {})
            | ({BUS: settings.events.bus} if settings.events.bus else {}),
            grants=partial(Grants(settings, storage).of_the_journal, given_up=self.given_up, exporters=exporters),
        )
        self.function, self.log_group = made.function, made.log_group
        if self.given_up:
            self.follow(storage, settings.journals, self.given_up)
        self.aside = self.told("aside", settings, "journal_aside").metric(statistic="Sum")
        self.waiting = (
            self.told("waiting_ms", settings, "events_waiting_ms").metric(statistic="Maximum")
            if settings.events.bus
            else None
        )
        events.Rule(
            self,
            "CatchUp",
            description="Records of the table's stream that did not reach the journal",
            schedule=events.Schedule.rate(CATCH_UP),
            targets=[targets.LambdaFunction(self.function)],
        )

    def told(self, fact: str, settings: Settings, metric: str) -> logs.MetricFilter:
        """What lines of the function say under that name. A metric that is never met is neither sent nor paid."""
        return self.log_group.add_metric_filter(
            fact.partition("_")[0].title(),
            filter_pattern=logs.FilterPattern.number_value(f"$.{fact}", ">", 0),
            metric_namespace=f"Sigla/{settings.stack_name}",
            metric_name=metric,
            metric_value=f"$.{fact}",
        )

    def follow(self, storage: Storage, registries: Sequence[str], given_up: sqs.Queue) -> None:
        lambda_.EventSourceMapping(
            self,
            "Stream",
            target=self.function,
            event_source_arn=storage.table.table_stream_arn,
            # What was written before the mapping was there as well.
            starting_position=lambda_.StartingPosition.TRIM_HORIZON,
            batch_size=BATCH,
            max_batching_window=WINDOW,
            parallelization_factor=1,
            bisect_batch_on_error=True,
            max_record_age=GIVEN_UP_AFTER,
            on_failure=_Noted(given_up),
            filters=list(map(lambda_.FilterCriteria.filter, filters(registries))),
        )


@jsii.implements(lambda_.IEventSourceDlq)
class _Noted:
    """A queue that hears what was given up. CDK's own grants more, and not where all grants stand."""

    def __init__(self, queue: sqs.IQueue) -> None:
        self.queue = queue

    def bind(self, target: lambda_.IEventSourceMapping, handler: lambda_.IFunction) -> lambda_.DlqDestinationConfig:
        return lambda_.DlqDestinationConfig(destination=self.queue.queue_arn)


def filters(registries: Sequence[str]) -> list[dict[str, Any]]:
    """Which rows wake it: new ones of the journal, ids that were just buried, and ids that are held again.

    It marks the rows of the journal itself, and most ids that have one holder are new: hence the kinds of events.
    registries: of which; none: of all that the table has or will have, by what only such rows are.
    """
    holders = partial(_news, registries, "i", sk={"S": [keys.HOLDERS]})
    buried, again = {"BOOL": [True]}, {"N": ["1"]}
    return [
        *filters_of_rows(registries),
        holders("INSERT", "MODIFY", buried=buried),
        holders("MODIFY", count=again),
    ]


def filters_of_rows(registries: Sequence[str]) -> list[dict[str, Any]]:
    """Those of new rows of the journal. registries: as of `filters`.

    The form of such a row is the row, as a text or, where it is long, in bytes; of all others it is a number
    (`sigla.forms`).
    """
    forms: list[dict[str, Any]] = [{}] if registries else [{"form": {kind: [{"exists": True}]}} for kind in "SB"]
    return [_news(registries, "j", "INSERT", **form) for form in forms]


def _news(registries: Sequence[str], prefix: str, *kinds: str, **attributes: Any) -> dict[str, Any]:
    begins = [{"prefix": f"{registry}#{prefix}#"} for registry in registries]
    image = ({"pk": {"S": begins}} if begins else {}) | attributes
    return {"eventName": list(kinds), "dynamodb": {"NewImage": image}}
