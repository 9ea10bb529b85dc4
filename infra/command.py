"""A command of this folder as `make` runs it: Ctrl-C ends it without a trace, also while Python still reads its code.

python -m infra.command deploy prod      what `python -m infra.deploy prod` does
"""

import sys
from importlib import import_module

from sigla.terminal.statuses import INTERRUPTED


def main() -> int:
    """The command's own status. The first second is spent on what it imports, and nothing is begun by then."""
    sys.argv = sys.argv[1:]
    try:
        status: int = import_module(f"infra.{sys.argv[0]}").main()
    except KeyboardInterrupt:
        return INTERRUPTED
    return status


if __name__ == "__main__":
    sys.exit(main())
