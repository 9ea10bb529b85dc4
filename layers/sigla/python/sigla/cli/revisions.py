"""Files as they were in a revision of git, registered where the files of today will be compared with them."""

from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from sigla.cli.declared import Declared
from sigla.cli.misuse import Misuse

if TYPE_CHECKING:
    from sigla.schema_files.files import SchemaFile
    from sigla.schema_files.scratch import Scratch


def register_old(scratch: "Scratch", revision: str, now: "Declared | SchemaFile") -> list[str]:
    """Remarks on files that were not there, or invalid schemas. now: what will be compared. Raises Misuse."""
    from sigla.schema_files.outcomes import outcome
    from sigla.schema_files.trees import UnreadableTree
    from sigla.schema_files.yaml_parts import InvalidDeclaration

    try:
        files = list(_of_set(now, revision) if isinstance(now, Declared) else _of_one(now, revision))
    except UnreadableTree as problem:
        raise Misuse(str(problem)) from None
    except InvalidDeclaration as wrong:
        raise Misuse(f"In {revision} {wrong}") from None
    if not files:
        return [f"None of these files was in {revision}: they are compared with nothing."]
    # No version stands before theirs, and how subjects were set up then decides nothing.
    return [
        f"{file.name} was invalid in {revision}: nothing is compared with it."
        for file in files
        if outcome(scratch, file.subject, file.draft, normalize=file.normalize, force=True).refusal
    ]


def _of_set(now: Declared, revision: str) -> "Iterable[SchemaFile]":
    """Finds files by sigla.yaml as it was then; as it is now, where it did not exist."""
    from sigla.schema_files.declaration import read_declaration
    from sigla.schema_files.file_sets import declared_files, selected
    from sigla.schema_files.trees import GitTree

    tree = GitTree(now.root, revision)
    name = Path(now.declaration.name).name
    old = read_declaration(tree.read(name), now.declaration.name) if list(tree.paths(name)) else now.declaration
    found = declared_files(old, tree, now.shown, strict=False)
    wanted = {each.subject for each in now.files}
    # Without versions a reference means the latest, and there is one of each.
    return [each.offered({}) for each in selected(found, wanted)]


def _of_one(now: "SchemaFile", revision: str) -> "Iterable[SchemaFile]":
    from sigla.schema_files.trees import GitTree

    if not Path(now.name).is_file():
        raise Misuse("A revision has files, and no standard input: give the name of the file.")
    path = Path(now.name)
    tree = GitTree(path.parent, revision)
    if not list(tree.paths(path.name)):
        return []
    try:
        return [replace(now, text=tree.read(path.name).decode())]
    except UnicodeDecodeError:
        raise Misuse(f"{path} is not UTF-8 in {revision}, as a schema has to be.") from None
