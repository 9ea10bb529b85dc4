"""`sigla scrub`: do bodies, catalog and journal say the same? And putting right what can be."""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Sequence
from contextlib import closing
from dataclasses import asdict
from typing import TYPE_CHECKING

from sigla.cli import place, progress
from sigla.ports.progress import Progress
from sigla.terminal.arguments import seconds_argument
from sigla.upkeep.flaws import FIXABLE, KINDS, Flaw, Severity

if TYPE_CHECKING:
    from sigla.upkeep.scrub import Facts, Scratch

READ = {
    "body": "bodies",
    "reference": "references",
    "pointer": "guids",
    "version": "versions",
    "told": "versions in the journal",
    "second": "second names",
    "mark": "identities",
    "kept": "keys and associations",
    "listed_dek": "listed keys",
    "told_record": "keys and associations in the journal",
    "exporter": "exporters",
    "credentials": "credentials of exporters",
    "history": "histories of subjects",
    "told_commit": "histories in the journal",
}
"""What is being read while a relation is filled."""

DESCRIPTION = """\
Reads all bodies, the whole catalog and the journal, and reports what is missing, different or left over. It only reads,
also beside a running registry: what looks wrong during a write is checked again before it is reported.
"""

EPILOG = """\
Exit status: 0 nothing needs attention, 1 something does (or a store does not answer, as a sentence on standard error
says), 2 misused. docs/scrub.md explains each kind.
--fix puts one kind right, through the store's own conditions. Nothing is removed but what no request reaches, and
credentials that no exporter names. In a directory that needs the registry to be stopped.
"""


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "scrub",
        help="compare bodies, catalog and journal",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    place.add_to(parser)
    parser.add_argument(
        "--fix", action="append", default=[], choices=FIXABLE, metavar="KIND", help=f"one of {', '.join(FIXABLE)}"
    )
    parser.add_argument(
        "--grace",
        type=seconds_argument,
        default=3600,
        metavar="SECONDS",
        help="ignore bodies without a version, and credentials that no exporter names, that are younger (3600)",
    )
    parser.add_argument(
        "--settle",
        type=seconds_argument,
        default=7.5,
        metavar="SECONDS",
        help="wait so long for what a write under way may put right; 0 for a registry that is stopped (7.5)",
    )
    parser.add_argument("--json", action="store_true", help="print JSON, one object a line")
    parser.set_defaults(run=scrub)


def scrub(args: argparse.Namespace) -> int:
    from sigla import opening
    from sigla.stores.sqlite.scratch import ScratchDatabase
    from sigla.upkeep import scrub as core
    from sigla.upkeep.flaws import RELATIONS
    from sigla.upkeep.mending import fix

    address = place.address(args)
    with (
        place.explained(address),
        opening.reading(address) as held,
        closing(ScratchDatabase(RELATIONS)) as scratch,
        progress.shown() as told,
    ):
        place.tell_lost_catalog(held, address)
        core.gather(held, _Watched(scratch, told))
        suspects = core.suspects(scratch)
        found = list(core.confirmed(held, suspects, grace_ms=round(args.grace * 1000), settle_s=args.settle))
    fixed: list[Flaw] = []
    try:
        if wanted := [flaw for flaw in found if flaw.kind in args.fix]:
            with place.explained(address), opening.writing(address) as writing:
                for flaw in wanted:
                    if fix(writing.store, flaw):
                        fixed.append(flaw)  # noqa: PERF401 - one by one: those before a failure were put right
    finally:
        # Where nothing can be written, what was found is all the more worth telling.
        (_tell_json if args.json else _tell)(found, fixed)
    return int(any(KINDS[flaw.kind].severity is not Severity.INFO for flaw in found if flaw not in fixed))


class _Watched:
    """The same scratch database, which tells what comes into it."""

    def __init__(self, scratch: "Scratch", told: Progress) -> None:
        self.ask = scratch.ask
        self._fill = scratch.fill
        self._told = told
        self._counts: Counter[str] = Counter()

    def fill(self, relation: str, rows: "Iterable[Facts]") -> None:
        self._fill(relation, self._counted(relation, rows))

    def _counted(self, relation: str, rows: "Iterable[Facts]") -> "Iterator[Facts]":
        for row in rows:
            self._counts[relation] += 1
            self._told(READ[relation], self._counts[relation])
            yield row


def _tell(found: Sequence[Flaw], fixed: Sequence[Flaw]) -> None:
    for name, kind in KINDS.items():
        flaws = [flaw for flaw in found if flaw.kind == name]
        if not flaws:
            continue
        print(f"{name}  {kind.severity.value}, {len(flaws)}")
        for flaw in flaws:
            print(f"  {flaw.sentence}{'  Fixed.' if flaw in fixed else ''}")
        if not all(flaw in fixed for flaw in flaws):
            print(f"  --fix {name} {kind.remedy}." if kind.fixable else f"  What to do: {kind.remedy}.")
    wrong = [flaw for flaw in found if KINDS[flaw.kind].severity is not Severity.INFO]
    print(f"{len(wrong)} flaws, {len(fixed)} fixed." if wrong else "Bodies, catalog and journal agree.")


def _tell_json(found: Sequence[Flaw], fixed: Sequence[Flaw]) -> None:
    for flaw in found:
        told = {name: value for name, value in asdict(flaw).items() if value is not None}
        told |= {"severity": KINDS[flaw.kind].severity.value, "sentence": flaw.sentence, "fixed": flaw in fixed}
        sys.stdout.write(json.dumps(told) + "\n")
