"""`sigla.yaml` and its files, for the commands that read them."""

import argparse
import os
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from sigla.cli.misuse import Misuse
from sigla.terminal.arguments import path_argument

if TYPE_CHECKING:
    from sigla.model import Subject
    from sigla.schema_files.declaration import Declaration
    from sigla.schema_files.file_sets import DeclaredFile

FILE = "sigla.yaml"


class Declared(NamedTuple):
    """files: each behind what it needs. root: the folder of sigla.yaml. shown: what names of files begin with."""

    declaration: "Declaration"
    files: "list[DeclaredFile]"
    root: Path
    shown: str


def add_config_option(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--config",
        type=path_argument,
        default=Path(FILE),
        metavar="FILE",
        help=f"which files are for which subjects (./{FILE})",
    )


def read(config: Path, paths: Sequence[str] = (), *, strict: bool = True) -> Declared:
    """paths: files, or folders of files, that are wanted with what they need; empty for all.

    strict: whether each pattern has to match a file. Raises Misuse.
    """
    from sigla.schema_files.declaration import read_declaration
    from sigla.schema_files.file_sets import declared_files, selected
    from sigla.schema_files.trees import Folder, UnreadableTree
    from sigla.schema_files.yaml_parts import InvalidDeclaration

    try:
        content = config.read_bytes()
    except FileNotFoundError:
        raise Misuse(
            f"File not found: {config}. It says which files are for which subjects (docs/files.md); "
            "for one file without it, add --subject NAME."
        ) from None
    except OSError as failure:
        raise Misuse(f"{config} cannot be read ({failure.strerror}).") from None
    shown = "" if config.parent == Path() else f"{config.parent.as_posix()}/"
    try:
        declaration = read_declaration(content, str(config))
        files = declared_files(declaration, Folder(config.parent), shown, strict=strict)
    except InvalidDeclaration as wrong:
        raise Misuse(str(wrong), (wrong.name, wrong.line)) from None
    except UnreadableTree as wrong:
        raise Misuse(str(wrong)) from None
    if paths:
        wanted = [subject for path in paths for subject in _wanted_subjects(path, files, config)]
        files = selected(files, wanted)
        among = {each.subject for each in files}
        settings = tuple(each for each in declaration.settings if not each.scope.name or each.scope in among)
        declaration = replace(declaration, settings=settings)
    return Declared(declaration, files, config.parent, shown)


def _wanted_subjects(path: str, files: "Sequence[DeclaredFile]", config: Path) -> "list[Subject]":
    wanted = os.path.realpath(path)
    places = {each.subject: os.path.realpath(config.parent / each.path) for each in files}
    found = [subject for subject, place in places.items() if place == wanted or place.startswith(wanted + os.sep)]
    if not found:
        raise Misuse(f"{config} has no entry for {path}: add one, or leave the file out.")
    return found
