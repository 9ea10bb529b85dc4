"""Our own files, as the tests of the house read them: each text and each tree once, and each walk through one."""

import ast
import subprocess
from collections.abc import Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parent.parent
SIGLA = ROOT / "layers" / "sigla" / "python" / "sigla"


@cache
def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


@cache
def tree_of(path: Path) -> ast.Module:
    return ast.parse(text_of(path), str(path))


@cache
def nodes_of(path: Path) -> tuple[ast.AST, ...]:
    """All of its tree, as `ast.walk` gives it. A walk takes as long as to parse, and a dozen rules ask for one."""
    return tuple(ast.walk(tree_of(path)))


@cache
def our_files() -> tuple[Path, ...]:
    """Every file of the repository that is ours to write: tracked, or new and not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "--cached", "--others", "--exclude-standard", "-z"],
        cwd=ROOT,
        capture_output=True,
        check=False,
    )
    if listed.returncode == 0:
        paths = [ROOT / name for name in listed.stdout.decode().split("\0") if name]
    else:  # an unpacked archive: no history, no .gitignore to ask
        hidden = {".venv", ".git", "__pycache__", "node_modules", "cdk.out", "data"}
        paths = [path for path in ROOT.rglob("*") if not hidden & set(path.relative_to(ROOT).parts)]
    return tuple(path for path in paths if path.is_file())


def python_files(*rooms: str) -> list[Path]:
    """Our Python files, of the given top folders or of all."""
    files = [path for path in our_files() if path.suffix == ".py"]
    return [path for path in files if not rooms or path.relative_to(ROOT).parts[0] in rooms]


@cache
def product() -> dict[str, Path]:
    """The modules of sigla by their path inside it: {"rules/guid.py": …}."""
    return {path.relative_to(SIGLA).as_posix(): path for path in python_files("layers") if path.is_relative_to(SIGLA)}


def code_strings(path: Path) -> Iterator[tuple[int, str]]:
    """Names and texts of a module with their lines; docstrings and comments are prose and may say what they like."""
    prose = set()
    for node in nodes_of(path):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            prose.add(node.value)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value
        elif isinstance(node, ast.Attribute):
            yield node.lineno, node.attr
        elif isinstance(node, ast.Name):
            yield node.lineno, node.id
        elif isinstance(node, ast.keyword | ast.arg) and node.arg:
            yield node.lineno, node.arg


def dotted_uses(path: Path, *words: str) -> Iterator[tuple[int, str]]:
    """Dotted names as written, with what they were imported as undone: `from os import environ` gives os.environ.

    words: only files with one of them are looked into, because the look takes a while.
    """
    if not any(word in text_of(path) for word in words):
        return
    names = {}
    for node in nodes_of(path):
        if isinstance(node, ast.ImportFrom) and node.module and not node.level:
            for alias in node.names:
                names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        elif isinstance(node, ast.Import):
            for alias in node.names:
                names[alias.asname or alias.name.split(".")[0]] = (
                    alias.name if alias.asname else alias.name.split(".")[0]
                )
    for node in nodes_of(path):
        if isinstance(node, ast.Attribute | ast.Name):
            head, _, rest = ast.unparse(node).partition(".")
            if head in names:
                yield node.lineno, f"{names[head]}.{rest}" if rest else names[head]


def imported(path: Path) -> Iterator[tuple[int, str]]:
    """What a module imports, with lines: module names, and `module.name` for what is taken from one."""
    for node in nodes_of(path):
        if isinstance(node, ast.Import):
            yield from ((node.lineno, alias.name) for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield from ((node.lineno, f"{node.module}.{alias.name}") for alias in node.names)
