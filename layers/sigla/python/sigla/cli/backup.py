"""`sigla backup`: a registry in one file, also while it is served."""

import argparse
import json
import sys
from collections.abc import Sequence
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from sigla.cli import place, progress
from sigla.cli.misuse import Misuse
from sigla.terminal.arguments import path_argument

if TYPE_CHECKING:
    from sigla.backups.carrying import Until
    from sigla.backups.contents import Contents
    from sigla.backups.making import Made
    from sigla.model import BodyKey

NAMED = 5
"""So many lost ids a sentence names; `--json` has all."""

DESCRIPTION = """\
Writes a registry into one file: catalog, schemas, journal and API keys (what secrets are verified by, and no secret).
It may be served meanwhile: the file has all that was acknowledged before the command began, as one moment of the
journal has it. It appears under its name when it is whole, and on the disk. `sigla restore` makes a registry of it.
"""

EPILOG = """\
0: the file is there. 1: it is there, and says of a schema that it was lost or damaged before, which `sigla restore`
tells as well; or a store does not answer, and it is not there. 2: nothing was written. Only its owner may read the
file: it has every schema. docs/operations.md#backup has a timer for each night.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "backup",
        help="write a registry into one file, while it is served",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", metavar="FILE", type=path_argument, help="the file to write, as in sigla-2026-11-30.tar.gz"
    )
    place.add_to(parser)
    parser.add_argument(
        "--until",
        type=_moment,
        metavar="POSITION|TIME",
        help="of a directory: only what the journal has up to this position or time, as in 2026-11-30T09:00:00Z",
    )
    parser.add_argument("--force", action="store_true", help="replace the file if it exists")
    parser.add_argument("--without-keys", action="store_true", help="leave out the API keys")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def _moment(text: str) -> "Until":
    """Raises ArgumentTypeError. A time without a zone is that of this machine, as of its other commands."""
    from sigla.backups.carrying import Until

    if text.isascii() and text.isdecimal() and int(text[:20]) > 0:
        return Until(position=int(text[:20]))
    try:
        at = datetime.fromisoformat(text)
        return Until(at=round(at.timestamp() * 1000))
    except (ValueError, OverflowError, OSError):
        raise argparse.ArgumentTypeError(
            f"Invalid moment {text!r}: expected a position of the journal, or a time as in 2026-11-30T09:00:00Z."
        ) from None


def run(args: argparse.Namespace) -> int:
    """0, or 1 if a body is damaged. Raises Misuse, Refused."""
    from sigla.backups.contents import NotABackup
    from sigla.backups.making import make

    address = place.address(args)
    try:
        with place.explained(address), progress.shown() as told:
            made = make(
                address, args.file, force=args.force, keys=not args.without_keys, progress=told, until=args.until
            )
    except NotABackup as problem:
        raise Misuse(str(problem)) from None
    if args.json:
        lost = [{"context": key.context, "id": key.id} for key in made.damaged]
        print(json.dumps({**asdict(made.contents), "packed": made.bytes, "damaged": len(lost), "lost": lost}))
    else:
        print(f"{_told(made)} in {args.file}.")
    if made.damaged:
        print(
            f"sigla: {_lost_bodies(made.damaged)}: run sigla scrub, which names versions and the remedy.",
            file=sys.stderr,
        )
    return int(bool(made.damaged))


def _lost_bodies(damaged: "Sequence[BodyKey]") -> str:
    first = ", ".join(f"id {key.id} in context {key.context}" for key in damaged[:NAMED])
    if len(damaged) == 1:
        return f"The body of {first} is lost or damaged"
    more = f" and {len(damaged) - NAMED} more" if len(damaged) > NAMED else ""
    return f"The bodies of {len(damaged)} ids are lost or damaged ({first}{more})"


def _told(made: "Made") -> str:
    contents = made.contents
    at = datetime.fromtimestamp(contents.at / 1000, UTC).strftime("%Y-%m-%d %H:%M:%S UTC")
    return (
        f"Registry {contents.registry} of {at}, journal position {contents.position}: {counted(contents)}, "
        f"{made.bytes:,} bytes"
    )


def counted(contents: "Contents") -> str:
    """What is in it, in words."""
    bodies, keys = contents.bodies, contents.keys
    return f"{bodies} schema{'s' * (bodies != 1)} and {keys} API key{'s' * (keys != 1)}"
