"""`sigla stage`: the stage file that `sigla deploy` reads."""

import argparse
import shlex
import sys
from pathlib import Path

from sigla.cli.deploy import explained
from sigla.cli.misuse import Refused
from sigla.terminal.statuses import INTERRUPTED

DESCRIPTION = """\
Writes the stage file of a new deployment to AWS: asks for the registry's name, the account, the region, zones and where
alarms go, and draws an identity that no other registry has. Without a person to answer, what -c does not say has its
default. A file that is there is not changed. docs/deploy.md has every setting.
"""

EPILOG = """\
0: the file is there; keep it, for every later deployment needs it. 2: nothing was written.
A file that was lost: -c identity=IDENTITY -c stack_name=STACK -c registry_name=REGISTRY, from the stack's outputs.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "stage",
        help="write the settings of a deployment to AWS",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("stage", type=Path, metavar="STAGE.toml", help="the file to write, as in prod.toml")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    with explained():
        from sigla.delivery.first_stage import make

        try:
            print(make(args.stage, args.context, input if sys.stdin.isatty() else None))
        except (EOFError, KeyboardInterrupt):
            print(file=sys.stderr)  # behind the question
            problem = Refused("Interrupted. Nothing was written.")
            problem.status = INTERRUPTED
            raise problem from None
    print(f"Next: sigla deploy {shlex.quote(str(args.stage))}", file=sys.stderr)
    return 0
