"""Which registry a command works on without a server: a directory, or a bucket and a table."""

import argparse
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.terminal.arguments import bucket_argument, name_argument

if TYPE_CHECKING:
    from sigla.settings import Address


def add_address_options(
    parser: argparse.ArgumentParser, *, default: Path | None = None, name: Callable[[str], str] = name_argument
) -> None:
    """default: the directory where nothing is said; None where it must be. name: what a name may be."""
    where = parser.add_mutually_exclusive_group(required=default is None)
    shown = "the data directory of the registry" if default is None else f"the data directory (./{default})"
    where.add_argument("--data", type=lambda text: Path(name(text)), default=default, metavar="DIR", help=shown)
    where.add_argument(
        "--bucket",
        type=lambda text: bucket_argument(name(text)),
        metavar="NAME",
        help="the bucket of a registry in AWS, with --table",
    )
    where.add_argument(
        "--store", type=name, metavar="URL", help="either as a URL: file:DIR, dynamodb+s3://TABLE/BUCKET"
    )
    parser.add_argument("--table", type=name, metavar="NAME", help="the table of a registry in AWS")
    add_registry_option(parser, name)


def add_registry_option(parser: argparse.ArgumentParser, name: Callable[[str], str] = name_argument) -> None:
    parser.add_argument(
        "--registry",
        type=name,
        default="default",
        metavar="NAME",
        help="the name of the registry, where several share a bucket",
    )


def address_of(asked: argparse.Namespace, *, bodies_alone: bool = False) -> "Address":
    """What the options above say. bodies_alone: a bucket without its table will do. Raises InvalidSetting."""
    from sigla.settings import Address, InvalidSetting

    if asked.store:
        if asked.table:
            raise InvalidSetting("--store names the table, too: leave out --table.")
        return address_of_url(asked.store, asked.registry)
    if bodies_alone and asked.table and not asked.bucket:
        raise InvalidSetting("--table needs --bucket: give both.")
    if not bodies_alone and bool(asked.bucket) != bool(asked.table):
        raise InvalidSetting("A registry in AWS needs both --bucket and --table.")
    return Address.of("" if asked.bucket else str(asked.data), asked.bucket or "", asked.table or "", asked.registry)


def address_of_url(url: str, registry: str = "default") -> "Address":
    """What --store says. Raises InvalidSetting."""
    from sigla.settings import Address, InvalidSetting

    address = Address.read(url, registry)
    if address.scheme == "memory":
        raise InvalidSetting(
            "Nothing is kept in memory that a command could use: expected file:DIR or dynamodb+s3://TABLE/BUCKET."
        )
    return address
