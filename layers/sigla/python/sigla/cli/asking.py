"""A question to the person before something that cannot be taken back, answered by --yes where no person is there."""

import argparse
import sys
from collections.abc import Callable

from sigla.cli.misuse import Misuse


def add_yes_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--yes", action="store_true", help="do not ask")


def asking(args: argparse.Namespace) -> Callable[[str], bool]:
    """Without a person a question has no answer: whoever runs it by itself says --yes. The call raises Misuse."""

    def ask(question: str) -> bool:
        if args.yes:
            return True
        if not sys.stdin.isatty():
            raise Misuse(f"{question} No person is there to answer: add --yes.")
        # On standard error, as all that is told on the way: the output may go into a file. Ctrl-D means no.
        print(f"{question} [y/N] ", end="", file=sys.stderr, flush=True)
        answer = ""
        try:
            answer = sys.stdin.readline()
        finally:
            if not answer.endswith("\n"):
                print(file=sys.stderr, flush=True)
        return answer.strip().lower() in ("y", "yes")

    return ask
