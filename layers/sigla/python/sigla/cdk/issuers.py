"""The keys of issuers of tokens: a function outside of all zones that reads them and puts them into the bucket."""

from aws_cdk import Duration
from aws_cdk import aws_events as events
from aws_cdk import aws_events_targets as targets
from constructs import Construct

from sigla.cdk.parts.functions import Functions
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.cdk.variables import stored
from sigla.deployment.settings import Settings
from sigla.deployment.translation import ISSUERS

MEMORY_MB = 256
TIMEOUT = Duration.minutes(1)
"""An issuer is waited for three seconds at most."""

TURN = Duration.minutes(5)
"""A new key of an issuer is known after so long, at the latest."""


class Issuers(Construct):
    """The function and its clock. The registry's functions never wait for it."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, storage: Storage, functions: Functions
    ) -> None:
        super().__init__(scope, name)
        made = functions.make(
            self,
            "issuers",
            description=f"Sigla, the keys of issuers for the registry {settings.registry_name}",
            memory_mb=MEMORY_MB,
            timeout=TIMEOUT,
            environment=stored(settings, storage) | {ISSUERS: settings.issuers},
            grants=Grants(settings, storage).of_the_issuers,
        )
        self.function, self.log_group = made.function, made.log_group
        # The clock comes again before Lambda would repeat what failed.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=TURN)
        events.Rule(
            self,
            "Clock",
            description="The keys by which tokens are verified",
            schedule=events.Schedule.rate(TURN),
            targets=[targets.LambdaFunction(self.function, max_event_age=TURN, retry_attempts=0)],
        )
