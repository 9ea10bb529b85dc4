"""`sigla pull`: schemas of a registry as files, with sigla.yaml."""

import argparse
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli import compared, declared, progress
from sigla.cli.misuse import Misuse, Refused
from sigla.terminal.arguments import name_argument

if TYPE_CHECKING:
    from sigla.ports.progress import Progress
    from sigla.registry import Options
    from sigla.schema_files.facts import RegistryFacts
    from sigla.schema_files.pulling import Pulled, StandingFiles, WrittenFile
    from sigla.schema_files.scratch import Scratch

DESCRIPTION = """\
Writes the newest active version of each subject to a file, and to sigla.yaml for which subject each is, what it
references, and how subjects and contexts are set up. The registry is only read; a plan is empty afterwards.

  sigla pull --registry URL              all subjects, into this directory
  sigla pull --registry URL 'orders-*'   those that begin so, with no settings but their own
  sigla pull --registry URL --prune      removes files whose subjects are gone as well

A file that is there already keeps its place and its form. If one was changed by hand, so that its content is in no
version of the registry, nothing is written, unless --force is given.
"""

EPILOG = """\
0: the files are as the registry is. 1: nothing was written, because files were changed by hand, or the registry does
not answer. 2: a mistake in the command or a file.
"""


ANEW = "a registration would not make its newest version of its text today, so a plan is not empty."


def add_to(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    parser = commands.add_parser(
        "pull",
        help="write the schemas of a registry to files, and sigla.yaml",
        description=DESCRIPTION,
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "subjects",
        nargs="*",
        type=name_argument,
        metavar="SUBJECT",
        help="only these: names, or beginnings such as 'payments-*'",
    )
    declared.add_config_option(parser)
    parser.add_argument("--force", action="store_true", help="write over files that were changed by hand")
    parser.add_argument("--prune", action="store_true", help="remove files whose subjects the registry does not have")
    parser.add_argument("--dry-run", action="store_true", help="say what would be written, and write nothing")
    compared.add_options(parser, revisions=False)
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Raises Misuse, Refused."""
    from sigla.schema_files.scratch import scratch

    args.existed = args.config.exists()
    standing = _standing_files(args)
    with progress.shown() as told:
        with compared.opened_registry(args, told) as (facts, options):
            with scratch(facts, options, told) as scratched:
                found = _pulled(args, standing, facts, scratched)
            writes_declaration = _writes_declaration(args, standing, found, (facts, options))
        if found.changed and not args.force:
            print("\n".join(_refusal(args, found.changed)))
            return 1
        if not args.dry_run:
            _write(args.config, found, told, writes_declaration=writes_declaration)
    print("\n".join(_report(args, found, facts.shown, writes_declaration=writes_declaration)))
    return 0


def _standing_files(args: argparse.Namespace) -> "StandingFiles":
    """What is in the folder. Raises Misuse."""
    from sigla.schema_files.pulling import StandingFiles
    from sigla.schema_files.trees import Folder

    tree = Folder(args.config.parent)
    if not args.existed:
        return StandingFiles(tree)
    known = declared.read(args.config, strict=False)
    return StandingFiles(tree, known.files, known.declaration)


def _pulled(
    args: argparse.Namespace, standing: "StandingFiles", facts: "RegistryFacts", scratched: "Scratch"
) -> "Pulled":
    """Raises Misuse."""
    from sigla.errors import InvalidSubject
    from sigla.schema_files.pulling import NothingToPull, Wanted, pull

    try:
        return pull(scratched, facts, Wanted(args.subjects), standing, prune=args.prune)
    except InvalidSubject as refusal:
        raise Misuse(refusal.message) from None
    except NothingToPull as nothing:
        raise Misuse(str(nothing)) from None


def _writes_declaration(
    args: argparse.Namespace, standing: "StandingFiles", found: "Pulled", opened: "tuple[RegistryFacts, Options]"
) -> bool:
    """Whether sigla.yaml becomes another. One that people made stays where it says the same. Raises Refused."""
    from sigla.schema_files.declaration import read_declaration
    from sigla.schema_files.declaration_writing import is_untouched
    from sigla.schema_files.pulling import not_as_pulled
    from sigla.schema_files.trees import Overlay
    from sigla.schema_files.yaml_parts import InvalidDeclaration

    tree = Overlay(standing.tree, {each.path: each.text for each in found.writes})
    try:
        made = read_declaration(found.declaration.encode(), str(args.config))
        left = not_as_pulled(*opened, made, tree, found.subjects)
    except (InvalidDeclaration, UnicodeEncodeError) as wrong:
        raise Refused(f"What {opened[0].shown} holds cannot be said in files: {wrong}") from None
    found.remarks += [f"{subject}: {ANEW}" for subject in sorted(left, key=str)]
    if not args.existed:
        return True
    content = args.config.read_text(encoding="utf-8")
    if content == found.declaration:
        return False
    if is_untouched(content):
        return True
    with suppress(InvalidDeclaration):
        if not_as_pulled(*opened, standing.declaration, tree, found.subjects) <= left:
            return False
    found.changed.append(args.config.name)
    return True


def _refusal(args: argparse.Namespace, changed: Sequence[str]) -> Iterator[str]:
    for path in changed:
        why = "changed by hand, and the registry is not as it says" if path == args.config.name else "changed by hand"
        yield f"{args.config.parent / path}: {why}"
    yield f"Nothing was written. --force writes over {'it' if len(changed) == 1 else 'them'}."


def _write(config: Path, found: "Pulled", told: "Progress", *, writes_declaration: bool) -> None:
    """sigla.yaml comes last: whoever is interrupted has files that the next pull finds as they have to be."""
    for done, each in enumerate(found.writes, 1):
        place = config.parent / each.path
        if each.text is None:
            place.unlink(missing_ok=True)
        else:
            _write_file(place, each.text)
        told("files", done, len(found.writes))
    if writes_declaration:
        _write_file(config, found.declaration)


def _write_file(place: Path, text: str) -> None:
    """All of it or nothing."""
    place.parent.mkdir(parents=True, exist_ok=True)
    with _begun(place) as begun:
        begun.write_text(text, encoding="utf-8", newline="\n")
        begun.replace(place)


@contextmanager
def _begun(place: Path) -> Iterator[Path]:
    """A file beside it, which is gone at the end."""
    begun = place.with_name(f".{place.name[:200]}.part")
    try:
        yield begun
    finally:
        begun.unlink(missing_ok=True)


def _report(args: argparse.Namespace, found: "Pulled", source: str, *, writes_declaration: bool) -> Iterator[str]:
    shown = args.config.parent
    yield from (_line(each, shown) for each in found.writes)
    if writes_declaration:
        yield f"{'~' if args.existed else '+'} {args.config}"
    yield from (f"{shown / path}: its subject is not in {source}; --prune removes it" for path in found.left)
    yield from found.remarks
    written = sum(each.text is not None for each in found.writes)
    counted = {"as they were": found.same, "written": written, "removed": len(found.writes) - written}
    total = found.same + written
    told = ", ".join(f"{count} {what}" for what, count in counted.items() if count) or "nothing to write"
    yield f"{total} schema{'s' * (total != 1)} of {source}: {told}{'; nothing was done' if args.dry_run else ''}."


def _line(each: "WrittenFile", shown: Path) -> str:
    if each.text is None:
        return f"- {shown / each.path}: {each.subject} is not there any more"
    return f"{'+' if each.standing is None else '~'} {shown / each.path}: version {each.version} of {each.subject}"
