"""`sigla deploy` and `sigla destroy`: a stack in AWS by its stage file, without CDK and without Node.js."""

import argparse
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli.asking import add_yes_option, asking
from sigla.cli.misuse import Misuse, Refused

if TYPE_CHECKING:
    from sigla.delivery.delivery import Delivery

INSIST = "--i-mean-it"
INSTALL = "pip install 'sigla-registry[deploy]'"

DEPLOY = """\
Deploys the stack of a stage file, or what has changed of it: compares the stage with the stack that is there, shows
each resource that would be added, changed, replaced or removed, asks, and waits until CloudFormation has ended. Last
the table and the bucket are given the identity. docs/deploy.md has every setting.
"""

DEPLOY_EPILOG = f"""\
0: deployed, or nothing has changed. 1: AWS could not do it, and says why. 2: something has to be corrected first.
Where data or URLs would move nothing is deployed; {INSIST} deploys it all the same.
"""

DESTROY = """\
Removes the stack of a stage file, and with it every URL. Data is not removed: the bucket and the table stay, and this
says their names and what deletes them.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    deploy = commands.add_parser(
        "deploy",
        help="deploy a registry to AWS",
        description=DEPLOY,
        epilog=DEPLOY_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    _add_stage(deploy)
    deploy.add_argument("--diff", action="store_true", help="show what would change, and stop")
    deploy.add_argument(INSIST, action="store_true", dest="meant", help="deploy even where data or URLs would move")
    deploy.add_argument(
        "--packages", type=Path, metavar="FOLDER", help="a release's folder of zips; without it they are built here"
    )
    deploy.set_defaults(run=run_deploy)
    destroy = commands.add_parser(
        "destroy", help="remove a registry's stack from AWS, but not its data", description=DESTROY
    )
    _add_stage(destroy)
    destroy.set_defaults(run=run_destroy, meant=False, packages=None)


def _add_stage(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("stage", type=Path, metavar="STAGE.toml", help="the stage file")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    add_yes_option(parser)


def run_deploy(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    with explained():
        from sigla.delivery.guard import claiming, not_claimed, place_lines, unheard

        delivery = _delivery(args)
        if args.diff:
            print("\n".join(delivery.show()))
            return 0
        stack = delivery.deploy(asking(args))
        for words in claiming(delivery.settings, stack.outputs):
            if not _claim(words):
                raise not_claimed(words)
        print(place_lines(stack))
        for remark in (delivery.guard.advice(delivery.account), unheard(delivery.settings)):
            if remark:
                _tell(remark)
    return 0


def run_destroy(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    with explained():
        delivery = _delivery(args)
        print("\n".join(delivery.destroy(asking(args))))
    return 0


def _delivery(args: argparse.Namespace) -> "Delivery":
    """Raises InvalidSetting, Unreachable."""
    from sigla.delivery.accounts import here
    from sigla.delivery.delivery import Delivery
    from sigla.delivery.guard import Guard
    from sigla.deployment.stage_files import FLAG, pairs, settings_of
    from sigla.stores.clock import SystemClock

    settings = settings_of({**pairs(args.context), FLAG: str(args.stage)})
    flags = [word for pair in args.context for word in ("-c", pair)]
    folder = ["--packages", str(args.packages)] if args.packages else []
    again = shlex.join(["sigla", "deploy", str(args.stage), *flags, *folder, INSIST])
    guard = Guard(args.stage, settings, again, args.meant, _tell)
    return Delivery(guard, here(), SystemClock(), args.packages)


def _claim(words: list[str]) -> bool:
    from sigla.cli import main

    return main(words) == 0


def _tell(line: str) -> None:
    print(line, file=sys.stderr, flush=True)


@contextmanager
def explained() -> Iterator[None]:
    """What a deployment raises, as `sigla` says it. Raises Misuse, Refused."""
    try:
        from sigla.delivery.accounts import Unreachable
        from sigla.delivery.guard import NotDeployed
        from sigla.deployment.settings import InvalidSetting
    except ModuleNotFoundError as missing:
        raise Misuse(f"{missing.name} is not installed: {INSTALL}.") from None
    try:
        yield
    except (InvalidSetting, Unreachable) as wrong:
        raise Misuse(str(wrong)) from None
    except NotDeployed as reason:
        problem = Refused(str(reason))
        problem.status = reason.status
        raise problem from None
