"""Which registry a job works on: a directory, or a bucket and a table; the same options for every job."""

import argparse
from pathlib import Path

from pipelines import places
from sigla.settings import Address, InvalidSetting


def add_address_options(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", type=name_argument, metavar="DIR", help="where the data of the registry live")
    where.add_argument(
        "--bucket", type=name_argument, metavar="NAME", help="the bucket of a registry in AWS, with --table"
    )
    parser.add_argument("--table", type=name_argument, metavar="NAME", help="its table")
    parser.add_argument(
        "--registry",
        type=name_argument,
        default="default",
        metavar="NAME",
        help="which one, where several share a bucket",
    )


def parse_address(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Address:
    """Ends the process with a sentence, and 2, where it is half an address."""
    if bool(asked.bucket) != bool(asked.table):
        parser.error("a registry in AWS is a bucket and a table: give both, --bucket and --table")
    # Absolute: tasks run in folders of their own.
    data = str(Path(asked.data).resolve()) if asked.data else ""
    return Address(data, asked.bucket or "", asked.table or "", asked.registry)


def name_argument(text: str) -> str:
    """A name, as an argument: a variable of a shell that is not set is none. Raises ArgumentTypeError."""
    try:
        return places.check_name(text)
    except InvalidSetting as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None


def context_argument(text: str) -> str:
    """The name of one, as an argument. Raises ArgumentTypeError."""
    if not text.startswith("."):
        raise argparse.ArgumentTypeError(f"a context begins with a dot: .{text}")
    if ":" in text:
        raise argparse.ArgumentTypeError(f"no context has a colon, as {text} has: subjects are what follows it")
    return name_argument(text)
