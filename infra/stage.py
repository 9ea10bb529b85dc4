"""Writes the first stage file of a deployment to where `make deploy` looks for it: `make stage NAME=prod`.

python -m infra.stage prod -c registry_name=orders -c zones=use1-az1,use1-az2
python -m infra.stage prod -c stack_name=sigla-orders -c registry_name=orders -c identity=…    a file that was lost

It is `sigla stage stages/prod.toml`.
"""

import argparse
import sys

from sigla.delivery.first_stage import make
from sigla.deployment.settings import InvalidSetting
from sigla.deployment.stage_files import path_of
from sigla.terminal.statuses import INTERRUPTED


def main() -> int:
    """The command: 0, or 2 if the file cannot be written."""
    parser = argparse.ArgumentParser(prog="python -m infra.stage", description="Writes the stage file of a deployment")
    parser.add_argument("name", help="the name of the stage, such as prod")
    parser.add_argument("-c", "--context", action="append", default=[], metavar="NAME=VALUE", help="a setting")
    arguments = parser.parse_args()
    try:
        print(make(path_of(arguments.name), arguments.context, input if sys.stdin.isatty() else None))
    except InvalidSetting as wrong:
        print(wrong, file=sys.stderr)
        return 2
    except (EOFError, KeyboardInterrupt):
        print("\nNothing was written.", file=sys.stderr)
        return INTERRUPTED
    print(f"Next: make deploy STAGE={arguments.name}", file=sys.stderr)
    return 0


if __name__ == "__main__":
    sys.exit(main())
