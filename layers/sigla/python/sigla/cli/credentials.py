"""With what a command enters another registry: `--user`, the environment, or a question at the terminal.

Other users of a machine can see what stands on a command line: a secret is better in the environment, or typed.
"""

import argparse
import sys

from sigla.cli.misuse import Misuse

HELP = (
    "for the URL: an API key, or a user and a password. Without SECRET it is the one in SIGLA_SECRET, or asked for;"
    " without --user the name is in SIGLA_USER"
)


def add_user_option(parser: "argparse.ArgumentParser | argparse._ArgumentGroup") -> None:
    parser.add_argument("--user", default="", metavar="NAME[:SECRET]", help=HELP)


def user_of(args: argparse.Namespace, url: str) -> str:
    """NAME:SECRET for this URL; empty without a user, and where the URL brings one. Raises Misuse."""
    from sigla.remote.urls import has_user
    from sigla.settings import REMOTE_USER
    from sigla.terminal.environment import of_another_registry

    name, secret = map(of_another_registry, REMOTE_USER)
    said: str = args.user or ("" if has_user(url) else name)
    if not said or ":" in said:
        return said
    if name not in ("", said):
        secret = ""  # it is another one's
    return f"{said}:{secret or _asked_for(said)}"


def _asked_for(name: str) -> str:
    """Raises Misuse."""
    from getpass import getpass

    if not sys.stdin.isatty():
        raise Misuse(
            f"The secret of {name} is missing: set SIGLA_SECRET, or run this in a terminal, which asks for it."
        )
    try:
        secret = getpass(f"Secret of {name}: ")
    except EOFError:
        secret = ""
    if not secret:
        raise Misuse(f"The secret of {name} is missing.")
    return secret
