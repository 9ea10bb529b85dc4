"""`sigla export`: a registry as a dump of the topic `_schemas`."""

import argparse
import sys
from pathlib import Path

from sigla.cli import place, progress
from sigla.cli.misuse import Misuse
from sigla.terminal.arguments import path_argument

DESCRIPTION = """\
Writes a registry as a dump of the topic _schemas, which `sigla import` reads, and whoever writes it to the topic of a
Confluent registry: one JSON object a line with the texts key and value, timestamp and offset. It may be served
meanwhile.

From a directory that is the whole journal: also what was deleted for good, every change of every setting. The table of
a registry in AWS keeps its journal for 35 days, so from there what stands now is written, as with --compacted; all of
the journal is in the bucket, and `sigla import` reads a copy of that directory.

Keys of field encryption (KEKs and DEKs) stand in a topic of their own: --keys writes that one, to another file. Their
settings may hold credentials of a key service, so that only its owner may read the file.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "export",
        help="write a registry as a dump of Confluent's topic",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file",
        metavar="FILE",
        nargs="?",
        type=_file,
        help="the file to write, compressed if its name ends in .gz (default, or `-`: standard output)",
    )
    place.add_to(parser)
    parser.add_argument("--compacted", action="store_true", help="write only the present state, as after a compaction")
    parser.add_argument(
        "--keys", action="store_true", help="write the topic _dek_registry_keys instead: keys of field encryption"
    )
    parser.set_defaults(run=run)


def _file(text: str) -> Path | None:
    return None if text == "-" else path_argument(text)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    from sigla import opening
    from sigla.cli import dumps
    from sigla.upkeep import exporting

    address = place.address(args)
    with place.explained(address), opening.reading(address) as held, progress.shown() as told:
        if args.keys:
            records = exporting.key_topic(held, told, compacted=args.compacted)
        elif why := exporting.unspeakable(held):
            raise Misuse(f"{why} Nothing was exported.")
        else:
            records = exporting.topic(held, told, compacted=args.compacted)
        written = dumps.write(records, args.file, secret=args.keys)
    if args.file:
        print(f"{written} record{'s' * (written != 1)} in {args.file}", file=sys.stderr)
    return 0
