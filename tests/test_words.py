"""The words of the house: what a user reads is plain English, whoever wrote it."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

from tests.test_house import ROOT, python_files, text_of, tree_of

# What international readers stumble over: "X is no Y", people where a caller or a client acts, sentences turned round.
MANNERED = re.compile(
    r"\b(?:is|are|was|were|be) (?:no(?! longer)|none)\b"
    r"|\b(?:[Nn]obody|[Ss]omebody|[Aa]nybody)\b"
    r"|\b[Ww]ho(?:ever)? asks\b"
    r"|\b(?:[Hh]e|[Hh]im|[Hh]is)\b"
    r"|(?:^|[.:;!?] |\| )Of (?=[a-z`])",
    re.MULTILINE,
)
# Texts with such words that are not ours to word, each with the reason.
WORDED_ELSEWHERE = {
    "Valid values are none, backward, forward": "the sentence of 42203 is Confluent's: `none` is a level",
    "nobody": "the user that a cache server runs as",
}


def messages(path: Path) -> Iterator[tuple[int, str]]:
    """What a module may show: its texts without docstrings, but with the module's own where a `--help` shows it."""
    tree = tree_of(path)
    prose = {
        node.value for node in ast.walk(tree) if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }
    if "__doc__" in text_of(path):
        prose -= {node.value for node in tree.body[:1] if isinstance(node, ast.Expr)}
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and node not in prose:
            yield node.lineno, node.value


def without_code(page: str) -> str:
    """A page's prose: what stands in code is quoted, and checked where it is made."""
    return re.sub(r"```.*?```|`[^`\n]*`", "``", page, flags=re.DOTALL)


def test_what_a_user_reads_is_plain_english() -> None:
    """A message is read at night, and English is most readers' second language: short sentences that name the actor."""
    rooms = ("layers", "functions", "infra", "pipelines", "localstack", "benchmarks")
    texts = [(path, line, text) for path in python_files(*rooms) for line, text in messages(path)]
    pages = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
    texts += [
        (page, number, line)
        for page in pages
        for number, line in enumerate(without_code(text_of(page)).splitlines(), 1)
    ]
    found = [
        f"{path.relative_to(ROOT)}:{line} {match[0]!r} in {text.strip()[:100]!r}"
        for path, line, text in texts
        if not any(theirs in text for theirs in WORDED_ELSEWHERE if text == theirs or " " in theirs)
        for match in MANNERED.finditer(text)
    ]
    assert not found, "say it plainly (docs/decisions/2026-11-23-the-house.md has examples):\n" + "\n".join(found)
