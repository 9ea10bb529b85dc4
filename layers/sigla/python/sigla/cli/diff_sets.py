"""What `sigla.yaml` says of a file that `sigla diff` compares: its language, and what it references."""

import os
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

from sigla.cli.misuse import Misuse
from sigla.model import LATEST, Resolved
from sigla.schema_files.declaration import read_declaration
from sigla.schema_files.file_sets import DeclaredFile, declared_files
from sigla.schema_files.trees import Folder, GitTree, Tree, UnreadableTree
from sigla.schema_files.yaml_parts import InvalidDeclaration

Stored = Callable[[str, str], list[Resolved]]
"""The text of SUBJECT:VERSION under the name of a reference, behind the texts that it references itself."""


@dataclass(frozen=True, slots=True)
class DeclaredSide:
    """A file of the set. by_path: all files of it."""

    file: DeclaredFile
    by_path: dict[str, DeclaredFile]

    def references(self, stored: Stored) -> list[Resolved]:
        """What it references, in resolution order. stored: has what is in no file."""
        found: dict[str, Resolved] = {}
        for each in _needed(self.file, self.by_path, stored, ()):
            found.setdefault(each.name, each)
        return list(found.values())


def _needed(
    file: DeclaredFile,
    by_path: dict[str, DeclaredFile],
    stored: Stored,
    above: tuple[str, ...],
) -> Iterator[Resolved]:
    for need in file.needs:
        if need.path is None:
            version = "latest" if need.named.version == LATEST else str(need.named.version)
            yield from stored(need.name, f"{need.named.subject}:{version}")
        elif need.path not in above:  # of a circle the parser says what is missing
            other = by_path[need.path]
            yield from _needed(other, by_path, stored, (*above, file.path))
            yield Resolved(need.name, other.file.text)


def declared_side(config: Path, path: str, revision: str = "") -> DeclaredSide | None:
    """A file of `config`, as it is or as both were in a revision; None if that names no such file. Raises Misuse."""
    files = _files_of_config(config, revision)
    wanted = Path(os.path.relpath(path, config.parent)).as_posix()
    found = next((each for each in files if each.path == wanted), None)
    return None if found is None else DeclaredSide(found, {each.path: each for each in reversed(files)})


def file_of_subject(config: Path, subject: str) -> str | None:
    """The path, from here, of the file that is for it. Raises Misuse."""
    found = next((each for each in _files_of_config(config, "") if each.subject.qualified == subject), None)
    return None if found is None else str(config.parent / found.path)


def _files_of_config(config: Path, revision: str) -> list[DeclaredFile]:
    try:
        tree: Tree = GitTree(config.parent, revision) if revision else Folder(config.parent)
        # As it is now, where it did not exist.
        content = tree.read(config.name) if list(tree.paths(config.name)) else config.read_bytes()
        return declared_files(read_declaration(content, str(config)), tree, strict=False)
    except InvalidDeclaration as wrong:
        raise Misuse(f"In {revision} {wrong}" if revision else str(wrong)) from None
    except UnreadableTree as wrong:
        raise Misuse(str(wrong)) from None
