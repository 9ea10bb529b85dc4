"""`sigla export`: a registry as a dump of the topic `_schemas`."""

import argparse
import sys
from collections.abc import Iterable, Iterator
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import place, progress
from sigla.cli.misuse import Misuse
from sigla.terminal.arguments import path_argument

if TYPE_CHECKING:
    from sigla.journal import Record
    from sigla.journal.replay import TopicRecord
    from sigla.ports.progress import Progress
    from sigla.ports.store import Store

DESCRIPTION = """\
Writes a registry as a dump of the topic _schemas, which `sigla import` reads, and whoever writes it to the topic of a
Confluent registry: one JSON object a line with the texts key and value, timestamp and offset. It may be served
meanwhile.

From a directory that is the whole journal: also what was deleted for good, every change of every setting. The table of
a registry in AWS keeps its journal for 35 days, so from there what stands now is written, as with --compacted; all of
the journal is in the bucket, and `sigla import` reads a copy of that directory.

Keys of field encryption (KEKs and DEKs) stand in a topic of their own: --keys writes that one, to another file. Their
settings may hold credentials of a key service.
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

    address = place.address(args)
    with place.explained(address), opening.reading(address) as held, progress.shown() as told:
        compacted = args.compacted or held.inventory.journal_kept_since() > 0
        if args.keys:
            written = dumps.write(_key_records(held, told, compacted=compacted), args.file)
        else:
            _check_names(held)
            written = dumps.write(_records(held, told, compacted=compacted), args.file)
    if args.file:
        print(f"{written} record{'s' * (written != 1)} in {args.file}", file=sys.stderr)
    return 0


def _check_names(held: "Store") -> None:
    """A record names a subject by its text, and two of one text would become one. Raises Misuse."""
    for named in held.inventory.second_names():
        raise Misuse(
            f"{named} is kept in context {named.context} too, under a name that is read as another subject's."
            " Call `sigla scrub --fix SECOND_NAME` first. Nothing was exported."
        )


def _records(held: "Store", told: "Progress", *, compacted: bool) -> "Iterator[TopicRecord]":
    from sigla import journal
    from sigla.upkeep.exporting import gone, standing

    bodies, kept = held.bodies, held.journal
    ids = held.inventory.bodies()
    if compacted:
        records = standing(held.catalog, bodies, ids)
    else:
        # Who was made by an import has ids of which its own journal never spoke.
        spoken_of = journal.ids(row for _, row in kept.read())
        imported = gone(bodies, (key for key in ids if key not in spoken_of))
        records = chain(imported, journal.records((row for _, row in kept.read()), bodies))
    yield from _numbered(records, told)


def _key_records(held: "Store", told: "Progress", *, compacted: bool) -> "Iterator[TopicRecord]":
    from sigla import journal
    from sigla.upkeep.exporting import standing_keys

    records = journal.key_records_of(row for _, row in held.journal.read())
    return _numbered(standing_keys(held.catalog) if compacted else records, told)


def _numbered(records: "Iterable[Record]", told: "Progress") -> "Iterator[TopicRecord]":
    from sigla.journal.replay import TopicRecord

    for offset, (key, value, ts) in enumerate(records):
        told("records", offset)
        yield TopicRecord(key, value, ts, offset)
