"""`sigla restore`: a registry from the file that `sigla backup` wrote."""

import argparse
import json
import sys
from dataclasses import asdict
from typing import TYPE_CHECKING

from sigla.cli import place, progress
from sigla.cli.backup import counted
from sigla.cli.misuse import Misuse, Refused
from sigla.contract import HIGHEST
from sigla.terminal.arguments import name_argument, path_argument

if TYPE_CHECKING:
    from sigla.backups.restoring import Restored
    from sigla.settings import Address

DESCRIPTION = """\
Makes a registry of a backup, in a directory that is empty or not there: everything is compared with its sums, opened
and scrubbed before it appears. `sigla serve --data DIR` then serves it. With --store it goes into a table and a bucket
of AWS that have nothing of this registry: those of a deployment of its own, whose identity they keep.

What was registered after the backup is not in it, and records in Kafka bear its ids. So that none of them gets a second
meaning, new ids go on 1,000,000 above the last one of the backup. Consumers that meet an id in between are told 40403,
until it is imported: `sigla import`, from whatever still has it. API keys are those of the backup, also those that were
revoked since.
"""

EPILOG = """\
0: the registry is there. 1: it is there, and a scrub finds fault with it (--with-flaws); or it would be so, and nothing
was restored. 2: nothing was restored. What was begun in AWS stays there, however it ended: --again goes on with it.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "restore",
        help="make a registry of a backup",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("file", metavar="FILE", type=path_argument, help="what `sigla backup` wrote")
    parser.add_argument(
        "directory", metavar="DIR", nargs="?", type=path_argument, help="a directory, empty or not there"
    )
    parser.add_argument(
        "--store",
        type=name_argument,
        metavar="URL",
        help="instead of DIR: dynamodb+s3://TABLE/BUCKET, which have nothing of this registry; or file:DIR",
    )
    parser.add_argument("--again", action="store_true", help="go on with a restoration into AWS that was cut off")
    parser.add_argument("--without-keys", action="store_true", help="leave out the API keys")
    parser.add_argument(
        "--skip-ids",
        type=_number,
        metavar="N",
        help="continue the new ids of each context so far above the last one of the backup (1,000,000); "
        "0 if nothing was registered since",
    )
    parser.add_argument("--with-flaws", action="store_true", help="restore also what a scrub finds fault with")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def _address(args: argparse.Namespace) -> "Address":
    """Raises Misuse."""
    from sigla.settings import Address

    if bool(args.directory) == bool(args.store):
        raise Misuse("A backup is restored into one place: give either DIR or --store URL.")
    return place.of_url(args.store) if args.store else Address.of(data=str(args.directory))


def _number(text: str) -> int:
    """Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal()) or not int(text[:11]) < HIGHEST:
        raise argparse.ArgumentTypeError(f"Invalid number of ids {text!r}: expected 0 to {HIGHEST - 1}.")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """0, or 1 if it has flaws. Raises Misuse, Refused."""
    from sigla.backups import restoring
    from sigla.backups.contents import NotABackup

    address = _address(args)
    skip = restoring.SKIPPED if args.skip_ids is None else args.skip_ids
    try:
        with place.explained(str(args.file)), progress.shown() as told:
            restored = restoring.restore_at(
                args.file,
                address,
                keys=not args.without_keys,
                flawed=args.with_flaws,
                skip=skip,
                progress=told,
                again=args.again,
            )
    except NotABackup as problem:
        raise Misuse(str(problem)) from None
    except restoring.Flawed as problem:
        raise Refused(str(problem)) from None
    _tell(args, restored, skip, address)
    return int(bool(restored.flaws))


def _tell(args: argparse.Namespace, restored: "Restored", skip: int, address: "Address") -> None:
    contents = restored.contents
    if args.json:
        told = {**asdict(contents), "flaws": len(restored.flaws), "skipped": skip}
        print(json.dumps(told))
    else:
        print(f"Registry {contents.registry} is in {address}: {counted(contents)}.")
    if skip and not args.json:
        print(f"New ids go on {skip:,} above those of the backup: what was registered since has the ids in between.")
    if contents.keys and not args.json:
        print("API keys are those of the backup: revoke once more what was revoked since (sigla keys list).")
    if restored.flaws:
        count = len(restored.flaws)
        print(f"sigla: {count} flaw{'s' * (count != 1)}: run sigla scrub, which has the remedies.", file=sys.stderr)
