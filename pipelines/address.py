"""Which registry a job works on: a directory, or a bucket and a table; the same options for every job."""

import argparse
from pathlib import Path

from sigla.settings import Address


def add_to(parser: argparse.ArgumentParser) -> None:
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--data", type=Path, metavar="DIR", help="where the data of the registry live")
    where.add_argument("--bucket", default="", metavar="NAME", help="the bucket of a registry in AWS, with --table")
    parser.add_argument("--table", default="", metavar="NAME", help="its table")
    parser.add_argument("--registry", default="default", metavar="NAME", help="which one, where several share a place")


def address(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Address:
    """Ends the process with a sentence, and 2, where it is half an address."""
    if bool(asked.bucket) != bool(asked.table):
        parser.error("a registry in AWS is a bucket and a table: give both, --bucket and --table")
    # Absolute: tasks run in folders of their own.
    return Address(str(asked.data.resolve()) if asked.data else "", asked.bucket, asked.table, asked.registry)


def context(text: str) -> str:
    """The name of one, as an argument. Raises ArgumentTypeError."""
    if not text.startswith("."):
        raise argparse.ArgumentTypeError(f"a context begins with a dot: .{text}")
    return text
