"""The heartbeat as a function: each minute it asks every zone how it is, and writes it into the directory of zones.

It stands in no zone, so that one that is down does not take its own doctor along. Its clock belongs to each zone
(parts/zone.py).
"""

from aws_cdk import Duration
from constructs import Construct

from sigla.cdk.parts.functions import Functions
from sigla.cdk.service import Grants
from sigla.cdk.storage import Storage
from sigla.cdk.variables import stored
from sigla.deployment.settings import Settings

MEMORY_MB = 512
TIMEOUT = Duration.seconds(30)
BEAT = Duration.minutes(1)


class Heartbeat(Construct):
    """The function alone: who is asked, and when, is said by what wakes it."""

    def __init__(
        self, scope: Construct, name: str, *, settings: Settings, storage: Storage, functions: Functions
    ) -> None:
        super().__init__(scope, name)
        made = functions.make(
            self,
            "heartbeat",
            description=f"Sigla, the zones of the registry {settings.registry_name}",
            memory_mb=MEMORY_MB,
            timeout=TIMEOUT,
            environment=stored(settings, storage),
            grants=Grants(settings, storage).of_the_heartbeat,
        )
        self.function, self.role, self.log_group = made.function, made.role, made.log_group
        # What failed is asked again within a minute anyway; what comes late tells how a zone was.
        self.function.configure_async_invoke(retry_attempts=0, max_event_age=BEAT)
