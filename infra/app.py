"""The CDK app: one stack per registry. cdk.json points here; `python -m infra.app` synthesises by itself.

python -m infra.app -c stage_file=stages/prod.toml     with settings, as `cdk synth` takes them
python -m infra.app -c stage=local                     for LocalStack, with defaults
"""

import argparse
import json
import os
import sys
from collections.abc import Iterable
from dataclasses import asdict
from pathlib import Path
from typing import Any

import aws_cdk as cdk
from cdk_nag import AwsSolutionsChecks

from sigla.cdk.parts.functions import Placed
from sigla.cdk.registry import OF_THE_STACK, Registry
from sigla.delivery.accounts import ACCOUNT, DESCRIPTION, REGION
from sigla.deployment import packages
from sigla.deployment.settings import InvalidSetting, Settings
from sigla.deployment.stage_files import pairs, settings_of
from sigla.deployment.translation import STACK
from sigla.deployment.uv import NotInstalled


def build(
    app: cdk.App,
    settings: Settings,
    *,
    placed: Placed = packages.built,
    synthesizer: cdk.DefaultStackSynthesizer | None = None,
) -> cdk.Stack:
    """The stack that the settings describe; what AWS's checklist finds fails the synthesis.

    placed: where packages lie, built if need be. synthesizer: where the template has them, if not in the bucket of
    the bootstrap.
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
        STACK,
        stack_name=settings.stack_name,
        description=f"{DESCRIPTION}{settings.registry_name}",
        env=environment,
        synthesizer=synthesizer or cdk.DefaultStackSynthesizer(qualifier=settings.qualifier or None),
        termination_protection=not settings.local,
    )
    for name, value in settings.platform.tag_values.items():
        stack.tags.set_tag(name, value)  # of the stack itself, which CloudFormation passes on
    # CDK leaves this name out of all others: what the construct makes is called as if the stack had made it.
    chosen = {name: value for name, value in asdict(settings).items() if name not in OF_THE_STACK}
    registry = Registry(stack, "Default", placed=placed, **chosen)
    for name, (value, description) in registry.outputs.items():
        cdk.CfnOutput(stack, name, value=value, description=description)
    # From here on a finding that is not acknowledged fails the synthesis.
    cdk.Validations.of(app).add_plugins(AwsSolutionsChecks())
    return stack


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
