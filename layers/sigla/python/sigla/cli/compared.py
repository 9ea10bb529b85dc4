"""What files are compared with: a registry behind a URL, a directory, or a dump."""

import argparse
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import credentials, place
from sigla.cli.misuse import Misuse, reading_remote
from sigla.terminal.arguments import name_argument, path_argument

if TYPE_CHECKING:
    from sigla.ports.progress import Progress
    from sigla.registry import Options
    from sigla.schema_files.facts import RegistryFacts

MISSING = (
    "Nothing to compare with: give --registry URL (or set SIGLA_URL), --data DIR, --dump FILE or --against GITREF."
)


def add_options(parser: argparse.ArgumentParser, *, revisions: bool = True, dumps: bool = True) -> None:
    """revisions, dumps: whether files can be compared with those."""
    group = parser.add_argument_group("what the files are compared with, one of these")
    one = group.add_mutually_exclusive_group()
    one.add_argument(
        "--registry", type=name_argument, metavar="URL", help="a registry, through its API; else the one of SIGLA_URL"
    )
    one.add_argument("--data", type=path_argument, metavar="DIR", help="the data directory of a registry; only read")
    if dumps:
        one.add_argument(
            "--dump", type=path_argument, metavar="FILE", help="a dump of a topic _schemas, as `sigla import` takes it"
        )
    if revisions:
        one.add_argument(
            "--against", type=name_argument, metavar="GITREF", help="the files as they were in a revision of git"
        )
    parser.set_defaults(dump=None, against=None)
    credentials.add_user_option(group)


@contextmanager
def opened_registry(args: argparse.Namespace, told: "Progress") -> "Iterator[tuple[RegistryFacts, Options]]":
    """What a registry knows, and how it is set up as far as that is known. Raises Misuse, Refused."""
    url = "" if args.data or args.dump or args.against else url_of(args)
    if url:
        with _behind_url(args, url, told) as facts:
            yield facts, _defaults()
    elif args.against:
        from sigla.schema_files.no_facts import EmptyRegistry

        yield EmptyRegistry(args.against), as_served_here()
    elif args.dump:
        yield _in_dump(args.dump), as_served_here()
    elif args.data:
        with _in_directory(args.data) as facts:
            yield facts, as_served_here()
    else:
        raise Misuse(MISSING)


def url_of(args: argparse.Namespace) -> str:
    from sigla.settings import REMOTE_URL
    from sigla.terminal.environment import of_another_registry

    return args.registry or of_another_registry(REMOTE_URL)


@contextmanager
def _behind_url(args: argparse.Namespace, url: str, told: "Progress") -> "Iterator[RegistryFacts]":
    from sigla.remote.client import Remote
    from sigla.schema_files.remote_facts import RemoteRegistry
    from sigla.stores.clock import SystemClock

    user = credentials.user_of(args, url)
    with reading_remote(), closing(Remote(url, user, SystemClock())) as remote:
        yield RemoteRegistry(remote, told)


def _in_dump(file: Path) -> "RegistryFacts":
    from sigla.cli import dumps
    from sigla.journal import replay
    from sigla.schema_files.dump_facts import DumpedRegistry

    if not file.exists():
        raise Misuse(f"File not found: {file}.")
    return DumpedRegistry(replay.replayed(dumps.read(file)), str(file))


@contextmanager
def _in_directory(directory: Path) -> "Iterator[RegistryFacts]":
    from sigla.schema_files.store_facts import StoredRegistry
    from sigla.settings import Address
    from sigla.stores import kinds

    address = Address.of(str(directory))
    with place.explained(address), kinds.store_kind(address).reading(address) as store:
        yield StoredRegistry(store.catalog, store.bodies, str(address))


def _defaults() -> "Options":
    from sigla.registry import Options

    return Options()


def as_served_here() -> "Options":
    """As `sigla serve` would have them in this environment. Raises Misuse."""
    from sigla.registry import Options
    from sigla.settings import InvalidSetting
    from sigla.terminal import environment

    try:
        settings = environment.settings()
    except InvalidSetting as wrong:
        raise Misuse(str(wrong)) from None
    return Options(
        default_level=settings.default_level.upper(),
        strict_reference_versions=settings.strict_reference_versions,
        schema_bytes=settings.schema_bytes,
    )
