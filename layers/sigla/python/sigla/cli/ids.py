"""`sigla ids`: how many a context has left, and where its numbering goes on."""

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sigla.cli import place
from sigla.cli.misuse import Misuse, Refused
from sigla.contract import HIGHEST
from sigla.terminal.arguments import context_argument

if TYPE_CHECKING:
    from sigla.ports.store import Store

DESCRIPTION = """\
Every context counts its ids from 1 to 2147483647, and none is ever given out twice. This tells of each context the
highest id given out, the next one, and how many are left. The registry may be served meanwhile.

With --continue-after new ids of a context go on after N. That is for a context whose ids were used up, because a very
high one was imported: choose N so that the next 100,000 ids after it are free. What is taken later is skipped. A
registry in a directory must not be served meanwhile; one in AWS may be.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "ids",
        help="show how many ids are left, and set where numbering continues",
        description=DESCRIPTION,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place.add_to(parser)
    parser.add_argument(
        "--context",
        type=_context,
        metavar="CONTEXT",
        help="show this context only, as in .team; the default context is .",
    )
    parser.add_argument(
        "--continue-after",
        type=_id_number,
        metavar="N",
        help="continue the new ids of the context after N; needs --context",
    )
    parser.add_argument("--json", action="store_true", help="print the report as JSON")
    parser.set_defaults(run=run)


def _context(text: str) -> str:
    """Raises ArgumentTypeError."""
    from sigla.errors import InvalidSubject
    from sigla.model import Subject
    from sigla.rules import names

    said = context_argument(text)
    try:
        names.check_registrable(Subject(said, "x"))
    except (InvalidSubject, UnicodeEncodeError):
        raise argparse.ArgumentTypeError(f"Invalid context {said!r}: nothing can be registered there.") from None
    return said


def _id_number(text: str) -> int:
    """Raises ArgumentTypeError."""
    if not (text.isascii() and text.isdecimal()) or not int(text[:11]) < HIGHEST:
        raise argparse.ArgumentTypeError(f"Invalid id {text!r}: expected 0 to {HIGHEST - 1}.")
    return int(text)


def run(args: argparse.Namespace) -> int:
    """0. Raises Misuse, Refused."""
    if args.continue_after is not None:
        return _continue(args)
    from sigla import opening

    address = place.address(args)
    with place.explained(address), opening.reading(address) as held:
        rows = [_numbering_row(held, context) for context in _contexts(held, args.context)]
    if args.json:
        print(json.dumps(rows))
    else:
        _print_table(rows)
    return 0


def _continue(args: argparse.Namespace) -> int:
    from sigla import opening
    from sigla.errors import TimedOut
    from sigla.model import BodyKey
    from sigla.registry.steps import numbering

    if args.context is None:
        raise Misuse("--continue-after needs --context: name the context; the default context is a dot.")
    address, context, after = place.address(args), args.context, args.continue_after
    try:
        with place.explained(address), opening.reading(address) as held:
            numbering.check_clear(held.catalog, held.bodies, BodyKey(context, after))
        with place.explained(address), opening.writing(address) as writing:
            before = numbering.continue_after(writing.registry, context, after)
    except numbering.Occupied as taken:
        raise Refused(
            f"Id {taken.id} of context {context} is in use, and the {numbering.CLEAR:,} ids after {after} must be "
            "free: choose another number."
        ) from None
    except TimedOut:
        raise Refused(f"Other writers took ids of context {context} all the time: try again.") from None
    if args.json:
        print(json.dumps({"context": context, "before": before, "next": after + 1}))
    else:
        print(f"New ids of context {context} continue with {after + 1}; before it was {before + 1}.")
    return 0


def _contexts(held: "Store", only: str | None) -> Sequence[str]:
    from sigla.model import DEFAULT_CONTEXT

    return (only,) if only else (DEFAULT_CONTEXT, *held.catalog.contexts())


def _numbering_row(held: "Store", context: str) -> dict[str, str | int | None]:
    highest = held.catalog.max_id(context)
    return {
        "context": context,
        "highest": highest,
        "next": highest + 1 if highest < HIGHEST else None,
        "left": HIGHEST - highest,
    }


def _print_table(rows: Sequence[dict[str, str | int | None]]) -> None:
    cells = [["context", "highest", "next", "left"]]
    cells += [["-" if cell is None else str(cell) for cell in row.values()] for row in rows]
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    for context, *numbers in cells:
        right = [number.rjust(width) for number, width in zip(numbers, widths[1:], strict=True)]
        print("  ".join([context.ljust(widths[0]), *right]))
