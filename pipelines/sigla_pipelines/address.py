"""Which registry a job works on: a directory, or a bucket and a table; the same options for every job."""

import argparse
from pathlib import Path

from sigla.settings import Address, InvalidSetting
from sigla_pipelines import places


def add_address_options(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", type=name_argument, metavar="DIR", help="the data directory of the registry")
    where.add_argument(
        "--bucket", type=name_argument, metavar="NAME", help="the bucket of a registry in AWS, with --table"
    )
    parser.add_argument("--table", type=name_argument, metavar="NAME", help="the table of a registry in AWS")
    parser.add_argument(
        "--registry",
        type=name_argument,
        default="default",
        metavar="NAME",
        help="the name of the registry, where several share a bucket",
    )


def parse_address(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Address:
    """Ends the process with a sentence, and 2, where it is half an address."""
    if bool(asked.bucket) != bool(asked.table):
        parser.error("a registry in AWS needs both --bucket and --table")
    # Absolute: tasks run in folders of their own.
    data = str(Path(asked.data).resolve()) if asked.data else ""
    return Address.of(data, asked.bucket or "", asked.table or "", asked.registry)


def name_argument(text: str) -> str:
    """A name, as an argument; a variable that the shell does not know arrives empty. Raises ArgumentTypeError."""
    try:
        return places.check_name(text)
    except InvalidSetting as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def context_argument(text: str) -> str:
    """The name of one, as an argument. Raises ArgumentTypeError."""
    if not text.startswith("."):
        raise argparse.ArgumentTypeError(f"invalid context '{text}': a context begins with a dot, so write .{text}")
    if ":" in text:
        raise argparse.ArgumentTypeError(f"invalid context '{text}': a context cannot contain a colon")
    return name_argument(text)
