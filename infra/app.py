"""The CDK app: one stack per registry. cdk.json points here; `python -m infra.app` synthesises by itself.

python -m infra.app -c stage_file=stages/prod.toml     with settings, as `cdk synth` takes them
python -m infra.app -c stage=local                     for LocalStack, with defaults
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from infra.accounts import ACCOUNT, DESCRIPTION, REGION
from infra.stage_files import pairs, settings_of
from sigla.cdk import doors
from sigla.cdk.heartbeat import Heartbeat
from sigla.cdk.journal import Journal
from sigla.cdk.parts import platform
from sigla.cdk.parts.front_door import STAGE, GatewayLogs, RestApi
from sigla.cdk.parts.functions import Functions, Placed
from sigla.cdk.parts.network import Network
from sigla.cdk.parts.recipients import Recipients
from sigla.cdk.parts.watch import Door, Watch
from sigla.cdk.parts.zone import Zone
from sigla.cdk.pipelines import Pipelines
from sigla.cdk.service import Service
from sigla.cdk.storage import Storage
from sigla.deployment import packages
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.targets import Target, titled
from sigla.deployment.uv import NotInstalled


@dataclass(frozen=True, slots=True)
class Base:
    """What every part of a stack is made with."""

    settings: Settings
    storage: Storage
    functions: Functions
    gateway: GatewayLogs
    recipients: Recipients


def build(app: cdk.App, settings: Settings, *, placed: Placed = packages.built) -> cdk.Stack:
    """The stack that the settings describe; what AWS's checklist finds fails the synthesis.

    placed: where packages lie, built if need be.
    """
    # CDK refuses credentials of another account than this one; where nothing says which, it takes any.
    account, region = (settings.account, settings.region) if not settings.local else ("", "")
    compared = app.node.get_all_context()
    environment = cdk.Environment(
        account=account or compared.get(ACCOUNT) or os.environ.get("CDK_DEFAULT_ACCOUNT"),
        region=region or compared.get(REGION) or os.environ.get("CDK_DEFAULT_REGION"),
    )
    stack = cdk.Stack(
        app,
        settings.stack_name,
        description=f"{DESCRIPTION}{settings.registry_name}",
        env=environment,
        synthesizer=cdk.DefaultStackSynthesizer(qualifier=settings.qualifier or None),
        termination_protection=not settings.local,
    )
    platform.apply_to(stack, settings)
    storage = Storage(stack, "Storage", settings=settings)
    functions = Functions(stack, "Functions", settings=settings, placed=placed)
    gateway = GatewayLogs(stack, "GatewayLogs", settings=settings)
    recipients = Recipients(stack, "Recipients", settings=settings)
    base = Base(settings, storage, functions, gateway, recipients)
    outputs = Target.of(settings).outputs | {
        "BucketName": (storage.bucket.bucket_name, "Schema bodies and the journal"),
        "TableName": (storage.table.table_name, "Ids, versions, settings"),
    }
    public = _public_door(stack, base, outputs) if settings.public_doors else None
    zones = _zones(stack, base, outputs) if settings.zone_ids else []
    if not settings.local:  # a table there has no stream to follow, and no person is to be woken
        journal = Journal(stack, "Journal", settings=settings, storage=storage, functions=functions)
        Watch(
            stack,
            "Watch",
            settings=settings,
            public=public,
            private=[Door(each.service, each.private.api) for each in zones if each.private],
            journal=journal,
            recipients=recipients,
        )
        outputs |= {
            "JournalName": (journal.function.function_name, "The function that writes the journal to the bucket"),
            "JournalLogGroupName": (journal.log_group.log_group_name, "The log of the journal function"),
        }
    if settings.pipelines.enabled:
        jobs = Pipelines(stack, "Jobs", settings=settings, storage=storage, recipients=recipients, placed=placed)
        outputs |= {
            "JobsApplicationId": (jobs.application.attr_application_id, "The EMR Serverless application of the jobs"),
            "JobsLogGroupName": (jobs.log.log_group_name, "The log of the jobs"),
        }
    for name, (value, description) in outputs.items():
        cdk.CfnOutput(stack, name, value=value, description=description)
    # From here on a finding that is not acknowledged fails the synthesis.
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks())
    return stack


Outputs = dict[str, tuple[str, str]]
"""What a deployer is told: by names, values and what they are."""


def _public_door(stack: cdk.Stack, base: Base, outputs: Outputs) -> Door:
    """The registry outside of all zones, and the URLs that the internet reaches."""
    settings = base.settings
    service = Service(stack, "Service", settings=settings, storage=base.storage, functions=base.functions)
    rest = RestApi(stack, "Rest", settings=settings, target=service.alias, after=base.gateway.account)
    outputs |= {
        "RestUrl": (rest.url, "The URL for clients; the stage is part of it"),
        "RestApiId": (rest.api.rest_api_id, "The REST API"),
        "RestStage": (STAGE, "The REST API's stage, the first segment of its URL"),
        "FunctionName": (service.function.function_name, "The function of the registry"),
        "LogGroupName": (service.log_group.log_group_name, "The log of the registry"),
    }
    if rest.domain:
        target = "The target for the DNS record of front_door.domain_name"
        outputs["DomainTarget"] = (rest.domain.domain_name_alias_domain_name, target)
        outputs["DomainUrl"] = (
            f"https://{settings.front_door.domain_name}",
            "The URL for clients, as soon as the DNS record exists",
        )
    if settings.front_door.function_url:
        url = doors.function_url(service.alias)
        outputs["FunctionUrl"] = (url, "The URL for clients that cannot have a path in their URL")
    return Door(service, rest.api)


def _zones(stack: cdk.Stack, base: Base, outputs: Outputs) -> list[Zone]:
    settings, storage, functions = base.settings, base.storage, base.functions
    network = Network(stack, "Network", settings=settings)
    heartbeat = Heartbeat(stack, "Heartbeat", settings=settings, storage=storage, functions=functions)
    outputs |= {
        "HeartbeatName": (heartbeat.function.function_name, "The function that checks the zones"),
        "HeartbeatLogGroupName": (
            heartbeat.log_group.log_group_name,
            "The log of the zones' health, a line per minute",
        ),
        "VpcId": (network.vpc_id, "The network of the zones"),
    }
    made = []
    for each in settings.zone_ids:
        zone = Zone(
            stack,
            each,
            settings=settings,
            storage=storage,
            functions=functions,
            network=network,
            heartbeat=heartbeat,
            account=base.gateway.account,
            recipients=base.recipients,
        )
        made.append(zone)
        name = titled(each)
        if zone.url:
            outputs[f"ZoneUrl{name}"] = (zone.url, f"The registry in {each}, with its ring")
        outputs[f"ZoneFunction{name}"] = (zone.service.function.function_name, f"The registry's function in {each}")
        outputs[f"ZoneLogGroup{name}"] = (zone.service.log_group.log_group_name, f"The log of the registry in {each}")
        if zone.private:
            private = f"The registry in {each}, with its ring, for clients in its network"
            outputs[f"ZonePrivateUrl{name}"] = (zone.private.url, private)
    for before, door in pairwise(each.private for each in made if each.private):
        door.follow(before)
    return made


def context(given: Iterable[str]) -> dict[str, Any]:
    """cdk.json's, and over it what is given as in `name=value`. Raises InvalidSetting."""
    chosen: dict[str, Any] = json.loads((Path(__file__).parents[1] / "cdk.json").read_text())["context"]
    return chosen | pairs(given)


def main() -> int:
    """The command: 0, 2 if a setting is not one, 1 if what the templates name cannot be built here."""
    parser = argparse.ArgumentParser(
        prog="python -m infra.app", description="Writes the CloudFormation templates; CDK runs it"
    )
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    parser.add_argument("-o", "--output", help="the folder of the templates (CDK sets CDK_OUTDIR)")
    parser.add_argument("--otherwise", type=Path, metavar="PATH", help="the stage file, unless -c stage_file names one")
    arguments = parser.parse_args()
    try:
        chosen = context(arguments.context)
        application = cdk.App(context=chosen, outdir=arguments.output, analytics_reporting=False)
        build(application, settings_of(application.node.get_all_context(), otherwise=arguments.otherwise))
        application.synth()
    except InvalidSetting as wrong:
        print(wrong, file=sys.stderr)
        return 2
    except NotInstalled as reason:
        print(reason, file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
