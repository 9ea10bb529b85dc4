"""Which registry a job works on; the same options for every job."""

import argparse
from pathlib import Path

from sigla.settings import Address, InvalidSetting
from sigla.terminal import addresses
from sigla_pipelines import places


def add_address_options(parser: argparse.ArgumentParser) -> None:
    addresses.add_address_options(parser, name=name_argument)


def parse_address(parser: argparse.ArgumentParser, asked: argparse.Namespace) -> Address:
    """Ends the process with a sentence, and 2, where it is half an address."""
    try:
        found = addresses.address_of(asked)
    except InvalidSetting as half:
        parser.error(str(half))
    if found.scheme != "file":
        return found
    return Address.of(str(Path(found.path).resolve()), registry=found.registry)  # tasks run in folders of their own


def name_argument(text: str) -> str:
    """A name, as an argument; a variable that the shell does not know arrives empty. Raises ArgumentTypeError."""
    try:
        return places.check_name(text)
    except InvalidSetting as problem:
        raise argparse.ArgumentTypeError(str(problem)) from None
