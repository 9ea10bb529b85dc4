"""A further registry in the table and the bucket of another one: with a function, a role and doors of its own.

It shares what costs something by itself, or is there once in a table: the stores, the layer, the account's role for
logs of the gateway, who is told of alarms, and the journal's function. Nothing of another registry refers to it, so
that one comes and goes without a change of the others.
"""

import aws_cdk as cdk
from constructs import Construct, IDependable

from sigla.cdk import doors
from sigla.cdk.exporters import Exporters
from sigla.cdk.issuers import Issuers
from sigla.cdk.parts.front_door import RestApi
from sigla.cdk.parts.functions import Functions
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.parts.watch import Door, Watch
from sigla.cdk.service import Service
from sigla.cdk.storage import Storage
from sigla.deployment.settings import Settings

TAG = "sigla:registry"
"""All that is made for a further registry bears its name in this tag: by that the bill tells them apart."""


class RegistryBeside(Construct):
    """settings: those of this registry alone (`Settings.of`). outputs: as of `Registry`."""

    def __init__(
        self,
        scope: Construct,
        registry: str,
        *,
        settings: Settings,
        storage: Storage,
        functions: Functions,
        account: IDependable | None,
        recipients: Recipients,
    ) -> None:
        super().__init__(scope, f"Registry-{registry}")
        cdk.Tags.of(self).add(TAG, registry)
        self.settings = settings
        self.service = service = Service(self, "Service", settings=settings, storage=storage, functions=functions)
        self.rest = rest = RestApi(self, "Rest", settings=settings, target=service.alias, after=account)
        self.outputs = {
            "RestUrl": (rest.url, "The URL for clients of the registry; the stage is part of it"),
            "RestApiId": (rest.api.rest_api_id, "The REST API of the registry"),
            "FunctionName": (service.function.function_name, "The function of the registry"),
            "LogGroupName": (service.log_group.log_group_name, "The log of the registry"),
        }
        if settings.front_door.function_url:
            what = "The URL for clients of the registry that cannot have a path in their URL"
            self.outputs["FunctionUrl"] = (doors.function_url(service.alias), what)
        exporters = (
            Exporters(self, "Exporters", settings=settings, storage=storage, functions=functions)
            if settings.exporters
            else None
        )
        issuers = (
            Issuers(self, "Issuers", settings=settings, storage=storage, functions=functions)
            if settings.issuers
            else None
        )
        if not settings.local:  # where no person is to be woken
            Watch(
                self,
                "Watch",
                settings=settings,
                public=Door(service, rest.api),
                private=[],
                journal=None,
                exporters=exporters,
                issuers=issuers,
                replay=None,
                recipients=recipients,
            )
