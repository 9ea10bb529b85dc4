"""`sigla init`: a table and a bucket are given the identity of their deployment, by a person."""

import argparse
import json
from typing import TYPE_CHECKING

from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.addresses import add_registry_option
from sigla.terminal.arguments import bucket_argument, name_argument

if TYPE_CHECKING:
    from sigla.settings import Address

INSIST = "--i-mean-it"

DESCRIPTION = """\
Writes the identity of a deployment into its table and its bucket. Its functions write nothing where they do not find
it: so a deployment that was pointed at another table by mistake gives no id away twice. Once they bear it, this says so
and changes nothing. `make deploy` and `make localstack` do it for you.
"""

EPILOG = f"""\
0: both bear it. 1: AWS does not answer: say it again. 2: they bear another one, or do not seem to belong together (one
of them is new, or under an id of the table the bucket has another schema), and nothing was written; {INSIST} writes it
all the same. Think first: what is in them must be this registry's, or every id that is given out from now on may mean
two things. A table that was restored from a backup brings its identity along.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "init",
        help="give a table and a bucket the identity of their deployment",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--bucket", type=bucket_argument, metavar="NAME", help="the registry's bucket, with --table")
    where.add_argument("--store", type=name_argument, metavar="URL", help="both as a URL: dynamodb+s3://TABLE/BUCKET")
    parser.add_argument("--table", type=name_argument, metavar="NAME", help="the registry's table")
    add_registry_option(parser)
    parser.add_argument(
        "--journal-of",
        type=name_argument,
        metavar="NAME",
        help="the registry of this table whose journal function writes the journal of this one as well",
    )
    parser.add_argument("--identity", type=_identity, required=True, metavar="ID", help="32 hexadecimal digits")
    parser.add_argument(INSIST, action="store_true", dest="meant", help="write even where it looks like a mistake")
    parser.add_argument("--json", action="store_true", help="print the result as JSON")
    parser.set_defaults(run=run)


def _identity(text: str) -> str:
    """Raises ArgumentTypeError."""
    from sigla.settings import IDENTITY_FORM, is_identity

    if not is_identity(text):
        raise argparse.ArgumentTypeError(f"Invalid identity {text!r}: expected {IDENTITY_FORM}.")
    return text


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    address = place.address(args)
    table, bucket = address.names
    if not table:
        raise Misuse("A directory has no identity: expected dynamodb+s3://TABLE/BUCKET.")
    if args.journal_of == args.registry:
        raise Misuse("A registry's own journal function writes its journal: leave out --journal-of.")
    written = _claim(address, args.identity, meant=args.meant, journal_of=args.journal_of)
    if args.json:
        told = {"bucket": bucket, "table": table, "registry": args.registry, "identity": args.identity}
        print(json.dumps(told | {"written": written}))
    else:
        since = "now" if written else "already"
        both = f"the table {table} and the bucket {bucket}"
        print(f"Registry {args.registry}: {both} have the identity {args.identity} {since}.")
    return 0


def _claim(address: "Address", identity: str, *, meant: bool, journal_of: str | None) -> bool:
    from dataclasses import replace

    from sigla import opening
    from sigla.upkeep.claiming import InTheWay, NotClaimed, claim

    try:
        with place.explained(address), opening.reading(address) as held:
            written = claim(held, identity, meant=meant)
        if journal_of:
            with place.explained(address), opening.reading(replace(address, registry=journal_of)) as host:
                if host.served:
                    host.served.add(address.registry, identity)
    except NotClaimed as doubt:
        raise Misuse(f"{doubt} Nothing was written; name the right ones, or add {INSIST} if you mean it.") from None
    except InTheWay as other:
        raise Refused(f"{other} Try again.") from None
    return written
