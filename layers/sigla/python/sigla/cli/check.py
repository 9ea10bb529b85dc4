"""`sigla check`: would these files be accepted? Nothing is written anywhere."""

import argparse
import re
import sys
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import compared, declared, progress, revisions
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sigla.cli.declared import Declared
    from sigla.model import OfferedReference
    from sigla.schema_files.check import Checked
    from sigla.schema_files.facts import RegistryFacts
    from sigla.schema_files.files import SchemaFile
    from sigla.schema_files.scratch import Scratch

DESCRIPTION = """\
Tells of each file whether registering it would be accepted, and if not, why, and in which line. It runs Sigla's own
languages and rules: what a registry knows is read, and nothing is written, here or there.

  sigla check --registry URL           all files of ./sigla.yaml, which says for which subjects they are
  sigla check --registry URL a.avsc    this one, with what it references
  sigla check --against origin/main    all files, compared with what they were there
  sigla check --registry URL --subject orders-value orders.avsc
                                       one file, for one subject, without sigla.yaml
"""

EPILOG = """\
0: all would be accepted. 1: at least one would be refused, or the registry does not answer.
2: nothing could be checked.
"""

TYPES = ("AVRO", "JSON", "PROTOBUF")
FORMATS = ("text", "json", "github", "sarif", "junit")
_REFERENCE = re.compile(r"(?P<name>.+?)=(?P<subject>.+?)(?::(?P<version>[0-9]{1,10}))?")


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "check",
        help="would these schemas be accepted? Nothing is written",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "paths", nargs="*", metavar="PATH", help="files, or folders of files; with --subject one file, or `-`"
    )
    declared.add_config_option(parser)
    one = parser.add_argument_group("one file without sigla.yaml")
    one.add_argument("--subject", type=name_argument, metavar="NAME", help="the subject that the file is for")
    one.add_argument("--type", type=str.upper, choices=TYPES, help="its language, if the file's name does not tell")
    one.add_argument(
        "--reference",
        action="append",
        default=[],
        type=_reference,
        metavar="NAME=SUBJECT[:VERSION]",
        help="what it references, the latest version without VERSION; may be given again",
    )
    one.add_argument("--normalize", action="store_true", help="as a client that registers with normalize=true")
    compared.add_options(parser)
    parser.add_argument("--format", choices=FORMATS, default="text", help="the form of the report (text)")
    parser.set_defaults(run=run)


def _reference(text: str) -> "OfferedReference":
    """Raises ArgumentTypeError."""
    from sigla.model import LATEST, OfferedReference

    found = _REFERENCE.fullmatch(text)
    if found is None:
        raise argparse.ArgumentTypeError(f"invalid reference {text!r}: expected NAME=SUBJECT or NAME=SUBJECT:VERSION")
    return OfferedReference(found["name"], found["subject"], int(found["version"] or LATEST))


def run(args: argparse.Namespace) -> int:
    """0, or 1 if a file would be refused. Raises Misuse, Refused."""
    try:
        return _reported(args)
    except (Misuse, Refused) as problem:
        _report_unchecked(args.format, problem)
        raise


def _report_unchecked(form: str, problem: Misuse | Refused) -> None:
    """Tells CI, which shows what is on standard output."""
    from sigla.schema_files import ci_reports

    made = {
        "github": ci_reports.github_unchecked,
        "sarif": ci_reports.sarif_unchecked,
        "junit": ci_reports.junit_unchecked,
    }
    if form in made:
        print(made[form](str(problem), problem.place if isinstance(problem, Misuse) else None))


def _reported(args: argparse.Namespace) -> int:
    """As run. Raises Misuse, Refused."""
    from sigla.schema_files import ci_reports, reports
    from sigla.schema_files.scratch import rehearsed

    known = _one_file(args) if _is_one_file(args) else declared.read(args.config, args.paths)
    with progress.shown() as told, compared.opened_registry(args, told) as (facts, options):
        found, remarks = rehearsed(facts, options, told, partial(_checked_files, args, known))
        remarks += remarks_on(facts)
    made = {
        "text": reports.text_report,
        "json": reports.json_report,
        "github": ci_reports.github_report,
        "sarif": ci_reports.sarif_report,
        "junit": ci_reports.junit_report,
    }
    report = made[args.format]
    print(report(found, facts.shown, remarks=remarks))
    return int(not all(each.is_accepted for each in found))


def _checked_files(
    args: argparse.Namespace, known: "Declared | SchemaFile", scratched: "Scratch"
) -> "tuple[list[Checked], list[str]]":
    """What became of each file, and what is to be said about the comparison. Raises Misuse."""
    from sigla.schema_files.check import check_file
    from sigla.schema_files.files import SchemaFile
    from sigla.schema_files.foreseeing import foresee

    remarks = revisions.register_old(scratched, args.against, known) if args.against else []
    if isinstance(known, SchemaFile):
        return [check_file(scratched, known)], remarks
    return foresee(scratched, known.declaration, known.files).files, remarks


def _is_one_file(args: argparse.Namespace) -> bool:
    """Raises Misuse."""
    if args.subject:
        return True
    said = [option for option in ("type", "reference", "normalize") if getattr(args, option)]
    if said:
        raise Misuse(f"--{said[0]} is for one file: add --subject NAME, or say it in {args.config}.")
    return False


def remarks_on(facts: "RegistryFacts") -> "Sequence[str]":
    if facts.is_ours:
        return ()
    return (f"{facts.shown} is another registry than Sigla: what is told here is Sigla's verdict, which may differ.",)


def _one_file(args: argparse.Namespace) -> "SchemaFile":
    """Raises Misuse."""
    from sigla.rules import names
    from sigla.schema_files.files import SchemaFile, type_of

    if len(args.paths) != 1:
        raise Misuse("Give one file, and the subject that it is for: sigla check --subject NAME FILE.")
    name: str = args.paths[0]
    schema_type = args.type or type_of(name)
    if schema_type is None:
        raise Misuse(f"The language of {name} is unknown: add --type, which is one of {', '.join(TYPES)}.")
    return SchemaFile(
        "standard input" if name == "-" else name,
        names.subject(args.subject),
        schema_type,
        _schema_text(name),
        tuple(args.reference),
        normalize=args.normalize,
    )


def _schema_text(name: str) -> str:
    """Raises Misuse."""
    try:
        return sys.stdin.read() if name == "-" else Path(name).read_text(encoding="utf-8")
    except UnicodeDecodeError:
        raise Misuse(f"{name} is not UTF-8, as a schema has to be.") from None
    except OSError as failure:
        raise Misuse(f"{name} cannot be read ({failure.strerror}).") from None
