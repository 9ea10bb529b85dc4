"""Where the files of a set are: a folder as it is, or as it was in a revision of git."""

import os
import re
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Final, Protocol


class UnreadableTree(Exception):
    """Why a file or a revision cannot be read, in one sentence."""


class Tree(Protocol):
    """Paths are below one folder, with slashes."""

    def paths(self, pattern: str) -> Iterable[str]:
        """Files that match, in the order of their paths."""
        ...

    def read(self, path: str) -> bytes:
        """Raises UnreadableTree."""
        ...


class Folder:
    """A folder as it is. Names that begin with a dot are found only by patterns that name them."""

    def __init__(self, root: Path) -> None:
        self._root = root

    def paths(self, pattern: str) -> Iterable[str]:
        matches = _matcher(pattern)
        return sorted(path for path in self._below(_fixed_part(pattern)) if matches.fullmatch(path))

    def _below(self, start: str) -> Iterator[str]:
        top = self._root / start
        if top.is_file():
            yield start
        for folder, inside, files in os.walk(top):
            inside[:] = [name for name in inside if not name.startswith(".")]
            for name in files:
                yield Path(folder, name).relative_to(self._root).as_posix()

    def read(self, path: str) -> bytes:
        try:
            return (self._root / path).read_bytes()
        except OSError as failure:
            raise UnreadableTree(f"{self._root / path} cannot be read ({failure.strerror}).") from None


class Overlay:
    """A tree in which some files are others. texts: by their paths; None of those that are not there any more."""

    def __init__(self, tree: Tree, texts: Mapping[str, str | None]) -> None:
        self._tree = tree
        self._texts = texts

    def paths(self, pattern: str) -> Iterable[str]:
        matches = _matcher(pattern)
        own = {path for path, text in self._texts.items() if text is not None and matches.fullmatch(path)}
        return sorted(own | (set(self._tree.paths(pattern)) - self._texts.keys()))

    def read(self, path: str) -> bytes:
        text = self._texts.get(path)
        return self._tree.read(path) if text is None else text.encode()


class GitTree:
    """A folder as it was in a revision. Files that matched are read together: git is started once for all of them."""

    def __init__(self, root: Path, revision: str) -> None:
        self._root = root
        self._revision = revision
        listed = self._git("ls-tree", "-r", "-z", "--end-of-options", f"{revision}^{{tree}}", "--", ".")
        entries = (line.partition("\t") for line in listed.decode(errors="surrogateescape").split("\0") if line)
        self._blobs = {path: said.split()[2] for said, _, path in entries if said.split()[1] == "blob"}
        self._wanted: set[str] = set()
        self._read: dict[str, bytes] = {}

    def paths(self, pattern: str) -> Iterable[str]:
        matches = _matcher(pattern)
        found = sorted(path for path in self._blobs if matches.fullmatch(path))
        self._wanted.update(found)
        return found

    def read(self, path: str) -> bytes:
        if path not in self._read:
            wanted = sorted({self._blobs[each] for each in self._wanted | {path}})
            answer = self._git("cat-file", "--batch", given="\n".join(wanted).encode())
            contents = dict(_blobs(answer))
            self._read |= {each: contents[self._blobs[each]] for each in self._wanted | {path}}
        return self._read[path]

    def _git(self, *words: str, given: bytes = b"") -> bytes:
        try:
            found = subprocess.run(  # noqa: S603 - no shell, and a revision that looks like an option is refused
                ["git", "-C", str(self._root), *words],  # noqa: S607 - whichever git the user has
                input=given,
                capture_output=True,
                check=False,
            )
        except FileNotFoundError:
            raise UnreadableTree("Revisions need git, and it is not installed.") from None
        if found.returncode:
            said = found.stderr.decode(errors="replace").strip().splitlines() or ["it does not say why"]
            raise UnreadableTree(f"git does not show {self._revision} ({said[-1].removeprefix('fatal: ')}).")
        return found.stdout


def _blobs(answer: bytes) -> Iterator[tuple[str, bytes]]:
    """What `git cat-file --batch` prints: a line with name, type and size, then so many bytes, then a line's end."""
    at = 0
    while at < len(answer):
        line = answer[at : answer.index(b"\n", at)]
        name, _, size = line.decode().split()
        start = at + len(line) + 1
        yield name, answer[start : start + int(size)]
        at = start + int(size) + 1


_SIGNS: Final = re.compile(r"\*\*/|\*\*|\*|\?")
_MEANT: Final = {"**/": "(?:[^./][^/]*/)*", "**": ".*", "*": "[^/]*", "?": "[^/]"}


def is_pattern(text: str) -> bool:
    return bool(_SIGNS.search(text))


def _matcher(pattern: str) -> re.Pattern[str]:
    """`*` within one folder, `**/` any folders that are not hidden."""
    literal = map(re.escape, _SIGNS.split(pattern))
    signs = [_MEANT[sign] for sign in _SIGNS.findall(pattern)]
    return re.compile("".join(part for pair in zip(literal, [*signs, ""], strict=True) for part in pair), re.DOTALL)


def _fixed_part(pattern: str) -> str:
    """The folders at the beginning that are written out, or all of a path without signs."""
    steps = pattern.split("/")
    fixed = next((at for at, step in enumerate(steps) if is_pattern(step)), len(steps))
    return "/".join(steps[:fixed])
