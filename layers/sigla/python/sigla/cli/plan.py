"""`sigla plan`: what has to be done so that a registry is as the files say. Nothing is written."""

import argparse
import json
from collections.abc import Sequence
from typing import TYPE_CHECKING

from sigla.cli import compared, declared, progress
from sigla.cli.misuse import Misuse

if TYPE_CHECKING:
    from sigla.cli.declared import Declared
    from sigla.model import Subject
    from sigla.ports.progress import Progress
    from sigla.registry import Options
    from sigla.schema_files.facts import RegistryFacts
    from sigla.schema_files.foreseeing import Foreseen

DESCRIPTION = """\
Compares a registry with the files of sigla.yaml: schemas, config, modes, metadata and rule sets. What is
there is read from the registry itself, and no state is kept elsewhere. Nothing is written; `sigla apply` does what is
planned.

  sigla plan --registry URL            what would be done
  sigla plan --registry URL --prune    also what would be deleted, of the subjects that `owns` names
"""

EPILOG = """\
0: the plan can be applied, or is empty. 1: something would be refused, or the registry does not answer.
2: nothing could be planned. With --detailed-exitcode 3: the plan can be applied, and is not empty.
"""

CHANGES = 3
SHOWN = 5
"""So many subjects are named in a remark."""
PRUNE_WHAT = (
    "--prune deletes what no file is for, and {config} does not say among which subjects: add `owns`, "
    "a list of names or of beginnings such as payments-*."
)


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "plan",
        help="what has to be done so that a registry is as the files of sigla.yaml say",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add_plan_options(parser)
    compared.add_options(parser, revisions=False)
    parser.add_argument(
        "--detailed-exitcode", action="store_true", help=f"end with {CHANGES} if there is something to do"
    )
    parser.set_defaults(run=run)


def add_plan_options(parser: argparse.ArgumentParser) -> None:
    declared.add_config_option(parser)
    parser.add_argument("--prune", action="store_true", help="delete subjects of `owns` that no file is for")
    parser.add_argument("--json", action="store_true", help="the same as JSON")


def run(args: argparse.Namespace) -> int:
    """Raises Misuse, Refused."""
    known = read_declared(args)
    with progress.shown() as told, compared.opened_registry(args, told) as (facts, options):
        found = planned(args, known, facts, options, told)
        remarks = remarks_on_files(args, known, facts)
    print_plan(args, found, facts, remarks)
    if not found.is_accepted:
        return 1
    return CHANGES if found.steps and args.detailed_exitcode else 0


def read_declared(args: argparse.Namespace) -> "Declared":
    """Raises Misuse."""
    known = declared.read(args.config)
    if args.prune and not known.declaration.owns:
        raise Misuse(PRUNE_WHAT.format(config=args.config))
    return known


def planned(
    args: argparse.Namespace, known: "Declared", facts: "RegistryFacts", options: "Options", told: "Progress"
) -> "Foreseen":
    from sigla.schema_files.foreseeing import foresee
    from sigla.schema_files.scratch import rehearsed

    pruned = _without_file(known, facts) if args.prune else ()
    return rehearsed(
        facts, options, told, lambda scratched: foresee(scratched, known.declaration, known.files, pruned=pruned)
    )


def remarks_on_files(args: argparse.Namespace, known: "Declared", facts: "RegistryFacts") -> list[str]:
    """Subjects whose file was renamed or removed: without --prune they stay as they are."""
    found = [] if args.prune else _without_file(known, facts)
    if not found:
        return []
    shown = ", ".join(subject.qualified for subject in found[:SHOWN])
    more = f", and {len(found) - SHOWN} more" if len(found) > SHOWN else ""
    subjects = "1 subject that `owns` names is" if len(found) == 1 else f"{len(found)} subjects that `owns` names are"
    return [f"{subjects} in no file ({shown}{more}); --prune would delete {'it' if len(found) == 1 else 'them'}."]


def _without_file(known: "Declared", facts: "RegistryFacts") -> "Sequence[Subject]":
    """Subjects that these files are the whole truth about, and that are in none of them."""
    kept = {each.subject for each in known.files} | {each.scope for each in known.declaration.settings}
    found: dict[Subject, None] = {}
    for each in known.declaration.owns:
        prefix = each.removesuffix("*")
        for subject in facts.subjects(prefix):
            if subject not in kept and (each.endswith("*") or subject.qualified == prefix):
                found[subject] = None
    return tuple(found)


def print_plan(args: argparse.Namespace, found: "Foreseen", facts: "RegistryFacts", more: "Sequence[str]") -> None:
    """With what would be refused, in front. more: remarks."""
    from sigla.cli.check import remarks_on
    from sigla.schema_files.plan_reports import plan_form, plan_text
    from sigla.schema_files.reports import text_report

    remarks = [*remarks_on(facts), *more]
    if args.json:
        print(json.dumps({**plan_form(found, facts.shown), "remarks": list(remarks)}))
    elif found.is_accepted:
        print("\n".join([*remarks, plan_text(found, facts.shown)]))
    else:
        refused = [each for each in found.files if not each.is_accepted]
        print(text_report(refused, facts.shown, remarks=remarks))
